"""Load any table as a typed DataFrame, and say what was assumed on the way.

    table = load_table("/uploads/sales.csv")
    table.frame     a pandas DataFrame; columns are numbers, dates or text
    table.notes     what was assumed about the file, as sentences for people
    table.roles     per column: measure, flag, year, date, clock, boolean, category, text, identifier or empty

Delimited text of any delimiter and encoding, Excel, JSON, JSON lines and Parquet.
"""

import codecs
import csv
import gzip
import io
import json
import re
import warnings
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from column_types import type_columns  # type: ignore[import-not-found]

DELIMITERS = (",", ";", "\t", "|", ":", " ")
EXCEL_ENDINGS = (".xlsx", ".xlsm", ".xls", ".xlsb", ".ods")
SNIFFED_CHARACTERS = 200_000
SNIFFED_ROWS = 200


class UnreadableFileError(ValueError):
    """The file holds no table that this loader can read; the message says why, for people."""


@dataclass
class Table:
    path: str
    frame: pd.DataFrame
    notes: list[str] = field(default_factory=list)
    roles: dict[str, str] = field(default_factory=dict)
    units: dict[str, str] = field(default_factory=dict)
    sheet: str | None = None
    sheets: list[str] = field(default_factory=list)
    form: str = ""


def load_table(path: str, sheet: str | None = None, lenient: bool = False) -> Table:
    """Read one table. `lenient` skips lines that do not fit instead of failing on them.

    Raises `UnreadableFileError` when there is no table in the file.
    """
    source = Path(path)
    if not source.is_file():
        raise UnreadableFileError(f"There is no file at {path}.")
    content = source.read_bytes()
    name = source.name.lower()
    if content[:2] == b"\x1f\x8b":
        content, name = gzip.decompress(content), name.removesuffix(".gz")
    if not content.strip():
        raise UnreadableFileError("The file is empty.")
    table = Table(path, pd.DataFrame())
    if content[:4] == b"PAR1":
        table.frame, table.form = pd.read_parquet(io.BytesIO(content)), "Parquet"
        table.frame.columns = _unique_names([str(column) for column in table.frame.columns], table.notes)
    elif content[:4] in (b"PK\x03\x04", b"\xd0\xcf\x11\xe0") or name.endswith(EXCEL_ENDINGS):
        _read_workbook(table, content, sheet, name)
    else:
        text = _decode(content, table.notes)
        if name.endswith((".json", ".ndjson", ".jsonl", ".geojson")) or _looks_like_json(text):
            _read_json(table, text)
        else:
            _read_delimited(table, text, lenient)
    table.frame = table.frame.reset_index(drop=True)
    table.frame = type_columns(table.frame, table.roles, table.units, table.notes, decimal_comma=_prefers_comma(table))
    return table


def _prefers_comma(table: Table) -> bool:
    return table.form in ("text separated by ;", "text separated by tabs")


# --- Text -------------------------------------------------------------------------------------------------------------


def _decode(content: bytes, notes: list[str]) -> str:
    for mark, encoding in ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16")):
        if content.startswith(mark):
            if encoding == "utf-16":
                notes.append("The text is encoded as UTF-16.")
            return content.decode(encoding, errors="replace")
    sample = content[:4096]
    for encoding, zeros in (("utf-16-le", sample[1::2]), ("utf-16-be", sample[0::2])):
        if len(sample) > 3 and zeros.count(0) > 0.4 * len(zeros) and sample.count(0) < 0.6 * len(sample):
            notes.append("The text is encoded as UTF-16.")
            return content.decode(encoding, errors="replace")
    controls = sum(byte < 9 or 13 < byte < 32 for byte in sample)
    if controls > max(1, 0.01 * len(sample)):
        raise UnreadableFileError("This is a binary file, not a table of text.")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        encoding = _guess_encoding(content)
        notes.append(f"The text is not UTF-8; it was read as {encoding}.")
        return content.decode(encoding, errors="replace")


