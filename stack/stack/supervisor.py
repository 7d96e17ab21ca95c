"""Runs units in the order of their dependencies, keeps services running, and stops everything in reverse.

Existing supervisors were weighed: supervisor and circus start programs by priority or delay, not by a readiness check
of each dependency, and want a daemon with its own configuration and control socket; honcho neither restarts nor
orders. What is left to write is this file.
"""

import asyncio
import contextlib
import signal
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from stack.child_process import describe_exit, kill_group, spawn, stop
from stack.leftovers import ChildRegister
from stack.service_logs import last_lines, log_path
from stack.units import NotReadyError, Service, Task, Unit, UnsafeServiceError

_POLL_SECONDS = 0.05
_BACKOFF_FIRST_SECONDS = 0.5
_BACKOFF_MOST_SECONDS = 30.0
# A service that ran this long before it crashed starts again with the shortest pause.
_BACKOFF_RESET_SECONDS = 60.0


class UnitState(StrEnum):
    STARTING = "starting"
    READY = "ready"
    DONE = "done"
    CRASHED = "crashed"
    REFUSED = "refused"
    STOPPING = "stopping"
    STOPPED = "stopped"
    KILLED = "killed"


@dataclass(frozen=True, slots=True)
class UnitEvent:
    """Something that people watching the console should see. `seconds` is how long the step took, or will wait."""

    name: str
    state: UnitState
    seconds: float = 0.0
    detail: str = ""
    log_lines: tuple[str, ...] = ()


class UnitStartError(Exception):
    """A unit did not come up. The text names it, says why, and ends with its newest log lines."""

    def __init__(self, name: str, reason: str, log_file: Path, log_lines: Sequence[str]) -> None:
        self.unit = name
        self.reason = reason
        lines = "".join(f"\n    {line}" for line in log_lines)
        super().__init__(f"{name} did not start: {reason}\n  {log_file}:{lines or ' (empty)'}")


@dataclass(slots=True)
class _Run:
    """The changing side of a unit."""

    unit: Unit
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    process: asyncio.subprocess.Process | None = None
    wanted: bool = False
    ready: asyncio.Event = field(default_factory=asyncio.Event)
    watcher: asyncio.Task[None] | None = None


