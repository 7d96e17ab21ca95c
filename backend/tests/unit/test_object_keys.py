"""Names of objects and guest files: whatever a person calls a file, the name is one harmless component."""

from uuid import UUID

import pytest
from app.storage.object_keys import MAX_NAME_BYTES, guest_name, key_name, numbered_name, upload_key
from hypothesis import example, given
from hypothesis import strategies as st

THREAD, UPLOAD = UUID(int=1), UUID(int=2)
ANY_NAME = st.text(min_size=1, max_size=400)


class TestKeyName:
    @given(ANY_NAME)
    @example("../../etc/passwd")
    @example("a\r\nb.csv")
    def test_any_name_becomes_plain_ascii_without_separators(self, name: str) -> None:
        safe = key_name(name)
        assert safe
        assert len(safe) <= 140
        assert set(safe) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")
        assert safe.strip(".") != ""

    @pytest.mark.parametrize(
        ("name", "expected"),
        [
            ("sales 2024.csv", "sales_2024.csv"),
            ("报告.csv", "file.csv"),
            ("Résumé.PDF", "Re_sume.PDF"),
            (".csv", "csv"),
        ],
    )
    def test_what_can_be_kept_is_kept(self, name: str, expected: str) -> None:
        assert key_name(name) == expected

    @given(ANY_NAME)
    def test_a_key_stays_below_its_thread(self, name: str) -> None:
        key = upload_key(THREAD, UPLOAD, name)
        assert key.startswith(f"threads/{THREAD}/uploads/{UPLOAD}/")
        assert ".." not in key.split("/")


class TestGuestName:
    @given(ANY_NAME)
    @example("x" * 300 + ".csv")
    @example("🚀" * 100 + ".png")
    def test_any_name_becomes_one_path_component_of_at_most_255_bytes(self, name: str) -> None:
        safe = guest_name(name)
        assert 0 < len(safe.encode()) <= MAX_NAME_BYTES
        assert "/" not in safe
        assert "\x00" not in safe
        assert "\n" not in safe
        assert safe not in {".", ".."}

    @pytest.mark.parametrize("name", ["报告.csv", "plan-🚀.png", "a b (1).csv", 'it\'s "quoted".csv', "naïve.tsv"])
    def test_a_harmless_name_stays_as_it_is(self, name: str) -> None:
        assert guest_name(name) == name

    def test_a_long_name_keeps_its_extension(self) -> None:
        assert guest_name("x" * 300 + ".csv").endswith("x.csv")

    @given(ANY_NAME, st.integers(2, 999))
    def test_a_numbered_name_is_another_name_that_still_fits(self, name: str, number: int) -> None:
        first = guest_name(name)
        second = numbered_name(first, number)
        assert second != first
        assert len(second.encode()) <= MAX_NAME_BYTES

    def test_the_number_goes_before_the_extension(self) -> None:
        assert numbered_name("sales.csv", 2) == "sales (2).csv"
