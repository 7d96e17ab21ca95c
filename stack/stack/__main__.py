"""`python -m stack start|stop|status|demo|bench`: the embedded stack from the command line."""

import argparse
import os
import subprocess
import sys

from rich.console import Console

from stack.bench import run_bench
from stack.demo import run_demo
from stack.instance import AlreadyRunningError, read_running, stop_running, wait_until_ready
from stack.run import run_stack
from stack.service_logs import last_lines, log_path
from stack.settings import REPOSITORY_ROOT, StackSettings, load_settings, process_environment

_START_SECONDS = 300.0
_STOP_SECONDS = 100.0


def main() -> int:
    """The exit code of the command."""
    options = _parser().parse_args()
    environment = process_environment()
    settings = load_settings(environment)
    match options.command:
        case "start" if options.background:
            return _start_in_background(settings)
        case "start":
            return run_stack(environment, settings, Console(soft_wrap=True))
        case "stop":
            return _stop(settings)
        case "status":
            return _status(settings)
        case "bench":
            return run_bench()
        case "demo":
            return run_demo(environment, settings, lambda: _start_in_background(settings))
        case _:
            raise AssertionError(options.command)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m stack", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    start = commands.add_parser("start", help="start everything and stay until Ctrl-C")
    start.add_argument("--background", action="store_true", help="return once everything is ready")
    commands.add_parser("stop", help="stop the running stack")
    commands.add_parser("demo", help="ask one question (FILE, ASK, OUT, JSON and KEEP in the environment)")
    commands.add_parser("bench", help="measure a throw-away install (JSON to the file that OUT names, or to stdout)")
    commands.add_parser("status", help="say whether it runs, and where (exit code 3 when it does not)")
    return parser


def _start_in_background(settings: StackSettings) -> int:
    """Start a supervisor that outlives this command; its console goes to logs/stack.log."""
    if running := read_running(settings.data_dir):
        sys.stderr.write(f"{AlreadyRunningError(running)}\n")
        return 1
    settings.data_dir.mkdir(mode=0o711, parents=True, exist_ok=True)
    settings.log_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    with log_path(settings.log_dir, "stack").open("wb") as log:
        supervisor = subprocess.Popen(
            [sys.executable, "-m", "stack", "start"],
            cwd=REPOSITORY_ROOT,
            env=os.environ | {"COLUMNS": "160"},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    running = wait_until_ready(settings.data_dir, supervisor.pid, _START_SECONDS)
    if running is None:
        sys.stderr.write("the stack did not start:\n")
        sys.stderr.writelines(f"  {line}\n" for line in last_lines(settings.log_dir, "stack", 30))
        return 1
    sys.stderr.write(f"the stack runs at {running.page_url} (pid {running.pid})\n")
    return 0


def _stop(settings: StackSettings) -> int:
    try:
        stopped = stop_running(settings.data_dir, _STOP_SECONDS)
    except TimeoutError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stderr.write(f"stopped (pid {stopped.pid})\n" if stopped else "the stack is not running\n")
    return 0


def _status(settings: StackSettings) -> int:
    running = read_running(settings.data_dir)
    if running is None:
        sys.stderr.write("the stack is not running\n")
        return 3
    sys.stdout.write(f"{running.state} {running.page_url}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
