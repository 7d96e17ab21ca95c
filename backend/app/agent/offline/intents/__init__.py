"""One module an intent: `headline` names what is computed, `write` makes the program, `tell` words its results."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from app.agent.offline.answer import Answer
from app.agent.offline.intents import (
    aggregate,
    aggregate_answer,
    clean,
    comparison,
    convert,
    distribution,
    join,
    overview,
    pivot,
    quality,
    relations,
    report,
    rows,
)
from app.agent.offline.plan import Plan
from app.agent.offline.script import Caution, Script


@dataclass(frozen=True, slots=True)
class Intent:
    headline: Callable[[Plan], str]
    write: Callable[[Plan, Caution], Script]
    tell: Callable[[Plan, dict[str, Any]], Answer]


INTENTS: dict[str, Intent] = {
    "aggregate": Intent(aggregate.headline, aggregate.write, aggregate_answer.tell),
    "overview": Intent(overview.headline, overview.write, overview.tell),
    "missing": Intent(quality.headline, quality.write, quality.tell),
    "duplicates": Intent(quality.headline, quality.write, quality.tell),
    "distribution": Intent(distribution.headline, distribution.write, distribution.tell),
    "correlation": Intent(relations.headline, relations.write, relations.tell),
    "scatter": Intent(relations.headline, relations.write, relations.tell),
    "regression": Intent(relations.headline, relations.write, relations.tell),
    "compare": Intent(comparison.headline, comparison.write, comparison.tell),
    "rows": Intent(rows.headline, rows.write, rows.tell),
    "pivot": Intent(pivot.headline, pivot.write, pivot.tell),
    "convert": Intent(convert.headline, convert.write, convert.tell),
    "clean": Intent(clean.headline, clean.write, clean.tell),
    "join": Intent(join.headline, join.write, join.tell),
    "report": Intent(report.headline, report.write, report.tell),
}
