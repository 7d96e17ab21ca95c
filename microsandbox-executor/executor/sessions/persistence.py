"""What a command has changed, found by fingerprint and made durable: cost follows the change, not the workspace."""

import asyncio
import hashlib
import os
from collections.abc import Coroutine, Iterable
from dataclasses import dataclass, field
from typing import Any, BinaryIO
from uuid import UUID

import structlog
from anyio import to_thread
from uuid_utils.compat import uuid7

from executor.errors import ExecutorError, InputMismatchError, ObjectMissingError, ObjectRefusedError
from executor.metadata.database import Database
from executor.metadata.models import Change, WorkspaceFile
from executor.metadata.sessions import SessionRepository
from executor.metadata.workspaces import PersistedChange, WorkspaceRepository
from executor.policy.content_types import content_type_of
from executor.policy.guest_paths import GuestPath, parse_guest_path
from executor.policy.object_keys import MAX_KEY_BYTES, artifact_key, workspace_key
from executor.sessions.guest_tree import Entry, Fingerprint, GuestTree, Scan, fingerprint_of
from executor.storage.object_store import ObjectStore

logger = structlog.get_logger(__name__)

_PARALLEL_TRANSFERS = 8
_MAX_LEFT_OUT = 100
_HASH_CHUNK = 1024 * 1024
_STEADY_ATTEMPTS = 3


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


@dataclass(frozen=True, slots=True)
class _Saved:
    """A file whose content is in the store; `change` is None when it was there before."""

    path: str
    change: PersistedChange | None
    fingerprint: Fingerprint


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
            as_recorded = digest == known.row.sha256
            if not as_recorded and known.row.artifact_id is not None:
                raise InputMismatchError(f"{path}: the stored object is not what was recorded")
        except BaseException as error:
            await to_thread.run_sync(replacing.__exit__, type(error), error, error.__traceback__)
            if isinstance(error, ObjectMissingError):
                # The other files are no worse for it. The next look at the disk records that this one is gone.
                logger.error("stored_file_missing", workspace=self.workspace, path=str(path), object_key=key)
                return
            raise
        await to_thread.run_sync(replacing.__exit__, None, None, None)
        await to_thread.run_sync(self.tree.set_mode, path, known.row.mode)
        if not as_recorded:
            # The executor died between storing this working file and recording it: the object is the newer one, and
            # the next look at the disk records it.
            logger.warning("working_file_newer_than_recorded", workspace=self.workspace, path=str(path))
            return
        entry = await to_thread.run_sync(self.tree.stat_file, path)
        known.fingerprint = entry.fingerprint if entry else None

    async def persist(self, *, below: GuestPath | None = None) -> Delta:
        """Make every difference of the disk durable. What it returns is in the store and in the database.

        With `below`, only differences at and below that path: what else is there may be half written.
        """
        async with self._lock:
            scan = await to_thread.run_sync(self.tree.scan_persisted)
            touched = [
                entry
                for path, entry in scan.files.items()
                if _is_below(path, below) and self._fingerprint_of(path) != entry.fingerprint
            ]
            gone = [
                known.row
                for path, known in self._known.items()
                if _is_below(path, below) and not known.row.deleted and not _is_there(path, scan)
            ]
            # Some object stores keep no object at a key that others have as a folder.
            await self.store.delete(_keys_in_the_way(gone, touched))
            saved: list[_Saved] = []

            async def look_at(entry: Entry) -> None:
                result = await self._saved(entry, scan.left_out)
                if result is not None:
                    saved.append(result)

            await _in_parallel(look_at(entry) for entry in touched)
            changes = [item.change for item in saved if item.change is not None] + [_deletion(row) for row in gone]
            changes.sort(key=lambda change: change.path)
            recorded = await self._record(changes)
            for item in saved:
                self._known[item.path].fingerprint = item.fingerprint
            await self.store.delete([row.object_key for row in gone if row.artifact_id is None and row.object_key])
            return Delta(recorded, self._seq, _at_most(scan.left_out, _MAX_LEFT_OUT))

    def _fingerprint_of(self, path: str) -> Fingerprint | None:
        known = self._known.get(path)
        return known.fingerprint if known else None

    async def _saved(self, entry: Entry, left_out: dict[str, str]) -> _Saved | None:
        """Upload one file if its content is new; None when it is left out, with the reason in `left_out`."""
        path = str(entry.path)
        if entry.fingerprint.size > self.max_file_bytes:
            left_out[path] = f"larger than {self.max_file_bytes:,} bytes"
            return None
        if not self._is_storable(entry.path):
            left_out[path] = "its path is too long or is not UTF-8"
            return None
        try:
            source = await to_thread.run_sync(self.tree.open_file, entry.path)
        except ExecutorError as error:
            left_out[path] = error.detail
            return None
        with source:
            for _ in range(_STEADY_ATTEMPTS):
                before = fingerprint_of(source)
                try:
                    change = await self._uploaded(entry, source)
                except ObjectRefusedError as error:
                    left_out[path] = error.detail
                    return None
                if fingerprint_of(source) == before:
                    return _Saved(path, change, before)
        left_out[path] = "it was being written; it is stored after the command that writes it"
        return None

    def _is_storable(self, path: GuestPath) -> bool:
        try:
            str(path).encode("utf-8")
        except UnicodeEncodeError:
            return False
        return len(workspace_key(self.workspace, path).encode()) <= MAX_KEY_BYTES

    async def _uploaded(self, entry: Entry, source: BinaryIO) -> PersistedChange | None:
        """Store the content; None when it is stored already."""
        path = str(entry.path)
        known = self._known.get(path)
        digest, size = await to_thread.run_sync(_digest, source)
        if known is not None and not known.row.deleted and known.row.sha256 == digest:
            return None
        artifact_id, key = self._key_for(entry)
        content_type = content_type_of(entry.path.name)
        # The transfer closes what it is given, and this file is still to be looked at.
        with os.fdopen(os.dup(source.fileno()), "rb") as copy:
            await self.store.upload(copy, key, content_type=content_type)
        version = known.row.version + 1 if known else 1
        op = "created" if known is None or known.row.deleted else "modified"
        return PersistedChange(path, op, key, artifact_id, version, size, digest, content_type, entry.mode)

    def _key_for(self, entry: Entry) -> tuple[UUID | None, str]:
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


