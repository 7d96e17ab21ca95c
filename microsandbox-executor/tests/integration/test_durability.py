"""What stays true when things go wrong between the disk, the store and the database."""

import shutil
import threading
import time
from pathlib import Path
from uuid import uuid4

from executor_client import Executor


async def lose_scratch(executor: Executor) -> None:
    """The executor goes down and its disk is new when it is back."""
    await executor.stack.stop("executor")
    shutil.rmtree(executor.env["EXECUTOR_SCRATCH_DIR"])
    await executor.stack.start("executor")


def wait_for_file(executor: Executor, session: str, path: str) -> None:
    while executor.get(session, path).status_code != 200:
        time.sleep(0.05)


class TestRestoring:
    async def test_a_working_file_stored_but_not_recorded_is_the_one_that_comes_back(
        self, executor: Executor, session: str, workspace: str
    ) -> None:
        executor.bash(session, "echo old > a.txt; echo kept > b.txt")
        executor.s3.put_object(Bucket=executor.bucket, Key=f"{workspace}/workspace/a.txt", Body=b"newer\n")
        await lose_scratch(executor)
        result = executor.bash(session, "cat a.txt b.txt")
        assert result["stdout"] == "newer\nkept\n"
        assert [(change["path"], change["op"]) for change in result["changes"]] == [("/workspace/a.txt", "modified")]

    async def test_an_object_that_is_gone_does_not_take_the_others_along(
        self, executor: Executor, session: str, workspace: str
    ) -> None:
        executor.bash(session, "echo a > a.txt; echo b > b.txt")
        executor.s3.delete_object(Bucket=executor.bucket, Key=f"{workspace}/workspace/a.txt")
        await lose_scratch(executor)
        result = executor.bash(session, "ls")
        assert result["stdout"] == "b.txt\n"
        assert [(change["path"], change["op"]) for change in result["changes"]] == [("/workspace/a.txt", "deleted")]

    async def test_what_a_command_wrote_before_the_executor_was_killed_is_stored_at_the_next_use(
        self, executor: Executor, session: str, workspace: str
    ) -> None:
        job = f"killed/{uuid4()}"
        command = "echo half > half.txt; echo x > /artifacts/x.txt; touch begun; sleep 60"
        executor.http.post("/v1/jobs", json={"session": session, "command": command, "job_id": job})
        wait_for_file(executor, session, "/workspace/begun")
        await executor.stack.crash("executor")
        assert executor.bash(session, "true", read_only=True)["status"] == "succeeded"
        assert executor.object(f"{workspace}/workspace/half.txt") == b"half\n"
        page = executor.http.get(f"/v1/sessions/{session}/changes").json()
        assert {change["path"] for change in page["changes"]} == {
            "/workspace/half.txt",
            "/workspace/begun",
            "/artifacts/x.txt",
        }

    async def test_modes_and_odd_names_come_back(self, executor: Executor, session: str) -> None:
        make = (
            "import os\n"
            "for name in ['emoji 🚀.txt', 'it\\'s \"q\".txt', 'two\\nlines', '%41&?#', ' lead', 'tail ', 'n' * 255, "
            "'\\n' * 60, 'é' * 127, '...', '-rf', '~']:\n"
            "    open(name, 'w').write(name)\n"
            "os.chmod('-rf', 0o750)\n"
        )
        check = "import os\nprint(sorted(n for n in os.listdir() if open(n).read() != n), len(os.listdir()))\n"
        made = executor.python(session, make)
        assert (made["exit_code"], made["not_persisted"], len(made["changes"])) == (0, [], 12), made
        await lose_scratch(executor)
        result = executor.python(session, check)
        assert result["stdout"] == "[] 12\n"
        assert executor.bash(session, "stat -c %a ./-rf")["stdout"] == "750\n"


class TestScratch:
    async def test_folders_of_sessions_that_ended_meanwhile_are_removed(self, executor: Executor, session: str) -> None:
        kept = executor.create(f"threads/{uuid4()}")["session"]
        executor.bash(kept, "echo x > x")
        scratch = Path(executor.env["EXECUTOR_SCRATCH_DIR"])
        stray = scratch / session.partition("@")[0] / "2026-01-01T00-00-00.000Z" / "workspace"
        stray.mkdir(parents=True)
        await executor.stack.restart("executor")
        deadline = time.monotonic() + 30
        while stray.exists() and time.monotonic() < deadline:
            executor.get(kept, "/workspace/x")
        assert not stray.exists()
        assert executor.get(kept, "/workspace/x").content == b"x\n"

    def test_nobody_else_on_the_machine_can_look_into_it(self, executor: Executor, session: str) -> None:
        executor.bash(session, "true")
        assert Path(executor.env["EXECUTOR_SCRATCH_DIR"]).stat().st_mode & 0o077 == 0


class TestChangingKinds:
    async def test_a_file_becomes_a_folder_and_a_folder_a_file(self, executor: Executor, session: str) -> None:
        executor.bash(session, "echo x > one; mkdir -p two/deep; echo y > two/deep/f")
        result = executor.bash(session, "rm -r one two; mkdir one; echo in > one/f; echo flat > two")
        assert {(change["path"], change["op"]) for change in result["changes"]} == {
            ("/workspace/one", "deleted"),
            ("/workspace/one/f", "created"),
            ("/workspace/two", "created"),
            ("/workspace/two/deep/f", "deleted"),
        }
        await lose_scratch(executor)
        assert executor.bash(session, "cat one/f two")["stdout"] == "in\nflat\n"

    def test_a_deleted_file_that_comes_again_goes_on_in_its_versions(self, executor: Executor, session: str) -> None:
        executor.bash(session, "echo 1 > /artifacts/a")
        executor.bash(session, "rm /artifacts/a")
        change = executor.bash(session, "echo 1 > /artifacts/a")["changes"][0]
        assert (change["op"], change["version"]) == ("created", 2)


