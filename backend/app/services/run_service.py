"""Runs: admitted one at a time a thread, started in the runtime, cancelled, and settled to what became of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

import structlog
from sqlalchemy.exc import IntegrityError
from uuid_utils.compat import uuid7

from app.clients.runtime import RuntimeClient, RuntimeRun
from app.db.models import ACTIVE_RUN_STATUSES, AgentRun, Thread, ThreadFile
from app.db.repositories.audit import record_audit_event
from app.db.repositories.files import FileRepository
from app.db.repositories.runs import RunRepository
from app.db.repositories.threads import ThreadRepository
from app.db.session import Database
from app.errors import NotFoundError, ProductError, RunActiveError, RuntimeUnavailableError
from app.services.message_service import group_by_run, human_message, usage_of
from app.services.sandbox_service import SandboxService
from app.services.thread_service import UNTITLED, title_from

logger = structlog.get_logger(__name__)

MAX_FILES_TOLD = 50
MAX_ATTEMPTS = 2
# A creator that is alive has told the runtime long before this.
_QUEUED_TIMEOUT = timedelta(seconds=60)
_TERMINAL = {"success", "error", "interrupted", "timeout"}


@dataclass(frozen=True, slots=True)
class Ending:
    status: str
    error_code: str | None = None
    error_message: str | None = None


class RunService:
    """The caller has checked that the thread is the user's own."""

    def __init__(
        self,
        database: Database,
        runtime: RuntimeClient,
        sandboxes: SandboxService,
        *,
        model: str,
        recursion_limit: int,
    ) -> None:
        self._database = database
        self._runtime = runtime
        self._sandboxes = sandboxes
        self._model = model
        self._recursion_limit = recursion_limit

    async def start(
        self, thread: Thread, *, question: str, file_ids: Sequence[UUID], idempotency_key: str | None
    ) -> AgentRun:
        """Admit a message and start its run; the same idempotency key gives the first run again.

        Raises `RunActiveError` (with the run to join) and `NotFoundError` for a file that is not the thread's. When the
        runtime cannot be reached the run is kept as failed, with the question.
        """
        files = await self._files_to_tell(thread.id, file_ids)
        run = AgentRun(
            id=uuid7(),
            thread_id=thread.id,
            status="queued",
            question=question,
            file_ids=[str(file_id) for file_id in file_ids],
            idempotency_key=idempotency_key,
            model=self._model,
        )
        try:
            async with self._database.transaction() as session:
                await RunRepository(session).add(run)
                threads = ThreadRepository(session)
                await threads.touch(thread.id)
                if thread.title == UNTITLED:
                    await threads.rename(thread.id, title_from(question))
                await record_audit_event(session, "run_created", user_id=thread.owner_id, target=str(run.id))
        except IntegrityError:
            return await self._run_in_the_way(thread.id, idempotency_key)
        return await self._launch(thread, run, human_message(run.id, question, files), resumes=False)

    async def _run_in_the_way(self, thread_id: UUID, idempotency_key: str | None) -> AgentRun:
        async with self._database.transaction() as session:
            runs = RunRepository(session)
            if idempotency_key:
                repeated = await runs.get_by_idempotency_key(thread_id=thread_id, key=idempotency_key)
                if repeated:
                    return repeated
            active = await runs.get_active(thread_id)
        raise RunActiveError(run_id=str(active.id) if active else None)

    async def _files_to_tell(self, thread_id: UUID, file_ids: Sequence[UUID]) -> list[tuple[ThreadFile, bool]]:
        """The newest version of each file of the thread, those chosen for this message marked and first."""
        async with self._database.transaction() as session:
            files = await FileRepository(session).list_of(thread_id)
        chosen = set(file_ids)
        if chosen - {file.id for file in files}:
            raise NotFoundError("one of the files is not in this conversation")
        newest: dict[str, ThreadFile] = {}
        for file in files:
            held = newest.get(file.guest_path)
            if held is None or file.version > held.version:
                newest[file.guest_path] = file
        ordered = sorted(newest.values(), key=lambda file: (file.id not in chosen, file.kind != "upload"))
        return [(file, file.id in chosen) for file in ordered[:MAX_FILES_TOLD]]

    async def _launch(
        self, thread: Thread, run: AgentRun, message: dict[str, object] | None, *, resumes: bool
    ) -> AgentRun:
        """Start the run in the runtime; without a message it goes on from the thread's newest checkpoint."""
        try:
            runtime_run_id = await self._runtime.create_run(
                runtime_thread_id=thread.runtime_thread_id,
                message=message,
                context={"user_id": str(thread.owner_id), "thread_id": str(thread.id), "run_id": str(run.id)},
                recursion_limit=self._recursion_limit,
            )
        except RuntimeUnavailableError as error:
            await self._settle(run, Ending("failed", error.code, error.detail))
            return await self.get(thread.id, run.id)
        async with self._database.transaction() as session:
            runs = RunRepository(session)
            if resumes:
                await runs.mark_resumed(run.id, runtime_run_id)
            else:
                await runs.mark_started(run.id, runtime_run_id)
        logger.info("run_started", thread_id=str(thread.id), run_id=str(run.id), resumed=resumes)
        return await self.get(thread.id, run.id)

    async def get(self, thread_id: UUID, run_id: UUID) -> AgentRun:
        async with self._database.transaction() as session:
            run = await RunRepository(session).get(thread_id=thread_id, run_id=run_id)
        if run is None:
            raise NotFoundError
        return run

    async def list_runs(self, thread_id: UUID, *, before: UUID | None, limit: int) -> Sequence[AgentRun]:
        async with self._database.transaction() as session:
            return await RunRepository(session).list_of(thread_id, before=before, limit=limit)

    async def cancel(self, thread: Thread, run_id: UUID) -> AgentRun:
        """Stop a run: its commands at once, the agent at its next step. A run that has ended stays as it is."""
        run = await self.get(thread.id, run_id)
        if run.status not in ACTIVE_RUN_STATUSES:
            return run
        async with self._database.transaction() as session:
            await RunRepository(session).request_cancel(run.id)
            await record_audit_event(session, "run_cancelled", user_id=thread.owner_id, target=str(run.id))
        if run.runtime_run_id is not None:
            await self._runtime.cancel_run(
                runtime_thread_id=thread.runtime_thread_id, runtime_run_id=run.runtime_run_id
            )
        try:
            await self._sandboxes.cancel_commands(thread.id)
        except ProductError as error:
            logger.warning("sandbox_cancel_failed", run_id=str(run.id), code=error.code)
        return await self.refresh(thread, run)

    async def refresh(self, thread: Thread, run: AgentRun) -> AgentRun:
        """Ask the runtime about an active run, settle it when it has ended, and return it as it is now."""
        run = await self.get(thread.id, run.id)
        if run.status not in ACTIVE_RUN_STATUSES:
            return run
        if run.runtime_run_id is None:
            if datetime.now(UTC) - (run.started_at or run.created_at) > _QUEUED_TIMEOUT:
                await self._settle(run, Ending("failed", "run_lost", "The run was lost before it began. Ask again."))
            return await self.get(thread.id, run.id)
        seen = await self._runtime.get_run(
            runtime_thread_id=thread.runtime_thread_id, runtime_run_id=run.runtime_run_id
        )
        if seen is not None and seen.status not in _TERMINAL:
            return run
        return await self._finish(thread, run, seen)

    async def _finish(self, thread: Thread, run: AgentRun, seen: RuntimeRun | None) -> AgentRun:
        ending = _ending_of(run, seen)
        state = await self._runtime.get_state(thread.runtime_thread_id)
        messages = group_by_run(state.messages).get(str(run.id), [])
        if ending is None:
            if run.attempt < MAX_ATTEMPTS:
                return await self._resume(thread, run, has_begun=bool(messages))
            ending = Ending("failed", "run_lost", "The run was interrupted twice and could not be finished; ask again.")
        await self._register_last_changes(run)
        await self._settle(run, ending, usage_of(messages))
        return await self.get(thread.id, run.id)

    async def _resume(self, thread: Thread, run: AgentRun, *, has_begun: bool) -> AgentRun:
        """Go on from the checkpoint, or from the question when the run was lost before its first checkpoint."""
        async with self._database.transaction() as session:
            claimed = await RunRepository(session).claim_resumption(run.id, attempt=run.attempt)
        if not claimed:
            return await self.get(thread.id, run.id)
        message = None
        if not has_begun:
            files = await self._files_to_tell(thread.id, [UUID(file_id) for file_id in run.file_ids])
            message = human_message(run.id, run.question, files)
        return await self._launch(thread, run, message, resumes=True)

    async def _register_last_changes(self, run: AgentRun) -> None:
        """Artifacts that were persisted but not registered when their call died."""
        try:
            await self._sandboxes.register_changes(run.thread_id, run_id=run.id)
        except Exception as error:
            # They wait for the next call in this thread; the run's end is not held up by an absent executor.
            logger.warning("last_changes_not_registered", run_id=str(run.id), error=repr(error))

    async def _settle(self, run: AgentRun, ending: Ending, usage: tuple[int, int] = (0, 0)) -> None:
        async with self._database.transaction() as session:
            settled = await RunRepository(session).settle(
                run.id,
                status=ending.status,
                error_code=ending.error_code,
                error_message=ending.error_message,
                input_tokens=usage[0],
                output_tokens=usage[1],
            )
            if settled:
                await ThreadRepository(session).touch(run.thread_id)
        if settled:
            logger.info("run_settled", run_id=str(run.id), status=ending.status, error_code=ending.error_code)


def _ending_of(run: AgentRun, seen: RuntimeRun | None) -> Ending | None:
    """How a run ended, from the runtime's last word; None when it was lost and may be resumed."""
    if run.cancel_requested_at is not None:
        # Whatever the runtime calls it: the person has stopped it, unless it was quicker.
        return Ending("succeeded") if seen is not None and seen.status == "success" else Ending("cancelled")
    if seen is None or seen.status == "interrupted":
        return None
    if seen.status == "success":
        return Ending("succeeded")
    logger.error("run_failed", run_id=str(run.id), error=seen.error_message)
    if seen.error_message and "recursion limit" in seen.error_message.lower():
        return Ending("failed", "too_many_steps", "The agent took too many steps without an answer and was stopped.")
    return Ending("failed", "agent_failed", "The agent failed while it worked on this. What it made so far is kept.")
