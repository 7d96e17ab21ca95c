"""Installs what is missing, and only that: `python scripts/bootstrap.py uv|python|lint|start|test`.

    uv       uv, a Python 3.12, the locked environment in .venv; prints where uv is
    python   the same, without looking for uv when nothing is to be installed
    lint     the same, and the page's npm packages
    start    the same, the sandbox's data-science environment, the built page
    test     the same, and a Chromium for the browser tests

Plain standard library, Python >= 3.8, so that any Python can run it. Everything goes into the checkout (.tools, .venv,
frontend/node_modules, frontend/dist) except Debian packages that are missing, which are installed when this runs as
root. A step is skipped when what it depends on has the same content as when it was last finished.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import Callable, Iterator

from find_python import find_python
from find_uv import UvMissingError, find_uv, install_uv, pythons_for_pip
from stamps import Stamp, fingerprint

ROOT = Path(__file__).resolve().parents[1]
TOOLS = ROOT / ".tools"
VENV = ROOT / ".venv"
GUEST_SOURCE = ROOT / "microsandbox-executor" / "images" / "data-science-runtime"
GUEST = TOOLS / "guest"
FRONTEND = ROOT / "frontend"
DISTRIBUTIONS = ("backend", "microsandbox-executor", "stack")
GOALS = ("uv", "python", "lint", "start", "test")
PYTHON_VERSION = (3, 12)
NODE_OLDEST = (20, 19)
CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
NOT_SOURCE = frozenset({"node_modules", "dist", "coverage", "test-results", ".vite", "__pycache__"})


class BootstrapError(Exception):
    """Something is missing that this cannot install. The text says what to do."""


def main(goal: str) -> None:
    if goal not in GOALS:
        raise BootstrapError(f"usage: bootstrap.py {'|'.join(GOALS)}")
    TOOLS.mkdir(exist_ok=True)
    with only_one_at_a_time():
        environment = package_environment()
        # Found only when something has to be installed: on later runs nothing needs it.
        tools = Tools(environment)
        install_python_environment(tools)
        if goal == "uv":
            sys.stdout.write(f"{tools.uv}\n")
        if goal in ("lint", "start", "test"):
            install_npm_packages(environment)
        if goal in ("start", "test"):
            build_page(environment)
            build_guest(tools)
        if goal == "test":
            install_chromium(environment)


# --- steps ------------------------------------------------------------------------------------------------------------


class Tools:
    """uv and the Python 3.12, found or installed at first use."""

    def __init__(self, environment: dict[str, str]) -> None:
        self.environment = environment
        self._uv: Path | None = None
        self._python: Path | None = None

    @property
    def uv(self) -> Path:
        if self._uv is None:
            self._uv = find_uv(self.environment, TOOLS / "uv") or self._install_uv()
        return self._uv

    @property
    def python(self) -> Path:
        if self._python is None:
            found = find_python(PYTHON_VERSION, self.environment)
            self._python = found.executable if found else self._download_python()
        return self._python

    def _install_uv(self) -> Path:
        with step("uv, into .tools/uv"):
            return install_uv(
                ROOT / "requirements-bootstrap.lock",
                TOOLS / "uv",
                pythons_for_pip(self.environment),
                lambda: install_debian_packages(["python3-venv", "python3-pip"]),
            )

    def _download_python(self) -> Path:
        version = ".".join(map(str, PYTHON_VERSION))
        options = ["--python-preference", "only-managed", version]
        with step(f"Python {version}, downloaded by uv because none was found"):
            run([str(self.uv), "python", "install", version], self.environment)
            done = subprocess.run(
                [str(self.uv), "python", "find", *options],
                env=self.environment,
                stdout=subprocess.PIPE,
                text=True,
                check=False,
            )
        if done.returncode != 0:
            raise BootstrapError(f"Python {version} is not on this machine and uv could not download it")
        return Path(done.stdout.strip())


def install_python_environment(tools: Tools) -> None:
    sources = [ROOT / "requirements-dev.lock", *(ROOT / name / "pyproject.toml" for name in DISTRIBUTIONS)]
    # The checkout's place counts: editable installs point at it.
    stamp = Stamp(VENV / ".bootstrap-stamp", fingerprint(sources, str(ROOT)))
    python = VENV / "bin" / "python"
    # A virtual environment outlives the Python it was made from as a broken link.
    if stamp.is_current() and python.exists():
        return
    uv, found = str(tools.uv), str(tools.python)
    into = ["--python", str(python)]
    with step("Python packages, into .venv (about 1 GB; some minutes the first time)"):
        stamp.forget()
        if not python.exists():
            shutil.rmtree(VENV, ignore_errors=True)
        if not (VENV / "pyvenv.cfg").exists():
            run([uv, "venv", "--quiet", "--python", found, str(VENV)], tools.environment)
        # Compiled now, by all processors, rather than at the first start by each service for itself.
        options = ["--require-hashes", "--compile-bytecode"]
        run([uv, "pip", "sync", *into, *options, "requirements-dev.lock"], tools.environment)
        editable = [part for name in DISTRIBUTIONS for part in ("--editable", name)]
        run([uv, "pip", "install", "--quiet", *into, "--no-deps", "--no-build-isolation", *editable], tools.environment)
        stamp.remember()


def build_guest(tools: Tools) -> None:
    stamp = Stamp(GUEST / ".bootstrap-stamp", fingerprint([GUEST_SOURCE], str(ROOT), ignored=NOT_SOURCE))
    if stamp.is_current():
        return
    with step("the sandbox's data-science environment, into .tools/guest (about 1 GB)"):
        stamp.forget()
        arguments = ["--uv", str(tools.uv), "--python", str(tools.python), "--target", str(GUEST)]
        run([str(VENV / "bin" / "python"), str(GUEST_SOURCE / "build_guest.py"), *arguments], tools.environment)
        stamp.remember()


def install_npm_packages(environment: dict[str, str]) -> None:
    lock = FRONTEND / "package-lock.json"
    stamp = Stamp(FRONTEND / "node_modules" / ".bootstrap-stamp", fingerprint([lock, FRONTEND / "package.json"]))
    if stamp.is_current():
        return
    require_node(environment)
    with step("npm packages, into frontend/node_modules"):
        stamp.forget()
        run(["npm", "ci", "--no-audit", "--no-fund", "--loglevel=error"], environment, FRONTEND)
        stamp.remember()


def build_page(environment: dict[str, str]) -> None:
    stamp = Stamp(FRONTEND / "dist" / ".bootstrap-stamp", fingerprint([FRONTEND], ignored=NOT_SOURCE))
    if stamp.is_current():
        return
    with step("the page, into frontend/dist"):
        stamp.forget()
        run(["npm", "run", "--silent", "build"], environment, FRONTEND)
        stamp.remember()


def install_chromium(environment: dict[str, str]) -> None:
    if any(shutil.which(name, path=environment.get("PATH")) for name in CHROMIUM_NAMES):
        return
    stamp = Stamp(TOOLS / "playwright" / ".bootstrap-stamp", fingerprint([ROOT / "requirements-dev.lock"]))
    if stamp.is_current():
        return
    with step("Chromium for the browser tests"):
        if install_debian_packages(["chromium"]) and shutil.which("chromium"):
            return
        to = {**environment, "PLAYWRIGHT_BROWSERS_PATH": str(TOOLS / "playwright")}
        run([str(VENV / "bin" / "python"), "-m", "playwright", "install", "chromium"], to)
        stamp.remember()


# --- the machine ------------------------------------------------------------------------------------------------------


def require_node(environment: dict[str, str]) -> None:
    wanted = ".".join(map(str, NODE_OLDEST))
    for program in ("node", "npm"):
        if shutil.which(program, path=environment.get("PATH")) is None:
            raise BootstrapError(f"{program} is not on PATH: install Node.js {wanted} or newer")
    done = subprocess.run(["node", "--version"], stdout=subprocess.PIPE, text=True, env=environment, check=False)
    match = re.match(r"v(\d+)\.(\d+)", done.stdout)
    if match is None or tuple(map(int, match.groups())) < NODE_OLDEST:
        raise BootstrapError(
            "Node.js {} or newer is needed; this is {}".format(wanted, done.stdout.strip() or "unknown")
        )


def install_debian_packages(packages: list[str]) -> bool:
    """Whether they were installed: only tried as root where there is apt-get."""
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        return False
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    # Another apt may be at work; the lists may be missing or old, and then packages they name are gone.
    patience = ["-o", "DPkg::Lock::Timeout=300"]
    install = ["apt-get", "install", *patience, "--yes", "--quiet", "--no-install-recommends", *packages]
    for command in (["apt-get", "update", *patience, "--quiet"], install):
        done = subprocess.run(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        # One unreachable source of several makes `update` fail although the packages can be had.
        if done.returncode != 0 and command is install:
            say("  apt-get install {} failed: {}".format(" ".join(packages), done.stdout.strip()[-500:]))
            return False
    return True


def package_environment() -> dict[str, str]:
    """The environment for installers: uv is told of an index and certificates that are set for pip."""
    environment = dict(os.environ)
    if "UV_DEFAULT_INDEX" not in environment and "UV_INDEX_URL" not in environment and "PIP_INDEX_URL" in environment:
        environment["UV_DEFAULT_INDEX"] = environment["PIP_INDEX_URL"]
    if "SSL_CERT_FILE" not in environment and "PIP_CERT" in environment:
        environment["SSL_CERT_FILE"] = environment["PIP_CERT"]
    environment.setdefault("UV_HTTP_TIMEOUT", "180")
    # An active virtual environment of the person's own must not be mistaken for the checkout's.
    for name in ("VIRTUAL_ENV", "PYTHONHOME", "PYTHONPATH"):
        environment.pop(name, None)
    return environment


@contextmanager
def only_one_at_a_time() -> Iterator[None]:
    with open(str(TOOLS / "bootstrap.lock"), "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            say("another installation is at work in this checkout; waiting for it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def run(command: list[str], environment: dict[str, str], folder: Path = ROOT) -> None:
    """Run it with its output on our stderr; raises BootstrapError naming it when it fails."""
    done = subprocess.run(
        command, cwd=str(folder), env=environment, stdin=subprocess.DEVNULL, stdout=sys.stderr, check=False
    )
    if done.returncode != 0:
        raise BootstrapError(f"`{' '.join(command)}` failed with exit code {done.returncode}")


@contextmanager
def step(what: str) -> Iterator[None]:
    say(f"→ {what}")
    started = time.monotonic()
    yield
    say("✓ {}: {:.1f} s".format(what.split(",")[0].split(" (")[0], time.monotonic() - started))


def say(text: str) -> None:
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def guarded(work: Callable[[], None]) -> int:
    try:
        work()
    except (BootstrapError, UvMissingError) as error:
        say(f"✗ {error}")
        return 1
    except KeyboardInterrupt:
        say("✗ interrupted; run the same command again to go on")
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(guarded(lambda: main(sys.argv[1] if len(sys.argv) > 1 else "")))
