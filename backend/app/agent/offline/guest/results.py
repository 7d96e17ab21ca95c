"""Show tables to the reader of the output, and hand the numbers of an analysis on as one JSON block."""

import json
import math
from pathlib import Path
from typing import Any

import pandas as pd

ARTIFACTS = Path("/artifacts")
TABLE_ROWS = 30
TEXT_CHARACTERS = 200


def show(heading: str, table: Any, limit: int = TABLE_ROWS) -> None:
    """Print a table for people, at most `limit` rows of it."""
    print(f"\n{heading}")
    with pd.option_context("display.width", 160, "display.max_columns", 20, "display.max_colwidth", 48):
        print(table.head(limit).to_string())
    if len(table) > limit:
        print(f"... {len(table) - limit:,} more rows")


def save_table(table: pd.DataFrame, name: str) -> str:
    """Save a table as `/artifacts/<name>.csv` for people to keep; returns the file's name."""
    ARTIFACTS.mkdir(parents=True, exist_ok=True)
    table.to_csv(ARTIFACTS / f"{name}.csv", index=False)
    return f"{name}.csv"


def rows_of(table: pd.DataFrame, limit: int = TABLE_ROWS) -> dict[str, Any]:
    """The first rows of a table as plain values: {"columns", "rows", "total"}."""
    head = table.head(limit)
    rows = [[_plain(value) for value in row] for row in head.itertuples(index=False, name=None)]
    return {"columns": [str(column) for column in table.columns], "rows": rows, "total": len(table)}


def publish(**results: Any) -> None:
    """Print the results as the block that the answer is written from."""
    text = json.dumps(_plain(results), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    print(f"\n[results]\n{text}\n[/results]")


def _plain(value: Any) -> Any:
    """A value as JSON can say it: missing becomes null, dates become text, numbers keep 15 digits."""
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    if value is None or value is pd.NaT or value is pd.NA:
        return None
    if isinstance(value, (pd.Timestamp, pd.Period)):
        text = str(value)
        return text.removesuffix(" 00:00:00")
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return float(f"{value:.15g}") if math.isfinite(value) else None
    return str(value)[:TEXT_CHARACTERS]


def calendar_order(names: "pd.Series[Any]") -> "pd.Series[Any]":
    """Sort key that puts names of months and of weekdays in the order of the calendar."""
    months = [
        "jan",
        "feb",
        "mar",
        "apr",
        "may",
        "jun",
        "jul",
        "aug",
        "sep",
        "oct",
        "nov",
        "dec",
        "mon",
        "tue",
        "wed",
        "thu",
        "fri",
        "sat",
        "sun",
    ]
    return names.astype(str).str[:3].str.lower().map(months.index)
