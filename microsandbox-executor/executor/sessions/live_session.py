"""A session that is open in this process: its folders, its inputs and its persistence."""

import asyncio
import time
from dataclasses import dataclass, field

import structlog
from anyio import to_thread

from executor.errors import InputMismatchError, InvalidPathError
from executor.metadata.database import Database
from executor.metadata.models import WorkspaceInput
from executor.metadata.sessions import SessionRepository
from executor.policy.guest_paths import parse_guest_path
from executor.sessions.guest_tree import GuestTree
from executor.sessions.persistence import Delta, WorkspacePersistence
from executor.storage.object_store import ObjectStore

logger = structlog.get_logger(__name__)

_READY_MARK = ".ready"


@dataclass(slots=True)
class LiveSession:
    """Opened at its first use after a creation, a restart or an idle time."""

    session_id: str
    generation: str
    workspace: str
    tree: GuestTree
    persistence: WorkspacePersistence
    store: ObjectStore
    database: Database
    used_at: float = field(default_factory=time.monotonic)
    users: int = 0
    _inputs_lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    _staged: dict[str, str] = field(default_factory=dict)  # guest path -> sha256 of what is there

    @property
    def name(self) -> str:
        return f"{self.session_id}@{self.generation}"

    async def open(self) -> Delta | None:
        """Make the folders ready: from the store when they are not there, else with what was not persisted yet."""
        mark = self.tree.root / _READY_MARK
        await self.persistence.load()
        if await to_thread.run_sync(mark.exists):
            # A command may have been running when the executor died: what it left is made durable first.
            await self._stage_recorded()
            return await self.persistence.persist()
        if await to_thread.run_sync(self.tree.root.exists):
            await to_thread.run_sync(self.tree.remove)
        await to_thread.run_sync(self.tree.create)
        restored = await self.persistence.hydrate()
        await self._stage_recorded()
        await to_thread.run_sync(mark.touch)
        logger.info("session_opened", session=self.name, restored_files=restored)
        return None

    async def _stage_recorded(self) -> None:
        async with self.database.transaction() as session:
            rows = await SessionRepository(session).inputs(self.workspace)
        await self._stage(rows)

    async def stage(self, inputs: list[WorkspaceInput]) -> tuple[list[str], list[str]]:
        """Make `/uploads` hold exactly these inputs; returns the paths that were fetched and those that were there."""
        for item in inputs:
            if parse_guest_path(item.path).folder != "uploads" or len(parse_guest_path(item.path).parts) != 1:
                raise InvalidPathError(f"{item.path!r} is not a file directly below /uploads")
        async with self._inputs_lock:
            fetched = await self._stage(inputs)
            async with self.database.transaction() as session:
                await SessionRepository(session).replace_inputs(self.workspace, inputs)
        return fetched, [item.path for item in inputs if item.path not in fetched]

    async def _stage(self, inputs: list[WorkspaceInput]) -> list[str]:
        wanted = {item.path: item for item in inputs}
        for path in [path for path in self._staged if path not in wanted]:
            await to_thread.run_sync(self.tree.delete, parse_guest_path(path))
            del self._staged[path]
        missing = [item for item in inputs if self._staged.get(item.path) != item.sha256]
        for item in missing:
            await self._fetch_input(item)
            self._staged[item.path] = item.sha256
        return [item.path for item in missing]

    async def _fetch_input(self, item: WorkspaceInput) -> None:
        path = parse_guest_path(item.path)
        replacing = self.tree.replacing(path)
        _, partial_path = await to_thread.run_sync(replacing.__enter__)
        try:
            digest = await self.store.download(item.object_key, partial_path)
            if digest != item.sha256:
                raise InputMismatchError(f"{item.path} is not what was announced: its SHA-256 differs")
        except BaseException as error:
            await to_thread.run_sync(replacing.__exit__, type(error), error, error.__traceback__)
            raise
        await to_thread.run_sync(replacing.__exit__, None, None, None)

    async def close(self) -> None:
        """Remove the local copy; everything persisted stays in the store."""
        if await to_thread.run_sync(self.tree.root.exists):
            await to_thread.run_sync(self.tree.remove)
