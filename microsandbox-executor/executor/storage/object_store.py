"""The bucket, as the executor uses it: files up, files down, keys away."""

import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import boto3
from anyio import to_thread
from boto3.s3.transfer import TransferConfig
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from executor.config import ExecutorSettings
from executor.errors import ObjectMissingError, ObjectRefusedError, StorageUnavailableError

if TYPE_CHECKING:
    from types_boto3_s3 import S3Client

_MEGABYTE = 1024 * 1024
# Larger files go in parts; two threads a file keep memory and the 2-core machine at ease.
_TRANSFER = TransferConfig(multipart_threshold=16 * _MEGABYTE, multipart_chunksize=16 * _MEGABYTE, max_concurrency=2)
_DELETE_BATCH = 1000
_MISSING = frozenset({"NoSuchKey", "404", "NotFound"})
# What an object store answers when it is this one key or content that it does not take.
_REFUSED = frozenset(
    {"KeyTooLongError", "EntityTooLarge", "InvalidRequest", "InvalidArgument", "InvalidURI", "XMinioInvalidObjectName"}
)


class ObjectStore:
    """Every call raises `StorageUnavailableError` when the store refuses or does not answer."""

    def __init__(self, settings: ExecutorSettings) -> None:
        self._bucket = settings.s3_bucket
        self._client: S3Client = boto3.client(
            "s3",
            endpoint_url=settings.s3_endpoint_url,
            region_name=settings.s3_region,
            aws_access_key_id=settings.s3_access_key_id,
            aws_secret_access_key=settings.s3_secret_access_key,
            config=Config(
                signature_version="s3v4",
                s3={"addressing_style": "path"},
                connect_timeout=3,
                read_timeout=60,
                retries={"max_attempts": 4, "mode": "standard"},
                max_pool_connections=64,
                request_checksum_calculation="when_required",
                response_checksum_validation="when_required",
            ),
        )

    async def _call(self, work: Any) -> Any:
        try:
            return await to_thread.run_sync(work)
        except ClientError as error:
            code = error.response.get("Error", {}).get("Code", "")
            if code in _MISSING:
                raise ObjectMissingError from error
            if code in _REFUSED:
                raise ObjectRefusedError(f"the object store refuses it ({code})") from error
            raise StorageUnavailableError(f"object store: {error}") from error
        except BotoCoreError as error:
            raise StorageUnavailableError(f"object store: {error}") from error

    async def ping(self) -> None:
        await self._call(lambda: self._client.head_bucket(Bucket=self._bucket))

    async def upload(self, source: BinaryIO, key: str, *, content_type: str) -> None:
        """Send an open file; it is read from its start and closed by the transfer. Raises `ObjectRefusedError`."""

        def send() -> None:
            if os.fstat(source.fileno()).st_size < _TRANSFER.multipart_threshold:
                # The transfer manager costs several times a small request's own work.
                self._client.put_object(Bucket=self._bucket, Key=key, Body=source, ContentType=content_type)
            else:
                extra = {"ContentType": content_type}
                self._client.upload_fileobj(source, self._bucket, key, ExtraArgs=extra, Config=_TRANSFER)

        await self._call(send)

    async def download(self, key: str, target: Path) -> str:
        """Fetch an object into a new file and return the SHA-256 of what arrived. Raises `ObjectMissingError`."""

        def fetch() -> str:
            hasher = hashlib.sha256()
            body = self._client.get_object(Bucket=self._bucket, Key=key)["Body"]
            with target.open("wb") as out:
                for chunk in body.iter_chunks(_MEGABYTE):
                    hasher.update(chunk)
                    out.write(chunk)
            return hasher.hexdigest()

        digest: str = await self._call(fetch)
        return digest

    async def delete(self, keys: list[str]) -> None:
        def remove() -> None:
            for start in range(0, len(keys), _DELETE_BATCH):
                for key in keys[start : start + _DELETE_BATCH]:
                    self._client.delete_object(Bucket=self._bucket, Key=key)

        await self._call(remove)

    async def delete_prefix(self, prefix: str) -> None:
        """Delete every object below a prefix."""

        def listed() -> list[str]:
            pages = self._client.get_paginator("list_objects_v2").paginate(Bucket=self._bucket, Prefix=prefix)
            return [entry["Key"] for page in pages for entry in page.get("Contents", [])]

        await self.delete(await self._call(listed))
