"""Who is next, and who must go away."""

import pytest
from executor.errors import BusyError
from executor.jobs.admission import Admission
from executor.jobs.turns import Turns


class TestTurns:
    def test_the_first_has_its_turn_at_once_and_the_next_after_it(self) -> None:
        turns = Turns()
        first, second = turns.join("s"), turns.join("s")
        assert (first.is_set(), second.is_set()) == (True, False)
        turns.leave("s", first)
        assert second.is_set()

    def test_one_that_leaves_the_line_lets_nobody_overtake(self) -> None:
        turns = Turns()
        first, second, third = (turns.join("s") for _ in range(3))
        turns.leave("s", second)
        assert not third.is_set()
        turns.leave("s", first)
        assert third.is_set()

    def test_sessions_do_not_wait_for_each_other(self) -> None:
        turns = Turns()
        turns.join("one")
        assert turns.join("two").is_set()


class TestAdmission:
    async def test_places_are_for_running_and_waiting(self) -> None:
        admission = Admission(max_concurrent=2, queue_size=1)
        for _ in range(3):
            admission.take_place()
        with pytest.raises(BusyError):
            admission.take_place()
        admission.give_place_back()
        admission.take_place()
