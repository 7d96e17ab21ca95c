"""Opaque cursors of paged lists."""

import base64
from datetime import datetime
from uuid import UUID

from app.db.repositories.threads import ThreadCursor
from app.errors import InvalidRequestError


def encode_thread_cursor(updated_at: datetime, thread_id: UUID) -> str:
    return base64.urlsafe_b64encode(f"{updated_at.isoformat()} {thread_id}".encode()).decode()


def decode_thread_cursor(cursor: str) -> ThreadCursor:
    try:
        moment, _, thread_id = base64.urlsafe_b64decode(cursor.encode()).decode().partition(" ")
        return datetime.fromisoformat(moment), UUID(thread_id)
    except ValueError as error:
        raise InvalidRequestError("cursor: not one that this API gave") from error
