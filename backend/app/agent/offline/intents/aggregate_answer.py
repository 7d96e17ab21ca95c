"""Word the results of totals, averages, counts, shares, rates and trends."""

# ruff: noqa: E501 - the lines of the generated programs and of the answers are written whole

from typing import Any

from app.agent.offline.answer import (
    Answer,
    cell,
    code,
    data_assumptions,
    markdown_table,
    names,
    number,
    period_text,
    rows_sentence,
    share_text,
)
from app.agent.offline.conditions import yes_and_no
from app.agent.offline.intents.aggregate import AGGREGATE_NAMES, MOST_SERIES, value_unit
from app.agent.offline.plan import Plan


def tell(plan: Plan, results: dict[str, Any]) -> Answer:
    if not plan.groups and not plan.time:
        return _tell_plain(plan, results)
    answer = _tell_time(plan, results) if plan.time else _tell_groups(plan, results)
    answer.files = results.get("files", [])
    answer.assumptions = data_assumptions(results, plan)
    if plan.chart == "pie":
        answer.assumptions.append(
            "Bars were drawn instead of a pie: lengths compare better than angles. Say “pie anyway” to get the pie."
        )
    if plan.groups and not plan.time and len(plan.groups) == 1 and plan.chart == "line":
        answer.assumptions.append("Bars were drawn instead of a line: the groups have no order in time.")
    return answer


def _what(plan: Plan) -> str:
    if plan.method == "rate":
        yes, _ = yes_and_no(plan.column(plan.measures[0]))
        return f"share of rows with {code(plan.measures[0])} = {yes if isinstance(yes, str) else int(yes)}"
    if plan.aggregate == "count" or not plan.measures:
        return "number of rows"
    if plan.aggregate == "distinct":
        return f"number of different {code(plan.measures[0])} values"
    return f"{AGGREGATE_NAMES[plan.aggregate]} {'value' if plan.stacked else code(plan.measures[0])}"


def _where(plan: Plan) -> str:
    return f" where {cell(' and '.join(each.in_words for each in plan.conditions))}" if plan.conditions else ""


def _tell_plain(plan: Plan, results: dict[str, Any]) -> Answer:
    value, extra = results["answer"], results.get("extra", {})
    unit = value_unit(plan)
    if plan.share and not plan.measures:
        lead = f"**{share_text(value)}** of the rows ({results['rows_matching']:,} of {results['rows_read']:,}){_where(plan)}."
        return Answer(lead, assumptions=data_assumptions(results, plan))
    if plan.aggregate == "count" and not plan.measures:
        lead = f"There are **{value:,} rows**{_where(plan)}" + (
            f" (of {results['rows_read']:,})." if plan.conditions else f" in {code(plan.table.name)}."
        )
        return Answer(lead, assumptions=data_assumptions(results, plan))
    if value is None:
        return Answer(
            f"There is no value of {code(plan.measures[0])}{_where(plan)}, so nothing could be computed.",
            assumptions=data_assumptions(results, plan),
        )
    shown = share_text(value) if plan.method == "rate" else number(value, unit)
    answer = Answer(
        f"The {_what(plan)}{_where(plan)} is **{shown}**.",
        f"Computed {rows_sentence(results, plan)}.",
        assumptions=data_assumptions(results, plan),
    )
    if plan.method == "rate":
        answer.how = f"That is {extra['yes']:,} of {results['rows_used']:,} rows with a value."
    elif extra:
        parts = [
            f"{name} {number(extra[key], unit)}"
            for key, name in (("mean", "average"), ("median", "median"), ("min", "lowest"), ("max", "highest"))
            if key != plan.aggregate
        ]
        answer.details.append("For comparison: " + ", ".join(parts) + ".")
    if "row" in extra:
        answer.tables.append("The row that has it:\n\n" + markdown_table(extra["row"]["columns"], extra["row"]["rows"]))
    return answer


def _group_text(plan: Plan, row: dict[str, Any], offset: int = 0) -> str:
    cells = row["rows"][0][offset : offset + len(plan.groups)]
    return ", ".join(
        cell(number(value).replace(",", "") if plan.column(group).role == "year" else number(value))
        for value, group in zip(cells, plan.groups, strict=False)
    )


def _value(results: dict[str, Any], row: dict[str, Any], name: str | None = None) -> Any:
    return row["rows"][0][row["columns"].index(name or results["label"])]


def _shown(plan: Plan, value: Any) -> str:
    return share_text(value) if plan.method == "rate" else number(value, value_unit(plan))


