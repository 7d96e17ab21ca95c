"""Whole turns through the real Deep Agents loop in a real sandbox: every number is checked against pandas beside it."""

import io
import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy_free_statistics import pearson


def sales(rows: int = 240) -> pd.DataFrame:
    """Orders with a rule in them, some gaps, and awkward column names."""
    random = np.random.default_rng(7)
    return pd.DataFrame(
        {
            "order date": pd.date_range("2023-01-01", periods=rows, freq="3D").strftime("%Y-%m-%d"),
            "Region": random.choice(["North", "South", "East"], rows),
            "Sales Channel": random.choice(["web", "shop"], rows),
            "Revenue ($)": np.where(random.random(rows) < 0.05, np.nan, random.uniform(10, 500, rows).round(2)),
            "unitsSold": random.integers(1, 20, rows),
            "returned": random.choice(["yes", "no"], rows, p=[0.2, 0.8]),
            'odd "name" {x}': random.normal(0, 1, rows).round(4),
        }
    )


def csv(frame: pd.DataFrame) -> str:
    return str(frame.to_csv(index=False))


def table(results: dict[str, Any]) -> pd.DataFrame:
    return pd.DataFrame(results["result"]["rows"], columns=results["result"]["columns"])


def shown(value: float, text: str) -> bool:
    return any(
        form in text.replace(",", "") for form in (f"{value:.2f}", f"{value:.4f}".rstrip("0").rstrip("."), f"{value:g}")
    )


class TestAggregates:
    def test_a_total_by_group_gives_pandas_totals_a_chart_and_a_table(self, chat: Any) -> None:
        frame = sales()
        chat.add("sales.csv", csv(frame))
        reply = chat.ask("total revenue by region")
        expected = frame.groupby("Region")["Revenue ($)"].sum()
        got = table(reply.results).set_index("Region")["total Revenue ($)"]
        pd.testing.assert_series_equal(got.sort_index(), expected, check_names=False)
        assert shown(expected.max(), reply.text)
        assert {"revenue_by_region.png", "revenue_by_region.vl.json", "revenue_by_region.csv"} <= reply.artifacts
        spec = json.loads(reply.sandbox.path("/artifacts/revenue_by_region.vl.json").read_text())
        assert "vega-lite" in spec["$schema"]
        assert reply.sandbox.path("/artifacts/revenue_by_region.png").read_bytes().startswith(b"\x89PNG")
        assert f"{int(frame['Revenue ($)'].isna().sum())} rows without a value" in reply.text
        assert "not a language model" in reply.text

    def test_follow_ups_change_one_part_of_the_question(self, chat: Any) -> None:
        frame = sales()
        chat.add("sales.csv", csv(frame))
        chat.ask("total revenue by region")
        monthly = chat.ask("and by month?").results
        month = pd.to_datetime(frame["order date"]).dt.strftime("%Y-%m")
        expected = frame.groupby(month)["Revenue ($)"].sum()
        got = pd.read_csv(chat.sandbox.path("/artifacts/revenue_by_month.csv"))
        assert got["total Revenue ($)"].tolist() == pytest.approx(expected.tolist())
        assert monthly["result"]["total"] == len(expected)
        north = chat.ask("now only for North").results
        assert north["all_values"]["total"] == pytest.approx(frame[frame["Region"] == "North"]["Revenue ($)"].sum())
        units = chat.ask("same for unitsSold").results
        assert units["all_values"]["total"] == frame[frame["Region"] == "North"]["unitsSold"].sum()
        assert not any("inspection.py" in command for command in chat.ask("average unitsSold").commands)

    @pytest.mark.parametrize(
        ("question", "expected"),
        [
            ("what is the median revenue?", lambda f: f["Revenue ($)"].median()),
            ("average revenue where region is North", lambda f: f[f["Region"] == "North"]["Revenue ($)"].mean()),
            ("how many rows have unitsSold above 10?", lambda f: (f["unitsSold"] > 10).sum()),
            ("total units sold in 2024", lambda f: f[f["order date"].str.startswith("2024")]["unitsSold"].sum()),
            ("what percentage of orders were returned?", lambda f: (f["returned"] == "yes").mean() * 100),
            ("how many different regions are there?", lambda f: f["Region"].nunique()),
            ("highest unitsSold", lambda f: f["unitsSold"].max()),
        ],
    )
    def test_a_plain_number_is_the_one_that_pandas_gives(self, chat: Any, question: str, expected: Any) -> None:
        frame = sales()
        chat.add("sales.csv", csv(frame))
        assert chat.ask(question).results["answer"] == pytest.approx(float(expected(frame)))

    def test_revenue_is_price_times_quantity_when_there_is_no_such_column(self, chat: Any) -> None:
        chat.add("orders.csv", "product,price,quantity\na,2.5,4\nb,10,1\na,2,3\n")
        reply = chat.ask("revenue by product")
        assert table(reply.results).set_index("product")["total revenue"].to_dict() == {"a": 16.0, "b": 10.0}
        assert "price × quantity" in reply.text

    def test_names_in_another_script_and_with_accents(self, chat: Any) -> None:
        chat.add("销售.csv", "城市,销售额,Área\n北京,10,x\n上海,20,y\n北京,5,x\n".encode("gb18030"))
        reply = chat.ask("按城市统计销售额总和")
        assert table(reply.results).set_index("城市")["total 销售额"].to_dict() == {"上海": 20, "北京": 15}
        again = chat.ask("average 销售额 by area")
        assert table(again.results).set_index("Área")["average 销售额"].to_dict() == {"x": 7.5, "y": 20.0}


