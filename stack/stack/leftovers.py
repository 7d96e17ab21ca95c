"""Children that outlived a supervisor which was killed: known by pid and start time, and ended before a new start."""

import json
from pathlib import Path

import psutil

_TERM_SECONDS = 10.0


class ChildRegister:
    """The running children in a file, so that the next supervisor recognises them."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._children: dict[str, tuple[int, float]] = {}

    def add(self, name: str, pid: int) -> None:
        """Remember a child that was just started."""
        try:
            self._children[name] = (pid, psutil.Process(pid).create_time())
        except psutil.NoSuchProcess:
            return
        self._save()

    def remove(self, name: str) -> None:
        """Forget a child that ended."""
        if self._children.pop(name, None):
            self._save()

    def end_leftovers(self) -> list[str]:
        """End every child of an earlier supervisor that still runs; returns their names."""
        found: dict[str, psutil.Process] = {}
        for name, (pid, created) in self._load().items():
            process = _same_process(pid, created)
            if process is not None:
                found[name] = process
        for process in found.values():
            process.terminate()
        _, alive = psutil.wait_procs(list(found.values()), timeout=_TERM_SECONDS)
        for process in alive:
            process.kill()
        psutil.wait_procs(alive, timeout=_TERM_SECONDS)
        self._save()
        return sorted(found)

    def _load(self) -> dict[str, tuple[int, float]]:
        try:
            content = json.loads(self._path.read_text("utf-8"))
        except (FileNotFoundError, ValueError):
            return {}
        return {name: (int(pid), float(created)) for name, (pid, created) in content.items()}

    def _save(self) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        temporary = self._path.with_suffix(".tmp")
        temporary.write_text(json.dumps(self._children), "utf-8")
        temporary.replace(self._path)


def _same_process(pid: int, created: float) -> psutil.Process | None:
    """The process `pid` when it is the one that started at `created`, and not a later one with its number."""
    try:
        process = psutil.Process(pid)
        if abs(process.create_time() - created) < 1.0 and process.status() != psutil.STATUS_ZOMBIE:
            return process
    except psutil.NoSuchProcess:
        pass
    return None
