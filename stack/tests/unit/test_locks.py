"""The hash-pinned locks: complete, without addresses, and for the requirements as they are now."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version
from stack.settings import REPOSITORY_ROOT as ROOT

GUEST = "microsandbox-executor/images/data-science-runtime"
LOCKS = {
    "requirements-backend.lock": ["backend/pyproject.toml"],
    "requirements-executor.lock": ["microsandbox-executor/pyproject.toml"],
    "requirements-stack.lock": ["stack/pyproject.toml"],
    "requirements-dev.lock": [
        "backend/pyproject.toml",
        "microsandbox-executor/pyproject.toml",
        "stack/pyproject.toml",
        "pyproject.toml",
    ],
    f"{GUEST}/requirements.lock": [f"{GUEST}/requirements.in"],
}
ALL_LOCKS = [*LOCKS, "requirements-build.lock", "requirements-bootstrap.lock"]
each_lock = pytest.mark.parametrize("lock", ALL_LOCKS)


def pins(lock: str) -> dict[str, Version]:
    text = (ROOT / lock).read_text("utf-8")
    found = re.findall(r"^([A-Za-z0-9._-]+)(?:\[[^\]]*\])?==([^\s;\\]+)", text, re.MULTILINE)
    return {canonicalize_name(name): Version(version) for name, version in found}


def requirements(source: str) -> list[Requirement]:
    path = ROOT / source
    if path.suffix == ".in":
        lines = (line.split("#")[0].strip() for line in path.read_text("utf-8").splitlines())
        return [Requirement(line) for line in lines if line]
    project = tomllib.loads(path.read_text("utf-8"))
    listed = [*project["project"].get("dependencies", []), *project.get("dependency-groups", {}).get("dev", [])]
    return [Requirement(line) for line in listed]


@each_lock
def test_a_lock_holds_no_address_and_no_path_of_a_machine(lock: str) -> None:
    text = (ROOT / lock).read_text("utf-8")
    assert "://" not in text
    assert "--index" not in text
    assert "--find-links" not in text
    assert not re.search(r"(^|\s)/(work|root|home|tmp)/", text)


@each_lock
def test_every_pin_has_a_hash(lock: str) -> None:
    blocks = re.split(r"\n(?=[A-Za-z0-9])", (ROOT / lock).read_text("utf-8"))
    pinned = [block for block in blocks if re.match(r"[A-Za-z0-9._-]+(\[[^\]]*\])?==", block)]
    assert pinned
    assert [block.split()[0] for block in pinned if "--hash=sha256:" not in block] == []


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_satisfies_what_is_asked_for(lock: str) -> None:
    locked = pins(lock)
    for source in LOCKS[lock]:
        for wanted in requirements(source):
            version = locked.get(canonicalize_name(wanted.name))
            assert version is not None, f"{wanted} of {source} is not locked: run `make lock`"
            assert wanted.specifier.contains(version, prereleases=True), f"{wanted} is locked to {version}"


@pytest.mark.parametrize("lock", [lock for lock in ALL_LOCKS if lock.startswith(("requirements-b", "requirements-e"))])
def test_a_version_is_the_same_in_every_lock(lock: str) -> None:
    development = pins("requirements-dev.lock")
    differing = {name: (version, development[name]) for name, version in pins(lock).items() if name in development}
    assert {name: pair for name, pair in differing.items() if pair[0] != pair[1]} == {}


def test_the_npm_lock_holds_no_address() -> None:
    text = (ROOT / "frontend" / "package-lock.json").read_text("utf-8")
    assert '"resolved"' not in text
    assert not re.search(r"https?://registry", text)


def test_no_committed_file_of_the_workspace_names_an_index() -> None:
    for path in (ROOT / name for name in ("Makefile", "pyproject.toml", "docker-compose.yml", ".ci/run")):
        assert not re.search(r"pypi\.org|npmjs\.(org|com)|files\.pythonhosted", Path(path).read_text("utf-8")), path
