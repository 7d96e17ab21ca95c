"""What must happen although nobody asks: runs settled that no one watches, deletions finished, dead uploads removed."""

import asyncio
from collections.abc import Awaitable, Callable

import structlog

from app.db.models import Thread
from app.db.repositories.runs import RunRepository
from app.db.session import Database
from app.services.file_service import FileService
from app.services.run_service import RunService
from app.services.thread_service import ThreadService

logger = structlog.get_logger(__name__)

_SETTLE_SECONDS = 2.0
_CLEAN_SECONDS = 60.0
_MAX_ACTIVE = 500


class MaintenanceService:
    """Every replica runs it; each step is harmless when another replica does the same."""

    def __init__(self, database: Database, threads: ThreadService, files: FileService, runs: RunService) -> None:
        self._database = database
        self._threads = threads
        self._files = files
        self._runs = runs

    async def run_forever(self) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(_repeat("settle_runs", _SETTLE_SECONDS, self.settle_runs))
            group.create_task(_repeat("finish_deletions", _CLEAN_SECONDS, self._threads.finish_deletions))
            group.create_task(_repeat("remove_abandoned_uploads", _CLEAN_SECONDS, self._files.remove_abandoned_uploads))

    async def settle_runs(self) -> None:
        """Look after every active run: those that have ended get their end, those that were lost go on or fail."""
        async with self._database.transaction() as session:
            active = await RunRepository(session).list_active(_MAX_ACTIVE)
            threads = {run.thread_id: await session.get_one(Thread, run.thread_id) for run in active}
        for run in active:
            await self._runs.refresh(threads[run.thread_id], run)


async def _repeat(name: str, seconds: float, work: Callable[[], Awaitable[object]]) -> None:
    while True:
        try:
            await work()
        except Exception as error:
            # The next round tries again: a service that is away for a moment is no reason to stop looking.
            logger.warning("maintenance_failed", step=name, error=repr(error))
        await asyncio.sleep(seconds)
