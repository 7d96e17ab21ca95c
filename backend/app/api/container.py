"""The API's services, built once from its settings."""

from dataclasses import dataclass
from datetime import timedelta

from app.clients.executor import ExecutorClient
from app.clients.runtime import RuntimeClient
from app.db.session import Database
from app.services.auth_service import AuthService, TokenSettings
from app.services.file_service import FileService, UploadLimits
from app.services.maintenance_service import MaintenanceService
from app.services.message_service import MessageService
from app.services.preview_service import PreviewService
from app.services.run_service import RunService
from app.services.sandbox_service import SandboxService
from app.services.stream_service import StreamService
from app.services.thread_service import ThreadService
from app.settings import ApiSettings
from app.storage.object_store import ObjectStore, open_object_store


@dataclass(frozen=True, slots=True)
class Container:
    settings: ApiSettings
    database: Database
    store: ObjectStore
    runtime: RuntimeClient
    executor: ExecutorClient
    auth: AuthService
    threads: ThreadService
    files: FileService
    runs: RunService
    streams: StreamService
    messages: MessageService
    previews: PreviewService
    maintenance: MaintenanceService

    @classmethod
    def build(cls, settings: ApiSettings) -> "Container":
        database = Database(settings.app_database_url)
        store = open_object_store(settings)
        runtime = RuntimeClient(settings.runtime_base_url, settings.runtime_service_token)
        executor = ExecutorClient(settings.executor_base_url, settings.executor_service_token)
        files = FileService(
            database, store, UploadLimits(max_bytes=settings.upload_max_bytes, ttl_seconds=settings.presign_ttl_seconds)
        )
        sandboxes = SandboxService(database, executor, files, executor_base_url=settings.executor_base_url)
        threads = ThreadService(database, store, runtime, sandboxes)
        runs = RunService(
            database,
            runtime,
            sandboxes,
            model=settings.agent_model,
            recursion_limit=settings.agent_recursion_limit,
        )
        return cls(
            settings=settings,
            database=database,
            store=store,
            runtime=runtime,
            executor=executor,
            auth=AuthService(
                database,
                TokenSettings(
                    secret=settings.auth_jwt_secret,
                    access_ttl=timedelta(seconds=settings.auth_access_ttl_seconds),
                    refresh_ttl=timedelta(seconds=settings.auth_refresh_ttl_seconds),
                    registration_open=settings.auth_registration_open,
                ),
            ),
            threads=threads,
            files=files,
            runs=runs,
            streams=StreamService(runtime, runs),
            messages=MessageService(database, runtime),
            previews=PreviewService(store, executor, sandboxes),
            maintenance=MaintenanceService(database, threads, files, runs),
        )

    async def close(self) -> None:
        await self.runtime.close()
        await self.executor.close()
        await self.database.close()
