"""MicrosandboxBackend: Deep Agents' sandbox contract over the executor's HTTP API.

One object serves every thread: which sandbox is meant follows from the run that calls. An exception out of a tool would
end the run, so every fault of the transport becomes a result that the model can read.
"""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Coroutine
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar
from uuid import uuid4

import structlog
from anyio.from_thread import BlockingPortal, start_blocking_portal
from deepagents.backends.protocol import ExecuteResponse, FileDownloadResponse, FileUploadResponse
from deepagents.backends.sandbox import BaseSandbox
from langgraph.config import get_config, get_stream_writer

from app.agent.context import RunIdentity, current_run
from app.clients.executor import MAX_JOB_SECONDS, ExecutionResult, ExecutorClient, ExecutorError
from app.db.models import ThreadFile
from app.errors import ProductError, SandboxUnavailableError
from app.schemas.files import FileOut
from app.services.sandbox_service import SandboxService

if TYPE_CHECKING:
    from uuid import UUID

logger = structlog.get_logger(__name__)

DEFAULT_TIMEOUT_SECONDS = 60
_REMEMBERED_RUNS = 10_000
# A restarted executor is back within seconds; a model that is told at once would only try the same again.
_OUTAGE_SECONDS = 45.0
_FIRST_PAUSE_SECONDS = 0.25
_LONGEST_PAUSE_SECONDS = 4.0
_UNREACHABLE = "Error: the sandbox did not answer; it is not known whether the command ran. Look before you repeat it."
_FILE_ERRORS = {"file_not_found", "permission_denied", "is_directory", "invalid_path"}


@dataclass(slots=True)
class _CallCount:
    """How many commands one graph task has run: with its id it names each command, also when the task runs again."""

    task_id: str
    calls: int = 0


_call_count: ContextVar[_CallCount | None] = ContextVar("sandbox_call_count", default=None)


class _BlockingSide:
    """An event loop in a thread of its own and the backend that lives on it. Connections belong to one loop."""

    def __init__(self, twin: "MicrosandboxBackend") -> None:
        self.twin = twin
        # Kept as long as the portal: the loop ends when its provider is forgotten.
        self._provider = start_blocking_portal()
        self.portal: BlockingPortal = self._provider.__enter__()


class MicrosandboxBackend(BaseSandbox):
    """Executes and moves files in the sandbox of the thread whose run is calling."""

    # The executor itself keeps the whole output in the workspace and cuts what it returns.
    enable_capture_offload: ClassVar[bool] = False  # type: ignore[misc]

    def __init__(
        self,
        sandboxes: SandboxService,
        executor: ExecutorClient,
        identify: Callable[[], RunIdentity] = current_run,
        make_twin: "Callable[[], MicrosandboxBackend] | None" = None,
    ) -> None:
        self._identify = identify
        self._sandboxes = sandboxes
        self._executor = executor
        # Runs whose uploads are in place, the oldest forgotten: that costs one idempotent call.
        self._staged_runs: OrderedDict[UUID, None] = OrderedDict()
        self._make_twin = make_twin
        self._blocking_side: _BlockingSide | None = None

    @property
    def id(self) -> str:
        return f"microsandbox:{self._identify().thread_id}"

    async def aexecute(self, command: str, *, timeout: int | None = None) -> ExecuteResponse:  # noqa: ASYNC109
        """Run a shell command. `timeout` in seconds, 1 to 900."""
        identity = self._identify()
        seconds = min(max(timeout or DEFAULT_TIMEOUT_SECONDS, 1), MAX_JOB_SECONDS)
        job_id = _next_job_id(identity)
        try:
            result = await _through_outages(lambda: self._run_in_sandbox(identity, command, seconds, job_id))
        except ExecutorError as error:
            return ExecuteResponse(output=f"Error: {error.detail}", exit_code=None)
        except ProductError as error:
            logger.warning("command_outcome_unknown", job_id=job_id, code=error.code)
            return ExecuteResponse(output=_UNREACHABLE, exit_code=None)
        logger.info("command_done", job_id=job_id, exit_code=result.exit_code, duration_ms=result.duration_ms)
        return ExecuteResponse(output=_readable(result), exit_code=result.exit_code, truncated=result.truncated)

    async def _run_in_sandbox(self, identity: RunIdentity, command: str, seconds: int, job_id: str) -> ExecutionResult:
        await self._stage(identity)
        result = await self._sandboxes.use(
            identity.thread_id, lambda session: self._run(session, command, seconds, job_id)
        )
        await self._announce_artifacts(identity)
        return result

    async def _run(self, session: str, command: str, seconds: int, job_id: str) -> ExecutionResult:
        try:
            return await self._executor.run_bash(session, command, timeout_seconds=seconds, job_id=job_id)
        except asyncio.CancelledError:
            # The run was stopped: its command must not go on without it.
            await asyncio.shield(self._cancel(job_id))
            raise

    async def _cancel(self, job_id: str) -> None:
        try:
            await self._executor.cancel_job(job_id)
        except (ExecutorError, ProductError) as error:
            logger.warning("command_not_cancelled", job_id=job_id, error=str(error))

    async def aupload_files(self, files: list[tuple[str, bytes]]) -> list[FileUploadResponse]:
        identity = self._identify()

        async def upload(path: str, content: bytes) -> str | None:
            await self._sandboxes.use(identity.thread_id, lambda session: self._executor.upload(session, path, content))
            return None

        responses = []
        for path, content in files:
            error = _path_error(path) or await _file_error(lambda path=path, content=content: upload(path, content))  # type: ignore[misc]
            responses.append(FileUploadResponse(path=path, error=error))
        if any(response.error is None for response in responses):
            try:
                await self._announce_artifacts(identity)
            except (ExecutorError, ProductError) as error:
                # They are persisted and will be found by the next call.
                logger.warning("artifacts_not_announced", error=str(error))
        return responses

    async def adownload_files(self, paths: list[str]) -> list[FileDownloadResponse]:
        identity = self._identify()
        responses = []
        for path in paths:
            contents: list[bytes] = []

            async def download(path: str = path, contents: list[bytes] = contents) -> str | None:
                await self._stage(identity)
                contents.append(
                    await self._sandboxes.use(
                        identity.thread_id, lambda session: self._executor.download(session, path)
                    )
                )
                return None

            error = _path_error(path) or await _file_error(download)
            responses.append(FileDownloadResponse(path=path, content=contents[0] if contents else None, error=error))
        return responses

    def execute(self, command: str, *, timeout: int | None = None) -> ExecuteResponse:
        return self._blocking(lambda twin: twin.aexecute(command, timeout=timeout))

    def upload_files(self, files: list[tuple[str, bytes]]) -> list[FileUploadResponse]:
        return self._blocking(lambda twin: twin.aupload_files(files))

    def download_files(self, paths: list[str]) -> list[FileDownloadResponse]:
        return self._blocking(lambda twin: twin.adownload_files(paths))

    def _blocking[ResultT](self, work: "Callable[[MicrosandboxBackend], Coroutine[Any, Any, ResultT]]") -> ResultT:
        """For callers without an event loop: done on a loop of our own, by a twin whose connections belong to it."""
        if self._blocking_side is None:
            if self._make_twin is None:
                # The error that Deep Agents turns into a message for the model; any other would end the run.
                raise NotImplementedError("this backend is for asynchronous callers only")
            self._blocking_side = _BlockingSide(self._make_twin())
        side = self._blocking_side
        result: ResultT = side.portal.call(lambda: work(side.twin))
        return result

    async def _stage(self, identity: RunIdentity) -> None:
        if identity.run_id in self._staged_runs:
            return
        await self._sandboxes.stage_uploads(identity.thread_id)
        self._staged_runs[identity.run_id] = None
        while len(self._staged_runs) > _REMEMBERED_RUNS:
            self._staged_runs.popitem(last=False)

    async def _announce_artifacts(self, identity: RunIdentity) -> None:
        """Register what the sandbox has persisted below /artifacts and tell the stream."""
        files = await self._sandboxes.register_changes(identity.thread_id, run_id=identity.run_id)
        for file in files:
            _write_to_stream(identity, file)


