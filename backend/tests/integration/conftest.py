"""The whole product on real services, and people who use it."""

from collections.abc import Iterator

import pytest
from product_client import Person
from stack.testing import EmbeddedStack


@pytest.fixture(scope="session")
def product(embedded_services: EmbeddedStack) -> EmbeddedStack:
    """The stack with its default model, the offline analyst."""
    return embedded_services.ensure("backend")


@pytest.fixture
def person(product: EmbeddedStack) -> Iterator[Person]:
    with Person(product.base_url("backend")) as somebody:
        yield somebody


@pytest.fixture
def stranger(product: EmbeddedStack) -> Iterator[Person]:
    with Person(product.base_url("backend")) as somebody:
        yield somebody
