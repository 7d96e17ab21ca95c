"""Runs inside the sandbox, never in the API: reads one page of a table and prints it as a line of JSON.

`REQUEST` ({path, sheet, offset, limit, answer_path}) is put before this text. Cells of text files stay as they are.
"""

# ruff: noqa: ANN001, ANN201
import csv
import json
import math
import os
import sys

REQUEST = globals().get("REQUEST")
MAX_COLUMNS = 500
MAX_CELL_CHARS = 500
SNIFF_BYTES = 256 * 1024
LONGEST_PRINTED_ANSWER = 100_000
LEGACY_ENCODINGS = [
    "gb18030",
    "big5",
    "shift_jis",
    "euc_jp",
    "euc_kr",
    "cp1250",
    "cp1251",
    "cp1252",
    "cp1253",
    "cp1254",
]


class Refused(Exception):
    """The file cannot be shown; the message is for people."""


def plain(value):
    if value is None:
        return None
    if isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    text = str(value)
    return text if len(text) <= MAX_CELL_CHARS else text[:MAX_CELL_CHARS] + "…"


def decode_start(path):
    with open(path, "rb") as source:
        start = source.read(SNIFF_BYTES)
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        return start.decode("utf-16", errors="ignore"), "utf-16"
    if b"\x00" in start:
        raise Refused("this is not a text file: it holds binary data")
    try:
        # A character may be cut in two by the end of the sample.
        return start[:-4].decode("utf-8-sig") + start[-4:].decode("utf-8", errors="ignore"), "utf-8-sig"
    except UnicodeDecodeError:
        import charset_normalizer

        guess = charset_normalizer.from_bytes(start, cp_isolation=LEGACY_ENCODINGS).best()
        encoding = guess.encoding if guess else "cp1252"
        return start.decode(encoding, errors="replace"), encoding


def sniff_delimiter(text, path):
    lines = [line for line in text.splitlines()[:50] if line.strip()]
    if path.lower().endswith(".tsv"):
        return "\t"
    best, best_score = ",", 0.0
    for delimiter in (",", ";", "\t", "|"):
        widths = [len(row) for row in csv.reader(lines, delimiter=delimiter)]
        if not widths:
            continue
        usual = max(set(widths), key=widths.count)
        score = (usual - 1) * widths.count(usual) / len(widths)
        if score > best_score:
            best, best_score = delimiter, score
    return best


def read_delimited(path, offset, limit):
    csv.field_size_limit(sys.maxsize)
    text, encoding = decode_start(path)
    if not text.strip():
        raise Refused("this file holds no data")
    delimiter = sniff_delimiter(text, path)
    notes = [f"encoding {encoding.removesuffix('-sig')}", "delimiter " + {"\t": "tab"}.get(delimiter, delimiter)]
    rows, total = [], 0
    with open(path, encoding=encoding, errors="replace", newline="") as source:
        reader = csv.reader((line.replace("\x00", "") for line in source), delimiter=delimiter)
        header = next((row for row in reader if any(cell.strip() for cell in row)), [])
        for row in reader:
            if not any(cell.strip() for cell in row):
                continue
            if offset <= total < offset + limit:
                rows.append(row)
            total += 1
    width = max([len(header), *(len(row) for row in rows)], default=0)
    names = [name.strip() or f"column {index + 1}" for index, name in enumerate(header)]
    names += [f"column {index + 1}" for index in range(len(names), width)]
    page = [[cell if cell != "" else None for cell in row] + [None] * (width - len(row)) for row in rows]
    return names, [text_type([row[index] for row in page]) for index in range(width)], page, total, notes


def text_type(cells):
    seen = [cell.strip() for cell in cells if cell and cell.strip()]
    if not seen:
        return "empty"
    try:
        for cell in seen:
            float(cell.replace(",", "").replace("%", "").lstrip("$€£¥"))
    except ValueError:
        return "text"
    return "number"


