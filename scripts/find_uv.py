"""Finds uv, or installs it into a private folder with pip. Plain standard library, Python >= 3.8."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Callable, Iterator, Mapping

# The first with every option that is used here.
_OLDEST_VERSION = (0, 5, 0)
_PROBE_SECONDS = 20


class UvMissingError(Exception):
    """uv is not there and could not be installed. The text says what to do."""


def find_uv(environment: Mapping[str, str], private_folder: Path) -> Path | None:
    """uv on PATH when it is recent enough, else the private one."""
    on_path = shutil.which("uv", path=environment.get("PATH", ""))
    for candidate in (on_path and Path(on_path), *private_programs(private_folder)):
        if candidate and _works(candidate):
            return candidate
    return None


def private_programs(private_folder: Path) -> list[Path]:
    """Where an installation of ours may have put it: a virtual environment, or a folder filled by `pip --target`."""
    return [private_folder / "bin" / "uv", private_folder / "packages" / "bin" / "uv"]


def install_uv(
    lock: Path, private_folder: Path, pythons: Iterator[Path], install_venv_package: Callable[[], bool]
) -> Path:
    """Install the locked uv by the first way that works.

    A virtual environment with pip; else, where Debian has split ensurepip off, an installed pip with `--target` (which
    needs no virtual environment); else Debian's own package for it, when `install_venv_package` can get it.
    """
    tried: list[str] = []
    available = list(pythons)
    for attempt in range(2):
        for python in available:
            for way in (_into_virtual_environment, _into_folder):
                shutil.rmtree(private_folder, ignore_errors=True)
                problem = way(python, lock, private_folder)
                found = next((path for path in private_programs(private_folder) if _works(path)), None)
                if found:
                    return found
                tried.append("{}, {}: {}".format(python, way.__name__.strip("_").replace("_", " "), problem))
        if attempt == 0 and not install_venv_package():
            break
    raise UvMissingError(
        "uv could not be installed. Put `uv` on PATH in any way, or give a Python that has venv and pip."
        + "".join(f"\n  tried {line}" for line in tried)
    )


def _into_virtual_environment(python: Path, lock: Path, folder: Path) -> str:
    return _run([str(python), "-m", "venv", str(folder)]) or _pip_install([str(folder / "bin" / "python")], lock, [])


def _into_folder(python: Path, lock: Path, folder: Path) -> str:
    return _pip_install([str(python)], lock, ["--target", str(folder / "packages")])


def _pip_install(python: list[str], lock: Path, options: list[str]) -> str:
    quiet = ["--quiet", "--disable-pip-version-check", "--no-input"]
    return _run([*python, "-m", "pip", "install", *quiet, "--require-hashes", "--requirement", str(lock), *options])


def _run(command: list[str]) -> str:
    """Empty when it went well, else the last line of what it said."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode == 0:
        return ""
    lines = [line for line in done.stdout.splitlines() if line.strip()]
    return lines[-1] if lines else f"exit code {done.returncode}"


def _works(uv: Path) -> bool:
    if not os.access(str(uv), os.X_OK):
        return False
    try:
        done = subprocess.run(
            [str(uv), "--version"], capture_output=True, text=True, timeout=_PROBE_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    match = re.search(r"(\d+)\.(\d+)\.(\d+)", done.stdout)
    return done.returncode == 0 and match is not None and tuple(map(int, match.groups())) >= _OLDEST_VERSION


def pythons_for_pip(environment: Mapping[str, str]) -> Iterator[Path]:
    """The Python that runs this, then every other on PATH: one of them may have pip."""
    seen = {Path(sys.executable)}
    yield Path(sys.executable)
    for folder in environment.get("PATH", "").split(os.pathsep):
        for name in ("python3", "python3.12", "python3.13", "python3.11", "python3.10", "python3.9"):
            path = Path(folder) / name
            if folder and path not in seen and os.access(str(path), os.X_OK):
                seen.add(path)
                yield path
