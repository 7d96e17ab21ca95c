"""What every sandbox runtime offers and promises."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

StreamName = Literal["stdout", "stderr"]
OnOutput = Callable[[StreamName, bytes], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class GuestFolders:
    """A session's folders on the host, each mounted in the guest under its own name."""

    uploads: Path  # /uploads, read-only
    workspace: Path  # /workspace, the working folder
    artifacts: Path  # /artifacts
    tmp: Path  # /tmp


@dataclass(frozen=True, slots=True)
class CommandLimits:
    """Bounds of one command: bytes, processors, processes, seconds of wall time."""

    memory_bytes: int
    cpus: float
    pids: int
    file_bytes: int
    wall_seconds: float


@dataclass(frozen=True, slots=True)
class CommandExit:
    """How a command ended.

    `exit_code` is the shell's view: 128+n for death by signal n, 124 for a time-out, None when it is not known.
    `out_of_memory` is true when the memory limit killed something in it.
    """

    exit_code: int | None
    timed_out: bool = False
    out_of_memory: bool = False


class RuntimeUnavailableError(Exception):
    """This kind of sandbox does not boot on this machine; the message says why, for the operator."""


class SandboxRuntime(Protocol):
    """One kind of sandbox.

    `run` returns when the command and everything it started is gone: nothing survives it. When the awaiting task is
    cancelled, the command is killed first and then `CancelledError` goes on. Output is handed over piece by piece as it
    comes (at most 64 KiB each) and the guest waits while `on_output` does: the runtime itself buffers no more.
    """

    name: str
    isolation: str  # in plain words, for operators

    @property
    def enforcement(self) -> Mapping[str, str]:
        """Each limit and by what it is enforced on this machine, in plain words."""
        ...

    @property
    def unenforced(self) -> Sequence[str]:
        """Limits that this machine does not let the runtime enforce, each with what stands in for it."""
        ...

    async def probe(self) -> None:
        """Boot a sandbox and run a command in it. Raises `RuntimeUnavailableError`."""
        ...

    async def run(
        self,
        argv: Sequence[str],
        *,
        folders: GuestFolders,
        limits: CommandLimits,
        read_only: bool,
        on_output: OnOutput,
    ) -> CommandExit:
        """Run `argv` in /workspace. With `read_only` every folder but /tmp is mounted read-only."""
        ...
