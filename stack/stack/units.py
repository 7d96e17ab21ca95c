"""What the supervisor runs: services that stay, and tasks that run once to their end."""

import signal
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

AsyncStep = Callable[[], Awaitable[None]]


class NotReadyError(Exception):
    """The service does not answer as it should yet; ask again. The text says what is missing."""


class UnsafeServiceError(Exception):
    """The service answers in a way that must not be served to anybody. It is stopped and not started again."""


@dataclass(frozen=True, slots=True)
class RunAs:
    """The system user of a process."""

    uid: int
    gid: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A program that has to end with exit code 0 before the units that name it in `after` start.

    It is not run when `is_done` says that it was before; `remember` is called after it ended well.
    """

    name: str
    argv: tuple[str, ...]
    environment: Mapping[str, str] = field(repr=False)
    after: frozenset[str] = frozenset()
    working_dir: Path | None = None
    timeout_seconds: float = 120.0
    is_done: Callable[[], Awaitable[bool]] | None = field(default=None, repr=False)
    remember: AsyncStep | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """A program that stays. `environment` is all it gets: nothing is inherited.

    `after` is waited for before the start; `beside` is started too and not waited for, because `ready` asks about it
    itself; a stop ends this service before both. `prepare` runs before each start, `ready` is polled until it returns
    (it raises NotReadyError meanwhile), and `provision` runs once the service is ready and before anything that depends
    on it starts. All are idempotent.
    """

    name: str
    argv: tuple[str, ...]
    environment: Mapping[str, str] = field(repr=False)
    ready: AsyncStep = field(repr=False)
    address: str
    after: frozenset[str] = frozenset()
    beside: frozenset[str] = frozenset()
    working_dir: Path | None = None
    run_as: RunAs | None = None
    prepare: AsyncStep | None = field(default=None, repr=False)
    provision: AsyncStep | None = field(default=None, repr=False)
    start_seconds: float = 120.0
    stop_signal: signal.Signals = signal.SIGTERM
    stop_seconds: float = 10.0
    # What the kernel sends when the supervisor itself is killed: SIGKILL unless the program has data to put away.
    orphan_signal: signal.Signals = signal.SIGKILL


Unit = Service | Task
