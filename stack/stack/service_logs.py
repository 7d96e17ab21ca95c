"""One log file a service, rotated by size when the service starts."""

import os
from pathlib import Path

_ROTATE_BYTES = 10 * 1024 * 1024
_KEPT_FILES = 3
_TAIL_BYTES = 64 * 1024


def log_path(log_dir: Path, name: str) -> Path:
    """Where `name` logs."""
    return log_dir / f"{name}.log"


def open_log(log_dir: Path, name: str) -> int:
    """A file descriptor that appends to the log of `name`; the caller closes it."""
    log_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = log_path(log_dir, name)
    if path.exists() and path.stat().st_size > _ROTATE_BYTES:
        _rotate(path)
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)


def last_lines(log_dir: Path, name: str, count: int = 12) -> list[str]:
    """The newest lines of the log of `name`; empty when there is none."""
    path = log_path(log_dir, name)
    if not path.exists():
        return []
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _TAIL_BYTES))
        text = file.read().decode("utf-8", errors="replace")
    return [line for line in text.splitlines() if line.strip()][-count:]


def _rotate(path: Path) -> None:
    for number in range(_KEPT_FILES, 1, -1):
        older = path.with_name(f"{path.name}.{number - 1}")
        if older.exists():
            older.replace(path.with_name(f"{path.name}.{number}"))
    path.replace(path.with_name(f"{path.name}.1"))
