"""The product with a language model behind an OpenAI-compatible address, and what survives while that model works.

The model is scripted, so that a test knows when something is under way; everything else is real.
"""

import threading
import time
from collections.abc import Iterator

import httpx
import pytest
from product_client import Event, Person, Turn
from scripted_openai import ScriptedOpenAI, ToolCall
from scripted_openai import Turn as Say
from stack.testing import EmbeddedStack, embedded_stack

LONG_ANSWER = " ".join(f"word{number}" for number in range(60))
WRITE_CHART = "printf 'x' > /artifacts/chart.png && echo drawn && echo careful >&2"
COUNT_ONCE = "sleep 6; echo run >> /workspace/count.txt; wc -l < /workspace/count.txt"

SCRIPTS = {
    "draw": [
        Say(tool_calls=(ToolCall("execute", {"command": WRITE_CHART}),)),
        Say(text="The chart is drawn."),
    ],
    "fail": [
        Say(tool_calls=(ToolCall("execute", {"command": "echo before; exit 3"}),)),
        Say(text="It failed."),
    ],
    "plan": [
        Say(tool_calls=(ToolCall("write_todos", {"todos": [{"content": "look", "status": "in_progress"}]}),)),
        Say(text="Planned."),
    ],
    "sleep": [
        Say(tool_calls=(ToolCall("execute", {"command": "sleep 120; touch /workspace/never.txt"}),)),
        Say(text="Slept."),
    ],
    "look": [
        Say(tool_calls=(ToolCall("execute", {"command": "ls /uploads /workspace; pgrep -c sleep"}),)),
        Say(text="Looked."),
    ],
    "count once": [Say(tool_calls=(ToolCall("execute", {"command": COUNT_ONCE}),)), Say(text="Counted.")],
    "read back": [
        Say(tool_calls=(ToolCall("execute", {"command": "cat /workspace/count.txt /uploads/*"}),)),
        Say(text="Read."),
    ],
    "talk": [Say(text=LONG_ANSWER, delay_seconds=0.15)],
    "hello": [Say(text="Hello.")],
}


@pytest.fixture(scope="module")
def model() -> Iterator[ScriptedOpenAI]:
    with ScriptedOpenAI(SCRIPTS) as scripted:
        yield scripted


@pytest.fixture(scope="module")
def scripted_product(model: ScriptedOpenAI) -> Iterator[EmbeddedStack]:
    overrides = {
        "AGENT_MODEL": "openai-compatible:scripted",
        "AGENT_MODEL_BASE_URL": model.base_url,
        "AGENT_MODEL_CONTEXT_TOKENS": "32768",
    }
    with embedded_stack("backend", overrides=overrides) as stack:
        yield stack


@pytest.fixture
def person(scripted_product: EmbeddedStack) -> Iterator[Person]:
    with Person(scripted_product.base_url("backend")) as somebody:
        yield somebody


def tool_results(turn: Turn) -> list[str]:
    return [chunk["content"] for chunk, _ in turn.named("messages") if chunk["type"].startswith("Tool")]


