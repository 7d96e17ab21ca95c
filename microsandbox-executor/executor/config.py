"""Settings of the executor, read from the environment (`.env.example` lists every variable)."""

import sys
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, ValidationError, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from executor.runtime.base import CommandLimits

MIN_SECRET_LENGTH = 32


def psycopg_url(url: str) -> str:
    """The same Postgres URL with SQLAlchemy's psycopg 3 driver named."""
    scheme, separator, rest = url.partition("://")
    if not separator or scheme.split("+")[0] not in {"postgres", "postgresql"}:
        raise ValueError("must be a postgresql:// URL")
    return f"postgresql+psycopg://{rest}"


class BaseExecutorSettings(BaseSettings):
    model_config = SettingsConfigDict(extra="ignore", frozen=True, env_ignore_empty=True)

    log_level: Literal["debug", "info", "warning", "error"] = "info"
    log_format: Literal["json", "console"] = "json"


class ExecutorSettings(BaseExecutorSettings):
    """Sizes in bytes (or MB where the name says so), times in seconds."""

    executor_database_url: str = Field(repr=False)
    executor_service_token: Annotated[str, Field(min_length=MIN_SECRET_LENGTH, repr=False)]
    executor_name: str = "executor-1"
    executor_scratch_dir: Path = Path(".data/scratch")
    executor_guest_dir: Path = Path(".tools/guest")
    executor_max_concurrent: int = Field(default=4, ge=1)
    executor_queue_size: int = Field(default=64, ge=0)
    executor_idle_seconds: int = Field(default=3600, ge=10)
    s3_endpoint_url: str
    s3_region: str = "us-east-1"
    s3_bucket: str = "analyst"
    s3_access_key_id: str
    s3_secret_access_key: str = Field(repr=False)
    sandbox_runtime: Literal["auto", "bubblewrap"] = "auto"
    sandbox_memory_mb: int = Field(default=2048, ge=64)
    sandbox_cpus: float = Field(default=1.0, gt=0)
    sandbox_pids: int = Field(default=128, ge=8)
    sandbox_output_bytes: int = Field(default=1_000_000, ge=1_000)
    sandbox_file_bytes: int = Field(default=1024**3, ge=1_000_000)
    sandbox_disk_bytes: int = Field(default=4 * 1024**3, ge=1_000_000)

    @field_validator("executor_database_url")
    @classmethod
    def _use_psycopg(cls, value: str) -> str:
        return psycopg_url(value)

    def command_limits(self, wall_seconds: float) -> CommandLimits:
        return CommandLimits(
            memory_bytes=self.sandbox_memory_mb * 1024 * 1024,
            cpus=self.sandbox_cpus,
            pids=self.sandbox_pids,
            file_bytes=self.sandbox_file_bytes,
            wall_seconds=wall_seconds,
        )


class MigrationSettings(BaseExecutorSettings):
    """The migration job, which runs under the role that owns the tables."""

    executor_migrations_database_url: str = Field(repr=False)
    executor_database_role: str = "executor"

    @field_validator("executor_migrations_database_url")
    @classmethod
    def _use_psycopg(cls, value: str) -> str:
        return psycopg_url(value)


def load_settings[SettingsT: BaseExecutorSettings](settings_class: type[SettingsT]) -> SettingsT:
    """Read the settings or stop the process with exit code 2 and one line for each bad variable."""
    try:
        return settings_class()
    except ValidationError as error:
        for problem in error.errors():
            sys.stderr.write(f"bad setting: {str(problem['loc'][0]).upper()}: {problem['msg']}\n")
        sys.exit(2)
