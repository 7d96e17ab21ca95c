"""Runs the whole stack in the foreground until it is told to stop."""

import asyncio
import contextlib
import signal
from collections.abc import Mapping

from rich.console import Console

from stack.assembly import Stack, assemble
from stack.console import StackConsole
from stack.instance import AlreadyRunningError, InstanceLock
from stack.ports import PortConflict, find_conflicts
from stack.secrets import UnsafeSecretsFileError
from stack.services.postgres import PostgresSetupError
from stack.settings import REPOSITORY_ROOT, StackSettings
from stack.supervisor import UnitStartError
from stack.units import UnsafeServiceError

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_STOP_SECONDS = 90.0
# A port of a supervisor that was killed a moment ago is let go by its dying children within this time.
_PORT_PATIENCE_SECONDS = 5.0


def run_stack(outer: Mapping[str, str], settings: StackSettings, console: Console) -> int:
    """Start everything, stay, stop everything. Returns the exit code."""
    shown = settings.log_dir
    with contextlib.suppress(ValueError):
        shown = shown.relative_to(REPOSITORY_ROOT)
    lock = InstanceLock(settings.data_dir, settings.page_url)
    with StackConsole(console, log_dir_shown=str(shown)) as view:
        try:
            lock.acquire()
        except AlreadyRunningError as error:
            view.say(str(error))
            return 1
        try:
            lock.announce("starting")
            stack = assemble(outer, settings, view.show)
            for name in stack.register.end_leftovers():
                view.say(f"ended {name}, left over from a stack that was killed")
            return asyncio.run(_run(stack, lock, view))
        except (UnsafeSecretsFileError, PostgresSetupError, FileNotFoundError) as error:
            view.fail(str(error))
            return 1
        finally:
            lock.release()


async def _run(stack: Stack, lock: InstanceLock, view: StackConsole) -> int:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in _SIGNALS:
        loop.add_signal_handler(number, stop.set)
    conflicts = await _settled_conflicts(stack.settings)
    if conflicts:
        for conflict in conflicts:
            view.fail(conflict.message())
        return 1
    starting = asyncio.create_task(stack.supervisor.start())
    stopping = asyncio.create_task(stop.wait())
    try:
        await asyncio.wait({starting, stopping}, return_when=asyncio.FIRST_COMPLETED)
        if not starting.done():
            starting.cancel()
            await asyncio.gather(starting, return_exceptions=True)
            view.say("stopped before it was ready")
            return 130
        starting.result()
        lock.announce("ready")
        view.ready(stack.settings.page_url, _account_lines(stack))
        await stopping
        view.say("")
        return 0
    except (UnitStartError, UnsafeServiceError) as error:
        view.fail(str(error))
        return 1
    finally:
        stopping.cancel()
        lock.announce("stopping")
        for number in _SIGNALS:
            loop.remove_signal_handler(number)
            # A second Ctrl-C must not cut the stop short; the time-out below does.
            signal.signal(number, signal.SIG_IGN)
        async with asyncio.timeout(_STOP_SECONDS):
            await stack.supervisor.stop_all()


async def _settled_conflicts(settings: StackSettings) -> list[PortConflict]:
    """Ports that are taken, and still are after a little patience."""
    deadline = asyncio.get_running_loop().time() + _PORT_PATIENCE_SECONDS
    while conflicts := find_conflicts(settings.ports()):
        known = any(conflict.holder is not None for conflict in conflicts)
        if known or asyncio.get_running_loop().time() > deadline:
            return conflicts
        await asyncio.sleep(0.2)
    return []


def _account_lines(stack: Stack) -> list[str]:
    """The first account: in full at the first start that gets this far, later only where it is kept."""
    email = stack.settings.first_user_email
    shown = stack.settings.data_dir / "first-account-shown"
    if not shown.exists():
        shown.touch()
        password = stack.environments.first_user_password()
        return ["Sign in with the account that was just made (this is shown once):", f"    {email}   {password}"]
    kept = stack.settings.data_dir / "secrets.json"
    return [f"Sign in as {email}; its first password is `first_user_password` in {kept}"]
