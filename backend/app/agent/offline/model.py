"""The chat model that needs no key: it plans from the files' profiles and drives the same loop as a language model."""

import json
import re
import uuid
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.language_models.model_profile import ModelProfile
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import Field

from app.agent.offline.analyst import Call, Move, next_move

REQUIRED_TOOLS = {"write_file", "execute"}
# It reads the messages, not tokens: a window that is never full keeps the conversation whole, so that follow-ups work.
WINDOW_TOKENS = 100_000_000
CHARACTERS_PER_TOKEN = 4
ARGUMENT_PIECE = 400


class OfflineAnalyst(BaseChatModel):
    """A deterministic analyst behind the interface of a chat model.

    It keeps no state: the same messages always give the same next step. It needs the tools `write_file` and `execute`.
    """

    profile: ModelProfile | None = Field(
        default_factory=lambda: ModelProfile(
            max_input_tokens=WINDOW_TOKENS, max_output_tokens=16_000, tool_calling=True
        )
    )

    @property
    def _llm_type(self) -> str:
        return "offline-analyst"

    @property
    def _identifying_params(self) -> dict[str, Any]:
        return {"model_name": "offline"}

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool],
        *,
        tool_choice: str | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        names = [str(convert_to_openai_tool(tool)["function"]["name"]) for tool in tools]
        return self.bind(tool_names=names, **kwargs)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        move = _move(messages, kwargs.get("tool_names", []))
        message = AIMessage(
            content=move.text,
            tool_calls=[
                {"name": call.tool, "args": call.arguments, "id": _call_id(), "type": "tool_call"}
                for call in move.calls
            ],
            usage_metadata=_usage(messages, move),
        )
        return ChatResult(generations=[ChatGeneration(message=message)])

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        move = _move(messages, kwargs.get("tool_names", []))
        for piece in re.findall(r"\s*\S+|\s+$", move.text):
            chunk = ChatGenerationChunk(message=AIMessageChunk(content=piece))
            if run_manager:
                run_manager.on_llm_new_token(piece, chunk=chunk)
            yield chunk
        for index, call in enumerate(move.calls):
            yield from _call_chunks(index, call)
        yield ChatGenerationChunk(
            message=AIMessageChunk(content="", usage_metadata=_usage(messages, move), chunk_position="last")
        )


def _move(messages: list[BaseMessage], tool_names: list[str]) -> Move:
    if tool_names and set(tool_names) >= REQUIRED_TOOLS:
        return next_move(messages)
    # Asked without tools, for example for a summary: only what was said can be repeated.
    asked = [message.text for message in messages if isinstance(message, HumanMessage)]
    return Move("Questions so far:\n" + "\n".join(f"- {text.splitlines()[0][:200]}" for text in asked if text.strip()))


def _call_chunks(index: int, call: Call) -> Iterator[ChatGenerationChunk]:
    arguments = json.dumps(call.arguments, ensure_ascii=False)
    opening = tool_call_chunk(name=call.tool, args="", id=_call_id(), index=index)
    yield ChatGenerationChunk(message=AIMessageChunk(content="", tool_call_chunks=[opening]))
    for start in range(0, len(arguments), ARGUMENT_PIECE):
        piece = tool_call_chunk(name=None, args=arguments[start : start + ARGUMENT_PIECE], id=None, index=index)
        yield ChatGenerationChunk(message=AIMessageChunk(content="", tool_call_chunks=[piece]))


def _call_id() -> str:
    return f"call_{uuid.uuid4().hex[:24]}"


def _usage(messages: list[BaseMessage], move: Move) -> UsageMetadata:
    """An estimate, so that the product's accounting works the same; nothing is paid for it."""
    given = sum(len(message.text) for message in messages) // CHARACTERS_PER_TOKEN
    made = (len(move.text) + sum(len(json.dumps(call.arguments)) for call in move.calls)) // CHARACTERS_PER_TOKEN
    return UsageMetadata(input_tokens=given, output_tokens=made, total_tokens=given + made)
