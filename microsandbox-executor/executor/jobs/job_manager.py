"""Commands: each job id runs once. A repeat gets the recorded result, or waits for the one that is under way."""

import asyncio
import contextlib
import hashlib
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

import structlog
from anyio import to_thread
from sqlalchemy.exc import SQLAlchemyError

from executor.config import ExecutorSettings
from executor.errors import ExecutorError, JobConflictError, JobNotFoundError, StoppingError
from executor.jobs.admission import Admission
from executor.jobs.output import MAX_LOG_BYTES, CommandOutput, OutputEvent
from executor.jobs.program import PlacedProgram, Program, place
from executor.jobs.results import ChangeOut, JobStatus, NotPersistedOut, ResultOut, lost_result
from executor.jobs.turns import Turns
from executor.metadata.database import Database
from executor.metadata.jobs import JobRepository
from executor.metadata.models import Job
from executor.policy.guest_paths import parse_guest_path, printable
from executor.runtime.base import CommandExit, SandboxRuntime
from executor.sessions.live_session import LiveSession
from executor.sessions.persistence import Delta
from executor.sessions.session_manager import SessionManager

logger = structlog.get_logger(__name__)

_OUTPUT_FOLDER = "/workspace/.agent/output"
_DISK_CHECK_SECONDS = 1.0
_TIMEOUT_EXIT = 124
_RECORD_PAUSES = (0.2, 1.0, 3.0, 10.0, 30.0, 60.0)


@dataclass(slots=True)
class RunningJob:
    job_id: str
    session: str
    output: CommandOutput
    turn: asyncio.Event | None = None
    task: asyncio.Task[ResultOut] | None = None
    waiting: asyncio.Task[None] | None = None
    command: asyncio.Task[CommandExit] | None = None
    cancelled: bool = False
    why_cancelled: str = ""
    over_disk: bool = False
    not_stored: bool = False


