"""A command's output: its head and tail in memory, all of it on disk, and live pieces for whoever listens."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from executor.runtime.base import StreamName

MAX_LOG_BYTES = 64 * 1024 * 1024
_MARK = "\n[... {count:,} bytes left out ...]\n"


@dataclass(slots=True)
class HeadAndTail:
    """The first and the last bytes of a stream, half of the limit each."""

    limit: int
    total: int = 0
    _head: bytearray = field(default_factory=bytearray)
    _tail: deque[bytes] = field(default_factory=deque)
    _tail_bytes: int = 0

    def add(self, piece: bytes) -> None:
        self.total += len(piece)
        room = self.limit // 2 - len(self._head)
        if room > 0:
            self._head += piece[:room]
            piece = piece[room:]
        if not piece:
            return
        self._tail.append(piece)
        self._tail_bytes += len(piece)
        while self._tail_bytes - len(self._tail[0]) >= self.limit // 2:
            self._tail_bytes -= len(self._tail.popleft())

    @property
    def truncated(self) -> bool:
        return self.total > self.limit // 2 * 2

    def text(self) -> str:
        tail = b"".join(self._tail)
        if not self.truncated:
            return _readable(bytes(self._head) + tail)
        tail = tail[-(self.limit // 2) :]
        left_out = self.total - len(self._head) - len(tail)
        return _readable(bytes(self._head)) + _MARK.format(count=left_out) + _readable(tail)


def _readable(data: bytes) -> str:
    """Text whatever it was."""
    return data.decode("utf-8", errors="replace")


@dataclass(frozen=True, slots=True)
class OutputEvent:
    id: int
    stream: StreamName
    text: str


@dataclass(slots=True)
class CommandOutput:
    """Takes the pieces as they come. `log` is where the whole output goes, up to `MAX_LOG_BYTES`."""

    limit: int
    log: Path
    stdout: HeadAndTail = field(init=False)
    stderr: HeadAndTail = field(init=False)
    _log_file: BinaryIO | None = None
    _logged: int = 0
    _events: deque[OutputEvent] = field(default_factory=deque)
    _event_chars: int = 0
    _next_id: int = 1
    _news: asyncio.Event = field(default_factory=asyncio.Event)
    _finished: bool = False

    def __post_init__(self) -> None:
        self.stdout = HeadAndTail(self.limit)
        self.stderr = HeadAndTail(self.limit)

    async def take(self, stream: StreamName, piece: bytes) -> None:
        (self.stdout if stream == "stdout" else self.stderr).add(piece)
        if self._log_file is None:
            self._log_file = self.log.open("wb")
        if self._logged < MAX_LOG_BYTES:
            self._logged += self._log_file.write(piece[: MAX_LOG_BYTES - self._logged])
        text = _readable(piece)
        self._events.append(OutputEvent(self._next_id, stream, text))
        self._next_id += 1
        self._event_chars += len(text)
        # A listener who is far behind gets the newest; the whole is in the log.
        while self._event_chars > self.limit and len(self._events) > 1:
            self._event_chars -= len(self._events.popleft().text)
        self._wake()

    @property
    def truncated(self) -> bool:
        return self.stdout.truncated or self.stderr.truncated

    @property
    def log_is_whole(self) -> bool:
        return self._logged == self.stdout.total + self.stderr.total

    def finish(self) -> None:
        if self._log_file is not None:
            self._log_file.close()
        self._finished = True
        self._wake()

    async def follow(self, after: int) -> AsyncIterator[OutputEvent]:
        """Events after an id, until the command has ended."""
        while True:
            news = self._news
            for event in [event for event in self._events if event.id > after]:
                after = event.id
                yield event
            if self._finished:
                return
            await news.wait()

    def _wake(self) -> None:
        self._news.set()
        self._news = asyncio.Event()
