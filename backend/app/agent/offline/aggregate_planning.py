"""Plan totals, averages, counts, shares, rates and trends: measures, groups and time."""

from dataclasses import replace

from app.agent.offline.intent_words import PLOT
from app.agent.offline.measures import default_measure, measure_beside, natural_aggregate
from app.agent.offline.plan import NoPlanError, Plan, Product, names_of
from app.agent.offline.profile import Column, TableProfile
from app.agent.offline.reading import Period, Reading
from app.agent.offline.words import name_words

MOST_STACKED = 6


def measures_in(reading: Reading, exclude: set[str] = frozenset()) -> list[Column]:  # type: ignore[assignment]
    grouped = {mention.column.name for mention in reading.group_mentions}
    found = [mention.column for mention in reading.free_mentions if mention.column.is_measure]
    return list(
        {column.name: column for column in found if column.name not in grouped and column.name not in exclude}.values()
    )


def _product(reading: Reading) -> Product | None:
    """`revenue` that no column holds, when there is a price and a quantity."""
    wanted = reading.has(r"\b(revenue|sales|turnover)\b|销售额|收入")
    held = any(
        {"revenue", "sale", "turnover", "amount"} & set(name_words(mention.column.name)) for mention in reading.mentions
    )
    if (
        not wanted
        or held
        or any(
            mention.score >= 90 and "price" not in name_words(mention.column.name) and mention.column.is_measure
            for mention in reading.mentions
        )
    ):
        return None
    by_word = {word: column.name for column in reading.columns for word in name_words(column.name)}
    price = next((by_word[word] for word in ("price", "单价", "价格") if word in by_word), None)
    quantity = next(
        (by_word[word] for word in ("quantity", "qty", "unit", "数量") if word in by_word and by_word[word] != price),
        None,
    )
    return Product("revenue", price, quantity) if price and quantity else None