@dataclass(slots=True)
class JobManager:
    settings: ExecutorSettings
    database: Database
    sessions: SessionManager
    runtime: SandboxRuntime
    admission: Admission = field(init=False)
    turns: Turns = field(default_factory=Turns)
    draining: bool = False
    _running: dict[str, RunningJob] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.admission = Admission(
            max_concurrent=self.settings.executor_max_concurrent, queue_size=self.settings.executor_queue_size
        )

    # --- what callers ask for -------------------------------------------------------------------------------------

    async def execute(self, program: Program, job_id: str | None) -> ResultOut:
        """Run to the end and return the result. The command goes on when the caller goes away."""
        job = await self.submit(program, job_id)
        return job if isinstance(job, ResultOut) else await asyncio.shield(_task_of(job))

    async def submit(self, program: Program, job_id: str | None) -> RunningJob | ResultOut:
        """Start a job, or find the one of this id: under way, or with its recorded result."""
        row = await self.sessions.find(program.session)
        name = job_id or f"unnamed/{uuid4().hex}"
        if name in self._running:
            await self._check_same(name, program)
            return self._running[name]
        if self.draining:
            raise StoppingError
        self.admission.take_place()
        claimed = False
        try:
            async with self.database.transaction() as transaction:
                claimed = await JobRepository(transaction).claim(
                    job_id=name,
                    session_id=row.session_id,
                    generation=row.generation,
                    program_hash=program.hash,
                    executor=self.settings.executor_name,
                )
        finally:
            if not claimed:
                self.admission.give_place_back()
        if not claimed:
            recorded = await self._check_same(name, program)
            if name in self._running:
                return self._running[name]
            return ResultOut.model_validate(recorded.result) if recorded.result else lost_result(name)
        job = RunningJob(name, program.session, CommandOutput(self.settings.sandbox_output_bytes, self._log_path()))
        self._running[name] = job
        if not program.read_only:
            job.turn = self.turns.join(job.session)
        job.task = asyncio.create_task(self._carry_out(job, program), name=f"job {name}")
        return job

    async def _check_same(self, job_id: str, program: Program) -> Job:
        async with self.database.transaction() as transaction:
            recorded = await JobRepository(transaction).get(job_id)
        if recorded is None:
            raise JobNotFoundError
        if recorded.program_hash != program.hash:
            raise JobConflictError(f"{job_id} belongs to another command or session")
        return recorded

    async def get(self, job_id: str, *, wait_seconds: float = 0) -> Job:
        """The job's row; waits up to `wait_seconds` for its end."""
        running = self._running.get(job_id)
        if running is not None and wait_seconds > 0:
            await asyncio.wait([_task_of(running)], timeout=wait_seconds)
        async with self.database.transaction() as transaction:
            row = await JobRepository(transaction).get(job_id)
        if row is None:
            raise JobNotFoundError
        return row

    async def follow(self, job_id: str, *, after: int) -> AsyncIterator[OutputEvent | ResultOut]:
        """Live output after an event id, then the result."""
        running = self._running.get(job_id)
        if running is not None:
            async for event in running.output.follow(after):
                yield event
            yield await asyncio.shield(_task_of(running))
            return
        row = await self.get(job_id)
        yield ResultOut.model_validate(row.result) if row.result else lost_result(job_id)

    async def cancel(self, job_id: str, *, why: str = "Stopped before it was done.") -> None:
        """Stop a job; one that has ended stays as it is."""
        running = self._running.get(job_id)
        if running is None:
            await self.get(job_id)
            return
        running.cancelled = True
        running.why_cancelled = why
        if running.waiting is not None:
            running.waiting.cancel()
        if running.command is not None:
            running.command.cancel()

    async def cancel_all_of(self, session: str) -> list[str]:
        """Stop every job of a session and wait until they are gone."""
        jobs = [job for job in self._running.values() if job.session == session]
        for job in jobs:
            await self.cancel(job.job_id)
        if jobs:
            await asyncio.wait([_task_of(job) for job in jobs])
        return [job.job_id for job in jobs]

    async def settle_lost(self) -> int:
        """At the start: whatever the database calls unfinished died with the process before this one."""
        async with self.database.transaction() as transaction:
            repository = JobRepository(transaction)
            lost = await repository.unfinished_of(self.settings.executor_name)
            for row in lost:
                await repository.finish(row.job_id, status="lost", result=lost_result(row.job_id).model_dump())
        return len(lost)

    async def drain(self, seconds: float) -> None:
        """Take no more; let running jobs end; those that do not are stopped and recorded as cancelled."""
        self.draining = True
        tasks = [_task_of(job) for job in self._running.values()]
        if tasks:
            await asyncio.wait(tasks, timeout=seconds)
        for job in list(self._running.values()):
            await self.cancel(job.job_id, why="Stopped: the executor was being shut down.")
        if self._running:
            await asyncio.wait([_task_of(job) for job in self._running.values()])

    # --- one job --------------------------------------------------------------------------------------------------

    async def _carry_out(self, job: RunningJob, program: Program) -> ResultOut:
        try:
            result = await self._in_turn(job, program)
        except ExecutorError as error:
            logger.warning("job_failed", job_id=job.job_id, code=error.code, detail=error.detail)
            result = ResultOut(job_id=job.job_id, status="failed", message=error.detail)
        except Exception:
            logger.exception("job_broke", job_id=job.job_id)
            result = ResultOut(job_id=job.job_id, status="failed", message="The executor failed while it ran this.")
        finally:
            job.output.finish()
            job.output.log.unlink(missing_ok=True)
            self.admission.give_place_back()
            if job.turn is not None:
                self.turns.leave(job.session, job.turn)
        await self._record(job.job_id, result)
        self._running.pop(job.job_id, None)
        return result

    async def _record(self, job_id: str, result: ResultOut) -> None:
        """Write the result down; a database that is away for a while does not make a finished command a lost one."""
        for pause in (*_RECORD_PAUSES, None):
            try:
                async with self.database.transaction() as transaction:
                    await JobRepository(transaction).finish(job_id, status=result.status, result=result.model_dump())
            except (SQLAlchemyError, OSError) as error:
                if pause is None:
                    logger.error("result_not_recorded", job_id=job_id, error=repr(error))
                    return
                logger.warning("result_not_recorded_yet", job_id=job_id, error=repr(error))
                await asyncio.sleep(pause)
            else:
                return

    async def _in_turn(self, job: RunningJob, program: Program) -> ResultOut:
        async with self.sessions.using(program.session) as session:
            job.waiting = asyncio.create_task(self._wait_for_slot(job))
            if job.cancelled:
                job.waiting.cancel()
            try:
                await job.waiting
            except asyncio.CancelledError:
                if not job.cancelled:
                    raise
                return ResultOut(job_id=job.job_id, status="cancelled", message=job.why_cancelled)
            return await self._run(job, program, session)

    async def _wait_for_slot(self, job: RunningJob) -> None:
        if job.turn is not None:
            await job.turn.wait()
        await self.admission.take_slot()

    async def _run(self, job: RunningJob, program: Program, session: LiveSession) -> ResultOut:
        with self.admission.held_slot():
            async with self.database.transaction() as transaction:
                await JobRepository(transaction).mark_running(job.job_id)
            placed = await to_thread.run_sync(place, program, session.tree)
            started = time.monotonic()
            try:
                ended = await self._in_sandbox(job, program, placed, session)
            finally:
                duration = time.monotonic() - started
                await to_thread.run_sync(placed.remove, session.tree)
        notes: list[str] = []
        delta = Delta([], session.persistence.newest_seq, {})
        if not program.read_only:
            notes += await self._keep_whole_output(job, session)
            try:
                delta = await session.persistence.persist()
            except (ExecutorError, SQLAlchemyError) as error:
                # What it printed is worth having; its files are on the disk and go with the next command's.
                logger.error("workspace_not_persisted", job_id=job.job_id, session=session.name, error=repr(error))
                job.not_stored = True
        result = _result_of(job, ended, duration, delta, notes)
        logger.info(
            "job_done",
            job_id=job.job_id,
            session=session.name,
            status=result.status,
            exit_code=result.exit_code,
            duration_ms=result.duration_ms,
            changes=len(result.changes),
        )
        return result

    async def _in_sandbox(
        self, job: RunningJob, program: Program, placed: PlacedProgram, session: LiveSession
    ) -> CommandExit | None:
        """How the command ended; None when it was stopped."""
        job.command = asyncio.create_task(
            self.runtime.run(
                placed.argv,
                folders=session.tree.folders,
                limits=self.settings.command_limits(program.timeout_seconds),
                read_only=program.read_only,
                on_output=job.output.take,
            )
        )
        if job.cancelled:
            job.command.cancel()
        watch = asyncio.create_task(self._watch_disk(job, session))
        try:
            return await asyncio.shield(job.command)
        except asyncio.CancelledError:
            if not job.command.done():  # this very job is being torn down: take the command along
                job.command.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await job.command
                raise
            return None
        finally:
            watch.cancel()

    async def _watch_disk(self, job: RunningJob, session: LiveSession) -> None:
        while True:
            await asyncio.sleep(_DISK_CHECK_SECONDS)
            used = await to_thread.run_sync(session.tree.used_bytes)
            if used > self.settings.sandbox_disk_bytes and job.command is not None:
                job.over_disk = True
                job.command.cancel()
                return

    async def _keep_whole_output(self, job: RunningJob, session: LiveSession) -> list[str]:
        """Leave the output as a file of the workspace when the result will not hold all of it; says where."""
        if not job.output.truncated:
            return []
        name = hashlib.sha256(job.job_id.encode()).hexdigest()[:16]
        path = parse_guest_path(f"{_OUTPUT_FOLDER}/{name}.log")
        job.output.finish()

        def copy() -> None:
            with session.tree.replacing(path) as (out, _), job.output.log.open("rb") as log:
                while chunk := log.read(1024 * 1024):
                    out.write(chunk)

        try:
            await to_thread.run_sync(copy)
        except (ExecutorError, OSError) as error:
            logger.warning("output_not_kept", job_id=job.job_id, error=str(error))
            return ["The output was cut, and the whole of it could not be kept."]
        if job.output.log_is_whole:
            return [f"The output was cut; the whole of it is in {path}."]
        return [f"The output was cut; its first {MAX_LOG_BYTES:,} bytes are in {path}."]

    def _log_path(self) -> Path:
        folder = self.settings.executor_scratch_dir.resolve() / "logs"
        folder.mkdir(parents=True, exist_ok=True)
        return folder / uuid4().hex


