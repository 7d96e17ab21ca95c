"""The Makefile, in a folder where Python and the bootstrap are shell scripts that say how they were called."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from stack.settings import REPOSITORY_ROOT

COMMANDS = ["help", "start", "stop", "test", "lint", "fmt", "lock", "demo", "bench", "clean"]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    shutil.copy(REPOSITORY_ROOT / "Makefile", tmp_path)
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts" / "bootstrap.sh").write_text('echo "bootstrap $*" >&2\n')
    python = tmp_path / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text('#!/bin/sh\necho "$*"\nprintf "%s\\n" "$FILE" "$ASK" "$OUT" "$JSON"\nexit ${EXIT_CODE:-0}\n')
    python.chmod(0o755)
    return tmp_path


def make(checkout: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["make", *arguments],
        cwd=checkout,
        env={"PATH": "/usr/local/bin:/usr/bin:/bin", **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_help_is_the_default_and_lists_every_command(checkout: Path) -> None:
    listed = re.findall(r"^  make ([a-z0-9-]+)", make(checkout).stdout, re.MULTILINE)
    assert set(COMMANDS) <= set(listed)


def test_a_question_arrives_as_it_was_typed(checkout: Path) -> None:
    file, question = "my data/sales 2026.csv", 'what\'s the "total" cost in $ (or €)? 50% & `more` \\ #1'
    done = make(checkout, "demo", f"FILE={file}", f"ASK={question}", "JSON=1")
    assert done.stdout.splitlines() == ["-m stack demo", file, question, "", "1"]


def test_what_is_installed_on_the_way_does_not_go_to_stdout(checkout: Path) -> None:
    done = make(checkout, "demo", "ASK=x")
    assert "bootstrap start" in done.stderr
    assert "bootstrap" not in done.stdout


@pytest.mark.parametrize("command", ["start", "test", "demo", "bench"])
def test_a_failure_is_passed_on(checkout: Path, command: str) -> None:
    assert make(checkout, command, EXIT_CODE="3").returncode != 0


def test_stopping_installs_nothing(checkout: Path) -> None:
    (checkout / ".venv" / "bin" / "python").unlink()
    done = make(checkout, "stop")
    assert done.returncode == 0
    assert "bootstrap" not in done.stderr


def test_continuous_integration_runs_lint_and_test() -> None:
    assert "make lint test" in (REPOSITORY_ROOT / ".ci" / "run").read_text()
