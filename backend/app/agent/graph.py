"""The agent that the runtime serves: Deep Agents' loop over the thread's sandbox. `langgraph.json` names `graph`."""

from typing import Any

from deepagents import create_deep_agent
from deepagents.backends import CompositeBackend
from langchain.agents.middleware import TodoListMiddleware
from langgraph.graph.state import CompiledStateGraph

from app.agent.context import AgentContext
from app.agent.models import build_model
from app.agent.prompts import ANALYST_PROMPT
from app.agent.sandbox import build_sandbox_backend
from app.logs import configure_logging
from app.settings import RuntimeSettings, load_settings

# Where Deep Agents puts oversized tool results: its default, the root, cannot be written in the sandbox.
_AGENT_FOLDER = "/workspace/.agent"


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
