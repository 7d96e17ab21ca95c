"""Settings: a bad or missing one stops the start and is named."""

import pytest
from app.settings import ApiSettings, MigrationSettings, ModelSettings, RuntimeSettings, load_settings

COMPLETE = {
    "APP_DATABASE_URL": "postgresql://app:secret@127.0.0.1:5432/app",
    "S3_ENDPOINT_URL": "http://127.0.0.1:9000",
    "S3_ACCESS_KEY_ID": "key",
    "S3_SECRET_ACCESS_KEY": "secret",
    "EXECUTOR_SERVICE_TOKEN": "e" * 32,
    "RUNTIME_SERVICE_TOKEN": "r" * 32,
    "AUTH_JWT_SECRET": "j" * 32,
}


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in (*COMPLETE, "AGENT_MODEL", "AGENT_MODEL_BASE_URL", "AGENT_MODEL_CONTEXT_TOKENS", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    for name, value in COMPLETE.items():
        monkeypatch.setenv(name, value)
    return monkeypatch


class TestLoadSettings:
    def test_a_complete_environment_is_taken(self, environment: pytest.MonkeyPatch) -> None:
        settings = load_settings(ApiSettings)
        assert settings.app_database_url == "postgresql+psycopg://app:secret@127.0.0.1:5432/app"
        assert settings.agent_model == "offline"

    @pytest.mark.parametrize("missing", sorted(COMPLETE))
    def test_a_missing_variable_stops_the_start_and_is_named(
        self, environment: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], missing: str
    ) -> None:
        environment.delenv(missing)
        with pytest.raises(SystemExit) as stopped:
            load_settings(ApiSettings)
        assert stopped.value.code == 2
        assert missing in capsys.readouterr().err

    @pytest.mark.parametrize("variable", ["AUTH_JWT_SECRET", "EXECUTOR_SERVICE_TOKEN", "RUNTIME_SERVICE_TOKEN"])
    def test_a_short_secret_is_refused_and_not_printed(
        self, environment: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], variable: str
    ) -> None:
        environment.setenv(variable, "hunter2")
        with pytest.raises(SystemExit):
            load_settings(ApiSettings)
        told = capsys.readouterr().err
        assert variable in told
        assert "hunter2" not in told

    def test_a_database_of_another_kind_is_refused(
        self, environment: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        environment.setenv("APP_MIGRATIONS_DATABASE_URL", "mysql://root@localhost/app")
        with pytest.raises(SystemExit):
            load_settings(MigrationSettings)
        assert "APP_MIGRATIONS_DATABASE_URL" in capsys.readouterr().err


class TestModelSettings:
    @pytest.mark.parametrize(
        ("model", "missing"),
        [
            ("openai:gpt-x", "OPENAI_API_KEY"),
            ("anthropic:claude-x", "ANTHROPIC_API_KEY"),
            ("openai-compatible:qwen", "AGENT_MODEL_BASE_URL"),
            ("openai-compatible:qwen", "AGENT_MODEL_CONTEXT_TOKENS"),
            ("gpt-x", "AGENT_MODEL"),
            ("openai:", "AGENT_MODEL"),
            ("ollama:llama", "AGENT_MODEL"),
        ],
    )
    def test_what_a_model_needs_is_named(
        self, environment: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], model: str, missing: str
    ) -> None:
        environment.setenv("AGENT_MODEL", model)
        with pytest.raises(SystemExit):
            load_settings(RuntimeSettings)
        assert missing in capsys.readouterr().err

    def test_an_openai_compatible_server_needs_no_key(self, environment: pytest.MonkeyPatch) -> None:
        environment.setenv("AGENT_MODEL", "openai-compatible:qwen")
        environment.setenv("AGENT_MODEL_BASE_URL", "http://127.0.0.1:8000/v1")
        environment.setenv("AGENT_MODEL_CONTEXT_TOKENS", "32768")
        assert load_settings(ModelSettings).agent_model_context_tokens == 32768
