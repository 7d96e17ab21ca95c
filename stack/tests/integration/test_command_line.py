"""`python -m stack` as people and make call it, where it refuses."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from stack.instance import AlreadyRunningError, InstanceLock, read_running
from stack.ports import LOOPBACK, pick_free_ports
from stack.secrets import load_or_create_secrets
from stack.settings import SEAWEED_GRPC_OFFSET

LIMIT_SECONDS = 60


def environment(data_dir: Path, **changes: str) -> dict[str, str]:
    single = ("BACKEND_PORT", "RUNTIME_PORT", "EXECUTOR_PORT", "POSTGRES_PORT", "REDIS_PORT")
    paired = ("S3_PORT", "S3_MASTER_PORT", "S3_VOLUME_PORT", "S3_FILER_PORT", "S3_ADMIN_PORT")
    low = pick_free_ports(len(paired), paired_with_offset=SEAWEED_GRPC_OFFSET)
    free = [port for port in pick_free_ports(20) if port not in low and port - SEAWEED_GRPC_OFFSET not in low]
    ports = dict(zip((*single, *paired), map(str, (*free[: len(single)], *low)), strict=True))
    return {**os.environ, **ports, "DATA_DIR": str(data_dir), **changes}


def stack(*arguments: str, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "stack", *arguments],
        env=env,
        capture_output=True,
        text=True,
        timeout=LIMIT_SECONDS,
        check=False,
    )


def test_a_taken_port_stops_the_start_with_the_variable_and_the_holder(tmp_path: Path) -> None:
    with socket.socket() as server:
        server.bind((LOOPBACK, 0))
        server.listen()
        port = server.getsockname()[1]
        done = stack("start", env=environment(tmp_path, BACKEND_PORT=str(port)))
    assert done.returncode == 1
    assert f"Port {port} is in use by" in done.stdout
    assert f"(pid {os.getpid()})" in done.stdout
    assert "BACKEND_PORT" in done.stdout


def test_a_second_start_says_where_the_first_runs(tmp_path: Path) -> None:
    lock = InstanceLock(tmp_path, "http://localhost:1234")
    lock.acquire()
    lock.announce("ready")
    try:
        done = stack("start", env=environment(tmp_path))
        assert done.returncode == 1
        assert "already running at http://localhost:1234" in done.stdout
    finally:
        lock.release()


def test_the_announcement_of_a_killed_stack_does_not_count(tmp_path: Path) -> None:
    holder = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import sys, time; from pathlib import Path; from stack.instance import InstanceLock; "
            "lock = InstanceLock(Path(sys.argv[1]), 'http://localhost:1'); lock.acquire(); lock.announce('ready'); "
            "print('held', flush=True); time.sleep(600)",
            str(tmp_path),
        ],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    assert read_running(tmp_path) is not None
    with pytest.raises(AlreadyRunningError):
        InstanceLock(tmp_path, "http://localhost:2").acquire()
    holder.kill()
    holder.wait()
    assert read_running(tmp_path) is None
    again = InstanceLock(tmp_path, "http://localhost:2")
    again.acquire()
    again.release()


def test_secrets_that_others_can_read_stop_the_start(tmp_path: Path) -> None:
    load_or_create_secrets(tmp_path / "secrets.json")
    (tmp_path / "secrets.json").chmod(0o644)
    done = stack("start", env=environment(tmp_path))
    assert done.returncode == 1
    assert "chmod 600" in done.stdout


def test_a_bad_setting_stops_the_start_with_its_name(tmp_path: Path) -> None:
    done = stack("start", env=environment(tmp_path, S3_PORT="70000"))
    assert done.returncode == 2
    assert "S3_PORT" in done.stderr


def test_stopping_what_does_not_run_is_no_failure(tmp_path: Path) -> None:
    done = stack("stop", env=environment(tmp_path))
    assert done.returncode == 0
    assert "not running" in done.stderr


@pytest.mark.parametrize(
    ("given", "said"),
    [({"ASK": ""}, "ASK is missing"), ({"ASK": "how many rows", "FILE": "/nowhere/x.csv"}, "no file /nowhere/x.csv")],
)
def test_an_incomplete_demo_says_what_is_missing_and_starts_nothing(
    tmp_path: Path, given: dict[str, str], said: str
) -> None:
    done = stack("demo", env=environment(tmp_path, **given))
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stdout == ""
