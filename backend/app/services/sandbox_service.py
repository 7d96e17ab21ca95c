"""A thread's sandbox: found or made, placed again when it is gone, and its persisted changes turned into artifacts.

The mapping lies in Postgres, so that any process of any service finds the same sandbox.
"""

from collections.abc import Awaitable, Callable
from uuid import UUID

import structlog

from app.clients.executor import ExecutorClient, SessionGoneError
from app.db.models import ThreadFile
from app.db.repositories.threads import SandboxSessionRepository
from app.db.session import Database
from app.services.file_service import FileService, register_artifacts
from app.storage.object_keys import workspace_prefix

logger = structlog.get_logger(__name__)


class SandboxService:
    def __init__(
        self, database: Database, executor: ExecutorClient, files: FileService, *, executor_base_url: str
    ) -> None:
        self._database = database
        self._executor = executor
        self._files = files
        self._executor_base_url = executor_base_url

    async def use[ResultT](self, thread_id: UUID, work: Callable[[str], Awaitable[ResultT]]) -> ResultT:
        """Do `work(session)` in the thread's sandbox.

        When the executor says that the session is gone, nothing was done: a new one is made over the same workspace and
        the work is done there, once.
        """
        session = await self._current(thread_id) or await self._place(thread_id, successor_of=None)
        try:
            return await work(session)
        except SessionGoneError as error:
            logger.info("sandbox_session_gone", thread_id=str(thread_id), session=session, code=error.code)
            session = await self._place(thread_id, successor_of=session)
            return await work(session)

    async def stage_uploads(self, thread_id: UUID) -> None:
        """Make sure that every upload of the thread is in its sandbox."""
        inputs = await self._files.staged_inputs(thread_id)
        await self.use(thread_id, lambda session: self._executor.stage(session, inputs))

    async def register_changes(self, thread_id: UUID, *, run_id: UUID | None) -> list[ThreadFile]:
        """Register every persisted change that is not registered yet, also those of a call that died in between."""
        registered: list[ThreadFile] = []
        more = True
        while more:
            async with self._database.transaction() as transaction:
                row = await SandboxSessionRepository(transaction).get(thread_id)
            if row is None:
                break
            name = _session_name(row.sandbox_session_id, row.generation)
            page = await self._executor.changes(name, after=row.registered_seq)
            more = page.more
            if not page.changes:
                break
            # Two callers may hold the same page: the object key lets each artifact in once, the position only grows.
            async with self._database.transaction() as transaction:
                registered += await register_artifacts(
                    transaction, thread_id=thread_id, run_id=run_id, changes=page.changes
                )
                await SandboxSessionRepository(transaction).advance(thread_id, registered_seq=page.changes[-1].seq)
        return registered

    async def cancel_commands(self, thread_id: UUID) -> None:
        """Stop whatever runs in the thread's sandbox."""
        session = await self._current(thread_id)
        if session is None:
            return
        try:
            await self._executor.cancel_session(session)
        except SessionGoneError:
            logger.info("sandbox_gone_before_cancel", thread_id=str(thread_id))

    async def discard(self, thread_id: UUID) -> None:
        """End the sandbox and delete its workspace for good."""
        session = await self._current(thread_id)
        if session is None:
            return
        try:
            await self._executor.delete_session(session, purge=True)
        except SessionGoneError:
            logger.info("sandbox_gone_before_discard", thread_id=str(thread_id))

    async def _current(self, thread_id: UUID) -> str | None:
        async with self._database.transaction() as transaction:
            row = await SandboxSessionRepository(transaction).get(thread_id)
            return _session_name(row.sandbox_session_id, row.generation) if row else None

    async def _place(self, thread_id: UUID, *, successor_of: str | None) -> str:
        # The key names the predecessor: a creation whose reply was lost is found again, never made twice.
        created = await self._executor.create_session(
            workspace=workspace_prefix(thread_id),
            inputs=await self._files.staged_inputs(thread_id),
            idempotency_key=f"{thread_id}/after/{successor_of or 'none'}",
        )
        async with self._database.transaction() as transaction:
            await SandboxSessionRepository(transaction).place(
                thread_id=thread_id,
                session_id=created.session_id,
                generation=created.generation,
                executor_base_url=self._executor_base_url,
            )
        return created.session


def _session_name(session_id: str, generation: str) -> str:
    return f"{session_id}@{generation}"
