"""Jobs in Postgres: each id once."""

from typing import Any

from sqlalchemy import func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from executor.metadata.models import Job


class JobRepository:
    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def claim(self, *, job_id: str, session_id: str, generation: str, program_hash: str, executor: str) -> bool:
        """Insert the job; False when the id is taken."""
        claimed = await self._session.scalar(
            insert(Job)
            .values(
                job_id=job_id,
                session_id=session_id,
                generation=generation,
                program_hash=program_hash,
                executor=executor,
                status="queued",
            )
            .on_conflict_do_nothing()
            .returning(Job.job_id)
        )
        return claimed is not None

    async def get(self, job_id: str) -> Job | None:
        return await self._session.get(Job, job_id)

    async def mark_running(self, job_id: str) -> None:
        await self._session.execute(
            update(Job).where(Job.job_id == job_id).values(status="running", started_at=func.now())
        )

    async def finish(self, job_id: str, *, status: str, result: dict[str, Any]) -> None:
        await self._session.execute(
            update(Job).where(Job.job_id == job_id).values(status=status, result=result, finished_at=func.now())
        )

    async def unfinished_of(self, executor: str) -> list[Job]:
        rows = await self._session.scalars(
            select(Job).where(Job.executor == executor, Job.status.in_(("queued", "running")))
        )
        return list(rows)
