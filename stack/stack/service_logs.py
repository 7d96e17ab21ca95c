"""One log file a service, rotated by size when the service starts."""

import json
import os
from pathlib import Path

_ROTATE_BYTES = 10 * 1024 * 1024
_KEPT_FILES = 3
_TAIL_BYTES = 64 * 1024
_LINE_CHARS = 400
# Said otherwise, or of no help to a person who wants to know why a service ended.
_PLAIN_FIELDS = frozenset({"event", "level", "timestamp", "logger", "exception", "lineno", "func_name", "filename"})


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
    """The newest lines of the log of `name`, made readable; empty when there is none."""
    path = log_path(log_dir, name)
    if not path.exists():
        return []
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _TAIL_BYTES))
        text = file.read().decode("utf-8", errors="replace")
    return [_readable(line) for line in text.splitlines() if line.strip()][-count:]


def _readable(line: str) -> str:
    """A structured entry as words: level, event, fields; of a stack trace its last line. Other lines as they are."""
    try:
        entry = json.loads(line)
    except ValueError:
        return line[:_LINE_CHARS]
    if not isinstance(entry, dict) or "event" not in entry:
        return line[:_LINE_CHARS]
    event = str(entry["event"]).strip().splitlines() or [""]
    fields = [f"{name}={value}" for name, value in entry.items() if name not in _PLAIN_FIELDS]
    trace = str(entry.get("exception", "")).strip().splitlines()[-1:]
    words = [str(entry.get("level", "")), event[-1], *fields, *trace]
    return " ".join(word for word in words if word)[:_LINE_CHARS]


def _rotate(path: Path) -> None:
    for number in range(_KEPT_FILES, 1, -1):
        older = path.with_name(f"{path.name}.{number - 1}")
        if older.exists():
            older.replace(path.with_name(f"{path.name}.{number}"))
    path.replace(path.with_name(f"{path.name}.1"))
