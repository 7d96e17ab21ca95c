"""One bubblewrap process, from its start until nothing of it is left."""

import asyncio
import contextlib
import json
import os
import signal
import subprocess
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import structlog

from executor.runtime.base import CommandExit, OnOutput, RuntimeUnavailableError, StreamName

logger = structlog.get_logger(__name__)

_CHUNK_BYTES = 64 * 1024
_TIMEOUT_EXIT = 124
_OPEN_FILES = 4096
_START_SECONDS = 30.0
_LEAVE_SECONDS = 10.0
_BLOCK_BYTES = 512
_KILOBYTE = 1024
_UNBOUNDED = "-"

# Joins the control groups, bounds itself, then becomes bubblewrap: the same process from first to last.
_LAUNCHER = """
entrances=$1 cpu_seconds=$2 file_blocks=$3 data_kilobytes=$4 open_files=$5
shift 5
IFS=:
for entrance in $entrances; do echo 0 > "$entrance" || exit 97; done
ulimit -n "$open_files" 2> /dev/null # where the machine allows as many
ulimit -c 0 && ulimit -t "$cpu_seconds" && ulimit -f "$file_blocks" || exit 98
[ "$data_kilobytes" = - ] || ulimit -d "$data_kilobytes" || exit 98
exec "$@"
"""


