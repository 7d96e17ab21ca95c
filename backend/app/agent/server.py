"""`python -m app.agent.server`: the agent runtime, started only when it is safe to.

Aegra serves everybody when its auth module is missing or broken, and starts with a graph that cannot be loaded; both
stop the start here. uvicorn runs in this very process, so that SIGTERM reaches it and drains the runs.
"""

import argparse
import os
import sys
from pathlib import Path

import psycopg
import uvicorn

from app.settings import RuntimeSettings, load_settings

_DEFAULT_CONFIG = Path(__file__).parents[2] / "langgraph.json"


def check_before_start() -> None:
    """Exit with code 2 and the reason unless the settings, the graph and the auth handler are there."""
    load_settings(RuntimeSettings)
    from aegra_api.core.auth_middleware import LangGraphAuthBackend

    import app.agent.graph

    if LangGraphAuthBackend().auth_instance is None:
        sys.stderr.write(
            "the runtime's auth handler could not be loaded: it would serve everybody, so it does not start\n"
        )
        sys.exit(2)
    sys.stdout.write(f"graph {app.agent.graph.graph.name} and auth handler loaded\n")


def release_orphaned_runs() -> None:
    """Without Redis this is the only process: what its database calls running died with the process before it.

    Marked as interrupted, the backend finds such a run and resumes it; otherwise it would stay `running` for ever.
    """
    from aegra_api.settings import settings

    if settings.redis.REDIS_BROKER_ENABLED:
        return
    with psycopg.connect(settings.db.database_url_sync, connect_timeout=5) as connection:
        released = connection.execute("UPDATE runs SET status = 'interrupted' WHERE status IN ('pending', 'running')")
        sys.stdout.write(f"orphaned runs released: {released.rowcount}\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=2026)
    options = parser.parse_args()
    os.environ.setdefault("AEGRA_CONFIG", str(_DEFAULT_CONFIG))
    check_before_start()
    release_orphaned_runs()
    uvicorn.run(
        "aegra_api.main:app", host=options.host, port=options.port, log_config=None, timeout_graceful_shutdown=40
    )


if __name__ == "__main__":
    main()
