"""The loader that the analyst writes into the sandbox: dirty files become typed tables, with each assumption said."""

import datetime as dt
import io
import sys
from pathlib import Path
from typing import Any

import app.agent.offline.guest as guest
import openpyxl  # type: ignore[import-untyped]
import pandas as pd
import pytest

sys.path.insert(0, str(Path(guest.__file__).parent))
# The workbook reader is the sandbox's; everything else comes from this environment.
sys.path.append(str(Path(__file__).resolve().parents[4] / ".tools/guest/data-science/lib/python3.12/site-packages"))

from loading import UnreadableFileError, load_table  # type: ignore[import-not-found]


@pytest.fixture
def load(tmp_path: Path) -> Any:
    def loader(content: bytes | str, name: str = "data.csv") -> Any:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return load_table(str(path))

    return loader


def said(table: Any, text: str) -> bool:
    return any(text in note for note in table.notes)


class TestText:
    def test_a_semicolon_file_with_decimal_commas(self, load: Any) -> None:
        table = load("Ort;Umsatz;Menge\nBerlin;1.234,50;3\nKöln;99,90;10\n")
        assert table.frame["Umsatz"].tolist() == [1234.5, 99.9]
        assert table.frame["Menge"].tolist() == [3, 10]
        assert said(table, "Decimal commas")

    def test_thousands_with_commas_stay_thousands_in_a_comma_file(self, load: Any) -> None:
        table = load('name,sold\na,"1,234"\nb,"12,345"\nc,"1,234,567"\n')
        assert table.frame["sold"].tolist() == [1234, 12345, 1234567]

    @pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "gb18030", "gbk", "big5"])
    def test_chinese_text_in_its_encodings(self, load: Any, encoding: str) -> None:
        rows = [
            ("北京", 10),
            ("上海", 20),
            ("臺灣" if encoding == "big5" else "广州", 30),
            ("成都", 5),
            ("重慶" if encoding == "big5" else "重庆", 7),
        ]
        text = ("城市,銷售額\n" if encoding == "big5" else "城市,销售额\n") + "".join(
            f"{city},{amount}\n" for city, amount in rows
        )
        if encoding == "big5":
            rows = [(city, amount) for city, amount in rows]
        table = load(text.encode(encoding))
        assert table.frame.iloc[:, 0].tolist() == [city for city, _ in rows]
        assert table.frame.iloc[:, 1].tolist() == [amount for _, amount in rows]

    def test_western_text_in_a_windows_code_page(self, load: Any) -> None:
        table = load("pays,café\nMünchen,1\nTromsø,2\nA Coruña,3\n".encode("cp1252"))
        assert table.frame.iloc[:, 0].tolist() == ["München", "Tromsø", "A Coruña"]
        assert list(table.frame.columns) == ["pays", "café"]
        assert said(table, "not UTF-8")

    def test_line_ends_of_old_computers(self, load: Any) -> None:
        assert load("a,b\r1,2\r3,4\r").frame["b"].tolist() == [2, 4]

    def test_a_title_above_the_header_is_skipped_and_said(self, load: Any) -> None:
        table = load("Quarterly figures,,\n,,\nregion,sales,cost\nN,1,2\nS,3,4\n")
        assert list(table.frame.columns) == ["region", "sales", "cost"]
        assert table.frame["sales"].sum() == 4
        assert said(table, "above the header")

    def test_a_file_without_header_gets_numbered_columns(self, load: Any) -> None:
        table = load("1,2.5\n2,3.5\n3,4.5\n")
        assert list(table.frame.columns) == ["column 1", "column 2"]
        assert len(table.frame) == 3

    def test_years_as_column_names_are_a_header(self, load: Any) -> None:
        assert list(load("country,2019,2020\nA,1,2\n").frame.columns) == ["country", "2019", "2020"]

    def test_repeated_and_blank_names_become_unique(self, load: Any) -> None:
        table = load("a,a,,a\n1,2,3,4\n")
        assert list(table.frame.columns) == ["a", "a (2)", "Unnamed: 2", "a (3)"]
        assert table.frame.iloc[0].tolist() == [1, 2, 3, 4]

    def test_rows_that_are_too_long_are_cut_and_counted(self, load: Any) -> None:
        table = load("a,b\n1,2\n3,4,5\n6,7\n")
        assert table.frame["a"].tolist() == [1, 3, 6]
        assert said(table, "1 row(s) had more fields")

    def test_an_unclosed_quotation_mark_loses_no_rows(self, load: Any) -> None:
        table = load('name,n\n"open,1\nb,2\nc,3\n')
        assert table.frame["n"].tolist() == [1, 2, 3]

    def test_one_column(self, load: Any) -> None:
        assert load("value\n1\n2\n3\n").frame["value"].sum() == 6

    def test_header_only_has_no_rows(self, load: Any) -> None:
        table = load("a,b,c\n")
        assert table.frame.shape == (0, 3)

    def test_ten_thousand_columns(self, load: Any) -> None:
        table = load(",".join(f"c{n}" for n in range(10_000)) + "\n" + ",".join("1" for _ in range(10_000)) + "\n")
        assert table.frame.shape == (1, 10_000)

    @pytest.mark.parametrize("content", [b"", b"\n\n  \n"])
    def test_an_empty_file_is_said_to_be_empty(self, load: Any, content: bytes) -> None:
        with pytest.raises(UnreadableFileError, match="empty"):
            load(content)

    def test_a_binary_file_is_no_table(self, load: Any) -> None:
        with pytest.raises(UnreadableFileError, match="binary"):
            load(bytes(range(256)) * 40)