@dataclass(frozen=True, slots=True)
class Launch:
    """A bubblewrap command line and what bounds it. `data_bytes` is None where a control group bounds the memory."""

    bwrap: Path
    arguments: Sequence[str]
    command: Sequence[str]
    syscall_filter: bytes
    entrances: Sequence[Path]
    cpu_seconds: int
    file_bytes: int
    data_bytes: int | None

    def launcher(self) -> list[str]:
        """The program that becomes bubblewrap, up to bubblewrap's own name."""
        bounds = [
            ":".join(map(str, self.entrances)),
            str(self.cpu_seconds),
            str(max(1, self.file_bytes // _BLOCK_BYTES)),
            _UNBOUNDED if self.data_bytes is None else str(self.data_bytes // _KILOBYTE),
            str(_OPEN_FILES),
        ]
        return ["/bin/sh", "-c", _LAUNCHER, "sandbox", *bounds, str(self.bwrap)]


class BubblewrapProcess:
    """Starts on entering; on leaving, whatever happened, every process of the sandbox is gone."""

    def __init__(self, launch: Launch) -> None:
        self._launch = launch
        self._cleanup = contextlib.AsyncExitStack()
        self._first: int | None = None  # a handle of the sandbox's process 1: when that is gone, all are

    async def __aenter__(self) -> Self:
        # The whole start is one step that is not broken off: half of it would leave a process nobody knows.
        try:
            await to_the_end(self._start())
        except BaseException:
            await to_the_end(self._cleanup.aclose())
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await to_the_end(self._cleanup.aclose())

    async def follow(
        self, wall_seconds: float, on_output: OnOutput, is_out_of_memory: Callable[[], bool]
    ) -> CommandExit:
        """Hand over the output until the command ends or its time is over.

        Raises `RuntimeUnavailableError` when the sandbox could not be set up, so that the command never ran.
        """
        refusal = bytearray()

        async def forward(stream: StreamName, reader: asyncio.StreamReader) -> None:
            while data := await reader.read(_CHUNK_BYTES):
                if stream == "stderr" and len(refusal) < _CHUNK_BYTES:
                    refusal.extend(data)
                await on_output(stream, data)

        pumps = [
            asyncio.create_task(forward("stdout", self._stdout)),
            asyncio.create_task(forward("stderr", self._stderr)),
        ]
        ended = asyncio.create_task(_readiness(self._monitor))
        try:
            _, late = await asyncio.wait([ended, *pumps], timeout=wall_seconds, return_when=asyncio.FIRST_EXCEPTION)
            timed_out = ended in late and not any(pump.done() and pump.exception() for pump in pumps)
            await self._kill()
            # Nobody is left to write, so both pipes come to their end.
            await asyncio.gather(*pumps)
        finally:
            for task in (ended, *pumps):
                task.cancel()
        if timed_out:
            return CommandExit(_TIMEOUT_EXIT, timed_out=True, out_of_memory=is_out_of_memory())
        exit_code = await self._reported_exit()
        out_of_memory = is_out_of_memory()
        if exit_code is None and not out_of_memory and (self._process.returncode or 0) > 0:
            raise RuntimeUnavailableError(
                f"the sandbox did not start: {refusal[-2000:].decode(errors='replace').strip()}"
            )
        return CommandExit(exit_code, out_of_memory=out_of_memory)

    async def _start(self) -> None:
        with contextlib.ExitStack() as only_until_started:
            self._stdout, stdout_write = await self._pipe(only_until_started)
            self._stderr, stderr_write = await self._pipe(only_until_started)
            self._status, status_write = await self._pipe(only_until_started)
            filter_fd = _readable(only_until_started, self._launch.syscall_filter)
            arguments = [
                *("--seccomp", str(filter_fd), "--json-status-fd", str(status_write)),
                *self._launch.arguments,
            ]
            # Not on the command line, which the guest can read in its /proc/1: the host's paths are not its business.
            arguments_fd = _readable(only_until_started, b"".join(os.fsencode(part) + b"\0" for part in arguments))
            # Not through the event loop: children of uvloop inherit descriptors that are not theirs and write to
            # sockets, which `> /dev/stderr` cannot open. Not in a worker thread: bubblewrap dies with the thread that
            # started it. It takes about a millisecond.
            self._process = subprocess.Popen(  # noqa: ASYNC220, S603
                [*self._launch.launcher(), "--args", str(arguments_fd), "--", *self._launch.command],
                stdin=subprocess.DEVNULL,
                stdout=stdout_write,
                stderr=stderr_write,
                env={},
                cwd="/",
                pass_fds=(filter_fd, status_write, arguments_fd),
                start_new_session=True,
            )
            self._monitor = os.pidfd_open(self._process.pid)
            self._cleanup.callback(os.close, self._monitor)
            self._cleanup.push_async_callback(self._kill)
        async with asyncio.timeout(_START_SECONDS):
            first_line = await self._status.readline()
        if first_line:
            pid = int(json.loads(first_line)["child-pid"])
            with contextlib.suppress(ProcessLookupError):
                self._first = os.pidfd_open(pid)

    async def _pipe(self, owner_of_the_writing_end: contextlib.ExitStack) -> tuple[asyncio.StreamReader, int]:
        """A pipe that is read here and written by the sandbox."""
        reading_end, writing_end = os.pipe()
        owner_of_the_writing_end.callback(os.close, writing_end)
        reader = asyncio.StreamReader(limit=_CHUNK_BYTES)
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(reading_end, "rb", 0)
        )
        self._cleanup.callback(transport.close)
        return reader, writing_end

    async def _reported_exit(self) -> int | None:
        """What bubblewrap says about the command's end; nothing when it never ran or was killed from outside."""
        async with asyncio.timeout(_LEAVE_SECONDS):
            report = await self._status.read()
        for line in report.splitlines():
            document: dict[str, Any] = json.loads(line)
            if "exit-code" in document:
                return int(document["exit-code"])
        return None

    async def _kill(self) -> None:
        """End the sandbox and wait until its process 1, and with it everything in it, is gone."""
        if self._process.poll() is None:
            self._process.kill()
            await _readiness(self._monitor)
            self._process.wait()
        if self._first is None:
            return
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._first, signal.SIGKILL)
        try:
            async with asyncio.timeout(_LEAVE_SECONDS):
                await _readiness(self._first)
        except TimeoutError:
            logger.error("sandbox_stays", pid=self._process.pid)
        os.close(self._first)
        self._first = None


async def to_the_end[ResultT](work: Coroutine[Any, Any, ResultT]) -> ResultT:
    """Await `work` to its end even when the caller is cancelled meanwhile; the cancellation goes on afterwards."""
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError as error:
            cancelled = error
        except BaseException:
            break
    if cancelled is not None:
        raise cancelled
    return task.result()


def _readable(owner: contextlib.ExitStack, content: bytes) -> int:
    """A descriptor that gives `content` to whoever inherits it."""
    descriptor = os.memfd_create("sandbox")
    owner.callback(os.close, descriptor)
    os.write(descriptor, content)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


async def _readiness(descriptor: int) -> None:
    loop = asyncio.get_running_loop()
    ready: asyncio.Future[None] = loop.create_future()

    def note() -> None:
        if not ready.done():
            ready.set_result(None)

    loop.add_reader(descriptor, note)
    try:
        await ready
    finally:
        loop.remove_reader(descriptor)
