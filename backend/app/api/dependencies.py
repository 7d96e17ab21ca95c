"""What endpoints ask for: the services, the caller, and a thread that is the caller's own."""

from typing import Annotated, cast
from uuid import UUID

import structlog
from fastapi import Depends, Header, Request
from fastapi.security import HTTPBearer

from app.api.container import Container
from app.db.models import Thread, User
from app.errors import NotSignedInError

ACCESS_COOKIE = "access_token"
REFRESH_COOKIE = "refresh_token"

_bearer = HTTPBearer(auto_error=False, description="An access token or an API key")


def get_container(request: Request) -> Container:
    return cast("Container", request.app.state.container)


ContainerDep = Annotated[Container, Depends(get_container)]


async def get_current_user(
    request: Request, container: ContainerDep, _documented: Annotated[object, Depends(_bearer)]
) -> User:
    """The account behind the Bearer token, else behind the cookie."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer":
        token = request.cookies.get(ACCESS_COOKIE, "")
    if not token:
        raise NotSignedInError
    user = await container.auth.authenticate(token.strip())
    structlog.contextvars.bind_contextvars(user_id=str(user.id))
    return user


CurrentUser = Annotated[User, Depends(get_current_user)]


async def get_owned_thread(thread_id: UUID, user: CurrentUser, container: ContainerDep) -> Thread:
    """The thread of the path, when it is the caller's; else 404, as for one that does not exist."""
    return await container.threads.get_owned(user.id, thread_id)


OwnedThread = Annotated[Thread, Depends(get_owned_thread)]

IdempotencyKey = Annotated[
    str | None,
    Header(alias="Idempotency-Key", min_length=8, max_length=200, description="A resend with the same key acts once"),
]
