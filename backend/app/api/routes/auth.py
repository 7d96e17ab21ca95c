"""Accounts and sign-in."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Cookie, Response, status

from app.api.dependencies import ACCESS_COOKIE, REFRESH_COOKIE, ContainerDep, CurrentUser
from app.api.problems import problem_responses
from app.errors import (
    BadCredentialsError,
    EmailTakenError,
    InvalidRequestError,
    NotFoundError,
    NotSignedInError,
    RegistrationClosedError,
    TokenExpiredError,
)
from app.schemas.auth import ApiKeyIn, ApiKeyList, ApiKeyOut, Credentials, LoginIn, NewApiKeyOut, SessionOut, UserOut
from app.services.auth_service import SignIn
from app.settings import ApiSettings

router = APIRouter(prefix="/auth", tags=["auth"])

SIGNED_IN = problem_responses(NotSignedInError, TokenExpiredError)
RefreshCookie = Annotated[str | None, Cookie(alias=REFRESH_COOKIE)]


@router.post(
    "/register",
    status_code=status.HTTP_201_CREATED,
    responses=problem_responses(EmailTakenError, RegistrationClosedError, InvalidRequestError),
)
async def register(body: Credentials, response: Response, container: ContainerDep) -> SessionOut:
    sign_in = await container.auth.register(email=body.email, password=body.password)
    return _answer(response, container.settings, sign_in)


@router.post("/login", responses=problem_responses(BadCredentialsError, InvalidRequestError))
async def login(body: LoginIn, response: Response, container: ContainerDep) -> SessionOut:
    sign_in = await container.auth.login(email=body.email, password=body.password)
    return _answer(response, container.settings, sign_in)


@router.post("/refresh", responses=problem_responses(NotSignedInError))
async def refresh(response: Response, container: ContainerDep, refresh_token: RefreshCookie = None) -> SessionOut:
    """Trade the refresh cookie for a new pair. A refresh token that was used before ends its sign-in."""
    if not refresh_token:
        raise NotSignedInError
    return _answer(response, container.settings, await container.auth.refresh(refresh_token))


@router.post("/logout", status_code=status.HTTP_204_NO_CONTENT)
async def logout(response: Response, container: ContainerDep, refresh_token: RefreshCookie = None) -> None:
    await container.auth.logout(refresh_token)
    response.delete_cookie(ACCESS_COOKIE, path="/api")
    response.delete_cookie(REFRESH_COOKIE, path="/api/auth")


@router.get("/me", responses=SIGNED_IN)
async def me(user: CurrentUser) -> UserOut:
    return UserOut.of(user)


@router.post(
    "/api-keys",
    status_code=status.HTTP_201_CREATED,
    responses={**SIGNED_IN, **problem_responses(InvalidRequestError)},
)
async def create_api_key(body: ApiKeyIn, user: CurrentUser, container: ContainerDep) -> NewApiKeyOut:
    """Make a key for scripts and the command line. It is shown this once."""
    row, key = await container.auth.create_api_key(user, body.name)
    return NewApiKeyOut(**ApiKeyOut.of(row).model_dump(), key=key)


@router.get("/api-keys", responses=SIGNED_IN)
async def list_api_keys(user: CurrentUser, container: ContainerDep) -> ApiKeyList:
    return ApiKeyList(items=[ApiKeyOut.of(row) for row in await container.auth.list_api_keys(user)])


@router.delete(
    "/api-keys/{key_id}",
    status_code=status.HTTP_204_NO_CONTENT,
    responses={**SIGNED_IN, **problem_responses(NotFoundError, InvalidRequestError)},
)
async def delete_api_key(key_id: UUID, user: CurrentUser, container: ContainerDep) -> None:
    await container.auth.delete_api_key(user, key_id)


def _answer(response: Response, settings: ApiSettings, sign_in: SignIn) -> SessionOut:
    secure = settings.cookies_are_secure
    response.set_cookie(
        ACCESS_COOKIE,
        sign_in.access_token,
        # It outlives the token, so that the API can say that it has expired and not merely that it is missing.
        max_age=settings.auth_refresh_ttl_seconds,
        path="/api",
        httponly=True,
        secure=secure,
        samesite="strict",
    )
    if sign_in.refresh_token:
        response.set_cookie(
            REFRESH_COOKIE,
            sign_in.refresh_token,
            max_age=settings.auth_refresh_ttl_seconds,
            path="/api/auth",
            httponly=True,
            secure=secure,
            samesite="strict",
        )
    return SessionOut(user=UserOut.of(sign_in.user), access_token=sign_in.access_token, expires_in=sign_in.expires_in)
