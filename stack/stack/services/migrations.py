"""Brings the three databases to the newest schema before anything uses them, and skips that when it was done already.

What was done is remembered in the database itself (its comment), so that it goes wherever the database goes.
"""

import hashlib
import sys
from collections.abc import Iterable
from pathlib import Path

import psycopg
from psycopg import sql

from stack.service_environment import ServiceEnvironments
from stack.services.postgres import database_url
from stack.settings import REPOSITORY_ROOT
from stack.units import Task

_CONNECT_SECONDS = 5
_MARK = "schema "
_LOCK_FILE = REPOSITORY_ROOT / "requirements-dev.lock"
_RUNTIME_PROGRAM = REPOSITORY_ROOT / "deploy" / "runtime" / "migrate.py"
_EXECUTOR = REPOSITORY_ROOT / "microsandbox-executor" / "executor"
_BACKEND = REPOSITORY_ROOT / "backend" / "app"

_PROGRAMS = {
    "app": ("-m", "app.migrate"),
    "executor": ("-m", "executor.migrate"),
    "runtime": (str(_RUNTIME_PROGRAM),),
}
# What decides a schema. The lock is in each: the runtime's migrations, and the tool that runs the others, are packages.
_SOURCES = {
    "app": (_LOCK_FILE, _BACKEND / "migrate.py", _BACKEND / "db" / "migrations"),
    "executor": (_LOCK_FILE, _EXECUTOR / "migrate.py", _EXECUTOR / "metadata"),
    "runtime": (_LOCK_FILE, _RUNTIME_PROGRAM),
}


def migration_tasks(environments: ServiceEnvironments) -> list[Task]:
    """One task a database, each under the role that owns it."""
    return [_migration_task(environments, database) for database in _PROGRAMS]


def _migration_task(environments: ServiceEnvironments, database: str) -> Task:
    url = database_url(environments.settings, environments.secrets, database, f"{database}_owner")
    wanted = _MARK + fingerprint(_SOURCES[database])

    async def is_done() -> bool:
        async with await psycopg.AsyncConnection.connect(url, connect_timeout=_CONNECT_SECONDS) as connection:
            query = "SELECT shobj_description(oid, 'pg_database') FROM pg_database WHERE datname = current_database()"
            row = await (await connection.execute(query)).fetchone()
            return row is not None and row[0] == wanted

    async def remember() -> None:
        async with await psycopg.AsyncConnection.connect(url, connect_timeout=_CONNECT_SECONDS) as connection:
            statement = sql.SQL("COMMENT ON DATABASE {} IS {}")
            await connection.execute(statement.format(sql.Identifier(database), sql.Literal(wanted)))

    return Task(
        name=f"{database}-schema",
        argv=(sys.executable, *_PROGRAMS[database]),
        environment=environments.migrations(database),
        after=frozenset({"postgres"}),
        working_dir=REPOSITORY_ROOT,
        is_done=is_done,
        remember=remember,
    )


def fingerprint(sources: Iterable[Path]) -> str:
    """A hash over the names and the content of the files, and of the Python files in the folders."""
    digest = hashlib.sha256()
    for source in sources:
        for file in [source] if source.is_file() else sorted(source.rglob("*.py")):
            digest.update(str(file.relative_to(source.parent)).encode() + b"\0")
            digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()
