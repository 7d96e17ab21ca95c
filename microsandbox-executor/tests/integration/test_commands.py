"""Commands: honest results, each job once, limits that hold."""

import asyncio
import json
import threading
import time
from uuid import uuid4

from executor_client import Executor
from httpx_sse import connect_sse


class TestResults:
    def test_stdout_stderr_and_the_exit_code_are_kept_apart(self, executor: Executor, session: str) -> None:
        result = executor.bash(session, "echo out; echo err >&2; exit 7")
        assert (result["stdout"], result["stderr"], result["exit_code"]) == ("out\n", "err\n", 7)
        assert (result["status"], result["timed_out"], result["truncated"]) == ("failed", False, False)

    def test_python_runs_with_the_data_science_environment(self, executor: Executor, session: str) -> None:
        result = executor.python(session, "import pandas as pd; print(pd.Series([1, 2, 3]).sum())")
        assert (result["stdout"], result["exit_code"]) == ("6\n", 0)

    def test_a_time_out_keeps_what_was_printed(self, executor: Executor, session: str) -> None:
        result = executor.bash(session, "echo begun; sleep 30; echo never", timeout_seconds=2)
        assert (result["status"], result["exit_code"], result["timed_out"]) == ("timed_out", 124, True)
        assert result["stdout"] == "begun\n"
        assert "time limit" in result["message"]

    def test_death_by_a_signal_is_told_as_shells_do(self, executor: Executor, session: str) -> None:
        assert executor.bash(session, "kill -SEGV $$")["exit_code"] == 139

    def test_much_output_is_cut_said_and_kept_whole(self, executor: Executor, session: str) -> None:
        result = executor.bash(session, "echo first; seq 1 300000; echo last")
        assert result["truncated"]
        assert result["stdout"].startswith("first\n")
        assert result["stdout"].endswith("last\n")
        assert "left out" in result["stdout"]
        assert len(result["stdout"]) < 1_010_000
        path = result["message"].split(" is in ")[1].rstrip(".")
        assert executor.bash(session, f"wc -l < {path}")["stdout"].strip() == "300002"

    def test_bytes_that_are_no_text_break_nothing(self, executor: Executor, session: str) -> None:
        result = executor.bash(session, r"printf '\xff\xfe\x00ok'")
        assert result["exit_code"] == 0
        assert "ok" in result["stdout"]

    def test_a_long_program_runs(self, executor: Executor, session: str) -> None:
        code = "x = '" + "y" * 300_000 + "'\nprint(len(x))"
        assert executor.python(session, code)["stdout"] == "300000\n"

    def test_the_working_folder_and_tmp_last_between_commands(self, executor: Executor, session: str) -> None:
        executor.bash(session, "echo a > here.txt; echo b > /tmp/there.txt")
        assert executor.bash(session, "pwd; cat here.txt /tmp/there.txt")["stdout"] == "/workspace\na\nb\n"


