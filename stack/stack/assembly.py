"""Puts settings, secrets and units together into one stack."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from stack.leftovers import ChildRegister
from stack.secrets import InstallSecrets, load_or_create_secrets
from stack.service_environment import ServiceEnvironments
from stack.services.migrations import migration_tasks
from stack.services.object_store import object_store_service
from stack.services.postgres import postgres_service
from stack.services.python_services import backend_service, executor_service, runtime_service
from stack.services.redis import redis_service
from stack.settings import StackSettings
from stack.supervisor import Supervisor, UnitEvent
from stack.units import Unit


@dataclass(frozen=True, slots=True)
class Stack:
    """Everything about one install: what was decided, its secrets, and the supervisor that runs it."""

    settings: StackSettings
    secrets: InstallSecrets
    environments: ServiceEnvironments
    supervisor: Supervisor
    register: ChildRegister


def assemble(outer: Mapping[str, str], settings: StackSettings, listen: Callable[[UnitEvent], None]) -> Stack:
    """Make the data folder and the secrets where they are missing, and build the units. Starts nothing."""
    # Others may pass (Postgres runs as another user under root), but not look around.
    settings.data_dir.mkdir(mode=0o711, parents=True, exist_ok=True)
    secrets = load_or_create_secrets(settings.data_dir / "secrets.json")
    environments = ServiceEnvironments(outer, settings, secrets)
    register = ChildRegister(settings.data_dir / "children.json")
    supervisor = Supervisor(_units(environments), log_dir=settings.log_dir, register=register, listen=listen)
    return Stack(settings, secrets, environments, supervisor, register)


def _units(environments: ServiceEnvironments) -> list[Unit]:
    settings, secrets = environments.settings, environments.secrets
    return [
        postgres_service(settings, secrets),
        object_store_service(settings, secrets),
        *([redis_service(settings, secrets)] if settings.redis_enabled else []),
        *migration_tasks(environments),
        executor_service(environments),
        runtime_service(environments),
        backend_service(environments),
    ]
