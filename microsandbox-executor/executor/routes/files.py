"""Files of a session, streamed in and out."""

import hashlib
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Annotated, BinaryIO, Literal

from anyio import to_thread
from fastapi import APIRouter, Query, Request, status
from fastapi.responses import StreamingResponse
from pydantic import BaseModel

from executor.errors import FileTooLargeError, PermissionDeniedError
from executor.policy.content_types import content_type_of
from executor.policy.guest_paths import GuestPath, parse_guest_path, printable
from executor.routes import guest_path_convertor
from executor.routes.dependencies import ServiceToken, get_services
from executor.sessions.guest_tree import folder_is_writable

guest_path_convertor.register()
router = APIRouter(prefix="/v1/sessions/{session}/files", tags=["files"], dependencies=[ServiceToken])

_CHUNK = 256 * 1024


class WrittenOut(BaseModel):
    path: str
    size: int
    sha256: str
    seq: int


class EntryOut(BaseModel):
    path: str
    type: Literal["file", "directory", "symlink", "other"]
    size: int
    modified_at: datetime


class EntriesOut(BaseModel):
    entries: list[EntryOut]


@router.get("")
async def list_files(
    session: str, request: Request, path: Annotated[str, Query(max_length=4096)] = "/workspace", recursive: bool = False
) -> EntriesOut:
    folder = parse_guest_path(path)
    async with get_services(request).sessions.using(session) as live:
        entries = await to_thread.run_sync(lambda: live.tree.list_entries(folder, recursive=recursive))
    return EntriesOut(
        entries=[
            EntryOut(
                path=printable(str(entry.path)),
                type=entry.type,
                size=entry.fingerprint.size,
                modified_at=datetime.fromtimestamp(entry.fingerprint.mtime_ns / 1e9, UTC),
            )
            for entry in entries
        ]
    )


@router.put("/{path:guest_path}")
async def write_file(session: str, path: str, request: Request) -> WrittenOut:
    """Put a file there in one step: a broken upload changes nothing. Its content is durable when this returns."""
    target = _writable(path)
    services = get_services(request)
    hasher = hashlib.sha256()
    size = 0
    async with services.sessions.using(session) as live:
        used = await to_thread.run_sync(live.tree.used_bytes)
        if used + int(request.headers.get("content-length", 0)) > services.settings.sandbox_disk_bytes:
            raise FileTooLargeError("The session's disk quota does not allow this; delete something first")
        replacing = live.tree.replacing(target)
        out, _ = await to_thread.run_sync(replacing.__enter__)
        try:
            async for chunk in request.stream():
                size += len(chunk)
                if size > services.settings.sandbox_file_bytes:
                    raise FileTooLargeError
                hasher.update(chunk)
                await to_thread.run_sync(out.write, chunk)
        except BaseException as error:
            await to_thread.run_sync(replacing.__exit__, type(error), error, error.__traceback__)
            raise
        await to_thread.run_sync(replacing.__exit__, None, None, None)
        seq = live.persistence.newest_seq
        if target.folder != "tmp":
            seq = (await live.persistence.persist(below=target)).seq
    return WrittenOut(path=str(target), size=size, sha256=hasher.hexdigest(), seq=seq)


@router.get("/{path:guest_path}")
async def read_file(session: str, path: str, request: Request) -> StreamingResponse:
    source_path = parse_guest_path(f"/{path}")
    async with get_services(request).sessions.using(session) as live:
        source = await to_thread.run_sync(live.tree.open_file, source_path)
    return StreamingResponse(
        _pieces(source),
        media_type=content_type_of(source_path.name),
        headers={"X-Content-Type-Options": "nosniff"},
    )


@router.delete("/{path:guest_path}", status_code=status.HTTP_204_NO_CONTENT)
async def delete_file(session: str, path: str, request: Request) -> None:
    target = _writable(path)
    async with get_services(request).sessions.using(session) as live:
        await to_thread.run_sync(live.tree.delete, target)
        if target.folder != "tmp":
            await live.persistence.persist(below=target)


def _writable(path: str) -> GuestPath:
    target = parse_guest_path(f"/{path}")
    if not folder_is_writable(target.folder):
        raise PermissionDeniedError(f"{target} is read-only")
    return target


async def _pieces(source: BinaryIO) -> AsyncIterator[bytes]:
    # An open file outlives its name and its session: what was begun is read to its end.
    with source:
        while chunk := await to_thread.run_sync(source.read, _CHUNK):
            yield chunk
