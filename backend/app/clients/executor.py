"""The executor over HTTP (`docs/executor-api.md`)."""

from collections.abc import Sequence
from typing import Any, Literal
from urllib.parse import quote

import httpx
import structlog
from pydantic import BaseModel, ConfigDict, TypeAdapter

from app.errors import SandboxUnavailableError

logger = structlog.get_logger(__name__)

MAX_FOREGROUND_SECONDS = 60
MAX_JOB_SECONDS = 900
_CONNECT_SECONDS = 5
_TRANSFER_SECONDS = 120
_JOB_WAIT_SECONDS = 20
# Above the command's own limit: staging, hydration and persisting happen within the same request.
_OVERHEAD_SECONDS = 120


class _Model(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class SessionInput(_Model):
    """An object to stage read-only; `path` is absolute in the guest."""

    object_key: str
    path: str
    size: int
    sha256: str


class SandboxSession(_Model):
    session: str
    session_id: str
    generation: str
    workspace: str
    seq: int


class Change(_Model):
    """One persisted difference of the workspace; `seq` grows by one for each."""

    seq: int
    path: str
    op: Literal["created", "modified", "deleted"]
    object_key: str | None
    artifact_id: str | None = None
    version: int = 1
    size: int = 0
    sha256: str | None = None
    content_type: str | None = None


class NotPersisted(_Model):
    path: str
    reason: str


class ExecutionResult(_Model):
    """What happened. An unknown exit status is None; times in milliseconds."""

    job_id: str
    status: str
    stdout: str = ""
    stderr: str = ""
    exit_code: int | None = None
    timed_out: bool = False
    truncated: bool = False
    duration_ms: int = 0
    message: str | None = None
    seq: int = 0
    changes: list[Change] = []
    not_persisted: list[NotPersisted] = []


class Job(_Model):
    job_id: str
    status: str
    result: ExecutionResult | None = None


class ChangePage(_Model):
    changes: list[Change]
    seq: int
    more: bool


class ExecutorError(Exception):
    """The executor refused a call; `code` is its stable word for why."""

    def __init__(self, status: int, code: str, detail: str) -> None:
        self.status = status
        self.code = code
        self.detail = detail
        super().__init__(f"{code}: {detail}")


class SessionGoneError(ExecutorError):
    """The session is no longer there (or was superseded); nothing was done."""


class ExecutorClient:
    """Raises `ExecutorError` for a refusal and `SandboxUnavailableError` when nobody answers. It retries nothing."""

    def __init__(self, base_url: str, token: str) -> None:
        self._base_url = base_url
        self._http = httpx.AsyncClient(
            base_url=base_url,
            headers={"Authorization": f"Bearer {token}"},
            timeout=httpx.Timeout(_TRANSFER_SECONDS, connect=_CONNECT_SECONDS),
            limits=httpx.Limits(max_connections=200, max_keepalive_connections=50),
        )

    async def close(self) -> None:
        await self._http.aclose()

    async def ping(self) -> None:
        await self._send("GET", "/readyz", seconds=5)

    async def create_session(
        self, *, workspace: str, inputs: Sequence[SessionInput], idempotency_key: str
    ) -> SandboxSession:
        response = await self._send(
            "POST",
            "/v1/sessions",
            json={"workspace": workspace, "inputs": [item.model_dump() for item in inputs]},
            headers={"Idempotency-Key": idempotency_key},
        )
        return SandboxSession.model_validate_json(response.content)

    async def stage(self, session: str, inputs: Sequence[SessionInput]) -> None:
        await self._send(
            "PUT", f"/v1/sessions/{_segment(session)}/inputs", json={"inputs": [item.model_dump() for item in inputs]}
        )

    async def run_bash(
        self, session: str, command: str, *, timeout_seconds: int, job_id: str | None, read_only: bool = False
    ) -> ExecutionResult:
        """Run a shell command: within one response up to 60 s, as a managed job up to 900 s."""
        return await self._run({"command": command}, "/v1/execute/bash", session, timeout_seconds, job_id, read_only)

    async def run_python(
        self, session: str, code: str, *, timeout_seconds: int, job_id: str | None = None, read_only: bool = False
    ) -> ExecutionResult:
        return await self._run({"code": code}, "/v1/execute", session, timeout_seconds, job_id, read_only)

    async def _run(
        self,
        program: dict[str, str],
        foreground_path: str,
        session: str,
        timeout_seconds: int,
        job_id: str | None,
        read_only: bool,
    ) -> ExecutionResult:
        body: dict[str, Any] = {
            "session": session,
            **program,
            "timeout_seconds": timeout_seconds,
            "read_only": read_only,
        }
        if job_id:
            body["job_id"] = job_id
        if timeout_seconds <= MAX_FOREGROUND_SECONDS or job_id is None:
            response = await self._send("POST", foreground_path, json=body, seconds=timeout_seconds + _OVERHEAD_SECONDS)
            return ExecutionResult.model_validate_json(response.content)
        await self._send("POST", "/v1/jobs", json=body)
        return await self._wait_for_job(job_id)

    async def _wait_for_job(self, job_id: str) -> ExecutionResult:
        while True:
            response = await self._send(
                "GET",
                f"/v1/jobs/{_segment(job_id)}",
                params={"wait_seconds": _JOB_WAIT_SECONDS},
                seconds=_JOB_WAIT_SECONDS + 10,
            )
            job = Job.model_validate_json(response.content)
            if job.result is not None:
                return job.result

    async def cancel_job(self, job_id: str) -> None:
        await self._send("POST", f"/v1/jobs/{_segment(job_id)}/cancel", seconds=10)

    async def cancel_session(self, session: str) -> None:
        """Stop every command that runs or waits in the session."""
        await self._send("POST", f"/v1/sessions/{_segment(session)}/cancel", seconds=10)

    async def delete_session(self, session: str, *, purge: bool) -> None:
        await self._send("DELETE", f"/v1/sessions/{_segment(session)}", params={"purge": str(purge).lower()})

    async def upload(self, session: str, path: str, content: bytes) -> int:
        """Write one file and return the workspace's `seq` after it."""
        response = await self._send("PUT", _file_url(session, path), content=content)
        seq: int = TypeAdapter(dict[str, Any]).validate_json(response.content).get("seq", 0)
        return seq

    async def download(self, session: str, path: str) -> bytes:
        return (await self._send("GET", _file_url(session, path))).content

    async def delete_file(self, session: str, path: str) -> None:
        await self._send("DELETE", _file_url(session, path))

    async def changes(self, session: str, *, after: int) -> ChangePage:
        response = await self._send("GET", f"/v1/sessions/{_segment(session)}/changes", params={"after": after})
        return ChangePage.model_validate_json(response.content)

    async def _send(
        self, method: str, url: str, *, seconds: float = _TRANSFER_SECONDS, **options: Any
    ) -> httpx.Response:
        try:
            response = await self._http.request(
                method, url, timeout=httpx.Timeout(seconds, connect=_CONNECT_SECONDS), **options
            )
        except httpx.HTTPError as error:
            logger.warning("executor_unreachable", url=url, error=repr(error))
            raise SandboxUnavailableError from error
        if response.is_success:
            return response
        raise _refusal(response)


def _refusal(response: httpx.Response) -> Exception:
    try:
        problem: dict[str, Any] = response.json()
    except ValueError:
        problem = {}
    code = str(problem.get("code", "unknown"))
    detail = str(problem.get("detail", response.text[:200]))
    if code in {"session_not_found", "stale_generation"}:
        return SessionGoneError(response.status_code, code, detail)
    if response.status_code >= 500:
        logger.error("executor_failed", status=response.status_code, code=code, detail=detail)
        return SandboxUnavailableError()
    return ExecutorError(response.status_code, code, detail)


def _segment(value: str) -> str:
    return quote(value, safe="@:.")


def _file_url(session: str, path: str) -> str:
    return f"/v1/sessions/{_segment(session)}/files/{quote(path.removeprefix('/'))}"