def _is_below(path: str, folder: GuestPath | None) -> bool:
    return folder is None or path == str(folder) or path.startswith(f"{folder}/")


def _is_there(path: str, scan: Scan) -> bool:
    """Whether a file is on the disk, or may be behind a folder that cannot be looked into."""
    return path in scan.files or path.startswith(tuple(scan.closed))


def _keys_in_the_way(gone: list[WorkspaceFile], coming: list[Entry]) -> list[str]:
    """Keys of working files that a folder has replaced, or whose folder a file has replaced."""
    files = {str(entry.path) for entry in coming}
    folders = {folder for file in files for folder in _folders_of(file)}
    return [
        row.object_key
        for row in gone
        if row.artifact_id is None
        and row.object_key
        and (row.path in folders or any(folder in files for folder in _folders_of(row.path)))
    ]


def _folders_of(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:count]) for count in range(2, len(parts))]


def _at_most(left_out: dict[str, str], count: int) -> dict[str, str]:
    if len(left_out) <= count:
        return left_out
    return dict(list(left_out.items())[:count]) | {"…": f"and {len(left_out) - count} more"}


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
        try:
            async with gate:
                await job
        finally:
            job.close()  # one that an error of another kept from beginning

    try:
        async with asyncio.TaskGroup() as group:
            for job in jobs:
                group.create_task(gated(job))
    except BaseExceptionGroup as group_error:
        raise group_error.exceptions[0] from group_error
