"""Settings of the embedded stack."""

from pathlib import Path

import pytest
from pydantic import ValidationError
from stack.settings import REPOSITORY_ROOT, load_settings, process_environment, settings_from


def test_no_variable_is_needed() -> None:
    settings = settings_from({})
    assert settings.backend_port == 8080
    assert settings.page_url == "http://localhost:8080"
    assert settings.data_dir == REPOSITORY_ROOT / ".data"


def test_an_empty_variable_counts_as_not_set() -> None:
    assert settings_from({"BACKEND_PORT": ""}).backend_port == 8080


def test_the_page_follows_the_backend_port() -> None:
    assert settings_from({"BACKEND_PORT": "9090"}).page_url == "http://localhost:9090"


@pytest.mark.parametrize(
    ("variable", "value"),
    [("BACKEND_PORT", "0"), ("POSTGRES_PORT", "70000"), ("S3_PORT", "60000"), ("REDIS_ENABLED", "perhaps")],
)
def test_a_bad_value_stops_with_the_name_of_the_variable(
    variable: str, value: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        load_settings({variable: value})
    assert stopped.value.code == 2
    assert variable in capsys.readouterr().err


def test_two_services_on_one_port_are_refused_with_both_names() -> None:
    with pytest.raises(ValidationError, match="RUNTIME_PORT and BACKEND_PORT are both 8080"):
        settings_from({"RUNTIME_PORT": "8080"})


def test_the_hidden_grpc_ports_count_as_taken() -> None:
    with pytest.raises(ValidationError, match=r"S3_PORT \+ 10000 and BACKEND_PORT"):
        settings_from({"BACKEND_PORT": "19651"})


def test_the_environment_wins_over_the_env_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".env").write_text("BACKEND_PORT=1111\nRUNTIME_PORT=2222\n")
    monkeypatch.setenv("BACKEND_PORT", "3333")
    monkeypatch.delenv("RUNTIME_PORT", raising=False)
    environment = process_environment(tmp_path / ".env")
    assert (environment["BACKEND_PORT"], environment["RUNTIME_PORT"]) == ("3333", "2222")
