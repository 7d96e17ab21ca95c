"""LangChain's own conformance suite for sandboxes, on MicrosandboxBackend over HTTP to the live executor."""

from collections.abc import Iterator
from uuid import UUID, uuid4

import pytest
from app.agent.backend import MicrosandboxBackend
from app.agent.context import RunIdentity
from app.agent.sandbox import build_sandbox_backend
from app.settings import RuntimeSettings
from langchain_tests.integration_tests import SandboxIntegrationTests
from product_client import Person
from stack.testing import EmbeddedStack

# The suite was written against an older Deep Agents: an unmodified BaseSandbox of the pinned version fails these too.
LAGGING = {
    "test_glob": "the suite expects entries that globbing does not return any more",
    "test_glob_basic_pattern": "a bare pattern matches at any depth now",
    "test_glob_with_directories": "directories are left out of the matches now",
    "test_glob_hidden_files_explicitly": "hidden files match by another rule now",
    "test_glob_with_character_class": "a bare pattern matches at any depth now",
    "test_glob_with_question_mark": "a bare pattern matches at any depth now",
    "test_write_existing_file_fails": "writing an existing file replaces it now",
}


class TestMicrosandboxBackend(SandboxIntegrationTests):
    @pytest.fixture(scope="class")
    @classmethod
    def sandbox(cls, product: EmbeddedStack) -> Iterator[MicrosandboxBackend]:
        environment = product.env_of("runtime")
        settings = RuntimeSettings.model_validate({name.lower(): value for name, value in environment.items()})
        with Person(product.base_url("backend")) as owner:
            identity = RunIdentity(user_id=uuid4(), thread_id=UUID(owner.thread()), run_id=uuid4())
            yield build_sandbox_backend(settings, identify=lambda: identity)

    @pytest.fixture(autouse=True)
    def known_lag(self, request: pytest.FixtureRequest) -> None:
        reason = LAGGING.get(request.node.name.split("[")[0])
        if reason:
            request.applymarker(pytest.mark.xfail(reason=reason, strict=True))
