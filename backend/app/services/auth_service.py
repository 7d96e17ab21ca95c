"""Who is calling: accounts, passwords, access tokens, rotating refresh tokens and API keys."""

import hashlib
import hmac
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from uuid import UUID

import jwt
from anyio import to_thread
from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerifyMismatchError
from sqlalchemy.exc import IntegrityError
from uuid_utils.compat import uuid7

from app.db.models import ApiKey, User
from app.db.repositories.audit import record_audit_event
from app.db.repositories.users import ApiKeyRepository, AuthSessionRepository, UserRepository
from app.db.session import Database
from app.errors import (
    BadCredentialsError,
    EmailTakenError,
    NotFoundError,
    NotSignedInError,
    RegistrationClosedError,
    TokenExpiredError,
)

_ALGORITHM = "HS256"
_API_KEY_MARK = "ak_"
# Two tabs may refresh with the same cookie at once: for this long the token before is a late request, not a theft.
_ROTATION_GRACE = timedelta(seconds=20)

_hasher = PasswordHasher()


@cache
def _decoy_hash() -> str:
    """Checked when there is no such account, so that the answer takes as long as for a wrong password."""
    return _hasher.hash(secrets.token_urlsafe(16))


@dataclass(frozen=True, slots=True)
class TokenSettings:
    secret: str
    access_ttl: timedelta
    refresh_ttl: timedelta
    registration_open: bool


@dataclass(frozen=True, slots=True)
class SignIn:
    """`refresh_token` is None when the caller's cookie is to stay as it is."""

    user: User
    access_token: str
    expires_in: int
    refresh_token: str | None


