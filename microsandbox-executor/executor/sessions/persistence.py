"""What a command has changed, found by fingerprint and made durable: cost follows the change, not the workspace."""

import asyncio
import hashlib
from collections.abc import Coroutine, Iterable
from dataclasses import dataclass, field
from typing import Any, BinaryIO
from uuid import UUID

import structlog
from anyio import to_thread
from uuid_utils.compat import uuid7

from executor.errors import FileNotFoundInGuestError, InputMismatchError, PermissionDeniedError
from executor.metadata.database import Database
from executor.metadata.models import Change, WorkspaceFile
from executor.metadata.sessions import SessionRepository
from executor.metadata.workspaces import PersistedChange, WorkspaceRepository
from executor.policy.content_types import content_type_of
from executor.policy.guest_paths import parse_guest_path
from executor.policy.object_keys import artifact_key, workspace_key
from executor.sessions.guest_tree import Entry, Fingerprint, GuestTree
from executor.storage.object_store import ObjectStore

logger = structlog.get_logger(__name__)

_PARALLEL_TRANSFERS = 4
_MAX_LEFT_OUT = 100
_HASH_CHUNK = 1024 * 1024


@dataclass(slots=True)
class _Known:
    """A path's persisted state; `fingerprint` is None when the file on disk has not been looked at since a restart."""

    row: WorkspaceFile
    fingerprint: Fingerprint | None = None


@dataclass(frozen=True, slots=True)
class Delta:
    """Recorded changes, the workspace's newest number, and what was left out with the reason."""

    changes: list[Change]
    seq: int
    left_out: dict[str, str]


