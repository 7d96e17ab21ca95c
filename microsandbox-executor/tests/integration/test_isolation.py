"""What a guest cannot do: reach a network, see or change the machine or other sessions, take more than it is given."""

import json
import os
import socket
import textwrap
import threading
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import httpx
import pytest
from executor_client import Executor

SYSTEM_CALLS = """
    import ctypes, json, os, platform
    libc = ctypes.CDLL(None, use_errno=True)
    numbers = {numbers}
    which = 0 if platform.machine() == "x86_64" else 1
    answers = {{}}
    for name, (number, arguments) in numbers.items():
        libc.syscall(*(ctypes.c_long(value) for value in (number[which], *arguments)))
        answers[name] = ctypes.get_errno()
    print(json.dumps(answers))
"""
EPERM, ENOSYS, EAFNOSUPPORT = 1, 38, 97
NEW_USER = 0x10000000


def python(executor: Executor, session: str, code: str) -> str:
    """Run and return what it printed; the code itself must not fail."""
    result = executor.python(session, textwrap.dedent(code))
    assert result["exit_code"] == 0, result["stderr"]
    return str(result["stdout"])


@pytest.fixture(scope="module")
def listener() -> Iterator[int]:
    """A service on the machine's loopback that would answer anybody."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


class TestNetwork:
    @pytest.mark.parametrize("family", ["AF_VSOCK", "AF_PACKET", "AF_NETLINK", "AF_ALG"])
    def test_there_are_no_sockets_of_other_families(self, executor: Executor, session: str, family: str) -> None:
        code = f"""
            import socket
            try:
                socket.socket(socket.{family}, socket.SOCK_STREAM if "{family}" == "AF_VSOCK" else socket.SOCK_RAW)
            except OSError as error:
                print(error.errno)
        """
        assert python(executor, session, code) == f"{EAFNOSUPPORT}\n"

    def test_nothing_of_the_machines_network_answers(self, executor: Executor, session: str, listener: int) -> None:
        executor_port = httpx.URL(executor.stack.base_url("executor")).port
        code = f"""
            import socket
            targets = [("127.0.0.1", {listener}), ("127.0.0.1", {executor_port}), ("169.254.169.254", 80),
                       ("1.1.1.1", 53), ("10.0.0.1", 80)]
            for target in targets:
                try:
                    socket.create_connection(target, timeout=2)
                    print("connected", target)
                except OSError:
                    pass
            udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            try:
                udp.sendto(b"x", ("8.8.8.8", 53))
                print("sent")
            except OSError:
                pass
            try:
                print(socket.getaddrinfo("example.com", 80))
            except OSError:
                pass
            print(sorted(name for _, name in [(0, line.split(":")[0].strip()) for line in open("/proc/net/dev")][2:]))
        """
        assert python(executor, session, code) == "['lo']\n"

    def test_abstract_unix_sockets_of_the_machine_are_not_there(self, executor: Executor, session: str) -> None:
        name = f"machine-{uuid4()}"
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(f"\0{name}")
            server.listen()
            code = f"""
                import socket
                try:
                    socket.socket(socket.AF_UNIX).connect("\\0{name}")
                    print("connected")
                except ConnectionRefusedError:
                    print("refused")
            """
            assert python(executor, session, code) == "refused\n"

    def test_a_guest_may_talk_to_itself(self, executor: Executor, session: str) -> None:
        code = """
            import socket
            server = socket.create_server(("127.0.0.1", 0))
            socket.create_connection(server.getsockname(), timeout=5)
            print("ok")
        """
        assert python(executor, session, code) == "ok\n"


class TestSystemCalls:
    def test_dangerous_calls_are_refused(self, executor: Executor, session: str) -> None:
        calls = {
            "ptrace": ([101, 117], [16, os.getpid(), 0, 0]),
            "process_vm_readv": ([310, 270], [1, 0, 0, 0, 0, 0]),
            "keyctl": ([250, 219], [0, -3, 1]),
            "add_key": ([248, 217], [0, 0, 0, 0, -3]),
            "bpf": ([321, 280], [0, 0, 0]),
            "perf_event_open": ([298, 241], [0, 0, -1, -1, 0]),
            "userfaultfd": ([323, 282], [0]),
            "mount": ([165, 40], [0, 0, 0, 0, 0]),
            "umount2": ([166, 39], [0, 0]),
            "pivot_root": ([155, 41], [0, 0]),
            "fsopen": ([430, 430], [0, 0]),
            "open_tree": ([428, 428], [-100, 0, 1]),
            "unshare": ([272, 97], [NEW_USER]),
            "setns": ([308, 268], [0, 0]),
            "clone": ([56, 220], [NEW_USER | 17, 0, 0, 0, 0]),
            "kexec_load": ([246, 104], [0, 0, 0, 0]),
            "init_module": ([175, 105], [0, 0, 0]),
            "open_by_handle_at": ([304, 265], [-100, 0, 0]),
            "chroot": ([161, 51], [0]),
            "personality": ([135, 92], [0x40000]),
            "sethostname": ([170, 161], [0, 0]),
        }
        answers = json.loads(python(executor, session, SYSTEM_CALLS.format(numbers=calls)))
        assert answers == dict.fromkeys(calls, EPERM)

    def test_calls_that_hide_their_arguments_seem_not_to_exist(self, executor: Executor, session: str) -> None:
        calls = {
            "clone3": ([435, 435], [0, 0]),
            "io_uring_setup": ([425, 425], [1, 0]),
            "openat2": ([437, 437], [0] * 4),
        }
        answers = json.loads(python(executor, session, SYSTEM_CALLS.format(numbers=calls)))
        assert answers == dict.fromkeys(calls, ENOSYS)

    def test_no_file_can_be_made_that_runs_as_its_owner(self, executor: Executor, session: str) -> None:
        code = """
            import os
            open("f", "w").close()
            for mode in (0o4755, 0o2755):
                for way in (lambda: os.chmod("f", mode), lambda: os.chmod(os.open("f", os.O_RDONLY), mode),
                            lambda: os.open("g", os.O_CREAT | os.O_WRONLY, mode),
                            lambda: os.mknod("h", mode | 0o100000)):
                    try:
                        way()
                        print("made")
                    except PermissionError:
                        pass
            os.chmod("f", 0o755)
            print(oct(os.stat("f").st_mode), os.listdir("."))
        """
        assert python(executor, session, code) == "0o100755 ['f']\n"

    def test_there_are_no_privileges_and_no_way_to_get_any(self, executor: Executor, session: str) -> None:
        lines = executor.bash(session, "grep -E 'Cap(Eff|Prm|Bnd|Amb)|NoNewPrivs|Seccomp:' /proc/self/status")["stdout"]
        values = dict(line.split(":\t") for line in lines.splitlines())
        assert {values[name] for name in ("CapEff", "CapPrm", "CapBnd", "CapAmb")} == {"0000000000000000"}
        assert (values["NoNewPrivs"], values["Seccomp"]) == ("1", "2")
        assert executor.bash(session, "unshare -Ur true")["exit_code"] != 0


class TestMachine:
    def test_only_the_guests_own_places_are_there(self, executor: Executor, session: str) -> None:
        listed = set(executor.bash(session, "ls -A /")["stdout"].split())
        own = {"artifacts", "dev", "etc", "opt", "proc", "tmp", "uploads", "usr", "workspace"}
        assert listed - {"bin", "sbin", "lib", "lib32", "lib64", "libx32"} == own
        assert executor.bash(session, "ls -A /usr/local /opt")["stdout"].split() == [
            *("/opt:", "data-science", "fonts", "python", "/usr/local:")
        ]

    def test_nothing_but_its_four_folders_can_be_written(self, executor: Executor, session: str) -> None:
        code = """
            import os
            writable = set()
            for folder, folders, _ in os.walk("/"):
                if folder == "/proc":
                    folders[:] = ["fs", "sys", "scsi", "bus"]
                try:
                    os.mknod(os.path.join(folder, ".written"), 0o100600)
                    writable.add("/" + folder.split("/")[1] if not folder.startswith("/dev") else folder)
                except OSError:
                    pass
            print(sorted(writable))
        """
        assert python(executor, session, code) == "['/artifacts', '/dev/shm', '/tmp', '/workspace']\n"

    def test_kernel_settings_and_tables_are_out_of_reach(self, executor: Executor, session: str) -> None:
        # Opened for writing and not written to: were this to succeed, the machine that tests would not be the worse.
        code = """
            import os
            for path in ("/proc/sys/kernel/core_pattern", "/proc/sys/kernel/hostname", "/proc/sys/vm/overcommit_memory",
                         "/proc/sysrq-trigger", "/proc/irq/default_smp_affinity", "/proc/1/uid_map"):
                try:
                    os.open(path, os.O_WRONLY)
                    print("opened", path)
                except OSError:
                    pass
            for path in ("/proc/kcore", "/proc/keys", "/proc/kallsyms", "/proc/timer_list", "/proc/slabinfo"):
                try:
                    if open(path, "rb").read(1):
                        print("read", path)
                except OSError:
                    pass
        """
        assert python(executor, session, code) == ""

    def test_no_process_but_the_sandboxes_own_is_seen(self, executor: Executor, session: str) -> None:
        names = executor.bash(session, "cat /proc/[0-9]*/comm")["stdout"].split()
        assert set(names) <= {"bwrap", "bash", "cat"}

    def test_the_environment_holds_no_secret_and_no_path_of_the_machine(self, executor: Executor, session: str) -> None:
        seen = executor.bash(session, "cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline | tr '\\0' '\\n'; env")["stdout"]
        secrets = [
            value for name, value in executor.env.items() if "SECRET" in name or "TOKEN" in name or "URL" in name
        ]
        assert len(secrets) >= 3
        assert not [value for value in secrets if value and value in seen]
        assert executor.env["EXECUTOR_SCRATCH_DIR"] not in seen

    def test_no_file_descriptor_of_the_executor_is_inherited(self, executor: Executor, session: str) -> None:
        # The fourth is the listing's own.
        assert executor.bash(session, "ls /proc/self/fd")["stdout"].split() == ["0", "1", "2", "3"]
        assert executor.bash(session, "echo told > /dev/stderr")["stderr"] == "told\n"

    def test_files_of_the_machine_are_not_there(self, executor: Executor, session: str, tmp_path: Path) -> None:
        secret = tmp_path / "secret"
        secret.write_text("secret")
        scratch = Path(executor.env["EXECUTOR_SCRATCH_DIR"])
        for path in (secret, Path.home(), scratch, Path("/etc/shadow"), Path("/etc/resolv.conf"), Path("/root")):
            result = executor.bash(session, f"ls -d {path}")
            assert result["exit_code"] != 0, path
        assert "root:" not in executor.bash(session, "cat /etc/shadow")["stdout"]
        assert executor.bash(session, "cat /etc/passwd | wc -l")["stdout"].strip() == "2"


class TestOtherSessions:
    def test_two_sessions_share_nothing(self, executor: Executor) -> None:
        one = executor.create(f"threads/{uuid4()}", [executor.store("in.csv", b"one")])["session"]
        two = executor.create(f"threads/{uuid4()}")["session"]
        running = threading.Thread(
            target=executor.bash,
            args=(one, "for d in /workspace /artifacts /tmp /dev/shm; do echo one > $d/mine; done; sleep 4"),
        )
        running.start()
        seen = executor.bash(two, "sleep 1; ls /workspace /artifacts /tmp /dev/shm /uploads; cat /proc/[0-9]*/comm")
        running.join()
        assert "mine" not in seen["stdout"]
        assert "in.csv" not in seen["stdout"]
        assert seen["stdout"].count("sleep") == 0

    def test_shared_memory_does_not_outlive_a_command(self, executor: Executor, session: str) -> None:
        executor.bash(session, "echo x > /dev/shm/x")
        assert executor.bash(session, "ls /dev/shm")["stdout"] == ""


class TestLimits:
    def test_only_the_process_that_takes_too_much_memory_is_killed(self, executor: Executor, session: str) -> None:
        result = executor.bash(session, "python3 -c 'x = bytearray(3 << 30)'; echo code $?; echo going on")
        assert result["stdout"] == "code 137\ngoing on\n"
        assert "memory" in result["message"]

    def test_shared_memory_counts_as_memory_and_is_bounded(self, executor: Executor, session: str) -> None:
        result = executor.bash(session, "head -c 4G /dev/zero > /dev/shm/x; stat -c %s /dev/shm/x")
        assert "No space left" in result["stderr"]
        assert int(result["stdout"]) <= 512 << 20

    def test_a_fork_bomb_is_contained_and_gone_afterwards(self, executor: Executor, session: str) -> None:
        result = executor.bash(session, "f() { f | f & f; }; f", timeout_seconds=5)
        assert result["exit_code"] != 0
        assert executor.bash(session, "ls -d /proc/[0-9]* | wc -l")["stdout"].strip() in {"3", "4", "5"}

    def test_a_file_grows_to_its_bound_only(self, executor: Executor, session: str) -> None:
        code = """
            import os
            file = open("/tmp/big", "wb")
            try:
                os.truncate(file.fileno(), 2 << 30)
            except OSError as error:
                print(error.strerror)
        """
        assert python(executor, session, code) == "File too large\n"

    def test_processor_time_is_shared_out(self, executor: Executor, session: str) -> None:
        """Two busy processes on one processor's share: together they get about the wall time, not twice as much."""
        code = """
            import os, time
            start, children = time.monotonic(), []
            for _ in range(2):
                if not (pid := os.fork()):
                    while time.monotonic() - start < 3:
                        pass
                    os._exit(0)
                children.append(pid)
            for pid in children:
                os.waitpid(pid, 0)
            used = os.times()
            print(used.children_user + used.children_system)
        """
        assert float(python(executor, session, code)) < 4.5

    def test_a_workspace_over_its_quota_stops_the_command(self, executor: Executor, session: str) -> None:
        command = "for i in 1 2 3 4 5 6; do fallocate -l 900M /tmp/f$i; done; sleep 20"
        result = executor.bash(session, command)
        assert result["status"] == "failed"
        assert "quota" in result["message"]
        assert executor.bash(session, "rm /tmp/f*; echo alive")["stdout"] == "alive\n"


