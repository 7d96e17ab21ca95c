"""Files of a thread: uploads through presigned URLs, artifacts that the sandbox reported, downloads."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import PurePosixPath
from uuid import UUID

import structlog
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession
from uuid_utils.compat import uuid7

from app.clients.executor import Change, SessionInput
from app.db.models import Thread, ThreadFile, UploadIntent
from app.db.repositories.audit import record_audit_event
from app.db.repositories.files import FileRepository, UploadIntentRepository
from app.db.repositories.runs import RunRepository
from app.db.session import Database
from app.errors import (
    InvalidRequestError,
    NotFoundError,
    ThreadBusyError,
    UploadExpiredError,
    UploadMismatchError,
    UploadMissingError,
    UploadTooLargeError,
)
from app.storage.object_keys import guest_name, numbered_name, upload_key
from app.storage.object_store import ObjectStore, PresignedRequest

logger = structlog.get_logger(__name__)

_UPLOADS = "/uploads"
_ARTIFACTS = "/artifacts/"
_COMPLETION_ATTEMPTS = 5
# A slow upload that began in time may still be completed for this long after its URL has expired.
_COMPLETION_GRACE = timedelta(hours=1)
_DEFAULT_CONTENT_TYPE = "application/octet-stream"


@dataclass(frozen=True, slots=True)
class UploadLimits:
    """`max_bytes` of one file; `ttl_seconds` of a presigned URL."""

    max_bytes: int
    ttl_seconds: int


@dataclass(frozen=True, slots=True)
class PresignedUpload:
    upload_id: UUID
    object_key: str
    request: PresignedRequest


class FileService:
    """The caller has checked that the thread is the user's own."""

    def __init__(self, database: Database, store: ObjectStore, limits: UploadLimits) -> None:
        self._database = database
        self._store = store
        self._limits = limits

    async def presign_upload(self, thread: Thread, *, filename: str, content_type: str, size: int) -> PresignedUpload:
        """Announce a file and get the one request that may bring it."""
        if size > self._limits.max_bytes:
            raise UploadTooLargeError(
                f"{filename} has {size:,} bytes; the most is {self._limits.max_bytes:,}",
                max_bytes=self._limits.max_bytes,
            )
        if size == 0:
            raise InvalidRequestError(f"{filename} is empty: there is nothing in it to analyse")
        upload_id = uuid7()
        intent = UploadIntent(
            id=upload_id,
            thread_id=thread.id,
            object_key=upload_key(thread.id, upload_id, filename),
            filename=guest_name(filename),
            content_type=content_type or _DEFAULT_CONTENT_TYPE,
            size=size,
            expires_at=datetime.now(UTC) + timedelta(seconds=self._limits.ttl_seconds),
        )
        async with self._database.transaction() as session:
            await UploadIntentRepository(session).add(intent)
        request = await self._store.presign_put(
            intent.object_key,
            content_type=intent.content_type,
            size=size,
            ttl_seconds=self._limits.ttl_seconds,
        )
        return PresignedUpload(upload_id, intent.object_key, request)

    async def complete_upload(self, thread: Thread, *, upload_id: UUID, sha256: str | None) -> ThreadFile:
        """Verify what arrived by its real size and hash, and make it a file of the thread. Repeating it is harmless."""
        async with self._database.transaction() as session:
            intent = await UploadIntentRepository(session).get(thread_id=thread.id, upload_id=upload_id)
            if intent is None:
                raise NotFoundError
            done = await FileRepository(session).get_by_key(thread_id=thread.id, object_key=intent.object_key)
        if done is not None:
            return done
        if intent.expires_at + _COMPLETION_GRACE < datetime.now(UTC):
            raise UploadExpiredError
        actual_hash = await self._verify(intent, sha256)
        for _ in range(_COMPLETION_ATTEMPTS):
            try:
                return await self._register_upload(intent, actual_hash)
            except IntegrityError:
                # Another upload took the same guest path (or completed this one) in between: look again.
                logger.info("upload_path_taken", upload_id=str(upload_id))
        raise UploadMismatchError("too many uploads of this name at once; try again")

    async def _verify(self, intent: UploadIntent, announced_sha256: str | None) -> str:
        stored = await self._store.stat(intent.object_key)
        if stored is None:
            raise UploadMissingError
        if stored.size != intent.size:
            await self._store.delete(intent.object_key)
            raise UploadMismatchError(f"{intent.size:,} bytes were announced, {stored.size:,} arrived")
        actual = await self._store.sha256(intent.object_key)
        if announced_sha256 and announced_sha256.lower() != actual:
            await self._store.delete(intent.object_key)
            raise UploadMismatchError("the file changed on its way: its SHA-256 is not the announced one")
        return actual

    async def _register_upload(self, intent: UploadIntent, sha256: str) -> ThreadFile:
        async with self._database.transaction() as session:
            files = FileRepository(session)
            done = await files.get_by_key(thread_id=intent.thread_id, object_key=intent.object_key)
            if done is not None:
                return done
            taken = await files.guest_paths(intent.thread_id)
            file = await files.add(
                ThreadFile(
                    thread_id=intent.thread_id,
                    kind="upload",
                    object_key=intent.object_key,
                    filename=intent.filename,
                    guest_path=_free_guest_path(intent.filename, taken),
                    content_type=intent.content_type,
                    size=intent.size,
                    sha256=sha256,
                    created_by="user",
                )
            )
            await UploadIntentRepository(session).complete(intent.id)
            return file

    async def list_files(self, thread_id: UUID) -> Sequence[ThreadFile]:
        async with self._database.transaction() as session:
            return await FileRepository(session).list_of(thread_id)

    async def get_file(self, thread_id: UUID, file_id: UUID) -> ThreadFile:
        async with self._database.transaction() as session:
            file = await FileRepository(session).get(thread_id=thread_id, file_id=file_id)
        if file is None:
            raise NotFoundError
        return file

    async def presign_download(self, file: ThreadFile, *, inline: bool) -> PresignedRequest:
        return await self._store.presign_get(
            file.object_key,
            filename=file.filename,
            content_type=file.content_type,
            inline=inline,
            ttl_seconds=self._limits.ttl_seconds,
        )

    async def delete_file(self, thread: Thread, file_id: UUID) -> None:
        """Remove a file; not while a run may be reading it."""
        async with self._database.transaction() as session:
            files = FileRepository(session)
            file = await files.get(thread_id=thread.id, file_id=file_id)
            if file is None:
                raise NotFoundError
            if await RunRepository(session).get_active(thread.id):
                raise ThreadBusyError
            await files.remove(file.id)
            await record_audit_event(session, "file_deleted", user_id=thread.owner_id, target=str(file.id))
        await self._store.delete(file.object_key)

    async def staged_inputs(self, thread_id: UUID) -> list[SessionInput]:
        """Every upload of the thread as the sandbox is to see it."""
        async with self._database.transaction() as session:
            uploads = await FileRepository(session).list_of(thread_id, kind="upload")
        return [
            SessionInput(object_key=file.object_key, path=file.guest_path, size=file.size, sha256=file.sha256)
            for file in uploads
        ]

    async def remove_abandoned_uploads(self, *, limit: int = 100) -> int:
        """Drop uploads that were announced long ago and never completed, with what arrived of them."""
        async with self._database.transaction() as session:
            intents = await UploadIntentRepository(session).list_abandoned(
                before=datetime.now(UTC) - 2 * _COMPLETION_GRACE, limit=limit
            )
        for intent in intents:
            await self._store.delete(intent.object_key)
            async with self._database.transaction() as session:
                await UploadIntentRepository(session).remove(intent.id)
        return len(intents)


