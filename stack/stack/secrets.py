"""The secrets of one install: made at its first start, kept in a file that only its owner can read."""

import os
import secrets as random_source
import stat
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

_Hidden = Annotated[str, Field(repr=False)]


def _token() -> str:
    return random_source.token_urlsafe(36)


def _access_key() -> str:
    return random_source.token_hex(10).upper()


def _first_password() -> str:
    # Three groups of four, without look-alikes: people type this one.
    alphabet = "abcdefghijkmnpqrstuvwxyz23456789"
    return "-".join("".join(random_source.choice(alphabet) for _ in range(4)) for _ in range(4))


class InstallSecrets(BaseModel):
    """Every secret of an install. Fields that a newer version adds are made at its first start."""

    model_config = ConfigDict(frozen=True, extra="allow")

    postgres_superuser_password: _Hidden = Field(default_factory=_token)
    app_password: _Hidden = Field(default_factory=_token)
    app_owner_password: _Hidden = Field(default_factory=_token)
    runtime_password: _Hidden = Field(default_factory=_token)
    runtime_owner_password: _Hidden = Field(default_factory=_token)
    executor_password: _Hidden = Field(default_factory=_token)
    executor_owner_password: _Hidden = Field(default_factory=_token)
    redis_password: _Hidden = Field(default_factory=_token)
    s3_access_key_id: _Hidden = Field(default_factory=_access_key)
    s3_secret_access_key: _Hidden = Field(default_factory=_token)
    seaweed_jwt_signing_key: _Hidden = Field(default_factory=_token)
    seaweed_jwt_signing_read_key: _Hidden = Field(default_factory=_token)
    seaweed_jwt_filer_signing_key: _Hidden = Field(default_factory=_token)
    seaweed_jwt_filer_signing_read_key: _Hidden = Field(default_factory=_token)
    auth_jwt_secret: _Hidden = Field(default_factory=_token)
    runtime_service_token: _Hidden = Field(default_factory=_token)
    executor_service_token: _Hidden = Field(default_factory=_token)
    first_user_password: _Hidden = Field(default_factory=_first_password)

    def database_password(self, role: str) -> str:
        """The password of one of the six database roles."""
        return str(getattr(self, f"{role}_password"))


class UnsafeSecretsFileError(RuntimeError):
    """The secrets file can be read by others than its owner."""


def load_or_create_secrets(path: Path) -> InstallSecrets:
    """The install's secrets, made by the first call.

    Raises UnsafeSecretsFileError when others may read the file: the secrets have to be taken as known then.
    """
    if not path.exists():
        made = InstallSecrets()
        _write(path, made)
        return made
    if stat.S_IMODE(path.stat().st_mode) & 0o077:
        raise UnsafeSecretsFileError(f"{path} can be read by others; run: chmod 600 {path}")
    text = path.read_text("utf-8")
    secrets = InstallSecrets.model_validate_json(text)
    if secrets.model_dump_json(indent=2) != text:
        _write(path, secrets)
    return secrets


def _write(path: Path, secrets: InstallSecrets) -> None:
    """Write through a private temporary file, so that no reader ever sees a half-written or open one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(secrets.model_dump_json(indent=2))
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
