"""Sessions in Postgres: slots, generations, and the one live incarnation of each workspace."""

from datetime import UTC, datetime, timedelta
from uuid import NAMESPACE_URL, uuid5

from sqlalchemy import delete, func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from executor.metadata.models import Change, Job, Session, Workspace, WorkspaceFile, WorkspaceInput


def slot_of(workspace: str) -> str:
    """The session id of a workspace: one slot, whatever incarnation is in it."""
    return uuid5(NAMESPACE_URL, f"workspace:{workspace}").hex


class SessionRepository:
    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def lock_workspace(self, workspace: str) -> Workspace:
        """The workspace's row, made if need be and held until the transaction ends."""
        await self._session.execute(insert(Workspace).values(prefix=workspace).on_conflict_do_nothing())
        return (
            await self._session.execute(select(Workspace).where(Workspace.prefix == workspace).with_for_update())
        ).scalar_one()

    async def get_by_key(self, idempotency_key: str) -> Session | None:
        return await self._session.scalar(select(Session).where(Session.idempotency_key == idempotency_key))

    async def get_live(self, workspace: str) -> Session | None:
        return await self._session.scalar(
            select(Session).where(Session.workspace == workspace, Session.status == "live")
        )

    async def get(self, session_id: str, generation: str) -> Session | None:
        return await self._session.get(Session, (session_id, generation))

    async def live_in_slot(self, session_id: str) -> list[Session]:
        rows = await self._session.scalars(
            select(Session).where(Session.session_id == session_id, Session.status == "live")
        )
        return list(rows)

    async def newest_generation(self, session_id: str) -> str | None:
        return await self._session.scalar(select(func.max(Session.generation)).where(Session.session_id == session_id))

    async def add_live(self, *, workspace: str, idempotency_key: str | None, executor: str) -> Session:
        """Insert a new incarnation whose generation is now, and later than every one before it in the slot."""
        session_id = slot_of(workspace)
        row = Session(
            session_id=session_id,
            generation=_later_than(await self.newest_generation(session_id)),
            workspace=workspace,
            idempotency_key=idempotency_key,
            status="live",
            executor=executor,
        )
        self._session.add(row)
        await self._session.flush()
        await self._session.refresh(row)
        return row

    async def touch(self, session_id: str, generation: str) -> None:
        await self._session.execute(
            update(Session)
            .where(Session.session_id == session_id, Session.generation == generation)
            .values(last_used_at=func.now())
        )

    async def end(self, session_id: str, generation: str) -> None:
        await self._session.execute(
            update(Session)
            .where(Session.session_id == session_id, Session.generation == generation)
            # The key is given up with the session: creating anew with it makes a successor, not a ghost.
            .values(status="ended", ended_at=func.now(), idempotency_key=None)
        )

    async def inputs(self, workspace: str) -> list[WorkspaceInput]:
        rows = await self._session.scalars(select(WorkspaceInput).where(WorkspaceInput.workspace == workspace))
        return list(rows)

    async def replace_inputs(self, workspace: str, inputs: list[WorkspaceInput]) -> None:
        await self._session.execute(delete(WorkspaceInput).where(WorkspaceInput.workspace == workspace))
        self._session.add_all(inputs)

    async def purge(self, workspace: str) -> None:
        """Forget a workspace: its files, changes, inputs, jobs and ended sessions."""
        slot = slot_of(workspace)
        for model in (WorkspaceFile, Change, WorkspaceInput):
            await self._session.execute(delete(model).where(model.workspace == workspace))
        await self._session.execute(delete(Job).where(Job.session_id == slot))
        await self._session.execute(delete(Session).where(Session.workspace == workspace, Session.status == "ended"))
        await self._session.execute(delete(Workspace).where(Workspace.prefix == workspace))


def format_generation(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"


def _later_than(newest: str | None) -> str:
    now = datetime.now(UTC)
    if newest is not None:
        last = datetime.fromisoformat(newest)
        now = max(now, last + timedelta(milliseconds=1))
    return format_generation(now)
