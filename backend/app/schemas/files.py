"""What the API says and takes about files."""

from datetime import datetime
from typing import Annotated, Any, Literal, Self
from uuid import UUID

from pydantic import BaseModel, Field, StringConstraints

from app.db.models import ThreadFile
from app.services.file_kinds import PreviewKind, preview_kind


class PresignUploadIn(BaseModel):
    """`size` in bytes, exactly; `filename` as the person knows it."""

    thread_id: UUID
    filename: Annotated[str, StringConstraints(min_length=1, max_length=1000)]
    content_type: Annotated[str, StringConstraints(max_length=255, pattern=r"^[\x20-\x7e]*$")] = ""
    size: Annotated[int, Field(ge=0)]
    purpose: Literal["upload"] = "upload"


class PresignUploadOut(BaseModel):
    """One PUT with exactly these headers and this many bytes, until `expires_at`."""

    upload_id: UUID
    object_key: str
    url: str
    method: Literal["PUT"]
    headers: dict[str, str]
    expires_at: datetime


class CompleteUploadIn(BaseModel):
    thread_id: UUID
    upload_id: UUID
    sha256: Annotated[str, StringConstraints(pattern=r"^[0-9a-fA-F]{64}$")] | None = None


class PresignDownloadIn(BaseModel):
    thread_id: UUID
    file_id: UUID
    disposition: Literal["inline", "attachment"] = "attachment"


class PresignDownloadOut(BaseModel):
    url: str
    expires_at: datetime


class FileOut(BaseModel):
    id: UUID
    thread_id: UUID
    kind: Literal["upload", "artifact"]
    filename: str
    guest_path: str
    content_type: str
    size: int
    sha256: str
    version: int
    created_by: Literal["user", "agent"]
    source_run_id: UUID | None
    created_at: datetime
    preview: PreviewKind

    @classmethod
    def of(cls, file: ThreadFile) -> Self:
        return cls.model_validate(
            {
                "id": file.id,
                "thread_id": file.thread_id,
                "kind": file.kind,
                "filename": file.filename,
                "guest_path": file.guest_path,
                "content_type": file.content_type,
                "size": file.size,
                "sha256": file.sha256,
                "version": file.version,
                "created_by": file.created_by,
                "source_run_id": file.source_run_id,
                "created_at": file.created_at,
                "preview": preview_kind(file.filename, file.content_type),
            }
        )


class FileList(BaseModel):
    """Newest first."""

    items: list[FileOut]
    next_cursor: str | None = None


class PreviewColumn(BaseModel):
    name: str
    type: str


class TablePreview(BaseModel):
    """One page of rows. `total_rows` is None when it is not known; `notes` say what was assumed or left out."""

    kind: Literal["table"]
    columns: list[PreviewColumn]
    rows: list[list[Any]]
    total_rows: int | None
    offset: int
    sheets: list[str] | None = None
    sheet: str | None = None
    notes: list[str] = []


class TextPreview(BaseModel):
    kind: Literal["text"]
    text: str
    truncated: bool
    language: str | None = None
    notes: list[str] = []


Preview = Annotated[TablePreview | TextPreview, Field(discriminator="kind")]
