"""A thread's files and the uploads that are on their way. The caller has checked that the thread is its own."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from sqlalchemy import delete, func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.models import AgentRunArtifact, ThreadFile, UploadIntent


class FileRepository:
    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def get(self, *, thread_id: UUID, file_id: UUID) -> ThreadFile | None:
        return await self._session.scalar(
            select(ThreadFile).where(ThreadFile.id == file_id, ThreadFile.thread_id == thread_id)
        )

    async def get_many(self, *, thread_id: UUID, file_ids: Sequence[UUID]) -> Sequence[ThreadFile]:
        rows = await self._session.scalars(
            select(ThreadFile).where(ThreadFile.thread_id == thread_id, ThreadFile.id.in_(file_ids))
        )
        return rows.all()

    async def list_of(self, thread_id: UUID, *, kind: str | None = None) -> Sequence[ThreadFile]:
        """Newest first."""
        statement = select(ThreadFile).where(ThreadFile.thread_id == thread_id)
        if kind:
            statement = statement.where(ThreadFile.kind == kind)
        rows = await self._session.scalars(statement.order_by(ThreadFile.created_at.desc(), ThreadFile.id.desc()))
        return rows.all()

    async def guest_paths(self, thread_id: UUID) -> set[str]:
        rows = await self._session.scalars(select(ThreadFile.guest_path).where(ThreadFile.thread_id == thread_id))
        return set(rows)

    async def get_by_key(self, *, thread_id: UUID, object_key: str) -> ThreadFile | None:
        return await self._session.scalar(
            select(ThreadFile).where(ThreadFile.thread_id == thread_id, ThreadFile.object_key == object_key)
        )

    async def add(self, file: ThreadFile) -> ThreadFile:
        self._session.add(file)
        await self._session.flush()
        await self._session.refresh(file)
        return file

    async def add_artifact_once(self, values: dict[str, object]) -> ThreadFile | None:
        """Insert an artifact by its object key; None when it was there already."""
        statement = insert(ThreadFile).values(**values).on_conflict_do_nothing().returning(ThreadFile)
        return await self._session.scalar(statement)

    async def link_to_run(self, *, run_id: UUID, file_id: UUID) -> None:
        await self._session.execute(
            insert(AgentRunArtifact).values(run_id=run_id, file_id=file_id).on_conflict_do_nothing()
        )

    async def remove(self, file_id: UUID) -> None:
        await self._session.execute(delete(ThreadFile).where(ThreadFile.id == file_id))


class UploadIntentRepository:
    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def add(self, intent: UploadIntent) -> None:
        self._session.add(intent)
        await self._session.flush()

    async def get(self, *, thread_id: UUID, upload_id: UUID) -> UploadIntent | None:
        return await self._session.scalar(
            select(UploadIntent).where(UploadIntent.id == upload_id, UploadIntent.thread_id == thread_id)
        )

    async def complete(self, upload_id: UUID) -> None:
        await self._session.execute(
            update(UploadIntent).where(UploadIntent.id == upload_id).values(completed_at=func.now())
        )

    async def list_abandoned(self, *, before: datetime, limit: int) -> Sequence[UploadIntent]:
        rows = await self._session.scalars(
            select(UploadIntent)
            .where(UploadIntent.completed_at.is_(None), UploadIntent.expires_at < before)
            .limit(limit)
        )
        return rows.all()

    async def remove(self, upload_id: UUID) -> None:
        await self._session.execute(delete(UploadIntent).where(UploadIntent.id == upload_id))
