"""Errors as RFC 9457 documents with a stable `code` and the `request_id`, and how they stand in OpenAPI."""

from typing import Any

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from app.errors import ProductError

logger = structlog.get_logger(__name__)

PROBLEM_MEDIA_TYPE = "application/problem+json"


class FieldProblem(BaseModel):
    field: str
    message: str


class Problem(BaseModel):
    """RFC 9457. `code` is stable, `detail` is for people, `request_id` is to be quoted to the operator."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    request_id: str | None
    errors: list[FieldProblem] | None = None


def problem_responses(*errors: type[ProductError]) -> dict[int | str, dict[str, Any]]:
    """The OpenAPI entries of the errors that an endpoint can answer with."""
    by_status: dict[int, list[str]] = {}
    for error in errors:
        by_status.setdefault(error.status, []).append(error.code)
    return {
        status: {
            "model": Problem,
            "description": " | ".join(codes),
            "content": {PROBLEM_MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
        }
        for status, codes in by_status.items()
    }


def problem_response(
    *,
    status: int,
    code: str,
    title: str,
    detail: str,
    extra: dict[str, Any] | None = None,
    headers: dict[str, str] | None = None,
) -> JSONResponse:
    document = {
        "type": f"urn:analyst:problem:{code}",
        "title": title,
        "status": status,
        "detail": detail,
        "code": code,
        "request_id": structlog.contextvars.get_contextvars().get("request_id"),
        **(extra or {}),
    }
    return JSONResponse(document, status_code=status, media_type=PROBLEM_MEDIA_TYPE, headers=headers)


def install_problem_handlers(app: FastAPI) -> None:
    @app.exception_handler(ProductError)
    async def expected(request: Request, error: ProductError) -> JSONResponse:
        headers = {"WWW-Authenticate": "Bearer"} if error.status == 401 else None
        return problem_response(
            status=error.status,
            code=error.code,
            title=error.title,
            detail=error.detail,
            extra=error.extra,
            headers=headers,
        )

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> JSONResponse:
        problems = [
            {"field": ".".join(str(part) for part in problem["loc"][1:]), "message": problem["msg"]}
            for problem in error.errors()
        ]
        detail = "; ".join(f"{problem['field']}: {problem['message']}" for problem in problems)
        return problem_response(
            status=422,
            code="invalid_request",
            title="The request is not as it should be",
            detail=detail,
            extra={"errors": problems},
        )

    @app.exception_handler(HTTPException)
    async def by_framework(request: Request, error: HTTPException) -> JSONResponse:
        code = {404: "not_found", 405: "method_not_allowed"}.get(error.status_code, "refused")
        return problem_response(
            status=error.status_code,
            code=code,
            title=str(error.detail),
            detail=str(error.detail),
            headers=dict(error.headers or {}),
        )

    @app.exception_handler(Exception)
    async def unexpected(request: Request, error: Exception) -> JSONResponse:
        logger.exception("unhandled_error", path=request.url.path)
        return problem_response(
            status=500,
            code="internal_error",
            title="Something went wrong on our side",
            detail="Nothing of yours is lost. Try again; if it comes back, quote the request id to your operator.",
        )
