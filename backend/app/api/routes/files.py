"""Files go straight between the browser and the object store, by requests that are made and signed here."""

from fastapi import APIRouter, status

from app.api.dependencies import ContainerDep, CurrentUser
from app.api.problems import problem_responses
from app.api.routes.threads import OWNED
from app.errors import (
    StorageUnavailableError,
    UploadExpiredError,
    UploadMismatchError,
    UploadMissingError,
    UploadTooLargeError,
)
from app.schemas.files import (
    CompleteUploadIn,
    FileOut,
    PresignDownloadIn,
    PresignDownloadOut,
    PresignUploadIn,
    PresignUploadOut,
)

router = APIRouter(prefix="/files", tags=["files"])


@router.post("/presign-upload", responses={**OWNED, **problem_responses(UploadTooLargeError)})
async def presign_upload(body: PresignUploadIn, user: CurrentUser, container: ContainerDep) -> PresignUploadOut:
    """Announce a file: the answer is the one PUT that may bring it. Type, exact size and key are signed."""
    thread = await container.threads.get_owned(user.id, body.thread_id)
    upload = await container.files.presign_upload(
        thread, filename=body.filename, content_type=body.content_type.strip(), size=body.size
    )
    return PresignUploadOut(
        upload_id=upload.upload_id,
        object_key=upload.object_key,
        url=upload.request.url,
        method="PUT",
        headers=upload.request.headers,
        expires_at=upload.request.expires_at,
    )


@router.post(
    "/complete-upload",
    status_code=status.HTTP_201_CREATED,
    responses={
        **OWNED,
        **problem_responses(UploadMissingError, UploadMismatchError, UploadExpiredError, StorageUnavailableError),
    },
)
async def complete_upload(body: CompleteUploadIn, user: CurrentUser, container: ContainerDep) -> FileOut:
    """Say that the PUT is done: the object's real size and SHA-256 are checked, then it is a file of the thread."""
    thread = await container.threads.get_owned(user.id, body.thread_id)
    return FileOut.of(await container.files.complete_upload(thread, upload_id=body.upload_id, sha256=body.sha256))


@router.post("/presign-download", responses=OWNED)
async def presign_download(body: PresignDownloadIn, user: CurrentUser, container: ContainerDep) -> PresignDownloadOut:
    thread = await container.threads.get_owned(user.id, body.thread_id)
    file = await container.files.get_file(thread.id, body.file_id)
    request = await container.files.presign_download(file, inline=body.disposition == "inline")
    return PresignDownloadOut(url=request.url, expires_at=request.expires_at)
