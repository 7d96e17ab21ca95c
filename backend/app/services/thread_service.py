"""Threads: made, listed, renamed, and deleted with everything that belongs to them."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

import structlog
from sqlalchemy.exc import IntegrityError

from app.clients.runtime import RuntimeClient
from app.db.models import AgentRun, Thread
from app.db.repositories.audit import record_audit_event
from app.db.repositories.runs import RunRepository
from app.db.repositories.threads import ThreadCursor, ThreadRepository
from app.db.session import Database
from app.errors import NotFoundError
from app.services.sandbox_service import SandboxService
from app.storage.object_keys import workspace_prefix
from app.storage.object_store import ObjectStore

logger = structlog.get_logger(__name__)

UNTITLED = "New conversation"
TITLE_MAX_CHARS = 80


@dataclass(frozen=True, slots=True)
class ThreadView:
    thread: Thread
    active_run: AgentRun | None


class ThreadService:
    def __init__(
        self, database: Database, store: ObjectStore, runtime: RuntimeClient, sandboxes: SandboxService
    ) -> None:
        self._database = database
        self._store = store
        self._runtime = runtime
        self._sandboxes = sandboxes

    async def create(self, owner_id: UUID, *, title: str | None, idempotency_key: str | None) -> ThreadView:
        """Make a thread; the same key gives the same thread again."""
        try:
            async with self._database.transaction() as session:
                thread = await ThreadRepository(session).add(
                    owner_id=owner_id, title=title or UNTITLED, idempotency_key=idempotency_key
                )
        except IntegrityError:
            async with self._database.transaction() as session:
                found = await ThreadRepository(session).get_by_idempotency_key(
                    owner_id=owner_id, key=idempotency_key or ""
                )
            if found is None or found.status != "active":
                raise NotFoundError from None
            thread = found
        return ThreadView(thread, None)

    async def get_owned(self, owner_id: UUID, thread_id: UUID) -> Thread:
        async with self._database.transaction() as session:
            thread = await ThreadRepository(session).get_owned(owner_id=owner_id, thread_id=thread_id)
        if thread is None:
            raise NotFoundError
        return thread

    async def view(self, thread: Thread) -> ThreadView:
        async with self._database.transaction() as session:
            return ThreadView(thread, await RunRepository(session).get_active(thread.id))

    async def list_owned(
        self, owner_id: UUID, *, query: str | None, before: ThreadCursor | None, limit: int
    ) -> Sequence[ThreadView]:
        async with self._database.transaction() as session:
            threads = await ThreadRepository(session).list_owned(
                owner_id=owner_id, query=query, before=before, limit=limit
            )
            active = await RunRepository(session).active_of_threads([thread.id for thread in threads])
        return [ThreadView(thread, active.get(thread.id)) for thread in threads]

    async def rename(self, thread: Thread, title: str) -> ThreadView:
        async with self._database.transaction() as session:
            await ThreadRepository(session).rename(thread.id, title)
        return await self.view(await self.get_owned(thread.owner_id, thread.id))

    async def delete(self, thread: Thread) -> None:
        """Hide the thread at once, then remove what belongs to it; what fails now is finished later."""
        async with self._database.transaction() as session:
            await ThreadRepository(session).mark_deleting(thread.id)
            await record_audit_event(session, "thread_deleted", user_id=thread.owner_id, target=str(thread.id))
        try:
            await self._remove_everything(thread)
        except Exception:
            logger.exception("thread_deletion_postponed", thread_id=str(thread.id))

    async def finish_deletions(self) -> int:
        """Go on with deletions that a crash or an absent service has left half done."""
        async with self._database.transaction() as session:
            threads = await ThreadRepository(session).list_deleting(limit=20)
        for thread in threads:
            await self._remove_everything(thread)
        return len(threads)

    async def _remove_everything(self, thread: Thread) -> None:
        async with self._database.transaction() as session:
            run = await RunRepository(session).get_active(thread.id)
        if run is not None and run.runtime_run_id is not None:
            await self._runtime.cancel_run(
                runtime_thread_id=thread.runtime_thread_id, runtime_run_id=run.runtime_run_id
            )
        await self._sandboxes.discard(thread.id)
        await self._runtime.delete_thread(thread.runtime_thread_id)
        await self._store.delete_prefix(f"{workspace_prefix(thread.id)}/")
        # The row goes last: as long as it is there, the deletion is found and gone on with.
        async with self._database.transaction() as session:
            await ThreadRepository(session).remove(thread.id)
        logger.info("thread_deleted", thread_id=str(thread.id))


def title_from(question: str) -> str:
    """A title from the first question: its first line, cut at a word."""
    line = " ".join(question.split())
    if len(line) <= TITLE_MAX_CHARS:
        return line or UNTITLED
    return line[:TITLE_MAX_CHARS].rsplit(" ", 1)[0] + "…"
