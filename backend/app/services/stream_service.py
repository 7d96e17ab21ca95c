"""A run's events for whoever listens: the runtime's own, passed on as they are, and the product's between them.

An event's id is `{attempt}:{runtime id}` (and a word for the product's own events), so that a listener who comes back
with the last id it saw gets each later event once, also when the run was resumed in the meantime.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import structlog

from app.clients.runtime import RuntimeClient, RuntimeEvent
from app.db.models import ACTIVE_RUN_STATUSES, AgentRun, Thread
from app.errors import ProductError
from app.schemas.runs import RunOut
from app.services.run_service import RunService

logger = structlog.get_logger(__name__)

_FIRST_RETRY_SECONDS = 0.25
_LONGEST_RETRY_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class StreamEvent:
    """`data` is JSON text."""

    id: str
    event: str
    data: str


@dataclass(slots=True)
class _Position:
    """Where a listener is: which attempt of the run, and the runtime's id of the last event it has."""

    attempt: int
    runtime_id: str | None

    @classmethod
    def parse(cls, last_event_id: str | None) -> "_Position":
        attempt, _, rest = (last_event_id or "").partition(":")
        if not attempt.isdigit():
            return cls(1, None)
        return cls(int(attempt), rest.partition(":")[0] or None)

    def mark(self, word: str = "") -> str:
        return f"{self.attempt}:{self.runtime_id or ''}{':' + word if word else ''}"


class StreamService:
    def __init__(self, runtime: RuntimeClient, runs: RunService) -> None:
        self._runtime = runtime
        self._runs = runs

    async def follow(self, thread: Thread, run: AgentRun, *, last_event_id: str | None) -> AsyncIterator[StreamEvent]:
        """Events after `last_event_id` until the run has ended; it outlasts restarts of the runtime."""
        position = _Position.parse(last_event_id)
        told = run.status
        yield _run_event(position, run)
        retry = _FIRST_RETRY_SECONDS
        while run.runtime_run_id is not None or run.status in ACTIVE_RUN_STATUSES:
            if position.attempt != run.attempt:
                position = _Position(run.attempt, None)
            try:
                if run.runtime_run_id is not None:
                    async for event in self._relay(thread, run.runtime_run_id, position):
                        retry = _FIRST_RETRY_SECONDS
                        yield event
                run = await self._runs.refresh(thread, run)
            except ProductError as error:
                logger.info("stream_interrupted", run_id=str(run.id), code=error.code)
            if run.status not in ACTIVE_RUN_STATUSES:
                break
            await asyncio.sleep(retry)
            retry = min(2 * retry, _LONGEST_RETRY_SECONDS)
        if run.error_code:
            error_data = {"code": run.error_code, "message": run.error_message}
            yield StreamEvent(position.mark("error"), "error", json.dumps(error_data))
        if run.status != told:
            yield _run_event(position, run)
        yield StreamEvent(position.mark("end"), "end", "null")

    async def _relay(self, thread: Thread, runtime_run_id: UUID, position: _Position) -> AsyncIterator[StreamEvent]:
        events = self._runtime.stream(
            runtime_thread_id=thread.runtime_thread_id,
            runtime_run_id=runtime_run_id,
            last_event_id=position.runtime_id,
        )
        async for event in events:
            if event.id:
                position.runtime_id = event.id
            if event.event in {"end", "error"}:  # the product says how the run ended, once, in its own words
                continue
            yield StreamEvent(position.mark(), *_translated(event))


def _translated(event: RuntimeEvent) -> tuple[str, str]:
    data: Any = event.data
    name = event.event
    kind = name.partition("|")[0]
    if kind == "tasks" and isinstance(data, dict) and isinstance(data.get("input"), dict):
        # The input of a task is the whole conversation each time: a stream would grow with its square.
        data = {**data, "input": None}
    if kind == "custom" and isinstance(data, dict) and data.get("type") == "artifact":
        name, data = "artifact", {key: value for key, value in data.items() if key != "type"}
    return name, json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def _run_event(position: _Position, run: AgentRun) -> StreamEvent:
    body = json.dumps({"run": RunOut.of(run).model_dump(mode="json")}, ensure_ascii=False)
    return StreamEvent(position.mark(run.status), "run", body)
