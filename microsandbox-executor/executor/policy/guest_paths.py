"""Paths of the guest as callers write them: absolute, below one of the four folders, nothing else."""

from dataclasses import dataclass
from typing import Literal

from executor.errors import InvalidPathError, PermissionDeniedError

FolderName = Literal["uploads", "workspace", "artifacts", "tmp"]
FOLDERS: tuple[FolderName, ...] = ("uploads", "workspace", "artifacts", "tmp")
PERSISTED: tuple[FolderName, ...] = ("workspace", "artifacts")
MAX_PATH_BYTES = 4096
MAX_NAME_BYTES = 255


@dataclass(frozen=True, slots=True)
class GuestPath:
    """`/workspace/a/b.txt` is folder `workspace` with parts `("a", "b.txt")`; the folder itself has no parts."""

    folder: FolderName
    parts: tuple[str, ...]

    def __str__(self) -> str:
        return "/" + "/".join((self.folder, *self.parts))

    @property
    def name(self) -> str:
        return self.parts[-1] if self.parts else self.folder


def parse_guest_path(text: str) -> GuestPath:
    """Raises `InvalidPathError` for what is no absolute path, `PermissionDeniedError` outside the four folders."""
    if not text.startswith("/") or "\x00" in text or len(text.encode("utf-8", "surrogatepass")) > MAX_PATH_BYTES:
        raise InvalidPathError(f"{text[:200]!r} is not an absolute path in the guest")
    parts = [part for part in text.split("/") if part not in {"", "."}]
    if ".." in parts:
        raise InvalidPathError(f"{text[:200]!r} goes upwards")
    if any(len(part.encode("utf-8", "surrogatepass")) > MAX_NAME_BYTES for part in parts):
        raise InvalidPathError("a name in the path is longer than 255 bytes")
    for folder in FOLDERS:
        if parts and parts[0] == folder:
            return GuestPath(folder, tuple(parts[1:]))
    raise PermissionDeniedError(f"{text[:200]!r} is not below /uploads, /workspace, /artifacts or /tmp")


def printable(path: str) -> str:
    """A path for JSON, which holds no bytes that are not UTF-8: replacement signs stand for those."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