def _tell_groups(plan: Plan, results: dict[str, Any]) -> Answer:
    best, worst = results["best"], results["worst"]
    if best is None:
        return Answer(f"No group has a {_what(plan)}{_where(plan)}: no row has all the values that it needs.")
    kind, opposite = ("lowest", "highest") if plan.ascending and plan.ranked else ("highest", "lowest")
    lead = f"**{_group_text(plan, best)}** has the {_most(kind, plan)}: **{_shown(plan, _value(results, best))}**"
    if plan.share:
        lead += f" ({share_text(_value(results, best, 'share (%)'))} of the total)"
    if results["groups"] > 1 and not (plan.limit and plan.ranked):
        lead += f"; {_group_text(plan, worst)} has the {opposite}: {_shown(plan, _value(results, worst))}"
    answer = Answer(lead + ".", f"{_how(plan)} {rows_sentence(results, plan)}.")
    if plan.aggregate in ("sum", "count") and results["groups"] > 1 and not plan.limit:
        answer.how = answer.how[:-1] + f"; together {number(results['all_values']['total'], value_unit(plan))}."
    table = results["result"]
    answer.tables.append(
        markdown_table(
            table["columns"],
            table["rows"],
            {results["label"]: value_unit(plan) if plan.method != "rate" else "", "share (%)": ""},
            table["total"],
        )
    )
    return answer


def _most(kind: str, plan: Plan) -> str:
    """`highest average price`; but `highest price` when the values are themselves the highest of each group."""
    what = _what(plan)
    return what if what.startswith(f"{kind} ") else f"{kind} {what}"


def _how(plan: Plan) -> str:
    groups = plan.groups[:-1] if plan.stacked else plan.groups
    keys = [*groups, *([plan.time] if plan.time else [])]
    by = names(keys) if keys else "column"
    if plan.method == "rate":
        return f"The share of rows was taken for each {by}"
    if plan.aggregate == "count" or not plan.measures:
        return f"Rows were counted for each {by}"
    if plan.aggregate == "distinct":
        return f"Different values were counted for each {by}"
    verb = {"sum": "added up", "mean": "averaged"}.get(
        plan.aggregate, f"taken at its {AGGREGATE_NAMES[plan.aggregate].removesuffix(' of')}"
    )
    what = names(plan.stacked) if plan.stacked else code(plan.measures[0])
    return f"{what} {'were' if plan.stacked else 'was'} {verb} for each {by}"


def _tell_time(plan: Plan, results: dict[str, Any]) -> Answer:
    first, last, best, worst = (results[key] for key in ("first", "last", "best", "worst"))
    if best is None:
        return Answer(f"No row has both a time and a value{_where(plan)}, so there is no trend to show.")

    def at(row: dict[str, Any]) -> str:
        return period_text(row["rows"][0][0], plan.period)

    what = _what(plan)
    if plan.groups:
        top = f"{_group_text(plan, best, 1)} in {at(best)}"
        lead = f"The {what} was highest for **{top}: {_shown(plan, _value(results, best))}**, and lowest for {_group_text(plan, worst, 1)} in {at(worst)}: {_shown(plan, _value(results, worst))}."
    elif plan.ranked:
        lead = f"**{at(best)}** has the {_most('lowest' if plan.ascending else 'highest', plan)}: **{_shown(plan, _value(results, best))}**."
    else:
        start, end = _value(results, first), _value(results, last)
        verb = "rose" if end > start else "fell" if end < start else "ended where it began"
        change = f" ({results['change']:+.1f} %)" if results["change"] is not None else ""
        lead = f"The {what} **{verb} from {_shown(plan, start)} ({at(first)}) to {_shown(plan, end)} ({at(last)})**{change}."
        low, high = (best, worst) if plan.ascending else (worst, best)
        lead += f" It was highest in {at(high)} ({_shown(plan, _value(results, high))}) and lowest in {at(low)} ({_shown(plan, _value(results, low))})."
    unit = f" by {plan.period}" if plan.period else ""
    answer = Answer(lead, f"{_how(plan)}{unit} {rows_sentence(results, plan)}.")
    table = results["result"]
    rows = [[period_text(row[0], plan.period), *row[1:]] for row in table["rows"]]
    answer.tables.append(
        markdown_table(
            table["columns"],
            rows,
            {results["label"]: value_unit(plan) if plan.method != "rate" else ""},
            table["total"],
        )
    )
    if plan.groups and plan.column(plan.groups[0]).distinct > MOST_SERIES:
        answer.details.append(
            f"Of {plan.column(plan.groups[0]).distinct:,} {code(plan.groups[0])} values the {MOST_SERIES} largest are shown."
        )
    if plan.aggregate in ("sum", "count") and plan.period in ("week", "month", "quarter", "year"):
        answer.details.append(
            f"The data run from {number(results['spread'][0])} to {number(results['spread'][1])}; the first and last {plan.period} may be incomplete."
        )
    return answer
