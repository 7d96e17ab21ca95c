"""Sessions: a birthday in the name, one live incarnation a workspace, and nothing done to the wrong one."""

from concurrent.futures import ThreadPoolExecutor

import httpx
from executor_client import Executor


class TestIdentity:
    def test_the_name_holds_the_moment_of_creation(self, executor: Executor, workspace: str) -> None:
        created = executor.create(workspace)
        assert created["session"] == f"{created['session_id']}@{created['generation']}"
        assert created["generation"].endswith("Z")
        assert len(created["generation"]) == len("2026-10-08T09:25:17.059Z")

    def test_a_bare_id_is_refused(self, executor: Executor, session: str) -> None:
        bare = session.partition("@")[0]
        for response in (
            executor.http.get(f"/v1/sessions/{bare}"),
            executor.delete(bare),
            executor.http.post("/v1/execute/bash", json={"session": bare, "command": "true"}),
            executor.get(bare, "/workspace/x"),
        ):
            assert (response.status_code, response.json()["code"]) == (400, "generation_required")

    def test_a_delayed_delete_does_not_touch_the_successor(self, executor: Executor, workspace: str) -> None:
        first = executor.create(workspace)
        assert executor.delete(first["session"]).status_code == 204
        second = executor.create(workspace)
        assert second["session_id"] == first["session_id"]
        assert second["generation"] > first["generation"]
        executor.bash(second["session"], "echo kept > kept.txt")
        late = executor.delete(first["session"], purge=True)
        assert (late.status_code, late.json()["code"]) == (409, "stale_generation")
        assert executor.bash(second["session"], "cat kept.txt")["stdout"] == "kept\n"

    def test_an_older_generation_cannot_run_or_write_anything(self, executor: Executor, workspace: str) -> None:
        old = executor.create(workspace)["session"]
        executor.delete(old)
        new = executor.create(workspace)["session"]
        run = executor.http.post("/v1/execute/bash", json={"session": old, "command": "touch /workspace/ghost"})
        write = executor.put(old, "/workspace/ghost", b"x")
        assert [run.json()["code"], write.json()["code"]] == ["stale_generation"] * 2
        assert "ghost" not in executor.bash(new, "ls -A")["stdout"]

    def test_an_unknown_session_is_not_found(self, executor: Executor) -> None:
        response = executor.http.get("/v1/sessions/abc@2026-01-01T00:00:00.000Z")
        assert (response.status_code, response.json()["code"]) == (404, "session_not_found")


class TestCreation:
    def test_the_same_key_gives_the_same_session_also_at_once(self, executor: Executor, workspace: str) -> None:
        with ThreadPoolExecutor(8) as pool:
            names = list(pool.map(lambda _: executor.create(workspace, key=f"{workspace}/1")["session"], range(8)))
        assert len(set(names)) == 1

    def test_a_workspace_never_has_two_live_sessions(self, executor: Executor, workspace: str) -> None:
        with ThreadPoolExecutor(8) as pool:
            names = list(pool.map(lambda _: executor.create(workspace)["session"], range(8)))
        assert len(set(names)) == 1

    def test_what_is_no_workspace_name_is_refused(self, executor: Executor) -> None:
        for name in ("", "../x", "/abs", "a//b", "a/../b", "a b"):
            response = executor.http.post("/v1/sessions", json={"workspace": name, "inputs": []})
            assert response.status_code == 422


class TestInputs:
    def test_inputs_are_there_read_only(self, executor: Executor, workspace: str) -> None:
        stored = executor.store("data.csv", b"a,b\n1,2\n")
        session = executor.create(workspace, [stored])["session"]
        assert executor.bash(session, "cat /uploads/data.csv")["stdout"] == "a,b\n1,2\n"
        assert executor.bash(session, "echo x > /uploads/data.csv")["exit_code"] != 0
        assert executor.put(session, "/uploads/new.csv", b"x").json()["code"] == "permission_denied"

    def test_staging_again_fetches_nothing_and_a_shorter_list_takes_away(
        self, executor: Executor, workspace: str
    ) -> None:
        first, second = executor.store("a.csv", b"a"), executor.store("b.csv", b"b")
        session = executor.create(workspace, [first])["session"]
        url = f"/v1/sessions/{session}/inputs"
        both = executor.http.put(url, json={"inputs": [first.as_input(), second.as_input()]}).json()
        assert both == {"staged": ["/uploads/b.csv"], "present": ["/uploads/a.csv"]}
        executor.http.put(url, json={"inputs": [second.as_input()]})
        assert executor.bash(session, "ls /uploads")["stdout"] == "b.csv\n"

    def test_an_input_that_is_not_what_was_announced_is_refused(self, executor: Executor, session: str) -> None:
        stored = executor.store("a.csv", b"real")
        announced = {**stored.as_input(), "sha256": "0" * 64}
        response = executor.http.put(f"/v1/sessions/{session}/inputs", json={"inputs": [announced]})
        assert (response.status_code, response.json()["code"]) == (409, "input_mismatch")
        assert executor.bash(session, "ls -A /uploads")["stdout"] == ""

    def test_an_input_goes_nowhere_but_uploads(self, executor: Executor, session: str) -> None:
        stored = executor.store("a.csv", b"x").as_input()
        for path in ("/workspace/a.csv", "/uploads/../workspace/a", "/uploads/deep/a.csv", "relative.csv"):
            response = executor.http.put(f"/v1/sessions/{session}/inputs", json={"inputs": [{**stored, "path": path}]})
            assert response.status_code in {400, 403}, path


class TestAuthentication:
    def test_every_call_needs_the_service_token(self, executor: Executor, session: str) -> None:
        for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "Basic x"}):
            with httpx.Client(base_url=executor.http.base_url, headers=headers) as stranger:
                assert stranger.get(f"/v1/sessions/{session}").status_code == 401
                assert stranger.post("/v1/sessions", json={"workspace": "w"}).status_code == 401
                assert stranger.get("/v1/jobs/x").status_code == 401

    def test_health_needs_none_and_says_how_guests_are_locked_in(self, executor: Executor) -> None:
        health = httpx.get(f"{executor.stack.base_url('executor')}/healthz").json()
        assert health["runtime"] == "bubblewrap"
        assert "kernel" in health["isolation"]
        assert isinstance(health["unenforced"], list)
