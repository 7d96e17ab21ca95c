"""The public door: the API under /api, the probes, and the built page for everything else."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import structlog
from fastapi import APIRouter, FastAPI
from fastapi.responses import FileResponse, Response
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException

from app.api.container import Container
from app.api.middleware import RequestMiddleware
from app.api.problems import install_problem_handlers
from app.api.routes import auth, chat, files, health, threads
from app.logs import configure_logging
from app.settings import ApiSettings, load_settings

logger = structlog.get_logger(__name__)


def create_app(settings: ApiSettings | None = None) -> FastAPI:
    """Build the application; without `settings` they come from the environment, and a bad one stops the process."""
    settings = settings or load_settings(ApiSettings)
    configure_logging(level=settings.log_level, fmt=settings.log_format)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        container = Container.build(settings)
        app.state.container = container
        if settings.first_user_email and settings.first_user_password:
            made = await container.auth.ensure_first_user(
                email=settings.first_user_email, password=settings.first_user_password
            )
            logger.info("first_user_checked", made=made)
        maintenance = asyncio.create_task(container.maintenance.run_forever())
        logger.info("backend_started", model=settings.agent_model)
        yield
        maintenance.cancel()
        await asyncio.gather(maintenance, return_exceptions=True)
        await container.close()

    app = FastAPI(
        title="Analyst",
        version="0.1.0",
        description="Upload data, ask about it, get answers with the code, tables and charts behind them.",
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        generate_unique_id_function=lambda route: route.name,
    )
    install_problem_handlers(app)
    api = APIRouter(prefix="/api")
    for module in (auth, threads, chat, files, health):
        api.include_router(module.router)
    app.include_router(api)
    app.include_router(health.probes)
    if settings.frontend_dist_dir:
        _serve_page(app, Path(settings.frontend_dist_dir))
    app.add_middleware(
        RequestMiddleware,
        public_base_url=settings.public_base_url,
        object_store_origin="{0.scheme}://{0.netloc}".format(urlsplit(settings.public_object_store_url)),
    )
    return app


_REPORT_FRAME = "report-frame.html"
# The frame that shows HTML reports: their scripts run, in an origin of their own that reaches nothing.
REPORT_FRAME_POLICY = "; ".join(
    [
        "sandbox allow-scripts",
        "default-src 'none'",
        "script-src 'unsafe-inline' 'unsafe-eval'",
        "style-src 'unsafe-inline'",
        "img-src data: blob:",
        "font-src data:",
        "form-action 'none'",
        "base-uri 'none'",
        "frame-ancestors 'self'",
    ]
)


def _serve_page(app: FastAPI, dist: Path) -> None:
    """Hashed assets for ever, the page itself always fresh, and every other path is the page's own routing."""
    index = dist / "index.html"
    if not index.is_file():
        logger.warning("page_not_built", looked_for=str(index))
        return
    app.mount("/assets", _ImmutableFiles(directory=dist / "assets", check_dir=False))
    root = dist.resolve()

    @app.api_route("/{path:path}", methods=["GET", "HEAD"], include_in_schema=False)
    async def page(path: str) -> FileResponse:
        if path == "api" or path.startswith("api/"):
            raise HTTPException(404, "There is no such endpoint")
        if path == _REPORT_FRAME:
            return FileResponse(root / path, headers={"Content-Security-Policy": REPORT_FRAME_POLICY})
        file = (root / path).resolve()
        if path and file.is_file() and file.is_relative_to(root):
            return FileResponse(file)
        return FileResponse(index, headers={"Cache-Control": "no-cache"})


class _ImmutableFiles(StaticFiles):
    """File names hold their content's hash, so that browsers never need to ask again."""

    def file_response(self, *args: Any, **options: Any) -> Response:
        response = super().file_response(*args, **options)
        response.headers["Cache-Control"] = "public, max-age=31536000, immutable"
        return response
