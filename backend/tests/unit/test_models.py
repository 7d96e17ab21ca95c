"""Models: built as instances whose declared window is the one that compaction will see."""

import pytest
from app.agent.models import build_model
from app.services.model_description import describe_model
from app.settings import ModelSettings
from langchain_anthropic import ChatAnthropic
from langchain_openai import ChatOpenAI


def settings(**values: object) -> ModelSettings:
    return ModelSettings.model_validate(values)


class TestBuildModel:
    def test_an_openai_compatible_model_declares_its_window_less_the_answer(self) -> None:
        model = build_model(
            settings(
                agent_model="openai-compatible:qwen3",
                agent_model_base_url="http://127.0.0.1:1/v1",
                agent_model_context_tokens=32768,
                agent_model_max_output_tokens=4096,
            )
        )
        assert isinstance(model, ChatOpenAI)
        assert model.profile is not None
        assert model.profile["max_input_tokens"] == 32768 - 4096
        assert model.use_responses_api is False
        assert model.model_name == "qwen3"

    def test_anthropic_and_openai_take_their_keys(self) -> None:
        anthropic = build_model(settings(agent_model="anthropic:claude-x", anthropic_api_key="sk-a"))
        openai = build_model(settings(agent_model="openai:gpt-x", openai_api_key="sk-o"))
        assert isinstance(anthropic, ChatAnthropic)
        assert isinstance(openai, ChatOpenAI)
        assert openai.openai_api_key is not None

    def test_the_default_is_the_offline_analyst(self) -> None:
        assert type(build_model(settings(agent_model="offline"))).__name__ == "OfflineAnalyst"


class TestDescribeModel:
    def test_the_offline_analyst_says_that_it_is_no_language_model(self) -> None:
        described = describe_model(settings(agent_model="offline"))
        assert described.offline
        assert "Not a language model" in (described.note or "")
        assert "AGENT_MODEL" in (described.note or "")

    @pytest.mark.parametrize("model", ["openai:gpt-x", "anthropic:claude-x"])
    def test_a_real_model_is_shown_by_its_name(self, model: str) -> None:
        key = {"openai": "openai_api_key", "anthropic": "anthropic_api_key"}[model.split(":")[0]]
        described = describe_model(settings(agent_model=model, **{key: "sk"}))
        assert described.label == model.split(":")[1]
        assert not described.offline
