"""Drive the real Deep Agents loop with the offline analyst, as the runtime does, and look at what came out."""

import json
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from app.agent.offline.model import OfflineAnalyst
from deepagents import create_deep_agent
from deepagents.backends import CompositeBackend
from langchain.agents.middleware import TodoListMiddleware
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from sandbox import BubblewrapSandbox


@dataclass
class Reply:
    """One turn's outcome."""

    text: str
    messages: list[BaseMessage]
    sandbox: BubblewrapSandbox

    @property
    def commands(self) -> list[str]:
        return [call["args"]["command"] for call in self._calls() if call["name"] == "execute"]

    @property
    def scripts(self) -> list[str]:
        """The analysis programs that this turn wrote."""
        pattern = re.compile(r"/workspace/analysis/\d\d_")
        return [
            call["args"]["content"]
            for call in self._calls()
            if call["name"] == "write_file" and pattern.match(call["args"]["file_path"])
        ]

    @property
    def outputs(self) -> list[str]:
        return [
            str(message.content)
            for message in self.messages
            if isinstance(message, ToolMessage) and message.name == "execute"
        ]

    @property
    def results(self) -> dict[str, Any]:
        """The block that the last program printed."""
        blocks = re.findall(r"^\[results\]\n(.*)\n\[/results\]$", self.outputs[-1], re.MULTILINE)
        return json.loads(blocks[-1])  # type: ignore[no-any-return]

    @property
    def artifacts(self) -> set[str]:
        return {file.name for file in self.sandbox.path("/artifacts").iterdir()}

    def _calls(self) -> list[Any]:
        return [call for message in self.messages if isinstance(message, AIMessage) for call in message.tool_calls]


@dataclass
class Chat:
    """A thread: its sandbox, its files and its messages so far."""

    sandbox: BubblewrapSandbox
    messages: list[BaseMessage] = field(default_factory=list)
    attached_once: set[str] = field(default_factory=set)

    def add(self, name: str, content: bytes | str) -> None:
        data = content.encode() if isinstance(content, str) else content
        self.sandbox.path(f"/uploads/{name}").write_bytes(data)

    def ask(self, question: str, attach: bool = True) -> Reply:
        lines = []
        for file in sorted(self.sandbox.path("/uploads").iterdir()):
            new = attach and file.name not in self.attached_once
            self.attached_once.add(file.name)
            lines.append(
                json.dumps(
                    {
                        "path": f"/uploads/{file.name}",
                        "size": file.stat().st_size,
                        "content_type": "text/csv",
                        "attached": new,
                        "kind": "upload",
                    },
                    ensure_ascii=False,
                )
            )
        content: list[str | dict[Any, Any]] = [{"type": "text", "text": question}]
        if lines:
            content.append({"type": "text", "text": "<files>\n" + "\n".join(lines) + "\n</files>"})
        before = len(self.messages) + 1
        agent = create_deep_agent(
            model=OfflineAnalyst(),
            middleware=[TodoListMiddleware()],
            backend=CompositeBackend(default=self.sandbox, routes={}, artifacts_root="/workspace/.agent"),
        )
        asked: Any = {"messages": [*self.messages, HumanMessage(content=content)]}
        state = agent.invoke(asked, {"recursion_limit": 60})
        self.messages = state["messages"]
        return Reply(self.messages[-1].text, self.messages[before:], self.sandbox)


def new_chat(root: Path) -> Chat:
    return Chat(BubblewrapSandbox(root, Path(sys.executable)))
