"""The command line, as a person runs it."""

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from product_client import PASSWORD, Person
from stack.testing import EmbeddedStack

type Analyst = Callable[..., subprocess.CompletedProcess[str]]

CSV = b"city,people\nA,10\nB,32\n"


@pytest.fixture
def analyst(product: EmbeddedStack, person: Person, tmp_path: Path) -> Analyst:
    """Run `analyst ...` in an empty folder, signed in by e-mail and password unless told otherwise."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("ANALYST_")}

    def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        signed_in = {"ANALYST_EMAIL": person.email, "ANALYST_PASSWORD": PASSWORD}
        return subprocess.run(
            [sys.executable, "-m", "app.cli", *arguments],
            env={
                **clean,
                "ANALYST_URL": product.base_url("backend"),
                "HOME": str(tmp_path),
                "XDG_CONFIG_HOME": str(tmp_path),
                **(environment or signed_in),
            },
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=180,
        )

    return run


class TestAsk:
    def test_the_answer_is_on_stdout_and_the_files_are_saved(self, analyst: Analyst, tmp_path: Path) -> None:
        (tmp_path / "cities.csv").write_bytes(CSV)
        done = analyst("ask", "--file", "cities.csv", "total people by city", "--out", "made")
        assert done.returncode == 0, done.stderr
        assert "32" in done.stdout
        assert "uploaded cities.csv" in done.stderr
        assert any(path.suffix == ".png" for path in (tmp_path / "made").rglob("*"))

    def test_json_tells_each_artifact_with_its_hash(self, analyst: Analyst, tmp_path: Path) -> None:
        (tmp_path / "cities.csv").write_bytes(CSV)
        done = analyst("ask", "--file", "cities.csv", "total people by city", "--json")
        assert done.returncode == 0, done.stderr
        result = json.loads(done.stdout)
        assert set(result) == {"thread_id", "run_id", "answer", "artifacts", "status"}
        assert result["status"] == "succeeded"
        assert result["artifacts"]
        for artifact in result["artifacts"]:
            content = (tmp_path / artifact["path"]).read_bytes()
            assert len(content) == artifact["size"]
            assert hashlib.sha256(content).hexdigest() == artifact["sha256"]

    def test_it_goes_on_in_the_same_conversation(self, analyst: Analyst, tmp_path: Path) -> None:
        (tmp_path / "cities.csv").write_bytes(CSV)
        first = json.loads(analyst("ask", "--file", "cities.csv", "total people by city", "--json").stdout)
        second = analyst("ask", "--thread", first["thread_id"], "what is the average people?")
        assert second.returncode == 0, second.stderr
        assert "21" in second.stdout


class TestFailures:
    def test_a_missing_file_is_named(self, analyst: Analyst) -> None:
        done = analyst("ask", "--file", "nowhere.csv", "what is it?")
        assert done.returncode == 1
        assert "nowhere.csv" in done.stderr
        assert done.stdout == ""

    def test_a_wrong_password_says_so(self, analyst: Analyst, person: Person) -> None:
        done = analyst("threads", ANALYST_EMAIL=person.email, ANALYST_PASSWORD="wrong password")
        assert done.returncode == 1
        assert "password is wrong" in done.stderr

    def test_nobody_signed_in_is_told_how(self, analyst: Analyst) -> None:
        done = analyst("threads", ANALYST_TOKEN="")
        assert done.returncode == 1
        assert "ANALYST_TOKEN" in done.stderr

    def test_an_address_where_nobody_answers_is_named(self, analyst: Analyst) -> None:
        done = analyst("threads", ANALYST_URL="http://127.0.0.1:9", ANALYST_TOKEN="x")
        assert done.returncode == 1
        assert "http://127.0.0.1:9" in done.stderr


class TestLogin:
    def test_the_kept_key_signs_in_and_is_readable_by_its_owner_alone(
        self, analyst: Analyst, person: Person, tmp_path: Path
    ) -> None:
        done = analyst("login", "--email", person.email, "--password", PASSWORD)
        assert done.returncode == 0, done.stderr
        kept = tmp_path / "analyst" / "credentials.json"
        assert kept.stat().st_mode & 0o777 == 0o600
        thread = person.thread()
        listed = analyst("threads", ANALYST_TOKEN="")
        assert thread in listed.stdout
