"""docker-compose.yml and the Dockerfiles, checked against the repository. No container engine: nothing is run here."""

import re
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
import yaml
from stack.settings import REPOSITORY_ROOT as ROOT

COMPOSE_TEXT = (ROOT / "docker-compose.yml").read_text("utf-8")
COMPOSE: dict[str, Any] = yaml.safe_load(COMPOSE_TEXT)
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
ONE_SHOT = {"bucket", "migrate", "migrate-executor"}
BUILT = {name: service["build"] for name, service in SERVICES.items() if "build" in service}
DOCKERFILES = sorted({build["dockerfile"] for build in BUILT.values()})
each_service = pytest.mark.parametrize("name", sorted(SERVICES))
each_dockerfile = pytest.mark.parametrize("dockerfile", DOCKERFILES)

INTERPOLATION = re.compile(r"(?<!\$)\$\{([A-Z0-9_]+)(:[-?])?")


def example_variables() -> dict[str, str]:
    """Every variable of .env.example with the rest of its line."""
    lines = (ROOT / ".env.example").read_text("utf-8").splitlines()
    return {found[1]: found[2] for line in lines if (found := re.match(r"# ([A-Z0-9_]+)=(.*)", line))}


def instructions(dockerfile: str, keyword: str) -> list[str]:
    text = re.sub(r"\\\n\s*", " ", (ROOT / dockerfile).read_text("utf-8"))
    return [line.split(maxsplit=1)[1] for line in text.splitlines() if line.startswith(f"{keyword} ")]


def is_kept_out(path: str) -> bool:
    patterns = [line for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines() if line]
    parts = Path(path).parts
    prefixes = ["/".join(parts[: count + 1]) for count in range(len(parts))]
    return any(
        fnmatch(prefix, pattern) or fnmatch(prefix, pattern.removeprefix("**/"))
        for pattern in patterns
        for prefix in prefixes
    )


def test_the_services_are_the_products_processes() -> None:
    wanted = {"postgres", "minio", "redis", "migrate", "executor", "runtime", "backend", "frontend"}
    assert wanted <= SERVICES.keys()


def test_every_variable_is_explained_in_the_example() -> None:
    used = {name for name, _ in INTERPOLATION.findall(COMPOSE_TEXT)}
    assert used <= example_variables().keys(), used - example_variables().keys()


def test_what_must_be_set_has_no_default_and_is_marked_so() -> None:
    required = {name for name, kind in INTERPOLATION.findall(COMPOSE_TEXT) if kind == ":?"}
    optional = {name for name, kind in INTERPOLATION.findall(COMPOSE_TEXT) if kind != ":?"}
    assert {name for name in required if "(required)" not in example_variables()[name]} == set()
    assert required & optional == set()
    secret = re.compile(r"PASSWORD|SECRET|TOKEN$|ACCESS_KEY")
    assert {name for name in optional if secret.search(name)} <= {"FIRST_USER_PASSWORD"}


@each_service
def test_a_service_that_stays_has_a_health_check_and_one_that_ends_is_not_restarted(name: str) -> None:
    service = SERVICES[name]
    if name in ONE_SHOT:
        assert service["restart"] == "no"
        assert "healthcheck" not in service
    else:
        assert service["restart"] == "unless-stopped"
        assert service["healthcheck"]["test"]


@each_service
def test_dependencies_wait_for_health_or_completion(name: str) -> None:
    for dependency, rule in SERVICES[name].get("depends_on", {}).items():
        wanted = "service_completed_successfully" if dependency in ONE_SHOT else "service_healthy"
        assert rule["condition"] == wanted, dependency


@each_service
def test_a_service_has_no_capability_it_could_gain_and_bounded_memory_and_processes(name: str) -> None:
    service = SERVICES[name]
    assert service["cap_drop"] == ["ALL"]
    assert "no-new-privileges:true" in service["security_opt"]
    assert not service.get("privileged")
    assert service["deploy"]["resources"]["limits"].keys() == {"cpus", "memory", "pids"}
    # Only the server that has to hand its data folder to its own user keeps any capability.
    assert ("cap_add" in service) == (name == "postgres")
    assert service.get("read_only", False) == (name != "postgres")


def test_only_the_page_and_the_object_store_are_published_and_on_loopback_by_default() -> None:
    published = {name: service["ports"] for name, service in SERVICES.items() if "ports" in service}
    assert published.keys() == {"frontend", "minio"}
    assert all(":-127.0.0.1:" in port for ports in published.values() for port in ports)


