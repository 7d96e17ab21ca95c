"""One question from the command line against the stack, which is started for it when it is not running.

FILE, ASK, OUT, JSON and KEEP come from the environment, so that make passes them on as they were typed. Only the answer
goes to stdout.
"""

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from stack.instance import RunningStack, read_running, stop_running
from stack.secrets import load_or_create_secrets
from stack.settings import StackSettings

_STOP_SECONDS = 100.0
_USAGE = 'usage: make demo FILE=data.csv ASK="revenue by month" [OUT=folder] [JSON=1] [KEEP=1]'


class DemoUsageError(Exception):
    """The call is not complete. The text says what is missing."""


@dataclass(frozen=True, slots=True)
class Demo:
    """One question. A stack that this call starts is stopped at its end unless `keep`."""

    question: str
    file: Path | None
    out: Path | None
    as_json: bool
    keep: bool

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Self:
        """Raises DemoUsageError."""
        question, file, out = (environment.get(name, "").strip() for name in ("ASK", "FILE", "OUT"))
        if not question:
            raise DemoUsageError(f"ASK is missing\n{_USAGE}")
        if file and not Path(file).expanduser().is_file():
            raise DemoUsageError(f"FILE: there is no file {file}\n{_USAGE}")
        return cls(
            question=question,
            file=Path(file).expanduser() if file else None,
            out=Path(out).expanduser() if out else None,
            as_json=_is_on(environment.get("JSON", "")),
            keep=_is_on(environment.get("KEEP", "")),
        )

    def arguments(self) -> list[str]:
        """Of `analyst`."""
        return [
            "ask",
            *(["--file", str(self.file)] if self.file else []),
            *(["--out", str(self.out)] if self.out else []),
            *(["--json"] if self.as_json else []),
            "--",
            self.question,
        ]


def run_demo(outer: Mapping[str, str], settings: StackSettings, start_stack: Callable[[], int]) -> int:
    """Ask, and return the exit code of `analyst`. `start_stack` starts the stack in the background."""
    try:
        demo = Demo.from_environment(os.environ)
    except DemoUsageError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    running = read_running(settings.data_dir)
    if running is None and (code := start_stack()) != 0:
        return code
    try:
        return _ask(demo, outer, settings, running or read_running(settings.data_dir))
    finally:
        if running is None and not demo.keep:
            stop_running(settings.data_dir, _STOP_SECONDS)
            sys.stderr.write("stopped the stack again (KEEP=1 leaves it running)\n")


def _ask(demo: Demo, outer: Mapping[str, str], settings: StackSettings, running: RunningStack | None) -> int:
    secrets = load_or_create_secrets(settings.data_dir / "secrets.json")
    environment = {
        "ANALYST_EMAIL": settings.first_user_email,
        "ANALYST_PASSWORD": outer.get("FIRST_USER_PASSWORD") or secrets.first_user_password,
        **outer,
        "ANALYST_URL": running.page_url if running else settings.page_url,
    }
    analyst = Path(sys.executable).with_name("analyst")
    try:
        return subprocess.run([str(analyst), *demo.arguments()], env=environment, check=False).returncode  # noqa: S603
    except KeyboardInterrupt:
        return 130


def _is_on(value: str) -> bool:
    return value.strip().lower() in {"1", "true", "yes", "on"}