def _write_to_stream(identity: RunIdentity, file: ThreadFile) -> None:
    try:
        writer = get_stream_writer()
    except (KeyError, RuntimeError):  # called outside a streaming run: the row is there, nobody listens
        return
    writer({"type": "artifact", "run_id": str(identity.run_id), "file": FileOut.of(file).model_dump(mode="json")})


def _next_job_id(identity: RunIdentity) -> str:
    """A name for the next command, the same one when the graph runs its task again after a crash."""
    try:
        task_id = get_config().get("configurable", {}).get("__pregel_task_id")
    except RuntimeError:  # no graph is calling, so nothing will ever run it again either
        task_id = None
    if task_id is None:
        return f"{identity.thread_id}/direct/{uuid4()}"
    count = _call_count.get()
    if count is None or count.task_id != task_id:
        count = _CallCount(task_id)
        _call_count.set(count)
    count.calls += 1
    return f"{identity.thread_id}/{task_id}/{count.calls}"


def _readable(result: ExecutionResult) -> str:
    """stdout, then what the model must not take for it: stderr and notes, each under its own label."""
    parts = [result.stdout]
    if result.stderr:
        parts.append(f"[stderr]\n{result.stderr}")
    if result.message:
        parts.append(f"[note] {result.message}")
    if result.not_persisted:
        lines = "\n".join(f"{item.path}: {item.reason}" for item in result.not_persisted[:20])
        parts.append(f"[not saved]\n{lines}")
    return "\n".join(part.rstrip("\n") for part in parts if part)


def _path_error(path: str) -> str | None:
    return None if path.startswith("/") else "invalid_path"


async def _through_outages[ResultT](work: Callable[[], Awaitable[ResultT]]) -> ResultT:
    """Do it again when the executor was away for a moment.

    Only for what is safe to repeat: a command carries its job id, which never runs twice (a repeat joins it or gets its
    record), and files are read or replaced as a whole.
    """
    deadline = time.monotonic() + _OUTAGE_SECONDS
    pause = _FIRST_PAUSE_SECONDS
    while True:
        try:
            return await work()
        except SandboxUnavailableError:
            if time.monotonic() + pause > deadline:
                raise
        await asyncio.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)


async def _file_error(work: Callable[[], Awaitable[str | None]]) -> str | None:
    """None when the work is done, else why not, in the contract's words where it has one."""
    try:
        return await _through_outages(work)
    except ExecutorError as error:
        return error.code if error.code in _FILE_ERRORS else error.detail
    except ProductError as error:
        return error.detail
