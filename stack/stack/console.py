"""What people see while the stack starts, runs and stops: one line a change, a spinner for what is pending."""

import time
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Self

from rich.console import Console
from rich.markup import escape

from stack.supervisor import UnitEvent, UnitState

if TYPE_CHECKING:
    from rich.status import Status

_NAME_WIDTH = 16


class StackConsole:
    """Listens to the supervisor. On a terminal the pending units stand in a live line below."""

    def __init__(self, console: Console, *, log_dir_shown: str) -> None:
        self._console = console
        self._log_dir = log_dir_shown
        self._pending: dict[str, str] = {}
        self._status: Status | None = None
        self._started = time.monotonic()

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._status = self._console.status("")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._status is not None:
            self._status.stop()

    def show(self, event: UnitEvent) -> None:
        """Print what changed."""
        name, took = event.name.ljust(_NAME_WIDTH), f"{event.seconds:5.1f} s"
        match event.state:
            case UnitState.STARTING:
                self._pending[event.name] = "starting"
            case UnitState.READY | UnitState.DONE:
                self._pending.pop(event.name, None)
                self._console.print(f"  [green]✓[/] {name} {took}  [dim]{escape(event.detail)}[/]", highlight=False)
            case UnitState.CRASHED:
                self._crashed(event)
            case UnitState.REFUSED:
                self._pending.pop(event.name, None)
                self._console.print(f"  [red]✗[/] {name} {escape(event.detail)}", highlight=False)
            case UnitState.STOPPING:
                self._pending[event.name] = "stopping"
            case UnitState.STOPPED | UnitState.KILLED:
                self._pending.pop(event.name, None)
                note = f"  [yellow]{escape(event.detail)}[/]" if event.detail else ""
                self._console.print(f"  [dim]■[/] {name} {took}{note}", highlight=False)
        self._refresh()

    def ready(self, page_url: str, account_lines: Sequence[str]) -> None:
        """The closing words of a start."""
        self._pending.clear()
        self._refresh()
        took = time.monotonic() - self._started
        self._console.print(f"\n[bold]Ready in {took:.1f} s[/]   {page_url}\n", highlight=False)
        for line in account_lines:
            self._console.print(f"  {escape(line)}", highlight=False)
        self._console.print("  Ctrl-C stops everything; the data stays.\n", highlight=False)

    def say(self, text: str) -> None:
        """A plain line."""
        self._console.print(escape(text), highlight=False)

    def fail(self, text: str) -> None:
        """A line about something that went wrong."""
        self._console.print(f"[red]✗[/] {escape(text)}", highlight=False)

    def _crashed(self, event: UnitEvent) -> None:
        self._pending[event.name] = "restarting"
        what = f"{event.name} ended ({event.detail}); starting it again in {event.seconds:.1f} s"
        self._console.print(f"  [red]✗[/] {escape(what)}", highlight=False)
        if event.log_lines:
            self._console.print(f"    last lines of {self._log_dir}/{event.name}.log:", highlight=False)
        for line in event.log_lines:
            self._console.print(f"    [dim]{escape(line)}[/]", highlight=False)

    def _refresh(self) -> None:
        if self._status is None:
            return
        if self._pending:
            self._status.update("[dim]" + ", ".join(f"{name} {state}" for name, state in self._pending.items()) + "[/]")
            self._status.start()
        else:
            self._status.stop()