@dataclass(slots=True)
class WorkspacePersistence:
    """Keeps one workspace's disk and store in step. One caller at a time: its lock is the workspace's write lock."""

    workspace: str
    tree: GuestTree
    store: ObjectStore
    database: Database
    max_file_bytes: int
    _known: dict[str, _Known] = field(default_factory=dict)
    _seq: int = 0
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def load(self) -> None:
        """Read the persisted state; every file on disk will be compared by content once."""
        async with self.database.transaction() as session:
            repository = WorkspaceRepository(session)
            self._known = {row.path: _Known(row) for row in await repository.files(self.workspace)}
            self._seq = await repository.seq(self.workspace)

    @property
    def newest_seq(self) -> int:
        return self._seq

    async def hydrate(self) -> int:
        """Bring every persisted file back onto an empty disk; returns how many."""
        present = [known for known in self._known.values() if not known.row.deleted]
        await _in_parallel(self._fetch(known) for known in present)
        return len(present)

    async def _fetch(self, known: _Known) -> None:
        path = parse_guest_path(known.row.path)
        key = known.row.object_key
        if key is None:
            return
        replacing = self.tree.replacing(path)
        _, partial_path = await to_thread.run_sync(replacing.__enter__)
        try:
            digest = await self.store.download(key, partial_path)
            if digest != known.row.sha256:
                raise InputMismatchError(f"{path}: the stored object is not what was recorded")
        except BaseException as error:
            await to_thread.run_sync(replacing.__exit__, type(error), error, error.__traceback__)
            raise
        await to_thread.run_sync(replacing.__exit__, None, None, None)
        await to_thread.run_sync(self.tree.set_mode, path, known.row.mode)
        entry = await to_thread.run_sync(self.tree.stat_file, path)
        known.fingerprint = entry.fingerprint if entry else None

    async def persist(self) -> Delta:
        """Make every difference of the disk durable. What it returns is in the store and in the database."""
        async with self._lock:
            files, left_out = await to_thread.run_sync(self.tree.scan_persisted)
            touched = [entry for path, entry in files.items() if self._fingerprint_of(path) != entry.fingerprint]
            changes: list[PersistedChange] = []
            obsolete: list[str] = []

            async def look_at(entry: Entry) -> None:
                change = await self._saved(entry, left_out)
                if change is not None:
                    changes.append(change)

            await _in_parallel(look_at(entry) for entry in touched)
            for path, known in self._known.items():
                if path not in files and not known.row.deleted:
                    changes.append(_deletion(known.row))
                    if known.row.artifact_id is None and known.row.object_key:
                        obsolete.append(known.row.object_key)
            changes.sort(key=lambda change: change.path)
            recorded = await self._record(changes)
            for path, entry in files.items():
                if path in self._known and path not in left_out:
                    self._known[path].fingerprint = entry.fingerprint
            if obsolete:
                await self.store.delete(obsolete)
            if len(left_out) > _MAX_LEFT_OUT:
                rest = len(left_out) - _MAX_LEFT_OUT
                left_out = dict(list(left_out.items())[:_MAX_LEFT_OUT]) | {"…": f"and {rest} more"}
            return Delta(recorded, self._seq, left_out)

    def _fingerprint_of(self, path: str) -> Fingerprint | None:
        known = self._known.get(path)
        return known.fingerprint if known else None

    async def _saved(self, entry: Entry, left_out: dict[str, str]) -> PersistedChange | None:
        """Upload one file if its content is new; None when it is not, or when it is left out."""
        path = str(entry.path)
        known = self._known.get(path)
        if entry.fingerprint.size > self.max_file_bytes:
            left_out[path] = f"larger than {self.max_file_bytes:,} bytes"
            return None
        try:
            source = await to_thread.run_sync(self.tree.open_file, entry.path)
        except (FileNotFoundInGuestError, PermissionDeniedError) as error:
            left_out[path] = error.detail
            return None
        with source:
            digest, size = await to_thread.run_sync(_digest, source)
            if known is not None and not known.row.deleted and known.row.sha256 == digest:
                return None
            artifact_id, key = self._key_for(entry)
            if key is None:
                left_out[path] = "its path is too long or is not UTF-8"
                return None
            content_type = content_type_of(entry.path.name)
            await self.store.upload(source, key, content_type=content_type)
        version = known.row.version + 1 if known else 1
        op = "created" if known is None or known.row.deleted else "modified"
        return PersistedChange(path, op, key, artifact_id, version, size, digest, content_type, entry.mode)

    def _key_for(self, entry: Entry) -> tuple[UUID | None, str | None]:
        if entry.path.folder == "artifacts":
            artifact_id: UUID = uuid7()
            return artifact_id, artifact_key(self.workspace, artifact_id, entry.path.name)
        return None, workspace_key(self.workspace, entry.path)

    async def _record(self, changes: list[PersistedChange]) -> list[Change]:
        if not changes:
            return []
        async with self.database.transaction() as session:
            locked = await SessionRepository(session).lock_workspace(self.workspace)
            recorded = await WorkspaceRepository(session).record(locked, changes)
            self._seq = locked.seq
        for change in changes:
            row = WorkspaceFile(
                workspace=self.workspace,
                path=change.path,
                object_key=change.object_key,
                artifact_id=change.artifact_id,
                version=change.version,
                size=change.size,
                sha256=change.sha256 or "",
                content_type=change.content_type or "",
                mode=change.mode,
                deleted=change.op == "deleted",
            )
            self._known[change.path] = _Known(row)
        logger.info("workspace_persisted", workspace=self.workspace, changes=len(changes), seq=self._seq)
        return recorded


def _deletion(row: WorkspaceFile) -> PersistedChange:
    return PersistedChange(row.path, "deleted", None, None, row.version, 0, None, None, row.mode)


def _digest(source: BinaryIO) -> tuple[str, int]:
    """Hash an open file and go back to its start."""
    hasher = hashlib.sha256()
    size = 0
    while chunk := source.read(_HASH_CHUNK):
        hasher.update(chunk)
        size += len(chunk)
    source.seek(0)
    return hasher.hexdigest(), size


async def _in_parallel(jobs: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Await coroutines, a few at a time; the first error ends the others."""
    gate = asyncio.Semaphore(_PARALLEL_TRANSFERS)

    async def gated(job: Coroutine[Any, Any, None]) -> None:
        async with gate:
            await job

    try:
        async with asyncio.TaskGroup() as group:
            for job in jobs:
                group.create_task(gated(job))
    except BaseExceptionGroup as group_error:
        raise group_error.exceptions[0] from group_error