class Supervisor:
    """Owns the children. Every method belongs to one event loop, whose thread must outlive the children."""

    def __init__(
        self, units: Iterable[Unit], *, log_dir: Path, register: ChildRegister, listen: Callable[[UnitEvent], None]
    ) -> None:
        self._runs = {unit.name: _Run(unit) for unit in units}
        self._log_dir = log_dir
        self._register = register
        self._listen = listen
        self._check_dependencies()

    async def start(self, *names: str) -> None:
        """Bring up the named units (all when none is named) and what they depend on, side by side where independent.

        Raises UnitStartError for the first that fails; what is up by then stays up until `stop_all`.
        """
        ensuring: dict[str, asyncio.Task[None]] = {}

        def ensure(name: str) -> asyncio.Task[None]:
            if name not in ensuring:
                ensuring[name] = asyncio.create_task(bring_up(name), name=f"start {name}")
            return ensuring[name]

        async def bring_up(name: str) -> None:
            run = self._runs[name]
            for companion in sorted(_beside(run.unit)):
                ensure(companion)
            await asyncio.gather(*(ensure(dependency) for dependency in sorted(run.unit.after)))
            async with run.lock:
                if not run.ready.is_set():
                    await self._launch_or_explain(run)

        for name in names or self._runs:
            ensure(name)
        failures: list[BaseException] = []
        try:
            while not failures and (pending := [task for task in ensuring.values() if not task.done()]):
                await asyncio.wait(pending, return_when=asyncio.FIRST_EXCEPTION)
                failures = [error for task in ensuring.values() if task.done() and (error := task.exception())]
        finally:
            # After a failure, and when this call itself is cancelled, nothing goes on starting in the background.
            for task in ensuring.values():
                task.cancel()
            await asyncio.gather(*ensuring.values(), return_exceptions=True)
        if failures:
            raise failures[0]

    async def stop_all(self) -> None:
        """Stop every service, dependents first."""
        stopping: dict[str, asyncio.Task[None]] = {}

        def end(name: str) -> asyncio.Task[None]:
            if name not in stopping:
                stopping[name] = asyncio.create_task(end_after_dependents(name), name=f"stop {name}")
            return stopping[name]

        async def end_after_dependents(name: str) -> None:
            dependents = [other for other, run in self._runs.items() if name in run.unit.after | _beside(run.unit)]
            await asyncio.gather(*(end(dependent) for dependent in dependents))
            await self.stop(name)

        await asyncio.gather(*(end(name) for name in self._runs))

    async def stop(self, name: str) -> None:
        """Stop one service and keep it stopped."""
        run = self._runs[name]
        run.wanted = False
        await self._end_watcher(run)
        async with run.lock:
            process = run.process
            run.ready.clear()
            if process is None:
                return
            self._tell(name, UnitState.STOPPING)
            started = time.monotonic()
            unit = run.unit
            if isinstance(unit, Service):
                gentle = await stop(process, unit.stop_signal, unit.stop_seconds)
            else:
                gentle = await stop(process, signal.SIGTERM, 1.0)
            self._forget_process(run)
            self._tell(name, UnitState.STOPPED, time.monotonic() - started, "" if gentle else "killed: it did not stop")

    async def kill(self, name: str) -> None:
        """SIGKILL for one service and its process group; it stays down until `start`."""
        run = self._runs[name]
        run.wanted = False
        await self._end_watcher(run)
        async with run.lock:
            run.ready.clear()
            if run.process is not None:
                kill_group(run.process)
                await run.process.wait()
                self._forget_process(run)
                self._tell(name, UnitState.KILLED)

    async def crash(self, name: str) -> None:
        """SIGKILL as if from outside; returns once the service has been started again and is ready."""
        run = self._runs[name]
        if run.process is None or not run.ready.is_set():
            raise RuntimeError(f"{name} is not running")
        run.ready.clear()
        kill_group(run.process)
        await run.ready.wait()

    def pid(self, name: str) -> int | None:
        """The process id of a running unit."""
        process = self._runs[name].process
        return None if process is None else process.pid

    # --- one unit -------------------------------------------------------------------------------------------------

    async def _launch_or_explain(self, run: _Run) -> None:
        """Every way to fail becomes an error that names the unit."""
        try:
            await self._launch(run)
        except (UnitStartError, UnsafeServiceError):
            raise
        except Exception as error:
            raise self._start_error(run.unit, f"{type(error).__name__}: {error}") from error

    async def _launch(self, run: _Run) -> None:
        """Start and wait until it is ready (a service) or has ended well (a task)."""
        unit = run.unit
        started = time.monotonic()
        self._tell(unit.name, UnitState.STARTING)
        run.wanted = True
        if isinstance(unit, Task):
            skipped = unit.is_done is not None and await unit.is_done()
            if not skipped:
                await self._run_task(run, unit)
            run.ready.set()
            self._tell(unit.name, UnitState.DONE, time.monotonic() - started, "as it was" if skipped else "")
            return
        await self._start_service(run, unit)
        self._tell(unit.name, UnitState.READY, time.monotonic() - started, unit.address)
        run.watcher = asyncio.create_task(self._watch(run, unit), name=f"watch {unit.name}")

    async def _run_task(self, run: _Run, task: Task) -> None:
        process = await self._spawn(run)
        try:
            async with asyncio.timeout(task.timeout_seconds):
                code = await process.wait()
        except TimeoutError:
            kill_group(process)
            await process.wait()
            raise self._start_error(task, f"not done after {task.timeout_seconds:.0f} s") from None
        finally:
            if process.returncode is not None:
                self._forget_process(run)
        if code != 0:
            raise self._start_error(task, describe_exit(code))
        if task.remember is not None:
            await task.remember()

    async def _start_service(self, run: _Run, service: Service) -> None:
        """Start the program and wait for its readiness, its end or the time-out, whichever comes first."""
        if service.prepare is not None:
            await service.prepare()
        process = await self._spawn(run)
        reason = ["no answer"]
        exited = asyncio.create_task(process.wait())
        answering = asyncio.create_task(_poll(service, reason))
        try:
            done, _ = await asyncio.wait(
                {exited, answering}, timeout=service.start_seconds, return_when=asyncio.FIRST_COMPLETED
            )
            if answering in done:
                answering.result()
                if service.provision is not None:
                    await service.provision()
            elif exited in done:
                raise self._start_error(service, f"{describe_exit(exited.result())} before it was ready")
            else:
                raise self._start_error(service, f"not ready after {service.start_seconds:.0f} s: {reason[0]}")
        except Exception:
            await stop(process, service.stop_signal, service.stop_seconds)
            self._forget_process(run)
            raise
        finally:
            for waiting in (exited, answering):
                waiting.cancel()
                with contextlib.suppress(asyncio.CancelledError, Exception):
                    await waiting
        run.ready.set()

    async def _watch(self, run: _Run, service: Service) -> None:
        """Start the service again whenever it ends unasked, with a growing pause while it keeps failing."""
        pause = _BACKOFF_FIRST_SECONDS
        problem: str | None = None
        while run.wanted:
            started = time.monotonic()
            if problem is None and run.process is not None:
                code = await run.process.wait()
                problem = describe_exit(code)
                kill_group(run.process)
                self._forget_process(run)
                run.ready.clear()
                if time.monotonic() - started > _BACKOFF_RESET_SECONDS:
                    pause = _BACKOFF_FIRST_SECONDS
            lines = tuple(last_lines(self._log_dir, service.name))
            self._tell(service.name, UnitState.CRASHED, pause, problem or "", lines)
            await asyncio.sleep(pause)
            pause = min(pause * 2, _BACKOFF_MOST_SECONDS)
            try:
                started = time.monotonic()
                await self._start_service(run, service)
            except UnsafeServiceError as error:
                run.wanted = False
                self._tell(service.name, UnitState.REFUSED, detail=str(error))
            except UnitStartError as error:
                problem = error.reason
            except Exception as error:
                # From `prepare` or `provision`: said on the console, and tried again like any other failure.
                problem = f"{type(error).__name__}: {error}"
            else:
                problem = None
                self._tell(service.name, UnitState.READY, time.monotonic() - started, service.address)

    async def _spawn(self, run: _Run) -> asyncio.subprocess.Process:
        process = await spawn(run.unit, self._log_dir)
        run.process = process
        self._register.add(run.unit.name, process.pid)
        return process

    def _forget_process(self, run: _Run) -> None:
        run.process = None
        self._register.remove(run.unit.name)

    async def _end_watcher(self, run: _Run) -> None:
        if run.watcher is None:
            return
        run.watcher.cancel()
        await asyncio.gather(run.watcher, return_exceptions=True)
        run.watcher = None

    # --- telling --------------------------------------------------------------------------------------------------

    def _tell(
        self, name: str, state: UnitState, seconds: float = 0.0, detail: str = "", lines: tuple[str, ...] = ()
    ) -> None:
        self._listen(UnitEvent(name, state, seconds, detail, lines))

    def _start_error(self, unit: Unit, reason: str) -> UnitStartError:
        return UnitStartError(
            unit.name, reason, log_path(self._log_dir, unit.name), last_lines(self._log_dir, unit.name)
        )

    def _check_dependencies(self) -> None:
        for name, run in self._runs.items():
            unknown = (run.unit.after | _beside(run.unit)) - self._runs.keys()
            if unknown:
                raise ValueError(f"{name} depends on unknown units: {', '.join(sorted(unknown))}")


def _beside(unit: Unit) -> frozenset[str]:
    return unit.beside if isinstance(unit, Service) else frozenset()


async def _poll(service: Service, reason: list[str]) -> None:
    """Ask until the service is ready; `reason[0]` is always what was missing last."""
    while True:
        try:
            await service.ready()
        except NotReadyError as error:
            reason[0] = str(error)
            await asyncio.sleep(_POLL_SECONDS)
        else:
            return
