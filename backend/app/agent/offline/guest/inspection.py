"""Say what is in some files: one compact JSON profile, and a line a file for people.

python inspection.py /uploads/a.csv /uploads/b.xlsx
"""

import json
import sys
from typing import Any

import pandas as pd
from loading import Table, UnreadableFileError, load_table  # type: ignore[import-not-found]

# The profile must fit a tool's result whole: columns beyond the first are named only, and values are cut.
PROFILED_COLUMNS = 150
NAMED_CHARACTERS = 16_000
VALUE_CHARACTERS = 20_000
VALUES_OF_A_COLUMN = 250
NOTES = 12


def main(paths: list[str]) -> None:
    profiles = []
    for path in paths:
        try:
            table = load_table(path)
        except UnreadableFileError as error:
            profile: dict[str, Any] = {"path": path, "error": str(error)}
        except (ValueError, OSError, MemoryError) as error:
            profile = {"path": path, "error": f"{type(error).__name__}: {error}"[:300]}
        else:
            profile = profile_of(table, VALUE_CHARACTERS // len(paths), NAMED_CHARACTERS // len(paths))
        profiles.append(profile)
        print(summary_of(profile))
    print("\n[profile]\n" + json.dumps(profiles, ensure_ascii=False, separators=(",", ":")) + "\n[/profile]")


def summary_of(profile: dict[str, Any]) -> str:
    if "error" in profile:
        return f"{profile['path']}: {profile['error']}"
    notes = "".join(f"\n  - {note}" for note in profile["notes"])
    return f"{profile['path']}: {profile['rows']:,} rows x {profile['width']:,} columns, {profile['form']}{notes}"


def profile_of(table: Table, value_characters: int, named_characters: int) -> dict[str, Any]:
    frame = table.frame
    profiled = list(frame.columns)[:PROFILED_COLUMNS]
    found = {}
    # Categories first: their values are what questions name, and the room for values is limited.
    for name in sorted(profiled, key=lambda each: table.roles[each] in ("text", "identifier")):
        found[name] = column_of(table, name, value_characters)
        value_characters -= len(json.dumps(found[name].get("values", []), ensure_ascii=False))
    columns = [found[name] for name in profiled]
    others = []
    for name in list(frame.columns)[PROFILED_COLUMNS:]:
        named_characters -= len(name) + 12
        if named_characters < 0:
            break
        others.append([name, table.roles[name]])
    notes = (
        table.notes
        if len(table.notes) <= NOTES
        else [*table.notes[:NOTES], f"... and {len(table.notes) - NOTES} more notes."]
    )
    return {
        "path": table.path, "form": table.form, "sheet": table.sheet, "sheets": table.sheets, "rows": len(frame),
        "width": frame.shape[1], "duplicates": int(frame.duplicated().sum()) if frame.shape[1] <= 500 else None,
        "notes": notes, "columns": columns, "others": others,
    }  # fmt: skip


def column_of(table: Table, name: str, value_characters: int) -> dict[str, Any]:
    values, role = table.frame[name], table.roles[name]
    column: dict[str, Any] = {
        "name": name,
        "role": role,
        "missing": int(values.isna().sum()),
        "distinct": int(values.nunique()),
    }
    if name in table.units:
        column["unit"] = table.units[name]
    present = values.dropna()
    if present.empty:
        return column
    if role in ("date", "clock"):
        column["low"], column["high"] = str(present.min()), str(present.max())
        column["step"] = step_of(present)
    elif pd.api.types.is_numeric_dtype(values):
        column["low"], column["high"], column["mean"] = (
            float(f"{x:.6g}") for x in (present.min(), present.max(), present.mean())
        )
        if column["distinct"] <= 12:
            column["values"] = [f"{value:g}" for value in sorted(present.unique())]
    else:
        short = role == "text" and column["distinct"] <= 4 * VALUES_OF_A_COLUMN and present.str.len().mean() <= 25
        limit = VALUES_OF_A_COLUMN if short or role in ("category", "boolean") else 3
        texts = []
        for value in present.value_counts().index[:limit]:
            value_characters -= len(value) + 3
            if value_characters < 0:
                break
            texts.append(value[:60])
        column["values"] = texts
    return column


def step_of(dates: "pd.Series[Any]") -> str:
    """The usual distance between neighbouring dates: minute, hour, day, week, month, quarter or year."""
    gaps = dates.drop_duplicates().sort_values().diff().dropna().dt.total_seconds() / 86400
    if gaps.empty:
        return "day"
    usual = float(gaps.median())
    bounds = ((0.03, "minute"), (0.9, "hour"), (5, "day"), (20, "week"), (80, "month"), (300, "quarter"))
    return next((step for bound, step in bounds if usual < bound), "year")


if __name__ == "__main__":
    main(sys.argv[1:])
