"""A question as read against a table: the parts that plans are made of."""

import math
import re
from dataclasses import dataclass
from typing import Literal

from app.agent.offline.columns import Mention, ValueMention
from app.agent.offline.profile import Column
from app.agent.offline.words import Word, plain

Aggregate = Literal["sum", "mean", "median", "min", "max", "count", "distinct", "std"]
Period = Literal["hour", "day", "week", "month", "quarter", "year"]
Operator = Literal["==", "!=", ">", ">=", "<", "<=", "between", "contains", "in", "dates", "missing", "present"]


@dataclass(frozen=True, slots=True)
class Condition:
    """Rows to keep. `values` are texts or numbers; for `dates` two ISO days, the second exclusive."""

    column: str
    operator: Operator
    values: tuple[str | float, ...] = ()

    @property
    def in_words(self) -> str:
        shown = [
            value if isinstance(value, str) else f"{value:,.10g}" if not 1500 <= value <= 2200 else f"{value:g}"
            for value in self.values
        ]
        match self.operator:
            case "between":
                return f"{self.column} is between {shown[0]} and {shown[1]}"
            case "dates":
                return f"{self.column} is from {shown[0]} to before {shown[1]}"
            case "in":
                return f"{self.column} is {' or '.join(shown)}"
            case "missing" | "present":
                return f"{self.column} is {'missing' if self.operator == 'missing' else 'not missing'}"
            case "contains":
                return f"{self.column} contains {shown[0]!r}"
            case _:
                sign = {
                    "==": "is",
                    "!=": "is not",
                    ">": "is above",
                    ">=": "is at least",
                    "<": "is below",
                    "<=": "is at most",
                }
                return f"{self.column} {sign[self.operator]} {shown[0]}"


@dataclass(frozen=True)
class Reading:
    """One question read against one table."""

    question: str
    words: list[Word]
    mentions: list[Mention]
    values: list[ValueMention]
    aggregate: Aggregate | None = None
    share: bool = False
    period: Period | None = None
    over_time: bool = False
    limit: int | None = None
    ascending: bool = False
    ranked: bool = False
    chart: str | None = None
    conditions: tuple[Condition, ...] = ()
    group_mentions: tuple[Mention, ...] = ()
    sort_mentions: tuple[Mention, ...] = ()
    unmatched_group: str | None = None
    spearman: bool = False
    columns: tuple[Column, ...] = ()

    @property
    def text(self) -> str:
        return plain(self.question)

    def has(self, pattern: str) -> bool:
        return re.search(pattern, self.text) is not None

    @property
    def free_mentions(self) -> list[Mention]:
        """Mentions that no condition has used up."""
        used = {condition.column for condition in self.conditions}
        return [each for each in self.mentions if each.column.name not in used or each in self.group_mentions]

    @property
    def counted(self) -> Column | None:
        """The column right after `how many` or `number of`."""
        for place, word in enumerate(self.words[1:], start=1):
            if (word.stem, self.words[place - 1].stem) in (("many", "how"), ("of", "number"), ("of", "count")):
                after = place + 1
                while after < len(self.words) and self.words[after].stem in (
                    "the",
                    "different",
                    "unique",
                    "distinct",
                    "total",
                ):
                    after += 1
                return next((mention.column for mention in self.mentions if mention.start == after), None)
        return None

    @property
    def score(self) -> float:
        """How well the table fits the question: the sum of what its columns and values explain."""
        named = sum(mention.score * math.sqrt(mention.end - mention.start) for mention in self.mentions)
        return named + 80.0 * len(self.values)
