"""Builds what the sandbox shows its guests: `PYTHON build_guest.py --uv UV --python PYTHON3.12 --target .tools/guest`.

    TARGET/data-science/   the environment, shown at /opt/data-science: bin/python, lib/python3.12/site-packages
    TARGET/fonts/          fonts that draw Latin, Greek, Cyrillic, Chinese, Japanese and Korean, shown at /opt/fonts
    TARGET/matplotlib/     matplotlib's font list for these fonts, so that the first chart does not search for fonts
    TARGET/guest.json      which interpreter on this machine is shown at /opt/python

It is built in TARGET.new and then renamed, so TARGET is always whole, and built again only when the lock, the fonts,
the files in guest/, these scripts or the interpreter change. Plain standard library.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

SOURCE = Path(__file__).resolve().parent
LOCK = SOURCE / "requirements.lock"
FONT_PACKAGES = SOURCE / "fonts"
GUEST_FILES = SOURCE / "guest"
STAMP_NAME = "guest.stamp"
NOT_SOURCE = frozenset({"__pycache__", "node_modules"})

# Where the guest sees them; bin/python and pyvenv.cfg name these, not the paths of this machine.
GUEST_ENVIRONMENT = "/opt/data-science"
GUEST_PYTHON_PREFIX = "/opt/python"

FONT_FILES = (
    "noto-sans/400Regular/NotoSans_400Regular.ttf",
    "noto-sans/400Regular_Italic/NotoSans_400Regular_Italic.ttf",
    "noto-sans/600SemiBold/NotoSans_600SemiBold.ttf",
    "noto-sans/700Bold/NotoSans_700Bold.ttf",
    "noto-sans-sc/400Regular/NotoSansSC_400Regular.ttf",
    "noto-sans-sc/700Bold/NotoSansSC_700Bold.ttf",
    "noto-sans-jp/400Regular/NotoSansJP_400Regular.ttf",
    "noto-sans-jp/700Bold/NotoSansJP_700Bold.ttf",
    "noto-sans-kr/400Regular/NotoSansKR_400Regular.ttf",
    "noto-sans-kr/700Bold/NotoSansKR_700Bold.ttf",
)
DEBIAN_FONT_PACKAGE = "fonts-noto-cjk"
DEBIAN_FONT_NAMES = ("NotoSansCJK-Regular.ttc", "NotoSansCJK-Bold.ttc")

PYTHON_FACTS = """
import json, platform, sys, sysconfig
print(json.dumps({
    "prefix": sys.base_prefix,
    "version": platform.python_version(),
    "minor": "%d.%d" % sys.version_info[:2],
    "libpython_shared": bool(sysconfig.get_config_var("Py_ENABLE_SHARED")),
    "machine": platform.machine(),
}))
"""


class BuildError(Exception):
    """The environment cannot be built here. The text says what to do."""


class Interpreter(NamedTuple):
    """The Python that guests run, as it is on this machine."""

    executable: Path
    prefix: Path
    version: str
    minor: str
    libpython_shared: bool
    machine: str

    @property
    def guest_executable(self) -> str:
        """Its path inside the sandbox, where /usr is the machine's own."""
        prefix = "/usr" if self.prefix == Path("/usr") else GUEST_PYTHON_PREFIX
        return f"{prefix}/bin/python{self.minor}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Build the data-science environment that the sandbox shows its guests."
    )
    parser.add_argument("--uv", required=True, type=Path)
    parser.add_argument(
        "--python", required=True, type=Path, help="a Python 3.12; its installation is shown to the guests"
    )
    parser.add_argument("--target", required=True, type=Path)
    options = parser.parse_args()
    target = options.target.absolute()
    interpreter = inspect_interpreter(options.python.absolute())
    wanted = fingerprint(interpreter)
    if is_current(target, wanted):
        return
    building = target.with_name(target.name + ".new")
    remove(building)
    building.mkdir(parents=True)
    site_packages = make_environment(building / "data-science", interpreter)
    with step("packages"):
        install_packages(options.uv.absolute(), interpreter, site_packages)
    with step("fonts"):
        install_fonts(building / "fonts")
    copy_guest_files(site_packages)
    with step("compiled modules"):
        compile_modules(interpreter, site_packages)
    with step("font list"):
        list_fonts(interpreter, site_packages, building)
    describe(building, interpreter)
    (building / STAMP_NAME).write_text(wanted, "utf-8")
    put_in_place(building, target)


