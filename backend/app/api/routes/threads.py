"""Threads, their messages, files and runs."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, status

from app.api.cursors import decode_thread_cursor, encode_thread_cursor
from app.api.dependencies import ContainerDep, CurrentUser, IdempotencyKey, OwnedThread
from app.api.problems import problem_responses
from app.api.routes.auth import SIGNED_IN
from app.errors import (
    InvalidRequestError,
    NotFoundError,
    PreviewFailedError,
    RuntimeUnavailableError,
    SandboxUnavailableError,
    StorageUnavailableError,
    ThreadBusyError,
)
from app.schemas.files import FileList, FileOut, Preview
from app.schemas.runs import MessageList, MessageOut, RunList, RunOut
from app.schemas.threads import ThreadIn, ThreadList, ThreadOut, ThreadPatch

router = APIRouter(prefix="/threads", tags=["threads"])

OWNED = {**SIGNED_IN, **problem_responses(NotFoundError, InvalidRequestError)}
Limit = Annotated[int, Query(ge=1, le=200)]
MAX_PREVIEW_ROWS = 1000


@router.post("", status_code=status.HTTP_201_CREATED, responses=OWNED)
async def create_thread(
    body: ThreadIn, user: CurrentUser, container: ContainerDep, idempotency_key: IdempotencyKey = None
) -> ThreadOut:
    return ThreadOut.of(await container.threads.create(user.id, title=body.title, idempotency_key=idempotency_key))


@router.get("", responses={**SIGNED_IN, **problem_responses(InvalidRequestError)})
async def list_threads(
    user: CurrentUser,
    container: ContainerDep,
    query: Annotated[str | None, Query(max_length=200)] = None,
    cursor: Annotated[str | None, Query(max_length=200)] = None,
    limit: Limit = 50,
) -> ThreadList:
    """Newest activity first; `query` is looked for in the titles."""
    before = decode_thread_cursor(cursor) if cursor else None
    views = await container.threads.list_owned(user.id, query=query, before=before, limit=limit + 1)
    shown = views[:limit]
    last = shown[-1].thread if len(views) > limit else None
    return ThreadList(
        items=[ThreadOut.of(view) for view in shown],
        next_cursor=encode_thread_cursor(last.updated_at, last.id) if last else None,
    )


@router.get("/{thread_id}", responses=OWNED)
async def get_thread(thread: OwnedThread, container: ContainerDep) -> ThreadOut:
    return ThreadOut.of(await container.threads.view(thread))


@router.patch("/{thread_id}", responses=OWNED)
async def rename_thread(body: ThreadPatch, thread: OwnedThread, container: ContainerDep) -> ThreadOut:
    return ThreadOut.of(await container.threads.rename(thread, body.title))


@router.delete("/{thread_id}", status_code=status.HTTP_204_NO_CONTENT, responses=OWNED)
async def delete_thread(thread: OwnedThread, container: ContainerDep) -> None:
    """Delete the conversation with its files, its runs, its checkpoints and its sandbox."""
    await container.threads.delete(thread)


@router.get("/{thread_id}/messages", responses={**OWNED, **problem_responses(RuntimeUnavailableError)})
async def list_messages(thread: OwnedThread, container: ContainerDep) -> MessageList:
    messages = await container.messages.list_messages(thread)
    return MessageList(items=[MessageOut.model_validate(message, from_attributes=True) for message in messages])


@router.get("/{thread_id}/files", responses=OWNED)
async def list_files(thread: OwnedThread, container: ContainerDep) -> FileList:
    return FileList(items=[FileOut.of(file) for file in await container.files.list_files(thread.id)])


@router.get(
    "/{thread_id}/files/{file_id}/preview",
    responses={
        **OWNED,
        **problem_responses(PreviewFailedError, InvalidRequestError, SandboxUnavailableError, StorageUnavailableError),
    },
)
async def preview_file(
    file_id: UUID,
    thread: OwnedThread,
    container: ContainerDep,
    sheet: Annotated[str | None, Query(max_length=200)] = None,
    offset: Annotated[int, Query(ge=0)] = 0,
    limit: Annotated[int, Query(ge=1, le=MAX_PREVIEW_ROWS)] = 100,
) -> Preview:
    """One page of a table, or the start of a text."""
    file = await container.files.get_file(thread.id, file_id)
    return await container.previews.preview(file, sheet=sheet, offset=offset, limit=limit)


@router.delete(
    "/{thread_id}/files/{file_id}",
    status_code=status.HTTP_204_NO_CONTENT,
    responses={**OWNED, **problem_responses(ThreadBusyError, StorageUnavailableError)},
)
async def delete_file(file_id: UUID, thread: OwnedThread, container: ContainerDep) -> None:
    await container.files.delete_file(thread, file_id)


@router.get("/{thread_id}/runs", responses=OWNED)
async def list_runs(
    thread: OwnedThread, container: ContainerDep, cursor: UUID | None = None, limit: Limit = 50
) -> RunList:
    runs = await container.runs.list_runs(thread.id, before=cursor, limit=limit + 1)
    shown = runs[:limit]
    return RunList(
        items=[RunOut.of(run) for run in shown], next_cursor=str(shown[-1].id) if len(runs) > limit else None
    )


@router.get("/{thread_id}/runs/{run_id}", responses=OWNED)
async def get_run(run_id: UUID, thread: OwnedThread, container: ContainerDep) -> RunOut:
    return RunOut.of(await container.runs.get(thread.id, run_id))


@router.post(
    "/{thread_id}/runs/{run_id}/cancel",
    status_code=status.HTTP_202_ACCEPTED,
    responses={**OWNED, **problem_responses(RuntimeUnavailableError)},
)
async def cancel_run(run_id: UUID, thread: OwnedThread, container: ContainerDep) -> RunOut:
    """Stop a run. One that has ended already is given back as it is."""
    return RunOut.of(await container.runs.cancel(thread, run_id))
