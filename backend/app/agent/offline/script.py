"""Write the pandas programs: the opening that loads and filters, and safe names for columns and files."""

import re
from dataclasses import dataclass, field

from app.agent.offline.plan import Plan
from app.agent.offline.reading import Condition
from app.agent.offline.words import plain

LINE = 112


@dataclass(frozen=True, slots=True)
class Caution:
    """How a second attempt differs from the first; `reason` is said in the program and in the answer."""

    reason: str = ""
    coerce: bool = False
    no_chart: bool = False
    lenient: bool = False
    first_rows: int | None = None


@dataclass
class Script:
    """A program in the making: `lines` follow the opening."""

    plan: Plan
    title: str
    caution: Caution
    lines: list[str] = field(default_factory=list)
    uses: set[str] = field(default_factory=set)

    def add(self, *lines: str) -> None:
        self.lines.extend(lines)

    def chart(self, *lines: str) -> None:
        """Lines that draw and save a chart: left out when drawing is what failed before."""
        if not self.caution.no_chart:
            self.lines.extend(lines)

    @property
    def source(self) -> str:
        body = "\n".join([*opening(self.plan, self.caution), *self.lines])
        imports = ["import pandas as pd"] if re.search(r"\bpd\.", body) else []
        if re.search(r"\bnp\.", body):
            imports.insert(0, "import numpy as np")
        if "from scipy" not in body and re.search(r"\bstats\.", body):
            imports.append("from scipy import stats")
        if "charts." in body:
            imports.append("import analyst_charts as charts")
        if "style." in body:
            imports.append("import analyst_style as style")
        imports.append("from loading import load_table")
        used = [
            name
            for name in ("calendar_order", "p_value", "publish", "rows_of", "save_table", "show")
            if re.search(rf"\b{name}\b", body)
        ]
        imports.append(f"from results import {', '.join(used)}")
        heading = _comment_safe(self.title)
        return f'"""{heading}"""\n\n' + "\n".join(imports) + "\n\n" + body + "\n"


def _comment_safe(text: str) -> str:
    """Text that cannot end the docstring or the comment that it stands in."""
    return re.sub(r"\s+", " ", text).replace("\\", "/").replace('"', "'")


def opening(plan: Plan, caution: Caution) -> list[str]:
    """Load the table, add a computed column, keep the rows that the question is about."""
    arguments = repr(plan.table.path)
    if plan.table.sheet and len(plan.table.sheets) > 1:
        arguments += f", sheet={plan.table.sheet!r}"
    if caution.lenient:
        arguments += ", lenient=True"
    lines = []
    if caution.reason:
        lines.append(f"# Second attempt: {_comment_safe(caution.reason)}")
    lines += [f"table = load_table({arguments})", "df = table.frame", "rows_read = len(df)"]
    if caution.first_rows:
        lines.append(f"df = df.head({caution.first_rows})  # the whole file was too much for the sandbox")
    if caution.coerce:
        lines += _coercions(plan)
    if plan.product:
        lines += ["", f"df[{plan.product.name!r}] = df[{plan.product.left!r}] * df[{plan.product.right!r}]"]
    if plan.conditions:
        lines += ["", f"# Keep the rows where {_comment_safe(' and '.join(each.in_words for each in plan.conditions))}"]
        lines += [f"df = df[{filter_expression(each)}]" for each in plan.conditions]
    return lines


def _coercions(plan: Plan) -> list[str]:
    names = (
        [plan.product.left, plan.product.right]
        if plan.product
        else [name for name in plan.measures if plan.column(name).is_number]
    )
    lines = [f"df[{name!r}] = pd.to_numeric(df[{name!r}], errors='coerce')" for name in names]
    if plan.time and plan.column(plan.time).role in ("date", "clock"):
        lines.append(f"df[{plan.time!r}] = pd.to_datetime(df[{plan.time!r}], errors='coerce')")
    lines += [f"df[{name!r}] = df[{name!r}].astype(str)" for name in plan.groups if not plan.column(name).is_number]
    return lines


def filter_expression(condition: Condition) -> str:
    column = f"df[{condition.column!r}]"
    values = [int(value) if isinstance(value, float) and value.is_integer() else value for value in condition.values]
    match condition.operator:
        case "between":
            return f"{column}.between({values[0]!r}, {values[1]!r})"
        case "dates":
            low, high = values
            parts = [f"({column} >= {low!r})"] if low != "0001-01-01" else []
            parts += [f"({column} < {high!r})"] if high != "9999-12-31" else []
            return " & ".join(parts) or f"{column}.notna()"
        case "in":
            return f"{column}.isin({list(values)!r})"
        case "contains":
            return f"{column}.str.contains({values[0]!r}, case=False, regex=False, na=False)"
        case "missing":
            return f"{column}.isna()"
        case "present":
            return f"{column}.notna()"
        case "==" if isinstance(values[0], str):
            return f"{column}.astype(str).str.casefold() == {str(values[0]).casefold()!r}"
        case "!=" if isinstance(values[0], str):
            return f"({column}.astype(str).str.casefold() != {str(values[0]).casefold()!r}) & {column}.notna()"
        case _:
            return f"{column} {condition.operator} {values[0]!r}"


def slug(*parts: str) -> str:
    """A file name made of words: letters, digits and underscores of any script, at most 60 characters."""
    text = re.sub(r"[^\w]+", "_", plain(" ".join(parts))).strip("_")
    return re.sub(r"_+", "_", text)[:60].strip("_") or "result"


def quoted(names: list[str] | tuple[str, ...]) -> str:
    """A list of column names as a Python literal."""
    return "[" + ", ".join(repr(name) for name in names) + "]"
