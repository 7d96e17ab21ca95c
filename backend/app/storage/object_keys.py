"""Names: of objects in the bucket, and of files in the guest. The original file name is never trusted as either."""

import re
import unicodedata
from uuid import UUID

MAX_NAME_BYTES = 255
_KEY_NAME_CHARACTERS = 120
_UNSAFE_IN_KEYS = re.compile(r"[^A-Za-z0-9._-]+")
_LONGEST_EXTENSION = 16


def workspace_prefix(thread_id: UUID) -> str:
    """Everything of a thread lies below this prefix."""
    return f"threads/{thread_id}"


def upload_key(thread_id: UUID, upload_id: UUID, filename: str) -> str:
    return f"{workspace_prefix(thread_id)}/uploads/{upload_id}/{key_name(filename)}"


def key_name(filename: str) -> str:
    """A short ASCII form of a file name, its extension kept."""
    stem, extension = _split(unicodedata.normalize("NFKD", filename))
    safe_stem = _UNSAFE_IN_KEYS.sub("_", stem).strip("._") or "file"
    safe_extension = _UNSAFE_IN_KEYS.sub("", extension)
    return safe_stem[: _KEY_NAME_CHARACTERS - len(safe_extension)] + safe_extension


def guest_name(filename: str) -> str:
    """The file name as the guest and the person see it: one path component of at most 255 bytes, else unchanged."""
    name = unicodedata.normalize("NFC", filename)
    name = "".join("_" if character in "/\\" or _is_control(character) else character for character in name).strip()
    if name.strip(".") == "":
        name = "file"
    return _fit(name, "")


def numbered_name(name: str, number: int) -> str:
    """`sales.csv` -> `sales (2).csv`, still within 255 bytes."""
    return _fit(name, f" ({number})")


def _split(name: str) -> tuple[str, str]:
    stem, dot, extension = name.rpartition(".")
    if not dot or not stem or len(extension) > _LONGEST_EXTENSION:
        return name, ""
    return stem, f".{extension}"


def _fit(name: str, suffix: str) -> str:
    stem, extension = _split(name)
    room = MAX_NAME_BYTES - len(suffix.encode()) - len(extension.encode())
    while len(stem.encode()) > room:
        stem = stem[:-1]
    return f"{stem}{suffix}{extension}"


def _is_control(character: str) -> bool:
    return (
        unicodedata.category(character) in {"Cc", "Cs", "Zl", "Zp"}
        or character in "\u202a\u202b\u202d\u202e\u2066\u2067\u2068"
    )
