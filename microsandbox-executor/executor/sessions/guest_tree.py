"""A session's folders on the host's disk, walked without ever following a symlink that the guest has made.

Every step opens one name relative to an open folder with O_NOFOLLOW, so that no link, planted before or between two
steps, leads the executor out of the session.
"""

import contextlib
import os
import shutil
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Literal
from uuid import uuid4

from executor.errors import FileNotFoundInGuestError, InvalidPathError, IsDirectoryError, PermissionDeniedError
from executor.policy.guest_paths import PERSISTED, FolderName, GuestPath
from executor.runtime.base import GuestFolders

EntryType = Literal["file", "directory", "symlink", "other"]
_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_PARTIAL = ".partial-"


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What changes when a file's content does, without reading it. Times in nanoseconds."""

    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int


@dataclass(frozen=True, slots=True)
class Entry:
    path: GuestPath
    type: EntryType
    fingerprint: Fingerprint
    mode: int


@dataclass(frozen=True, slots=True)
class Scan:
    """What a look at the persisted folders found: regular files by guest path, and what else is there with the reason
    why it is not persisted. `closed` are the folders, each with a slash at its end, that could not be looked into."""

    files: dict[str, Entry] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    closed: list[str] = field(default_factory=list)


class GuestTree:
    """The four folders of a session. Blocking: call it in a worker thread."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.folders = GuestFolders(
            uploads=root / "uploads", workspace=root / "workspace", artifacts=root / "artifacts", tmp=root / "tmp"
        )

    def create(self) -> None:
        for name in ("uploads", "workspace", "artifacts", "tmp"):
            (self.root / name).mkdir(parents=True, exist_ok=True)

    def remove(self) -> None:
        """Delete everything, also what the guest has made unreadable."""

        def make_removable(function: object, path: str, error: BaseException) -> None:
            with contextlib.suppress(OSError):
                os.chmod(Path(path).parent, 0o700, follow_symlinks=False)  # Path follows links here
                if os.path.isdir(path) and not os.path.islink(path):
                    os.chmod(path, 0o700)
                    shutil.rmtree(path, ignore_errors=True)
                else:
                    os.unlink(path)

        shutil.rmtree(self.root, onexc=make_removable)

    @contextlib.contextmanager
    def _folder(self, path: GuestPath, *, make: bool = False) -> Iterator[int]:
        """An open descriptor of the folder that holds `path`."""
        descriptor = os.open(self.root / path.folder, _FOLDER_FLAGS)
        try:
            for part in path.parts[:-1]:
                try:
                    below = os.open(part, _FOLDER_FLAGS, dir_fd=descriptor)
                except FileNotFoundError:
                    if not make:
                        raise FileNotFoundInGuestError(f"{path} does not exist") from None
                    os.mkdir(part, 0o755, dir_fd=descriptor)
                    below = os.open(part, _FOLDER_FLAGS, dir_fd=descriptor)
                except NotADirectoryError:
                    raise FileNotFoundInGuestError(f"{path} goes through something that is no folder") from None
                os.close(descriptor)
                descriptor = below
            yield descriptor
        except OSError as error:
            raise _translated(error, path) from error
        finally:
            os.close(descriptor)

    def open_file(self, path: GuestPath) -> BinaryIO:
        """Open a regular file for reading."""
        if not path.parts:
            raise IsDirectoryError(f"{path} is a folder")
        with self._folder(path) as folder:
            descriptor = os.open(path.parts[-1], _READ_FLAGS, dir_fd=folder)
            status = os.fstat(descriptor)
            if stat.S_ISREG(status.st_mode) and status.st_mode & stat.S_IRUSR:
                return os.fdopen(descriptor, "rb")
            os.close(descriptor)
            if stat.S_ISDIR(status.st_mode):
                raise IsDirectoryError(f"{path} is a folder")
            raise PermissionDeniedError(f"{path} cannot be read")

    def stat_file(self, path: GuestPath) -> Entry | None:
        """The entry at a path, or None."""
        try:
            with self._folder(path) as folder:
                return _entry(path, os.stat(path.parts[-1], dir_fd=folder, follow_symlinks=False))
        except FileNotFoundInGuestError:
            return None

    @contextlib.contextmanager
    def replacing(self, path: GuestPath) -> Iterator[tuple[BinaryIO, Path]]:
        """Write a new file beside the target and put it there in one step; on an error nothing has changed.

        Yields the open file and its path on the host. Folders on the way are made.
        """
        if not path.parts:
            raise IsDirectoryError(f"{path} is a folder")
        with self._folder(path, make=True) as folder:
            existing = self.stat_file(path)
            if existing is not None and existing.type == "directory":
                raise IsDirectoryError(f"{path} is a folder")
            partial = f"{_PARTIAL}{uuid4().hex}"
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            descriptor = os.open(partial, flags, 0o644, dir_fd=folder)
            try:
                with os.fdopen(descriptor, "wb") as out:
                    yield out, Path(f"/proc/self/fd/{folder}") / partial
                os.rename(partial, path.parts[-1], src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(partial, dir_fd=folder)
                raise

    def delete(self, path: GuestPath) -> None:
        if not path.parts:
            raise PermissionDeniedError(f"{path} stays")
        with self._folder(path) as folder:
            status = os.stat(path.parts[-1], dir_fd=folder, follow_symlinks=False)
            if stat.S_ISDIR(status.st_mode):
                shutil.rmtree(path.parts[-1], dir_fd=folder)
            else:
                os.unlink(path.parts[-1], dir_fd=folder)

    def set_mode(self, path: GuestPath, mode: int) -> None:
        with self._folder(path) as folder:
            descriptor = os.open(path.parts[-1], _READ_FLAGS, dir_fd=folder)
            os.fchmod(descriptor, mode & 0o777)
            os.close(descriptor)

    def list_entries(self, path: GuestPath, *, recursive: bool, closed: list[GuestPath] | None = None) -> list[Entry]:
        """What lies in a folder, the folder itself left out, in order of name.

        Folders whose inside the guest has closed to their owner are added to `closed`.
        """
        with self._folder(GuestPath(path.folder, (*path.parts, "."))) as folder:
            return list(_walk(folder, path, recursive=recursive, closed=[] if closed is None else closed))

    def scan_persisted(self) -> Scan:
        """Everything that is to be persisted."""
        scan = Scan()
        closed: list[GuestPath] = []
        for name in PERSISTED:
            # The guest owns the folder and may have closed it; that must not lock its files up.
            os.chmod(self.root / name, 0o700)
            for entry in self.list_entries(GuestPath(name, ()), recursive=True, closed=closed):
                if entry.type == "file" and not entry.path.name.startswith(_PARTIAL):
                    scan.files[str(entry.path)] = entry
                elif entry.type == "symlink":
                    scan.left_out[str(entry.path)] = "a symbolic link; only its name exists"
                elif entry.type == "other":
                    scan.left_out[str(entry.path)] = "neither a file nor a folder"
        for folder in closed:
            scan.left_out[str(folder)] = "a folder that cannot be opened; what was stored of it stays stored"
            scan.closed.append(f"{folder}/")
        return scan

    def used_bytes(self) -> int:
        """Bytes on disk of everything the session holds, sparse files by what they take."""
        total = 0
        pending = [str(self.root / name) for name in ("workspace", "artifacts", "tmp")]
        while pending:
            with contextlib.suppress(OSError), os.scandir(pending.pop()) as entries:
                for entry in entries:
                    with contextlib.suppress(OSError):
                        status = entry.stat(follow_symlinks=False)
                        total += status.st_blocks * 512
                        if entry.is_dir(follow_symlinks=False):
                            pending.append(entry.path)
        return total


def folder_is_writable(folder: FolderName) -> bool:
    return folder != "uploads"


def _walk(folder: int, path: GuestPath, *, recursive: bool, closed: list[GuestPath]) -> Iterator[Entry]:
    with os.scandir(folder) as scanned:
        found = sorted(scanned, key=lambda item: item.name)
    for item in found:
        child = GuestPath(path.folder, (*path.parts, item.name))
        try:
            entry = _entry(child, item.stat(follow_symlinks=False))
        except FileNotFoundError:  # gone since the listing
            continue
        except PermissionError:
            closed.append(path)
            return
        yield entry
        if recursive and entry.type == "directory":
            try:
                below = os.open(item.name, _FOLDER_FLAGS, dir_fd=folder)
            except PermissionError:
                closed.append(child)
                continue
            except OSError:  # replaced since the listing
                continue
            try:
                yield from _walk(below, child, recursive=True, closed=closed)
            finally:
                os.close(below)


def fingerprint_of(file: BinaryIO) -> Fingerprint:
    """The fingerprint of an open file."""
    return _fingerprint(os.fstat(file.fileno()))


def _fingerprint(status: os.stat_result) -> Fingerprint:
    return Fingerprint(status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)


def _entry(path: GuestPath, status: os.stat_result) -> Entry:
    kinds: list[tuple[bool, EntryType]] = [
        (stat.S_ISREG(status.st_mode), "file"),
        (stat.S_ISDIR(status.st_mode), "directory"),
        (stat.S_ISLNK(status.st_mode), "symlink"),
    ]
    kind: EntryType = next((name for matches, name in kinds if matches), "other")
    return Entry(path, kind, _fingerprint(status), stat.S_IMODE(status.st_mode))


def _translated(error: OSError, path: GuestPath) -> Exception:
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return FileNotFoundInGuestError(f"{path} does not exist")
    if isinstance(error, IsADirectoryError):
        return IsDirectoryError(f"{path} is a folder")
    if isinstance(error, PermissionError):
        return PermissionDeniedError(f"{path} cannot be reached")
    if error.errno in {36, 40}:  # ENAMETOOLONG, ELOOP: a link where a file or folder should be
        return InvalidPathError(f"{path}: {error.strerror}")
    return error
