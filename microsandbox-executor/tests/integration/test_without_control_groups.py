"""The sandbox on a machine that lets nobody write control groups: limits of each process stand in, and it says so."""

from dataclasses import replace
from pathlib import Path

import pytest
from executor.runtime.base import CommandExit, CommandLimits, GuestFolders, StreamName
from executor.runtime.bubblewrap import BubblewrapRuntime
from executor.runtime.control_groups import ControlGroups
from stack.testing import EmbeddedStack

LIMITS = CommandLimits(memory_bytes=512 << 20, cpus=1, pids=40, file_bytes=1 << 20, wall_seconds=20)


class Machine:
    """A runtime and one session's folders."""

    def __init__(self, runtime: BubblewrapRuntime, folders: GuestFolders) -> None:
        self.runtime = runtime
        self.folders = folders
        self.output = b""

    async def run(self, command: str, limits: CommandLimits = LIMITS) -> CommandExit:
        self.output = b""

        async def keep(stream: StreamName, data: bytes) -> None:
            self.output += data

        return await self.runtime.run(
            ["bash", "-c", command], folders=self.folders, limits=limits, read_only=False, on_output=keep
        )


@pytest.fixture
def guest_dir(embedded_services: EmbeddedStack) -> Path:
    return Path(embedded_services.env_of("executor")["EXECUTOR_GUEST_DIR"]).resolve()


@pytest.fixture
async def machine(guest_dir: Path, tmp_path: Path) -> Machine:
    runtime = BubblewrapRuntime(guest_dir, tmp_path, find_groups=lambda: ControlGroups({}))
    await runtime.probe()
    folders = GuestFolders(*(tmp_path / name for name in ("uploads", "workspace", "artifacts", "tmp")))
    for folder in (folders.uploads, folders.workspace, folders.artifacts, folders.tmp):
        folder.mkdir()
    return Machine(runtime, folders)


async def test_what_is_not_enforced_is_said(machine: Machine) -> None:
    assert len(machine.runtime.unenforced) == 3
    assert machine.runtime.enforcement["memory"].startswith("RLIMIT_DATA")


async def test_a_process_has_a_bound_of_memory(machine: Machine) -> None:
    ended = await machine.run("python3 -c 'x = bytearray(1 << 30)'")
    assert ended.exit_code != 0
    assert b"MemoryError" in machine.output


async def test_libraries_that_reserve_much_address_space_still_work(machine: Machine) -> None:
    ended = await machine.run("python3 -c 'import polars, pyarrow, numpy; print(numpy.ones(1000).sum())'")
    assert (ended.exit_code, machine.output) == (0, b"1000.0\n")


async def test_a_file_has_a_bound(machine: Machine) -> None:
    ended = await machine.run("head -c 3M /dev/zero > big; stat -c %s big")
    assert machine.output.strip().endswith(str(1 << 20).encode()), ended


async def test_nothing_is_left_after_the_time_limit(machine: Machine) -> None:
    ended = await machine.run("echo begun; setsid sleep 300 & sleep 300", replace(LIMITS, wall_seconds=1))
    assert ended == CommandExit(124, timed_out=True)
    assert machine.output == b"begun\n"
    assert _left_over(machine.folders) == []


def _left_over(folders: GuestFolders) -> list[Path]:
    """Processes of this machine that have the session's folders mounted."""
    mounts = Path("/proc").glob("[0-9]*/mountinfo")
    return [process for process in mounts if str(folders.workspace) in _content(process)]


def _content(file: Path) -> str:
    try:
        return file.read_text(errors="replace")
    except OSError:  # it ended meanwhile
        return ""
