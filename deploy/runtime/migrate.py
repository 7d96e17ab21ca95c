"""Brings database `runtime` to the schema of the installed runtime (Aegra) and of LangGraph's checkpoints and store.

    RUNTIME_MIGRATIONS_DATABASE_URL=postgresql://runtime_owner:...@host:port/runtime python migrate.py

Runs under the role that owns the tables, once however many callers there are: an advisory lock holds the others back
(LangGraph's own `setup` is idempotent, but not safe to run twice at the same time).
"""

import os
import sys

# Any number that no other user of this database takes: it names the migration lock.
_ADVISORY_LOCK = 0x72756E74696D65


def main() -> None:
    url = os.environ.get("RUNTIME_MIGRATIONS_DATABASE_URL")
    if not url:
        sys.exit(
            "bad setting: RUNTIME_MIGRATIONS_DATABASE_URL: must name database `runtime` under the role that owns it"
        )
    # The runtime reads its settings while it is imported.
    os.environ["DATABASE_URL"] = url

    import psycopg
    from aegra_api.core.migrations import run_migrations
    from langgraph.checkpoint.postgres import PostgresSaver
    from langgraph.store.postgres import PostgresStore
    from psycopg.rows import dict_row

    # CREATE INDEX CONCURRENTLY, which `setup` uses, is refused inside a transaction.
    with psycopg.connect(url, autocommit=True, row_factory=dict_row, connect_timeout=10) as connection:
        connection.execute("SELECT pg_advisory_lock(%s)", (_ADVISORY_LOCK,))
        run_migrations()
        PostgresSaver(connection).setup()
        PostgresStore(connection).setup()
    sys.stdout.write("database runtime is at the newest schema\n")


if __name__ == "__main__":
    main()
