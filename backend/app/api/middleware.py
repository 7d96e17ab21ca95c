"""Around every request: an id, one log line, the security headers, and a check of where cookies come from."""

import re
import time
from urllib.parse import urlsplit

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uuid_utils import uuid7

from app.api.problems import problem_response
from app.errors import CrossOriginError

logger = structlog.get_logger(__name__)

_REQUEST_ID = re.compile(r"^[A-Za-z0-9._-]{8,64}$")
_SAFE_METHODS = {"GET", "HEAD", "OPTIONS"}
_QUIET_PATHS = {"/healthz", "/readyz"}


def content_security_policy(object_store_origin: str) -> str:
    """Scripts from this origin only; data, pictures and frames also from the object store's presigned URLs."""
    return "; ".join(
        [
            "default-src 'self'",
            "script-src 'self' 'wasm-unsafe-eval'",
            "style-src 'self' 'unsafe-inline'",
            f"img-src 'self' blob: data: {object_store_origin}",
            f"connect-src 'self' {object_store_origin}",
            "frame-src 'self' blob: data:",
            "worker-src 'self' blob:",
            "font-src 'self' data:",
            "object-src 'none'",
            "base-uri 'none'",
            "form-action 'self'",
            "frame-ancestors 'none'",
        ]
    )


class RequestMiddleware:
    """Pure ASGI, so that streams pass through unbuffered."""

    def __init__(self, app: ASGIApp, *, public_base_url: str, object_store_origin: str) -> None:
        self._app = app
        self._public_origin = _origin(public_base_url)
        self._headers = {
            "Content-Security-Policy": content_security_policy(object_store_origin),
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
            "Cross-Origin-Opener-Policy": "same-origin",
            "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
        }
        if self._public_origin.startswith("https:"):
            self._headers["Strict-Transport-Security"] = "max-age=31536000"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        offered = headers.get("x-request-id", "")
        request_id = offered if _REQUEST_ID.match(offered) else str(uuid7())
        structlog.contextvars.clear_contextvars()
        structlog.contextvars.bind_contextvars(request_id=request_id)
        started = time.perf_counter()
        status = 500

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                out = MutableHeaders(scope=message)
                out["X-Request-Id"] = request_id
                for name, value in self._headers.items():
                    out.setdefault(name, value)
            await send(message)

        try:
            if self._is_forged(scope, headers):
                refusal = problem_response(
                    status=CrossOriginError.status,
                    code=CrossOriginError.code,
                    title=CrossOriginError.title,
                    detail=CrossOriginError.title,
                )
                await refusal(scope, receive, send_with_headers)
            else:
                await self._app(scope, receive, send_with_headers)
        finally:
            if scope["path"] not in _QUIET_PATHS:
                logger.info(
                    "request",
                    method=scope["method"],
                    path=scope["path"],
                    status=status,
                    duration_ms=round((time.perf_counter() - started) * 1000, 1),
                )

    def _is_forged(self, scope: Scope, headers: Headers) -> bool:
        """A state-changing request that rides on cookies must come from our own page."""
        if scope["method"] in _SAFE_METHODS or "authorization" in headers or "cookie" not in headers:
            return False
        origin = headers.get("origin")
        if origin is None:
            return False  # no browser: browsers send Origin with every such request
        same_host = urlsplit(origin).netloc == headers.get("host")
        return not same_host and origin != self._public_origin


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