def wait_for_running_tool(person: Person, thread: str, seconds: float = 60) -> str:
    """The id of the thread's run once its command is under way."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        active = person.http.get(f"/threads/{thread}").json()["active_run"]
        if active and any(message["tool_calls"] for message in person.messages(thread)):
            time.sleep(1.0)
            return str(active["id"])
        time.sleep(0.1)
    raise AssertionError("no tool call was seen")


class Listener:
    """Reads a stream in the background and keeps what came until it broke or ended."""

    def __init__(self, events: Iterator[Event]) -> None:
        self.turn = Turn()
        self._events = events
        self.thread = threading.Thread(target=self._listen, daemon=True)
        self.thread.start()

    def _listen(self) -> None:
        try:
            for event in self._events:
                self.turn.events.append(event)
        except httpx.HTTPError:
            return  # the server was stopped under the stream: the test looks at what was read


class TestOneTurn:
    def test_tool_calls_run_in_the_sandbox_and_the_answer_streams(self, person: Person, model: ScriptedOpenAI) -> None:
        thread = person.thread()
        person.upload(thread, "data.csv", b"a,b\n1,2\n")
        turn = person.ask(thread, "draw")
        assert turn.run["status"] == "succeeded", turn.run
        assert turn.text.strip() == "The chart is drawn."
        (result,) = tool_results(turn)
        assert "drawn" in result
        assert "[stderr]\ncareful" in result
        assert turn.run["usage"] == {"input_tokens": 200, "output_tokens": 40}
        # The model saw the question with the file beside it, as data.
        question = next(body for body in model.requests if body["messages"][-1]["role"] == "user")["messages"][-1]
        assert '"path": "/uploads/data.csv"' in str(question["content"])

    def test_what_it_makes_is_an_artifact_in_the_stream_and_in_the_list(self, person: Person) -> None:
        thread = person.thread()
        turn = person.ask(thread, "draw")
        (artifact,) = turn.artifacts
        assert artifact["guest_path"] == "/artifacts/chart.png"
        assert artifact["preview"] == "image"
        assert artifact["source_run_id"] == turn.run["id"]
        assert person.content(artifact) == b"x"
        assert [file["id"] for file in person.files(thread)] == [artifact["id"]]

    def test_a_failing_command_is_told_with_its_exit_code(self, person: Person) -> None:
        turn = person.ask(person.thread(), "fail")
        (result,) = tool_results(turn)
        assert "before" in result
        assert "3" in result
        assert turn.run["status"] == "succeeded"

    def test_messages_afterwards_are_those_that_were_streamed(self, person: Person) -> None:
        thread = person.thread()
        turn = person.ask(thread, "draw")
        messages = person.messages(thread)
        assert [message["type"] for message in messages] == ["human", "ai", "tool", "ai"]
        assert messages[0]["content"] == "draw"
        assert messages[1]["tool_calls"][0]["args"] == {"command": WRITE_CHART}
        assert messages[2]["artifact"]["exit_code"] == 0
        assert messages[3]["content"] == turn.text
        assert {message["run_id"] for message in messages} == {turn.run["id"]}

    def test_the_plan_is_in_the_stream(self, person: Person) -> None:
        turn = person.ask(person.thread(), "plan")
        todos = [update["tools"]["todos"] for update in turn.named("updates") if "todos" in (update.get("tools") or {})]
        assert todos == [[{"content": "look", "status": "in_progress"}]]


class TestStreaming:
    def test_every_event_has_an_id_and_each_is_new(self, person: Person) -> None:
        turn = person.ask(person.thread(), "draw")
        ids = [event.id for event in turn.events]
        assert all(ids)
        assert len(ids) == len(set(ids))
        assert turn.events[0].name == "run"
        assert [event.name for event in turn.events[-2:]] == ["run", "end"]

    def test_a_listener_who_comes_back_gets_the_rest_once(self, person: Person) -> None:
        thread = person.thread()
        first: list[Event] = []
        stream = person.stream(thread, "talk")
        for event in stream:
            first.append(event)
            if len(first) == 25:
                break
        stream.close()  # type: ignore[attr-defined]
        run = first[0].data["run"]["id"]
        rest = list(person.rejoin(thread, run, first[-1].id))
        assert Turn([*first, *rest]).text.split() == LONG_ANSWER.split()
        assert not {event.id for event in first[1:]} & {event.id for event in rest if event.name != "run"}

    def test_a_run_that_nobody_listens_to_ends_all_the_same(self, person: Person) -> None:
        thread = person.thread()
        stream = person.stream(thread, "talk")
        run = next(stream).data["run"]["id"]
        stream.close()  # type: ignore[attr-defined]
        assert person.settled(thread, run)["status"] == "succeeded"
        assert person.answer(thread).split() == LONG_ANSWER.split()

    def test_a_finished_run_can_be_joined(self, person: Person) -> None:
        thread = person.thread()
        run = person.ask(thread, "hello").run["id"]
        replay = Turn(list(person.rejoin(thread, run)))
        assert replay.text.strip() == "Hello."
        assert replay.run["status"] == "succeeded"


class TestAdmission:
    def test_a_second_message_meanwhile_is_told_which_run_to_join(self, person: Person) -> None:
        thread = person.thread()
        stream = person.stream(thread, "talk")
        run = next(stream).data["run"]["id"]
        refused = person.http.post("/chat/stream", json={"thread_id": thread, "message": "hello"})
        assert (refused.status_code, refused.json()["code"]) == (409, "run_active")
        assert refused.json()["run_id"] == run
        list(stream)
        assert [message["content"] for message in person.messages(thread) if message["type"] == "human"] == ["talk"]

    def test_a_resend_with_the_same_key_joins_the_first_run(self, person: Person) -> None:
        thread = person.thread()
        headers = {"Idempotency-Key": "the-same-key"}
        body = {"thread_id": thread, "message": "hello"}
        answers = [person.http.post("/chat/stream", json=body, headers=headers, timeout=60) for _ in range(2)]
        runs = {answer.text.split('"id": "')[1].split('"')[0] for answer in answers}
        assert len(runs) == 1
        assert len(person.http.get(f"/threads/{thread}/runs").json()["items"]) == 1


class TestCancel:
    def test_stopping_a_run_stops_its_command_and_frees_the_thread(self, person: Person) -> None:
        thread = person.thread()
        listener = Listener(person.stream(thread, "sleep"))
        run = wait_for_running_tool(person, thread)
        stopped = person.http.post(f"/threads/{thread}/runs/{run}/cancel")
        assert stopped.status_code == 202
        assert person.settled(thread, run, within_seconds=20)["status"] == "cancelled"
        listener.thread.join(20)
        assert listener.turn.run["status"] == "cancelled"
        after = person.ask(thread, "look")
        assert after.run["status"] == "succeeded"
        # A call that was cut off is answered for the model first, in the same stream.
        result = tool_results(after)[-1]
        assert "never.txt" not in result
        assert result.splitlines()[-1].startswith("0") or "\n0" in result

    def test_stopping_a_run_that_has_ended_changes_nothing(self, person: Person) -> None:
        thread = person.thread()
        run = person.ask(thread, "hello").run["id"]
        assert person.http.post(f"/threads/{thread}/runs/{run}/cancel").json()["status"] == "succeeded"


class TestRestarts:
    """Each service is killed while a command runs; the run's state is honest afterwards and the thread goes on."""

    @pytest.mark.parametrize("service", ["backend", "runtime", "executor", "s3", "postgres", "redis"])
    async def test_a_killed_service_loses_no_message_and_repeats_no_command(
        self, scripted_product: EmbeddedStack, service: str
    ) -> None:
        base_url = scripted_product.base_url("backend")
        with Person(base_url) as person:
            thread = person.thread()
            person.upload(thread, "data.csv", b"kept,1\n")
            listener = Listener(person.stream(thread, "count once"))
            run = wait_for_running_tool(person, thread)
            await scripted_product.crash(service)
            ended = _settled_through_restarts(person, thread, run)
            assert ended["status"] in {"succeeded", "failed"}, ended
            listener.thread.join(60)
            after = person.ask(thread, "read back")
            assert after.run["status"] == "succeeded", after.run
            result = tool_results(after)[-1]
            # The earlier file is there; the counting command ran once, or (killed with its executor) not at all.
            assert "kept,1" in result
            assert result.count("run") <= 1
            if ended["status"] == "succeeded" and service != "executor":
                assert result.count("run") == 1
            questions = [message["content"] for message in person.messages(thread) if message["type"] == "human"]
            assert questions == ["count once", "read back"]


def _settled_through_restarts(person: Person, thread: str, run: str, seconds: float = 120) -> dict[str, object]:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            found = person.run(thread, run)
        except (httpx.HTTPError, AssertionError):
            time.sleep(0.5)
            continue
        if found["status"] not in {"queued", "running"}:
            return found
        time.sleep(0.5)
    raise AssertionError("the run was not settled")