class AuthService:
    def __init__(self, database: Database, settings: TokenSettings) -> None:
        self._database = database
        self._settings = settings

    async def register(self, *, email: str, password: str) -> SignIn:
        """Make an account and sign it in. Raises `EmailTakenError`, `RegistrationClosedError`."""
        if not self._settings.registration_open:
            raise RegistrationClosedError
        user = await self._create_user(email=email, password=password, role="user")
        return await self._sign_in(user)

    async def ensure_first_user(self, *, email: str, password: str) -> bool:
        """Make the first account, an admin, when there is none at all; True when it was made."""
        async with self._database.transaction() as session:
            if await UserRepository(session).any_exists():
                return False
        try:
            await self._create_user(email=email, password=password, role="admin")
        except EmailTakenError:  # another replica was first
            return False
        return True

    async def login(self, *, email: str, password: str) -> SignIn:
        async with self._database.transaction() as session:
            user = await UserRepository(session).get_by_email(_normalized(email))
        stored_hash = user.password_hash if user and user.password_hash else await to_thread.run_sync(_decoy_hash)
        matches = await to_thread.run_sync(_password_matches, stored_hash, password)
        if user is None or not matches or user.disabled:
            raise BadCredentialsError
        return await self._sign_in(user)

    async def refresh(self, refresh_token: str) -> SignIn:
        """Trade a refresh token for a new pair; one that was used before ends its whole sign-in."""
        session_id, secret_hash = _split_refresh_token(refresh_token)
        reused = False
        async with self._database.transaction() as session:
            repository = AuthSessionRepository(session)
            row = await repository.get_for_update(session_id)
            now = datetime.now(UTC)
            if row is None or row.revoked_at is not None or row.expires_at < now:
                raise NotSignedInError
            user = await UserRepository(session).get(row.user_id)
            if user is None or user.disabled:
                raise NotSignedInError
            new_token: str | None = None
            if hmac.compare_digest(secret_hash, row.token_hash):
                new_token, new_hash = _new_refresh_token(session_id)
                row.previous_token_hash, row.token_hash, row.rotated_at = row.token_hash, new_hash, now
            elif secret_hash != row.previous_token_hash or now - row.rotated_at > _ROTATION_GRACE:
                reused = True
                await repository.revoke(session_id)
                await record_audit_event(session, "refresh_token_reused", user_id=user.id, target=str(session_id))
        if reused:
            raise NotSignedInError
        return SignIn(user, self._access_token(user), self._access_seconds, new_token)

    async def logout(self, refresh_token: str | None) -> None:
        if not refresh_token:
            return
        try:
            session_id, _ = _split_refresh_token(refresh_token)
        except NotSignedInError:
            return
        async with self._database.transaction() as session:
            await AuthSessionRepository(session).revoke(session_id)

    async def authenticate(self, token: str) -> User:
        """The account behind an access token or an API key."""
        if token.startswith(_API_KEY_MARK):
            return await self._authenticate_api_key(token)
        try:
            claims = jwt.decode(
                token, self._settings.secret, algorithms=[_ALGORITHM], options={"require": ["exp", "sub"]}
            )
            user_id = UUID(claims["sub"])
        except jwt.ExpiredSignatureError as error:
            raise TokenExpiredError from error
        except (jwt.InvalidTokenError, ValueError) as error:
            raise NotSignedInError from error
        async with self._database.transaction() as session:
            return _enabled(await UserRepository(session).get(user_id))

    async def _authenticate_api_key(self, key: str) -> User:
        async with self._database.transaction() as session:
            user_id = await ApiKeyRepository(session).use(_digest(key))
            return _enabled(await UserRepository(session).get(user_id) if user_id else None)

    async def create_api_key(self, user: User, name: str) -> tuple[ApiKey, str]:
        """The row and the key itself, which is kept nowhere."""
        key = f"{_API_KEY_MARK}{secrets.token_urlsafe(32)}"
        async with self._database.transaction() as session:
            row = await ApiKeyRepository(session).add(
                user_id=user.id, name=name, prefix=key[:10], key_hash=_digest(key)
            )
            await record_audit_event(session, "api_key_created", user_id=user.id, target=str(row.id))
        return row, key

    async def list_api_keys(self, user: User) -> Sequence[ApiKey]:
        async with self._database.transaction() as session:
            return await ApiKeyRepository(session).list_of(user.id)

    async def delete_api_key(self, user: User, key_id: UUID) -> None:
        async with self._database.transaction() as session:
            if not await ApiKeyRepository(session).remove(user_id=user.id, key_id=key_id):
                raise NotFoundError
            await record_audit_event(session, "api_key_deleted", user_id=user.id, target=str(key_id))

    async def _create_user(self, *, email: str, password: str, role: str) -> User:
        password_hash = await to_thread.run_sync(_hasher.hash, password)
        try:
            async with self._database.transaction() as session:
                user = await UserRepository(session).add(
                    email=_normalized(email), password_hash=password_hash, role=role
                )
                await record_audit_event(session, "user_created", user_id=user.id, target=str(user.id), role=role)
                return user
        except IntegrityError as error:
            raise EmailTakenError from error

    async def _sign_in(self, user: User) -> SignIn:
        session_id = uuid7()
        refresh_token, token_hash = _new_refresh_token(session_id)
        async with self._database.transaction() as session:
            await AuthSessionRepository(session).add(
                session_id=session_id,
                user_id=user.id,
                token_hash=token_hash,
                expires_at=datetime.now(UTC) + self._settings.refresh_ttl,
            )
            await record_audit_event(session, "signed_in", user_id=user.id, target=str(session_id))
        return SignIn(user, self._access_token(user), self._access_seconds, refresh_token)

    @property
    def _access_seconds(self) -> int:
        return int(self._settings.access_ttl.total_seconds())

    def _access_token(self, user: User) -> str:
        now = datetime.now(UTC)
        claims = {"sub": str(user.id), "iat": now, "exp": now + self._settings.access_ttl, "jti": secrets.token_hex(8)}
        return jwt.encode(claims, self._settings.secret, algorithm=_ALGORITHM)


def _enabled(user: User | None) -> User:
    if user is None or user.disabled:
        raise NotSignedInError
    return user


def _normalized(email: str) -> str:
    return email.strip().lower()


def _password_matches(stored_hash: str, password: str) -> bool:
    try:
        return _hasher.verify(stored_hash, password)
    except (VerifyMismatchError, InvalidHashError):
        return False


def _digest(token: str) -> str:
    # The tokens are random and long: a plain hash cannot be turned back, and it can be looked up by index.
    return hashlib.sha256(token.encode()).hexdigest()


def _new_refresh_token(session_id: UUID) -> tuple[str, str]:
    secret = secrets.token_urlsafe(32)
    return f"{session_id.hex}.{secret}", _digest(secret)


def _split_refresh_token(token: str) -> tuple[UUID, str]:
    session_hex, _, secret = token.partition(".")
    try:
        return UUID(hex=session_hex), _digest(secret)
    except ValueError as error:
        raise NotSignedInError from error
