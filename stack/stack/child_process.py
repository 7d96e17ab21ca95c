"""Starts and stops one child: in a process group of its own, logging to its file, dying with the supervisor."""

import asyncio
import contextlib
import os
import signal
import sys
from pathlib import Path

from stack.service_logs import open_log
from stack.units import Service, Unit

_CHILD_EXEC = Path(__file__).with_name("child_exec.py")


async def spawn(unit: Unit, log_dir: Path) -> asyncio.subprocess.Process:
    """Start the unit's program; it inherits nothing but its log."""
    run_as = unit.run_as if isinstance(unit, Service) else None
    orphan_signal = unit.orphan_signal if isinstance(unit, Service) else signal.SIGKILL
    wrapper = (
        *(sys.executable, "-I", "-S", str(_CHILD_EXEC), str(os.getpid()), str(int(orphan_signal))),
        *((str(run_as.uid), str(run_as.gid)) if run_as else ("-1", "-1")),
    )
    log = open_log(log_dir, unit.name)
    try:
        return await asyncio.create_subprocess_exec(
            *wrapper,
            *unit.argv,
            env=dict(unit.environment),
            cwd=unit.working_dir,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    finally:
        os.close(log)


async def stop(process: asyncio.subprocess.Process, stop_signal: signal.Signals, seconds: float) -> bool:
    """Ask, wait, then kill the whole process group. Returns whether asking was enough."""
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(stop_signal)
    gentle = True
    try:
        async with asyncio.timeout(seconds):
            await process.wait()
    except TimeoutError:
        gentle = False
    kill_group(process)
    await process.wait()
    return gentle


def kill_group(process: asyncio.subprocess.Process) -> None:
    """SIGKILL for the child and everything it started in its group."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def describe_exit(returncode: int) -> str:
    """`exit code 3`, or `killed by SIGKILL`."""
    if returncode >= 0:
        return f"exit code {returncode}"
    try:
        return f"killed by {signal.Signals(-returncode).name}"
    except ValueError:
        return f"killed by signal {-returncode}"
