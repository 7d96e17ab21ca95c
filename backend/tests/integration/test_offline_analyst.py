"""The main job with the default model: upload, ask, get the right numbers, a chart and a table."""

import csv
import io
import json
from collections import defaultdict

import pytest
from product_client import Person

MONTHS = [f"2024-{month:02d}" for month in range(1, 13)]
REGIONS = ["North", "South", "East"]


def sales() -> tuple[bytes, list[dict[str, str]]]:
    """A year of orders with amounts that follow a rule, so that every total can be computed beside the product."""
    rows = [
        {
            "order date": f"{month}-{day:02d}",
            "region": REGIONS[(index + day) % 3],
            "revenue": f"{(index + 1) * 10 + day / 4:.2f}",
        }
        for index, month in enumerate(MONTHS)
        for day in (3, 11, 19, 27)
    ]
    out = io.StringIO()
    writer = csv.DictWriter(out, fieldnames=list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().encode(), rows


def totals(rows: list[dict[str, str]], key: str, cut: int = 100) -> dict[str, float]:
    summed: dict[str, float] = defaultdict(float)
    for row in rows:
        summed[row[key][:cut]] += float(row["revenue"])
    return dict(summed)


def shown(number: float, text: str) -> bool:
    """Whether the text holds the number in one of the ways that people write it."""
    plain = text.replace(",", "").replace("\u202f", "")
    return any(form in plain for form in (f"{number:.2f}", f"{number:g}", f"{number:.1f}"))


class TestChartRevenueByMonth:
    def test_the_chart_its_specification_and_the_table_hold_the_right_totals(self, person: Person) -> None:
        content, rows = sales()
        thread = person.thread()
        uploaded = person.upload(thread, "sales.csv", content)
        turn = person.ask(thread, "chart revenue by month", [uploaded["id"]])
        assert turn.run["status"] == "succeeded", turn.run
        kinds = {artifact["preview"]: artifact for artifact in turn.artifacts}
        assert {"image", "vega-lite", "table"} <= set(kinds), [item["filename"] for item in turn.artifacts]
        assert person.content(kinds["image"]).startswith(b"\x89PNG")
        spec = json.loads(person.content(kinds["vega-lite"]))
        assert "vega-lite" in spec["$schema"]
        expected = totals(rows, "order date", 7)
        table = list(csv.reader(io.StringIO(person.content(kinds["table"]).decode("utf-8-sig"))))
        found = sorted(float(row[-1]) for row in table[1:])
        assert found == pytest.approx(sorted(expected.values()))

    def test_the_answer_says_only_numbers_that_are_so_and_that_it_is_no_language_model(self, person: Person) -> None:
        content, rows = sales()
        thread = person.thread()
        person.upload(thread, "sales.csv", content)
        person.ask(thread, "total revenue by region")
        answer = person.answer(thread)
        for region, total in totals(rows, "region").items():
            assert region in answer
            assert shown(total, answer), f"{total} for {region} is not in: {answer}"
        assert "not a language model" in answer.lower()
        assert "AGENT_MODEL" in answer

    def test_a_follow_up_uses_the_earlier_file(self, person: Person) -> None:
        content, rows = sales()
        thread = person.thread()
        person.upload(thread, "sales.csv", content)
        person.ask(thread, "total revenue by region")
        person.ask(thread, "and by month?")
        best_month, best = max(totals(rows, "order date", 7).items(), key=lambda item: item[1])
        answer = person.answer(thread)
        assert shown(best, answer), f"{best} of {best_month} is not in: {answer}"


class TestHonesty:
    def test_a_question_without_a_file_asks_for_one(self, person: Person) -> None:
        thread = person.thread()
        turn = person.ask(thread, "what is the average revenue?")
        assert turn.run["status"] == "succeeded"
        assert "file" in person.answer(thread).lower()
        assert turn.artifacts == []

    def test_a_question_it_cannot_read_gets_what_it_can_do(self, person: Person) -> None:
        thread = person.thread()
        content, _ = sales()
        person.upload(thread, "sales.csv", content)
        person.ask(thread, "write me a poem about the sea")
        answer = person.answer(thread).lower()
        assert "revenue" in answer  # questions that fit this file
        assert "not a language model" in answer


class TestBadInput:
    @pytest.mark.parametrize(
        ("name", "content"),
        [
            ("header_only.csv", b"a,b,c\n"),
            ("binary.csv", bytes(range(256)) * 40),
            ("blank.csv", b"\n\n  \n"),
            ("broken.xlsx", b"PK\x03\x04 this is not a workbook"),
            ("wide.csv", (",".join(f"c{n}" for n in range(10_000)) + "\n" + ",".join(["1"] * 10_000) + "\n").encode()),
            ("🚀" * 60 + ".csv", b"a,b\n1,2\n"),
            ("x" * 251 + ".csv", b"a,b\n1,2\n"),
        ],
        ids=["header only", "binary", "blank", "broken workbook", "10,000 columns", "emoji name", "255-byte name"],
    )
    def test_it_is_told_what_is_wrong_and_the_thread_goes_on(self, person: Person, name: str, content: bytes) -> None:
        thread = person.thread()
        bad = person.upload(thread, name, content)
        turn = person.ask(thread, "what is in this file?", [bad["id"]])
        assert turn.run["status"] == "succeeded", turn.run
        assert len(person.answer(thread)) > 20
        good = person.upload(thread, "good.csv", b"city,people\nA,1\nB,2\n")
        person.ask(thread, "total people by city", [good["id"]])
        assert "2" in person.answer(thread)
        assert {file["filename"] for file in person.files(thread)} >= {name, "good.csv"}
