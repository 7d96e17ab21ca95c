"""Measures what people wait for and what the stack costs, on a throw-away install of the real thing.

Times are wall-clock, memory is resident set size with child processes. Everything is in one JSON document.
"""

import json
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import httpx
import psutil
from pydantic import BaseModel

from stack.embedded import EmbeddedStack, embedded_stack

_SERVICES = ("postgres", "s3", "redis", "executor", "runtime", "backend")
_REPEATS = 20
_REQUEST_SECONDS = 120.0
_TABLE = "month,region,revenue\n" + "".join(
    f"2026-{month:02d}-01,{region},{month * 100 + offset}\n"
    for month in range(1, 13)
    for offset, region in enumerate(("north", "south", "west"))
)


class Spread(BaseModel):
    """Milliseconds of repeated calls."""

    median_ms: float
    slowest_ms: float
    calls: int


class ChatTimes(BaseModel):
    """Of one question about an uploaded file: from sending it until the first event, the first text, the end."""

    first_event_ms: float
    first_text_ms: float
    end_seconds: float
    status: str


class Report(BaseModel):
    """What `make bench` writes."""

    machine: str
    cpus: int
    memory_gb: float
    stack_version: str
    first_start_seconds: float
    next_start_seconds: float
    next_start_units: dict[str, float]
    execute_true: Spread
    execute_pandas: Spread
    chat: ChatTimes
    resident_mb: dict[str, float]


def run_bench() -> int:
    """Measure and write the report to the file that OUT names, or to stdout."""
    # As in a real install, the database waits for the disk.
    with embedded_stack(overrides={"POSTGRES_FSYNC": "true"}) as stack:
        first = _timed(lambda: stack.ensure("backend"))
        _say(f"first start {first:.1f} s")
        next_start, units = _restart_everything(stack)
        _say(f"next start {next_start:.1f} s")
        true, pandas = _execute_times(stack)
        _say(f"execute: true {true.median_ms:.0f} ms, pandas {pandas.median_ms:.0f} ms")
        chat = _chat_times(stack)
        _say(f"chat: first event {chat.first_event_ms:.0f} ms, end {chat.end_seconds:.1f} s")
        report = Report(
            machine=f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
            cpus=os.cpu_count() or 0,
            memory_gb=round(psutil.virtual_memory().total / 2**30, 1),
            stack_version=version("stack"),
            first_start_seconds=round(first, 2),
            next_start_seconds=round(next_start, 2),
            next_start_units=units,
            execute_true=true,
            execute_pandas=pandas,
            chat=chat,
            resident_mb={name: _resident_mb(stack, name) for name in _SERVICES},
        )
    text = report.model_dump_json(indent=2) + "\n"
    out = os.environ.get("OUT", "").strip()
    if out:
        Path(out).write_text(text, "utf-8")
        _say(f"written to {out}")
    else:
        sys.stdout.write(text)
    return 0


def _restart_everything(stack: EmbeddedStack) -> tuple[float, dict[str, float]]:
    stack.stop_all()
    before = len(stack.events)
    seconds = _timed(lambda: stack.ensure("backend"))
    units = {event.name: round(event.seconds, 2) for event in stack.events[before:] if event.seconds}
    return seconds, units


def _execute_times(stack: EmbeddedStack) -> tuple[Spread, Spread]:
    token = stack.env_of("executor")["EXECUTOR_SERVICE_TOKEN"]
    headers = {"Authorization": f"Bearer {token}"}
    with httpx.Client(base_url=stack.base_url("executor"), headers=headers, timeout=_REQUEST_SECONDS) as client:
        made = client.post(
            "/v1/sessions", json={"workspace": "threads/bench", "inputs": []}, headers={"Idempotency-Key": "bench"}
        )
        session = made.raise_for_status().json()["session"]

        def execute(path: str, **body: str) -> None:
            result = client.post(path, json={"session": session, **body}).raise_for_status().json()
            if result["exit_code"] != 0:
                raise RuntimeError(f"a command of the bench failed: {result}")

        true = _spread(lambda: execute("/v1/execute/bash", command="true"))
        pandas = _spread(lambda: execute("/v1/execute", code="import pandas"))
        client.delete(f"/v1/sessions/{session}", params={"purge": "true"}).raise_for_status()
    return true, pandas


def _chat_times(stack: EmbeddedStack) -> ChatTimes:
    email, password = stack.first_user
    with httpx.Client(base_url=f"{stack.base_url('backend')}/api", timeout=_REQUEST_SECONDS) as client:
        signed_in = client.post("/auth/login", json={"email": email, "password": password}).raise_for_status().json()
        client.headers["Authorization"] = f"Bearer {signed_in['access_token']}"
        client.cookies.clear()
        thread = client.post("/threads", json={}).raise_for_status().json()["id"]
        file_id = _upload(client, thread)
        question = {"thread_id": thread, "message": "total revenue by region", "file_ids": [file_id]}
        started = time.perf_counter()
        first_event = first_text = 0.0
        status = "unknown"
        key = {"Idempotency-Key": "bench-chat"}
        with client.stream("POST", "/chat/stream", json=question, headers=key) as stream:
            stream.raise_for_status()
            name = ""
            for line in stream.iter_lines():
                elapsed = (time.perf_counter() - started) * 1000
                if line.startswith("event:"):
                    name = line.removeprefix("event:").strip()
                    first_event = first_event or elapsed
                elif line.startswith("data:"):
                    data = json.loads(line.removeprefix("data:"))
                    if name.startswith("messages") and data[0].get("content") and data[0].get("type") != "tool":
                        first_text = first_text or elapsed
                    if name == "run":
                        status = data["run"]["status"]
        if status != "succeeded":
            raise RuntimeError(f"the turn that was to be measured ended as {status}")
        return ChatTimes(
            first_event_ms=round(first_event, 1),
            first_text_ms=round(first_text, 1),
            end_seconds=round(time.perf_counter() - started, 2),
            status=status,
        )


def _upload(client: httpx.Client, thread: str) -> str:
    body = _TABLE.encode()
    wanted = {"thread_id": thread, "filename": "revenue.csv", "content_type": "text/csv", "size": len(body)}
    place = client.post("/files/presign-upload", json=wanted).raise_for_status().json()
    httpx.put(place["url"], content=body, headers=place["headers"], timeout=_REQUEST_SECONDS).raise_for_status()
    done = {"thread_id": thread, "upload_id": place["upload_id"]}
    return str(client.post("/files/complete-upload", json=done).raise_for_status().json()["id"])


def _resident_mb(stack: EmbeddedStack, service: str) -> float:
    pid = stack.pid(service)
    if pid is None:
        return 0.0
    process = psutil.Process(pid)
    return round(sum(one.memory_info().rss for one in (process, *process.children(recursive=True))) / 2**20, 1)


def _spread(call: Callable[[], None]) -> Spread:
    call()
    times = [_timed(call) * 1000 for _ in range(_REPEATS)]
    return Spread(median_ms=round(statistics.median(times), 1), slowest_ms=round(max(times), 1), calls=_REPEATS)


def _timed(call: Callable[[], object]) -> float:
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
