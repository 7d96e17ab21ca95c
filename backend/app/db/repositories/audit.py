"""The audit log: written, never changed."""

from uuid import UUID

import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.models import AuditEvent


async def record_audit_event(
    session: AsyncSession, action: str, *, user_id: UUID | None, target: str | None = None, **detail: object
) -> None:
    """Add an event to the caller's transaction: it is there exactly when the act is."""
    request_id = structlog.contextvars.get_contextvars().get("request_id")
    session.add(AuditEvent(action=action, user_id=user_id, target=target, detail=detail, request_id=request_id))
