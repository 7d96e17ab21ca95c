"""Nobody reaches what is another's: every route that takes an id, by enumeration of the OpenAPI document."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from product_client import Person
from stack.testing import EmbeddedStack

# Routes that anybody may call.
OPEN = {
    ("POST", "/api/auth/register"),
    ("POST", "/api/auth/login"),
    ("POST", "/api/auth/refresh"),
    ("POST", "/api/auth/logout"),
    ("GET", "/api/meta"),
    ("GET", "/healthz"),
    ("GET", "/readyz"),
}
# Routes that take no id: each person sees only their own by construction of the query; tested by what they list.
OWN_LISTS = {
    ("GET", "/api/auth/me"),
    ("GET", "/api/auth/api-keys"),
    ("POST", "/api/auth/api-keys"),
    ("GET", "/api/threads"),
    ("POST", "/api/threads"),
}


@dataclass(frozen=True, slots=True)
class Belongings:
    """What the owner has; each value is an id that the stranger must not reach."""

    thread_id: str
    file_id: str
    run_id: str
    key_id: str
    upload_id: str


def bodies(mine: Belongings) -> dict[tuple[str, str], dict[str, Any]]:
    """A valid body for each route that takes one. A route with a body that is not here fails the test."""
    file = {"thread_id": mine.thread_id, "file_id": mine.file_id}
    return {
        ("PATCH", "/api/threads/{thread_id}"): {"title": "taken over"},
        ("POST", "/api/chat/stream"): {"thread_id": mine.thread_id, "message": "what is in it?"},
        ("POST", "/api/files/presign-upload"): {
            "thread_id": mine.thread_id,
            "filename": "x.csv",
            "content_type": "text/csv",
            "size": 3,
        },
        ("POST", "/api/files/complete-upload"): {"thread_id": mine.thread_id, "upload_id": mine.upload_id},
        ("POST", "/api/files/presign-download"): file,
    }


@pytest.fixture(scope="module")
def owner(product: EmbeddedStack) -> Iterator[Person]:
    with Person(product.base_url("backend")) as somebody:
        yield somebody


@pytest.fixture(scope="module")
def belongings(owner: Person) -> Belongings:
    thread = owner.thread()
    file = owner.upload(thread, "mine.csv", b"a,b\n1,2\n")
    run = owner.ask(thread, "how many rows are there?", [file["id"]]).run
    key = owner.http.post("/auth/api-keys", json={"name": "mine"}).json()
    pending = owner.presign(thread, "later.csv", 3)
    return Belongings(thread, file["id"], run["id"], key["id"], pending["upload_id"])


def operations(product: EmbeddedStack) -> list[tuple[str, str, dict[str, Any]]]:
    document = httpx.get(f"{product.base_url('backend')}/api/openapi.json").json()
    return [
        (method.upper(), path, operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]


def request_for(method: str, path: str, operation: dict[str, Any], mine: Belongings) -> dict[str, Any]:
    """The request that the owner could make; fails for a parameter or a body that this test does not know."""
    url = path
    for parameter in operation.get("parameters", []):
        if parameter["in"] == "path":
            value = getattr(mine, parameter["name"], None)
            assert value is not None, f"{method} {path} takes {parameter['name']}, which this test does not know"
            url = url.replace(f"{{{parameter['name']}}}", value)
    options: dict[str, Any] = {"method": method, "url": url.removeprefix("/api")}
    if "requestBody" in operation:
        body = bodies(mine).get((method, path))
        assert body is not None, f"{method} {path} takes a body, which this test does not know"
        options["json"] = body
    return options


class TestEveryRoute:
    def test_a_stranger_gets_404_wherever_an_id_goes_in(
        self, product: EmbeddedStack, stranger: Person, belongings: Belongings, owner: Person
    ) -> None:
        checked = 0
        for method, path, operation in operations(product):
            if (method, path) in OPEN | OWN_LISTS:
                continue
            response = stranger.http.request(**request_for(method, path, operation, belongings))
            assert response.status_code == 404, f"{method} {path} gave {response.status_code}: {response.text[:200]}"
            assert response.json()["code"] == "not_found"
            checked += 1
        assert checked >= 16
        # And nothing happened to what they tried to reach.
        assert owner.http.get(f"/threads/{belongings.thread_id}").json()["title"] != "taken over"
        assert {file["id"] for file in owner.files(belongings.thread_id)} >= {belongings.file_id}
        assert belongings.key_id in {key["id"] for key in owner.http.get("/auth/api-keys").json()["items"]}

    def test_nobody_gets_401(self, product: EmbeddedStack, belongings: Belongings) -> None:
        anonymous = httpx.Client(base_url=f"{product.base_url('backend')}/api")
        for method, path, operation in operations(product):
            if (method, path) in OPEN:
                continue
            options = (
                {"method": method, "url": path.removeprefix("/api"), "json": {"name": "x"}}
                if (method, path) in OWN_LISTS
                else request_for(method, path, operation, belongings)
            )
            response = anonymous.request(**options)
            assert response.status_code == 401, f"{method} {path} gave {response.status_code}"

    def test_lists_show_a_stranger_nothing_of_it(self, stranger: Person, belongings: Belongings) -> None:
        assert stranger.http.get("/threads").json()["items"] == []
        assert stranger.http.get("/auth/api-keys").json()["items"] == []

    def test_a_file_of_another_thread_cannot_be_asked_about(self, stranger: Person, belongings: Belongings) -> None:
        response = stranger.http.post(
            "/chat/stream",
            json={"thread_id": stranger.thread(), "message": "show it", "file_ids": [belongings.file_id]},
        )
        assert response.status_code == 404
