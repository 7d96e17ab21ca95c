"""The one bucket of the product: put, stat, read, list, delete and presign, over any S3."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import boto3
from anyio import to_thread
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from app.errors import StorageUnavailableError
from app.settings import ProductSettings

if TYPE_CHECKING:
    from types_boto3_s3 import S3Client

_CHUNK_BYTES = 1024 * 1024
_MISSING_CODES = {"404", "NoSuchKey", "NotFound"}


@dataclass(frozen=True, slots=True)
class StoredObject:
    """`size` in bytes, `content_type` as the store has it."""

    key: str
    size: int
    content_type: str


@dataclass(frozen=True, slots=True)
class PresignedRequest:
    """A request that the holder may make as it is until `expires_at`; other headers, key or method are refused."""

    method: str
    url: str
    headers: dict[str, str]
    expires_at: datetime


class ObjectStore:
    """Every call raises `StorageUnavailableError` when the store does not answer.

    Presigned URLs are made for `public_url`, the address browsers use, as the host is part of the signature.
    """

    def __init__(
        self,
        *,
        endpoint_url: str,
        public_url: str,
        region: str,
        bucket: str,
        access_key_id: str,
        secret_access_key: str,
    ) -> None:
        self._bucket = bucket

        def client(url: str) -> "S3Client":
            return boto3.client(
                "s3",
                endpoint_url=url,
                region_name=region,
                aws_access_key_id=access_key_id,
                aws_secret_access_key=secret_access_key,
                config=Config(
                    signature_version="s3v4",
                    s3={"addressing_style": "path"},
                    connect_timeout=3,
                    read_timeout=30,
                    retries={"max_attempts": 3, "mode": "standard"},
                    max_pool_connections=32,
                    # Checksums that the client adds by itself would become signed headers of presigned URLs.
                    request_checksum_calculation="when_required",
                    response_checksum_validation="when_required",
                ),
            )

        self._client = client(endpoint_url)
        self._signer = client(public_url)

    async def _call(self, work: Any, /, *args: Any) -> Any:
        try:
            return await to_thread.run_sync(work, *args)
        except (BotoCoreError, ClientError) as error:
            raise StorageUnavailableError from error

    async def ping(self) -> None:
        await self._call(lambda: self._client.head_bucket(Bucket=self._bucket))

    async def put(self, key: str, body: bytes, *, content_type: str) -> None:
        await self._call(
            lambda: self._client.put_object(Bucket=self._bucket, Key=key, Body=body, ContentType=content_type)
        )

    async def stat(self, key: str) -> StoredObject | None:
        """The object's facts, or None when there is none under this key."""

        def head() -> StoredObject | None:
            try:
                found = self._client.head_object(Bucket=self._bucket, Key=key)
            except ClientError as error:
                if error.response["Error"]["Code"] in _MISSING_CODES:
                    return None
                raise
            return StoredObject(key=key, size=found["ContentLength"], content_type=found.get("ContentType", ""))

        result: StoredObject | None = await self._call(head)
        return result

    async def sha256(self, key: str) -> str:
        """Hash the object as the store gives it back, a piece at a time."""

        def digest() -> str:
            hasher = hashlib.sha256()
            body = self._client.get_object(Bucket=self._bucket, Key=key)["Body"]
            for chunk in body.iter_chunks(_CHUNK_BYTES):
                hasher.update(chunk)
            return hasher.hexdigest()

        result: str = await self._call(digest)
        return result

    async def read(self, key: str, *, limit: int) -> bytes:
        """At most `limit` bytes from the start of the object."""

        def get() -> bytes:
            body = self._client.get_object(Bucket=self._bucket, Key=key, Range=f"bytes=0-{limit - 1}")["Body"]
            content: bytes = body.read()
            return content

        result: bytes = await self._call(get)
        return result

    async def delete(self, key: str) -> None:
        await self._call(lambda: self._client.delete_object(Bucket=self._bucket, Key=key))

    async def delete_prefix(self, prefix: str) -> int:
        """Delete all objects below a prefix and tell how many there were."""

        def keys() -> Iterator[str]:
            for page in self._client.get_paginator("list_objects_v2").paginate(Bucket=self._bucket, Prefix=prefix):
                for entry in page.get("Contents", []):
                    yield entry["Key"]

        def remove() -> int:
            count = 0
            for key in list(keys()):
                self._client.delete_object(Bucket=self._bucket, Key=key)
                count += 1
            return count

        result: int = await self._call(remove)
        return result

    async def presign_put(self, key: str, *, content_type: str, size: int, ttl_seconds: int) -> PresignedRequest:
        """A PUT of exactly `size` bytes of this type under this key: all three are signed."""
        url = await to_thread.run_sync(
            lambda: self._signer.generate_presigned_url(
                "put_object",
                Params={"Bucket": self._bucket, "Key": key, "ContentType": content_type, "ContentLength": size},
                ExpiresIn=ttl_seconds,
            )
        )
        return PresignedRequest("PUT", url, {"Content-Type": content_type}, _after(ttl_seconds))

    async def presign_get(
        self, key: str, *, filename: str, content_type: str, inline: bool, ttl_seconds: int
    ) -> PresignedRequest:
        """A GET that answers with the original file name, as the header that browsers obey."""
        disposition = "inline" if inline else "attachment"
        url = await to_thread.run_sync(
            lambda: self._signer.generate_presigned_url(
                "get_object",
                Params={
                    "Bucket": self._bucket,
                    "Key": key,
                    "ResponseContentDisposition": f"{disposition}; filename*=UTF-8''{quote(filename, safe='')}",
                    "ResponseContentType": content_type,
                },
                ExpiresIn=ttl_seconds,
            )
        )
        return PresignedRequest("GET", url, {}, _after(ttl_seconds))


def open_object_store(settings: ProductSettings) -> ObjectStore:
    return ObjectStore(
        endpoint_url=settings.s3_endpoint_url,
        public_url=settings.public_object_store_url,
        region=settings.s3_region,
        bucket=settings.s3_bucket,
        access_key_id=settings.s3_access_key_id,
        secret_access_key=settings.s3_secret_access_key,
    )


def _after(seconds: int) -> datetime:
    return datetime.now(UTC) + timedelta(seconds=seconds)
