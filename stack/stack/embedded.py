"""A whole stack in a folder of its own, on free ports, started as it is asked for: for tests and for measuring.

The supervisor runs on an event loop in a thread of its own: services are watched while the caller blocks, and the
awaitable methods may be used from any loop.
"""

import asyncio
import os
import shutil
import tempfile
import threading
from collections.abc import Coroutine, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from stack.assembly import Stack, assemble
from stack.ports import LOOPBACK, pick_free_ports
from stack.secrets import InstallSecrets
from stack.service_logs import last_lines, log_path
from stack.settings import SEAWEED_GRPC_OFFSET, StackSettings, settings_from

if TYPE_CHECKING:
    from stack.supervisor import UnitEvent

_START_SECONDS = 180.0
_STOP_SECONDS = 120.0
_SINGLE_PORTS = ("BACKEND_PORT", "RUNTIME_PORT", "EXECUTOR_PORT", "POSTGRES_PORT", "REDIS_PORT")
_PAIRED_PORTS = ("S3_PORT", "S3_MASTER_PORT", "S3_VOLUME_PORT", "S3_FILER_PORT", "S3_ADMIN_PORT")
# What a person's environment or .env may hold and tests must not see.
_HIDDEN_FROM_TESTS = ("AGENT_", "ANTHROPIC_", "OPENAI_", "AUTH_", "FIRST_USER_", "SANDBOX_", "EXECUTOR_", "UPLOAD_")


