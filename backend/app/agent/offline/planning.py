"""Turn a reading into a plan: which columns play which part for each intent."""

import re
from dataclasses import replace

from app.agent.offline.aggregate_planning import measures_in, plan_aggregate, readable_period
from app.agent.offline.intent_words import SORT, intent_of
from app.agent.offline.measures import default_measure, natural_aggregate
from app.agent.offline.plan import NoPlanError, Plan, names_of
from app.agent.offline.profile import Column, TableProfile
from app.agent.offline.reading import Reading
from app.agent.offline.words import name_words, plain


def plan_for(reading: Reading, table: TableProfile, others: list[TableProfile]) -> Plan:
    """The plan for a question on its own. Raises `NoPlanError` with what is missing."""
    intent = intent_of(reading)
    plan = Plan(
        intent,
        table,
        reading.question,
        conditions=reading.conditions,
        limit=reading.limit,
        ascending=reading.ascending,
        ranked=reading.ranked,
        chart=reading.chart,
    )
    if intent in ("unknown", "help"):
        return plan
    if table.rows == 0 and intent not in ("overview", "convert"):
        raise NoPlanError(f"{table.name} has a header but no rows, so there is nothing to compute.")
    builders = {
        "aggregate": plan_aggregate,
        "correlation": _correlation,
        "regression": _pair,
        "scatter": _pair,
        "distribution": _distribution,
        "compare": _compare,
        "rows": _rows,
        "pivot": _pivot,
        "convert": _convert,
        "clean": _clean,
        "report": _report,
    }
    if intent == "join":
        return _join(plan, reading, others)
    return builders[intent](plan, reading) if intent in builders else plan


def _correlation(plan: Plan, reading: Reading) -> Plan:
    numbers = [
        mention.column
        for mention in reading.free_mentions
        if mention.column.is_number and mention.column.role != "identifier"
    ]
    numbers = list(dict.fromkeys(numbers))
    method = "spearman" if reading.spearman else "pearson"
    if len(numbers) == 2 and reading.chart != "heat map":
        return replace(plan, measures=names_of(numbers), method=method)
    if len(numbers) == 1:
        return replace(plan, measures=names_of(numbers), method=method, target="one")
    all_numbers = (
        numbers
        if len(numbers) > 2
        else [column for column in plan.table.columns if column.is_measure and column.distinct > 1]
    )
    if len(all_numbers) < 2:
        raise NoPlanError(f"{plan.table.name} has fewer than two columns of numbers, so there is nothing to correlate.")
    return replace(plan, measures=names_of(all_numbers[:40]), method=method, target="matrix")


def _pair(plan: Plan, reading: Reading) -> Plan:
    numbers = list(
        dict.fromkeys(
            mention.column
            for mention in reading.free_mentions
            if mention.column.is_number and mention.column.role != "identifier"
        )
    )
    choices = list(plan.choices)
    if len(numbers) < 2:
        rest = [column for column in plan.table.measures if column not in numbers and column.distinct > 1]
        needed = 2 - len(numbers)
        if len(rest) < needed:
            raise NoPlanError("Two columns of numbers are needed for that.")
        numbers += rest[-needed:] if needed == 1 else rest[:2]
        choices.append(f"The columns taken are {numbers[0].name} and {numbers[1].name}.")
    target, causes = numbers[0], numbers[1:]
    if plan.intent == "regression":
        # `predict Y from X`, `regress Y on X`: Y first; `effect of X on Y`: Y last.
        if reading.has(r"\b(effect|impact|influence) of\b|\bexplains?\b|slope of .* on\b"):
            target, causes = numbers[-1], numbers[:-1]
        return replace(plan, measures=names_of([target, *causes]), choices=tuple(choices))
    # `plot Y against X`, `Y vs X`: Y first.
    groups = [
        mention.column
        for mention in reading.group_mentions
        if mention.column.can_group and mention.column not in numbers
    ]
    return replace(
        plan, measures=names_of([numbers[1], numbers[0]]), groups=names_of(groups[:1]), choices=tuple(choices)
    )


