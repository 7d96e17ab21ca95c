"""What the API says and takes about accounts."""

from datetime import datetime
from typing import Annotated, Literal, Self
from uuid import UUID

from pydantic import BaseModel, EmailStr, Field, StringConstraints

from app.db.models import ApiKey, User


class Credentials(BaseModel):
    email: EmailStr
    password: Annotated[str, Field(min_length=8, max_length=200)]


class LoginIn(BaseModel):
    email: Annotated[str, Field(max_length=320)]
    password: Annotated[str, Field(max_length=200)]


class UserOut(BaseModel):
    id: UUID
    email: str
    role: str
    created_at: datetime

    @classmethod
    def of(cls, user: User) -> Self:
        return cls(id=user.id, email=user.email, role=user.role, created_at=user.created_at)


class SessionOut(BaseModel):
    """`expires_in` seconds of the access token."""

    user: UserOut
    access_token: str
    token_type: Literal["bearer"] = "bearer"  # noqa: S105  # the scheme's name, not a secret
    expires_in: int


class ApiKeyIn(BaseModel):
    name: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]


class ApiKeyOut(BaseModel):
    id: UUID
    name: str
    prefix: str
    created_at: datetime
    last_used_at: datetime | None

    @classmethod
    def of(cls, row: ApiKey) -> Self:
        return cls(
            id=row.id, name=row.name, prefix=row.prefix, created_at=row.created_at, last_used_at=row.last_used_at
        )


class NewApiKeyOut(ApiKeyOut):
    """`key` is shown this once."""

    key: str


class ApiKeyList(BaseModel):
    items: list[ApiKeyOut]
    next_cursor: str | None = None
