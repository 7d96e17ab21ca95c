"""What the API says and takes about runs and messages."""

from datetime import datetime
from typing import Annotated, Any, Literal, Self
from uuid import UUID

from pydantic import BaseModel, Field

from app.db.models import AgentRun

RunStatus = Literal["queued", "running", "awaiting_approval", "succeeded", "failed", "cancelled"]


class RunErrorOut(BaseModel):
    code: str
    message: str


class UsageOut(BaseModel):
    input_tokens: int
    output_tokens: int


class RunOut(BaseModel):
    id: UUID
    thread_id: UUID
    status: RunStatus
    question: str
    model: str
    error: RunErrorOut | None
    usage: UsageOut
    cost: float | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None

    @classmethod
    def of(cls, run: AgentRun) -> Self:
        return cls.model_validate(
            {
                "id": run.id,
                "thread_id": run.thread_id,
                "status": run.status,
                "question": run.question,
                "model": run.model,
                "error": {"code": run.error_code, "message": run.error_message or ""} if run.error_code else None,
                "usage": {"input_tokens": run.input_tokens or 0, "output_tokens": run.output_tokens or 0},
                "cost": run.cost,
                "created_at": run.created_at,
                "started_at": run.started_at,
                "finished_at": run.finished_at,
            }
        )


class RunList(BaseModel):
    """Newest first."""

    items: list[RunOut]
    next_cursor: str | None


class ChatIn(BaseModel):
    thread_id: UUID
    message: Annotated[str, Field(min_length=1)]
    file_ids: Annotated[list[UUID], Field(max_length=50)] = []


class ToolCallOut(BaseModel):
    id: str | None
    name: str | None
    args: dict[str, Any] | None


class MessageOut(BaseModel):
    """One message of the conversation, in LangChain's terms."""

    id: str
    type: str
    content: str
    run_id: UUID | None
    created_at: datetime | None
    tool_calls: list[ToolCallOut] = []
    tool_call_id: str | None = None
    name: str | None = None
    status: str | None = None
    artifact: dict[str, Any] | None = None
    file_ids: list[str] = []
    usage: UsageOut | None = None


class MessageList(BaseModel):
    """Oldest first."""

    items: list[MessageOut]
    next_cursor: str | None = None
