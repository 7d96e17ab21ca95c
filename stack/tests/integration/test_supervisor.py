"""The supervisor with real child processes."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import psutil
import pytest
from stack.leftovers import ChildRegister
from stack.supervisor import Supervisor, UnitEvent, UnitStartError, UnitState
from stack.units import NotReadyError, Service, Task, Unit, UnsafeServiceError

ENVIRONMENT = {"PATH": "/usr/bin:/bin"}
HANG_SECONDS = 30


async def always_ready() -> None:
    return None


def sleeper(name: str, *, after: frozenset[str] = frozenset(), seconds: float = 600) -> Service:
    return Service(
        name=name,
        argv=("sleep", str(seconds)),
        environment=ENVIRONMENT,
        ready=always_ready,
        address="nowhere",
        after=after,
        stop_seconds=5,
    )


class Stage:
    """A supervisor and everything it told."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.events: list[UnitEvent] = []
        self.supervisor: Supervisor | None = None
        self._changed = asyncio.Event()

    def run(self, *units: Unit) -> Supervisor:
        register = ChildRegister(self.folder / "children.json")
        self.supervisor = Supervisor(units, log_dir=self.folder / "logs", register=register, listen=self._listen)
        return self.supervisor

    def states(self, name: str) -> list[UnitState]:
        return [event.state for event in self.events if event.name == name]

    def names(self, state: UnitState) -> list[str]:
        return [event.name for event in self.events if event.state == state]

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(HANG_SECONDS):
            while not condition():
                self._changed.clear()
                await self._changed.wait()

    def _listen(self, event: UnitEvent) -> None:
        self.events.append(event)
        self._changed.set()


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    stage = Stage(tmp_path)
    yield stage
    if stage.supervisor:
        await stage.supervisor.stop_all()


