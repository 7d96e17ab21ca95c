"""The runtime's door: only the backend, by its service token. Everything else is refused."""

import hmac
from typing import Any

from langgraph_sdk import Auth

from app.settings import RuntimeSettings, load_settings

auth = Auth()
_expected = f"Bearer {load_settings(RuntimeSettings).runtime_service_token}".encode()


@auth.authenticate
async def authenticate(headers: dict[Any, Any]) -> Auth.types.MinimalUserDict:
    """Compare the token in constant time; the one identity behind it is the backend."""
    offered: Any = headers.get("authorization", headers.get(b"authorization", b""))
    offered_bytes = offered.encode() if isinstance(offered, str) else offered
    if not hmac.compare_digest(offered_bytes, _expected):
        raise Auth.exceptions.HTTPException(status_code=401, detail="the service token is missing or wrong")
    return {"identity": "backend", "is_authenticated": True}
