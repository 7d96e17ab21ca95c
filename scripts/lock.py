"""Writes the hash-pinned locks: `python scripts/lock.py UV` (`make lock`).

The development lock is resolved first, out of the three distributions and the `dev` group; the lock of each
distribution is then resolved within it, so that a version is the same everywhere. No lock holds an address: it works
with any index.
"""

import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DEV_LOCK = "requirements-dev.lock"
DISTRIBUTIONS = {
    "backend": "requirements-backend.lock",
    "microsandbox-executor": "requirements-executor.lock",
    "stack": "requirements-stack.lock",
}
GUEST_FOLDER = Path("microsandbox-executor") / "images" / "data-science-runtime"
PYTHON_VERSION = "3.12"
UV_VERSION = "0.13.9"


def main(uv: str, *options: str) -> None:
    projects = [f"{name}/pyproject.toml" for name in DISTRIBUTIONS]
    compile_lock(uv, [*projects, "-"], DEV_LOCK, *options, extra="\n".join(dev_group()))
    for name, lock in DISTRIBUTIONS.items():
        compile_lock(uv, [f"{name}/pyproject.toml"], lock, "--constraint", DEV_LOCK, *options)
    # What builds a distribution from its source without isolation, in images.
    compile_lock(uv, ["-"], "requirements-build.lock", "--constraint", DEV_LOCK, *options, extra="hatchling\neditables")
    # What the bootstrap installs with pip before there is anything else.
    compile_lock(uv, ["-"], "requirements-bootstrap.lock", *options, extra=f"uv=={UV_VERSION}")
    compile_lock(uv, [str(GUEST_FOLDER / "requirements.in")], str(GUEST_FOLDER / "requirements.lock"), *options)


def dev_group() -> list[str]:
    """The requirements of the group `dev` in the root pyproject.toml."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    return [str(requirement) for requirement in project["dependency-groups"]["dev"]]


def compile_lock(uv: str, sources: list[str], lock: str, *options: str, extra: str = "") -> None:
    sys.stderr.write(f"{lock}\n")
    subprocess.run(
        [
            *(uv, "pip", "compile", "--quiet", "--python-version", PYTHON_VERSION, "--generate-hashes"),
            *("--no-emit-index-url", "--no-header", "--output-file", lock, *options, *sources),
        ],
        input=extra,
        text=True,
        stdout=subprocess.DEVNULL,
        cwd=ROOT,
        check=True,
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
