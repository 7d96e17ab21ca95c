"""Is it alive, is it ready, and what is it."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from importlib.metadata import version
from typing import Literal

from fastapi import APIRouter, Response
from pydantic import BaseModel

from app.api.dependencies import ContainerDep
from app.services.model_description import ModelDescription, describe_model

probes = APIRouter(tags=["health"])
router = APIRouter(tags=["health"])

_PROBE_SECONDS = 5.0


class Alive(BaseModel):
    status: Literal["alive"] = "alive"


class DependencyState(BaseModel):
    """`latency_ms` of one real call."""

    ok: bool
    latency_ms: float
    error: str | None = None


class Readiness(BaseModel):
    ready: bool
    dependencies: dict[str, DependencyState]


class Limits(BaseModel):
    upload_max_bytes: int
    message_max_chars: int


class Meta(BaseModel):
    version: str
    model: ModelDescription
    limits: Limits
    registration_open: bool


@probes.get("/healthz")
async def healthz() -> Alive:
    return Alive()


@probes.get("/readyz", responses={503: {"model": Readiness}})
async def readyz(response: Response, container: ContainerDep) -> Readiness:
    """Asks each dependency a real question, all at once."""
    checks: dict[str, Callable[[], Awaitable[None]]] = {
        "database": container.database.ping,
        "object_store": container.store.ping,
        "runtime": container.runtime.ping,
        "executor": container.executor.ping,
    }
    states = await asyncio.gather(*(_probe(check) for check in checks.values()))
    readiness = Readiness(ready=all(state.ok for state in states), dependencies=dict(zip(checks, states, strict=True)))
    if not readiness.ready:
        response.status_code = 503
    return readiness


@router.get("/meta")
async def meta(container: ContainerDep) -> Meta:
    """What a client should know before anybody signs in."""
    settings = container.settings
    return Meta(
        version=version("backend"),
        model=describe_model(settings),
        limits=Limits(upload_max_bytes=settings.upload_max_bytes, message_max_chars=settings.message_max_chars),
        registration_open=settings.auth_registration_open,
    )


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
