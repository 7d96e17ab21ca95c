"""Log files of the services."""

import json
import os
import stat
from pathlib import Path

import pytest
from stack.service_logs import last_lines, log_path, open_log

from stack import service_logs


def write(folder: Path, *lines: str) -> None:
    folder.mkdir(exist_ok=True)
    log_path(folder, "backend").write_text("\n".join(lines) + "\n")


def test_a_missing_log_has_no_lines(tmp_path: Path) -> None:
    assert last_lines(tmp_path, "backend") == []


def test_plain_lines_stay_and_blank_ones_go(tmp_path: Path) -> None:
    write(tmp_path, "one", "", "two", "three")
    assert last_lines(tmp_path, "backend", 2) == ["two", "three"]


def test_a_structured_entry_becomes_words(tmp_path: Path) -> None:
    write(tmp_path, json.dumps({"event": "run_lost", "run_id": "7", "level": "error", "timestamp": "2026-01-01"}))
    assert last_lines(tmp_path, "backend") == ["error run_lost run_id=7"]


def test_of_a_stack_trace_the_last_line_remains(tmp_path: Path) -> None:
    trace = 'Traceback (most recent call last):\n  File "app.py", line 1\nValueError: no colour'
    write(
        tmp_path,
        json.dumps({"event": trace, "level": "error"}),
        json.dumps({"event": "failed", "exception": trace}),
    )
    assert last_lines(tmp_path, "backend") == ["error ValueError: no colour", "failed ValueError: no colour"]


def test_a_large_log_is_rotated_when_it_is_opened_and_old_ones_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service_logs, "_ROTATE_BYTES", 3)
    for text in ("first", "second", "third"):
        descriptor = open_log(tmp_path, "backend")
        os.write(descriptor, text.encode())
        os.close(descriptor)
    assert log_path(tmp_path, "backend").read_text() == "third"
    assert (tmp_path / "backend.log.1").read_text() == "second"
    assert (tmp_path / "backend.log.2").read_text() == "first"


def test_a_log_is_readable_by_its_owner_alone(tmp_path: Path) -> None:
    os.close(open_log(tmp_path, "backend"))
    assert stat.S_IMODE(log_path(tmp_path, "backend").stat().st_mode) == 0o600