def frame_page(frame, offset, limit):
    page = frame.iloc[offset : offset + limit].astype(object)
    page = page.where(page.notna(), None)
    return (
        [str(name) for name in frame.columns],
        [str(kind) for kind in frame.dtypes],
        [list(row) for row in page.itertuples(index=False, name=None)],
        len(frame),
        [],
    )


def read_excel(path, sheet, offset, limit):
    import python_calamine

    book = python_calamine.load_workbook(path)
    sheets = list(book.sheet_names)
    cells = {
        name: book.get_sheet_by_name(name).to_python(skip_empty_area=True)
        for name in ([sheet] if sheet in sheets else sheets)
    }
    chosen = sheet if sheet in sheets else next((name for name in sheets if cells[name]), sheets[0])
    rows = [row for row in cells[chosen] if any(cell != "" for cell in row)]
    if not rows:
        return [], [], [], 0, [f"sheet {chosen} is empty"], sheets, chosen
    header, body = rows[0], rows[1:]
    names = [str(cell).strip() or f"column {index + 1}" for index, cell in enumerate(header)]
    page = [[None if cell == "" else cell for cell in row] for row in body[offset : offset + limit]]
    kinds = []
    for index in range(len(names)):
        seen = {type(row[index]).__name__ for row in page if row[index] is not None}
        kinds.append("number" if seen and seen <= {"int", "float"} else "text" if seen else "empty")
    return names, kinds, page, len(body), [], sheets, chosen


def read(path, sheet, offset, limit):
    if not os.path.exists(path):
        raise Refused("this file is not in the workspace any more")
    if os.path.getsize(path) == 0:
        raise Refused("this file is empty")
    lower = path.lower()
    sheets = chosen = None
    if lower.endswith((".xlsx", ".xlsm", ".xls", ".xlsb", ".ods")):
        names, kinds, rows, total, notes, sheets, chosen = read_excel(path, sheet, offset, limit)
    elif lower.endswith(".parquet"):
        import pyarrow.parquet as parquet

        source = parquet.ParquetFile(path)
        table = source.read(columns=source.schema_arrow.names[:MAX_COLUMNS]).slice(offset, limit)
        names, kinds = table.column_names, [str(kind) for kind in table.schema.types]
        columns = [column.to_pylist() for column in table.columns]
        rows, total, notes = [list(row) for row in zip(*columns, strict=True)], source.metadata.num_rows, []
    elif lower.endswith((".ndjson", ".jsonl")):
        import pandas

        names, kinds, rows, total, notes = frame_page(pandas.read_json(path, lines=True), offset, limit)
    else:
        names, kinds, rows, total, notes = read_delimited(path, offset, limit)
    if len(names) > MAX_COLUMNS:
        notes = [*notes, f"the first {MAX_COLUMNS:,} of {len(names):,} columns"]
        names, kinds, rows = names[:MAX_COLUMNS], kinds[:MAX_COLUMNS], [row[:MAX_COLUMNS] for row in rows]
    return {
        "kind": "table",
        "columns": [{"name": name[:MAX_CELL_CHARS], "type": kind} for name, kind in zip(names, kinds, strict=True)],
        "rows": [[plain(cell) for cell in row] for row in rows],
        "total_rows": total,
        "offset": offset,
        "sheets": sheets,
        "sheet": chosen,
        "notes": notes,
    }


if REQUEST is not None:
    try:
        answer = read(REQUEST["path"], REQUEST["sheet"], REQUEST["offset"], REQUEST["limit"])
    except Refused as refusal:
        answer = {"error": str(refusal)}
    document = json.dumps(answer, ensure_ascii=True, default=str)
    if len(document) <= LONGEST_PRINTED_ANSWER:
        print("PREVIEW_JSON " + document)
    else:  # longer than a command's output may be: leave it as a file
        with open(REQUEST["answer_path"], "w") as target:
            target.write(document)
        print("PREVIEW_FILE")
