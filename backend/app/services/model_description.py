"""What people are told about the model, without loading it."""

from pydantic import BaseModel

from app.settings import ModelSettings


class ModelDescription(BaseModel):
    """What people are told about the model."""

    id: str
    label: str
    offline: bool
    note: str | None


def describe_model(settings: ModelSettings) -> ModelDescription:
    provider, _, name = settings.agent_model.partition(":")
    if provider == "offline":
        return ModelDescription(
            id="offline",
            label="Offline analyst",
            offline=True,
            note=(
                "Not a language model: it matches your question to the columns and writes pandas code. "
                "To use one, set AGENT_MODEL to openai:NAME, anthropic:NAME or openai-compatible:NAME."
            ),
        )
    return ModelDescription(id=settings.agent_model, label=name, offline=False, note=None)