def plan_aggregate(plan: Plan, reading: Reading) -> Plan:
    table, choices = plan.table, list(plan.choices)
    product = _product(reading)
    measures = [] if product else measures_in(reading)
    groups = [mention.column for mention in reading.group_mentions]
    if product:
        choices.append(f"There is no revenue column, so revenue is {product.left} × {product.right}.")
        groups = [column for column in groups if column.name not in (product.left, product.right)]
    if not measures and not product and reading.ranked and (implied := _implied_measure(reading)) is not None:
        measures = [implied]
        choices.append(f"The ranking is by {implied.name}.")
    # `top products by revenue`: a measure after `by` ranks, when nothing else is measured.
    if not measures and not product and (reading.ranked or reading.limit):
        ranking = [column for column in groups if column.role == "measure" and column.distinct > 12]
        measures, groups = ranking, [column for column in groups if column not in ranking]
    measures += [
        mention.column
        for mention in reading.sort_mentions
        if mention.column.is_measure and mention.column not in measures
    ]
    named = [mention.column for mention in reading.free_mentions]
    labels = [
        column
        for column in named
        if column not in measures
        and column not in groups
        and (column.can_group or column.is_time)
        and column.role != "flag"
        and not (column.role == "boolean" and reading.share and not groups)
    ]
    if reading.unmatched_group and not groups:
        raise NoPlanError(f"No column of {table.name} reads like “{reading.unmatched_group}”.")
    period, time = reading.period, None
    if period or reading.over_time or any(column.is_time for column in groups):
        time, period, groups, measures, choice = time_axis(reading, table, groups, measures, period)
        choices += choice
        labels = [column for column in labels if not column.is_time]
    aggregate = reading.aggregate
    counted = reading.counted
    if aggregate == "count" and counted is not None and counted not in groups:
        if counted.role == "measure" and natural_aggregate(counted) in ("sum", "max"):
            aggregate, measures = natural_aggregate(counted), [counted]
        elif counted.role in ("category", "text") and not reading.ranked:
            return _distinct(plan, reading, groups, [counted])
    if aggregate == "distinct":
        return _distinct(plan, reading, groups, named)
    if (
        not groups
        and not time
        and labels
        and (
            reading.ranked
            or reading.share
            or aggregate in ("count", "mean", "sum", "median", "min", "max")
            or reading.chart
            or reading.has(PLOT)
            or not measures
        )
    ):
        if (
            aggregate == "count"
            and not measures
            and not reading.ranked
            and not reading.has(r"\b(each|every|per)\b")
            and reading.conditions
        ):
            labels = []
        groups = [column for column in labels if column.role != "identifier" or reading.ranked][:2]
    people = reading.has(r"\b(who|whom|oldest|youngest|which (row|record|person|passenger|entry|one))\b")
    if (
        not groups
        and time is None
        and reading.ranked
        and (reading.limit or people)
        and measures
        and not labels
        and aggregate in (None, "max", "min")
    ):
        if not reading.limit:
            return replace(
                plan, intent="rows", measures=(), sort_by=(measures[0].name,), choices=tuple(choices), limit=1
            )
        return replace(
            plan,
            intent="rows",
            measures=(),
            sort_by=(measures[0].name,),
            choices=tuple(choices),
            ascending=reading.ascending,
            limit=reading.limit,
        )
    if reading.has(_COMMON) and not groups and (labels or measures):
        groups, measures, aggregate = [(labels or measures)[0]], [], "count"
    if (
        reading.share
        and not groups
        and time is None
        and not reading.conditions
        and measures
        and measures[0].can_group
        and measures[0].role == "measure"
    ):
        # `what share of passengers was in which class`: a number with few values names groups.
        groups, measures = measures[:1], []
    share, measures, rate = _share(reading, measures, groups, time, named)
    if rate is not None:
        return replace(
            plan,
            measures=(rate.name,),
            groups=names_of(groups),
            aggregate="mean",
            share=False,
            time=time,
            period=period,
            method="rate",
            choices=tuple(choices),
        )
    if aggregate == "count":
        measures = [] if not (measures and reading.has(r"\b(total|sum)\b")) else measures
    elif product is None and not measures:
        count = share or (aggregate is None and not time)
        if (aggregate not in (None, "sum") or time or (aggregate == "sum" and not share)) and not count:
            beside = measure_beside(table, [mention.column for mention in reading.mentions])
            default = beside or default_measure(table)
            if default is None:
                aggregate = "count"
            else:
                measures = [default]
                why = "The column named holds text" if beside else "No column of numbers was named"
                choices.append(f"{why}, so {default.name} was taken.")
        else:
            aggregate = "count"
    if aggregate is None:
        if product is not None:
            aggregate = "sum"
        elif measures and (groups or time or share):
            aggregate = "sum" if share else natural_aggregate(measures[0])
            if not share:
                said = {"sum": "added up", "mean": "averaged", "max": "shown by their highest value"}[aggregate]
                choices.append(f"The question names no total or average: values of {measures[0].name} are {said}.")
        elif measures:
            aggregate = ("min" if reading.ascending else "max") if reading.ranked else "mean"
            if not reading.ranked:
                choices.append(f"The question names no computation: the average of {measures[0].name} was taken.")
        else:
            aggregate = "count"
    if aggregate in ("min", "max") and reading.ranked and groups and not reading.has(r"\b(minimum|maximum|min|max)\b"):
        aggregate = natural_aggregate(measures[0]) if measures else "count"
    if len(groups) > 2:
        choices.append(f"Only the first two groupings were used: {groups[0].name} and {groups[1].name}.")
    if len(measures) > 1 and (len(groups) > 1 or aggregate in ("count", "distinct") or share):
        choices.append(f"Of the columns named, {measures[0].name} was taken.")
        measures = measures[:1]
    done = replace(
        plan,
        measures=(product.name,) if product else names_of(measures[:MOST_STACKED]),
        groups=names_of(groups[:2]),
        aggregate=aggregate,
        share=share,
        time=time,
        period=period,
        product=product,
        choices=tuple(choices),
    )
    return stack(done) if len(done.measures) > 1 else done


def stack(plan: Plan) -> Plan:
    """Several columns of numbers as one, with their names as a further grouping."""
    taken = {column.name for column in plan.table.columns}
    series = next(name for name in ("series", "column", "series of columns") if name not in taken)
    value = next(name for name in ("value", "number", "value of columns") if name not in taken)
    return replace(plan, stacked=plan.measures, measures=(value,), groups=(*plan.groups, series))


_COMMON = r"\b(most|least) (common|frequent|popular|often)\b|\bmode of\b"
_IMPLIED = (
    (r"\b(oldest|youngest)\b", {"age"}),
    (r"\b(cheapest|most expensive|priciest)\b", {"price", "fare", "cost", "charge"}),
    (r"\b(tallest)\b", {"height", "ht"}),
    (r"\b(heaviest|lightest)\b", {"weight", "mass"}),
    (r"\b(longest|shortest)\b", {"length", "duration", "time"}),
    (r"\b(richest|poorest)\b", {"income", "gdp", "gdppercap", "salary"}),
    (r"\b(fastest|slowest)\b", {"speed", "time"}),
    (r"\bmost populous\b", {"pop", "population"}),
)


