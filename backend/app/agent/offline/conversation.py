"""The conversation as turns: a question, the files that were there, and what was done in the sandbox for it."""

import json
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage


@dataclass(frozen=True, slots=True)
class FileEntry:
    """A file of the thread. `attached`: chosen for this message."""

    path: str
    size: int
    attached: bool
    kind: str


@dataclass(frozen=True, slots=True)
class Step:
    """One tool call and its result. `exit_code` is None when the tool is no command or the code is unknown."""

    tool: str
    arguments: dict[str, Any]
    output: str
    exit_code: int | None
    failed: bool

    @property
    def command(self) -> str:
        return str(self.arguments.get("command", ""))


@dataclass(frozen=True)
class Turn:
    question: str
    files: tuple[FileEntry, ...]
    steps: list[Step] = field(default_factory=list)


def read_conversation(messages: list[BaseMessage]) -> list[Turn]:
    """The turns so far, the current one last; empty when nobody has asked anything."""
    turns: list[Turn] = []
    calls: dict[str, tuple[str, dict[str, Any]]] = {}
    for message in messages:
        if isinstance(message, HumanMessage):
            question, files = _question_and_files(message)
            turns.append(Turn(question, files))
        elif isinstance(message, AIMessage):
            calls.update({str(call["id"]): (call["name"], call["args"]) for call in message.tool_calls})
        elif isinstance(message, ToolMessage) and turns and message.tool_call_id in calls:
            turns[-1].steps.append(_step(*calls[message.tool_call_id], message))
    return turns


def _question_and_files(message: HumanMessage) -> tuple[str, tuple[FileEntry, ...]]:
    blocks = [message.content] if isinstance(message.content, str) else list(message.content)
    texts = [block if isinstance(block, str) else str(block.get("text", "")) for block in blocks]
    question, entries = "", []
    for text in texts:
        opening, closing = text.find("<files>"), text.rfind("</files>")
        # The list is a block of its own; a question that quotes the marks stays a question.
        if opening >= 0 and closing > opening and (question or len(texts) == 1):
            entries = [
                entry for line in text[opening + len("<files>") : closing].splitlines() if (entry := _file_entry(line))
            ]
            question = question or text[:opening].strip()
        elif not question:
            question = text.strip()
    return question, tuple(entries)


def _file_entry(line: str) -> FileEntry | None:
    try:
        entry = json.loads(line)
        return FileEntry(
            str(entry["path"]),
            int(entry.get("size") or 0),
            bool(entry.get("attached")),
            str(entry.get("kind", "upload")),
        )
    except (json.JSONDecodeError, KeyError, TypeError, ValueError):
        return None  # not a line of the list


def _step(tool: str, arguments: dict[str, Any], message: ToolMessage) -> Step:
    output = message.content if isinstance(message.content, str) else str(message.text)
    artifact = message.artifact if isinstance(message.artifact, dict) else {}
    exit_code = artifact.get("exit_code")
    failed = message.status == "error" or (exit_code is not None and exit_code != 0)
    return Step(tool, arguments, output, exit_code, failed)