class TestOtherIntents:
    def test_the_overview_counts_rows_gaps_and_duplicates(self, chat: Any) -> None:
        frame = pd.concat([sales(50), sales(50).head(3)])
        chat.add("sales.csv", csv(frame))
        results = chat.ask("what is in this file?").results
        assert (results["rows_read"], results["columns"], results["duplicates"]) == (53, 7, 3)
        assert results["missing"] == int(frame.isna().sum().sum())

    def test_correlation_distribution_and_comparison(self, chat: Any) -> None:
        frame = sales()
        chat.add("sales.csv", csv(frame))
        pair = chat.ask("correlation between revenue and unitsSold").results["pair"]
        both = frame[["Revenue ($)", "unitsSold"]].dropna()
        assert pair["n"] == len(both)
        assert pair["r"] == pytest.approx(pearson(both["Revenue ($)"].tolist(), both["unitsSold"].tolist()))
        summary = chat.ask("distribution of revenue").results["summary"]
        assert summary["75 %"] == pytest.approx(frame["Revenue ($)"].quantile(0.75))
        assert summary["skewness"] == pytest.approx(frame["Revenue ($)"].skew())
        gap = chat.ask("compare revenue of web and shop").results["difference"]
        means = frame.groupby("Sales Channel")["Revenue ($)"].mean()
        assert gap["absolute"] == pytest.approx(means.max() - means.min())

    def test_rows_are_kept_sorted_and_converted(self, chat: Any) -> None:
        frame = sales()
        chat.add("sales.csv", csv(frame))
        kept = chat.ask("filter rows where region is East and unitsSold above 15")
        saved = pd.read_csv(chat.sandbox.path(f"/artifacts/{kept.results['files'][0]}"))
        assert len(saved) == ((frame["Region"] == "East") & (frame["unitsSold"] > 15)).sum()
        book = chat.ask("convert to excel").results["files"][0]
        again = pd.read_excel(chat.sandbox.path(f"/artifacts/{book}"), engine="openpyxl")
        assert again.shape == frame.shape

    def test_cleaning_reports_each_change(self, chat: Any) -> None:
        chat.add("dirty.csv", "a,b,c\n x ,1,\n x ,1,\ny  z,2,\n")
        results = chat.ask("clean this file").results
        cleaned = pd.read_csv(chat.sandbox.path(f"/artifacts/{results['files'][0]}"))
        assert cleaned.to_dict("list") == {"a": ["x", "y z"], "b": [1, 2]}
        assert ["duplicate rows removed", "", 1] in results["result"]["rows"]

    def test_a_join_counts_what_met_and_warns_of_many_to_many(self, chat: Any) -> None:
        chat.add("orders.csv", "order_id,customer_id,amount\n1,C1,10\n2,C2,20\n3,C2,5\n4,C9,7\n")
        chat.add("customers.csv", "customer_id,city\nC1,Berlin\nC2,Paris\nC2,Lyon\nC3,Rome\n")
        reply = chat.ask("join the two files")
        results = reply.results
        assert results["key"] == ["customer_id", "customer_id"]
        assert {results["unmatched_left"], results["unmatched_right"]} == {1}
        assert "Many-to-many" in reply.text

    def test_a_report_holds_its_pictures_and_loads_nothing(self, chat: Any) -> None:
        chat.add("sales.csv", csv(sales(60)))
        name = chat.ask("make an html report").results["files"][0]
        page = chat.sandbox.path(f"/artifacts/{name}").read_text()
        assert "data:image/png;base64," in page
        assert "http" not in page