def _task_of(job: RunningJob) -> asyncio.Task[ResultOut]:
    if job.task is None:
        raise JobNotFoundError
    return job.task


def _result_of(
    job: RunningJob, ended: CommandExit | None, duration: float, delta: Delta, notes: list[str]
) -> ResultOut:
    status: JobStatus
    if job.over_disk:
        status, exit_code = "failed", None
        notes.append("Stopped: the workspace has grown over its disk quota. Delete something and go on.")
    elif ended is None:
        status, exit_code = "cancelled", None
        notes.append(job.why_cancelled)
    elif ended.timed_out:
        status, exit_code = "timed_out", _TIMEOUT_EXIT
        notes.append(f"Stopped after {duration:.0f} s, its time limit. What it had printed until then is kept.")
    else:
        status, exit_code = ("succeeded" if ended.exit_code == 0 else "failed"), ended.exit_code
    if job.not_stored:
        status = "failed"
        notes.append("It ran, but the files it changed could not be stored yet; they are with the next command.")
    if ended is not None and ended.out_of_memory:
        notes.append("Something in it was killed for using more memory than this sandbox has.")
    return ResultOut(
        job_id=job.job_id,
        status=status,
        stdout=job.output.stdout.text(),
        stderr=job.output.stderr.text(),
        exit_code=exit_code,
        timed_out=ended is not None and ended.timed_out,
        truncated=job.output.truncated,
        duration_ms=round(duration * 1000),
        message=" ".join(notes) or None,
        seq=delta.seq,
        changes=[ChangeOut.of(change) for change in delta.changes],
        not_persisted=[NotPersistedOut(path=printable(path), reason=reason) for path, reason in delta.left_out.items()],
    )
