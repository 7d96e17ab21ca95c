"""The conversation as it stands: the thread's newest checkpoint, put in order by run."""

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from app.clients.runtime import RuntimeClient
from app.db.models import AgentRun, Thread, ThreadFile
from app.db.repositories.runs import RunRepository
from app.db.session import Database

FILES_OPEN = "<files>"
FILES_CLOSE = "</files>"


@dataclass(frozen=True, slots=True)
class ConversationMessage:
    """One message in LangChain's terms; `run_id` is the run that it belongs to."""

    id: str
    type: str
    content: str
    run_id: UUID | None
    created_at: datetime | None
    tool_calls: list[dict[str, Any]] = field(default_factory=list)
    tool_call_id: str | None = None
    name: str | None = None
    status: str | None = None
    artifact: dict[str, Any] | None = None
    file_ids: list[str] = field(default_factory=list)
    usage: dict[str, int] | None = None


class MessageService:
    def __init__(self, database: Database, runtime: RuntimeClient) -> None:
        self._database = database
        self._runtime = runtime

    async def list_messages(self, thread: Thread) -> list[ConversationMessage]:
        """Oldest first. A question whose run ended before its first checkpoint is there all the same."""
        async with self._database.transaction() as session:
            runs = list(reversed(await RunRepository(session).list_of(thread.id)))
        if not runs:
            return []
        state = await self._runtime.get_state(thread.runtime_thread_id)
        groups = group_by_run(state.messages)
        conversation: list[ConversationMessage] = []
        for run in runs:
            conversation.append(_question(run))
            conversation += [_converted(raw, run) for raw in groups.get(str(run.id), []) if raw.get("type") != "human"]
        return conversation


def human_message(run_id: UUID, question: str, files: Sequence[tuple[ThreadFile, bool]]) -> dict[str, Any]:
    """The message that starts a run. Its id is the run's: sent again, it replaces itself and is never doubled.

    The files stand in a block of their own, one JSON object a line, so that their names are data and not prose.
    """
    blocks = [{"type": "text", "text": question}]
    if files:
        lines = [
            json.dumps(
                {
                    "path": file.guest_path,
                    "size": file.size,
                    "content_type": file.content_type,
                    "attached": attached,
                    "kind": file.kind,
                },
                ensure_ascii=False,
            )
            for file, attached in files
        ]
        blocks.append({"type": "text", "text": "\n".join([FILES_OPEN, *lines, FILES_CLOSE])})
    return {"role": "user", "id": str(run_id), "content": blocks}


def group_by_run(messages: Sequence[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Messages from one human message up to the next belong to the run of that name."""
    groups: dict[str, list[dict[str, Any]]] = defaultdict(list)
    current = ""
    for message in messages:
        if message.get("type") == "human":
            current = str(message.get("id"))
        groups[current].append(message)
    return groups


def usage_of(messages: Sequence[dict[str, Any]]) -> tuple[int, int]:
    """Input and output tokens that the models reported."""
    usages = [message.get("usage_metadata") or {} for message in messages]
    return sum(usage.get("input_tokens", 0) for usage in usages), sum(usage.get("output_tokens", 0) for usage in usages)


def text_of(content: Any) -> str:
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    return "".join(
        block if isinstance(block, str) else block.get("text", "")
        for block in blocks
        if isinstance(block, str) or block.get("type") == "text"
    )


def _question(run: AgentRun) -> ConversationMessage:
    return ConversationMessage(
        id=str(run.id),
        type="human",
        content=run.question,
        run_id=run.id,
        created_at=run.created_at,
        file_ids=run.file_ids,
    )


def _converted(raw: dict[str, Any], run: AgentRun) -> ConversationMessage:
    usage = raw.get("usage_metadata")
    return ConversationMessage(
        id=str(raw.get("id")),
        type=str(raw.get("type")),
        content=text_of(raw.get("content")),
        run_id=run.id,
        created_at=None,
        tool_calls=[
            {"id": call.get("id"), "name": call.get("name"), "args": call.get("args")}
            for call in raw.get("tool_calls") or []
        ],
        tool_call_id=raw.get("tool_call_id"),
        name=raw.get("name"),
        status=raw.get("status"),
        artifact=raw.get("artifact") if isinstance(raw.get("artifact"), dict) else None,
        usage={key: usage.get(key, 0) for key in ("input_tokens", "output_tokens")} if usage else None,
    )
