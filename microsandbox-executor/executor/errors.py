"""What can go wrong, each with its stable `code`; put into problem+json once, at the edge."""

from typing import ClassVar


class ExecutorError(Exception):
    """Base of every expected failure."""

    status: ClassVar[int] = 500
    code: ClassVar[str] = "internal_error"
    title: ClassVar[str] = "The executor failed"

    def __init__(self, detail: str | None = None) -> None:
        self.detail = detail or self.title
        super().__init__(self.detail)


class UnauthorizedError(ExecutorError):
    status = 401
    code = "unauthorized"
    title = "The service token is missing or wrong"


class InvalidRequestError(ExecutorError):
    status = 422
    code = "invalid_request"
    title = "The request is not as it should be"


class GenerationRequiredError(ExecutorError):
    status = 400
    code = "generation_required"
    title = "Name the session as session_id@generation"


class SessionNotFoundError(ExecutorError):
    status = 404
    code = "session_not_found"
    title = "There is no such session"


class StaleGenerationError(ExecutorError):
    status = 409
    code = "stale_generation"
    title = "This session was replaced by a newer one; nothing was done"


class JobNotFoundError(ExecutorError):
    status = 404
    code = "job_not_found"
    title = "There is no such job"


class JobConflictError(ExecutorError):
    status = 409
    code = "job_conflict"
    title = "This job id belongs to another command"


class BusyError(ExecutorError):
    status = 429
    code = "executor_busy"
    title = "Too many commands are waiting; try again in a moment"
    retry_after_seconds: ClassVar[int] = 2


class StoppingError(ExecutorError):
    status = 503
    code = "executor_stopping"
    title = "The executor is being stopped and takes no more commands"


class FileNotFoundInGuestError(ExecutorError):
    status = 404
    code = "file_not_found"
    title = "There is no such file"


class IsDirectoryError(ExecutorError):
    status = 400
    code = "is_directory"
    title = "This is a folder"


class InvalidPathError(ExecutorError):
    status = 400
    code = "invalid_path"
    title = "This is not a path in the guest"


class PermissionDeniedError(ExecutorError):
    status = 403
    code = "permission_denied"
    title = "This place cannot be read or written"


class FileTooLargeError(ExecutorError):
    status = 413
    code = "file_too_large"
    title = "The file is larger than this sandbox takes"


class InputMismatchError(ExecutorError):
    status = 409
    code = "input_mismatch"
    title = "An input is not what it should be"


class ObjectMissingError(ExecutorError):
    status = 409
    code = "object_missing"
    title = "An object that should be in the store is not there"


class ObjectRefusedError(ExecutorError):
    status = 422
    code = "object_refused"
    title = "The object store does not take this object"


class StorageUnavailableError(ExecutorError):
    status = 503
    code = "storage_unavailable"
    title = "The object store does not answer"
