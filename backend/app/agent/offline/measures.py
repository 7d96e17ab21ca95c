"""Which numbers a table is about, and how their values are put together."""

import re

from app.agent.offline.profile import Column, TableProfile
from app.agent.offline.reading import Aggregate
from app.agent.offline.vocabulary import ADDITIVE, CUMULATIVE, NOT_ADDITIVE
from app.agent.offline.words import name_words

_BOUNDS = frozenset({"min", "max", "lower", "upper", "low", "high"})
_CUMULATIVE = re.compile(CUMULATIVE, re.IGNORECASE)


def natural_aggregate(column: Column) -> Aggregate:
    """How values are put together when the question does not say: amounts add up, rates and sizes are averaged."""
    words = set(name_words(column.name))
    if _CUMULATIVE.search(column.name):
        return "max"
    if column.role == "flag" or column.unit == "%" or words & NOT_ADDITIVE:
        return "mean"
    return "sum" if words & ADDITIVE or set(column.name + column.unit) & set("$€£¥₹") else "mean"


def measure_beside(table: TableProfile, named: list[Column]) -> Column | None:
    """The numbers that stand beside a text column of the same name: `Deaths` "12 [9-15]" beside `Deaths_median`.

    Of several, the middle one is meant before its bounds.
    """
    for column in named:
        if column.role != "text":
            continue
        words = name_words(column.name)
        beside = [other for other in table.measures if name_words(other.name)[: len(words)] == words]
        if beside:
            return min(
                beside, key=lambda other: (bool(_BOUNDS & set(name_words(other.name))), table.columns.index(other))
            )
    return None


def default_measure(table: TableProfile) -> Column | None:
    """The measure that a table is likely about: an amount of money, else another usual one, else the last one."""
    measures = [column for column in table.measures if column.distinct > 1] or table.measures
    if not measures:
        return None
    liked = (
        "revenue",
        "sale",
        "amount",
        "turnover",
        "profit",
        "total",
        "price",
        "cost",
        "income",
        "charge",
        "salary",
        "wage",
        "value",
        "score",
    )

    def rank(column: Column) -> tuple[int, int]:
        words = name_words(column.name)
        return next((place for place, word in enumerate(liked) if word in words), len(liked)), -measures.index(column)

    return min(measures, key=rank)
