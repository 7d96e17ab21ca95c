"""What can go wrong, in the product's own words. Raised where it is known, put into problem+json once, at the edge.

Each class is one stable `code` of the public API (RFC 9457 members `status`, `title`, `detail` beside it).
"""

from typing import Any, ClassVar


class ProductError(Exception):
    """Base of every expected failure.

    `extra` goes into the problem document as further members.
    """

    status: ClassVar[int] = 500
    code: ClassVar[str] = "internal_error"
    title: ClassVar[str] = "Something went wrong on our side"

    def __init__(self, detail: str | None = None, **extra: Any) -> None:
        self.detail = detail or self.title
        self.extra = extra
        super().__init__(self.detail)


class NotFoundError(ProductError):
    status = 404
    code = "not_found"
    title = "There is no such thing, or it is not yours"


class NotSignedInError(ProductError):
    status = 401
    code = "not_signed_in"
    title = "Sign in to go on"


class TokenExpiredError(NotSignedInError):
    code = "token_expired"
    title = "The access token has expired; refresh it"


class BadCredentialsError(ProductError):
    status = 401
    code = "bad_credentials"
    title = "The e-mail address or the password is wrong"


class EmailTakenError(ProductError):
    status = 409
    code = "email_taken"
    title = "There is an account with this e-mail address"


class RegistrationClosedError(ProductError):
    status = 403
    code = "registration_closed"
    title = "This installation does not take new accounts"


class CrossOriginError(ProductError):
    status = 403
    code = "cross_origin"
    title = "A page of another origin may not do this with your cookies"


class InvalidRequestError(ProductError):
    status = 422
    code = "invalid_request"
    title = "The request is not as it should be"


class RunActiveError(ProductError):
    status = 409
    code = "run_active"
    title = "This conversation is still working on an earlier message"


class ThreadBusyError(ProductError):
    status = 409
    code = "thread_busy"
    title = "This is in use by a run; wait for it or stop it"


class UploadTooLargeError(ProductError):
    status = 413
    code = "upload_too_large"
    title = "The file is larger than this installation takes"


class UploadMismatchError(ProductError):
    status = 409
    code = "upload_mismatch"
    title = "What arrived is not what was announced"


class UploadMissingError(ProductError):
    status = 409
    code = "upload_missing"
    title = "The file has not arrived yet"


class UploadExpiredError(ProductError):
    status = 410
    code = "upload_expired"
    title = "This upload has expired; begin it again"


class PreviewFailedError(ProductError):
    status = 422
    code = "preview_failed"
    title = "This file cannot be shown"


class RuntimeUnavailableError(ProductError):
    status = 503
    code = "runtime_unavailable"
    title = "The agent runtime does not answer; nothing is lost, try again in a moment"


class SandboxUnavailableError(ProductError):
    status = 503
    code = "sandbox_unavailable"
    title = "The sandbox does not answer; nothing is lost, try again in a moment"


class StorageUnavailableError(ProductError):
    status = 503
    code = "storage_unavailable"
    title = "The object store does not answer; nothing is lost, try again in a moment"