class TestOddities:
    def test_names_that_are_no_utf8_are_said_and_break_nothing(self, executor: Executor, session: str) -> None:
        code = "for f in ('/workspace/', '/artifacts/'): open(f.encode() + b'bad\\xff', 'w').write('x')"
        result = executor.python(session, code)
        assert result["status"] == "succeeded"
        assert [item["path"][:-1] for item in result["not_persisted"]] == ["/workspace/bad", "/artifacts/bad"] or {
            item["path"][:-1] for item in result["not_persisted"]
        } == {"/workspace/bad", "/artifacts/bad"}
        listing = executor.http.get(f"/v1/sessions/{session}/files").json()
        assert [entry["path"] for entry in listing["entries"]] == ["/workspace/bad\ufffd"]

    def test_a_name_that_the_store_refuses_does_not_keep_the_others_out(self, executor: Executor, session: str) -> None:
        code = "open('\\n' * 255, 'w').write('x'); open('fine', 'w').write('x')"
        result = executor.python(session, code)
        assert [change["path"] for change in result["changes"]] == ["/workspace/fine"]
        assert [item["path"] for item in result["not_persisted"]] == ["/workspace/" + "\n" * 255]

    def test_nul_and_broken_utf8_in_the_output_are_recorded(self, executor: Executor, session: str) -> None:
        job = str(uuid4())
        code = "import sys; sys.stdout.buffer.write(b'a\\x00b\\xff\\xed\\xa0\\x80c'); sys.stderr.buffer.write(b'\\x00')"
        first = executor.python(session, code, job_id=job)
        assert first["stdout"].startswith("a")
        assert first["stdout"].endswith("c")
        assert executor.python(session, code, job_id=job) == first

    def test_a_write_while_a_command_rewrites_files_stores_nothing_torn(
        self, executor: Executor, session: str, workspace: str
    ) -> None:
        job = str(uuid4())
        code = (
            "import os, time\nend = time.time() + 4\n"
            "while time.time() < end:\n"
            "    for name in ('/workspace/busy', '/artifacts/busy'):\n"
            "        open(name, 'wb').write(os.urandom(3_000_000))\n"
        )
        executor.http.post("/v1/jobs", json={"session": session, "code": code, "job_id": job})
        for number in range(8):
            assert executor.put(session, f"/workspace/put{number}", b"x").status_code == 200
        assert executor.http.get(f"/v1/jobs/{job}", params={"wait_seconds": 30}).json()["status"] == "succeeded"
        changes = executor.http.get(f"/v1/sessions/{session}/changes").json()["changes"]
        busy = [change for change in changes if change["path"].endswith("/busy")]
        assert [change["version"] for change in busy] == [1, 1]
        for change in busy:
            assert len(executor.object(change["object_key"])) == 3_000_000

    def test_programs_of_any_length_run_each_its_own(self, executor: Executor, session: str) -> None:
        """Longer than a command line takes, in characters of three bytes, several at once."""
        outputs: dict[int, str] = {}

        def run(number: int) -> None:
            code = f"# {'数' * 60_000}\nprint({number})"
            outputs[number] = executor.python(session, code, read_only=True)["stdout"]

        threads = [threading.Thread(target=run, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert outputs == {number: f"{number}\n" for number in range(4)}

    def test_a_long_program_imports_the_workspaces_modules_as_a_short_one(
        self, executor: Executor, session: str
    ) -> None:
        executor.put(session, "/workspace/mine.py", b"value = 42")
        assert executor.python(session, "import mine; print(mine.value)")["stdout"] == "42\n"
        assert executor.python(session, f"import mine; print(mine.value)\n#{'x' * 200_000}")["stdout"] == "42\n"

    def test_bash_is_bash(self, executor: Executor, session: str) -> None:
        result = executor.bash(session, "set -o pipefail; a=(1 2 3); [[ ${#a[@]} == 3 ]] && echo {1..3}; false | true")
        assert (result["stdout"], result["exit_code"]) == ("1 2 3\n", 1)

    def test_a_program_with_a_nul_is_refused(self, executor: Executor, session: str) -> None:
        for path, body in (("/v1/execute", {"code": "print(1)\x00"}), ("/v1/execute/bash", {"command": "echo \x00"})):
            response = executor.http.post(path, json={"session": session, **body})
            assert (response.status_code, response.json()["code"]) == (422, "invalid_request")

    def test_commands_run_in_the_order_in_which_they_were_accepted(self, executor: Executor, session: str) -> None:
        jobs = [str(uuid4()) for _ in range(20)]
        for number, job in enumerate(jobs):
            command = f"echo {number} >> order"
            executor.http.post("/v1/jobs", json={"session": session, "command": command, "job_id": job})
        executor.http.get(f"/v1/jobs/{jobs[-1]}", params={"wait_seconds": 30})
        assert executor.bash(session, "cat order")["stdout"].split() == [str(number) for number in range(20)]
