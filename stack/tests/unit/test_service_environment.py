"""No process gets a secret that is not its own."""

import pytest
from stack.secrets import InstallSecrets
from stack.service_environment import ServiceEnvironments
from stack.settings import settings_from

OUTER = {
    "PATH": "/usr/bin",
    "HTTPS_PROXY": "http://proxy:3128",
    "AGENT_MODEL": "openai:some-model",
    "OPENAI_API_KEY": "the-openai-key",
    "SANDBOX_MEMORY_MB": "512",
    "AUTH_ACCESS_TTL_SECONDS": "60",
}


@pytest.fixture
def environments() -> ServiceEnvironments:
    return ServiceEnvironments(OUTER, settings_from({}), InstallSecrets())


def holds(environment: dict[str, str], secret: str) -> bool:
    return any(secret in value for value in environment.values())


def test_the_executor_knows_no_other_database_and_no_model_key(environments: ServiceEnvironments) -> None:
    environment, secrets = environments.executor(), environments.secrets
    assert environment["SANDBOX_MEMORY_MB"] == "512"
    for secret in (
        *(secrets.app_password, secrets.runtime_password, secrets.executor_owner_password),
        *(secrets.auth_jwt_secret, secrets.runtime_service_token, secrets.redis_password, "the-openai-key"),
    ):
        assert not holds(environment, secret)


def test_the_runtime_knows_no_signing_key_and_no_owner(environments: ServiceEnvironments) -> None:
    environment, secrets = environments.runtime(), environments.secrets
    assert environment["OPENAI_API_KEY"] == "the-openai-key"
    for secret in (secrets.auth_jwt_secret, secrets.app_owner_password, secrets.runtime_owner_password):
        assert not holds(environment, secret)


def test_the_backend_knows_neither_the_runtime_database_nor_redis(environments: ServiceEnvironments) -> None:
    environment, secrets = environments.backend(), environments.secrets
    assert environment["AUTH_ACCESS_TTL_SECONDS"] == "60"
    for secret in (secrets.runtime_password, secrets.executor_password, secrets.redis_password):
        assert not holds(environment, secret)


def test_a_migration_gets_the_owner_of_its_database_alone(environments: ServiceEnvironments) -> None:
    environment, secrets = environments.migrations("app"), environments.secrets
    others = set(secrets.model_dump().values()) - {secrets.app_owner_password}
    assert secrets.app_owner_password in environment["APP_MIGRATIONS_DATABASE_URL"]
    assert not any(holds(environment, secret) for secret in others)


def test_what_is_not_the_products_reaches_every_process(environments: ServiceEnvironments) -> None:
    for environment in (environments.executor(), environments.runtime(), environments.backend()):
        assert environment["HTTPS_PROXY"] == "http://proxy:3128"


def test_without_redis_the_runtime_is_told_so() -> None:
    environment = ServiceEnvironments({}, settings_from({"REDIS_ENABLED": "false"}), InstallSecrets()).runtime()
    assert environment["REDIS_BROKER_ENABLED"] == "false"
    assert "REDIS_URL" not in environment


def test_a_password_that_the_person_chose_wins() -> None:
    environments = ServiceEnvironments({"FIRST_USER_PASSWORD": "my own words"}, settings_from({}), InstallSecrets())
    assert environments.backend()["FIRST_USER_PASSWORD"] == "my own words"