def inspect_interpreter(executable: Path) -> Interpreter:
    """Raises BuildError when it is not a Python 3.12 that the sandbox can show."""
    facts = json.loads(output_of([str(executable), "-I", "-S", "-c", PYTHON_FACTS]))
    if facts["minor"] != "3.12":
        raise BuildError("{} is Python {}; the packages are locked for 3.12".format(executable, facts["version"]))
    prefix = Path(facts["prefix"])
    real = prefix / "bin" / "python{}".format(facts["minor"])
    if not real.exists():
        raise BuildError(f"{real} is missing: this Python's installation has an unusual layout")
    return Interpreter(real, prefix, facts["version"], facts["minor"], facts["libpython_shared"], facts["machine"])


def fingerprint(interpreter: Interpreter) -> str:
    """A hash of everything that decides what is built."""
    digest = hashlib.sha256()
    for word in (str(interpreter.prefix), interpreter.version, interpreter.machine):
        digest.update(word.encode() + b"\0")
    for file in source_files(SOURCE):
        digest.update(str(file.relative_to(SOURCE)).encode() + b"\0")
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()


def source_files(folder: Path) -> Iterator[Path]:
    for child in sorted(folder.iterdir()):
        if child.name in NOT_SOURCE:
            continue
        if child.is_dir():
            yield from source_files(child)
        else:
            yield child


def is_current(target: Path, wanted: str) -> bool:
    try:
        return (target / STAMP_NAME).read_text("utf-8") == wanted
    except FileNotFoundError:
        return False


# --- the environment --------------------------------------------------------------------------------------------------


def make_environment(environment: Path, interpreter: Interpreter) -> Path:
    """A virtual environment as the guest sees it: its links lead to nothing on this machine. Returns site-packages."""
    programs = environment / "bin"
    site_packages = environment / "lib" / f"python{interpreter.minor}" / "site-packages"
    programs.mkdir(parents=True)
    site_packages.mkdir(parents=True)
    for name in ("python", "python3", f"python{interpreter.minor}"):
        (programs / name).symlink_to(interpreter.guest_executable)
    home = str(Path(interpreter.guest_executable).parent)
    settings = f"home = {home}\ninclude-system-site-packages = false\nversion = {interpreter.version}\n"
    (environment / "pyvenv.cfg").write_text(settings, "utf-8")
    if interpreter.libpython_shared and interpreter.prefix != Path("/usr"):
        # The loader is sent to these links only: an installation's lib folder may hold other libraries too, and those
        # must not take the place of the machine's own in every program.
        for library in sorted((interpreter.prefix / "lib").glob("libpython3*.so*")):
            (environment / "lib" / library.name).symlink_to(f"{GUEST_PYTHON_PREFIX}/lib/{library.name}")
    return site_packages


def install_packages(uv: Path, interpreter: Interpreter, site_packages: Path) -> None:
    into = ["--python", str(interpreter.executable), "--target", str(site_packages)]
    run([str(uv), "pip", "install", "--quiet", *into, "--require-hashes", "--requirement", str(LOCK)])
    # The scripts name this machine's interpreter; modules are run with `python -m` in the guest.
    remove(site_packages / "bin")


def copy_guest_files(site_packages: Path) -> None:
    if not GUEST_FILES.is_dir():
        return
    for file in source_files(GUEST_FILES):
        to = site_packages / file.relative_to(GUEST_FILES)
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(str(file), str(to))


def compile_modules(interpreter: Interpreter, site_packages: Path) -> None:
    # By hash and unchecked: guests cannot write the folder, so a compiled module is never stale.
    options = ["-q", "-q", "-j", "0", "-x", "/tests/", "--invalidation-mode", "unchecked-hash"]
    seen_as = f"{GUEST_ENVIRONMENT}/lib/python{interpreter.minor}/site-packages"
    paths = ["-s", str(site_packages), "-p", seen_as, str(site_packages)]
    # Its exit code is 1 when any file does not compile, and packages ship templates and tests that do not.
    run([str(interpreter.executable), "-I", "-m", "compileall", *options, *paths], accepted=(0, 1))


# --- fonts ------------------------------------------------------------------------------------------------------------


def install_fonts(folder: Path) -> None:
    """Raises BuildError when the fonts can be had neither from npm nor from Debian."""
    folder.mkdir()
    if shutil.which("npm"):
        fonts_from_npm(folder)
        return
    say("  npm is not here: Debian's fonts are taken")
    if not copy_debian_fonts(Path("/usr/share/fonts"), folder):
        fonts_from_debian(folder)