class TestHonesty:
    def test_without_a_file_it_asks_for_one_and_runs_nothing(self, chat: Any) -> None:
        reply = chat.ask("what is the average revenue?")
        assert "no file" in reply.text
        assert reply.commands == []

    def test_a_question_that_it_cannot_read_gets_three_that_fit(self, chat: Any) -> None:
        chat.add("sales.csv", csv(sales(30)))
        reply = chat.ask("write me a poem about the sea")
        assert reply.scripts == []
        assert "AGENT_MODEL=openai:NAME" in reply.text
        assert sum("Revenue" in line for line in reply.text.splitlines() if line.startswith("- ")) >= 2

    def test_a_grouping_that_is_no_column_is_not_guessed(self, chat: Any) -> None:
        chat.add("sales.csv", csv(sales(30)))
        assert "No column of sales.csv reads like “planet”" in chat.ask("average revenue by planet").text

    @pytest.mark.parametrize(
        ("name", "content", "said"),
        [
            ("empty.csv", b"\n \n", "empty"),
            ("binary.csv", bytes(range(256)) * 40, "binary"),
            ("header.csv", b"a,b,c\n", "0 rows"),
            ("broken.xlsx", b"PK\x03\x04 no workbook", "workbook"),
        ],
    )
    def test_bad_files_are_named_for_what_they_are(self, chat: Any, name: str, content: bytes, said: str) -> None:
        chat.add(name, content)
        assert said in chat.ask("what is in this file?").text

    def test_a_failing_program_is_written_anew_once_and_the_answer_says_so(self, chat: Any) -> None:
        frame = sales(60)
        chat.add("sales.csv", csv(frame))
        broken = "raise RuntimeError('this chart cannot be drawn')\n"
        style = chat.sandbox.path("/workspace/analysis/analyst_charts.py")
        style.parent.mkdir(parents=True)
        style.write_text(broken)  # found before the guest's own module
        reply = chat.ask("total revenue by region")
        assert len(reply.scripts) == 2
        assert "charts." not in reply.scripts[1]
        expected = frame.groupby("Region")["Revenue ($)"].sum().max()
        assert shown(expected, reply.text)
        assert "first attempt failed" in reply.text

    def test_when_both_programs_fail_no_number_is_given(self, chat: Any) -> None:
        chat.add("sales.csv", csv(sales(60)))
        chat.ask("what is in this file?")
        chat.sandbox.path("/uploads/sales.csv").write_bytes(
            csv(sales(60)).replace("Revenue ($)", "Renamed ($)").encode()
        )
        reply = chat.ask("average revenue by region", attach=False)
        assert len(reply.scripts) == 2
        assert "could not compute" in reply.text


def test_the_same_excel_file_with_a_title_row_answers_like_the_csv(chat: Any) -> None:
    frame = sales(40)
    out = io.BytesIO()
    frame.to_excel(out, index=False, startrow=2)
    chat.add("sales.xlsx", out.getvalue())
    results = chat.ask("average unitsSold by region").results
    expected = frame.groupby("Region")["unitsSold"].mean()
    assert table(results).set_index("Region")["average unitsSold"].sort_index().tolist() == pytest.approx(
        expected.tolist()
    )
