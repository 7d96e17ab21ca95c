"""Sessions and their inputs."""

from datetime import datetime
from typing import Annotated, Any, Self

from fastapi import APIRouter, Header, Query, Request, Response, status
from pydantic import BaseModel, Field, StringConstraints

from executor.jobs.results import ChangeOut
from executor.metadata.models import Session, WorkspaceInput
from executor.metadata.workspaces import WorkspaceRepository
from executor.routes.dependencies import ServiceToken, get_services

router = APIRouter(prefix="/v1/sessions", tags=["sessions"], dependencies=[ServiceToken])

WorkspaceName = Annotated[
    str, StringConstraints(min_length=1, max_length=200, pattern=r"^[A-Za-z0-9_-]+(/[A-Za-z0-9_-]+)*$")
]
Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
MAX_CHANGES = 1000


class InputIn(BaseModel):
    object_key: Annotated[str, Field(min_length=1, max_length=1024)]
    path: Annotated[str, Field(min_length=1, max_length=4096)]
    size: Annotated[int, Field(ge=0)]
    sha256: Sha256


class SessionIn(BaseModel):
    workspace: WorkspaceName
    inputs: Annotated[list[InputIn], Field(max_length=10_000)] = []


class InputsIn(BaseModel):
    inputs: Annotated[list[InputIn], Field(max_length=10_000)]


class InputsOut(BaseModel):
    staged: list[str]
    present: list[str]


class CancelledOut(BaseModel):
    cancelled: list[str]


class SessionOut(BaseModel):
    session: str
    session_id: str
    generation: str
    workspace: str
    status: str
    created_at: datetime
    last_used_at: datetime
    runtime: str
    seq: int

    @classmethod
    def of(cls, row: Session, *, runtime: str, seq: int) -> Self:
        return cls(
            session=f"{row.session_id}@{row.generation}",
            session_id=row.session_id,
            generation=row.generation,
            workspace=row.workspace,
            status=row.status,
            created_at=row.created_at,
            last_used_at=row.last_used_at,
            runtime=runtime,
            seq=seq,
        )


class ChangesOut(BaseModel):
    changes: list[ChangeOut]
    seq: int
    more: bool


@router.post("", status_code=status.HTTP_201_CREATED)
async def create_session(
    body: SessionIn,
    request: Request,
    response: Response,
    idempotency_key: Annotated[str | None, Header(alias="Idempotency-Key", max_length=300)] = None,
) -> SessionOut:
    """Open a sandbox over a workspace. The same key, or a workspace that has a live one, gives that one again (200)."""
    services = get_services(request)
    row, created = await services.sessions.create(
        workspace=body.workspace, inputs=_inputs(body.workspace, body.inputs), idempotency_key=idempotency_key
    )
    if not created:
        response.status_code = status.HTTP_200_OK
    return await _described(services, row)


@router.get("/{session}")
async def get_session(session: str, request: Request) -> SessionOut:
    services = get_services(request)
    return await _described(services, await services.sessions.find(session))


@router.put("/{session}/inputs")
async def stage_inputs(session: str, body: InputsIn, request: Request) -> InputsOut:
    """Make `/uploads` hold exactly these inputs. Repeating it is harmless."""
    async with get_services(request).sessions.using(session) as live:
        staged, present = await live.stage(_inputs(live.workspace, body.inputs))
    return InputsOut(staged=staged, present=present)


@router.post("/{session}/cancel")
async def cancel_commands(session: str, request: Request) -> CancelledOut:
    """Stop every command that runs or waits in the session; they are gone when this returns."""
    services = get_services(request)
    await services.sessions.find(session)
    return CancelledOut(cancelled=await services.jobs.cancel_all_of(session))


@router.delete("/{session}", status_code=status.HTTP_204_NO_CONTENT)
async def delete_session(session: str, request: Request, purge: bool = False) -> None:
    """End exactly this incarnation; `purge` deletes its workspace for good."""
    services = get_services(request)
    await services.sessions.find(session)
    await services.jobs.cancel_all_of(session)
    await services.sessions.end(session, purge=purge)


@router.get("/{session}/changes")
async def list_changes(
    session: str,
    request: Request,
    after: Annotated[int, Query(ge=0)] = 0,
    limit: Annotated[int, Query(ge=1, le=MAX_CHANGES)] = MAX_CHANGES,
) -> ChangesOut:
    """Persisted changes with a number above `after`, in order."""
    services = get_services(request)
    row = await services.sessions.find(session)
    async with services.database.transaction() as transaction:
        repository = WorkspaceRepository(transaction)
        changes = await repository.changes(row.workspace, after=after, limit=limit + 1)
        seq = await repository.seq(row.workspace)
    return ChangesOut(changes=[ChangeOut.of(change) for change in changes[:limit]], seq=seq, more=len(changes) > limit)


def _inputs(workspace: str, inputs: list[InputIn]) -> list[WorkspaceInput]:
    return [
        WorkspaceInput(
            workspace=workspace, path=item.path, object_key=item.object_key, size=item.size, sha256=item.sha256
        )
        for item in inputs
    ]


async def _described(services: Any, row: Session) -> SessionOut:
    async with services.database.transaction() as transaction:
        seq = await WorkspaceRepository(transaction).seq(row.workspace)
    return SessionOut.of(row, runtime=services.runtime.name, seq=seq)
