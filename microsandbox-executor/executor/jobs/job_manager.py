"""Commands: each job id runs once. A repeat gets the recorded result, or waits for the one that is under way."""

import asyncio
import contextlib
import hashlib
import json
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

import structlog
from anyio import to_thread

from executor.config import ExecutorSettings
from executor.errors import ExecutorError, JobConflictError, JobNotFoundError
from executor.jobs.admission import Admission
from executor.jobs.output import CommandOutput, OutputEvent
from executor.jobs.results import ChangeOut, JobStatus, NotPersistedOut, ResultOut, lost_result
from executor.metadata.database import Database
from executor.metadata.jobs import JobRepository
from executor.metadata.models import Job
from executor.policy.guest_paths import parse_guest_path
from executor.runtime.base import CommandExit, SandboxRuntime
from executor.sessions.live_session import LiveSession
from executor.sessions.persistence import Delta
from executor.sessions.session_manager import SessionManager

logger = structlog.get_logger(__name__)

_OUTPUT_FOLDER = "/workspace/.agent/output"
_DISK_CHECK_SECONDS = 1.0
_TIMEOUT_EXIT = 124


@dataclass(frozen=True, slots=True)
class Program:
    """What is to run: Python code or a shell command, for at most `timeout_seconds`."""

    session: str
    code: str | None
    command: str | None
    timeout_seconds: int
    read_only: bool

    @property
    def argv(self) -> list[str]:
        if self.code is not None:
            return ["python3", "-c", self.code] if len(self.code) < 100_000 else ["python3", "/tmp/.program.py"]  # noqa: S108
        if len(self.command or "") < 100_000:
            return ["/bin/sh", "-c", self.command or ""]
        return ["/bin/sh", "/tmp/.program.sh"]  # noqa: S108

    @property
    def hash(self) -> str:
        fields = [self.session.partition("@")[0], self.code, self.command, self.read_only]
        return hashlib.sha256(json.dumps(fields).encode()).hexdigest()


@dataclass(slots=True)
class RunningJob:
    job_id: str
    session: str
    output: CommandOutput
    task: asyncio.Task[ResultOut] | None = None
    command: asyncio.Task[CommandExit] | None = None
    cancelled: bool = False
    over_disk: bool = False


@dataclass(slots=True)
class JobManager:
    settings: ExecutorSettings
    database: Database
    sessions: SessionManager
    runtime: SandboxRuntime
    admission: Admission = field(init=False)
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
        self.admission.check()
        async with self.database.transaction() as transaction:
            claimed = await JobRepository(transaction).claim(
                job_id=name,
                session_id=row.session_id,
                generation=row.generation,
                program_hash=program.hash,
                executor=self.settings.executor_name,
            )
        if not claimed:
            recorded = await self._check_same(name, program)
            if name in self._running:
                return self._running[name]
            return ResultOut.model_validate(recorded.result) if recorded.result else lost_result(name)
        job = RunningJob(name, program.session, CommandOutput(self.settings.sandbox_output_bytes, self._log_path()))
        self._running[name] = job
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

    async def cancel(self, job_id: str) -> None:
        """Stop a job; one that has ended stays as it is."""
        running = self._running.get(job_id)
        if running is None:
            await self.get(job_id)
            return
        running.cancelled = True
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
        """Let running jobs end; those that do not are stopped and recorded as cancelled."""
        tasks = [_task_of(job) for job in self._running.values()]
        if tasks:
            await asyncio.wait(tasks, timeout=seconds)
        for job in list(self._running.values()):
            await self.cancel(job.job_id)
        if self._running:
            await asyncio.wait([_task_of(job) for job in self._running.values()])

    # --- one job --------------------------------------------------------------------------------------------------

    async def _carry_out(self, job: RunningJob, program: Program) -> ResultOut:
        try:
            async with self.admission.place(), self.sessions.using(program.session) as session:
                if program.read_only:
                    result = await self._run(job, program, session)
                else:
                    async with session.command_lock:
                        result = await self._run(job, program, session)
        except ExecutorError as error:
            logger.warning("job_failed", job_id=job.job_id, code=error.code, detail=error.detail)
            result = ResultOut(job_id=job.job_id, status="failed", message=error.detail)
        except Exception:
            logger.exception("job_broke", job_id=job.job_id)
            result = ResultOut(job_id=job.job_id, status="failed", message="The executor failed while it ran this.")
        finally:
            job.output.finish()
            job.output.log.unlink(missing_ok=True)
        async with self.database.transaction() as transaction:
            await JobRepository(transaction).finish(job.job_id, status=result.status, result=result.model_dump())
        self._running.pop(job.job_id, None)
        return result

    async def _run(self, job: RunningJob, program: Program, session: LiveSession) -> ResultOut:
        async with self.admission.slot():
            if job.cancelled:
                return ResultOut(job_id=job.job_id, status="cancelled", message="Stopped before it began.")
            async with self.database.transaction() as transaction:
                await JobRepository(transaction).mark_running(job.job_id)
            await to_thread.run_sync(_place_program, session, program)
            started = time.monotonic()
            ended = await self._in_sandbox(job, program, session)
            duration = time.monotonic() - started
        delta = Delta([], session.persistence.newest_seq, {})
        log_note = None
        if not program.read_only:
            log_note = await self._keep_whole_output(job, session)
            delta = await session.persistence.persist()
        result = _result_of(job, ended, duration, delta, [log_note] if log_note else [])
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

    async def _in_sandbox(self, job: RunningJob, program: Program, session: LiveSession) -> CommandExit | None:
        """How the command ended; None when it was stopped."""
        job.command = asyncio.create_task(
            self.runtime.run(
                program.argv,
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

    async def _keep_whole_output(self, job: RunningJob, session: LiveSession) -> str | None:
        """Leave the whole output as a file of the workspace when the result will not hold it."""
        if not job.output.truncated:
            return None
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
            return "The output was cut, and the whole of it could not be kept."
        return f"The output was cut; the whole of it is in {path}."

    def _log_path(self) -> Path:
        folder = self.settings.executor_scratch_dir.resolve() / "logs"
        folder.mkdir(parents=True, exist_ok=True)
        return folder / uuid4().hex


def _task_of(job: RunningJob) -> asyncio.Task[ResultOut]:
    if job.task is None:
        raise JobNotFoundError
    return job.task


def _place_program(session: LiveSession, program: Program) -> None:
    """A program that is too long for a command line goes in as a file."""
    if not program.argv[-1].startswith("/tmp/.program"):  # noqa: S108
        return
    with session.tree.replacing(parse_guest_path(program.argv[-1])) as (out, _):
        out.write((program.code or program.command or "").encode())


def _result_of(
    job: RunningJob, ended: CommandExit | None, duration: float, delta: Delta, notes: list[str]
) -> ResultOut:
    status: JobStatus
    if job.over_disk:
        status, exit_code = "failed", None
        notes.append("Stopped: the workspace has grown over its disk quota. Delete something and go on.")
    elif ended is None:
        status, exit_code = "cancelled", None
        notes.append("Stopped before it was done.")
    elif ended.timed_out:
        status, exit_code = "timed_out", _TIMEOUT_EXIT
        notes.append(f"Stopped after {duration:.0f} s, its time limit. What it had printed until then is kept.")
    else:
        status, exit_code = ("succeeded" if ended.exit_code == 0 else "failed"), ended.exit_code
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
        not_persisted=[NotPersistedOut(path=path, reason=reason) for path, reason in delta.left_out.items()],
    )
