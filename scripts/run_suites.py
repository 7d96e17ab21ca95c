"""Runs the named suites one after the other and sums up: `python scripts/run_suites.py unit integration e2e frontend`.

A suite is the folder of that name below each distribution's `tests`; `frontend` is the page's own. Exits with 1 when
any suite failed, found no tests, or when a test file lies where no suite would run it.
"""

import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "test-results"
TEST_FOLDERS = tuple(ROOT / name / "tests" for name in ("backend", "microsandbox-executor", "stack"))
PYTEST_SUITES = ("unit", "integration", "e2e")


@dataclass(frozen=True, slots=True)
class SuiteResult:
    """What a suite came to. `skipped` is `test: reason` of each test that did not run."""

    name: str
    seconds: float
    passed: bool
    tests: int = 0
    failed: int = 0
    skipped: list[str] = field(default_factory=list)


def main(names: list[str]) -> int:
    RESULTS.mkdir(exist_ok=True)
    homeless = files_outside_suites()
    results = [run_suite(name) for name in names]
    print_summary(results, homeless)
    return 0 if results and all(result.passed for result in results) and not homeless else 1


def files_outside_suites() -> list[Path]:
    """Test files that no suite runs: they would look like tests and never fail."""
    inside = {suite for folder in TEST_FOLDERS for suite in (folder / name for name in PYTEST_SUITES)}
    files = (file for folder in TEST_FOLDERS for file in folder.rglob("test_*.py"))
    return [file.relative_to(ROOT) for file in files if not inside.intersection(file.parents)]


def run_suite(name: str) -> SuiteResult:
    print(f"\n===== {name} =====", flush=True)
    report = RESULTS / f"{name}.xml"
    report.unlink(missing_ok=True)
    started = time.monotonic()
    code = subprocess.run(command(name, report), cwd=ROOT, check=False).returncode
    seconds = time.monotonic() - started
    if not report.exists():
        return SuiteResult(name, seconds, passed=False)
    return read_report(name, report, seconds, code)


def command(name: str, report: Path) -> list[str]:
    if name == "frontend":
        npm = shutil.which("npm") or "npm"
        reporters = ["--reporter=default", "--reporter=junit", f"--outputFile.junit={report}"]
        return [npm, "--prefix", "frontend", "test", "--", *reporters]
    folders = [str(folder / name) for folder in TEST_FOLDERS if (folder / name).is_dir()]
    return [sys.executable, "-m", "pytest", *folders, f"--junit-xml={report}", "--durations=5"]


def read_report(name: str, report: Path, seconds: float, code: int) -> SuiteResult:
    """Counts out of a JUnit file; the exit code has the last word on whether the suite passed."""
    # The file was just written by our own test runner.
    cases = list(ElementTree.parse(report).getroot().iter("testcase"))  # noqa: S314
    failed = sum(1 for case in cases if case.find("failure") is not None or case.find("error") is not None)
    skipped = [
        f"{case.get('name')}: {element.get('message') or element.text or 'no reason given'}"
        for case in cases
        if (element := case.find("skipped")) is not None and "xfail" not in (element.get("type") or "")
    ]
    return SuiteResult(name, seconds, code == 0 and bool(cases) and not failed, len(cases), failed, skipped)


def print_summary(results: list[SuiteResult], homeless: list[Path]) -> None:
    print("\n===== summary =====")
    for result in results:
        verdict = "passed" if result.passed else "FAILED"
        ran = result.tests - result.failed - len(result.skipped)
        counts = f"{ran} passed, {result.failed} failed, {len(result.skipped)} skipped"
        print(f"  {result.name:<12} {verdict}  {counts}  {result.seconds:.1f} s")
        for reason in result.skipped:
            print(f"      skipped {reason.strip().splitlines()[0]}")
    for file in homeless:
        print(f"  FAILED  {file} lies in no suite (tests/unit, tests/integration or tests/e2e)")
    print(f"  total {sum(result.seconds for result in results):.1f} s", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
