"""The embedded stack for tests: real services on free ports, in a folder of their own, started as they are asked for.

    pytest_plugins = ["stack.testing"]

    def test_something(embedded_services):                 # session-scoped; starts nothing by itself
        embedded_services.ensure("postgres", "s3")         # starts these and what they need, once per test session
        url = embedded_services.env_of("executor")["EXECUTOR_DATABASE_URL"]

    async def test_restart(embedded_services):
        embedded_services.ensure("backend")                # the backend needs everything
        await embedded_services.kill("runtime")            # SIGKILL; stays down
        await embedded_services.start("runtime")           # and waits until it is ready
        await embedded_services.restart("backend")         # asked to stop, then started
        await embedded_services.crash("executor")          # SIGKILL; the supervisor starts it again; waits until ready

Units: postgres, s3, redis, executor, runtime, backend, and app-schema, executor-schema, runtime-schema (the databases,
migrated). A stack of one's own: `with embedded_stack("runtime", overrides={"REDIS_ENABLED": "false"}) as stack:`.
"""

from collections.abc import Iterator

import pytest

from stack.embedded import EmbeddedStack, embedded_stack

__all__ = ["EmbeddedStack", "embedded_services", "embedded_stack"]


@pytest.fixture(scope="session")
def embedded_services() -> Iterator[EmbeddedStack]:
    """The stack that the tests of a session share. Ask it for what the test needs with `ensure`."""
    with embedded_stack() as stack:
        yield stack