class TestStart:
    async def test_what_a_service_depends_on_is_ready_before_it_starts(self, stage: Stage) -> None:
        await stage.run(
            sleeper("backend", after=frozenset({"schema", "s3"})),
            Task(name="schema", argv=("true",), environment=ENVIRONMENT, after=frozenset({"postgres"})),
            sleeper("postgres"),
            sleeper("s3"),
        ).start()
        order = [(event.name, event.state) for event in stage.events]
        assert order.index(("postgres", UnitState.READY)) < order.index(("schema", UnitState.STARTING))
        assert order.index(("schema", UnitState.DONE)) < order.index(("backend", UnitState.STARTING))
        assert order.index(("s3", UnitState.READY)) < order.index(("backend", UnitState.STARTING))

    async def test_what_stands_beside_a_service_is_started_with_it_and_stopped_after_it(self, stage: Stage) -> None:
        backend = Service(
            name="backend",
            argv=("sleep", "600"),
            environment=ENVIRONMENT,
            ready=always_ready,
            address="nowhere",
            beside=frozenset({"runtime"}),
        )
        supervisor = stage.run(sleeper("runtime"), backend, sleeper("other"))
        await supervisor.start("backend")
        assert sorted(stage.names(UnitState.READY)) == ["backend", "runtime"]
        await supervisor.stop_all()
        assert stage.names(UnitState.STOPPED) == ["backend", "runtime"]

    async def test_only_what_is_asked_for_and_its_needs_start(self, stage: Stage) -> None:
        units = (sleeper("postgres"), sleeper("s3"), sleeper("executor", after=frozenset({"s3"})))
        await stage.run(*units).start("executor")
        assert sorted(stage.names(UnitState.READY)) == ["executor", "s3"]

    async def test_a_second_start_leaves_what_runs_alone(self, stage: Stage) -> None:
        supervisor = stage.run(sleeper("s3"))
        await supervisor.start("s3")
        pid = supervisor.pid("s3")
        await supervisor.start("s3")
        assert supervisor.pid("s3") == pid

    async def test_a_service_that_ends_too_early_fails_the_start_with_its_last_words(self, stage: Stage) -> None:
        async def never() -> None:
            raise NotReadyError("nothing there")

        command = ("sh", "-c", "echo bad setting: COLOUR >&2; exit 2")
        broken = Service(name="backend", argv=command, environment=ENVIRONMENT, ready=never, address="nowhere")
        with pytest.raises(UnitStartError, match=r"(?s)backend did not start: exit code 2.*bad setting: COLOUR"):
            await stage.run(broken).start()

    async def test_a_service_that_never_answers_fails_the_start_with_the_reason(self, stage: Stage) -> None:
        async def never() -> None:
            raise NotReadyError("/readyz answers 503")

        silent = Service(
            name="executor",
            argv=("sleep", "600"),
            environment=ENVIRONMENT,
            ready=never,
            address="nowhere",
            start_seconds=0.3,
        )
        supervisor = stage.run(silent)
        with pytest.raises(UnitStartError, match="answers 503"):
            await supervisor.start()
        assert supervisor.pid("executor") is None

    async def test_a_failure_while_preparing_names_the_service(self, stage: Stage) -> None:
        async def prepare() -> None:
            raise PermissionError("the folder is closed")

        service = Service(
            name="postgres",
            argv=("sleep", "600"),
            environment=ENVIRONMENT,
            ready=always_ready,
            address="nowhere",
            prepare=prepare,
        )
        with pytest.raises(UnitStartError, match="postgres did not start: PermissionError: the folder is closed"):
            await stage.run(service).start()

    async def test_a_service_whose_restart_fails_is_tried_again(self, stage: Stage) -> None:
        trouble = [0]

        async def prepare() -> None:
            if trouble[0]:
                trouble[0] -= 1
                raise PermissionError("for a moment")

        service = Service(
            name="redis",
            argv=("sleep", "600"),
            environment=ENVIRONMENT,
            ready=always_ready,
            address="nowhere",
            prepare=prepare,
        )
        supervisor = stage.run(service)
        await supervisor.start()
        trouble[0] = 1
        await supervisor.crash("redis")
        assert [event.detail for event in stage.events if event.state == UnitState.CRASHED] == [
            "killed by SIGKILL",
            "PermissionError: for a moment",
        ]

    async def test_a_task_that_fails_keeps_its_dependents_from_starting(self, stage: Stage) -> None:
        schema = Task(name="schema", argv=("sh", "-c", "echo no such table; exit 1"), environment=ENVIRONMENT)
        with pytest.raises(UnitStartError, match="no such table"):
            await stage.run(schema, sleeper("backend", after=frozenset({"schema"}))).start()
        assert stage.states("backend") == []

    async def test_a_start_that_is_cancelled_goes_no_further(self, stage: Stage) -> None:
        asked, answer = asyncio.Event(), asyncio.Event()

        async def when_told() -> None:
            asked.set()
            if not answer.is_set():
                raise NotReadyError("not yet")

        slow = Service(
            name="postgres", argv=("sleep", "600"), environment=ENVIRONMENT, ready=when_told, address="nowhere"
        )
        supervisor = stage.run(slow, sleeper("backend", after=frozenset({"postgres"})))
        starting = asyncio.create_task(supervisor.start())
        await asked.wait()
        starting.cancel()
        await asyncio.gather(starting, return_exceptions=True)
        answer.set()
        await supervisor.stop_all()
        assert stage.states("backend") == []
        assert stage.states("postgres") == [UnitState.STARTING, UnitState.STOPPING, UnitState.STOPPED]

    async def test_a_child_gets_the_given_environment_and_nothing_else(
        self, stage: Stage, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("SOMEBODYS_SECRET", "do not pass on")
        dump = Task(name="dump", argv=("env",), environment={**ENVIRONMENT, "GIVEN": "yes"})
        await stage.run(dump).start()
        text = (stage.folder / "logs" / "dump.log").read_text()
        assert "GIVEN=yes" in text
        assert "SOMEBODYS_SECRET" not in text


class TestCrash:
    async def test_a_crashed_service_is_named_with_its_last_lines_and_started_again(self, stage: Stage) -> None:
        speaker = Service(
            name="executor",
            argv=("sh", "-c", "echo about to work; exec sleep 600"),
            environment=ENVIRONMENT,
            ready=always_ready,
            address="nowhere",
        )
        supervisor = stage.run(speaker)
        await supervisor.start()
        first = supervisor.pid("executor")
        assert first is not None
        await stage_log_holds(stage, "executor", "about to work")
        os.kill(first, signal.SIGKILL)
        await stage.until(lambda: stage.states("executor").count(UnitState.READY) == 2)
        (crash,) = (event for event in stage.events if event.state == UnitState.CRASHED)
        assert crash.detail == "killed by SIGKILL"
        assert "about to work" in crash.log_lines
        assert supervisor.pid("executor") not in {None, first}

    async def test_the_pause_grows_while_a_service_keeps_crashing(self, stage: Stage) -> None:
        await stage.run(sleeper("runtime", seconds=0.01)).start()
        await stage.until(lambda: stage.names(UnitState.CRASHED).count("runtime") == 3)
        pauses = [event.seconds for event in stage.events if event.state == UnitState.CRASHED]
        assert pauses == sorted(pauses)
        assert pauses[0] * 4 == pauses[2]

    async def test_an_unsafe_service_is_stopped_and_not_started_again(self, stage: Stage) -> None:
        safe = [True]

        async def ready() -> None:
            if not safe[0]:
                raise UnsafeServiceError("it serves everybody")

        runtime = Service(
            name="runtime", argv=("sleep", "600"), environment=ENVIRONMENT, ready=ready, address="nowhere"
        )
        supervisor = stage.run(runtime)
        await supervisor.start()
        safe[0] = False
        pid = supervisor.pid("runtime")
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        await stage.until(lambda: UnitState.REFUSED in stage.states("runtime"))
        assert supervisor.pid("runtime") is None

    async def test_crash_returns_once_the_service_is_ready_again(self, stage: Stage) -> None:
        supervisor = stage.run(sleeper("s3"))
        await supervisor.start()
        before = supervisor.pid("s3")
        await supervisor.crash("s3")
        assert supervisor.pid("s3") not in {None, before}

    async def test_a_killed_service_stays_down_until_it_is_started(self, stage: Stage) -> None:
        supervisor = stage.run(sleeper("s3"))
        await supervisor.start()
        await supervisor.kill("s3")
        assert supervisor.pid("s3") is None
        await supervisor.start("s3")
        assert supervisor.pid("s3") is not None


class TestStop:
    async def test_dependents_stop_before_what_they_depend_on(self, stage: Stage) -> None:
        supervisor = stage.run(
            sleeper("postgres"),
            sleeper("runtime", after=frozenset({"postgres"})),
            sleeper("backend", after=frozenset({"runtime"})),
        )
        await supervisor.start()
        await supervisor.stop_all()
        assert stage.names(UnitState.STOPPED) == ["backend", "runtime", "postgres"]

    async def test_a_service_that_ignores_the_request_is_killed_with_its_children(self, stage: Stage) -> None:
        script = "trap '' TERM; sleep 600 & echo child $!; wait; wait; sleep 600"
        stubborn = Service(
            name="backend",
            argv=("sh", "-c", script),
            environment=ENVIRONMENT,
            ready=always_ready,
            address="nowhere",
            stop_seconds=0.3,
        )
        supervisor = stage.run(stubborn)
        await supervisor.start()
        await stage_log_holds(stage, "backend", "child")
        child = psutil.Process(int((stage.folder / "logs" / "backend.log").read_text().split()[-1]))
        await supervisor.stop_all()
        assert next(event for event in stage.events if event.state == UnitState.STOPPED).detail.startswith("killed")
        _, alive = await asyncio.to_thread(psutil.wait_procs, [child], HANG_SECONDS)
        assert alive == []


class TestOrphans:
    SUPERVISOR = """
import asyncio, sys
from pathlib import Path
from stack.leftovers import ChildRegister
from stack.supervisor import Supervisor
from stack.units import Service

async def ready(): pass

async def main():
    folder = Path(sys.argv[1])
    units = [Service(name=n, argv=("sleep", "600"), environment={"PATH": "/usr/bin:/bin"}, ready=ready, address="")
             for n in ("one", "two")]
    supervisor = Supervisor(units, log_dir=folder, register=ChildRegister(folder / "children.json"), listen=lambda e: 0)
    await supervisor.start()
    print(supervisor.pid("one"), supervisor.pid("two"), flush=True)
    await asyncio.sleep(600)

asyncio.run(main())
"""

    def test_when_the_supervisor_is_killed_its_children_die(self, tmp_path: Path) -> None:
        supervisor = subprocess.Popen(
            [sys.executable, "-c", self.SUPERVISOR, str(tmp_path)], stdout=subprocess.PIPE, text=True
        )
        assert supervisor.stdout is not None
        pids = [int(pid) for pid in supervisor.stdout.readline().split()]
        processes = [psutil.Process(pid) for pid in pids]
        supervisor.kill()
        supervisor.wait()
        _, alive = psutil.wait_procs(processes, timeout=HANG_SECONDS)
        assert len(pids) == 2
        assert not alive

    def test_a_child_that_outlived_its_supervisor_is_ended_by_the_next(self, tmp_path: Path) -> None:
        child = subprocess.Popen(["sleep", "600"], start_new_session=True)
        ChildRegister(tmp_path / "children.json").add("executor", child.pid)
        assert ChildRegister(tmp_path / "children.json").end_leftovers() == ["executor"]
        assert not is_running(child.pid)

    def test_another_process_that_got_an_old_number_is_left_alone(self, tmp_path: Path) -> None:
        other = subprocess.Popen(["sleep", "600"])
        created = psutil.Process(other.pid).create_time() - 3600
        (tmp_path / "children.json").write_text(f'{{"executor": [{other.pid}, {created}]}}')
        try:
            assert ChildRegister(tmp_path / "children.json").end_leftovers() == []
            assert other.poll() is None
        finally:
            other.kill()
            other.wait()


async def stage_log_holds(stage: Stage, name: str, text: str) -> None:
    path = stage.folder / "logs" / f"{name}.log"
    async with asyncio.timeout(HANG_SECONDS):
        while text not in path.read_text():  # noqa: ASYNC110 - a file of another process has no event
            await asyncio.sleep(0.01)


def is_running(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
