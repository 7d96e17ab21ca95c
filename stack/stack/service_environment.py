"""Which variables each process gets: its own settings and secrets, and none of another service's."""

from collections.abc import Mapping
from dataclasses import dataclass

from stack.ports import LOOPBACK
from stack.secrets import InstallSecrets
from stack.services.object_store import endpoint_url
from stack.services.postgres import database_url
from stack.services.redis import redis_url
from stack.settings import REPOSITORY_ROOT, StackSettings

# Names that belong to the product. Of these a service gets what is listed for it; anything else in the environment
# (PATH, proxies, certificates, tracing) is passed on to all.
_PRODUCT_PREFIXES = (
    *("AGENT_", "ANTHROPIC_", "APP_", "AUTH_", "BACKEND_", "DATABASE_", "EXECUTOR_", "FIRST_USER_", "FRONTEND_"),
    *("MESSAGE_", "OPENAI_", "POSTGRES_", "PRESIGN_", "PUBLIC_", "REDIS_", "RUNTIME_", "S3_", "SANDBOX_", "UPLOAD_"),
    "DATA_DIR",
)
_MODEL_PREFIXES = ("AGENT_", "ANTHROPIC_", "OPENAI_")


@dataclass(frozen=True, slots=True)
class ServiceEnvironments:
    """Builds the environment of every process out of the outer one, the settings and the secrets."""

    outer: Mapping[str, str]
    settings: StackSettings
    secrets: InstallSecrets

    def executor(self) -> dict[str, str]:
        """The execution plane: its database, the object store, its token."""
        return {
            **self._common("EXECUTOR_", "SANDBOX_"),
            **self._object_store(),
            "EXECUTOR_DATABASE_URL": self._database("executor"),
            "EXECUTOR_SERVICE_TOKEN": self.secrets.executor_service_token,
            "EXECUTOR_SCRATCH_DIR": str(self.settings.scratch_dir),
            "EXECUTOR_GUEST_DIR": str(self.settings.executor_guest_dir),
        }

    def runtime(self) -> dict[str, str]:
        """The agent runtime: its own database and queue, and what the agent's tools reach."""
        redis = {"REDIS_BROKER_ENABLED": "false"}
        if self.settings.redis_enabled:
            redis = {"REDIS_BROKER_ENABLED": "true", "REDIS_URL": redis_url(self.settings, self.secrets)}
        return {
            **self._common(*_MODEL_PREFIXES),
            **self._object_store(),
            **self._executor_client(),
            **redis,
            "AEGRA_CONFIG": str(REPOSITORY_ROOT / "backend" / "langgraph.json"),
            "AEGRA_CHECKPOINT_DURABILITY": "sync",
            "APP_DATABASE_URL": self._database("app"),
            "CRON_ENABLED": "false",
            "DATABASE_URL": self._database("runtime"),
            "ENABLE_PROMETHEUS_METRICS": "true",
            "ENV_MODE": "PRODUCTION",
            "RUNTIME_SERVICE_TOKEN": self.secrets.runtime_service_token,
            "RUN_MIGRATIONS_ON_STARTUP": "false",
            # How long a stop waits for running work; what is left then is requeued and goes on at the next start.
            "WORKER_DRAIN_TIMEOUT": "5",
        }

    def backend(self) -> dict[str, str]:
        """The public door."""
        prefixes = ("AUTH_", "FIRST_USER_", "FRONTEND_", "MESSAGE_", "PRESIGN_", "UPLOAD_", *_MODEL_PREFIXES)
        return {
            **self._common(*prefixes),
            **self._object_store(),
            **self._executor_client(),
            "APP_DATABASE_URL": self._database("app"),
            "AUTH_JWT_SECRET": self.secrets.auth_jwt_secret,
            "FIRST_USER_EMAIL": self.settings.first_user_email,
            "FIRST_USER_PASSWORD": self.first_user_password(),
            "FRONTEND_DIST_DIR": str(REPOSITORY_ROOT / self.settings.frontend_dist_dir),
            "PUBLIC_BASE_URL": self.settings.page_url,
            "RUNTIME_BASE_URL": f"http://{LOOPBACK}:{self.settings.runtime_port}",
            "RUNTIME_SERVICE_TOKEN": self.secrets.runtime_service_token,
        }

    def migrations(self, database: str) -> dict[str, str]:
        """A migration job: the owner's URL of one database, under the variable that its program reads."""
        return {
            **self._common(),
            f"{database.upper()}_MIGRATIONS_DATABASE_URL": self._database(database, f"{database}_owner"),
        }

    def first_user_password(self) -> str:
        """What the person set, else the generated one."""
        return self.outer.get("FIRST_USER_PASSWORD") or self.secrets.first_user_password

    def _common(self, *prefixes: str) -> dict[str, str]:
        passed = {
            name: value
            for name, value in self.outer.items()
            if name.startswith(prefixes) or not name.startswith(_PRODUCT_PREFIXES)
        }
        return {**passed, "PYTHONUNBUFFERED": "1"}

    def _object_store(self) -> dict[str, str]:
        return {
            "S3_ENDPOINT_URL": endpoint_url(self.settings),
            "S3_PUBLIC_ENDPOINT_URL": endpoint_url(self.settings),
            "S3_REGION": self.settings.s3_region,
            "S3_BUCKET": self.settings.s3_bucket,
            "S3_ACCESS_KEY_ID": self.secrets.s3_access_key_id,
            "S3_SECRET_ACCESS_KEY": self.secrets.s3_secret_access_key,
        }

    def _executor_client(self) -> dict[str, str]:
        return {
            "EXECUTOR_BASE_URL": f"http://{LOOPBACK}:{self.settings.executor_port}",
            "EXECUTOR_SERVICE_TOKEN": self.secrets.executor_service_token,
        }

    def _database(self, name: str, role: str | None = None) -> str:
        return database_url(self.settings, self.secrets, name, role)
