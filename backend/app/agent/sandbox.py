"""Puts the sandbox backend together from the runtime's settings."""

from collections.abc import Callable

from app.agent.backend import MicrosandboxBackend
from app.agent.context import RunIdentity, current_run
from app.clients.executor import ExecutorClient
from app.db.session import Database
from app.services.file_service import FileService, UploadLimits
from app.services.sandbox_service import SandboxService
from app.settings import RuntimeSettings
from app.storage.object_store import open_object_store


def build_sandbox_backend(
    settings: RuntimeSettings, identify: Callable[[], RunIdentity] = current_run
) -> MicrosandboxBackend:
    """The sandbox backend with its own connections; `identify` says whose sandbox a call is for."""
    database = Database(settings.app_database_url, pool_size=5)
    executor = ExecutorClient(settings.executor_base_url, settings.executor_service_token)
    # The agent hands out no URLs and takes no uploads: these limits are never asked for here.
    files = FileService(database, open_object_store(settings), UploadLimits(max_bytes=0, ttl_seconds=0))
    sandboxes = SandboxService(database, executor, files, executor_base_url=settings.executor_base_url)
    return MicrosandboxBackend(
        sandboxes, executor, identify, make_twin=lambda: build_sandbox_backend(settings, identify)
    )
