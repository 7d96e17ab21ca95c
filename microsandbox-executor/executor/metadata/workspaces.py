"""A workspace's persisted files and the numbered list of their changes."""

from dataclasses import dataclass
from itertools import batched
from typing import Any
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from executor.metadata.models import Change, Workspace, WorkspaceFile

# Postgres takes 65,535 parameters in one statement; a row has ten.
_ROWS_AT_ONCE = 1000


@dataclass(frozen=True, slots=True)
class PersistedChange:
    """A difference that is already in the object store; it gets its number when it is recorded."""

    path: str
    op: str
    object_key: str | None
    artifact_id: UUID | None
    version: int
    size: int
    sha256: str | None
    content_type: str | None
    mode: int


class WorkspaceRepository:
    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def files(self, workspace: str) -> list[WorkspaceFile]:
        """The newest row of every path, also of deleted ones."""
        rows = await self._session.scalars(select(WorkspaceFile).where(WorkspaceFile.workspace == workspace))
        return list(rows)

    async def seq(self, workspace: str) -> int:
        return await self._session.scalar(select(Workspace.seq).where(Workspace.prefix == workspace)) or 0

    async def changes(self, workspace: str, *, after: int, limit: int) -> list[Change]:
        rows = await self._session.scalars(
            select(Change).where(Change.workspace == workspace, Change.seq > after).order_by(Change.seq).limit(limit)
        )
        return list(rows)

    async def record(self, locked: Workspace, changes: list[PersistedChange]) -> list[Change]:
        """Number the changes and make them the newest state, in the caller's transaction."""
        recorded = []
        for change in changes:
            locked.seq += 1
            row = Change(
                workspace=locked.prefix,
                seq=locked.seq,
                path=change.path,
                op=change.op,
                object_key=change.object_key,
                artifact_id=change.artifact_id,
                version=change.version,
                size=change.size,
                sha256=change.sha256,
                content_type=change.content_type,
            )
            self._session.add(row)
            recorded.append(row)
        for batch in batched(changes, _ROWS_AT_ONCE):
            await self._session.execute(_upsert([_newest_row(locked.prefix, change) for change in batch]))
        await self._session.flush()
        return recorded


def _newest_row(workspace: str, change: PersistedChange) -> dict[str, Any]:
    return {
        "workspace": workspace,
        "path": change.path,
        "object_key": change.object_key,
        "artifact_id": change.artifact_id,
        "version": change.version,
        "size": change.size,
        "sha256": change.sha256 or "",
        "content_type": change.content_type or "",
        "mode": change.mode,
        "deleted": change.op == "deleted",
    }


def _upsert(rows: list[dict[str, Any]]) -> Any:
    statement = insert(WorkspaceFile).values(rows)
    fresh = {name: statement.excluded[name] for name in rows[0] if name not in {"workspace", "path"}}
    return statement.on_conflict_do_update(index_elements=["workspace", "path"], set_=fresh)
