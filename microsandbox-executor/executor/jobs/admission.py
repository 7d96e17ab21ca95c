"""How many commands may run at once, and how many may wait for it."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from executor.errors import BusyError


class Admission:
    """First come, first served. A place is for running or waiting; a slot is for running."""

    def __init__(self, *, max_concurrent: int, queue_size: int) -> None:
        self._slots = asyncio.Semaphore(max_concurrent)
        self._places = max_concurrent + queue_size

    def take_place(self) -> None:
        """Raises `BusyError` when there is no place, not even a waiting one."""
        if self._places == 0:
            raise BusyError
        self._places -= 1

    def give_place_back(self) -> None:
        self._places += 1

    async def take_slot(self) -> None:
        """Wait for one of the slots."""
        await self._slots.acquire()

    @contextmanager
    def held_slot(self) -> Iterator[None]:
        """Give the slot that was taken back in the end."""
        try:
            yield
        finally:
            self._slots.release()
