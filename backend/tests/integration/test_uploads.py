"""Uploads: a presigned URL is good for exactly one thing, and what arrived is checked."""

import asyncio
import hashlib
import time
from typing import Any

import httpx
import pytest
from app.storage.object_store import ObjectStore
from product_client import Person
from stack.testing import EmbeddedStack

CONTENT = b"region,revenue\nNorth,10\nSouth,20\n"


def put(presigned: dict[str, Any], content: bytes = CONTENT, url: str | None = None, **headers: str) -> int:
    return httpx.put(url or presigned["url"], content=content, headers={**presigned["headers"], **headers}).status_code


def complete(person: Person, thread: str, presigned: dict[str, Any], sha256: str | None = None) -> httpx.Response:
    return person.http.post(
        "/files/complete-upload",
        json={"thread_id": thread, "upload_id": presigned["upload_id"], "sha256": sha256},
    )


class TestPresignedUpload:
    @pytest.fixture
    def thread(self, person: Person) -> str:
        return person.thread()

    @pytest.fixture
    def presigned(self, person: Person, thread: str) -> dict[str, Any]:
        return person.presign(thread, "sales.csv", len(CONTENT))

    def test_the_announced_file_is_taken_and_comes_back_the_same(
        self, person: Person, thread: str, presigned: dict[str, Any]
    ) -> None:
        assert put(presigned) == 200
        response = complete(person, thread, presigned, hashlib.sha256(CONTENT).hexdigest())
        assert response.status_code == 201
        file = response.json()
        assert file["sha256"] == hashlib.sha256(CONTENT).hexdigest()
        assert file["size"] == len(CONTENT)
        assert file["guest_path"] == "/uploads/sales.csv"
        assert person.content(file) == CONTENT

    def test_completing_twice_gives_the_same_file(self, person: Person, thread: str, presigned: dict[str, Any]) -> None:
        put(presigned)
        first, second = complete(person, thread, presigned), complete(person, thread, presigned)
        assert first.json()["id"] == second.json()["id"]
        assert len(person.files(thread)) == 1

    def test_everything_else_with_that_url_is_refused(self, presigned: dict[str, Any]) -> None:
        other_key = presigned["url"].replace("/sales.csv", "/other.csv")
        assert put(presigned, url=other_key) == 403
        assert put(presigned, content=CONTENT + b"more") == 403
        assert put(presigned, content=CONTENT[:-1]) == 403
        assert put(presigned, **{"Content-Type": "text/html"}) == 403
        for method in ("GET", "DELETE", "POST", "HEAD"):
            assert httpx.request(method, presigned["url"], headers=presigned["headers"]).status_code in {403, 405}

    def test_an_unsigned_copy_source_does_not_leak_another_object(
        self, person: Person, thread: str, presigned: dict[str, Any], stranger: Person
    ) -> None:
        theirs = stranger.upload(stranger.thread(), "secret.csv", b"secret")
        source = f"/analyst/threads/{theirs['thread_id']}/uploads/{theirs['id']}/secret.csv"
        assert put(presigned, **{"x-amz-copy-source": source}) == 403

    def test_an_expired_url_is_refused(self, product: EmbeddedStack) -> None:
        env = product.env_of("backend")
        store = ObjectStore(
            endpoint_url=env["S3_ENDPOINT_URL"],
            public_url=env["S3_ENDPOINT_URL"],
            region="us-east-1",
            bucket=env.get("S3_BUCKET", "analyst"),
            access_key_id=env["S3_ACCESS_KEY_ID"],
            secret_access_key=env["S3_SECRET_ACCESS_KEY"],
        )
        request = asyncio.run(
            store.presign_put("threads/t/uploads/u/x.csv", content_type="text/csv", size=3, ttl_seconds=1)
        )
        time.sleep(2.5)
        assert httpx.put(request.url, content=b"abc", headers=request.headers).status_code == 403

    def test_it_cannot_be_completed_before_it_has_arrived(
        self, person: Person, thread: str, presigned: dict[str, Any]
    ) -> None:
        response = complete(person, thread, presigned)
        assert (response.status_code, response.json()["code"]) == (409, "upload_missing")

    def test_a_hash_that_differs_refuses_the_file(self, person: Person, thread: str, presigned: dict[str, Any]) -> None:
        put(presigned)
        response = complete(person, thread, presigned, "0" * 64)
        assert (response.status_code, response.json()["code"]) == (409, "upload_mismatch")
        assert person.files(thread) == []


class TestLimits:
    def test_an_empty_file_is_refused_with_words(self, person: Person) -> None:
        response = person.http.post(
            "/files/presign-upload",
            json={"thread_id": person.thread(), "filename": "empty.csv", "content_type": "text/csv", "size": 0},
        )
        assert response.status_code == 422
        assert "empty" in response.json()["detail"]

    def test_a_file_over_the_limit_is_refused_before_it_is_sent(self, person: Person) -> None:
        limit = person.http.get("/meta").json()["limits"]["upload_max_bytes"]
        response = person.http.post(
            "/files/presign-upload",
            json={"thread_id": person.thread(), "filename": "big.csv", "content_type": "text/csv", "size": limit + 1},
        )
        assert (response.status_code, response.json()["code"]) == (413, "upload_too_large")
        assert response.json()["max_bytes"] == limit


class TestNames:
    @pytest.mark.parametrize(
        "name",
        [
            "报告.csv",
            "plan-🚀.csv",
            "a'b\"c.csv",
            "x" * 251 + ".csv",
            "semi;colon & space.csv",
            "%41%2e%2e.csv",
            "..csv",
        ],
    )
    def test_any_name_goes_in_and_comes_out_as_it_was(self, person: Person, name: str) -> None:
        file = person.upload(person.thread(), name, CONTENT)
        assert file["filename"] == name
        assert file["guest_path"] == f"/uploads/{name}"
        assert person.content(file) == CONTENT

    @pytest.mark.parametrize("name", ["../../etc/passwd", "a/b\\c.csv", "line\r\nbreak.csv", "nul\x00.csv"])
    def test_a_name_that_is_no_name_is_made_one(self, person: Person, name: str) -> None:
        file = person.upload(person.thread(), name, CONTENT)
        tail = file["guest_path"].removeprefix("/uploads/")
        assert "/" not in tail
        assert not set("\r\n\x00\\") & set(tail)

    def test_two_files_of_one_name_are_told_apart(self, person: Person) -> None:
        thread = person.thread()
        first = person.upload(thread, "sales.csv", CONTENT)
        second = person.upload(thread, "sales.csv", CONTENT + b"West,30\n")
        assert [first["guest_path"], second["guest_path"]] == ["/uploads/sales.csv", "/uploads/sales (2).csv"]
        assert person.content(first) == CONTENT
        assert person.content(second) == CONTENT + b"West,30\n"
