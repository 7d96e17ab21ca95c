"""Typed settings of the backend's two processes, read from the environment (`.env.example` lists every variable).

A bad or missing value stops the start: `load_settings` turns pydantic's report into one line a variable and exits.
"""

import sys
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AliasChoices, Field, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

MIN_SECRET_LENGTH = 32

Secret = Annotated[str, Field(min_length=MIN_SECRET_LENGTH, repr=False)]


def psycopg_url(url: str) -> str:
    """The same Postgres URL with SQLAlchemy's psycopg 3 driver named."""
    scheme, separator, rest = url.partition("://")
    if not separator or scheme.split("+")[0] not in {"postgres", "postgresql"}:
        raise ValueError("must be a postgresql:// URL")
    return f"postgresql+psycopg://{rest}"


class ServiceSettings(BaseSettings):
    """What every process of the backend needs."""

    model_config = SettingsConfigDict(env_file=None, extra="ignore", frozen=True, env_ignore_empty=True)

    log_level: Literal["debug", "info", "warning", "error"] = "info"
    log_format: Literal["json", "console"] = "json"


class ProductSettings(ServiceSettings):
    """Database, object store and executor: shared by the API and by the agent inside the runtime."""

    app_database_url: str = Field(repr=False)
    s3_endpoint_url: str
    s3_public_endpoint_url: str | None = None
    s3_region: str = "us-east-1"
    s3_bucket: str = "analyst"
    s3_access_key_id: str
    s3_secret_access_key: str = Field(repr=False)
    executor_base_url: str = "http://127.0.0.1:8091"
    executor_service_token: Secret

    @field_validator("app_database_url")
    @classmethod
    def _use_psycopg(cls, value: str) -> str:
        return psycopg_url(value)

    @property
    def public_object_store_url(self) -> str:
        """Where browsers reach the object store."""
        return self.s3_public_endpoint_url or self.s3_endpoint_url


class ModelSettings(ServiceSettings):
    """Which model answers. See `app.agent.models` for what becomes of it."""

    model_config = SettingsConfigDict(protected_namespaces=())

    agent_model: str = "offline"
    agent_model_base_url: str | None = None
    agent_model_context_tokens: int | None = Field(default=None, ge=4096)
    agent_model_max_output_tokens: int = Field(default=4096, ge=256)
    agent_model_api_key: str | None = Field(default=None, repr=False)
    openai_api_key: str | None = Field(default=None, repr=False)
    anthropic_api_key: str | None = Field(default=None, repr=False)

    @model_validator(mode="after")
    def _check_model(self) -> "ModelSettings":
        provider, _, name = self.agent_model.partition(":")
        required: dict[str, object] = {}
        match provider:
            case "offline" if not name:
                return self
            case "openai":
                required = {"OPENAI_API_KEY": self.openai_api_key}
            case "anthropic":
                required = {"ANTHROPIC_API_KEY": self.anthropic_api_key}
            case "openai-compatible":
                required = {
                    "AGENT_MODEL_BASE_URL": self.agent_model_base_url,
                    "AGENT_MODEL_CONTEXT_TOKENS": self.agent_model_context_tokens,
                }
            case _:
                raise ValueError(
                    "AGENT_MODEL must be offline, openai:NAME, anthropic:NAME or openai-compatible:NAME, "
                    f"not {self.agent_model!r}"
                )
        if not name:
            raise ValueError(f"AGENT_MODEL must name a model after the colon: {provider}:NAME")
        missing = [variable for variable, value in required.items() if not value]
        if missing:
            raise ValueError(f"AGENT_MODEL={self.agent_model} needs {' and '.join(missing)} to be set")
        return self


class ApiSettings(ProductSettings, ModelSettings):
    """The public API."""

    public_base_url: str = "http://localhost:8080"
    auth_jwt_secret: Secret
    auth_access_ttl_seconds: int = Field(default=900, ge=30)
    auth_refresh_ttl_seconds: int = Field(default=30 * 24 * 3600, ge=60)
    auth_registration_open: bool = True
    auth_cookie_secure: bool | None = None
    first_user_email: str | None = None
    first_user_password: str | None = Field(default=None, repr=False)
    upload_max_bytes: int = Field(default=512 * 1024 * 1024, ge=1)
    message_max_chars: int = Field(default=32_000, ge=100)
    presign_ttl_seconds: int = Field(default=900, ge=1, le=7 * 24 * 3600)
    runtime_base_url: str = "http://127.0.0.1:2026"
    runtime_service_token: Secret
    agent_recursion_limit: int = Field(default=200, ge=10)
    frontend_dist_dir: str | None = Field(
        default=None, validation_alias=AliasChoices("frontend_dist_dir", "FRONTEND_DIST_DIR")
    )

    @property
    def cookies_are_secure(self) -> bool:
        """Cookies carry `Secure` when told so, else exactly when people reach the page over https."""
        if self.auth_cookie_secure is not None:
            return self.auth_cookie_secure
        return urlsplit(self.public_base_url).scheme == "https"


class RuntimeSettings(ProductSettings, ModelSettings):
    """The agent inside the LangGraph deployment."""

    runtime_service_token: Secret


class MigrationSettings(ServiceSettings):
    """The migration job, which runs under the role that owns the tables."""

    app_migrations_database_url: str = Field(repr=False)
    app_database_role: str = "app"

    @field_validator("app_migrations_database_url")
    @classmethod
    def _use_psycopg(cls, value: str) -> str:
        return psycopg_url(value)


def load_settings[SettingsT: ServiceSettings](settings_class: type[SettingsT]) -> SettingsT:
    """Read the settings or stop the process with exit code 2 and one line for each bad variable."""
    try:
        return settings_class()
    except ValidationError as error:
        for problem in error.errors():
            variable = str(problem["loc"][0]).upper() if problem["loc"] else ""
            message = problem["msg"].removeprefix("Value error, ")
            sys.stderr.write(f"bad setting: {variable + ': ' if variable else ''}{message}\n")
        sys.exit(2)
