"""Keys of what a workspace persists. A file name is never trusted as a key."""

import re
import unicodedata
from uuid import UUID

from executor.policy.guest_paths import GuestPath

MAX_KEY_BYTES = 1024  # what S3 takes
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
# Object stores differ in what they make of control characters; the escape sign itself must be escaped too.
_CONTROL = re.compile(r"[\x00-\x1f\x7f%\\]")
_NAME_CHARACTERS = 120


def workspace_key(workspace: str, path: GuestPath) -> str:
    """The key of a working file's newest content."""
    escaped = _CONTROL.sub(lambda match: f"%{ord(match.group()):02X}", "/".join(path.parts))
    return f"{workspace}/workspace/{escaped}"


def artifact_key(workspace: str, artifact_id: UUID, filename: str) -> str:
    """The key of one version of an artifact: its id makes it unique, the name is a short ASCII form."""
    stem, dot, extension = unicodedata.normalize("NFKD", filename).rpartition(".")
    if not dot or not stem:
        stem, extension = filename, ""
    safe_extension = _UNSAFE.sub("", extension)[:16]
    safe = _UNSAFE.sub("_", stem).strip("._")[:_NAME_CHARACTERS] or "file"
    return f"{workspace}/artifacts/{artifact_id}/{safe}{'.' + safe_extension if safe_extension else ''}"
