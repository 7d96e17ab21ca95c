"""Where the analyst keeps its programs in the sandbox, and how the outputs of runs are read."""

import json
import re
import shlex
from functools import cache
from importlib import resources
from typing import Any

FOLDER = "/workspace/analysis"
# Written before the first look at a file; the analyses import the first three.
MODULES = ("column_types.py", "loading.py", "results.py", "inspection.py")
_RESULTS = re.compile(r"^\[results\]\n(.*)\n\[/results\]$", re.MULTILINE)
_ANALYSIS = re.compile(rf"{FOLDER}/\d+_")


@cache
def module_source(name: str) -> str:
    return resources.files("app.agent.offline.guest").joinpath(name).read_text(encoding="utf-8")


def inspection_command(paths: list[str]) -> str:
    return f"python {FOLDER}/inspection.py {' '.join(shlex.quote(path) for path in paths)}"


def is_inspection(command: str) -> bool:
    return command.startswith(f"python {FOLDER}/inspection.py ")


def is_analysis(command_or_path: str) -> bool:
    return _ANALYSIS.search(command_or_path) is not None


def read_results(output: str) -> dict[str, Any] | None:
    """The results block of an analysis' output; None when there is no whole one."""
    blocks = _RESULTS.findall(output)
    if not blocks:
        return None
    try:
        results = json.loads(blocks[-1])
    except json.JSONDecodeError:
        return None
    return results if isinstance(results, dict) else None


def error_line(output: str) -> str:
    """The line of an output that says what went wrong: the exception, else the last line."""
    lines = [line.strip() for line in output.splitlines() if line.strip() and not line.startswith("[Command ")]
    raised = [line for line in lines if re.match(r"[\w.]*(Error|Exception|Interrupt|Killed)\b", line)]
    chosen = raised[-1] if raised else (lines[-1] if lines else "no output")
    return chosen[:300]
