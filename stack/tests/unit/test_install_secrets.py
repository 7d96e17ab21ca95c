"""The secrets file of an install."""

import json
import stat
from pathlib import Path

import pytest
from stack.secrets import InstallSecrets, UnsafeSecretsFileError, load_or_create_secrets


def test_the_file_is_readable_by_its_owner_alone(tmp_path: Path) -> None:
    load_or_create_secrets(tmp_path / "secrets.json")
    assert stat.S_IMODE((tmp_path / "secrets.json").stat().st_mode) == 0o600


def test_a_second_start_gets_the_same_secrets(tmp_path: Path) -> None:
    made = load_or_create_secrets(tmp_path / "secrets.json")
    assert load_or_create_secrets(tmp_path / "secrets.json") == made


def test_two_installs_share_no_secret(tmp_path: Path) -> None:
    one = load_or_create_secrets(tmp_path / "one.json").model_dump()
    two = load_or_create_secrets(tmp_path / "two.json").model_dump()
    assert not set(one.values()) & set(two.values())


def test_every_secret_differs_from_every_other_and_is_long(tmp_path: Path) -> None:
    secrets = load_or_create_secrets(tmp_path / "secrets.json").model_dump()
    assert len(set(secrets.values())) == len(secrets)
    assert min(len(value) for value in secrets.values()) >= 19


def test_a_file_that_others_can_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "secrets.json"
    load_or_create_secrets(path)
    path.chmod(0o644)
    with pytest.raises(UnsafeSecretsFileError, match="chmod 600"):
        load_or_create_secrets(path)


def test_a_secret_that_an_older_install_lacks_is_added_and_the_others_stay(tmp_path: Path) -> None:
    path = tmp_path / "secrets.json"
    before = load_or_create_secrets(path)
    content = json.loads(path.read_text())
    del content["redis_password"]
    path.write_text(json.dumps(content))
    after = load_or_create_secrets(path)
    assert after.auth_jwt_secret == before.auth_jwt_secret
    assert after.redis_password
    assert load_or_create_secrets(path) == after


def test_printing_the_secrets_shows_none(tmp_path: Path) -> None:
    secrets = load_or_create_secrets(tmp_path / "secrets.json")
    assert not any(value in repr(secrets) for value in secrets.model_dump().values())


def test_each_database_role_has_a_password_of_its_own() -> None:
    secrets = InstallSecrets()
    roles = ["app", "app_owner", "runtime", "runtime_owner", "executor", "executor_owner"]
    assert len({secrets.database_password(role) for role in roles}) == len(roles)
