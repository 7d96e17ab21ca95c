"""What the API says and takes about threads."""

from datetime import datetime
from typing import Annotated, Self
from uuid import UUID

from pydantic import BaseModel, StringConstraints

from app.schemas.runs import RunOut
from app.services.thread_service import ThreadView

Title = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]


class ThreadIn(BaseModel):
    title: Title | None = None


class ThreadPatch(BaseModel):
    title: Title


class ThreadOut(BaseModel):
    id: UUID
    title: str
    status: str
    created_at: datetime
    updated_at: datetime
    active_run: RunOut | None

    @classmethod
    def of(cls, view: ThreadView) -> Self:
        thread = view.thread
        return cls(
            id=thread.id,
            title=thread.title,
            status=thread.status,
            created_at=thread.created_at,
            updated_at=thread.updated_at,
            active_run=RunOut.of(view.active_run) if view.active_run else None,
        )


class ThreadList(BaseModel):
    """Newest activity first."""

    items: list[ThreadOut]
    next_cursor: str | None
