"""The agent runtime over langgraph-sdk: threads, runs, streams and state."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

import httpx
import structlog
from langgraph_sdk.client import LangGraphClient
from langgraph_sdk.errors import APIStatusError

from app.errors import RuntimeUnavailableError

logger = structlog.get_logger(__name__)

ASSISTANT_ID = "analyst"
STREAM_MODES: list[Any] = ["messages-tuple", "updates", "tasks", "custom"]

RuntimeRunStatus = Literal["pending", "running", "success", "error", "interrupted", "timeout"]


@dataclass(frozen=True, slots=True)
class RuntimeEvent:
    """One server-sent event; `id` is the runtime's own opaque position."""

    event: str
    data: Any
    id: str | None


@dataclass(frozen=True, slots=True)
class RuntimeRun:
    status: RuntimeRunStatus
    error_message: str | None


@dataclass(frozen=True, slots=True)
class ThreadState:
    """LangChain messages in their serialised form, and the interrupts that wait for an answer."""

    messages: list[dict[str, Any]]
    interrupts: list[dict[str, Any]]


class RuntimeClient:
    """Every call raises `RuntimeUnavailableError` when the runtime does not answer."""

    def __init__(self, base_url: str, token: str) -> None:
        # A client of our own: the SDK's default one waits through several retries when nobody answers.
        self._http = httpx.AsyncClient(
            base_url=base_url,
            headers={"Authorization": f"Bearer {token}"},
            # A quiet tool may stream nothing for a long time, but the runtime's keep-alives come every few seconds.
            timeout=httpx.Timeout(connect=5, read=60, write=30, pool=5),
            limits=httpx.Limits(max_connections=1000, max_keepalive_connections=50),
        )
        self._sdk = LangGraphClient(self._http)

    async def close(self) -> None:
        await self._http.aclose()

    async def ping(self) -> None:
        try:
            response = await self._http.get("/ready", timeout=5)
            response.raise_for_status()
        except httpx.HTTPError as error:
            raise RuntimeUnavailableError from error

    async def create_run(
        self,
        *,
        runtime_thread_id: UUID,
        message: dict[str, Any] | None,
        context: dict[str, str],
        recursion_limit: int,
    ) -> UUID:
        """Start a run that goes on whoever listens; `message=None` resumes from the newest checkpoint."""
        try:
            await self._sdk.threads.create(thread_id=str(runtime_thread_id), if_exists="do_nothing")
            # The SDK types these more narrowly than the protocol does.
            config: Any = {"recursion_limit": recursion_limit}
            runtime_input: Any = {"messages": [message]} if message else None
            runtime_context: Any = context
            run = await self._sdk.runs.create(
                str(runtime_thread_id),
                ASSISTANT_ID,
                input=runtime_input,
                context=runtime_context,
                config=config,
                stream_mode=STREAM_MODES,
                stream_subgraphs=True,
                durability="sync",
                metadata={"product_run_id": context["run_id"]},
            )
        except (httpx.HTTPError, APIStatusError) as error:
            raise RuntimeUnavailableError from error
        return UUID(run["run_id"])

    async def stream(
        self, *, runtime_thread_id: UUID, runtime_run_id: UUID, last_event_id: str | None
    ) -> AsyncIterator[RuntimeEvent]:
        """Events after `last_event_id`, of a run that is going on or has just ended."""
        parts = self._sdk.runs.join_stream(
            str(runtime_thread_id),
            str(runtime_run_id),
            cancel_on_disconnect=False,
            last_event_id=last_event_id or "0",
        )
        try:
            async for part in parts:
                yield RuntimeEvent(part.event, part.data, part.id)
        except (httpx.HTTPError, APIStatusError) as error:
            raise RuntimeUnavailableError from error

    async def get_run(self, *, runtime_thread_id: UUID, runtime_run_id: UUID) -> RuntimeRun | None:
        """The run as the runtime knows it, or None when it does not."""
        try:
            run: Any = await self._sdk.runs.get(str(runtime_thread_id), str(runtime_run_id))
        except APIStatusError as error:
            if error.status_code == 404:
                return None
            raise RuntimeUnavailableError from error
        except httpx.HTTPError as error:
            raise RuntimeUnavailableError from error
        return RuntimeRun(status=run["status"], error_message=run.get("error_message"))

    async def cancel_run(self, *, runtime_thread_id: UUID, runtime_run_id: UUID) -> None:
        try:
            await self._sdk.runs.cancel(str(runtime_thread_id), str(runtime_run_id), wait=False)
        except APIStatusError as error:
            # It has ended already, or is not known any more: what was asked for is so.
            if error.status_code not in {404, 409}:
                raise RuntimeUnavailableError from error
        except httpx.HTTPError as error:
            raise RuntimeUnavailableError from error

    async def get_state(self, runtime_thread_id: UUID) -> ThreadState:
        """The newest checkpoint of a thread; empty for a thread that never ran."""
        try:
            state: Any = await self._sdk.threads.get_state(str(runtime_thread_id))
        except APIStatusError as error:
            if error.status_code == 404:
                return ThreadState([], [])
            raise RuntimeUnavailableError from error
        except httpx.HTTPError as error:
            raise RuntimeUnavailableError from error
        values = state.get("values") or {}
        return ThreadState(messages=values.get("messages", []), interrupts=state.get("interrupts") or [])

    async def delete_thread(self, runtime_thread_id: UUID) -> None:
        try:
            await self._sdk.threads.delete(str(runtime_thread_id))
        except APIStatusError as error:
            if error.status_code != 404:
                raise RuntimeUnavailableError from error
        except httpx.HTTPError as error:
            raise RuntimeUnavailableError from error
