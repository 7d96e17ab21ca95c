"""Typed settings of the embedded stack, read from the environment and `.env` (`.env.example` lists every variable)."""

import os
import sys
from pathlib import Path
from typing import Annotated

from dotenv import dotenv_values
from pydantic import Field, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

REPOSITORY_ROOT = Path(__file__).resolve().parents[2]

Port = Annotated[int, Field(ge=1, le=65535)]
# SeaweedFS opens each HTTP port + 10000 as well, for gRPC.
SeaweedPort = Annotated[int, Field(ge=1, le=55535)]
SEAWEED_GRPC_OFFSET = 10_000


class StackSettings(BaseSettings):
    """What the embedded stack itself decides. Everything else in the environment goes to the services as it is."""

    model_config = SettingsConfigDict(env_file=None, extra="ignore", frozen=True, env_ignore_empty=True)

    backend_port: Port = 8080
    runtime_port: Port = 2026
    executor_port: Port = 8091
    postgres_port: Port = 54320
    redis_port: Port = 63790
    s3_port: SeaweedPort = 9651
    s3_master_port: SeaweedPort = 9660
    s3_volume_port: SeaweedPort = 9661
    s3_filer_port: SeaweedPort = 9662
    s3_admin_port: SeaweedPort = 9663
    data_dir: Path = Path(".data")
    public_base_url: str | None = None
    redis_enabled: bool = True
    s3_region: str = "us-east-1"
    s3_bucket: str = "analyst"
    first_user_email: str = "analyst@example.com"
    frontend_dist_dir: str = "frontend/dist"
    executor_scratch_dir: Path | None = None
    executor_guest_dir: Path = Path(".tools/guest")
    # Off only for throw-away test databases: a crash of the machine may then lose them, that of a process never does.
    postgres_fsync: bool = True

    @field_validator("data_dir", "executor_guest_dir", "executor_scratch_dir")
    @classmethod
    def _absolute(cls, value: Path | None) -> Path | None:
        return None if value is None else (REPOSITORY_ROOT / value.expanduser())

    @model_validator(mode="after")
    def _ports_differ(self) -> "StackSettings":
        seen: dict[int, str] = {}
        for variable, port in self.ports().items():
            if port in seen:
                raise ValueError(f"{variable} and {seen[port]} are both {port}; every service needs a port of its own")
            seen[port] = variable
        return self

    def ports(self) -> dict[str, int]:
        """Every TCP port the stack listens on, by the variable that sets it (gRPC ports as `VARIABLE + 10000`)."""
        ports = {
            "BACKEND_PORT": self.backend_port,
            "RUNTIME_PORT": self.runtime_port,
            "EXECUTOR_PORT": self.executor_port,
            "POSTGRES_PORT": self.postgres_port,
        }
        if self.redis_enabled:
            ports["REDIS_PORT"] = self.redis_port
        for variable, port in self.seaweed_ports().items():
            ports[variable] = port
            ports[f"{variable} + {SEAWEED_GRPC_OFFSET}"] = port + SEAWEED_GRPC_OFFSET
        return ports

    def seaweed_ports(self) -> dict[str, int]:
        """The object store's HTTP ports by variable."""
        return {
            "S3_PORT": self.s3_port,
            "S3_MASTER_PORT": self.s3_master_port,
            "S3_VOLUME_PORT": self.s3_volume_port,
            "S3_FILER_PORT": self.s3_filer_port,
            "S3_ADMIN_PORT": self.s3_admin_port,
        }

    @property
    def page_url(self) -> str:
        """Where people open the page."""
        return self.public_base_url or f"http://localhost:{self.backend_port}"

    @property
    def scratch_dir(self) -> Path:
        """The executor's local working copies."""
        return self.executor_scratch_dir or self.data_dir / "scratch"

    @property
    def log_dir(self) -> Path:
        """One log file a service."""
        return self.data_dir / "logs"


def process_environment(env_file: Path = REPOSITORY_ROOT / ".env") -> dict[str, str]:
    """The environment that the settings and the services see: `.env`, overridden by the real environment."""
    from_file = {name: value for name, value in dotenv_values(env_file).items() if value is not None}
    return {**from_file, **os.environ}


def settings_from(environment: dict[str, str]) -> StackSettings:
    """Settings out of `environment` alone.

    Raises pydantic.ValidationError naming each bad variable.
    """
    known = {name.lower(): value for name, value in environment.items() if value != ""}
    return StackSettings.model_validate({name: known[name] for name in StackSettings.model_fields if name in known})


def load_settings(environment: dict[str, str]) -> StackSettings:
    """Settings, or exit code 2 with one line for each bad variable."""
    try:
        return settings_from(environment)
    except ValidationError as error:
        for problem in error.errors():
            variable = f"{str(problem['loc'][0]).upper()}: " if problem["loc"] else ""
            sys.stderr.write(f"bad setting: {variable}{problem['msg'].removeprefix('Value error, ')}\n")
        sys.exit(2)