def _implied_measure(reading: Reading) -> Column | None:
    """The column that a superlative speaks of without naming it: the oldest is the one with the highest age."""
    for pattern, words in _IMPLIED:
        if reading.has(pattern):
            return next(
                (column for column in reading.columns if column.is_measure and words & set(name_words(column.name))),
                None,
            )
    return None


def _share(
    reading: Reading, measures: list[Column], groups: list[Column], time: str | None, named: list[Column]
) -> tuple[bool, list[Column], Column | None]:
    """(share of a total?, the measures, a yes/no column whose rate is asked for)"""
    flags = [column for column in named if column.role in ("flag", "boolean") and column not in groups]
    wants = reading.share or reading.aggregate == "mean"
    if wants and flags and not [column for column in measures if column.role == "measure"]:
        return False, [flags[0]], flags[0]
    if not reading.share:
        return False, measures, None
    if measures and not reading.has(r"\b(share|percentage|percent|proportion|fraction|breakdown|%)|占比|比例"):
        return False, measures, None  # `exchange rate by month` names a column
    if measures and all(
        set(name_words(column.name)) & {"percentage", "percent", "rate", "share"} or column.unit == "%"
        for column in measures
    ):
        return False, measures, None
    return True, measures, None


def time_axis(
    reading: Reading, table: TableProfile, groups: list[Column], measures: list[Column], period: Period | None
) -> tuple[str | None, Period | None, list[Column], list[Column], list[str]]:
    """The column of time and the period; the groups and measures that remain; what was chosen."""
    choices: list[str] = []
    named = [column for column in groups if column.is_time]
    named += [mention.column for mention in reading.mentions if mention.column.is_time and mention.column not in named]
    times = table.times
    if period in ("month", "quarter", "week", "day", "hour"):
        fine = [column for column in named if column.role == "date" or (period == "hour" and column.role == "clock")]
        fine += [column for column in times if column.role == "date" or (period == "hour" and column.role == "clock")]
        label = next(
            (column for column in table.columns if name_words(column.name) in ((period,), (period, "name"))), None
        )
        if not fine and label is not None:
            return (
                None,
                None,
                [*[each for each in groups if each != label], label],
                [each for each in measures if each != label],
                choices,
            )
        if not fine:
            raise NoPlanError(f"{table.name} has no column of dates, so nothing can be counted by {period}.")
        chosen = fine[0]
    elif named or times:
        chosen = (named or times)[0]
        if period == "year":
            chosen = next((column for column in [*named, *times] if column.role in ("year", "date")), chosen)
    else:
        raise NoPlanError(f"{table.name} has no column of dates or years, so there is no trend to show.")
    if not named and len([column for column in times if column.role == chosen.role]) > 1:
        choices.append(f"Time is taken from {chosen.name}.")
    groups = [
        column
        for column in groups
        if column != chosen and not (column.is_time and column.name != chosen.name and column not in named[1:])
    ]
    measures = [column for column in measures if column != chosen]
    if chosen.role == "date" and period is None:
        period = readable_period(chosen)
        if period != chosen.step:
            choices.append(f"Values are put together by {period}.")
    if chosen.role == "clock":
        period = period or ("hour" if chosen.distinct > 200 else None)
    return chosen.name, period if chosen.role != "year" else None, groups, measures, choices


def readable_period(column: Column) -> Period:
    """The finest period that still draws as a readable line (at most about 120 points)."""
    low, high = str(column.low)[:10], str(column.high)[:10]
    try:
        years = int(high[:4]) - int(low[:4]) + (int(high[5:7]) - int(low[5:7])) / 12
        days = years * 365.25 + int(high[8:10]) - int(low[8:10])
    except ValueError:
        return "month"
    steps: tuple[tuple[Period, float], ...] = (
        ("hour", 1 / 24),
        ("day", 1),
        ("week", 7),
        ("month", 30.4),
        ("quarter", 91.3),
        ("year", 365.25),
    )
    order = {"minute": 0, "hour": 0, "day": 1, "week": 2, "month": 3, "quarter": 4, "year": 5}
    finest = order.get(column.step, 1)
    for place, (name, length) in enumerate(steps):
        if place >= finest and days / length <= 125 and name != "quarter":
            return name
    return "year"


def _distinct(plan: Plan, reading: Reading, groups: list[Column], named: list[Column]) -> Plan:
    counted = [column for column in named if column not in groups]
    if not counted:
        counted = [
            column
            for column in plan.table.columns
            if any(word.stem in name_words(column.name) for word in reading.words)
        ][:1]
    if not counted:
        raise NoPlanError("It is not clear which column's different values are to be counted.")
    return replace(plan, measures=(counted[0].name,), groups=names_of(groups), aggregate="distinct")
