"""What a bubblewrap guest sees as its file system: the host's programs read-only, an /etc of its own, its Python."""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from executor.runtime.base import RuntimeUnavailableError

GUEST_PYTHON = "/opt/python"
GUEST_ENVIRONMENT = "/opt/data-science"
GUEST_FONTS = "/opt/fonts"
_TMP = "/tmp"  # noqa: S108 (a folder of the guest's)
_CHART_CACHE_NAME = ".matplotlib"
_PROC_FILES = (
    *("kcore", "keys", "key-users", "kallsyms", "kmsg", "kpagecount", "kpageflags", "kpagecgroup", "slabinfo"),
    *("timer_list", "timer_stats", "sched_debug", "latency_stats", "vmallocinfo", "config.gz", "mtrr", "iomem"),
)
_PROC_FOLDERS = ("acpi", "asound", "driver", "fs", "scsi")
_HOST_PROGRAM_FOLDERS = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_ETC_FILES = {
    "passwd": "root:x:0:0:root:/:/usr/sbin/nologin\nanalyst:x:1000:1000:analyst:/tmp:/bin/sh\n",
    "group": "root:x:0:\nanalyst:x:1000:\n",
    "hosts": "127.0.0.1 localhost\n::1 localhost\n",
    "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
    "hostname": "sandbox\n",
    "fonts/fonts.conf": (
        '<?xml version="1.0"?>\n<!DOCTYPE fontconfig SYSTEM "fonts.dtd">\n<fontconfig>\n'
        f"  <dir>{GUEST_FONTS}</dir>\n  <dir>/usr/share/fonts</dir>\n  <cachedir>/tmp/.cache/fontconfig</cachedir>\n"
        "</fontconfig>\n"
    ),
}


class _Description(BaseModel):
    """`guest.json`, as `build_guest.py` writes it."""

    model_config = ConfigDict(frozen=True)

    python_prefix: Path
    python_version: str
    libpython_shared: bool


