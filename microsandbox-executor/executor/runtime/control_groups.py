"""One control group for each command: memory, processes and processor time, in cgroup v1, v2 or a mix of both."""

import contextlib
import itertools
import os
import re
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import structlog

from executor.runtime.base import CommandLimits

logger = structlog.get_logger(__name__)

CONTROLLERS = ("memory", "pids", "cpu")
_PREFIX = "analyst-executor-"
_PERIOD_MICROSECONDS = 100_000
# bubblewrap itself: its monitor outside and its first process inside.
_SANDBOX_PROCESSES = 2
_EMPTY_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class CommandGroup:
    """The folders of one command's group: one for each v1 hierarchy, or a single one in v2."""

    folders: tuple[Path, ...]
    memory: Path | None

    def entrances(self) -> tuple[Path, ...]:
        """Files that take the caller in when it writes `0` to each."""
        return tuple(folder / "cgroup.procs" for folder in self.folders)

    def was_out_of_memory(self) -> bool:
        """Whether the kernel killed something here for exceeding the memory limit."""
        if self.memory is None:
            return False
        for name in ("memory.events", "memory.oom_control"):
            with contextlib.suppress(FileNotFoundError):
                found = re.search(r"^oom_kill (\d+)$", (self.memory / name).read_text(), re.MULTILINE)
                if found:
                    return int(found.group(1)) > 0
        return False

    def destroy(self) -> None:
        """Kill what is left and remove the group; blocks until it is empty (at most a few seconds)."""
        deadline = time.monotonic() + _EMPTY_SECONDS
        for folder in self.folders:
            pause = 0.0005
            while not _remove(folder):
                _kill_members(folder)
                if time.monotonic() > deadline:
                    logger.error("control_group_stays", folder=str(folder))
                    break
                time.sleep(pause)
                pause = min(pause * 2, 0.05)


class ControlGroups:
    """Makes a group for each command below this process's own group, as far as this machine lets it.

    `versions` says for each controller that can be used whether it is v1 or v2. A controller that is missing there is
    not enforced.
    """

    def __init__(self, bases: dict[str, tuple[int, Path]]) -> None:
        self._bases = bases
        self._numbers = itertools.count(1)

    @classmethod
    def find(cls) -> "ControlGroups":
        """Look at how this process is mounted and placed, and try what can be written."""
        mounts = hierarchies(Path("/proc/self/mountinfo").read_text())
        own = own_groups(Path("/proc/self/cgroup").read_text())
        bases: dict[str, tuple[int, Path]] = {}
        for controller in CONTROLLERS:
            if controller in mounts and controller in own:
                base = below(mounts[controller], own[controller])
                if base is not None and _takes_children(base):
                    bases[controller] = (1, base)
        missing = [name for name in CONTROLLERS if name not in bases]
        if missing and "" in mounts and "" in own and (base := below(mounts[""], own[""])) is not None:
            delegated = _delegate(base, missing)
            if delegated is not None:
                bases |= dict.fromkeys(delegated.controllers, (2, delegated.folder))
        groups = cls(bases)
        groups.remove_leftovers()
        return groups

    @property
    def versions(self) -> dict[str, int]:
        return {controller: version for controller, (version, _) in self._bases.items()}

    def create(self, limits: CommandLimits) -> CommandGroup:
        """Make a group with these limits. Raises `OSError`."""
        name = f"{_PREFIX}{os.getpid()}-{next(self._numbers)}"
        folders: list[Path] = []
        memory = None
        try:
            for controller, (version, base) in self._bases.items():
                folder = base / name
                if folder not in folders:
                    folder.mkdir()
                    folders.append(folder)
                _set_limit(folder, controller, version, limits)
                if controller == "memory":
                    memory = folder
        except OSError:
            CommandGroup(tuple(folders), None).destroy()
            raise
        return CommandGroup(tuple(folders), memory)

    def remove_leftovers(self) -> None:
        """Remove the groups of executors that are no more (killed before they could tidy up)."""
        for base in {base for _, base in self._bases.values()}:
            for folder in base.glob(f"{_PREFIX}*"):
                owner = folder.name.removeprefix(_PREFIX).partition("-")[0]
                if owner.isdigit() and not Path("/proc", owner).exists():
                    CommandGroup((folder,), None).destroy()


@dataclass(frozen=True, slots=True)
class Mount:
    """Where a hierarchy is mounted, and which part of it is seen there."""

    point: Path
    root: str


