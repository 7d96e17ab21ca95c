"""Sessions by identity: created once a key, found by their exact generation, closed when idle, ended for good."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

import structlog
from anyio import to_thread
from sqlalchemy.exc import IntegrityError

from executor.config import ExecutorSettings
from executor.errors import GenerationRequiredError, SessionNotFoundError, StaleGenerationError
from executor.metadata.database import Database
from executor.metadata.models import Session, WorkspaceInput
from executor.metadata.sessions import SessionRepository
from executor.sessions.guest_tree import GuestTree
from executor.sessions.live_session import LiveSession
from executor.sessions.persistence import WorkspacePersistence
from executor.sessions.scratch import folder_name, session_folder, session_folders
from executor.storage.object_store import ObjectStore

logger = structlog.get_logger(__name__)

_CREATE_ATTEMPTS = 5


class SessionManager:
    def __init__(self, settings: ExecutorSettings, database: Database, store: ObjectStore) -> None:
        self._settings = settings
        self._database = database
        self._store = store
        self._live: dict[str, LiveSession] = {}
        self._opening: dict[str, asyncio.Lock] = {}

    async def create(
        self, *, workspace: str, inputs: list[WorkspaceInput], idempotency_key: str | None
    ) -> tuple[Session, bool]:
        """The workspace's live session, and whether this call has made it.

        The same key always gives the same session; a workspace never has two live ones, whoever asks at once.
        """
        row, created = await self._claim(workspace, idempotency_key)
        async with self.using(f"{row.session_id}@{row.generation}") as session:
            await session.stage(inputs)
        return row, created

    async def _claim(self, workspace: str, idempotency_key: str | None) -> tuple[Session, bool]:
        for _ in range(_CREATE_ATTEMPTS):
            try:
                async with self._database.transaction() as transaction:
                    repository = SessionRepository(transaction)
                    if idempotency_key:
                        found = await repository.get_by_key(idempotency_key)
                        if found is not None and found.status == "live":
                            return found, False
                    await repository.lock_workspace(workspace)
                    live = await repository.get_live(workspace)
                    if live is not None:
                        return live, False
                    row = await repository.add_live(
                        workspace=workspace, idempotency_key=idempotency_key, executor=self._settings.executor_name
                    )
                    logger.info("session_created", session_id=row.session_id, generation=row.generation)
                    return row, True
            except IntegrityError:
                # Another call was first with this key: look again, it is there now.
                await asyncio.sleep(0)
        raise SessionNotFoundError("the session could not be created; try again")

    async def find(self, name: str) -> Session:
        """The live session of this exact name.

        Raises `GenerationRequiredError` for a bare id, `StaleGenerationError` when the slot has a newer incarnation,
        and `SessionNotFoundError` when it is not known or has ended.
        """
        session_id, separator, generation = name.partition("@")
        if not separator or not generation:
            raise GenerationRequiredError
        async with self._database.transaction() as transaction:
            repository = SessionRepository(transaction)
            row = await repository.get(session_id, generation)
            newest = await repository.newest_generation(session_id)
        if newest is not None and newest > generation:
            raise StaleGenerationError(f"{name} was replaced by {session_id}@{newest}; nothing was done")
        if row is None or row.status != "live":
            raise SessionNotFoundError
        return row

    @asynccontextmanager
    async def using(self, name: str) -> AsyncIterator[LiveSession]:
        """The session, open, and not closed for being idle as long as it is used."""
        row = await self.find(name)
        session = await self._opened(row)
        session.users += 1
        try:
            yield session
        finally:
            session.users -= 1
            session.used_at = time.monotonic()

    async def _opened(self, row: Session) -> LiveSession:
        name = f"{row.session_id}@{row.generation}"
        async with self._opening.setdefault(name, asyncio.Lock()):
            session = self._live.get(name)
            if session is None:
                session = self._assemble(row)
                await session.open()
                self._live[name] = session
                async with self._database.transaction() as transaction:
                    await SessionRepository(transaction).touch(row.session_id, row.generation)
            return session

    def _assemble(self, row: Session) -> LiveSession:
        tree = GuestTree(session_folder(self._settings.executor_scratch_dir.resolve(), row.session_id, row.generation))
        return LiveSession(
            session_id=row.session_id,
            generation=row.generation,
            workspace=row.workspace,
            tree=tree,
            persistence=WorkspacePersistence(
                workspace=row.workspace,
                tree=tree,
                store=self._store,
                database=self._database,
                max_file_bytes=self._settings.sandbox_file_bytes,
            ),
            store=self._store,
            database=self._database,
        )

    async def end(self, name: str, *, purge: bool) -> None:
        """End exactly this incarnation; with `purge` its workspace is deleted too."""
        row = await self.find(name)
        session = self._live.pop(name, None) or self._assemble(row)
        self._opening.pop(name, None)
        async with self._database.transaction() as transaction:
            await SessionRepository(transaction).end(row.session_id, row.generation)
        await session.close()
        if purge:
            await self._store.delete_prefix(f"{row.workspace}/workspace/")
            await self._store.delete_prefix(f"{row.workspace}/artifacts/")
            async with self._database.transaction() as transaction:
                await SessionRepository(transaction).purge(row.workspace)
        logger.info("session_ended", session=name, purged=purge)

    async def tidy_scratch(self) -> None:
        """Free the disk of what an earlier process left: folders of ended sessions; live ones that nobody has used for
        a while are opened, which stores what was not, and then closed like any idle one."""
        bound = datetime.now(UTC) - timedelta(seconds=self._settings.executor_idle_seconds)
        # Listed before the rows are read: a folder is made after its row, so none is taken for a stray.
        folders = await to_thread.run_sync(session_folders, self._settings.executor_scratch_dir.resolve())
        for folder in folders:
            async with self._database.transaction() as transaction:
                rows = await SessionRepository(transaction).live_in_slot(folder.parent.name)
            row = next((row for row in rows if folder_name(row.generation) == folder.name), None)
            if row is None:
                await to_thread.run_sync(GuestTree(folder).remove)
                logger.info("stray_folder_removed", session_id=folder.parent.name, folder=folder.name)
            elif f"{row.session_id}@{row.generation}" not in self._live and row.last_used_at < bound:
                async with self.using(f"{row.session_id}@{row.generation}"):
                    pass

    async def close_idle(self) -> int:
        """Free the disk of sessions that nobody has used for a while; they stay live and come back from the store."""
        bound = time.monotonic() - self._settings.executor_idle_seconds
        idle = [
            (name, session) for name, session in self._live.items() if session.users == 0 and session.used_at < bound
        ]
        for name, session in idle:
            async with self._opening.setdefault(name, asyncio.Lock()):
                if session.users:
                    continue
                await session.persistence.persist()
                self._live.pop(name, None)
                await session.close()
                logger.info("idle_session_closed", session=name)
        return len(idle)
