"""The tables of database `app`. Identifiers are UUIDv7, times are UTC."""

from datetime import datetime
from typing import Any, ClassVar
from uuid import UUID

from sqlalchemy import BigInteger, DateTime, ForeignKey, Index, MetaData, Numeric, String, Text, UniqueConstraint, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column
from uuid_utils.compat import uuid7

ACTIVE_RUN_STATUSES = ("queued", "running", "awaiting_approval")
_ACTIVE_RUN_PREDICATE = text("status IN ('queued', 'running', 'awaiting_approval')")


def _foreign_key(target: str) -> ForeignKey:
    return ForeignKey(target, ondelete="CASCADE")


class Base(DeclarativeBase):
    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(column_0_label)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map: ClassVar[dict[Any, Any]] = {
        datetime: DateTime(timezone=True),
        dict[str, Any]: JSONB,
        str: Text,
    }


class Timestamped:
    created_at: Mapped[datetime] = mapped_column(server_default=text("now()"))


class User(Timestamped, Base):
    __tablename__ = "users"

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid7)
    email: Mapped[str] = mapped_column(String(320), unique=True)  # stored in lower case
    password_hash: Mapped[str | None]
    oidc_subject: Mapped[str | None] = mapped_column(unique=True)
    role: Mapped[str] = mapped_column(String(16), server_default="user")
    disabled: Mapped[bool] = mapped_column(server_default=text("false"))


class AuthSession(Timestamped, Base):
    """A sign-in: one family of refresh tokens of which only the newest is good."""

    __tablename__ = "auth_sessions"

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid7)
    user_id: Mapped[UUID] = mapped_column(_foreign_key("users.id"), index=True)
    token_hash: Mapped[str] = mapped_column(String(64))
    previous_token_hash: Mapped[str | None] = mapped_column(String(64))
    rotated_at: Mapped[datetime] = mapped_column(server_default=text("now()"))
    expires_at: Mapped[datetime]
    revoked_at: Mapped[datetime | None]


class ApiKey(Timestamped, Base):
    __tablename__ = "api_keys"

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid7)
    user_id: Mapped[UUID] = mapped_column(_foreign_key("users.id"), index=True)
    name: Mapped[str] = mapped_column(String(200))
    prefix: Mapped[str] = mapped_column(String(16))
    key_hash: Mapped[str] = mapped_column(String(64), unique=True)
    last_used_at: Mapped[datetime | None]


class Thread(Timestamped, Base):
    __tablename__ = "threads"

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid7)
    owner_id: Mapped[UUID] = mapped_column(_foreign_key("users.id"))
    title: Mapped[str] = mapped_column(String(200))
    runtime_thread_id: Mapped[UUID] = mapped_column(unique=True, default=uuid7)
    status: Mapped[str] = mapped_column(String(16), server_default="active")  # active | deleting
    idempotency_key: Mapped[str | None] = mapped_column(String(200))
    updated_at: Mapped[datetime] = mapped_column(server_default=text("now()"))

    __table_args__ = (
        Index("ix_threads_owner_recent", "owner_id", "updated_at", "id"),
        UniqueConstraint("owner_id", "idempotency_key"),
    )


class UploadIntent(Timestamped, Base):
    """A presigned upload that was handed out: what must arrive, and until when."""

    __tablename__ = "upload_intents"

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid7)
    thread_id: Mapped[UUID] = mapped_column(_foreign_key("threads.id"), index=True)
    object_key: Mapped[str] = mapped_column(unique=True)
    filename: Mapped[str]
    content_type: Mapped[str] = mapped_column(String(255))
    size: Mapped[int] = mapped_column(BigInteger)
    expires_at: Mapped[datetime]
    completed_at: Mapped[datetime | None]


