"""The product's own API as a command line uses it: sign in, upload, ask, follow, download."""

import hashlib
import mimetypes
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import httpx
from httpx_sse import ServerSentEvent, connect_sse

_TIMEOUT = httpx.Timeout(30, connect=5, write=300)
# Heartbeats come every 15 seconds: a stream that is quiet for longer than this is dead.
_STREAM_TIMEOUT = httpx.Timeout(30, connect=5, read=45)
_REJOIN_ATTEMPTS = 60
_REJOIN_SECONDS = 1.0
_CHUNK = 1024 * 1024


class ApiError(Exception):
    """What went wrong, in words for a person."""


@dataclass(frozen=True, slots=True)
class StreamedEvent:
    name: str
    data: str


class PublicApi:
    """A signed-in client. Every call raises `ApiError` with the server's own words."""

    def __init__(self, base_url: str, token: str | None = None) -> None:
        self._base_url = base_url.rstrip("/")
        self._http = httpx.Client(base_url=f"{self._base_url}/api", timeout=_TIMEOUT)
        # Presigned URLs carry their own signature: no token of ours goes to the object store.
        self._store = httpx.Client(timeout=_TIMEOUT)
        if token:
            self._http.headers["Authorization"] = f"Bearer {token}"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()
        self._store.close()

    def sign_in(self, email: str, password: str) -> None:
        session = self._json("POST", "/auth/login", json={"email": email, "password": password})
        self._http.headers["Authorization"] = f"Bearer {session['access_token']}"

    def create_api_key(self, name: str) -> str:
        return str(self._json("POST", "/auth/api-keys", json={"name": name})["key"])

    def create_thread(self) -> dict[str, Any]:
        return self._json("POST", "/threads", json={})

    def list_threads(self, query: str | None, limit: int) -> list[dict[str, Any]]:
        params = {"limit": str(limit), **({"query": query} if query else {})}
        items: list[dict[str, Any]] = self._json("GET", "/threads", params=params)["items"]
        return items

    def list_files(self, thread_id: str) -> list[dict[str, Any]]:
        items: list[dict[str, Any]] = self._json("GET", f"/threads/{thread_id}/files")["items"]
        return items

    def list_messages(self, thread_id: str) -> list[dict[str, Any]]:
        items: list[dict[str, Any]] = self._json("GET", f"/threads/{thread_id}/messages")["items"]
        return items

    def get_run(self, thread_id: str, run_id: str) -> dict[str, Any]:
        return self._json("GET", f"/threads/{thread_id}/runs/{run_id}")

    def cancel_run(self, thread_id: str, run_id: str) -> None:
        self._json("POST", f"/threads/{thread_id}/runs/{run_id}/cancel")

    def upload(self, thread_id: str, path: Path, progress: Callable[[int, int], None]) -> dict[str, Any]:
        """Bring one file; `progress(sent, total)` in bytes."""
        size = path.stat().st_size
        hasher = hashlib.sha256()
        presigned = self._json(
            "POST",
            "/files/presign-upload",
            json={
                "thread_id": thread_id,
                "filename": path.name,
                "content_type": mimetypes.guess_type(path.name)[0] or "application/octet-stream",
                "size": size,
            },
        )

        def body() -> Iterator[bytes]:
            sent = 0
            with path.open("rb") as source:
                while chunk := source.read(_CHUNK):
                    hasher.update(chunk)
                    sent += len(chunk)
                    progress(sent, size)
                    yield chunk

        headers = {**presigned["headers"], "Content-Length": str(size)}
        try:
            response = self._store.put(presigned["url"], content=body(), headers=headers)
        except httpx.HTTPError as error:
            raise ApiError(f"{path.name} could not be uploaded: {error}") from error
        if not response.is_success:
            raise ApiError(f"{path.name} was refused by the object store (HTTP {response.status_code})")
        completion = {"thread_id": thread_id, "upload_id": presigned["upload_id"], "sha256": hasher.hexdigest()}
        return self._json("POST", "/files/complete-upload", json=completion)

    def download(self, file: dict[str, Any], target: Path) -> None:
        """Fetch a file and check that it is the one that was registered."""
        request = {"thread_id": file["thread_id"], "file_id": file["id"]}
        url = self._json("POST", "/files/presign-download", json=request)["url"]
        hasher = hashlib.sha256()
        try:
            with self._store.stream("GET", url) as response, target.open("wb") as out:
                if not response.is_success:
                    raise ApiError(f"{file['filename']} could not be fetched (HTTP {response.status_code})")
                for chunk in response.iter_bytes(_CHUNK):
                    hasher.update(chunk)
                    out.write(chunk)
        except httpx.HTTPError as error:
            raise ApiError(f"{file['filename']} could not be fetched: {error}") from error
        if hasher.hexdigest() != file["sha256"]:
            raise ApiError(f"{file['filename']} is not what was stored: its SHA-256 differs")

    def ask(self, thread_id: str, message: str, file_ids: list[str], idempotency_key: str) -> Iterator[StreamedEvent]:
        """Ask and follow to the end of the run; a broken connection is taken up again where it broke."""
        body = {"thread_id": thread_id, "message": message, "file_ids": file_ids}
        run_id, last_id = None, None
        for attempt in range(_REJOIN_ATTEMPTS):
            try:
                if run_id is None:
                    # Until the run is known the same key is sent: the message is taken once.
                    events = self._events("POST", "/chat/stream", {"Idempotency-Key": idempotency_key}, body)
                else:
                    headers = {"Last-Event-ID": last_id} if last_id else {}
                    events = self._events("GET", f"/threads/{thread_id}/runs/{run_id}/stream", headers, None)
                for event in events:
                    last_id = event.id or last_id
                    if event.event == "run" and run_id is None:
                        run_id = event.json()["run"]["id"]
                    yield StreamedEvent(event.event, event.data)
                    if event.event == "end":
                        return
            except httpx.HTTPError as error:
                if attempt + 1 == _REJOIN_ATTEMPTS:
                    raise ApiError(f"the connection broke and did not come back: {error}") from error
            time.sleep(_REJOIN_SECONDS)
        raise ApiError("the run did not end while it was followed")

    def _events(
        self, method: str, path: str, headers: dict[str, str], body: dict[str, Any] | None
    ) -> Iterator[ServerSentEvent]:
        with connect_sse(self._http, method, path, headers=headers, json=body, timeout=_STREAM_TIMEOUT) as source:
            if not source.response.is_success:
                source.response.read()
                raise _failure(source.response)
            for event in source.iter_sse():
                if event.data:  # the parser makes an event without data of a heartbeat once it has seen an id
                    yield event

    def _json(self, method: str, path: str, **options: Any) -> dict[str, Any]:
        try:
            response = self._http.request(method, path, **options)
        except httpx.ConnectError as error:
            raise ApiError(f"nobody answers at {self._base_url}; is it running? (make start)") from error
        except httpx.HTTPError as error:
            raise ApiError(f"{self._base_url} did not answer: {error}") from error
        if not response.is_success:
            raise _failure(response)
        document: dict[str, Any] = response.json() if response.content else {}
        return document


def _failure(response: httpx.Response) -> ApiError:
    try:
        problem = response.json()
        return ApiError(f"{problem['detail']} [{problem['code']}, request {problem['request_id']}]")
    except (ValueError, KeyError, TypeError):
        return ApiError(f"HTTP {response.status_code} from {response.request.url.path}")
