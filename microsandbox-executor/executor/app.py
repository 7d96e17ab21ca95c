"""The executor: an internal service that runs commands in sandboxes and keeps what they make.

`python -m uvicorn executor.app:create_app --factory`
"""

import asyncio
import re
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uuid_utils import uuid7

from executor.config import ExecutorSettings, load_settings
from executor.errors import BusyError, ExecutorError
from executor.jobs.job_manager import JobManager
from executor.logs import configure_logging
from executor.metadata.database import Database
from executor.routes import files, health, jobs, sessions
from executor.runtime.base import SandboxRuntime
from executor.runtime.factory import choose_runtime
from executor.sessions.session_manager import SessionManager
from executor.shutdown import on_stop
from executor.storage.object_store import ObjectStore

logger = structlog.get_logger(__name__)

_SWEEP_SECONDS = 30.0
_DRAIN_SECONDS = 8.0
_REQUEST_ID = re.compile(r"^[A-Za-z0-9._-]{8,64}$")
_QUIET_PATHS = {"/healthz", "/readyz"}


@dataclass(frozen=True, slots=True)
class Services:
    """What the routes use."""

    settings: ExecutorSettings
    database: Database
    store: ObjectStore
    runtime: SandboxRuntime
    sessions: SessionManager
    jobs: JobManager


def create_app(settings: ExecutorSettings | None = None) -> FastAPI:
    """Build the application; without `settings` they come from the environment, and a bad one stops the process."""
    settings = settings or load_settings(ExecutorSettings)
    configure_logging(level=settings.log_level, fmt=settings.log_format)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        scratch = settings.executor_scratch_dir.resolve()
        scratch.mkdir(parents=True, exist_ok=True)
        # Guests' files are nobody else's on this machine.
        scratch.chmod(0o700)
        runtime = await choose_runtime(settings.sandbox_runtime, settings.executor_guest_dir.resolve(), scratch)
        database = Database(settings.executor_database_url)
        store = ObjectStore(settings)
        session_manager = SessionManager(settings, database, store)
        job_manager = JobManager(settings, database, session_manager, runtime)
        app.state.services = Services(settings, database, store, runtime, session_manager, job_manager)
        lost = await job_manager.settle_lost()
        logger.info(
            "executor_started",
            runtime=runtime.name,
            isolation=runtime.isolation,
            unenforced=list(runtime.unenforced),
            lost_jobs=lost,
        )
        sweeper = asyncio.create_task(_sweep(session_manager))
        drains: list[asyncio.Task[None]] = []
        with on_stop(lambda: drains.append(asyncio.create_task(job_manager.drain(_DRAIN_SECONDS)))):
            yield
        sweeper.cancel()
        await asyncio.gather(job_manager.drain(_DRAIN_SECONDS), *drains)
        await database.close()

    app = FastAPI(title="Executor", version="0.1.0", docs_url=None, redoc_url=None, lifespan=lifespan)
    _install_problem_handlers(app)
    for module in (sessions, jobs, files):
        app.include_router(module.router)
    app.include_router(health.router)
    app.add_middleware(RequestLog)
    return app


async def _sweep(manager: SessionManager) -> None:
    while True:
        try:
            await manager.tidy_scratch()
            await manager.close_idle()
        except Exception as error:
            # The next round tries again; an idle folder that stays a little longer harms nobody.
            logger.warning("sweep_failed", error=repr(error))
        await asyncio.sleep(_SWEEP_SECONDS)


class RequestLog:
    """Binds the request's id to everything that is logged in it, and logs the request once."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        offered = Headers(scope=scope).get("x-request-id", "")
        request_id = offered if _REQUEST_ID.match(offered) else str(uuid7())
        structlog.contextvars.clear_contextvars()
        structlog.contextvars.bind_contextvars(request_id=request_id)
        started = time.perf_counter()
        status = 500

        async def send_with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)["X-Request-Id"] = request_id
            await send(message)

        try:
            await self._app(scope, receive, send_with_id)
        finally:
            if scope["path"] not in _QUIET_PATHS:
                elapsed = round((time.perf_counter() - started) * 1000, 1)
                logger.info("request", method=scope["method"], path=scope["path"], status=status, duration_ms=elapsed)


def _install_problem_handlers(app: FastAPI) -> None:
    @app.exception_handler(ExecutorError)
    async def expected(request: Request, error: ExecutorError) -> JSONResponse:
        headers = {"Retry-After": str(BusyError.retry_after_seconds)} if isinstance(error, BusyError) else None
        return _problem(error.status, error.code, error.title, error.detail, headers)

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> JSONResponse:
        detail = "; ".join(f"{'.'.join(map(str, item['loc'][1:]))}: {item['msg']}" for item in error.errors())
        return _problem(422, "invalid_request", "The request is not as it should be", detail)

    @app.exception_handler(HTTPException)
    async def by_framework(request: Request, error: HTTPException) -> JSONResponse:
        return _problem(error.status_code, "refused", str(error.detail), str(error.detail))

    @app.exception_handler(Exception)
    async def unexpected(request: Request, error: Exception) -> JSONResponse:
        logger.exception("unhandled_error", path=request.url.path)
        return _problem(500, "internal_error", "The executor failed", "see its log under this request id")


def _problem(status: int, code: str, title: str, detail: str, headers: dict[str, str] | None = None) -> JSONResponse:
    document = {
        "type": f"urn:executor:problem:{code}",
        "title": title,
        "status": status,
        "detail": detail,
        "code": code,
        "request_id": structlog.contextvars.get_contextvars().get("request_id"),
    }
    return JSONResponse(document, status_code=status, media_type="application/problem+json", headers=headers)
