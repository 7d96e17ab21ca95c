"""Whose run this is. The backend sends it with each run; without it nothing is done."""

from dataclasses import dataclass
from uuid import UUID

from langgraph.runtime import get_runtime


@dataclass(frozen=True, slots=True)
class AgentContext:
    """Identifiers as text, as they come with the run."""

    user_id: str
    thread_id: str
    run_id: str


@dataclass(frozen=True, slots=True)
class RunIdentity:
    user_id: UUID
    thread_id: UUID
    run_id: UUID


class MissingContextError(RuntimeError):
    """The run has no complete context: it is not known whose files it may touch."""


def current_run() -> RunIdentity:
    """The identity of the run that this code is part of. Raises `MissingContextError`."""
    try:
        context = get_runtime(AgentContext).context
    except (KeyError, RuntimeError) as error:  # not within a run at all
        raise MissingContextError("there is no run here") from error
    try:
        return RunIdentity(UUID(context.user_id), UUID(context.thread_id), UUID(context.run_id))
    except (AttributeError, TypeError, ValueError) as error:
        raise MissingContextError("the run has no complete context {user_id, thread_id, run_id}") from error
