"""Finds a CPython of the wanted version wherever it lies. Plain standard library, Python >= 3.8."""

from __future__ import annotations

import glob
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Iterator, Mapping

_PROBE_SECONDS = 20
# The modules that a Python built without the right headers lacks, and that the product or its tools import.
_PROBE = """
import sys, ssl, ctypes, sqlite3, zlib, bz2, lzma
print(sys.implementation.name, "%d.%d.%d" % sys.version_info[:3], sys.executable, sep="\\n")
"""


@dataclass(frozen=True)
class FoundPython:
    """A Python that really ran."""

    executable: Path
    version: tuple[int, int, int]


def find_python(wanted: tuple[int, int], environment: Mapping[str, str]) -> FoundPython | None:
    """The first CPython `wanted` (such as (3, 12)) among the candidates that runs and is complete."""
    for candidate in candidates(wanted, environment):
        found = probe(candidate)
        if found is not None and found.version[:2] == wanted:
            return found
    return None


def candidates(wanted: tuple[int, int], environment: Mapping[str, str]) -> Iterator[Path]:
    """Where to look, best first: PATH, pyenv's versions (newest first), the usual folders."""
    name = f"python{wanted[0]}.{wanted[1]}"
    seen: set[Path] = set()
    for path in _all_candidates(name, wanted, environment):
        if path not in seen and os.access(path, os.X_OK):
            seen.add(path)
            yield path


def probe(executable: Path) -> FoundPython | None:
    """Run it. A pyenv shim that refuses, a broken or an incomplete Python gives None."""
    try:
        done = subprocess.run(
            [str(executable), "-I", "-c", _PROBE], capture_output=True, text=True, timeout=_PROBE_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    lines = done.stdout.splitlines()
    if done.returncode != 0 or len(lines) != 3 or lines[0] != "cpython":
        return None
    major, minor, patch = (int(part) for part in lines[1].split("."))
    return FoundPython(Path(lines[2]), (major, minor, patch))


def pyenv_roots(environment: Mapping[str, str]) -> Iterator[Path]:
    """Every folder that may be pyenv's root: as set, as pyenv says, where it is by default."""
    if environment.get("PYENV_ROOT"):
        yield Path(environment["PYENV_ROOT"])
    pyenv = shutil.which("pyenv", path=environment.get("PATH", ""))
    if pyenv:
        try:
            done = subprocess.run([pyenv, "root"], capture_output=True, text=True, timeout=_PROBE_SECONDS, check=False)
            if done.returncode == 0 and done.stdout.strip():
                yield Path(done.stdout.strip())
        except (OSError, subprocess.TimeoutExpired):
            pass
    if environment.get("HOME"):
        yield Path(environment["HOME"]) / ".pyenv"
    yield Path("/opt/pyenv")


def _all_candidates(name: str, wanted: tuple[int, int], environment: Mapping[str, str]) -> Iterator[Path]:
    for folder in environment.get("PATH", "").split(os.pathsep):
        for program in (name, "python3", "python"):
            if folder:
                yield Path(folder) / program
    for root in pyenv_roots(environment):
        versions = (root / "versions").glob(f"{wanted[0]}.{wanted[1]}*")
        for version in sorted(versions, key=_version_key, reverse=True):
            yield version / "bin" / name
    for pattern in ("/usr/bin", "/usr/local/bin", "/opt/homebrew/bin", "/opt/*/bin", "/opt/python/*/bin"):
        for folder in sorted(glob.glob(pattern)):
            yield Path(folder) / name


def _version_key(folder: Path) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", folder.name))
