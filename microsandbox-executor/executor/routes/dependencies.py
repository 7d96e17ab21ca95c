"""What endpoints ask for: the services, and that the caller holds the service token."""

import hmac
from typing import TYPE_CHECKING, Annotated, cast

from fastapi import Depends, Request

from executor.errors import UnauthorizedError

if TYPE_CHECKING:
    from executor.app import Services


def get_services(request: Request) -> "Services":
    return cast("Services", request.app.state.services)


def require_service_token(request: Request) -> None:
    """Compare the Bearer token in constant time."""
    expected = f"Bearer {get_services(request).settings.executor_service_token}"
    offered = request.headers.get("authorization", "")
    if not hmac.compare_digest(offered.encode(), expected.encode()):
        raise UnauthorizedError


ServicesDep = Annotated["Services", Depends(get_services)]
ServiceToken = Depends(require_service_token)