class TestValues:
    def test_money_percent_and_accounting_negatives(self, load: Any) -> None:
        table = load('item,price,margin,change\na,"$1,200.50",12.5%,(30)\nb,$30,-3%,45\nc,$7.25,0%,-2\n')
        assert table.frame["price"].tolist() == [1200.5, 30, 7.25]
        assert table.frame["margin"].tolist() == [12.5, -3, 0]
        assert table.frame["change"].tolist() == [-30, 45, -2]
        assert table.units["price"] == "$"
        assert table.units["margin"] == "%"

    def test_codes_with_leading_zeros_stay_text(self, load: Any) -> None:
        table = load("fips,n\n01001,1\n01003,2\n")
        assert table.frame["fips"].tolist() == ["01001", "01003"]

    def test_a_few_odd_values_in_a_column_of_numbers_are_missing_and_counted(self, load: Any) -> None:
        table = load("n\n" + "\n".join(str(value) for value in range(30)) + "\nabout five\n?\n")
        assert table.frame["n"].sum() == sum(range(30))
        assert said(table, "1 value(s) of 'n'")
        assert said(table, "1 mark(s)")

    def test_mixed_columns_stay_text(self, load: Any) -> None:
        assert load("v\n1\nx\n2\ny\n").frame["v"].tolist() == ["1", "x", "2", "y"]

    def test_identifiers_and_years_are_not_measures(self, load: Any) -> None:
        table = load("customer_id,year,sales\n" + "".join(f"{100 + i},{2000 + i % 5},{i * 2}\n" for i in range(40)))
        assert table.roles == {"customer_id": "identifier", "year": "year", "sales": "measure"}


