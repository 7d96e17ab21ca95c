"""What is to be computed: the intent, and the columns, conditions and forms that it needs."""

from dataclasses import dataclass, field

from app.agent.offline.profile import Column, TableProfile
from app.agent.offline.reading import Aggregate, Condition, Period


@dataclass(frozen=True)
class Product:
    """A column that is not in the file: one column times another."""

    name: str
    left: str
    right: str


@dataclass(frozen=True)
class Plan:
    """One analysis. `choices` are sentences on what was chosen where the question left it open."""

    intent: str
    table: TableProfile
    question: str
    measures: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    aggregate: Aggregate = "sum"
    share: bool = False
    time: str | None = None
    period: Period | None = None
    conditions: tuple[Condition, ...] = ()
    limit: int | None = None
    ascending: bool = False
    ranked: bool = False
    chart: str | None = None
    product: Product | None = None
    # Columns of numbers brought below each other: `measures` and `groups` then name the two columns that result.
    stacked: tuple[str, ...] = ()
    method: str = ""
    target: str = ""
    other: TableProfile | None = None
    sort_by: tuple[str, ...] = ()
    choices: tuple[str, ...] = field(default_factory=tuple)

    def column(self, name: str) -> Column:
        """The column of that name; a computed column is a measure, the names of stacked columns are a category."""
        if self.stacked and name == self.groups[-1]:
            return Column(name=name, role="category", distinct=len(self.stacked))
        return self.table.by_name.get(name) or Column(name=name, role="measure", distinct=self.table.rows)

    def unit(self, name: str) -> str:
        units = (
            {self.table.by_name[each].unit for each in self.stacked}
            if self.stacked and name == self.measures[0]
            else set()
        )
        unit = units.pop() if len(units) == 1 else self.column(name).unit
        return "" if unit == "clock" else unit


class NoPlanError(Exception):
    """The question cannot be answered from this table; the message says why, for people."""


def names_of(columns: list[Column]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(column.name for column in columns))
