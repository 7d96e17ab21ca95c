"""The live executor over HTTP, on real Postgres and S3."""

from collections.abc import Iterator
from uuid import uuid4

import pytest
from executor_client import Executor
from stack.testing import EmbeddedStack


@pytest.fixture(scope="session")
def executor(embedded_services: EmbeddedStack) -> Iterator[Executor]:
    embedded_services.ensure("executor")
    client = Executor(embedded_services)
    yield client
    client.http.close()


@pytest.fixture
def workspace() -> str:
    """A new workspace."""
    return f"threads/{uuid4()}"


@pytest.fixture
def session(executor: Executor, workspace: str) -> str:
    """A session over a new workspace."""
    return str(executor.create(workspace)["session"])
