"""Word an answer in markdown from the numbers that a program printed."""

import math
import re
from dataclasses import dataclass, field
from typing import Any

from app.agent.offline.plan import Plan

DISCLOSURE = (
    "*I am the built-in offline analyst, not a language model: I match your words to columns and run pandas. "
    "To ask freely, set `AGENT_MODEL=openai:NAME`, `anthropic:NAME` or `openai-compatible:NAME`.*"
)
TABLE_ROWS = 10
TABLE_COLUMNS = 8
CELL = 60


@dataclass
class Answer:
    """The parts of an answer, in the order in which they are said."""

    lead: str
    how: str = ""
    tables: list[str] = field(default_factory=list)
    details: list[str] = field(default_factory=list)
    assumptions: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    next_questions: list[str] = field(default_factory=list)
    disclosed: bool = False

    @property
    def markdown(self) -> str:
        parts = [self.lead, self.how, *self.tables]
        parts.append("\n".join(f"- {line}" for line in self.details))
        if self.files:
            parts.append("Files: " + ", ".join(f"`{name}`" for name in self.files))
        if self.assumptions:
            parts.append("**About the data**\n" + "\n".join(f"- {line}" for line in dict.fromkeys(self.assumptions)))
        if self.next_questions:
            parts.append("**You could ask next**\n" + "\n".join(f"- {line}" for line in self.next_questions))
        if self.disclosed:
            parts.append(DISCLOSURE)
        return "\n\n".join(part for part in parts if part)


def number(value: Any, unit: str = "") -> str:
    """A number as people read it, exact to about six digits; text stays as it is."""
    if value is None:
        return "—"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return date_text(str(value))
    if isinstance(value, float) and not math.isfinite(value):
        return "—"
    size = abs(value)
    if float(value).is_integer() and size < 1e15:
        text = f"{value:,.0f}"
    elif size >= 1e15 or (0 < size < 1e-4):
        text = f"{value:.4e}"
    elif size >= 1000:
        text = f"{value:,.2f}"
    else:
        text = f"{value:.{4 if size >= 0.01 else 6}f}".rstrip("0").rstrip(".")
    if unit and unit in "$€£¥₹₽₩฿":
        return f"-{unit}{text[1:]}" if text.startswith("-") else unit + text
    return f"{text} {unit}" if unit else text


def date_text(text: str) -> str:
    """A midnight time stamp as its day."""
    return re.sub(r"(\d{4}-\d\d-\d\d)[ T]00:00:00(\.0+)?$", r"\1", text)


def period_text(value: Any, period: str | None) -> str:
    """The label of a period that starts at `value`: 2023-04 for a month, 2023 Q2, 2023."""
    text = date_text(str(value))
    if not re.match(r"\d{4}-\d\d-\d\d", text):
        return number(value).replace(",", "")
    if period == "month":
        return text[:7]
    if period == "year":
        return text[:4]
    if period == "quarter":
        return f"{text[:4]} Q{(int(text[5:7]) + 2) // 3}"
    return text.removeprefix("1970-01-01 ")


def share_text(value: float | None) -> str:
    return "—" if value is None else f"{value:.2f} %"


def markdown_table(
    columns: list[str], rows: list[list[Any]], units: dict[str, str] | None = None, total: int | None = None
) -> str:
    """A small table; what does not fit is said below it."""
    shown = columns[:TABLE_COLUMNS]
    numeric = [all(isinstance(row[i], int | float) or row[i] is None for row in rows) for i in range(len(shown))]
    lines = ["| " + " | ".join(cell(name) for name in shown) + " |"]
    lines.append("| " + " | ".join("---:" if right else "---" for right in numeric) + " |")
    for row in rows[:TABLE_ROWS]:
        lines.append(
            "| "
            + " | ".join(
                cell(number(value, (units or {}).get(name, ""))) for name, value in zip(shown, row, strict=False)
            )
            + " |"
        )
    count = total if total is not None else len(rows)
    if count > TABLE_ROWS:
        lines.append(f"\nThe first {TABLE_ROWS} of {count:,} rows.")
    return "\n".join(lines)


def cell(text: str) -> str:
    """Text that cannot break a markdown table."""
    text = re.sub(r"\s+", " ", str(text)).replace("|", "\\|").replace("`", "'").replace("<", "&lt;")
    return text if len(text) <= CELL else text[: CELL - 1] + "…"


def code(name: str) -> str:
    """A column's name, marked as one."""
    return "`" + re.sub(r"\s+", " ", name).replace("`", "'") + "`"


def names(columns: list[str] | tuple[str, ...]) -> str:
    marked = [code(name) for name in columns]
    return marked[0] if len(marked) == 1 else ", ".join(marked[:-1]) + f" and {marked[-1]}"


def rows_sentence(results: dict[str, Any], plan: Plan) -> str:
    """How many rows were read, kept and left out, as the program counted them."""
    read, matching, used = results["rows_read"], results["rows_matching"], results.get("rows_used")
    used = matching if used is None else used
    sentence = (
        f"over {used:,} of {read:,} rows of {code(plan.table.name)}"
        if used != read
        else f"over all {read:,} rows of {code(plan.table.name)}"
    )
    if plan.conditions:
        sentence += f" (only where {cell(' and '.join(each.in_words for each in plan.conditions))}: {matching:,} rows)"
    return sentence


def data_assumptions(results: dict[str, Any], plan: Plan) -> list[str]:
    """What was assumed about the file, what was chosen, and how many rows were left out."""
    lines = [*plan.choices]
    used, matching = results.get("rows_used"), results["rows_matching"]
    if used is not None and used < matching:
        left = matching - used
        needed = results.get("needed") or plan.measures
        where = names(needed) if needed else "the columns used"
        lines.append(f"{left:,} row{'s' if left != 1 else ''} without a value in {where} left out.")
    touched = {*plan.measures, *plan.groups, *(each.column for each in plan.conditions), *plan.sort_by, plan.time or ""}
    for note in results.get("notes", []):
        about = re.search(r"(?:^| of | in )(['\"])(.+?)\1", note)
        if (
            about is None
            or about.group(2) in touched
            or not any(about.group(2) == column.name for column in plan.table.columns)
        ):
            lines.append(note)
    return lines