class EmbeddedStack:
    """A stack in a temporary DATA_DIR. Use as a context manager; leaving it stops everything and removes the folder."""

    def __init__(self, overrides: Mapping[str, str] | None = None) -> None:
        self.events: list[UnitEvent] = []
        # World-traversable, because under root Postgres runs as another user; nothing in it is readable to others.
        self._folder = Path(tempfile.mkdtemp(prefix="stack-"))
        self._folder.chmod(0o711)
        self._overrides = dict(overrides or {})
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="embedded stack", daemon=True)
        self._stack: Stack | None = None

    def __enter__(self) -> Self:
        environment = _test_environment(self._folder / "data") | self._overrides
        self._stack = assemble(environment, settings_from(environment), self.events.append)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop_all()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_STOP_SECONDS)
        self._loop.close()
        if os.environ.get("KEEP_TEST_DATA"):
            print(f"kept {self._folder}")
        else:
            self._remove_data()

    def stop_all(self) -> None:
        """Stop every service, dependents first; `ensure` starts them again on the same data. Blocks."""
        self._wait_for(self._assembled.supervisor.stop_all(), _STOP_SECONDS)

    # --- starting and breaking ------------------------------------------------------------------------------------

    def ensure(self, *units: str) -> Self:
        """Start the units and what they need unless they run; blocks until all are ready.

        Raises UnitStartError (with the last log lines) when one does not come up.
        """
        self._wait_for(self._assembled.supervisor.start(*units), _START_SECONDS)
        return self

    async def start(self, *units: str) -> None:
        """The same for async tests."""
        await self._on_own_loop(self._assembled.supervisor.start(*units))

    async def stop(self, unit: str) -> None:
        """Ask the service to stop and keep it stopped."""
        await self._on_own_loop(self._assembled.supervisor.stop(unit))

    async def kill(self, unit: str) -> None:
        """SIGKILL; the service stays down until `start`."""
        await self._on_own_loop(self._assembled.supervisor.kill(unit))

    async def restart(self, unit: str) -> None:
        """Ask it to stop, start it, wait until it is ready."""
        await self.stop(unit)
        await self.start(unit)

    async def crash(self, unit: str) -> None:
        """SIGKILL behind the supervisor's back; returns once the supervisor has the service ready again."""
        async with asyncio.timeout(_START_SECONDS):
            await self._on_own_loop(self._assembled.supervisor.crash(unit))

    # --- what is where --------------------------------------------------------------------------------------------

    @property
    def settings(self) -> StackSettings:
        """Ports and folders."""
        return self._assembled.settings

    @property
    def secrets(self) -> InstallSecrets:
        """The secrets of this throw-away install."""
        return self._assembled.secrets

    def env_of(self, service: str) -> dict[str, str]:
        """The whole environment of a service (executor, runtime, backend) or of a `...-schema` task, running or not."""
        environments = self._assembled.environments
        builders = {"executor": environments.executor, "runtime": environments.runtime, "backend": environments.backend}
        if service in builders:
            return builders[service]()
        return environments.migrations(service.removesuffix("-schema"))

    def base_url(self, service: str) -> str:
        """`http://127.0.0.1:port` of executor, runtime, backend or s3."""
        settings = self.settings
        ports = {
            "executor": settings.executor_port,
            "runtime": settings.runtime_port,
            "backend": settings.backend_port,
            "s3": settings.s3_port,
        }
        return f"http://{LOOPBACK}:{ports[service]}"

    @property
    def page_url(self) -> str:
        """Where a browser opens the page (`http://localhost:port`: the origin that cookies and CORS are for)."""
        return self.settings.page_url

    @property
    def first_user(self) -> tuple[str, str]:
        """E-mail and password of the account that the backend makes at its first start."""
        return self.settings.first_user_email, self._assembled.environments.first_user_password()

    def pid(self, unit: str) -> int | None:
        """The process id of a running unit."""
        return self._assembled.supervisor.pid(unit)

    def log_file(self, unit: str) -> Path:
        """Where the unit logs."""
        return log_path(self.settings.log_dir, unit)

    def log_tail(self, unit: str, lines: int = 40) -> str:
        """The newest lines of the unit's log, for a failure message."""
        return "\n".join(last_lines(self.settings.log_dir, unit, lines))

    # --- inside ---------------------------------------------------------------------------------------------------

    @property
    def _assembled(self) -> Stack:
        if self._stack is None:
            raise RuntimeError("the stack is not entered: use `with embedded_stack(...) as stack:`")
        return self._stack

    def _wait_for[ResultT](self, work: Coroutine[object, object, ResultT], seconds: float) -> ResultT:
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result(seconds)
        except BaseException:
            future.cancel()
            raise

    async def _on_own_loop[ResultT](self, work: Coroutine[object, object, ResultT]) -> ResultT:
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop))

    def _remove_data(self) -> None:
        data = self.settings.data_dir / "postgres"
        if data.is_symlink():
            shutil.rmtree(data.resolve(), ignore_errors=True)
        shutil.rmtree(self._folder, ignore_errors=True)


@contextmanager
def embedded_stack(*units: str, overrides: Mapping[str, str] | None = None) -> Iterator[EmbeddedStack]:
    """A stack of one's own with `units` running; `overrides` are variables as in `.env.example`."""
    with EmbeddedStack(overrides) as stack:
        if units:
            stack.ensure(*units)
        yield stack


def _test_environment(data_dir: Path) -> dict[str, str]:
    """The outer environment without a person's own settings, with free ports and without waiting for the disk."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_HIDDEN_FROM_TESTS)}
    single = pick_free_ports(len(_SINGLE_PORTS) + len(_PAIRED_PORTS) * 2)
    paired = pick_free_ports(len(_PAIRED_PORTS), paired_with_offset=SEAWEED_GRPC_OFFSET)
    taken = {port + offset for port in paired for offset in (0, SEAWEED_GRPC_OFFSET)}
    ports = dict(zip(_SINGLE_PORTS, (port for port in single if port not in taken), strict=False))
    ports |= dict(zip(_PAIRED_PORTS, paired, strict=True))
    return {
        **kept,
        **{name: str(port) for name, port in ports.items()},
        "DATA_DIR": str(data_dir),
        "PUBLIC_BASE_URL": "",
        "POSTGRES_FSYNC": "false",
        "REDIS_ENABLED": "true",
    }
