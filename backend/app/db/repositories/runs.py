"""Agent runs. The partial unique index on the active ones is a thread's lock."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import func, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.models import ACTIVE_RUN_STATUSES, AgentRun


class RunRepository:
    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def add(self, run: AgentRun) -> AgentRun:
        """Insert a run; `IntegrityError` when the thread has an active one or the idempotency key was used."""
        self._session.add(run)
        await self._session.flush()
        await self._session.refresh(run)
        return run

    async def get(self, *, thread_id: UUID, run_id: UUID) -> AgentRun | None:
        return await self._session.scalar(
            select(AgentRun).where(AgentRun.id == run_id, AgentRun.thread_id == thread_id)
        )

    async def get_by_idempotency_key(self, *, thread_id: UUID, key: str) -> AgentRun | None:
        return await self._session.scalar(
            select(AgentRun).where(AgentRun.thread_id == thread_id, AgentRun.idempotency_key == key)
        )

    async def get_active(self, thread_id: UUID) -> AgentRun | None:
        return await self._session.scalar(
            select(AgentRun).where(AgentRun.thread_id == thread_id, AgentRun.status.in_(ACTIVE_RUN_STATUSES))
        )

    async def active_of_threads(self, thread_ids: Sequence[UUID]) -> dict[UUID, AgentRun]:
        rows = await self._session.scalars(
            select(AgentRun).where(AgentRun.thread_id.in_(thread_ids), AgentRun.status.in_(ACTIVE_RUN_STATUSES))
        )
        return {run.thread_id: run for run in rows}

    async def list_of(self, thread_id: UUID, *, before: UUID | None = None, limit: int = 1000) -> Sequence[AgentRun]:
        """Newest first (identifiers are in order of time)."""
        statement = select(AgentRun).where(AgentRun.thread_id == thread_id)
        if before:
            statement = statement.where(AgentRun.id < before)
        rows = await self._session.scalars(statement.order_by(AgentRun.id.desc()).limit(limit))
        return rows.all()

    async def list_active(self, limit: int) -> Sequence[AgentRun]:
        rows = await self._session.scalars(
            select(AgentRun).where(AgentRun.status.in_(ACTIVE_RUN_STATUSES)).order_by(AgentRun.id).limit(limit)
        )
        return rows.all()

    async def mark_started(self, run_id: UUID, runtime_run_id: UUID) -> None:
        await self._session.execute(
            update(AgentRun)
            .where(AgentRun.id == run_id, AgentRun.status == "queued")
            .values(status="running", runtime_run_id=runtime_run_id, started_at=func.now())
        )

    async def claim_resumption(self, run_id: UUID, *, attempt: int) -> bool:
        """Take the right to resume this attempt; of several callers one gets it."""
        claimed = await self._session.scalar(
            update(AgentRun)
            .where(AgentRun.id == run_id, AgentRun.status.in_(ACTIVE_RUN_STATUSES), AgentRun.attempt == attempt)
            # Without a runtime run it is a run about to start, not one that was lost again.
            .values(attempt=attempt + 1, runtime_run_id=None, started_at=func.now())
            .returning(AgentRun.id)
        )
        return claimed is not None

    async def mark_resumed(self, run_id: UUID, runtime_run_id: UUID) -> None:
        await self._session.execute(
            update(AgentRun)
            .where(AgentRun.id == run_id, AgentRun.status.in_(ACTIVE_RUN_STATUSES))
            .values(status="running", runtime_run_id=runtime_run_id)
        )

    async def request_cancel(self, run_id: UUID) -> None:
        await self._session.execute(
            update(AgentRun)
            .where(AgentRun.id == run_id, AgentRun.cancel_requested_at.is_(None))
            .values(cancel_requested_at=func.now())
        )

    async def settle(self, run_id: UUID, **values: Any) -> bool:
        """Move an active run to its end; False when another process was first."""
        settled = await self._session.scalar(
            update(AgentRun)
            .where(AgentRun.id == run_id, AgentRun.status.in_(ACTIVE_RUN_STATUSES))
            .values(finished_at=func.now(), **values)
            .returning(AgentRun.id)
        )
        return settled is not None
