"""One running stack a DATA_DIR: a lock that dies with its holder, and a file that says who and where it is."""

import fcntl
import os
import signal
import time
from pathlib import Path
from typing import Literal

import psutil
from pydantic import BaseModel, ConfigDict

_POLL_SECONDS = 0.1


class RunningStack(BaseModel):
    """What a running stack says about itself."""

    model_config = ConfigDict(frozen=True)

    pid: int
    created: float
    state: Literal["starting", "ready", "stopping"]
    page_url: str

    def process(self) -> psutil.Process | None:
        """The supervisor, unless it is gone (or another process got its number)."""
        try:
            process = psutil.Process(self.pid)
            return process if abs(process.create_time() - self.created) < 1.0 else None
        except psutil.NoSuchProcess:
            return None


class AlreadyRunningError(Exception):
    """Another supervisor holds this DATA_DIR."""

    def __init__(self, running: RunningStack | None) -> None:
        self.running = running
        where = f" at {running.page_url} (pid {running.pid})" if running else ""
        super().__init__(f"The stack is already running{where}. `make stop` stops it.")


class InstanceLock:
    """Held for as long as the supervisor lives. The kernel lets go of it however the supervisor ends."""

    def __init__(self, data_dir: Path, page_url: str) -> None:
        self._data_dir = data_dir
        self._page_url = page_url
        self._descriptor: int | None = None

    def acquire(self) -> None:
        """Raises AlreadyRunningError when another supervisor has it."""
        self._data_dir.mkdir(mode=0o711, parents=True, exist_ok=True)
        descriptor = os.open(self._data_dir / "stack.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            raise AlreadyRunningError(read_running(self._data_dir)) from None
        self._descriptor = descriptor

    def announce(self, state: Literal["starting", "ready", "stopping"]) -> None:
        """Say in which state the stack is."""
        me = psutil.Process()
        running = RunningStack(pid=me.pid, created=me.create_time(), state=state, page_url=self._page_url)
        temporary = _state_file(self._data_dir).with_suffix(".tmp")
        temporary.write_text(running.model_dump_json(), "utf-8")
        temporary.replace(_state_file(self._data_dir))

    def release(self) -> None:
        """Take the announcement back and let go."""
        if self._descriptor is not None:
            _state_file(self._data_dir).unlink(missing_ok=True)
            os.close(self._descriptor)
            self._descriptor = None


def read_running(data_dir: Path) -> RunningStack | None:
    """The stack that runs on this DATA_DIR, if one does. A file left by a killed supervisor does not count."""
    try:
        running = RunningStack.model_validate_json(_state_file(data_dir).read_text("utf-8"))
    except (FileNotFoundError, ValueError):
        return None
    return running if running.process() else None


def stop_running(data_dir: Path, seconds: float) -> RunningStack | None:
    """Ask the running stack to stop and wait for its end. Returns it, or None when none ran.

    Raises TimeoutError when it is still there after `seconds`.
    """
    running = read_running(data_dir)
    process = running.process() if running else None
    if running is None or process is None:
        return None
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(seconds)
    except psutil.TimeoutExpired:
        raise TimeoutError(f"the stack (pid {running.pid}) did not stop within {seconds:.0f} s") from None
    return running


def wait_until_ready(data_dir: Path, pid: int, seconds: float) -> RunningStack | None:
    """Wait until the supervisor `pid`, a child of this process, is ready. None when it ends or takes longer."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        running = read_running(data_dir)
        if running and running.pid == pid and running.state == "ready":
            return running
        if os.waitpid(pid, os.WNOHANG)[0] == pid:
            return None
        time.sleep(_POLL_SECONDS)
    return None


def _state_file(data_dir: Path) -> Path:
    return data_dir / "stack.json"