def _guess_encoding(content: bytes) -> str:
    """An East Asian encoding when nearly all it decodes to is everyday text, else a Western or other code page."""
    sample = content[:SNIFFED_CHARACTERS]
    scores = {name: _common_share(sample, name) for name in ("gb18030", "big5", "shift_jis", "euc_kr")}
    best = max(scores, key=lambda name: scores[name])
    if scores[best] > 0.85:
        return best
    western = sample.decode("cp1252", errors="replace")
    # Letters of Western Europe stand inside words; a sign between two letters is another page's letter.
    strange = re.search(r"[A-Za-z][\x80-\xbf\u0152-\u2122\ufffd](?=[A-Za-z])|[\u0080-\u2122]{4,}", western)
    if strange is None:
        return "cp1252"
    from charset_normalizer import from_bytes

    match = from_bytes(
        sample, cp_isolation=["cp1250", "cp1251", "cp1252", "cp1253", "cp1254", "cp1256", "koi8_r"]
    ).best()
    return match.encoding if match else "cp1252"


def _common_share(sample: bytes, encoding: str) -> float:
    """Of the non-ASCII characters, the share that is everyday text in this encoding; 0 when it does not decode."""
    try:
        # Not final: the sample may end inside a character.
        text = codecs.getincrementaldecoder(encoding)().decode(sample)
    except UnicodeDecodeError:
        return 0.0
    foreign = [character for character in text if ord(character) > 127]
    if not foreign:
        return 0.0
    return sum(_is_common(character, encoding) for character in foreign) / len(foreign)


def _is_common(character: str, encoding: str) -> bool:
    code = ord(character)
    if 0x3000 <= code <= 0x303F or 0xFF01 <= code <= 0xFF5E:
        return True
    if encoding == "euc_kr":
        return 0xAC00 <= code <= 0xD7A3
    if encoding == "shift_jis":
        return 0x3040 <= code <= 0x30FF or (0x4E00 <= code <= 0x9FFF and character.encode("shift_jis")[0] < 0x98)
    if not 0x4E00 <= code <= 0x9FFF:
        return False
    lead = character.encode(encoding)[0]
    return 0xB0 <= lead <= 0xD7 if encoding == "gb18030" else 0xA4 <= lead <= 0xC6


def _read_delimited(table: Table, text: str, lenient: bool) -> None:
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "")
    head = text[:SNIFFED_CHARACTERS]
    if len(text) > len(head):
        head = head[: head.rfind("\n") + 1] or head
    delimiter = _sniff_delimiter(head)
    rows = _first_rows(head, delimiter)
    header, names = _find_header(rows, table.notes)
    width = max(len(names), Counter(len(row) for row in rows[header + 1 :] or rows).most_common(1)[0][0])
    names = _unique_names(names + [""] * (width - len(names)), table.notes)
    body = _after_rows(text, delimiter, header + 1)
    table.frame = _parse(body, delimiter, names, table.notes, lenient)
    table.frame = _without_blank_edges(table.frame)
    table.form = f"text separated by {'tabs' if delimiter == chr(9) else 'spaces' if delimiter == ' ' else delimiter}"
    if delimiter != ",":
        table.notes.append(f"Columns are separated by {repr(delimiter) if delimiter != chr(9) else 'tabs'}.")


def _sniff_delimiter(head: str) -> str:
    """The delimiter that cuts the most lines into the same number of fields, more than one."""
    scores: dict[str, float] = {}
    for delimiter in DELIMITERS:
        rows = [row for row in _first_rows(head, delimiter) if any(cell.strip() for cell in row)]
        if not rows:
            continue
        width, count = Counter(len(row) for row in rows).most_common(1)[0]
        if width > 1:
            # Colons and spaces also stand inside values: they must be much steadier to win.
            weight = {":": 0.3, " ": 0.3}.get(delimiter, 1.0)
            scores[delimiter] = weight * (count / len(rows)) ** 2 * (1 - 1 / width)
    return max(scores, key=lambda delimiter: scores[delimiter]) if scores else ","


def _first_rows(text: str, delimiter: str) -> list[list[str]]:
    rows: list[list[str]] = []
    try:
        for row in csv.reader(io.StringIO(text), delimiter=delimiter, skipinitialspace=True):
            if any(cell.strip() for cell in row):
                rows.append(row)
            if len(rows) >= SNIFFED_ROWS:
                break
    except csv.Error:  # a field beyond the reader's limit: what was read so far is the sample
        pass
    return rows


def _after_rows(text: str, delimiter: str, count: int) -> str:
    """The text below the first `count` rows that are not blank."""
    if count == 0:
        return text
    stream = io.StringIO(text)
    seen = 0
    for row in csv.reader(iter(stream.readline, ""), delimiter=delimiter, skipinitialspace=True):
        seen += any(cell.strip() for cell in row)
        if seen == count:
            break
    return stream.read()


