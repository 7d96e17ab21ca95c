"""Commands: within one response, or as managed jobs."""

from collections.abc import AsyncIterator
from datetime import datetime
from typing import Annotated, Self

from fastapi import APIRouter, Header, Query, Request, status
from pydantic import BaseModel, Field, StringConstraints, model_validator
from sse_starlette import EventSourceResponse, ServerSentEvent

from executor.jobs.output import OutputEvent
from executor.jobs.program import Program
from executor.jobs.results import JobStatus, ResultOut
from executor.metadata.models import Job
from executor.routes.dependencies import ServiceToken, get_services

router = APIRouter(prefix="/v1", tags=["commands"], dependencies=[ServiceToken])

MAX_PROGRAM_CHARS = 2_000_000
JobId = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=r"^[\x21-\x7e]+$")]
# A NUL ends a command line's argument, so no program holds one.
ProgramText = Annotated[str, StringConstraints(max_length=MAX_PROGRAM_CHARS, pattern=r"^[^\x00]*$")]
ForegroundSeconds = Annotated[int, Field(ge=1, le=60)]
HEARTBEAT_SECONDS = 15


class PythonIn(BaseModel):
    session: str
    code: ProgramText
    job_id: JobId | None = None
    timeout_seconds: ForegroundSeconds = 60
    read_only: bool = False


class BashIn(BaseModel):
    session: str
    command: ProgramText
    job_id: JobId | None = None
    timeout_seconds: ForegroundSeconds = 60
    read_only: bool = False


class JobIn(BaseModel):
    session: str
    code: ProgramText | None = None
    command: ProgramText | None = None
    job_id: JobId
    timeout_seconds: Annotated[int, Field(ge=1, le=900)] = 900
    read_only: bool = False

    @model_validator(mode="after")
    def _one_program(self) -> Self:
        if (self.code is None) == (self.command is None):
            raise ValueError("give either code or command")
        return self


class JobOut(BaseModel):
    job_id: str
    session: str
    status: JobStatus
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    result: ResultOut | None

    @classmethod
    def of(cls, row: Job) -> Self:
        return cls.model_validate(
            {
                "job_id": row.job_id,
                "session": f"{row.session_id}@{row.generation}",
                "status": row.status,
                "created_at": row.created_at,
                "started_at": row.started_at,
                "finished_at": row.finished_at,
                "result": row.result,
            }
        )


@router.post("/execute")
async def execute_python(body: PythonIn, request: Request) -> ResultOut:
    """Run Python code and answer with its result."""
    program = Program(body.session, body.code, None, body.timeout_seconds, body.read_only)
    return await get_services(request).jobs.execute(program, body.job_id)


@router.post("/execute/bash")
async def execute_bash(body: BashIn, request: Request) -> ResultOut:
    """Run a shell command and answer with its result."""
    program = Program(body.session, None, body.command, body.timeout_seconds, body.read_only)
    return await get_services(request).jobs.execute(program, body.job_id)


@router.post("/jobs", status_code=status.HTTP_202_ACCEPTED)
async def submit_job(body: JobIn, request: Request) -> JobOut:
    """Start a job, or find the one of this id."""
    jobs = get_services(request).jobs
    await jobs.submit(Program(body.session, body.code, body.command, body.timeout_seconds, body.read_only), body.job_id)
    return JobOut.of(await jobs.get(body.job_id))


@router.get("/jobs/{job_id:path}/events", response_class=EventSourceResponse)
async def follow_job(
    job_id: str,
    request: Request,
    last_event_id: Annotated[str | None, Header(alias="Last-Event-ID", max_length=20)] = None,
) -> EventSourceResponse:
    """Live output as `output` events, then one `result`."""
    jobs = get_services(request).jobs
    await jobs.get(job_id)
    after = int(last_event_id) if last_event_id and last_event_id.isdigit() else 0

    async def events() -> AsyncIterator[ServerSentEvent]:
        async for item in jobs.follow(job_id, after=after):
            if isinstance(item, OutputEvent):
                body = OutputOut(stream=item.stream, text=item.text).model_dump_json()
                yield ServerSentEvent(data=body, event="output", id=str(item.id))
            else:
                yield ServerSentEvent(data=item.model_dump_json(), event="result")

    return EventSourceResponse(events(), ping=HEARTBEAT_SECONDS, headers={"X-Accel-Buffering": "no"})


@router.post("/jobs/{job_id:path}/cancel", status_code=status.HTTP_202_ACCEPTED)
async def cancel_job(job_id: str, request: Request) -> JobOut:
    jobs = get_services(request).jobs
    await jobs.cancel(job_id)
    return JobOut.of(await jobs.get(job_id))


@router.get("/jobs/{job_id:path}")
async def get_job(job_id: str, request: Request, wait_seconds: Annotated[float, Query(ge=0, le=30)] = 0) -> JobOut:
    """The job, after waiting up to `wait_seconds` for its end."""
    return JobOut.of(await get_services(request).jobs.get(job_id, wait_seconds=wait_seconds))


class OutputOut(BaseModel):
    stream: str
    text: str
