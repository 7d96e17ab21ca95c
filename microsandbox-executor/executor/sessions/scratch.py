"""Where sessions lie on the scratch disk: a folder for each slot, in it one for each incarnation."""

import re
import time
from pathlib import Path

# One that has just been emptied may be about to be filled again.
_LONG_SECONDS = 3600
_SLOT = re.compile(r"^[0-9a-f]{32}$")


def folder_name(generation: str) -> str:
    """A generation as a folder's name; a colon has no place in a path that is mounted."""
    return generation.replace(":", "-")


def session_folder(scratch: Path, session_id: str, generation: str) -> Path:
    return scratch / session_id / folder_name(generation)


def session_folders(scratch: Path) -> list[Path]:
    """The folders of all incarnations that are there. Slots that have long been empty are removed."""
    found = []
    for slot in sorted(scratch.iterdir()):
        if not _SLOT.match(slot.name):
            continue
        inside = sorted(slot.iterdir())
        found += inside
        if not inside and time.time() - slot.stat().st_mtime > _LONG_SECONDS:
            slot.rmdir()
    return found