def _find_header(rows: list[list[str]], notes: list[str]) -> tuple[int, list[str]]:
    """The index of the header row (-1: there is none) and the column names."""
    if not rows:
        raise UnreadableFileError("The file holds no rows.")
    width = Counter(len(row) for row in rows).most_common(1)[0][0]
    for index, row in enumerate(rows[:20]):
        filled = [cell for cell in row if cell.strip()]
        if len(filled) < max(1, 0.5 * width) or (width > 2 and len(filled) < 2):
            continue
        if not all(_is_number(cell) for cell in filled) or (_looks_like_years(filled) and index + 1 < len(rows)):
            if index:
                notes.append(
                    f"{index} line{'s' if index > 1 else ''} above the header {'were' if index > 1 else 'was'} skipped."
                )
            return index, [cell.strip() for cell in row]
        if index == 0:
            break
    notes.append("There is no header row; the columns were numbered.")
    return -1, [f"column {number}" for number in range(1, width + 1)]


def _is_number(cell: str) -> bool:
    return re.fullmatch(r"[-+]?[$€£]?\d[\d.,]*(e[-+]?\d+)?\s*%?", cell.strip(), re.IGNORECASE) is not None


def _looks_like_years(cells: list[str]) -> bool:
    return len(cells) > 1 and all(re.fullmatch(r"(18|19|20)\d\d", cell.strip()) for cell in cells)


def _unique_names(names: list[str], notes: list[str]) -> list[str]:
    copies: Counter[str] = Counter()
    used: set[str] = set()
    unique: list[str] = []
    repeated = 0
    for position, name in enumerate(names):
        name = name.strip().strip("\ufeff") or f"Unnamed: {position}"
        candidate = name
        while candidate in used:
            copies[name] += 1
            candidate = f"{name} ({copies[name] + 1})"
        used.add(candidate)
        repeated += candidate != name
        unique.append(candidate)
    if repeated:
        notes.append(f"{repeated} repeated column name{'s' if repeated > 1 else ''} got a number.")
    return unique


def _parse(body: str, delimiter: str, names: list[str], notes: list[str], lenient: bool) -> pd.DataFrame:
    options: dict[str, Any] = {
        "sep": delimiter, "header": None, "index_col": False, "dtype": str, "keep_default_na": False,
        "na_values": [], "skipinitialspace": True, "skip_blank_lines": True,
    }  # fmt: skip
    if not body.strip():
        return pd.DataFrame({name: pd.Series(dtype=str) for name in names})
    surplus = "\0surplus"
    if not lenient:
        try:
            with warnings.catch_warnings():
                # Rows that are longer than the header are counted below.
                warnings.simplefilter("ignore", pd.errors.ParserWarning)
                frame = pd.read_csv(io.StringIO(body), names=[*names, surplus], **options)
            cut = int((frame.pop(surplus).fillna("").str.strip() != "").sum())
            if cut:
                notes.append(f"{cut:,} row(s) had more fields than the header; the extra fields were left out.")
            return frame
        except pd.errors.ParserError:
            pass
    notes.append("Quotation marks in the file do not match up; they were read as ordinary characters.")
    return pd.read_csv(
        io.StringIO(body), engine="python", names=names, quoting=csv.QUOTE_NONE,
        on_bad_lines=lambda fields: fields[: len(names)], **options,
    )  # fmt: skip


def _without_blank_edges(frame: pd.DataFrame) -> pd.DataFrame:
    """Without rows of nothing at all, and without nameless columns that hold nothing."""
    if frame.empty:
        return frame.fillna("")
    cells = frame.fillna("").to_numpy(dtype=object)
    filled = np.array([[bool(cell.strip()) for cell in row] for row in cells])
    kept = [
        place for place, name in enumerate(frame.columns) if filled[:, place].any() or not name.startswith("Unnamed: ")
    ]
    return pd.DataFrame(cells[filled.any(axis=1)][:, kept], columns=frame.columns[kept])


# --- Workbooks, JSON --------------------------------------------------------------------------------------------------


