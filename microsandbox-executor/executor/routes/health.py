"""Is it alive, is it ready, and how well are its guests locked in."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Literal

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel

from executor.routes.dependencies import get_services

router = APIRouter(tags=["health"])

_PROBE_SECONDS = 5.0


class Health(BaseModel):
    """`enforcement` says by what each limit is kept; `unenforced` names each that this machine does not let be kept."""

    status: Literal["alive"] = "alive"
    runtime: str
    isolation: str
    enforcement: dict[str, str]
    unenforced: list[str]


class DependencyState(BaseModel):
    ok: bool
    latency_ms: float
    error: str | None = None


class Readiness(BaseModel):
    ready: bool
    dependencies: dict[str, DependencyState]


@router.get("/healthz")
async def healthz(request: Request) -> Health:
    runtime = get_services(request).runtime
    return Health(
        runtime=runtime.name,
        isolation=runtime.isolation,
        enforcement=dict(runtime.enforcement),
        unenforced=list(runtime.unenforced),
    )


@router.get("/readyz", responses={503: {"model": Readiness}})
async def readyz(request: Request, response: Response) -> Readiness:
    services = get_services(request)
    checks: dict[str, Callable[[], Awaitable[None]]] = {
        "database": services.database.ping,
        "object_store": services.store.ping,
    }
    states = await asyncio.gather(*(_probe(check) for check in checks.values()))
    readiness = Readiness(ready=all(state.ok for state in states), dependencies=dict(zip(checks, states, strict=True)))
    if not readiness.ready:
        response.status_code = 503
    return readiness


async def _probe(check: Callable[[], Awaitable[None]]) -> DependencyState:
    started = time.perf_counter()
    error: str | None = None
    try:
        async with asyncio.timeout(_PROBE_SECONDS):
            await check()
    except Exception as failure:
        # Whatever it is, the dependency cannot be used: that is the answer, with the kind of failure.
        error = type(failure).__name__
    return DependencyState(ok=error is None, latency_ms=round((time.perf_counter() - started) * 1000, 1), error=error)
