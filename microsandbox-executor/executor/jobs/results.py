"""What a command came to, as it is recorded and given out."""

from typing import Literal, Self

from pydantic import BaseModel

from executor.metadata.models import Change

JobStatus = Literal["queued", "running", "succeeded", "failed", "timed_out", "cancelled", "lost"]


class ChangeOut(BaseModel):
    seq: int
    path: str
    op: Literal["created", "modified", "deleted"]
    object_key: str | None
    artifact_id: str | None
    version: int
    size: int
    sha256: str | None
    content_type: str | None

    @classmethod
    def of(cls, change: Change) -> Self:
        return cls.model_validate(
            {
                "seq": change.seq,
                "path": change.path,
                "op": change.op,
                "object_key": change.object_key,
                "artifact_id": str(change.artifact_id) if change.artifact_id else None,
                "version": change.version,
                "size": change.size,
                "sha256": change.sha256,
                "content_type": change.content_type,
            }
        )


class NotPersistedOut(BaseModel):
    path: str
    reason: str


class ResultOut(BaseModel):
    """`exit_code` is None when it is not known; `duration_ms` is the command's own time."""

    job_id: str
    status: JobStatus
    stdout: str = ""
    stderr: str = ""
    exit_code: int | None = None
    timed_out: bool = False
    truncated: bool = False
    duration_ms: int = 0
    message: str | None = None
    seq: int = 0
    changes: list[ChangeOut] = []
    not_persisted: list[NotPersistedOut] = []


def lost_result(job_id: str) -> ResultOut:
    return ResultOut(
        job_id=job_id,
        status="lost",
        message="The executor was restarted while this command ran; it is not known how far it came.",
    )
