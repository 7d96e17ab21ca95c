"""The order of a session's commands: a place is taken when a command is accepted, not when it gets round to it."""

import asyncio
from collections import deque


class Turns:
    """One line for each session; the first in a line has its turn until it leaves. Who waits may leave too."""

    def __init__(self) -> None:
        self._lines: dict[str, deque[asyncio.Event]] = {}

    def join(self, session: str) -> asyncio.Event:
        """Take the last place; the event is set when its turn has come."""
        line = self._lines.setdefault(session, deque())
        turn = asyncio.Event()
        line.append(turn)
        line[0].set()
        return turn

    def leave(self, session: str, turn: asyncio.Event) -> None:
        line = self._lines[session]
        line.remove(turn)
        if line:
            line[0].set()
        else:
            del self._lines[session]
