"""The product's own processes that stay: executor, runtime, backend."""

import sys
from collections.abc import Mapping

import httpx

from stack.ports import LOOPBACK
from stack.service_environment import ServiceEnvironments
from stack.settings import REPOSITORY_ROOT
from stack.units import AsyncStep, NotReadyError, Service, UnsafeServiceError

_REQUEST_SECONDS = 10.0


def executor_service(environments: ServiceEnvironments) -> Service:
    """The execution plane."""
    port = environments.settings.executor_port
    return Service(
        name="executor",
        argv=_uvicorn("executor.app:create_app", port, "--factory"),
        environment=environments.executor(),
        after=frozenset({"executor-schema", "s3"}),
        working_dir=REPOSITORY_ROOT,
        ready=_answers_ok(port, "/readyz"),
        address=_url(port),
        stop_seconds=15.0,
    )


def runtime_service(environments: ServiceEnvironments) -> Service:
    """The LangGraph deployment."""
    port = environments.settings.runtime_port
    redis = {"redis"} if environments.settings.redis_enabled else set()
    answers = _answers_ok(port, "/ready")

    async def ready() -> None:
        await answers()
        await _require_closed_door(port)

    return Service(
        name="runtime",
        # The backend's own start of the runtime: it checks graph and auth handler before it serves.
        argv=(sys.executable, "-m", "app.agent.server", "--host", LOOPBACK, "--port", str(port)),
        environment=environments.runtime(),
        after=frozenset({"app-schema", "runtime-schema", "s3", *redis}),
        working_dir=REPOSITORY_ROOT / "backend",
        ready=ready,
        address=_url(port),
        stop_seconds=20.0,
    )


def backend_service(environments: ServiceEnvironments) -> Service:
    """The public door: ready only when everything behind it is."""
    port = environments.settings.backend_port
    return Service(
        name="backend",
        argv=_uvicorn("app.api.main:create_app", port, "--factory"),
        environment=environments.backend(),
        after=frozenset({"app-schema", "s3"}),
        beside=frozenset({"executor", "runtime"}),
        working_dir=REPOSITORY_ROOT,
        ready=_answers_ok(port, "/readyz"),
        address=environments.settings.page_url,
        stop_seconds=15.0,
    )


def _uvicorn(application: str, port: int, *options: str) -> tuple[str, ...]:
    # An open event stream would otherwise hold a stop for ever.
    patience = ("--timeout-graceful-shutdown", "8")
    return (
        *(sys.executable, "-m", "uvicorn", application, *options),
        *("--host", LOOPBACK, "--port", str(port), "--no-server-header", "--no-access-log", *patience),
    )


def _url(port: int) -> str:
    return f"http://{LOOPBACK}:{port}"


def _answers_ok(port: int, path: str) -> AsyncStep:
    """Readiness by the service's own answer, with its text as the reason when it says no."""

    async def ready() -> None:
        response = await _ask("GET", f"{_url(port)}{path}")
        if response.status_code != httpx.codes.OK:
            raise NotReadyError(f"{path} answers {response.status_code}: {response.text[:300]}")

    return ready


async def _require_closed_door(port: int) -> None:
    """The runtime serves everybody when its auth handler is missing or broken: such a runtime must not run."""
    response = await _ask("POST", f"{_url(port)}/threads", json={})
    if response.status_code != httpx.codes.UNAUTHORIZED:
        raise UnsafeServiceError(
            f"the runtime answers {response.status_code} instead of 401 to a call without a token: "
            "its authentication is not in force (see `auth` in backend/langgraph.json), so it was stopped"
        )


async def _ask(method: str, url: str, json: Mapping[str, object] | None = None) -> httpx.Response:
    # Proxies of the environment are for the outside.
    async with httpx.AsyncClient(timeout=_REQUEST_SECONDS, trust_env=False) as client:
        try:
            return await client.request(method, url, json=json)
        except httpx.TransportError as error:
            raise NotReadyError(f"{url}: {type(error).__name__}") from error
