"""The agent that the runtime serves: Deep Agents' loop over the thread's sandbox. `langgraph.json` names `graph`."""

from typing import Any

from deepagents import create_deep_agent
from deepagents.backends import CompositeBackend
from langchain.agents.middleware import TodoListMiddleware
from langgraph.graph.state import CompiledStateGraph

from app.agent.backend import MicrosandboxBackend
from app.agent.context import AgentContext
from app.agent.models import build_model
from app.agent.prompts import ANALYST_PROMPT
from app.clients.executor import ExecutorClient
from app.db.session import Database
from app.logs import configure_logging
from app.services.file_service import FileService, UploadLimits
from app.services.sandbox_service import SandboxService
from app.settings import RuntimeSettings, load_settings
from app.storage.object_store import open_object_store

# Where Deep Agents puts oversized tool results: its default, the root, cannot be written in the sandbox.
_AGENT_FOLDER = "/workspace/.agent"


def build_sandbox_backend(settings: RuntimeSettings) -> MicrosandboxBackend:
    """The sandbox backend with its own connections."""
    database = Database(settings.app_database_url, pool_size=5)
    executor = ExecutorClient(settings.executor_base_url, settings.executor_service_token)
    # The agent hands out no URLs and takes no uploads: these limits are never asked for here.
    files = FileService(database, open_object_store(settings), UploadLimits(max_bytes=0, ttl_seconds=0))
    sandboxes = SandboxService(database, executor, files, executor_base_url=settings.executor_base_url)
    return MicrosandboxBackend(sandboxes, executor)


def build_graph(settings: RuntimeSettings) -> CompiledStateGraph[Any, Any, Any, Any]:
    """The compiled agent; the runtime gives it its checkpointer."""
    return create_deep_agent(
        model=build_model(settings),
        system_prompt=ANALYST_PROMPT,
        middleware=[TodoListMiddleware()],
        backend=CompositeBackend(default=build_sandbox_backend(settings), routes={}, artifacts_root=_AGENT_FOLDER),
        context_schema=AgentContext,
        name="analyst",
    )


_settings = load_settings(RuntimeSettings)
configure_logging(level=_settings.log_level, fmt=_settings.log_format)
graph = build_graph(_settings)
