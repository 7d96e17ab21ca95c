"""The conversation itself: a message in, events out; and back into a run that is going on."""

from collections.abc import AsyncIterator
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Header
from sse_starlette import EventSourceResponse, ServerSentEvent

from app.api.dependencies import ContainerDep, CurrentUser, IdempotencyKey, OwnedThread
from app.api.problems import problem_responses
from app.api.routes.threads import OWNED
from app.errors import InvalidRequestError, RunActiveError
from app.schemas.runs import ChatIn
from app.services.stream_service import StreamEvent

router = APIRouter(tags=["chat"])

HEARTBEAT_SECONDS = 15
SSE: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Server-sent events: run, metadata, messages, updates, tasks, custom, artifact, error, end",
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
    }
}


@router.post(
    "/chat/stream", response_class=EventSourceResponse, responses={**SSE, **OWNED, **problem_responses(RunActiveError)}
)
async def chat_stream(
    body: ChatIn, user: CurrentUser, container: ContainerDep, idempotency_key: IdempotencyKey = None
) -> EventSourceResponse:
    """Ask something. The run goes on whether or not anybody listens; a second message meanwhile is 409 `run_active`."""
    message = body.message.strip()
    if not message:
        raise InvalidRequestError("message: there is nothing in it")
    if len(message) > container.settings.message_max_chars:
        raise InvalidRequestError(f"message: at most {container.settings.message_max_chars:,} characters")
    thread = await container.threads.get_owned(user.id, body.thread_id)
    run = await container.runs.start(thread, question=message, file_ids=body.file_ids, idempotency_key=idempotency_key)
    return _respond(container.streams.follow(thread, run, last_event_id=None))


@router.get("/threads/{thread_id}/runs/{run_id}/stream", response_class=EventSourceResponse, responses={**SSE, **OWNED})
async def run_stream(
    run_id: UUID,
    thread: OwnedThread,
    container: ContainerDep,
    last_event_id: Annotated[str | None, Header(alias="Last-Event-ID", max_length=200)] = None,
) -> EventSourceResponse:
    """Join a run: each event after `Last-Event-ID` once, until it ends."""
    run = await container.runs.get(thread.id, run_id)
    return _respond(container.streams.follow(thread, run, last_event_id=last_event_id))


def _respond(events: AsyncIterator[StreamEvent]) -> EventSourceResponse:
    async def server_sent() -> AsyncIterator[ServerSentEvent]:
        async for event in events:
            yield ServerSentEvent(data=event.data, event=event.event, id=event.id)

    return EventSourceResponse(
        server_sent(),
        ping=HEARTBEAT_SECONDS,
        headers={"X-Accel-Buffering": "no", "Cache-Control": "no-store"},
    )
