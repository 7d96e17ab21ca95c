"""Files in and out, and what is persisted: only what changed, whatever it is called."""

import hashlib
import shutil
from pathlib import Path

import pytest
from executor_client import Executor


class TestTransfer:
    @pytest.mark.parametrize(
        "name",
        [
            "a.txt",
            "报告.csv",
            "plan-🚀.png",
            'it\'s "q".csv',
            "with space & %41;.csv",
            "n" * 251 + ".csv",
            "line\nbreak",
        ],
    )
    def test_any_name_and_any_bytes_come_back_the_same(self, executor: Executor, session: str, name: str) -> None:
        content = bytes(range(256)) * 10
        written = executor.put(session, f"/workspace/deep/er/{name}", content)
        assert written.status_code == 200, written.text
        assert written.json()["sha256"] == hashlib.sha256(content).hexdigest()
        assert executor.get(session, f"/workspace/deep/er/{name}").content == content

    @pytest.mark.parametrize(
        ("path", "code"),
        [
            ("/workspace/none.txt", "file_not_found"),
            ("/workspace/folder", "is_directory"),
            ("/workspace", "is_directory"),
            ("/etc/passwd", "permission_denied"),
            ("/workspace/../etc/passwd", "invalid_path"),
            ("/workspace/secret", "permission_denied"),
        ],
    )
    def test_what_cannot_be_read_says_why(self, executor: Executor, session: str, path: str, code: str) -> None:
        executor.bash(session, "mkdir -p folder; echo x > secret; chmod 000 secret")
        # The client would tidy dots away: they are sent as they are.
        response = executor.http.get(f"/v1/sessions/{session}/files{path}".replace("..", "%2E%2E"))
        assert response.json()["code"] == code

    def test_links_of_the_guest_lead_nowhere(self, executor: Executor, session: str) -> None:
        executor.bash(
            session, "ln -s / root; ln -s /etc/passwd passwd; ln -s /artifacts out; mkdir real; ln -s real unreal"
        )
        for path in ("/workspace/root/etc/passwd", "/workspace/passwd", "/workspace/out/x"):
            assert executor.get(session, path).status_code in {400, 403, 404}
        for path in ("/workspace/root/tmp/planted", "/workspace/out/planted", "/workspace/unreal/planted"):
            assert executor.put(session, path, b"x").status_code in {400, 403, 404}
        assert not Path("/tmp/planted").exists()

    def test_writing_over_a_link_replaces_the_link(self, executor: Executor, session: str) -> None:
        executor.bash(session, "echo safe > target; ln -s target link")
        assert executor.put(session, "/workspace/link", b"new").status_code == 200
        assert (
            executor.bash(session, "cat target; cat link; test -L link || echo plain")["stdout"] == "safe\nnewplain\n"
        )

    def test_a_listing_says_what_each_entry_is(self, executor: Executor, session: str) -> None:
        executor.bash(session, "mkdir d; echo abc > d/f; ln -s f d/l; mkfifo d/p")
        entries = executor.http.get(
            f"/v1/sessions/{session}/files", params={"path": "/workspace", "recursive": "true"}
        ).json()["entries"]
        assert {entry["path"]: entry["type"] for entry in entries} == {
            "/workspace/d": "directory",
            "/workspace/d/f": "file",
            "/workspace/d/l": "symlink",
            "/workspace/d/p": "other",
        }

    def test_deleting_a_file_takes_it_from_the_store_too(
        self, executor: Executor, session: str, workspace: str
    ) -> None:
        executor.put(session, "/workspace/a.txt", b"x")
        assert executor.keys(f"{workspace}/workspace/") == [f"{workspace}/workspace/a.txt"]
        response = executor.http.delete(executor.file_url(session, "/workspace/a.txt"))
        assert response.status_code == 204
        assert executor.keys(f"{workspace}/workspace/") == []