class TestGuestEnvironment:
    def test_every_library_is_there(self, executor: Executor, session: str) -> None:
        code = """
            import altair, duckdb, matplotlib, numpy, openpyxl, pandas, plotly, polars, pyarrow, python_calamine
            import scipy, seaborn, sklearn, statsmodels.api, vl_convert, xlsxwriter
            import scipy.stats, sklearn.linear_model, pyarrow.parquet
            print(duckdb.sql("select 6 * 7").fetchall()[0][0], vl_convert.__version__ != "")
        """
        assert python(executor, session, code) == "42 True\n"

    def test_charts_draw_chinese_japanese_and_korean_without_a_warning(self, executor: Executor, session: str) -> None:
        code = """
            import warnings
            warnings.simplefilter("error")
            import matplotlib.pyplot as plt
            figure, axes = plt.subplots()
            axes.bar(["收入", "売上高", "매출", "Ünïcödé"], [1, 2, 3, 4])
            axes.set_title("按月收入 · 月別売上 · 월별 매출")
            figure.savefig("/artifacts/chart.png")
        """
        result = executor.python(session, textwrap.dedent(code))
        assert (result["exit_code"], result["stderr"]) == (0, "")
        assert result["changes"][0]["size"] > 10_000

    def test_vega_charts_become_pictures_without_a_network(self, executor: Executor, session: str) -> None:
        code = """
            import altair as alt, pandas as pd
            data = pd.DataFrame({"月": ["一月", "二月"], "v": [1, 2]})
            alt.Chart(data).mark_bar().encode(x="月", y="v").save("/artifacts/v.png")
            print("ok")
        """
        assert python(executor, session, code) == "ok\n"

    def test_the_programs_that_agents_use_are_there(self, executor: Executor, session: str) -> None:
        command = (
            "set -e; python -V; python3 -V; echo abc | grep -oE 'b'; head -c 1 /etc/passwd; test -d /workspace; "
            "printf 'b\\na\\n' | sort | sed s/a/x/ | awk '{print $1}'; find / -maxdepth 1 -name tmp; rm -f none; "
            "sh -c 'echo sh'"
        )
        result = executor.bash(session, command)
        assert (result["exit_code"], result["stderr"]) == (0, "")
        assert result["stdout"].split("\n")[0].startswith("Python 3.12")
