"""What a command runs, and how it gets into the guest."""

import hashlib
import json
from dataclasses import dataclass
from uuid import uuid4

from executor.policy.guest_paths import GuestPath
from executor.sessions.guest_tree import GuestTree

# Linux takes 128 KiB for one argument of a command line.
_MAX_ARGUMENT_BYTES = 100_000
# Reads a long program without leaving a name behind that a short one would not see.
_RUN_PYTHON_FILE = "exec(compile(open(__import__('sys').argv.pop(), 'rb').read(), '<string>', 'exec'))"


@dataclass(frozen=True, slots=True)
class Program:
    """Python code or a shell command, to run for at most `timeout_seconds`."""

    session: str
    code: str | None
    command: str | None
    timeout_seconds: int
    read_only: bool

    @property
    def text(self) -> str:
        return self.code if self.code is not None else self.command or ""

    @property
    def hash(self) -> str:
        """What makes two programs the same under one job id: the session's slot, the text and its rights."""
        fields = [self.session.partition("@")[0], self.code, self.command, self.read_only]
        return hashlib.sha256(json.dumps(fields).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class PlacedProgram:
    """A program ready to run; `file` is to be deleted afterwards."""

    argv: list[str]
    file: GuestPath | None

    def remove(self, tree: GuestTree) -> None:
        if self.file is not None and tree.stat_file(self.file) is not None:
            tree.delete(self.file)


def place(program: Program, tree: GuestTree) -> PlacedProgram:
    """Make the command line. A program that is too long for one goes in as a file of its own."""
    content = program.text.encode()
    is_python = program.code is not None
    if len(content) <= _MAX_ARGUMENT_BYTES:
        return PlacedProgram([*(["python3"] if is_python else ["bash"]), "-c", program.text], None)
    file = GuestPath("tmp", (f".program-{uuid4().hex}",))
    with tree.replacing(file) as (out, _):
        out.write(content)
    argv = ["python3", "-c", _RUN_PYTHON_FILE, str(file)] if is_python else ["bash", str(file)]
    return PlacedProgram(argv, file)