@dataclass(frozen=True, slots=True)
class GuestRoot:
    """The parts of the guest's file system on the host; the same for every session."""

    environment: Path
    fonts: Path | None
    chart_cache: Path | None  # what matplotlib would otherwise work out at the first chart
    python_prefix: Path
    libpython_shared: bool
    etc: Path
    matplotlib_rc: str | None

    @classmethod
    def load(cls, guest_dir: Path, etc: Path) -> "GuestRoot":
        """Read what `build_guest.py` built and write the guest's /etc. Raises `RuntimeUnavailableError`."""
        try:
            description = _Description.model_validate_json((guest_dir / "guest.json").read_text())
        except (OSError, ValidationError) as error:
            raise RuntimeUnavailableError(
                f"EXECUTOR_GUEST_DIR: {guest_dir} holds no guest environment (build_guest.py makes one): {error}"
            ) from error
        if not description.python_prefix.is_dir():
            raise RuntimeUnavailableError(
                f"EXECUTOR_GUEST_DIR: the guest's Python, {description.python_prefix}, is gone; build the guest again"
            )
        _write_etc(etc)
        packages = f"lib/python{'.'.join(description.python_version.split('.')[:2])}/site-packages"
        has_rc = (guest_dir / "data-science" / packages / "matplotlibrc").is_file()
        return cls(
            environment=guest_dir / "data-science",
            fonts=_if_there(guest_dir / "fonts"),
            chart_cache=_if_there(guest_dir / "matplotlib"),
            python_prefix=description.python_prefix,
            libpython_shared=description.libpython_shared,
            etc=etc,
            matplotlib_rc=f"{GUEST_ENVIRONMENT}/{packages}/matplotlibrc" if has_rc else None,
        )

    def arguments(self) -> list[str]:
        """bubblewrap's arguments for everything but the session's own folders: an allow-list, all of it read-only."""
        arguments = ["--ro-bind", "/usr", "/usr"]
        for folder in _HOST_PROGRAM_FOLDERS:
            if os.path.islink(folder):
                arguments += ["--symlink", os.readlink(folder), folder]
            elif os.path.isdir(folder):
                arguments += ["--ro-bind", folder, folder]
        # What an administrator put into /usr/local is the host's own business.
        arguments += ["--size", "65536", "--tmpfs", "/usr/local", "--remount-ro", "/usr/local"]
        if self.fonts is not None:
            arguments += ["--ro-bind", str(self.fonts), GUEST_FONTS]
        arguments += ["--ro-bind", str(self.etc), "/etc"]
        arguments += ["--ro-bind", str(self.python_prefix), GUEST_PYTHON]
        arguments += ["--ro-bind", str(self.environment), GUEST_ENVIRONMENT]
        return [*arguments, "--proc", "/proc", *_covered_proc()]

    def variables(self, threads: int) -> dict[str, str]:
        """The guest's whole environment; `threads` is what number libraries may start."""
        many = str(threads)
        variables = {
            "PATH": f"{GUEST_ENVIRONMENT}/bin:/usr/bin:/bin:/usr/sbin:/sbin",
            "HOME": _TMP,
            "TMPDIR": _TMP,
            "USER": "analyst",
            "LOGNAME": "analyst",
            "SHELL": "/bin/sh",
            "LANG": "C.UTF-8",
            "TZ": "UTC",
            "XDG_CACHE_HOME": f"{_TMP}/.cache",
            "PYTHONDONTWRITEBYTECODE": "1",
            # A command that is killed at its time limit has then already handed over what it printed.
            "PYTHONUNBUFFERED": "1",
            "MPLBACKEND": "Agg",
            "MPLCONFIGDIR": f"{_TMP}/{_CHART_CACHE_NAME}",
            **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), many),
            **dict.fromkeys(("NUMEXPR_MAX_THREADS", "POLARS_MAX_THREADS", "RAYON_NUM_THREADS"), many),
        }
        if self.libpython_shared:
            # Links to libpython alone: an installation's own lib folder may hold libraries that others must not get.
            variables["LD_LIBRARY_PATH"] = f"{GUEST_ENVIRONMENT}/lib"
        if self.matplotlib_rc is not None:
            variables["MATPLOTLIBRC"] = self.matplotlib_rc
        # Where an operator had to name the processor for OpenBLAS, the guest needs the same.
        for name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
            if name in os.environ:
                variables[name] = os.environ[name]
        return variables

    def seed_chart_cache(self, tmp: Path) -> None:
        """Put matplotlib's list of fonts into a session's /tmp, once; the guest may do there as it likes.

        The guest owns that folder and may be running: nothing that it could have put there is followed.
        """
        if self.chart_cache is None:
            return
        folder = os.open(tmp, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            os.mkdir(_CHART_CACHE_NAME, 0o700, dir_fd=folder)
            inside = os.open(_CHART_CACHE_NAME, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
        except OSError:
            # It is there already, or is something else that the guest made: not ours to change.
            return
        finally:
            os.close(folder)
        try:
            for source in self.chart_cache.iterdir():
                flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
                with os.fdopen(os.open(source.name, flags, 0o600, dir_fd=inside), "wb") as target:
                    target.write(source.read_bytes())
        except FileExistsError:
            return
        finally:
            os.close(inside)


def _covered_proc() -> list[str]:
    """What the kernel shows of the machine, not of the sandbox, to whoever it takes for root."""
    arguments = []
    for name in _PROC_FILES:
        if os.path.isfile(f"/proc/{name}"):
            arguments += ["--ro-bind", "/dev/null", f"/proc/{name}"]
    for name in _PROC_FOLDERS:
        if os.path.isdir(f"/proc/{name}"):
            arguments += ["--size", "4096", "--tmpfs", f"/proc/{name}", "--remount-ro", f"/proc/{name}"]
    return arguments


def _if_there(folder: Path) -> Path | None:
    return folder if folder.is_dir() else None


def _write_etc(etc: Path) -> None:
    shutil.rmtree(etc, ignore_errors=True)
    for name, content in _ETC_FILES.items():
        target = etc / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(content)
    # Without it every program looks for its libraries from scratch, and those in unusual folders are not found.
    if Path("/etc/ld.so.cache").is_file():
        shutil.copyfile("/etc/ld.so.cache", etc / "ld.so.cache")
    if Path("/etc/alternatives").is_dir():  # Debian: /usr/bin/awk and others are links through it.
        shutil.copytree("/etc/alternatives", etc / "alternatives", symlinks=True)
