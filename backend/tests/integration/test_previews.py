"""Previews: a page of any table, read in the sandbox; an unreadable file is told so."""

import io

import openpyxl
import pandas as pd
from product_client import Person


def preview_of(person: Person, name: str, content: bytes, **params: object) -> dict:  # type: ignore[type-arg]
    file = person.upload(person.thread(), name, content)
    response = person.preview(file, **params)
    assert response.status_code == 200, response.text
    return dict(response.json())


class TestDelimitedText:
    def test_a_page_holds_the_cells_as_they_stand_in_the_file(self, person: Person) -> None:
        page = preview_of(person, "a.csv", b"id,amount\n007,1.50\n008,\n")
        assert page["rows"] == [["007", "1.50"], ["008", None]]
        assert [column["name"] for column in page["columns"]] == ["id", "amount"]
        assert page["total_rows"] == 2

    def test_pages_are_by_offset_and_limit(self, person: Person) -> None:
        content = "n\n" + "\n".join(str(number) for number in range(1000))
        page = preview_of(person, "n.csv", content.encode(), offset=990, limit=100)
        assert [row[0] for row in page["rows"]] == [str(number) for number in range(990, 1000)]
        assert (page["total_rows"], page["offset"]) == (1000, 990)

    def test_delimiter_and_encoding_are_found_and_said(self, person: Person) -> None:
        text = "Stadt;Umsatz\nMünchen;1.234,50\nKöln;2,00\n" * 20
        page = preview_of(person, "de.csv", text.encode("cp1252"))
        assert page["rows"][0] == ["München", "1.234,50"]
        assert any("delimiter ;" in note for note in page["notes"])
        chinese = preview_of(person, "zh.csv", ("城市,人口\n北京,2154\n上海,2424\n" * 20).encode("gb18030"))
        assert chinese["rows"][0] == ["北京", "2154"]

    def test_a_page_larger_than_a_commands_output_comes_whole(self, person: Person) -> None:
        wide = ",".join(f"column_{n}" for n in range(400)) + "\n" + (",".join(["x" * 20] * 400) + "\n") * 100
        page = preview_of(person, "wide.csv", wide.encode())
        assert len(page["columns"]) == 400
        assert len(page["rows"]) == 100


class TestOtherTables:
    def test_excel_lists_its_sheets_and_shows_the_chosen_one(self, person: Person) -> None:
        book = openpyxl.Workbook()
        book.active.title = "Empty"
        sheet = book.create_sheet("Sales")
        sheet.append(["region", "revenue"])
        sheet.append(["North", 10])
        out = io.BytesIO()
        book.save(out)
        file = person.upload(person.thread(), "book.xlsx", out.getvalue())
        page = person.preview(file).json()
        assert (page["sheets"], page["sheet"]) == (["Empty", "Sales"], "Sales")
        assert page["rows"] == [["North", 10]]

    def test_parquet_shows_types_and_the_exact_count(self, person: Person) -> None:
        out = io.BytesIO()
        pd.DataFrame({"n": range(500), "name": ["x"] * 500}).to_parquet(out)
        page = preview_of(person, "t.parquet", out.getvalue(), offset=498, limit=5)
        assert page["rows"] == [[498, "x"], [499, "x"]]
        assert page["total_rows"] == 500


class TestEverythingElse:
    def test_text_comes_with_its_language(self, person: Person) -> None:
        page = preview_of(person, "script.py", b"print('hello')\n")
        assert (page["kind"], page["text"], page["language"]) == ("text", "print('hello')\n", "python")

    def test_a_binary_named_csv_is_refused_with_the_reason(self, person: Person) -> None:
        file = person.upload(person.thread(), "photo.csv", b"\x89PNG\x00\x00\x00" * 100)
        response = person.preview(file)
        assert (response.status_code, response.json()["code"]) == (422, "preview_failed")
        assert "binary" in response.json()["detail"]

    def test_a_picture_is_not_read_as_text(self, person: Person) -> None:
        file = person.upload(person.thread(), "photo.png", b"\x89PNG", "image/png")
        assert person.preview(file).status_code == 422
