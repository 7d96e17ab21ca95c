"""Remembers by content what a step was last done for. Plain standard library, Python >= 3.8."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Iterable

if TYPE_CHECKING:
    from pathlib import Path


def fingerprint(paths: Iterable[Path], *words: str, ignored: frozenset[str] = frozenset()) -> str:
    """A hash of `words` and of the files' names and content; folders are walked, names in `ignored` left out."""
    digest = hashlib.sha256()
    for word in words:
        digest.update(word.encode() + b"\0")
    for path in paths:
        for file in _files(path, ignored):
            digest.update(str(file.relative_to(path.parent)).encode() + b"\0")
            digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()


class Stamp:
    """The fingerprint that a finished step leaves inside what it made, so that both are deleted together."""

    def __init__(self, file: Path, wanted: str) -> None:
        self._file = file
        self._wanted = wanted

    def is_current(self) -> bool:
        """Whether the step was last finished for the same content."""
        try:
            return self._file.read_text("utf-8") == self._wanted
        except FileNotFoundError:
            return False

    def forget(self) -> None:
        """Before the step: if it is broken off, it is done again."""
        if self._file.exists():
            self._file.unlink()

    def remember(self) -> None:
        """After the step."""
        self._file.parent.mkdir(parents=True, exist_ok=True)
        self._file.write_text(self._wanted, "utf-8")


def _files(path: Path, ignored: frozenset[str]) -> Iterable[Path]:
    if path.is_file():
        yield path
    elif path.is_dir():
        for child in sorted(path.iterdir()):
            if child.name not in ignored:
                yield from _files(child, ignored)
