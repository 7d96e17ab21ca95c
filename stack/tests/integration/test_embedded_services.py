"""Postgres, S3 and Redis as the stack starts them: what is open, and what is not."""

import stat
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path

import boto3
import httpx
import psycopg
import pytest
import redis
from botocore.config import Config
from botocore.exceptions import ClientError
from stack.services.object_store import s3_client
from stack.services.postgres import DATABASES, database_url
from stack.testing import EmbeddedStack


@pytest.fixture(scope="session")
def services(embedded_services: EmbeddedStack) -> EmbeddedStack:
    return embedded_services.ensure("postgres", "s3", "redis")


class TestPostgres:
    def url(self, services: EmbeddedStack, database: str, role: str | None = None) -> str:
        return database_url(services.settings, services.secrets, database, role)

    @pytest.mark.parametrize("database", DATABASES)
    def test_the_owner_makes_tables_and_the_service_role_uses_their_rows(
        self, services: EmbeddedStack, database: str
    ) -> None:
        with psycopg.connect(self.url(services, database, f"{database}_owner")) as owner:
            owner.execute("CREATE TABLE probe (id int GENERATED ALWAYS AS IDENTITY, note text)")
        try:
            with psycopg.connect(self.url(services, database)) as service:
                service.execute("INSERT INTO probe (note) VALUES ('a')")
                service.execute("UPDATE probe SET note = 'b'")
                assert service.execute("SELECT note FROM probe").fetchall() == [("b",)]
                service.execute("DELETE FROM probe")
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    service.execute("DROP TABLE probe")
        finally:
            with psycopg.connect(self.url(services, database, f"{database}_owner")) as owner:
                owner.execute("DROP TABLE probe")

    @pytest.mark.parametrize("database", ["app", "executor"])
    def test_the_service_role_cannot_make_tables(self, services: EmbeddedStack, database: str) -> None:
        with (
            psycopg.connect(self.url(services, database)) as service,
            pytest.raises(psycopg.errors.InsufficientPrivilege),
        ):
            service.execute("CREATE TABLE mine (id int)")

    @pytest.mark.parametrize("role", [name for database in DATABASES for name in (database, f"{database}_owner")])
    def test_no_role_can_enter_another_services_database(self, services: EmbeddedStack, role: str) -> None:
        for database in {*DATABASES, "postgres"} - {role.removesuffix("_owner"), "postgres"}:
            with pytest.raises(psycopg.OperationalError, match="permission denied for database"):
                psycopg.connect(self.url(services, database, role))

    def test_a_wrong_password_is_refused(self, services: EmbeddedStack) -> None:
        url = self.url(services, "app").replace(services.secrets.app_password, "wrong")
        with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
            psycopg.connect(url)

    def test_the_local_socket_asks_for_a_password_too_and_its_folder_is_closed(self, services: EmbeddedStack) -> None:
        sockets = services.settings.data_dir / "postgres" / "sockets"
        assert stat.S_IMODE(sockets.stat().st_mode) == 0o700
        with pytest.raises(psycopg.OperationalError, match="no password supplied"):
            psycopg.connect(f"host={sockets} port={services.settings.postgres_port} user=postgres dbname=postgres")

    def test_no_service_role_is_a_superuser_or_may_make_roles(self, services: EmbeddedStack) -> None:
        with psycopg.connect(self.url(services, "app")) as connection:
            rows = connection.execute(
                "SELECT rolname FROM pg_roles WHERE (rolsuper OR rolcreaterole OR rolcreatedb OR rolbypassrls) "
                "AND rolname <> 'postgres'"
            ).fetchall()
        assert rows == []