class TestJobs:
    def test_the_same_id_runs_once_and_gives_the_same_result(self, executor: Executor, session: str) -> None:
        job = str(uuid4())
        results = [executor.bash(session, "echo x >> n; wc -l < n", job_id=job) for _ in range(3)]
        assert [result["stdout"] for result in results] == ["1\n"] * 3

    def test_a_repeat_joins_the_one_that_is_under_way(self, executor: Executor, session: str) -> None:
        job, results = str(uuid4()), []
        command = "sleep 1; echo x >> n; wc -l < n"
        threads = [
            threading.Thread(target=lambda: results.append(executor.bash(session, command, job_id=job)))
            for _ in range(3)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [result["stdout"] for result in results] == ["1\n"] * 3

    def test_another_command_under_the_same_id_is_refused(self, executor: Executor, session: str) -> None:
        job = str(uuid4())
        executor.bash(session, "true", job_id=job)
        response = executor.http.post("/v1/execute/bash", json={"session": session, "command": "false", "job_id": job})
        assert (response.status_code, response.json()["code"]) == (409, "job_conflict")

    async def test_an_id_does_not_run_again_over_a_kill_of_the_executor(self, executor: Executor, session: str) -> None:
        done, lost = f"done/{uuid4()}", f"lost/{uuid4()}"
        executor.bash(session, "echo x >> done", job_id=done)
        executor.http.post("/v1/jobs", json={"session": session, "command": "echo x >> lost; sleep 60", "job_id": lost})
        await asyncio.sleep(1.5)
        await executor.stack.crash("executor")
        again = executor.bash(session, "echo x >> done", job_id=done)
        assert again["status"] == "succeeded"
        settled = executor.bash(session, "echo x >> lost; sleep 60", job_id=lost)
        assert (settled["status"], settled["exit_code"]) == ("lost", None)
        # What the lost command had written before it died was not lost with it.
        assert executor.bash(session, "wc -l < done; wc -l < lost")["stdout"] == "1\n1\n"

    async def test_a_stop_of_the_executor_ends_commands_and_says_so(self, executor: Executor, session: str) -> None:
        job = str(uuid4())
        command = "echo begun > begun; sleep 60"
        executor.http.post("/v1/jobs", json={"session": session, "command": command, "job_id": job})
        waiting = asyncio.create_task(asyncio.to_thread(executor.bash, session, command, job_id=job))
        await asyncio.sleep(1)
        await executor.stack.restart("executor")
        result = await waiting
        assert (result["status"], result["exit_code"]) == ("cancelled", None)
        assert "shut down" in result["message"]
        assert [change["path"] for change in result["changes"]] == ["/workspace/begun"]
        assert executor.http.get(f"/v1/jobs/{job}").json()["result"] == result

    def test_output_is_live_with_ids_and_can_be_taken_up_again(self, executor: Executor, session: str) -> None:
        job = str(uuid4())
        command = "for i in 1 2 3; do echo line $i; sleep 0.3; done"
        executor.http.post("/v1/jobs", json={"session": session, "command": command, "job_id": job})
        with connect_sse(executor.http, "GET", f"/v1/jobs/{job}/events") as source:
            events = list(source.iter_sse())
        assert "".join(json.loads(event.data)["text"] for event in events[:-1]) == "line 1\nline 2\nline 3\n"
        assert events[-1].event == "result"
        assert json.loads(events[-1].data)["status"] == "succeeded"

    def test_cancelling_ends_the_command_and_all_it_started(self, executor: Executor, session: str) -> None:
        job = str(uuid4())
        command = "(setsid sleep 300 &) ; trap '' TERM; echo on > state; sleep 300; echo off > state"
        executor.http.post("/v1/jobs", json={"session": session, "command": command, "job_id": job})
        time.sleep(1)
        cancelled = executor.http.post(f"/v1/sessions/{session}/cancel").json()["cancelled"]
        assert cancelled == [job]
        row = executor.http.get(f"/v1/jobs/{job}").json()
        assert (row["status"], row["result"]["exit_code"]) == ("cancelled", None)
        assert executor.bash(session, "cat state; pgrep -c sleep")["stdout"].split() == ["on", "0"]

    def test_read_only_commands_run_beside_others_and_change_nothing(self, executor: Executor, session: str) -> None:
        job = str(uuid4())
        executor.http.post("/v1/jobs", json={"session": session, "command": "sleep 5", "job_id": job})
        started = time.monotonic()
        result = executor.bash(session, "echo x > /workspace/x; echo y > /tmp/y && cat /tmp/y", read_only=True)
        assert time.monotonic() - started < 4
        assert result["stdout"] == "y\n"
        assert result["changes"] == []
        executor.http.post(f"/v1/sessions/{session}/cancel")
        assert executor.bash(session, "ls /workspace")["stdout"] == ""


class TestLimits:
    def test_memory(self, executor: Executor, session: str) -> None:
        result = executor.python(session, "x = bytearray(6 * 1024**3); print(len(x))")
        assert result["exit_code"] != 0
        assert executor.bash(session, "echo alive")["stdout"] == "alive\n"

    def test_processes(self, executor: Executor, session: str) -> None:
        result = executor.bash(session, "for i in $(seq 1 400); do sleep 20 & done; echo done", timeout_seconds=20)
        assert result["exit_code"] != 0 or "Resource temporarily unavailable" in result["stderr"]
        assert executor.bash(session, "echo alive")["stdout"] == "alive\n"

    def test_nothing_of_a_command_outlives_it(self, executor: Executor, session: str) -> None:
        executor.bash(session, "setsid sleep 300 > /dev/null 2>&1 & nohup sleep 300 > /dev/null 2>&1 & echo gone")
        assert executor.bash(session, "pgrep -c sleep")["stdout"].strip() == "0"

    def test_a_full_queue_is_told(self, executor: Executor, session: str) -> None:
        jobs = [f"queue/{uuid4()}" for _ in range(80)]
        answers = [
            executor.http.post("/v1/jobs", json={"session": session, "command": "sleep 20", "job_id": job})
            for job in jobs
        ]
        refused = [answer for answer in answers if answer.status_code == 429]
        assert refused
        assert refused[0].json()["code"] == "executor_busy"
        assert "retry-after" in refused[0].headers
        executor.http.post(f"/v1/sessions/{session}/cancel")
        assert executor.bash(session, "echo alive")["stdout"] == "alive\n"
