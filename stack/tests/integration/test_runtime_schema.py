"""Database `runtime` after its migration: what its service role may do, and why it has one right more than others."""

import psycopg
import pytest
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.store.postgres import PostgresStore
from psycopg.rows import dict_row
from stack.services.postgres import database_url
from stack.testing import EmbeddedStack


@pytest.fixture(scope="module")
def migrated(embedded_services: EmbeddedStack) -> EmbeddedStack:
    return embedded_services.ensure("runtime-schema")


def url(stack: EmbeddedStack, role: str) -> str:
    return database_url(stack.settings, stack.secrets, "runtime", role)


def test_the_runtimes_own_setup_at_each_start_finds_everything_there(migrated: EmbeddedStack) -> None:
    with psycopg.connect(url(migrated, "runtime"), autocommit=True, row_factory=dict_row) as connection:
        PostgresSaver(connection).setup()
        PostgresStore(connection).setup()
        owned = connection.execute("SELECT tablename FROM pg_tables WHERE tableowner = 'runtime'").fetchall()
        present = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
    assert owned == []
    assert {"checkpoints", "checkpoint_writes", "store", "thread", "runs"} <= {row["tablename"] for row in present}


def test_the_service_role_cannot_change_a_table(migrated: EmbeddedStack) -> None:
    with (
        psycopg.connect(url(migrated, "runtime"), autocommit=True) as connection,
        pytest.raises(psycopg.errors.InsufficientPrivilege),
    ):
        connection.execute("DROP TABLE checkpoints")


def test_without_the_right_to_create_that_setup_is_refused(migrated: EmbeddedStack) -> None:
    """When this fails, the extra right in `services/postgres.py` and `init-databases.sh` can go."""
    with psycopg.connect(url(migrated, "runtime_owner"), autocommit=True) as owner:
        owner.execute("REVOKE CREATE ON SCHEMA public FROM runtime")
        try:
            with (
                psycopg.connect(url(migrated, "runtime"), autocommit=True, row_factory=dict_row) as connection,
                pytest.raises(psycopg.errors.InsufficientPrivilege),
            ):
                PostgresSaver(connection).setup()
        finally:
            owner.execute("GRANT CREATE ON SCHEMA public TO runtime")