async def register_artifacts(
    session: AsyncSession, *, thread_id: UUID, run_id: UUID | None, changes: Sequence[Change]
) -> list[ThreadFile]:
    """Make files of the persisted changes below /artifacts, each object key once; returns those that are new."""
    files = FileRepository(session)
    registered = []
    for change in changes:
        if change.op == "deleted" or change.object_key is None or not change.path.startswith(_ARTIFACTS):
            continue
        file = await files.add_artifact_once(
            {
                "id": uuid7(),
                "thread_id": thread_id,
                "kind": "artifact",
                "object_key": change.object_key,
                "filename": PurePosixPath(change.path).name,
                "guest_path": change.path,
                "content_type": change.content_type or _DEFAULT_CONTENT_TYPE,
                "size": change.size,
                "sha256": change.sha256 or "",
                "version": change.version,
                "created_by": "agent",
                "source_run_id": run_id,
            }
        )
        if file is None:
            continue
        if run_id is not None:
            await files.link_to_run(run_id=run_id, file_id=file.id)
        registered.append(file)
    return registered


def _free_guest_path(filename: str, taken: set[str]) -> str:
    path = f"{_UPLOADS}/{filename}"
    number = 2
    while path in taken:
        path = f"{_UPLOADS}/{numbered_name(filename, number)}"
        number += 1
    return path
