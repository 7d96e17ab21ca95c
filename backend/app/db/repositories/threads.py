"""Threads, always through their owner."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from sqlalchemy import delete, func, select, tuple_, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.models import Thread, ThreadSandboxSession

type ThreadCursor = tuple[datetime, UUID]


class ThreadRepository:
    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def add(self, *, owner_id: UUID, title: str, idempotency_key: str | None) -> Thread:
        thread = Thread(owner_id=owner_id, title=title, idempotency_key=idempotency_key)
        self._session.add(thread)
        await self._session.flush()
        await self._session.refresh(thread)
        return thread

    async def get_by_idempotency_key(self, *, owner_id: UUID, key: str) -> Thread | None:
        return await self._session.scalar(
            select(Thread).where(Thread.owner_id == owner_id, Thread.idempotency_key == key)
        )

    async def get_owned(self, *, owner_id: UUID, thread_id: UUID) -> Thread | None:
        return await self._session.scalar(
            select(Thread).where(Thread.id == thread_id, Thread.owner_id == owner_id, Thread.status == "active")
        )

    async def list_owned(
        self, *, owner_id: UUID, query: str | None, before: ThreadCursor | None, limit: int
    ) -> Sequence[Thread]:
        """Newest activity first; `query` is looked for in the titles."""
        statement = select(Thread).where(Thread.owner_id == owner_id, Thread.status == "active")
        if query:
            statement = statement.where(Thread.title.icontains(query, autoescape=True))
        if before:
            statement = statement.where(tuple_(Thread.updated_at, Thread.id) < tuple_(*before))
        rows = await self._session.scalars(statement.order_by(Thread.updated_at.desc(), Thread.id.desc()).limit(limit))
        return rows.all()

    async def rename(self, thread_id: UUID, title: str) -> None:
        await self._session.execute(update(Thread).where(Thread.id == thread_id).values(title=title))

    async def touch(self, thread_id: UUID) -> None:
        await self._session.execute(update(Thread).where(Thread.id == thread_id).values(updated_at=func.now()))

    async def mark_deleting(self, thread_id: UUID) -> None:
        await self._session.execute(update(Thread).where(Thread.id == thread_id).values(status="deleting"))

    async def list_deleting(self, limit: int) -> Sequence[Thread]:
        rows = await self._session.scalars(select(Thread).where(Thread.status == "deleting").limit(limit))
        return rows.all()

    async def remove(self, thread_id: UUID) -> None:
        await self._session.execute(delete(Thread).where(Thread.id == thread_id))


class SandboxSessionRepository:
    """The mapping thread -> sandbox, which every process shares."""

    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def get(self, thread_id: UUID) -> ThreadSandboxSession | None:
        return await self._session.get(ThreadSandboxSession, thread_id)

    async def advance(self, thread_id: UUID, *, registered_seq: int) -> None:
        """Note that every change up to this one is registered."""
        await self._session.execute(
            update(ThreadSandboxSession)
            .where(ThreadSandboxSession.thread_id == thread_id)
            .values(registered_seq=func.greatest(ThreadSandboxSession.registered_seq, registered_seq))
        )

    async def place(self, *, thread_id: UUID, session_id: str, generation: str, executor_base_url: str) -> None:
        """Point the thread at a sandbox; the count of registered changes belongs to the workspace and stays."""
        placed = {
            "sandbox_session_id": session_id,
            "generation": generation,
            "executor_base_url": executor_base_url,
            "updated_at": func.now(),
        }
        # The first tool calls of a thread come at once, each with the same session in hand.
        await self._session.execute(
            insert(ThreadSandboxSession)
            .values(thread_id=thread_id, **placed)
            .on_conflict_do_update(index_elements=["thread_id"], set_=placed)
        )