class TestDates:
    def test_days_first_when_a_value_proves_it(self, load: Any) -> None:
        table = load("date,n\n03/04/2024,1\n25/12/2024,2\n")
        assert table.frame["date"].tolist() == [pd.Timestamp(2024, 4, 3), pd.Timestamp(2024, 12, 25)]
        assert said(table, "day-first")

    def test_months_first_when_nothing_decides_and_it_is_said(self, load: Any) -> None:
        table = load("date,n\n03/04/2024,1\n05/06/2024,2\n")
        assert table.frame["date"].iloc[0] == pd.Timestamp(2024, 3, 4)
        assert said(table, "could be day-first or month-first")

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("2024-02-03", dt.datetime(2024, 2, 3)),
            ("2024-02-03T04:05:06Z", dt.datetime(2024, 2, 3, 4, 5, 6)),
            ("Feb 3, 2024", dt.datetime(2024, 2, 3)),
            ("03.02.2024", dt.datetime(2024, 2, 3)),
            ("3-Feb-24", dt.datetime(2024, 2, 3)),
            ("2024-02", dt.datetime(2024, 2, 1)),
            ("2024年2月3日", dt.datetime(2024, 2, 3)),
        ],
    )
    def test_the_usual_writings(self, load: Any, text: str, expected: dt.datetime) -> None:
        table = load(f'when,n\n"{text}",1\n"{text}",2\n')
        assert table.frame["when"].iloc[0] == pd.Timestamp(expected)
        assert table.roles["when"] == "date"

    def test_numbers_that_are_dates(self, load: Any) -> None:
        table = load("event_date,ts_time\n20240203,1277719324\n20240204,1277719325\n")
        assert table.frame["event_date"].iloc[0] == pd.Timestamp(2024, 2, 3)
        assert table.frame["ts_time"].iloc[0] == pd.Timestamp(1277719324, unit="s")


class TestOtherForms:
    def test_a_workbook_with_a_title_row_and_two_sheets(self, load: Any) -> None:
        book = openpyxl.Workbook()
        sheet = book.active
        assert sheet is not None
        sheet.title = "Sales"
        for row in (
            ["Sales of 2024", None, None],
            [None, None, None],
            ["Region", "Day", "Revenue"],
            ["N", dt.date(2024, 1, 5), 10.5],
            ["S", dt.date(2024, 1, 6), 20],
        ):
            sheet.append(row)
        book.create_sheet("Notes").append(["nothing"])
        out = io.BytesIO()
        book.save(out)
        table = load(out.getvalue(), "book.xlsx")
        assert list(table.frame.columns) == ["Region", "Day", "Revenue"]
        assert table.frame["Revenue"].sum() == 30.5
        assert table.roles["Day"] == "date"
        assert said(table, "Sheet 'Sales' was read")

    def test_a_workbook_named_csv_is_read_as_what_it_is(self, load: Any) -> None:
        out = io.BytesIO()
        pd.DataFrame({"a": [1, 2]}).to_excel(out, index=False)
        table = load(out.getvalue(), "fake.csv")
        assert table.frame["a"].tolist() == [1, 2]
        assert said(table, "in spite of its name")

    def test_a_broken_workbook_is_said_to_be_broken(self, load: Any) -> None:
        with pytest.raises(UnreadableFileError, match="workbook"):
            load(b"PK\x03\x04 this is not a workbook", "broken.xlsx")

    @pytest.mark.parametrize(
        ("content", "name"),
        [
            ('[{"a": 1, "b": {"c": "x"}}, {"a": 2, "b": {"c": "y"}}]', "t.json"),
            ('{"a": 1, "b": {"c": "x"}}\n{"a": 2, "b": {"c": "y"}}\n', "t.ndjson"),
            ('{"rows": [{"a": 1, "b": {"c": "x"}}, {"a": 2, "b": {"c": "y"}}], "total": 2}', "t.json"),
        ],
    )
    def test_json_of_three_shapes(self, load: Any, content: str, name: str) -> None:
        table = load(content, name)
        assert table.frame["a"].tolist() == [1, 2]
        assert table.frame["b.c"].tolist() == ["x", "y"]

    def test_parquet_keeps_its_types(self, load: Any) -> None:
        out = io.BytesIO()
        pd.DataFrame({"when": pd.to_datetime(["2024-01-01"], utc=True), "n": [1.5]}).to_parquet(out)
        table = load(out.getvalue(), "t.parquet")
        assert table.roles == {"when": "date", "n": "measure"}