class ThreadFile(Timestamped, Base):
    __tablename__ = "thread_files"

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid7)
    thread_id: Mapped[UUID] = mapped_column(_foreign_key("threads.id"))
    kind: Mapped[str] = mapped_column(String(16))  # upload | artifact
    object_key: Mapped[str]
    filename: Mapped[str]
    guest_path: Mapped[str]
    content_type: Mapped[str] = mapped_column(String(255))
    size: Mapped[int] = mapped_column(BigInteger)
    sha256: Mapped[str] = mapped_column(String(64))
    version: Mapped[int] = mapped_column(server_default=text("1"))
    created_by: Mapped[str] = mapped_column(String(16))  # user | agent
    source_run_id: Mapped[UUID | None] = mapped_column(ForeignKey("agent_runs.id", ondelete="SET NULL"))

    __table_args__ = (
        UniqueConstraint("thread_id", "object_key"),
        # Two uploads of one name get two guest paths; two versions of one artifact share theirs.
        UniqueConstraint("thread_id", "guest_path", "version"),
        Index("ix_thread_files_recent", "thread_id", "created_at"),
    )


class ThreadSandboxSession(Timestamped, Base):
    """Which sandbox holds a thread's workspace now; it outlives every process."""

    __tablename__ = "thread_sandbox_sessions"

    thread_id: Mapped[UUID] = mapped_column(_foreign_key("threads.id"), primary_key=True)
    sandbox_session_id: Mapped[str]
    generation: Mapped[str]
    executor_base_url: Mapped[str]
    registered_seq: Mapped[int] = mapped_column(BigInteger, server_default=text("0"))
    updated_at: Mapped[datetime] = mapped_column(server_default=text("now()"))


class AgentRun(Timestamped, Base):
    __tablename__ = "agent_runs"

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid7)
    thread_id: Mapped[UUID] = mapped_column(_foreign_key("threads.id"))
    runtime_run_id: Mapped[UUID | None]
    status: Mapped[str] = mapped_column(
        String(24)
    )  # queued | running | awaiting_approval | succeeded | failed | cancelled
    question: Mapped[str]
    file_ids: Mapped[list[str]] = mapped_column(JSONB, server_default=text("'[]'"))
    idempotency_key: Mapped[str | None] = mapped_column(String(200))
    model: Mapped[str] = mapped_column(String(200))
    error_code: Mapped[str | None] = mapped_column(String(64))
    error_message: Mapped[str | None]
    input_tokens: Mapped[int] = mapped_column(BigInteger, server_default=text("0"))
    output_tokens: Mapped[int] = mapped_column(BigInteger, server_default=text("0"))
    cost: Mapped[float | None] = mapped_column(Numeric(12, 6, asdecimal=False))
    attempt: Mapped[int] = mapped_column(server_default=text("1"))  # 2 once it was resumed from its checkpoint
    cancel_requested_at: Mapped[datetime | None]
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]

    __table_args__ = (
        # The lock of a thread: the runtime itself would start a second run beside the first.
        Index("uq_agent_runs_active", "thread_id", unique=True, postgresql_where=_ACTIVE_RUN_PREDICATE),
        Index("ix_agent_runs_thread", "thread_id", "created_at"),
        UniqueConstraint("thread_id", "idempotency_key"),
    )


class AgentRunArtifact(Base):
    __tablename__ = "agent_run_artifacts"

    run_id: Mapped[UUID] = mapped_column(_foreign_key("agent_runs.id"), primary_key=True)
    file_id: Mapped[UUID] = mapped_column(_foreign_key("thread_files.id"), primary_key=True)


class AuditEvent(Base):
    __tablename__ = "audit_log"

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid7)
    at: Mapped[datetime] = mapped_column(server_default=text("now()"))
    user_id: Mapped[UUID | None]  # no foreign key: the log outlives the account
    action: Mapped[str] = mapped_column(String(64))
    target: Mapped[str | None]
    detail: Mapped[dict[str, Any]] = mapped_column(server_default=text("'{}'"))
    request_id: Mapped[str | None] = mapped_column(String(64))

    __table_args__ = (Index("ix_audit_log_user", "user_id", "at"),)
