"""Paths, keys and settings."""

from typing import ClassVar

import pytest
from executor.config import ExecutorSettings, MigrationSettings, load_settings
from executor.errors import ExecutorError, InvalidPathError, PermissionDeniedError
from executor.policy.content_types import content_type_of
from executor.policy.guest_paths import FOLDERS, GuestPath, parse_guest_path
from executor.policy.object_keys import workspace_key
from hypothesis import given
from hypothesis import strategies as st

NAMES = st.text(min_size=1, max_size=40).filter(
    lambda name: "/" not in name and "\x00" not in name and name not in ".."
)


class TestGuestPaths:
    @given(st.text(max_size=200))
    def test_whatever_is_written_it_stays_inside_or_is_refused(self, text: str) -> None:
        try:
            path = parse_guest_path(text)
        except ExecutorError:
            return
        assert path.folder in FOLDERS
        assert not {"", ".", ".."} & set(path.parts)
        assert parse_guest_path(str(path)) == path

    @given(st.sampled_from(FOLDERS), st.lists(NAMES, max_size=5))
    def test_names_are_kept_as_given(self, folder: str, names: list[str]) -> None:
        try:
            path = parse_guest_path("/".join(["", folder, *names]))
        except InvalidPathError:  # a name of more than 255 bytes
            assert any(len(name.encode("utf-8", "surrogatepass")) > 255 for name in names)
            return
        assert path.parts == tuple(names)

    @pytest.mark.parametrize("text", ["", "workspace/a", "/workspace/../etc", "/workspace/a/..", "/workspace/a\x00b"])
    def test_what_is_no_path_is_invalid(self, text: str) -> None:
        with pytest.raises(InvalidPathError):
            parse_guest_path(text)

    @pytest.mark.parametrize("text", ["/", "/etc/passwd", "/workspacex/a", "/proc/self/root", "//etc"])
    def test_what_is_elsewhere_is_denied(self, text: str) -> None:
        with pytest.raises(PermissionDeniedError):
            parse_guest_path(text)


class TestObjectKeys:
    @given(st.lists(NAMES, min_size=1, max_size=4), st.lists(NAMES, min_size=1, max_size=4))
    def test_two_paths_never_share_a_key(self, one: list[str], two: list[str]) -> None:
        keys = {workspace_key("threads/t", GuestPath("workspace", tuple(parts))) for parts in (one, two)}
        assert len(keys) == len({tuple(one), tuple(two)})


class TestContentTypes:
    def test_charts_and_tables_are_known(self) -> None:
        assert content_type_of("a.VL.json").startswith("application/vnd.vegalite")
        assert content_type_of("a.parquet") == "application/vnd.apache.parquet"
        assert content_type_of("no-extension") == "application/octet-stream"


class TestSettings:
    GOOD: ClassVar = {
        "EXECUTOR_DATABASE_URL": "postgresql://executor:x@127.0.0.1/executor",
        "EXECUTOR_SERVICE_TOKEN": "t" * 32,
        "S3_ENDPOINT_URL": "http://127.0.0.1:9651",
        "S3_ACCESS_KEY_ID": "a",
        "S3_SECRET_ACCESS_KEY": "s",
    }

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("EXECUTOR_DATABASE_URL", ""),
            ("EXECUTOR_DATABASE_URL", "mysql://x"),
            ("EXECUTOR_SERVICE_TOKEN", "short"),
            ("S3_SECRET_ACCESS_KEY", ""),
            ("SANDBOX_MEMORY_MB", "1"),
            ("SANDBOX_CPUS", "0"),
            ("SANDBOX_RUNTIME", "chroot"),
            ("EXECUTOR_QUEUE_SIZE", "-1"),
        ],
    )
    def test_a_bad_setting_stops_the_start_and_is_named(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str, value: str
    ) -> None:
        for variable, good in (self.GOOD | {name: value}).items():
            monkeypatch.setenv(variable, good)
        with pytest.raises(SystemExit) as stopped:
            load_settings(ExecutorSettings)
        assert stopped.value.code == 2
        assert name in capsys.readouterr().err

    def test_no_secret_is_shown(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for variable, good in (self.GOOD | {"S3_SECRET_ACCESS_KEY": "hidden-one"}).items():
            monkeypatch.setenv(variable, good)
        shown = repr(load_settings(ExecutorSettings))
        assert "hidden-one" not in shown
        assert "t" * 32 not in shown

    def test_the_migration_needs_only_its_own(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("EXECUTOR_MIGRATIONS_DATABASE_URL", "postgresql://owner@h/executor")
        assert (
            load_settings(MigrationSettings).executor_migrations_database_url == "postgresql+psycopg://owner@h/executor"
        )
