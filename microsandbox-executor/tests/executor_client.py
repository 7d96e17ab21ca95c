"""The executor as its callers see it, for tests."""

import hashlib
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import boto3
import httpx
from stack.testing import EmbeddedStack

CALL_SECONDS = 120


@dataclass(frozen=True, slots=True)
class Stored:
    """An object that was put into the bucket, as an executor input."""

    object_key: str
    path: str
    size: int
    sha256: str

    def as_input(self) -> dict[str, Any]:
        return {"object_key": self.object_key, "path": self.path, "size": self.size, "sha256": self.sha256}


class Executor:
    """The executor as its callers see it."""

    def __init__(self, stack: EmbeddedStack) -> None:
        self.stack = stack
        self.env = stack.env_of("executor")
        self.http = httpx.Client(
            base_url=stack.base_url("executor"),
            headers={"Authorization": f"Bearer {self.env['EXECUTOR_SERVICE_TOKEN']}"},
            timeout=CALL_SECONDS,
        )
        self.s3 = boto3.client(
            "s3",
            endpoint_url=self.env["S3_ENDPOINT_URL"],
            aws_access_key_id=self.env["S3_ACCESS_KEY_ID"],
            aws_secret_access_key=self.env["S3_SECRET_ACCESS_KEY"],
            region_name="us-east-1",
        )
        self.bucket = self.env.get("S3_BUCKET", "analyst")

    def store(self, name: str, content: bytes) -> Stored:
        key = f"threads/inputs/{uuid4()}/{len(content)}"
        self.s3.put_object(Bucket=self.bucket, Key=key, Body=content)
        return Stored(key, f"/uploads/{name}", len(content), hashlib.sha256(content).hexdigest())

    def object(self, key: str) -> bytes:
        return bytes(self.s3.get_object(Bucket=self.bucket, Key=key)["Body"].read())

    def keys(self, prefix: str) -> list[str]:
        found = self.s3.list_objects_v2(Bucket=self.bucket, Prefix=prefix)
        return [item["Key"] for item in found.get("Contents", [])]

    def create(self, workspace: str, inputs: list[Stored] | None = None, key: str | None = None) -> dict[str, Any]:
        response = self.http.post(
            "/v1/sessions",
            json={"workspace": workspace, "inputs": [item.as_input() for item in inputs or []]},
            headers={"Idempotency-Key": key or str(uuid4())},
        )
        assert response.status_code in {200, 201}, response.text
        created: dict[str, Any] = response.json()
        return created

    def bash(self, session: str, command: str, **options: Any) -> dict[str, Any]:
        response = self.http.post("/v1/execute/bash", json={"session": session, "command": command, **options})
        assert response.status_code == 200, response.text
        result: dict[str, Any] = response.json()
        return result

    def python(self, session: str, code: str, **options: Any) -> dict[str, Any]:
        response = self.http.post("/v1/execute", json={"session": session, "code": code, **options})
        assert response.status_code == 200, response.text
        result: dict[str, Any] = response.json()
        return result

    def file_url(self, session: str, path: str) -> str:
        return f"/v1/sessions/{session}/files/{quote(path.removeprefix('/'))}"

    def put(self, session: str, path: str, content: bytes) -> httpx.Response:
        return self.http.put(self.file_url(session, path), content=content)

    def get(self, session: str, path: str) -> httpx.Response:
        return self.http.get(self.file_url(session, path))

    def delete(self, session: str, purge: bool = False) -> httpx.Response:
        return self.http.delete(f"/v1/sessions/{session}", params={"purge": str(purge).lower()})
