"""A person using the product's API in tests: signed up, uploading, asking, reading the stream."""

import hashlib
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Self
from uuid import uuid4

import httpx
from httpx_sse import connect_sse

PASSWORD = "correct horse battery"
STREAM_SECONDS = 120


@dataclass(frozen=True, slots=True)
class Event:
    id: str
    name: str
    data: Any


@dataclass(slots=True)
class Turn:
    """What a stream showed of one run."""

    events: list[Event] = field(default_factory=list)

    def named(self, name: str) -> list[Any]:
        return [event.data for event in self.events if event.name == name]

    @property
    def run(self) -> dict[str, Any]:
        run: dict[str, Any] = self.named("run")[-1]["run"]
        return run

    @property
    def text(self) -> str:
        """The streamed words of the main agent, all messages together."""
        return "".join(
            chunk["content"] if isinstance(chunk["content"], str) else ""
            for chunk, _ in self.named("messages")
            if chunk["type"] == "AIMessageChunk"
        )

    @property
    def artifacts(self) -> list[dict[str, Any]]:
        return [data["file"] for data in self.named("artifact")]


class Person:
    """One account on a running backend."""

    def __init__(self, base_url: str) -> None:
        self.email = f"{uuid4().hex[:12]}@example.com"
        self.http = httpx.Client(base_url=f"{base_url}/api", timeout=60)
        response = self.http.post("/auth/register", json={"email": self.email, "password": PASSWORD})
        assert response.status_code == 201, response.text
        # Bearer alone: the cookies of the browser's way in are tested where they matter.
        self.http.cookies.clear()
        self.token = response.json()["access_token"]
        self.http.headers["Authorization"] = f"Bearer {self.token}"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.http.close()

    def thread(self) -> str:
        response = self.http.post("/threads", json={})
        assert response.status_code == 201, response.text
        return str(response.json()["id"])

    def presign(self, thread: str, name: str, size: int, content_type: str = "text/csv") -> dict[str, Any]:
        response = self.http.post(
            "/files/presign-upload",
            json={"thread_id": thread, "filename": name, "content_type": content_type, "size": size},
        )
        assert response.status_code == 200, response.text
        presigned: dict[str, Any] = response.json()
        return presigned

    def upload(self, thread: str, name: str, content: bytes, content_type: str = "text/csv") -> dict[str, Any]:
        presigned = self.presign(thread, name, len(content), content_type)
        put = httpx.put(presigned["url"], content=content, headers=presigned["headers"], timeout=60)
        assert put.status_code == 200, put.text
        response = self.http.post(
            "/files/complete-upload",
            json={
                "thread_id": thread,
                "upload_id": presigned["upload_id"],
                "sha256": hashlib.sha256(content).hexdigest(),
            },
        )
        assert response.status_code == 201, response.text
        uploaded: dict[str, Any] = response.json()
        return uploaded

    def ask(self, thread: str, message: str, file_ids: list[str] | None = None) -> Turn:
        return Turn(list(self.stream(thread, message, file_ids)))

    def stream(self, thread: str, message: str, file_ids: list[str] | None = None) -> Iterator[Event]:
        body = {"thread_id": thread, "message": message, "file_ids": file_ids or []}
        return self._events("POST", "/chat/stream", json=body)

    def rejoin(self, thread: str, run: str, last_event_id: str | None = None) -> Iterator[Event]:
        headers = {"Last-Event-ID": last_event_id} if last_event_id else {}
        return self._events("GET", f"/threads/{thread}/runs/{run}/stream", headers=headers)

    def _events(self, method: str, path: str, **options: Any) -> Iterator[Event]:
        with connect_sse(self.http, method, path, timeout=STREAM_SECONDS, **options) as source:
            assert source.response.status_code == 200, source.response.read()
            for event in source.iter_sse():
                if event.data:  # a heartbeat has none
                    yield Event(event.id, event.event, json.loads(event.data))

    def run(self, thread: str, run: str) -> dict[str, Any]:
        response = self.http.get(f"/threads/{thread}/runs/{run}")
        assert response.status_code == 200, response.text
        found: dict[str, Any] = response.json()
        return found

    def settled(self, thread: str, run: str, within_seconds: float = 90) -> dict[str, Any]:
        """The run once it has ended, by asking as a client without a stream would."""
        deadline = time.monotonic() + within_seconds
        while (found := self.run(thread, run))["status"] in {"queued", "running"}:
            assert time.monotonic() < deadline, f"the run is still {found['status']}"
            time.sleep(0.2)
        return found

    def messages(self, thread: str) -> list[dict[str, Any]]:
        response = self.http.get(f"/threads/{thread}/messages")
        assert response.status_code == 200, response.text
        items: list[dict[str, Any]] = response.json()["items"]
        return items

    def answer(self, thread: str) -> str:
        """The conversation's last word."""
        last = self.messages(thread)[-1]
        assert last["type"] == "ai", last
        return str(last["content"])

    def files(self, thread: str) -> list[dict[str, Any]]:
        items: list[dict[str, Any]] = self.http.get(f"/threads/{thread}/files").json()["items"]
        return items

    def content(self, file: dict[str, Any]) -> bytes:
        request = {"thread_id": file["thread_id"], "file_id": file["id"]}
        response = self.http.post("/files/presign-download", json=request)
        assert response.status_code == 200, response.text
        return httpx.get(response.json()["url"]).content

    def preview(self, file: dict[str, Any], **params: Any) -> httpx.Response:
        return self.http.get(f"/threads/{file['thread_id']}/files/{file['id']}/preview", params=params)
