"""Accounts, their sign-ins and their API keys."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from sqlalchemy import delete, exists, func, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.models import ApiKey, AuthSession, User


class UserRepository:
    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def get(self, user_id: UUID) -> User | None:
        return await self._session.get(User, user_id)

    async def get_by_email(self, email: str) -> User | None:
        return await self._session.scalar(select(User).where(User.email == email))

    async def any_exists(self) -> bool:
        return bool(await self._session.scalar(select(exists().where(User.id.is_not(None)))))

    async def add(self, *, email: str, password_hash: str, role: str = "user") -> User:
        """Insert an account; an address in use raises `IntegrityError`."""
        user = User(email=email, password_hash=password_hash, role=role)
        self._session.add(user)
        await self._session.flush()
        await self._session.refresh(user)
        return user


class AuthSessionRepository:
    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def add(self, *, session_id: UUID, user_id: UUID, token_hash: str, expires_at: datetime) -> None:
        self._session.add(AuthSession(id=session_id, user_id=user_id, token_hash=token_hash, expires_at=expires_at))
        await self._session.flush()

    async def get_for_update(self, session_id: UUID) -> AuthSession | None:
        return await self._session.scalar(select(AuthSession).where(AuthSession.id == session_id).with_for_update())

    async def revoke(self, session_id: UUID) -> None:
        await self._session.execute(
            update(AuthSession)
            .where(AuthSession.id == session_id, AuthSession.revoked_at.is_(None))
            .values(revoked_at=func.now())
        )


class ApiKeyRepository:
    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def add(self, *, user_id: UUID, name: str, prefix: str, key_hash: str) -> ApiKey:
        key = ApiKey(user_id=user_id, name=name, prefix=prefix, key_hash=key_hash)
        self._session.add(key)
        await self._session.flush()
        await self._session.refresh(key)
        return key

    async def list_of(self, user_id: UUID) -> Sequence[ApiKey]:
        rows = await self._session.scalars(select(ApiKey).where(ApiKey.user_id == user_id).order_by(ApiKey.id.desc()))
        return rows.all()

    async def use(self, key_hash: str) -> UUID | None:
        """Mark the key as used now and return whose it is, or None when there is no such key."""
        return await self._session.scalar(
            update(ApiKey).where(ApiKey.key_hash == key_hash).values(last_used_at=func.now()).returning(ApiKey.user_id)
        )

    async def remove(self, *, user_id: UUID, key_id: UUID) -> bool:
        removed = await self._session.scalar(
            delete(ApiKey).where(ApiKey.id == key_id, ApiKey.user_id == user_id).returning(ApiKey.id)
        )
        return removed is not None
