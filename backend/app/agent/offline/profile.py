"""What the inspection in the sandbox found out about the files, as `guest/inspection.py` prints it."""

import json
import re
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

Role = Literal[
    "measure", "flag", "year", "date", "clock", "boolean", "category", "text", "identifier", "empty"
]  # fmt: skip
TIME_ROLES = ("date", "year", "clock")
_BLOCK = re.compile(r"^\[profile\]\n(.*)\n\[/profile\]$", re.MULTILINE)
MOST_GROUPS_OF_NUMBERS = 25


class Column(BaseModel):
    """One column. `values` are the distinct texts, most frequent first, as far as the profile holds them."""

    model_config = ConfigDict(frozen=True)

    name: str
    role: Role
    missing: int = 0
    distinct: int = 0
    unit: str = ""
    low: float | str | None = None
    high: float | str | None = None
    mean: float | None = None
    step: str = "day"
    values: tuple[str, ...] = ()

    @property
    def is_number(self) -> bool:
        return self.role in ("measure", "flag", "year") or (self.role == "identifier" and isinstance(self.low, float))

    @property
    def is_measure(self) -> bool:
        return self.role in ("measure", "flag")

    @property
    def is_time(self) -> bool:
        return self.role in TIME_ROLES

    @property
    def can_group(self) -> bool:
        """Whether its values name groups as they are."""
        return self.role in ("category", "boolean", "flag", "year", "text", "identifier") or (
            self.role == "measure" and 0 < self.distinct <= MOST_GROUPS_OF_NUMBERS
        )


class TableProfile(BaseModel):
    """One file. `error` says why it cannot be read; then there are no columns."""

    model_config = ConfigDict(frozen=True)

    path: str
    error: str | None = None
    form: str = ""
    sheet: str | None = None
    sheets: tuple[str, ...] = ()
    rows: int = 0
    width: int = 0
    duplicates: int | None = None
    notes: tuple[str, ...] = ()
    columns: tuple[Column, ...] = ()

    @property
    def name(self) -> str:
        return PurePosixPath(self.path).name

    @cached_property
    def by_name(self) -> dict[str, Column]:
        return {column.name: column for column in self.columns}

    def with_roles(self, *roles: str) -> list[Column]:
        return [column for column in self.columns if column.role in roles]

    @property
    def measures(self) -> list[Column]:
        return self.with_roles("measure")

    @property
    def times(self) -> list[Column]:
        """Columns of time, real dates first."""
        order = {"date": 0, "year": 1, "clock": 2}
        return sorted(self.with_roles(*TIME_ROLES), key=lambda column: order[column.role])

    @property
    def groupings(self) -> list[Column]:
        """Columns that cut the rows into a readable number of groups, the handiest first."""
        fit = [
            column for column in self.columns if column.can_group and 1 < column.distinct <= max(30, self.rows // 20)
        ]
        fit = [column for column in fit if column.role not in ("text", "identifier", "year")]
        fit = [column for column in fit if column.role != "measure" or column.distinct <= min(12, self.rows // 4)]
        order = {"category": 0, "boolean": 1, "flag": 2, "measure": 3}
        return sorted(fit, key=lambda column: (order[column.role], not 2 < column.distinct <= 12, column.distinct > 12))


def read_profiles(output: str) -> list[TableProfile]:
    """The profiles in an inspection's output; none when it holds no whole block."""
    blocks = _BLOCK.findall(output)
    if not blocks:
        return []
    try:
        return [_profile(entry) for entry in json.loads(blocks[-1])]
    except (json.JSONDecodeError, ValidationError, TypeError):
        return []


def _profile(entry: dict[str, Any]) -> TableProfile:
    others = [{"name": name, "role": role, "distinct": 1000} for name, role in entry.pop("others", [])]
    entry["columns"] = [*entry.get("columns", []), *others]
    return TableProfile.model_validate(entry)
