"""The tables of database `executor`. Times are UTC."""

from datetime import datetime
from typing import Any, ClassVar
from uuid import UUID

from sqlalchemy import JSON, BigInteger, DateTime, Index, MetaData, String, Text, text
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column


class Base(DeclarativeBase):
    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(column_0_label)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map: ClassVar[dict[Any, Any]] = {
        datetime: DateTime(timezone=True),
        # Not JSONB, which takes no NUL: `grep -Z` prints them, and what was printed is what is recorded.
        dict[str, Any]: JSON,
        str: Text,
        int: BigInteger,
    }


class Workspace(Base):
    """The lasting thing: an object-key prefix and the number of its newest change."""

    __tablename__ = "workspaces"

    prefix: Mapped[str] = mapped_column(primary_key=True)
    seq: Mapped[int] = mapped_column(server_default=text("0"))


class Session(Base):
    """One incarnation. The slot (`session_id`) follows from the workspace; the generation tells incarnations apart."""

    __tablename__ = "sessions"

    session_id: Mapped[str] = mapped_column(String(64), primary_key=True)
    generation: Mapped[str] = mapped_column(String(32), primary_key=True)
    workspace: Mapped[str]
    idempotency_key: Mapped[str | None] = mapped_column(String(300), unique=True)
    status: Mapped[str] = mapped_column(String(8))  # live | ended
    executor: Mapped[str] = mapped_column(String(64))
    created_at: Mapped[datetime] = mapped_column(server_default=text("now()"))
    last_used_at: Mapped[datetime] = mapped_column(server_default=text("now()"))
    ended_at: Mapped[datetime | None]

    __table_args__ = (
        Index("uq_sessions_live", "workspace", unique=True, postgresql_where=text("status = 'live'")),
        Index("ix_sessions_slot", "session_id", "generation"),
    )


class WorkspaceInput(Base):
    """An upload that the workspace is to see read-only."""

    __tablename__ = "workspace_inputs"

    workspace: Mapped[str] = mapped_column(primary_key=True)
    path: Mapped[str] = mapped_column(primary_key=True)
    object_key: Mapped[str]
    size: Mapped[int]
    sha256: Mapped[str] = mapped_column(String(64))


class WorkspaceFile(Base):
    """The newest persisted content of a path; kept with `deleted` so that versions go on where they were."""

    __tablename__ = "workspace_files"

    workspace: Mapped[str] = mapped_column(primary_key=True)
    path: Mapped[str] = mapped_column(primary_key=True)
    object_key: Mapped[str | None]
    artifact_id: Mapped[UUID | None]
    version: Mapped[int]
    size: Mapped[int]
    sha256: Mapped[str] = mapped_column(String(64))
    content_type: Mapped[str]
    mode: Mapped[int]
    deleted: Mapped[bool] = mapped_column(server_default=text("false"))


class Change(Base):
    __tablename__ = "changes"

    workspace: Mapped[str] = mapped_column(primary_key=True)
    seq: Mapped[int] = mapped_column(primary_key=True)
    path: Mapped[str]
    op: Mapped[str] = mapped_column(String(8))  # created | modified | deleted
    object_key: Mapped[str | None]
    artifact_id: Mapped[UUID | None]
    version: Mapped[int]
    size: Mapped[int]
    sha256: Mapped[str | None] = mapped_column(String(64))
    content_type: Mapped[str | None]


class Job(Base):
    __tablename__ = "jobs"

    job_id: Mapped[str] = mapped_column(String(200), primary_key=True)
    session_id: Mapped[str] = mapped_column(String(64))
    generation: Mapped[str] = mapped_column(String(32))
    program_hash: Mapped[str] = mapped_column(String(64))
    status: Mapped[str] = mapped_column(
        String(12)
    )  # queued | running | succeeded | failed | timed_out | cancelled | lost
    executor: Mapped[str] = mapped_column(String(64))
    result: Mapped[dict[str, Any] | None]
    created_at: Mapped[datetime] = mapped_column(server_default=text("now()"))
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]

    __table_args__ = (
        Index("ix_jobs_unfinished", "executor", postgresql_where=text("status IN ('queued', 'running')")),
    )