def _read_workbook(table: Table, content: bytes, sheet: str | None, name: str) -> None:
    from python_calamine import CalamineError, CalamineWorkbook

    try:
        workbook = CalamineWorkbook.from_filelike(io.BytesIO(content))
    except (CalamineError, OSError) as error:
        raise UnreadableFileError("This is not a workbook that can be opened, nor a table of text.") from error
    if not name.endswith(EXCEL_ENDINGS):
        table.notes.append("The file is an Excel workbook in spite of its name.")
    table.sheets = list(workbook.sheet_names)
    grids = {each: workbook.get_sheet_by_name(each).to_python(skip_empty_area=True) for each in table.sheets}
    filled = {each: sum(cell not in ("", None) for row in grid for cell in row) for each, grid in grids.items()}
    table.sheet = sheet if sheet in grids else max(filled, key=lambda each: filled[each])
    table.form = "Excel workbook"
    if len(table.sheets) > 1:
        others = ", ".join(repr(each) for each in table.sheets if each != table.sheet)
        table.notes.append(f"Sheet {table.sheet!r} was read (others: {others}).")
    rows = [row for row in grids[table.sheet] if any(cell not in ("", None) for cell in row)]
    if not rows:
        raise UnreadableFileError("The workbook holds no cells.")
    header, names = _find_header([[_cell_text(cell) for cell in row] for row in rows[:SNIFFED_ROWS]], table.notes)
    names = _unique_names(names + [""] * (max(map(len, rows)) - len(names)), table.notes)
    body = [list(row) + [""] * (len(names) - len(row)) for row in rows[header + 1 :]]
    columns = {name: [row[index] for row in body] for index, name in enumerate(names)}
    table.frame = pd.DataFrame({name: _sheet_column(cells) for name, cells in columns.items()}, columns=names)
    blank = [
        column for column in names if column.startswith("Unnamed: ") and table.frame[column].isin(["", None]).all()
    ]
    table.frame = table.frame.drop(columns=blank)


def _cell_text(cell: Any) -> str:
    if cell is None:
        return ""
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)


def _sheet_column(cells: list[Any]) -> "pd.Series[Any]":
    """Numbers and dates keep their type when the whole column has it; mixed columns become text."""
    kinds = {type(cell) for cell in cells if cell not in ("", None)}
    present = [None if cell in ("", None) else cell for cell in cells]
    if kinds and kinds <= {int, float}:
        return pd.Series(present, dtype=float)
    if kinds and {kind.__name__ for kind in kinds} <= {"date", "datetime"}:
        return pd.to_datetime(pd.Series(present))
    return pd.Series([_cell_text(cell) for cell in cells], dtype=str)


def _looks_like_json(text: str) -> bool:
    start = text.lstrip()[:200]
    return bool(re.match(r"\{\s*\"|\[\s*[\{\[]", start))


def _read_json(table: Table, text: str) -> None:
    table.form = "JSON"
    try:
        records = json.loads(text)
    except json.JSONDecodeError:
        try:
            records = [json.loads(line) for line in text.splitlines() if line.strip()]
        except json.JSONDecodeError as error:
            raise UnreadableFileError(f"The JSON is broken: {error}.") from error
        table.form = "JSON lines"
    if isinstance(records, dict):
        lists = {key: value for key, value in records.items() if isinstance(value, list)}
        if (
            lists
            and len({len(value) for value in lists.values()}) == 1
            and not isinstance(next(iter(lists.values()))[:1], dict)
        ):
            first = next(iter(lists.values()))
            if not first or not isinstance(first[0], dict):
                table.frame = pd.DataFrame(lists)
                return
        if lists:
            key = max(lists, key=lambda name: len(lists[name]))
            table.notes.append(f"The rows are the list under {key!r}.")
            records = lists[key]
        else:
            records = [records]
    if not records:
        raise UnreadableFileError("The JSON holds no rows.")
    if all(isinstance(record, list) for record in records):
        header, names = _find_header([[_cell_text(cell) for cell in record] for record in records[:20]], table.notes)
        frame = pd.DataFrame(records[header + 1 :])
        frame.columns = names[: frame.shape[1]]
    else:
        frame = pd.json_normalize([record if isinstance(record, dict) else {"value": record} for record in records])
    frame.columns = _unique_names([str(column) for column in frame.columns], table.notes)
    for column in frame.columns:
        nested = frame[column].map(lambda value: isinstance(value, (list, dict)))
        if nested.any():
            frame[column] = frame[column].map(
                lambda value: json.dumps(value, ensure_ascii=False) if isinstance(value, (list, dict)) else value
            )
    table.frame = frame
