"""The model that answers, built as an instance with a declared context window.

A model given as a string would take the provider's own defaults (another API, a window that is never compacted); an
instance with a `profile` lets compaction and eviction follow the window that is really there.
"""

from langchain_core.language_models import BaseChatModel
from langchain_core.language_models.model_profile import ModelProfile
from pydantic import SecretStr

from app.settings import ModelSettings

REQUEST_SECONDS = 120.0
MAX_RETRIES = 2


def build_model(settings: ModelSettings) -> BaseChatModel:
    """The chat model that `AGENT_MODEL` names; the settings have been checked to be complete."""
    provider, _, name = settings.agent_model.partition(":")
    match provider:
        case "openai":
            return _openai(settings, name)
        case "openai-compatible":
            return _openai_compatible(settings, name)
        case "anthropic":
            return _anthropic(settings, name)
        case _:
            from app.agent.offline.model import OfflineAnalyst

            return OfflineAnalyst()


def _openai(settings: ModelSettings, name: str) -> BaseChatModel:
    from langchain_openai import ChatOpenAI

    return ChatOpenAI(
        model=name,
        api_key=SecretStr(settings.openai_api_key or ""),
        timeout=REQUEST_SECONDS,
        max_retries=MAX_RETRIES,
        stream_usage=True,
        profile=_declared_profile(settings),
    )


def _openai_compatible(settings: ModelSettings, name: str) -> BaseChatModel:
    from langchain_openai import ChatOpenAI

    return ChatOpenAI(
        model=name,
        base_url=settings.agent_model_base_url,
        # Servers without keys still get the header; the client library insists on a value.
        api_key=SecretStr(settings.agent_model_api_key or "none"),
        timeout=REQUEST_SECONDS,
        max_retries=MAX_RETRIES,
        max_completion_tokens=settings.agent_model_max_output_tokens,
        use_responses_api=False,
        stream_usage=True,
        profile=_declared_profile(settings),
    )


def _anthropic(settings: ModelSettings, name: str) -> BaseChatModel:
    from langchain_anthropic import ChatAnthropic

    return ChatAnthropic(
        model_name=name,
        api_key=SecretStr(settings.anthropic_api_key or ""),
        timeout=REQUEST_SECONDS,
        max_retries=MAX_RETRIES,
        max_tokens_to_sample=settings.agent_model_max_output_tokens,
        stop=None,
        profile=_declared_profile(settings),
    )


def _declared_profile(settings: ModelSettings) -> ModelProfile | None:
    """The window that was declared; without one the provider package's own table stands."""
    if settings.agent_model_context_tokens is None:
        return None
    return ModelProfile(
        # The window holds the answer too: compaction must begin before the two meet.
        max_input_tokens=settings.agent_model_context_tokens - settings.agent_model_max_output_tokens,
        max_output_tokens=settings.agent_model_max_output_tokens,
        tool_calling=True,
    )
