"""`python -m executor.migrate`: brings database `executor` to the newest schema, once, whoever else calls it."""

import sys
from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, create_engine, text

from executor.config import MigrationSettings, load_settings

# Any number that no other user of this database takes: it names the migration lock.
_ADVISORY_LOCK = 0x65786563


def alembic_config(connection: Connection) -> Config:
    """Alembic's configuration bound to an open connection."""
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "metadata" / "migrations"))
    config.set_main_option("file_template", "%%(rev)s_%%(slug)s")
    config.attributes["connection"] = connection
    return config


def grant_service_role(connection: Connection, role: str) -> None:
    """Let the service role read and write rows, and nothing else. A role that does not exist is left out."""
    exists = connection.execute(text("SELECT 1 FROM pg_roles WHERE rolname = :role"), {"role": role}).scalar()
    owner = connection.execute(text("SELECT current_user")).scalar()
    if not exists or owner == role:
        return
    quoted = connection.dialect.identifier_preparer.quote(role)
    connection.execute(text(f"GRANT USAGE ON SCHEMA public TO {quoted}"))
    connection.execute(text(f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {quoted}"))
    connection.execute(text(f"REVOKE ALL ON alembic_version FROM {quoted}"))


def migrate(url: str, service_role: str) -> None:
    """Upgrade to head under an advisory lock and grant the service role its rights."""
    engine = create_engine(url)
    with engine.connect() as connection:
        connection.execute(text("SELECT pg_advisory_lock(:lock)"), {"lock": _ADVISORY_LOCK})
        connection.commit()
        try:
            command.upgrade(alembic_config(connection), "head")
            grant_service_role(connection, service_role)
            connection.commit()
        finally:
            connection.execute(text("SELECT pg_advisory_unlock(:lock)"), {"lock": _ADVISORY_LOCK})
            connection.commit()
    engine.dispose()


def main() -> None:
    settings = load_settings(MigrationSettings)
    migrate(settings.executor_migrations_database_url, settings.executor_database_role)
    sys.stdout.write("database executor is at the newest schema\n")


if __name__ == "__main__":
    main()