def _distribution(plan: Plan, reading: Reading) -> Plan:
    named = [mention.column for mention in reading.free_mentions]
    groups = [mention.column for mention in reading.group_mentions if mention.column.can_group]
    numbers = [column for column in named if column.is_number and column not in groups and column.role != "identifier"]
    if not numbers:
        labels = [column for column in named if column.can_group and column not in groups]
        if labels:
            return replace(plan, intent="aggregate", aggregate="count", groups=names_of(labels[:1] + groups[:1]))
        dates = [column for column in named if column.is_time]
        if dates:
            return replace(
                plan,
                intent="aggregate",
                aggregate="count",
                time=dates[0].name,
                period=readable_period(dates[0]) if dates[0].role == "date" else None,
            )
        default = default_measure(plan.table)
        if default is None:
            raise NoPlanError(f"{plan.table.name} has no column of numbers whose distribution could be shown.")
        numbers = [default]
        plan = replace(plan, choices=(f"No column of numbers was named, so {default.name} was taken.",))
    if len(numbers) == 1 and not groups and numbers[0].role == "flag":
        return replace(plan, intent="aggregate", aggregate="count", groups=names_of(numbers))
    return replace(plan, measures=names_of(numbers[:1]), groups=names_of(groups[:1]))


def _compare(plan: Plan, reading: Reading) -> Plan:
    measures = measures_in(reading)
    groups = [mention.column for mention in reading.group_mentions]
    grouped_values = [condition for condition in reading.conditions if condition.operator == "in"]
    years = [float(match) for match in re.findall(r"\b((?:18|19|20|21)\d\d)\b", reading.text)]
    labels = [
        mention.column
        for mention in reading.free_mentions
        if mention.column not in measures and mention.column.can_group and not mention.column.is_number
    ]
    labels += [
        mention.column
        for mention in reading.free_mentions
        if mention.column.role == "flag" and mention.column not in labels and len(measures) > 1
    ]
    times = [column for column in plan.table.times if column.role != "clock"]
    rest = tuple(condition for condition in plan.conditions if condition.operator != "in")
    if not grouped_values and not groups:
        # `smokers and non-smokers`: the column itself is what is compared.
        sides = [
            mention.column
            for mention in reading.mentions
            if mention.column.role in ("boolean", "flag") and mention.column not in measures[:1]
        ]
        sided = next((column for column in sides if any(each.column == column.name for each in rest)), None)
        if sided is not None and len([column for column in sides if column == sided]) > 1:
            groups, rest = [sided], tuple(condition for condition in rest if condition.column != sided.name)
    method = "test" if reading.has(r"t-?test|significan|anova|p-?value") else ""
    aggregate = reading.aggregate if reading.aggregate in ("sum", "mean", "median", "min", "max", "count") else None
    if len(years) >= 2 and times:
        chosen = times[0]
        rest = tuple(condition for condition in rest if condition.column != chosen.name)
        measure, choices = _measure_or_default(measures, plan)
        return replace(
            plan,
            measures=(measure.name,),
            time=chosen.name,
            method="periods",
            target=f"{years[0]:.0f},{years[1]:.0f}",
            aggregate=aggregate or natural_aggregate(measure),
            conditions=rest,
            groups=names_of(groups[:1]),
            choices=choices,
        )
    if grouped_values or groups or labels:
        column = plan.table.by_name[grouped_values[0].column] if grouped_values else (groups or labels)[0]
        measures = [each for each in measures if each != column]
        if measures or column.role != "flag":
            measure, choices = _measure_or_default(measures, plan)
            kept = (*rest, *grouped_values[:1])
            return replace(
                plan,
                measures=(measure.name,),
                groups=(column.name,),
                method=method or "groups",
                aggregate=aggregate or "mean",
                conditions=kept,
                choices=choices,
            )
    if len(measures) >= 2:
        return replace(
            plan,
            measures=names_of(measures[:2]),
            method="columns" if not method else "paired",
            aggregate=aggregate or "mean",
        )
    raise NoPlanError("For a comparison two columns of numbers, two groups or two years have to be named.")


def _measure_or_default(measures: list[Column], plan: Plan) -> tuple[Column, tuple[str, ...]]:
    if measures:
        return measures[0], plan.choices
    default = default_measure(plan.table)
    if default is None:
        raise NoPlanError(f"{plan.table.name} has no column of numbers to compare.")
    return default, (*plan.choices, f"No column of numbers was named, so {default.name} was taken.")


def _rows(plan: Plan, reading: Reading) -> Plan:
    sorts = [mention.column for mention in reading.sort_mentions]
    if not sorts and reading.has(SORT):
        sorts = [mention.column for mention in reading.free_mentions][:1]
    if not sorts and not plan.conditions:
        raise NoPlanError("It is not clear which rows to keep or what to sort by.")
    descending = reading.has(
        r"\b(descending|desc|from high|high to low|largest first|highest first|newest|reverse|latest|降序)\b"
    ) or (reading.ranked and not reading.ascending)
    return replace(plan, sort_by=names_of(sorts), ascending=not descending)