@dataclass(frozen=True, slots=True)
class _Delegated:
    folder: Path
    controllers: tuple[str, ...]


def hierarchies(mountinfo: str) -> dict[str, Mount]:
    """Where each v1 controller is mounted; the v2 hierarchy stands under the empty name."""
    found: dict[str, Mount] = {}
    for line in mountinfo.splitlines():
        fields, _, tail = line.partition(" - ")
        _, _, _, root, point, *_ = fields.split()
        kind, _, options = tail.split(" ", 2)
        mount = Mount(Path(point), root)
        if kind == "cgroup2":
            found.setdefault("", mount)
        elif kind == "cgroup":
            for option in options.split(","):
                found.setdefault(option, mount)
    return found


def own_groups(text: str) -> dict[str, str]:
    """This process's path in the hierarchy of each controller; the v2 path stands under the empty name."""
    own: dict[str, str] = {}
    for line in text.splitlines():
        _, controllers, path = line.split(":", 2)
        for controller in controllers.split(","):
            own[controller] = path
    return own


def below(mount: Mount, path: str) -> Path | None:
    """The folder of `path`, where a mount may show only a part of the hierarchy; None when it lies outside."""
    root = mount.root.rstrip("/")
    if path != mount.root and not path.startswith(f"{root}/"):
        return None
    folder = mount.point / path.removeprefix(root).lstrip("/")
    return folder if folder.is_dir() else None


def _takes_children(base: Path) -> bool:
    trial = base / f"{_PREFIX}{os.getpid()}-trial"
    try:
        trial.mkdir()
        trial.rmdir()
    except OSError:
        return False
    return True


def _delegate(base: Path, wanted: Sequence[str]) -> _Delegated | None:
    """Prepare a v2 group whose children may have limits.

    A v2 group with limited children may hold no processes of its own (but for the root), so this one first moves into
    a child. When others live in the group too, they cannot be moved: then there are no limits to be had.
    """
    available = [name for name in wanted if name in (base / "cgroup.controllers").read_text().split()]
    if not available:
        return None
    service = base / f"executor-service-{os.getpid()}"
    try:
        if not set(available) <= set((base / "cgroup.subtree_control").read_text().split()):
            if (base / "cgroup.type").exists():
                service.mkdir(exist_ok=True)
                (service / "cgroup.procs").write_text(str(os.getpid()))
            (base / "cgroup.subtree_control").write_text(" ".join(f"+{name}" for name in available))
        if not _takes_children(base):
            return None
    except OSError as error:
        logger.info("control_groups_not_delegated", folder=str(base), error=str(error))
        with contextlib.suppress(OSError):
            (base / "cgroup.procs").write_text(str(os.getpid()))
            service.rmdir()
        return None
    return _Delegated(base, tuple(available))


def _set_limit(folder: Path, controller: str, version: int, limits: CommandLimits) -> None:
    quota = max(1000, round(limits.cpus * _PERIOD_MICROSECONDS))
    if controller == "pids":
        (folder / "pids.max").write_text(str(limits.pids + _SANDBOX_PROCESSES))
    elif controller == "memory" and version == 1:
        (folder / "memory.limit_in_bytes").write_text(str(limits.memory_bytes))
        with contextlib.suppress(FileNotFoundError, PermissionError):  # Only where the kernel counts swap.
            (folder / "memory.memsw.limit_in_bytes").write_text(str(limits.memory_bytes))
    elif controller == "memory":
        (folder / "memory.max").write_text(str(limits.memory_bytes))
        with contextlib.suppress(FileNotFoundError, PermissionError):
            (folder / "memory.swap.max").write_text("0")
    elif version == 1:
        (folder / "cpu.cfs_period_us").write_text(str(_PERIOD_MICROSECONDS))
        (folder / "cpu.cfs_quota_us").write_text(str(quota))
    else:
        (folder / "cpu.max").write_text(f"{quota} {_PERIOD_MICROSECONDS}")


def _remove(folder: Path) -> bool:
    try:
        folder.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def _kill_members(folder: Path) -> None:
    with contextlib.suppress(OSError):
        (folder / "cgroup.kill").write_text("1")
        return
    with contextlib.suppress(FileNotFoundError):
        for pid in (folder / "cgroup.procs").read_text().split():
            # "0" stands for a process of another namespace, which this one cannot name.
            if pid != "0":
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(pid), signal.SIGKILL)