class TestPersistence:
    def test_a_result_names_what_changed_and_it_is_in_the_store(
        self, executor: Executor, session: str, workspace: str
    ) -> None:
        result = executor.bash(session, "echo one > a.txt; mkdir -p /artifacts/sub; printf png > /artifacts/sub/c.png")
        by_path = {change["path"]: change for change in result["changes"]}
        assert set(by_path) == {"/workspace/a.txt", "/artifacts/sub/c.png"}
        chart = by_path["/artifacts/sub/c.png"]
        assert (chart["op"], chart["version"], chart["content_type"]) == ("created", 1, "image/png")
        assert executor.object(chart["object_key"]) == b"png"
        assert chart["sha256"] == hashlib.sha256(b"png").hexdigest()
        assert executor.object(by_path["/workspace/a.txt"]["object_key"]) == b"one\n"
        assert chart["object_key"].startswith(f"{workspace}/artifacts/{chart['artifact_id']}/")

    def test_an_artifact_that_changes_gets_a_version_and_the_old_one_stays(
        self, executor: Executor, session: str
    ) -> None:
        first = executor.bash(session, "echo 1 > /artifacts/r.txt")["changes"][0]
        same = executor.bash(session, "touch /artifacts/r.txt; echo 1 > /artifacts/r.txt")
        second = executor.bash(session, "echo 2 > /artifacts/r.txt")["changes"][0]
        assert same["changes"] == []
        assert (second["op"], second["version"]) == ("modified", 2)
        assert executor.object(first["object_key"]) == b"1\n"
        assert executor.object(second["object_key"]) == b"2\n"

    def test_only_what_changed_is_stored_again(self, executor: Executor, session: str) -> None:
        executor.bash(session, "for i in $(seq 1 200); do echo $i > f$i; done")
        result = executor.bash(session, "echo new > f7; rm f8; mv f9 g9")
        assert {(change["path"].removeprefix("/workspace/"), change["op"]) for change in result["changes"]} == {
            ("f7", "modified"),
            ("f8", "deleted"),
            ("f9", "deleted"),
            ("g9", "created"),
        }

    def test_what_is_not_persisted_is_said(self, executor: Executor, session: str) -> None:
        result = executor.bash(session, "mkfifo pipe; ln -s /etc/passwd link; echo ok > file")
        assert {item["path"] for item in result["not_persisted"]} == {"/workspace/pipe", "/workspace/link"}
        assert [change["path"] for change in result["changes"]] == ["/workspace/file"]

    def test_changes_are_numbered_and_listed_after_any_number(self, executor: Executor, session: str) -> None:
        for number in range(5):
            executor.bash(session, f"echo {number} > n{number}")
        page = executor.http.get(f"/v1/sessions/{session}/changes", params={"after": 1, "limit": 2}).json()
        assert [change["seq"] for change in page["changes"]] == [2, 3]
        assert (page["seq"], page["more"]) == (5, True)

    def test_a_new_session_over_the_workspace_has_its_files(self, executor: Executor, workspace: str) -> None:
        stored = executor.store("in.csv", b"in")
        old = executor.create(workspace, [stored])["session"]
        executor.bash(
            old, "echo 1 > /artifacts/r; echo 2 > /artifacts/r; mkdir d; echo w > d/w; chmod 755 d/w; rm -f x"
        )
        executor.delete(old)
        new = executor.create(workspace, [stored])["session"]
        result = executor.bash(new, "cat /artifacts/r d/w /uploads/in.csv; test -x d/w && echo runs")
        assert result["stdout"] == "2\nw\ninruns\n"
        assert result["changes"] == []

    async def test_everything_comes_back_when_the_scratch_disk_is_lost(
        self, executor: Executor, workspace: str
    ) -> None:
        stored = executor.store("in.csv", b"in")
        session = executor.create(workspace, [stored])["session"]
        executor.bash(session, "echo kept > a.txt; printf x > /artifacts/c.png")
        await executor.stack.stop("executor")
        shutil.rmtree(executor.env["EXECUTOR_SCRATCH_DIR"])
        await executor.stack.start("executor")
        result = executor.bash(session, "cat a.txt /artifacts/c.png /uploads/in.csv")
        assert result["stdout"] == "kept\nxin"
        assert result["changes"] == []

    def test_purging_leaves_nothing(self, executor: Executor, workspace: str) -> None:
        session = executor.create(workspace)["session"]
        executor.bash(session, "echo 1 > a; echo 2 > /artifacts/b")
        assert executor.delete(session, purge=True).status_code == 204
        assert executor.keys(workspace) == []
        again = executor.create(workspace)["session"]
        assert executor.bash(again, "ls -A /workspace /artifacts | grep -c txt")["stdout"] == "0\n"