def _pivot(plan: Plan, reading: Reading) -> Plan:
    measures = measures_in(reading)
    groups = [mention.column for mention in reading.group_mentions]
    groups += [
        mention.column
        for mention in reading.free_mentions
        if mention.column not in measures and mention.column not in groups and mention.column.can_group
    ]
    groups += [column for column in measures if column.can_group and len(groups) < 2 and len(measures) > 1]
    measures = [column for column in measures if column not in groups[:2]]
    choices = list(plan.choices)
    for column in plan.table.groupings:
        if len(groups) < 2 and column not in groups and column not in measures:
            groups.append(column)
            choices.append(
                f"{column.name} was taken as {'rows' if len(groups) == 1 else 'columns'} of the pivot table."
            )
    if len(groups) < 2:
        raise NoPlanError("A pivot table needs two columns with few different values.")
    aggregate = reading.aggregate or (natural_aggregate(measures[0]) if measures else "count")
    if not measures and aggregate not in ("count",):
        default = default_measure(plan.table)
        if default is None:
            aggregate = "count"
        else:
            measures = [default]
            choices.append(f"No column of numbers was named, so {default.name} was taken.")
    return replace(
        plan,
        measures=names_of(measures[:1]) if aggregate != "count" else (),
        groups=names_of(groups[:2]),
        aggregate=aggregate,
        choices=tuple(choices),
    )


def _convert(plan: Plan, reading: Reading) -> Plan:
    text = re.sub(re.escape(plain(plan.table.name)), " ", reading.text)
    forms = (
        ("xlsx", r"\b(excel|xlsx|spreadsheet)\b"),
        ("parquet", r"\bparquet\b"),
        ("ndjson", r"\b(ndjson|jsonl|json lines)\b"),
        ("json", r"\bjson\b"),
        ("tsv", r"\btsv\b"),
        ("csv", r"\bcsv\b"),
    )
    named = [
        (match.start(), form)
        for form, pattern in forms
        for match in re.finditer(rf"(?:to|into|as|in)\s+(?:an?\s+)?(?:the\s+)?{pattern}", text)
    ]
    named = named or [(match.start(), form) for form, pattern in forms for match in re.finditer(pattern, text)]
    if not named:
        raise NoPlanError("Name the form to convert to: CSV, Excel, Parquet or JSON.")
    return replace(plan, target=max(named)[1])


def _clean(plan: Plan, reading: Reading) -> Plan:
    only = []
    if reading.has(r"\b(remove|drop|delete|eliminate)\b"):
        only = [
            kind
            for kind, pattern in (("duplicates", r"duplicate"), ("missing", r"missing|null|nan|blank|empty"))
            if reading.has(pattern)
        ]
    columns = [mention.column.name for mention in reading.free_mentions] if "missing" in only else []
    return replace(plan, method=",".join(only), measures=tuple(dict.fromkeys(columns)), conditions=())


def _report(plan: Plan, reading: Reading) -> Plan:
    measures = measures_in(reading) or [column for column in [default_measure(plan.table)] if column is not None]
    groups = [mention.column for mention in reading.group_mentions if mention.column.can_group] or plan.table.groupings[
        :2
    ]
    times = [column for column in plan.table.times if column.role != "clock"]
    return replace(
        plan,
        measures=names_of(measures[:1]),
        groups=names_of(groups[:2]),
        time=times[0].name if times else None,
        period=readable_period(times[0]) if times and times[0].role == "date" else None,
        aggregate=natural_aggregate(measures[0]) if measures else "count",
    )


def _join(plan: Plan, reading: Reading, others: list[TableProfile]) -> Plan:
    usable = [other for other in others if other.error is None and other.path != plan.table.path]
    if not usable:
        raise NoPlanError("Joining needs two files; add the second one.")
    other = max(usable, key=lambda each: len(_shared_names(plan.table, each)))
    named = [mention.column.name for mention in reading.mentions if mention.column.name in other.by_name]
    shared = named or _shared_names(plan.table, other)
    left = (
        "outer"
        if reading.has(r"\b(outer|full)\b")
        else "inner"
        if reading.has(r"\b(inner|only matching|matching)\b")
        else "left"
    )
    return replace(plan, other=other, measures=tuple(shared[:8]), method=left, conditions=())


def _shared_names(one: TableProfile, two: TableProfile) -> list[str]:
    """Columns of the first table that the second has too (same words in the name), likely keys first."""
    forms = {name_words(column.name): column for column in two.columns}
    both = [column for column in one.columns if name_words(column.name) in forms and column.role != "empty"]
    return [
        column.name
        for column in sorted(
            both, key=lambda column: (column.role not in ("identifier", "text", "category"), -column.distinct)
        )
    ]
