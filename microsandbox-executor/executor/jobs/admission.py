"""How many commands may run at once, and how many may wait for it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from executor.errors import BusyError


class Admission:
    """First come, first served; more than `queue_size` waiting raises `BusyError`."""

    def __init__(self, *, max_concurrent: int, queue_size: int) -> None:
        self._slots = asyncio.Semaphore(max_concurrent)
        self._queue_size = queue_size
        self._admitted = 0
        self._max_concurrent = max_concurrent

    def check(self) -> None:
        """Raise `BusyError` when there is no place, not even a waiting one."""
        if self._admitted >= self._max_concurrent + self._queue_size:
            raise BusyError

    @asynccontextmanager
    async def place(self) -> AsyncIterator[None]:
        """Count as waiting or running for as long as this is open."""
        self.check()
        self._admitted += 1
        try:
            yield
        finally:
            self._admitted -= 1

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """One of the places to run."""
        async with self._slots:
            yield
