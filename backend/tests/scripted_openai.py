"""A small server that speaks OpenAI's streaming chat-completions protocol and says what it was scripted to say.

A script is a list of turns for one question: text, or tool calls. Which turn is next follows from the messages that
came in, as with a real model: the server keeps no conversation. What the protocol does not allow is answered 400.
"""

import json
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class ToolCall:
    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Turn:
    """What the model says next; `delay_seconds` before each chunk of it."""

    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    delay_seconds: float = 0.0


@dataclass(slots=True)
class ScriptedOpenAI:
    """Serve `scripts[question]` on a free loopback port; `requests` are the bodies that came in."""

    scripts: dict[str, list[Turn]]
    requests: list[dict[str, Any]] = field(default_factory=list)
    _server: ThreadingHTTPServer | None = None

    def __enter__(self) -> Self:
        scripted = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: object) -> None:
                return

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                scripted.requests.append(body)
                problem = _problem(self.path, body)
                if problem:
                    self._send_json(400, {"error": {"message": problem, "type": "invalid_request_error"}})
                    return
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.send_header("Connection", "close")
                self.end_headers()
                try:
                    for chunk in _chunks(scripted.next_turn(body["messages"]), body["model"]):
                        self.wfile.write(f"data: {chunk}\n\n".encode())
                        self.wfile.flush()
                except (BrokenPipeError, ConnectionResetError):
                    return  # the caller was stopped in the middle of a turn
                finally:
                    self.close_connection = True

            def _send_json(self, status: int, document: dict[str, Any]) -> None:
                content = json.dumps(document).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()

    @property
    def base_url(self) -> str:
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def next_turn(self, messages: list[dict[str, Any]]) -> Turn:
        """The turn after those that the last question has had already."""
        last_question = max(index for index, message in enumerate(messages) if message["role"] == "user")
        said = sum(message["role"] == "assistant" for message in messages[last_question:])
        question = _text(messages[last_question]["content"])
        for scripted_question, turns in self.scripts.items():
            if question.startswith(scripted_question):
                return turns[said]
        return Turn(text=f"no script for {question!r}")


def _text(content: Any) -> str:
    return content if isinstance(content, str) else str(content[0]["text"])


def _problem(path: str, body: dict[str, Any]) -> str | None:
    """What a strict server would refuse: the wrong door, no stream, or tool results without their calls."""
    if path != "/v1/chat/completions" or not body.get("stream"):
        return "only streaming chat completions are served here"
    answered = {message["tool_call_id"] for message in body["messages"] if message["role"] == "tool"}
    called = {call["id"] for message in body["messages"] for call in message.get("tool_calls") or []}
    return None if answered == called else f"tool calls {called} and tool results {answered} do not match"


def _chunks(turn: Turn, model: str) -> Iterator[str]:
    def chunk(delta: dict[str, Any], finish: str | None = None) -> str:
        time.sleep(turn.delay_seconds)
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return json.dumps(
            {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": model, "choices": [choice]}
        )

    yield chunk({"role": "assistant", "content": ""})
    for word in turn.text.split(" ") if turn.text else []:
        yield chunk({"content": word + " "})
    for index, call in enumerate(turn.tool_calls):
        arguments = json.dumps(call.arguments)
        head = {"index": index, "id": f"call_{abs(hash((call.name, arguments))) % 10**12}_{index}", "type": "function"}
        yield chunk({"tool_calls": [{**head, "function": {"name": call.name, "arguments": ""}}]})
        for start in range(0, len(arguments), 40):
            piece = {"index": index, "function": {"arguments": arguments[start : start + 40]}}
            yield chunk({"tool_calls": [piece]})
    yield chunk({}, "tool_calls" if turn.tool_calls else "stop")
    usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    yield json.dumps(
        {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": model, "choices": [], "usage": usage}
    )
    yield "[DONE]"