def test_each_network_joins_only_those_that_talk() -> None:
    members = {
        network: {name for name, service in SERVICES.items() if network in service["networks"]}
        for network in COMPOSE["networks"]
    }
    assert members == {
        "edge": {"frontend", "minio"},
        "models": {"runtime"},
        "inner": {"frontend", "backend"},
        "data": {"postgres", "minio", "bucket", "migrate", "migrate-executor", "executor", "runtime", "backend"},
        "queue": {"redis", "runtime"},
        "control": {"executor", "runtime", "backend"},
    }
    open_networks = {name for name, network in COMPOSE["networks"].items() if not (network or {}).get("internal")}
    assert open_networks == {"edge", "models"}


@each_service
def test_named_volumes_are_declared_and_mounted_files_exist(name: str) -> None:
    for volume in SERVICES[name].get("volumes", []):
        source = volume.split(":")[0]
        if source.startswith("./"):
            assert (ROOT / source).is_file()
        else:
            assert source in COMPOSE["volumes"]


@each_service
def test_no_service_gets_a_secret_that_is_not_its_own(name: str) -> None:
    owners = {
        "POSTGRES_SUPERUSER_PASSWORD": {"postgres"},
        "AUTH_JWT_SECRET": {"backend"},
        "APP_DB_PASSWORD": {"postgres", "backend", "runtime"},
        "APP_OWNER_DB_PASSWORD": {"postgres", "migrate"},
        "RUNTIME_DB_PASSWORD": {"postgres", "runtime"},
        "RUNTIME_OWNER_DB_PASSWORD": {"postgres", "migrate"},
        "EXECUTOR_DB_PASSWORD": {"postgres", "executor"},
        "EXECUTOR_OWNER_DB_PASSWORD": {"postgres", "migrate-executor"},
        "REDIS_PASSWORD": {"redis", "runtime"},
        "MINIO_ROOT_PASSWORD": {"minio", "bucket"},
        "S3_SECRET_ACCESS_KEY": {"bucket", "executor", "runtime", "backend"},
        "RUNTIME_SERVICE_TOKEN": {"runtime", "backend"},
        "EXECUTOR_SERVICE_TOKEN": {"executor", "runtime", "backend"},
    }
    text = yaml.safe_dump(SERVICES[name])
    for secret, services in owners.items():
        assert (f"${{{secret}:" in text) == (name in services), secret


@each_dockerfile
def test_the_dockerfile_exists_and_what_it_copies_is_there(dockerfile: str) -> None:
    assert (ROOT / dockerfile).is_file()
    copied = [words.split() for words in instructions(dockerfile, "COPY")]
    sources = [word for words in copied if "--from" not in words[0] for word in words[:-1] if not word.startswith("--")]
    assert sources
    for source in sources:
        assert list(ROOT.glob(source)), source
        assert not is_kept_out(source), source


@each_dockerfile
def test_base_images_are_arguments_and_the_last_stage_is_not_root(dockerfile: str) -> None:
    froms = [words.split()[0] for words in instructions(dockerfile, "FROM")]
    stages = {words.split()[-1] for words in instructions(dockerfile, "FROM") if " AS " in words.upper()}
    assert all(image.startswith("${") or image in stages for image in froms), froms
    users = instructions(dockerfile, "USER")
    assert users
    assert users[-1].split(":")[0] not in {"root", "0"}


@each_dockerfile
def test_packages_are_installed_from_locks_with_hashes(dockerfile: str) -> None:
    for run in instructions(dockerfile, "RUN"):
        for command in re.split(r"&&|;", run):
            if re.search(r"\b(pip|uv pip) install\b", command):
                assert "--require-hashes" in command or "--no-deps" in command, command
            assert not re.search(r"\bnpm (install|i)\b", command), command


def test_the_page_is_served_with_the_headers_that_the_backend_gives() -> None:
    middleware = pytest.importorskip("app.api.middleware")
    template = (ROOT / "deploy" / "frontend" / "site.conf.template").read_text("utf-8")
    served = dict(re.findall(r'^    add_header (\S+) "?(.*?)"? always;$', template, re.MULTILINE))
    given = middleware.RequestMiddleware(
        lambda: None, public_base_url="http://page.example", object_store_origin="${S3_ORIGIN}"
    )._headers
    assert served == given


@pytest.mark.parametrize("name", sorted(BUILT))
def test_build_arguments_are_known_to_the_dockerfile(name: str) -> None:
    declared = {words.split("=")[0] for words in instructions(BUILT[name]["dockerfile"], "ARG")}
    assert set(BUILT[name].get("args", {})) <= declared
