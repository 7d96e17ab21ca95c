"""Previews: tables are read inside the thread's sandbox, a page at a time; text comes straight from the store."""

from pathlib import Path, PurePosixPath
from typing import Any
from uuid import UUID, uuid4

import structlog
from pydantic import TypeAdapter, ValidationError

from app.clients.executor import ExecutorClient, ExecutorError
from app.db.models import ThreadFile
from app.errors import PreviewFailedError
from app.schemas.files import Preview, TablePreview, TextPreview
from app.services.file_kinds import CODE_LANGUAGES, preview_kind
from app.services.sandbox_service import SandboxService
from app.storage.object_store import ObjectStore

logger = structlog.get_logger(__name__)

TEXT_PREVIEW_BYTES = 512 * 1024
_PREVIEW_SECONDS = 45
_SCRIPT = Path(__file__).parents[1] / "guest" / "preview.py"
_INLINE_MARK = "PREVIEW_JSON "
_FILE_MARK = "PREVIEW_FILE"


class PreviewService:
    def __init__(self, store: ObjectStore, executor: ExecutorClient, sandboxes: SandboxService) -> None:
        self._store = store
        self._executor = executor
        self._sandboxes = sandboxes
        self._script = _SCRIPT.read_text()

    async def preview(self, file: ThreadFile, *, sheet: str | None, offset: int, limit: int) -> Preview:
        """A page of a table or the start of a text. Raises `PreviewFailedError` with the reason for the rest."""
        kind = preview_kind(file.filename, file.content_type)
        if kind == "table":
            return await self._table(file, sheet=sheet, offset=offset, limit=limit)
        if kind == "none" or kind == "image":
            raise PreviewFailedError("this kind of file is not shown as text or table; download it instead")
        return await self._text(file)

    async def _text(self, file: ThreadFile) -> TextPreview:
        content = await self._store.read(file.object_key, limit=TEXT_PREVIEW_BYTES)
        truncated = file.size > len(content)
        notes = [f"the first {len(content):,} of {file.size:,} bytes"] if truncated else []
        suffix = PurePosixPath(file.filename.lower()).suffix
        return TextPreview(
            kind="text",
            text=content.decode("utf-8", errors="replace"),
            truncated=truncated,
            language=CODE_LANGUAGES.get(suffix) or suffix.removeprefix(".") or None,
            notes=notes,
        )

    async def _table(self, file: ThreadFile, *, sheet: str | None, offset: int, limit: int) -> TablePreview:
        if file.kind == "upload":
            await self._sandboxes.stage_uploads(file.thread_id)
        answer_path = f"/tmp/preview-{uuid4().hex}.json"  # noqa: S108  # the guest's own, one per session
        request = {
            "path": file.guest_path,
            "sheet": sheet,
            "offset": offset,
            "limit": limit,
            "answer_path": answer_path,
        }
        code = f"REQUEST = {request!r}\n{self._script}"
        try:
            result = await self._sandboxes.use(
                file.thread_id,
                lambda session: self._executor.run_python(
                    session, code, timeout_seconds=_PREVIEW_SECONDS, read_only=True
                ),
            )
        except ExecutorError as error:
            logger.warning("preview_refused", file_id=str(file.id), code=error.code, detail=error.detail)
            raise PreviewFailedError("the sandbox could not read this file just now") from error
        if result.timed_out:
            raise PreviewFailedError("reading this file took too long; ask the analyst about it instead")
        for line in result.stdout.splitlines():
            if line.startswith(_INLINE_MARK):
                return _table_of(line.removeprefix(_INLINE_MARK))
            if line == _FILE_MARK:
                return _table_of(await self._fetch(file.thread_id, answer_path))
        logger.warning("preview_failed", file_id=str(file.id), exit_code=result.exit_code, stderr=result.stderr[-500:])
        raise PreviewFailedError("this file could not be read as a table; it may be damaged or of another kind")

    async def _fetch(self, thread_id: UUID, path: str) -> bytes:
        async def fetch(session: str) -> bytes:
            content = await self._executor.download(session, path)
            await self._executor.delete_file(session, path)
            return content

        try:
            return await self._sandboxes.use(thread_id, fetch)
        except ExecutorError as error:
            raise PreviewFailedError("the sandbox could not read this file just now") from error


def _table_of(document: str | bytes) -> TablePreview:
    try:
        answer: dict[str, Any] = TypeAdapter(dict[str, Any]).validate_json(document)
        if "error" in answer:
            raise PreviewFailedError(str(answer["error"]))
        return TablePreview.model_validate(answer)
    except ValidationError as error:
        raise PreviewFailedError("this file could not be shown as a table") from error