def fonts_from_npm(folder: Path) -> None:
    with tempfile.TemporaryDirectory(dir=str(folder.parent)) as workplace:
        for name in ("package.json", "package-lock.json", ".npmrc"):
            shutil.copyfile(str(FONT_PACKAGES / name), os.path.join(workplace, name))
        run(["npm", "ci", "--loglevel=error"], folder=Path(workplace))
        packages = Path(workplace) / "node_modules" / "@expo-google-fonts"
        for font in FONT_FILES:
            shutil.copyfile(str(packages / font), str(folder / Path(font).name))
        for licence in sorted(packages.glob("*/LICENSE_FONT")):
            shutil.copyfile(str(licence), str(folder / f"{licence.parent.name}.OFL.txt"))


def fonts_from_debian(folder: Path) -> None:
    """Fetched and unpacked without being installed, which needs no root."""
    if not (shutil.which("apt-get") and shutil.which("dpkg-deb")):
        raise BuildError(f"fonts for Chinese, Japanese and Korean: install npm, or the fonts of {DEBIAN_FONT_PACKAGE}")
    with tempfile.TemporaryDirectory(dir=str(folder.parent)) as workplace:
        run(["apt-get", "download", "-q", DEBIAN_FONT_PACKAGE], folder=Path(workplace))
        run(["dpkg-deb", "-x", *map(str, Path(workplace).glob("*.deb")), os.path.join(workplace, "unpacked")])
        copy_debian_fonts(Path(workplace), folder)


def copy_debian_fonts(tree: Path, folder: Path) -> bool:
    """Whether all of them are somewhere below `tree`."""
    found = [next(tree.glob(f"**/{name}"), None) for name in DEBIAN_FONT_NAMES]
    for font in found:
        if font is not None:
            shutil.copyfile(str(font), str(folder / font.name))
    return None not in found


def list_fonts(interpreter: Interpreter, site_packages: Path, building: Path) -> None:
    environment = {
        **clean_environment(),
        "PYTHONPATH": str(site_packages),
        "MPLCONFIGDIR": str(building / "matplotlib"),
    }
    (building / "matplotlib").mkdir()
    style = site_packages / "matplotlibrc"
    arguments = [str(building / "fonts"), *([str(style)] if style.exists() else [])]
    run([str(interpreter.executable), str(SOURCE / "list_fonts.py"), *arguments], environment=environment)


# --- finishing --------------------------------------------------------------------------------------------------------


def describe(building: Path, interpreter: Interpreter) -> None:
    facts: dict[str, object] = {
        "python_prefix": str(interpreter.prefix),
        "python_version": interpreter.version,
        "libpython_shared": interpreter.libpython_shared,
    }
    (building / "guest.json").write_text(json.dumps(facts, indent=2) + "\n", "utf-8")


def put_in_place(building: Path, target: Path) -> None:
    old = target.with_name(target.name + ".old")
    remove(old)
    if target.exists():
        target.rename(old)
    building.rename(target)
    remove(old)


def remove(folder: Path) -> None:
    if folder.exists():
        shutil.rmtree(str(folder))


def clean_environment() -> dict[str, str]:
    return {
        name: value for name, value in os.environ.items() if name not in ("PYTHONHOME", "PYTHONPATH", "VIRTUAL_ENV")
    }


def run(
    command: list[str],
    *,
    folder: Path = SOURCE,
    environment: dict[str, str] | None = None,
    accepted: Iterable[int] = (0,),
) -> None:
    """Raises BuildError naming the command when it fails."""
    done = subprocess.run(
        command,
        cwd=str(folder),
        env=environment or clean_environment(),
        stdin=subprocess.DEVNULL,
        stdout=sys.stderr,
        check=False,
    )
    if done.returncode not in accepted:
        raise BuildError(f"`{' '.join(command)}` failed with exit code {done.returncode}")


def output_of(command: list[str]) -> str:
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, check=True, timeout=60
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise BuildError(f"`{command[0]}` does not run: {error}") from error
    return done.stdout


@contextmanager
def step(what: str) -> Iterator[None]:
    say(f"  guest: {what} ...")
    started = time.monotonic()
    yield
    say(f"  guest: {what}: {time.monotonic() - started:.1f} s")


def say(text: str) -> None:
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


if __name__ == "__main__":
    try:
        main()
    except BuildError as error:
        say(f"✗ {error}")
        sys.exit(1)