class TestObjectStore:
    def test_an_object_comes_back(self, services: EmbeddedStack) -> None:
        client, bucket = s3_client(services.settings, services.secrets), services.settings.s3_bucket
        client.put_object(Bucket=bucket, Key="probe/a", Body=b"abc")
        assert client.get_object(Bucket=bucket, Key="probe/a")["Body"].read() == b"abc"

    def test_an_unsigned_request_is_refused(self, services: EmbeddedStack) -> None:
        for method in ("GET", "PUT", "DELETE"):
            response = httpx.request(method, f"{services.base_url('s3')}/{services.settings.s3_bucket}/probe/x")
            assert response.status_code == HTTPStatus.FORBIDDEN, method

    def test_a_forged_secret_is_refused(self, services: EmbeddedStack) -> None:
        forger = boto3.client(
            "s3",
            endpoint_url=services.base_url("s3"),
            region_name=services.settings.s3_region,
            aws_access_key_id=services.secrets.s3_access_key_id,
            aws_secret_access_key="forged",
            config=Config(retries={"total_max_attempts": 1}, s3={"addressing_style": "path"}),
        )
        with pytest.raises(ClientError) as refused:
            forger.put_object(Bucket=services.settings.s3_bucket, Key="probe/forged", Body=b"x")
        assert refused.value.response["ResponseMetadata"]["HTTPStatusCode"] == HTTPStatus.FORBIDDEN

    def test_a_presigned_url_is_good_for_its_key_and_method_alone(self, services: EmbeddedStack) -> None:
        client, bucket = s3_client(services.settings, services.secrets), services.settings.s3_bucket
        client.put_object(Bucket=bucket, Key="probe/mine", Body=b"mine")
        client.put_object(Bucket=bucket, Key="probe/other", Body=b"other")
        url = client.generate_presigned_url("get_object", Params={"Bucket": bucket, "Key": "probe/mine"})
        assert httpx.get(url).content == b"mine"
        assert httpx.get(url.replace("probe/mine", "probe/other")).status_code == HTTPStatus.FORBIDDEN
        assert httpx.put(url, content=b"x").status_code == HTTPStatus.FORBIDDEN

    def test_an_unsigned_copy_source_on_a_presigned_put_is_refused(self, services: EmbeddedStack) -> None:
        client, bucket = s3_client(services.settings, services.secrets), services.settings.s3_bucket
        client.put_object(Bucket=bucket, Key="probe/private", Body=b"private")
        url = client.generate_presigned_url("put_object", Params={"Bucket": bucket, "Key": "probe/target"})
        response = httpx.put(url, headers={"x-amz-copy-source": f"/{bucket}/probe/private"})
        assert response.status_code == HTTPStatus.FORBIDDEN

    def test_the_page_may_upload_and_another_origin_may_not(self, services: EmbeddedStack) -> None:
        def allowed_origin(origin: str) -> str | None:
            response = httpx.options(
                f"{services.base_url('s3')}/{services.settings.s3_bucket}/probe/x",
                headers={"Origin": origin, "Access-Control-Request-Method": "PUT"},
            )
            return response.headers.get("access-control-allow-origin")

        assert allowed_origin(services.page_url) == services.page_url
        assert allowed_origin("https://elsewhere.example") is None

    async def test_objects_outlive_a_kill(self, services: EmbeddedStack) -> None:
        client, bucket = s3_client(services.settings, services.secrets), services.settings.s3_bucket
        client.put_object(Bucket=bucket, Key="probe/durable", Body=b"kept")
        await services.crash("s3")
        assert client.get_object(Bucket=bucket, Key="probe/durable")["Body"].read() == b"kept"


class TestRedis:
    @pytest.fixture
    def open_client(self, services: EmbeddedStack) -> Iterator[redis.Redis]:
        client = redis.Redis(port=services.settings.redis_port, protocol=2)
        yield client
        client.close()

    def test_without_the_password_nothing_is_answered(self, open_client: redis.Redis) -> None:
        with pytest.raises(redis.exceptions.AuthenticationError):
            open_client.get("anything")

    async def test_a_write_outlives_a_stop(self, services: EmbeddedStack) -> None:
        url = services.env_of("runtime")["REDIS_URL"]
        with redis.Redis.from_url(url, protocol=2) as client:
            client.set("probe", "kept")
        await services.restart("redis")
        with redis.Redis.from_url(url, protocol=2) as client:
            assert client.get("probe") == b"kept"


def test_no_secret_is_on_a_command_line(services: EmbeddedStack) -> None:
    secrets = services.secrets.model_dump().values()
    for unit in ("postgres", "s3", "redis"):
        command_line = Path(f"/proc/{services.pid(unit)}/cmdline").read_bytes().decode()
        assert not any(secret in command_line for secret in secrets), unit


def test_no_secret_is_in_a_log(services: EmbeddedStack) -> None:
    logs = "".join(path.read_text(errors="replace") for path in services.settings.log_dir.glob("*.log"))
    assert logs
    assert not any(secret in logs for secret in services.secrets.model_dump().values())
