"""What is kept of an output that is longer than a result holds."""

from pathlib import Path

from executor.jobs.output import CommandOutput, HeadAndTail
from hypothesis import given
from hypothesis import strategies as st


class TestHeadAndTail:
    @given(st.lists(st.binary(max_size=50), max_size=40), st.integers(2, 60))
    def test_short_output_is_whole_and_long_output_has_both_its_ends(self, pieces: list[bytes], limit: int) -> None:
        kept = HeadAndTail(limit)
        for piece in pieces:
            kept.add(piece)
        whole, half = b"".join(pieces), limit // 2
        readable = whole.decode("utf-8", "replace")
        assert kept.truncated == (len(whole) > half * 2)
        if not kept.truncated:
            assert kept.text() == readable
        else:
            assert "bytes left out" in kept.text()
            assert kept.text().startswith(whole[:half].decode("utf-8", "replace"))
            assert kept.text().endswith(whole[-half:].decode("utf-8", "replace"))

    @given(st.lists(st.binary(max_size=5000), max_size=40))
    def test_it_holds_no_more_than_its_limit_and_one_piece(self, pieces: list[bytes]) -> None:
        kept = HeadAndTail(100)
        for piece in pieces:
            kept.add(piece)
            assert len(kept._head) + kept._tail_bytes <= 100 + 5000


class TestCommandOutput:
    async def test_a_follower_gets_every_event_once_and_the_end(self, tmp_path: Path) -> None:
        output = CommandOutput(limit=1000, log=tmp_path / "log")
        await output.take("stdout", b"one")
        await output.take("stderr", b"two")
        output.finish()
        events = [event async for event in output.follow(0)]
        assert [(event.id, event.stream, event.text) for event in events] == [
            (1, "stdout", "one"),
            (2, "stderr", "two"),
        ]
        assert [event.id async for event in output.follow(1)] == [2]
        assert (tmp_path / "log").read_bytes() == b"onetwo"
