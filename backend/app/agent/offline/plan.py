"""What is to be computed: the intent, and the columns, conditions and forms that it needs."""

import re
from dataclasses import dataclass, field, replace

from app.agent.offline.profile import Column, TableProfile
from app.agent.offline.question import Aggregate, Condition, Period, Reading
from app.agent.offline.words import name_words, plain


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
    method: str = ""
    target: str = ""
    other: TableProfile | None = None
    sort_by: tuple[str, ...] = ()
    choices: tuple[str, ...] = field(default_factory=tuple)

    def column(self, name: str) -> Column:
        """The column of that name; a computed column is a measure."""
        return self.table.by_name.get(name) or Column(name=name, role="measure", distinct=self.table.rows)

    def unit(self, name: str) -> str:
        unit = self.column(name).unit
        return "" if unit == "clock" else unit


class NoPlanError(Exception):
    """The question cannot be answered from this table; the message says why, for people."""


_INTENTS: tuple[tuple[str, str], ...] = (
    ("help", r"^\s*(help|hi|hello|hey|what can you do|who are you|how do you work)\b[\s?!.]*$|what can you do|what are you"),
    ("report", r"\b(html|report|dashboard)\b|报告"),
    ("convert", r"\b(convert|export|save|download|turn|transform|write)\b.*\b(csv|tsv|excel|xlsx|parquet|json|ndjson|jsonl|spreadsheet)\b|\b(to|into|as) (an? )?(excel|xlsx|parquet|json|csv|ndjson|jsonl)\b|转换"),
    ("clean", r"\b(clean|cleanse|cleaning|tidy|dedup|deduplicate|de-duplicate)\b|\b(remove|drop|delete|eliminate)\b.*\b(duplicates?|blanks?|empty|missing|nulls?|nans?)\b|清洗"),
    ("join", r"\b(join|merge|combine|link|lookup|vlookup)\b|合并"),
    ("pivot", r"\b(pivot|cross-?tab|cross ?tabulat\w*|contingency)\b|透视"),
    ("regression", r"\b(regress\w*|linear model|predict\w*|fit a (line|model)|slope|r-?squared|explains?)\b|回归"),
    ("correlation", r"\b(correlat\w*|relationships?|related|associat\w*|pearson|spearman|heat ?map)\b|相关"),
    ("scatter", r"\bscatter\b|\bplot\b.*\b(against|vs\.?|versus)\b"),
    ("missing", r"\b(missing|nulls?|blanks?|nans?|incomplete|empty (values?|cells?|fields?))\b|缺失"),
    ("duplicates", r"\bduplicate(s|d)?\b|重复"),
    ("distribution", r"\b(distribution|distributed|histogram|outliers?|skew\w*|kurtosis|quantiles?|quartiles?|percentiles?|spread|box ?-?plots?|normality|normally|iqr|range of)\b|分布"),
    ("compare", r"\b(compare|compared|comparing|comparison|difference|differ|versus|vs\.?|t-?test|significant\w*|change (from|between)|changed (from|between)|growth (from|between)|anova|higher than|more than .* (do|does|than))\b|比较|对比"),
    ("overview", r"\b(what('s| is| are)? in (this|the|these|my)|what do(es)? (this|the|my) (file|data|table|dataset)|describe (this|the|my) (file|data|table|dataset|csv)|overview|summari[sz]e (this|the|my|it)?\s*(file|data|table|dataset|csv)?|summary( of (this|the|my) (file|data|table|dataset|csv))?|profile|tell me about|explore|schema|data types?|column (names|types)|which columns|what columns|list (the |all )?columns|structure|look like|look at (this|the|my)|analy[sz]e (this|the|my)?\s*(file|data|table|dataset|csv))\b|概况|有什么|描述"),
)  # fmt: skip
_SORT = r"\b(sort|order|sorted|ordered)\b.*\b(by|on)\b|排序"
_ROWS = r"\b(filter|keep only|rows? (where|with|in|for|that)|records? (where|with)|list (all|the|every)?|find (all|the)?|show (me )?(all|the|every)? ?(rows?|records?|entries)|extract)\b|筛选"
_PLOT = r"\b(chart|plot|graph|draw|visuali[sz]e|diagram)\b|图"

_ADDITIVE = frozenset(
    [
        "revenue",
        "sale",
        "amount",
        "turnover",
        "income",
        "cost",
        "expense",
        "spending",
        "expenditure",
        "profit",
        "quantity",
        "qty",
        "unit",
        "volume",
        "count",
        "number",
        "num",
        "total",
        "vote",
        "death",
        "case",
        "order",
        "visit",
        "click",
        "view",
        "trip",
        "ride",
        "passenger",
        "sold",
        "shipped",
        "produced",
        "damage",
        "budget",
        "payment",
        "donation",
        "goal",
        "run",
        "hit",
        "home",
        "population",
        "pop",
        "call",
        "trade",
        "purchase",
        "signup",
        "member",
        "membership",
        "pass",
        "vaccination",
        "traveled",
        "mile",
        "download",
        "charge",
        "paid",
        "pay",
        "tax",
        "销售额",
        "收入",
        "数量",
        "金额",
        "成本",
        "利润",
    ]
)
_NOT_ADDITIVE = frozenset(
    [
        "average",
        "avg",
        "mean",
        "median",
        "rate",
        "ratio",
        "percent",
        "percentage",
        "pct",
        "per",
        "price",
        "score",
        "rating",
        "index",
        "age",
        "temperature",
        "temp",
        "share",
        "level",
        "median",
        "std",
        "min",
        "max",
        "capita",
        "hundred",
        "million",
        "speed",
        "pressure",
        "humidity",
        "latitude",
        "longitude",
        "height",
        "width",
        "length",
        "weight",
        "salary",
        "wage",
        "open",
        "close",
        "high",
        "low",
        "rank",
        "error",
        "year",
        "单价",
        "年龄",
    ]
)
_CUMULATIVE = re.compile(
    r"cumulative|to date|since launch|^total_.*(vaccin|cases|deaths)|running total|累计", re.IGNORECASE
)


def natural_aggregate(column: Column) -> Aggregate:
    """How a column's values are put together when the question does not say: amounts add up, rates and sizes are averaged."""
    words = set(name_words(column.name))
    if _CUMULATIVE.search(column.name):
        return "max"
    if column.role == "flag" or column.unit == "%" or words & _NOT_ADDITIVE:
        return "mean"
    return "sum" if words & _ADDITIVE or column.unit in tuple("$€£¥₹") else "mean"


def intent_of(reading: Reading) -> str:
    """The intent that the question's words name, or `aggregate` when it has a computation in it, or `unknown`."""
    for intent, pattern in _INTENTS:
        if reading.has(pattern):
            if intent == "correlation" and reading.chart == "heat map" and reading.group_mentions:
                return "pivot"
            if intent == "compare" and (reading.ranked or not (reading.mentions or reading.values)):
                continue
            if (
                intent == "compare"
                and reading.has(r"(higher|more|less|lower|older|greater) than")
                and not reading.has(r"\b(compar\w+|differ\w*|vs|versus)\b")
            ):
                continue
            if intent == "overview" and reading.mentions and (reading.aggregate or reading.group_mentions):
                continue
            if intent == "missing" and any(
                condition.operator in ("missing", "present") for condition in reading.conditions
            ):
                continue
            if intent == "report" and not reading.has(
                r"\bhtml\b|\b(a|an|me|create|make|build|generate|write|full)\b.*\b(report|dashboard)\b|^report"
            ):
                continue
            return intent
    if reading.chart == "histogram":
        return "distribution"
    if reading.chart == "scatter":
        return "scatter"
    if reading.chart == "box":
        return "distribution"
    computes = (
        reading.aggregate
        or reading.period
        or reading.over_time
        or reading.ranked
        or reading.group_mentions
        or reading.share
    )
    if reading.has(_SORT) and not (reading.aggregate or reading.group_mentions or reading.period):
        return "rows"
    if reading.has(_ROWS) and reading.conditions and not computes:
        return "rows"
    if computes or (
        reading.mentions and (reading.has(_PLOT) or reading.has(r"\b(what|which|who|show|how|give|when)\b"))
    ):
        return "aggregate"
    if reading.conditions and reading.has(r"\b(show|list|give|which|who|rows?)\b"):
        return "rows"
    return (
        "aggregate"
        if any(
            mention.score >= 90 and mention.column.role in ("measure", "flag", "category", "boolean")
            for mention in reading.mentions
        )
        else "unknown"
    )


def plan_for(reading: Reading, table: TableProfile, others: list[TableProfile]) -> Plan:
    """The plan for a question on its own. Raises `NoPlanError` with what is missing."""
    intent = intent_of(reading)
    plan = Plan(intent, table, reading.question, conditions=reading.conditions, limit=reading.limit, ascending=reading.ascending,
                ranked=reading.ranked, chart=reading.chart)  # fmt: skip
    if intent in ("unknown", "help"):
        return plan
    if table.rows == 0 and intent not in ("overview", "convert"):
        raise NoPlanError(f"{table.name} has a header but no rows, so there is nothing to compute.")
    builders = {
        "aggregate": _aggregate, "correlation": _correlation, "regression": _pair, "scatter": _pair, "distribution": _distribution,
        "compare": _compare, "rows": _rows, "pivot": _pivot, "convert": _convert, "clean": _clean, "report": _report,
    }  # fmt: skip
    if intent == "join":
        return _join(plan, reading, others)
    return builders[intent](plan, reading) if intent in builders else plan


def _measures(reading: Reading, exclude: set[str] = frozenset()) -> list[Column]:  # type: ignore[assignment]
    grouped = {mention.column.name for mention in reading.group_mentions}
    found = [mention.column for mention in reading.free_mentions if mention.column.is_measure]
    return list(
        {column.name: column for column in found if column.name not in grouped and column.name not in exclude}.values()
    )


def default_measure(table: TableProfile) -> Column | None:
    """The measure that a table is most likely about: an amount of money, else another additive one, else the last one."""
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


def _aggregate(plan: Plan, reading: Reading) -> Plan:
    table, choices = plan.table, list(plan.choices)
    product = _product(reading)
    measures = [] if product else _measures(reading)
    groups = [mention.column for mention in reading.group_mentions]
    if product:
        choices.append(f"There is no revenue column, so revenue is {product.left} × {product.right}.")
        groups = [column for column in groups if column.name not in (product.left, product.right)]
    # `revenue ranked by region` and `top products by revenue`: a measure after `by` ranks, when nothing else is measured.
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
    ]
    if reading.unmatched_group and not groups:
        raise NoPlanError(f"No column of {table.name} reads like “{reading.unmatched_group}”.")
    period, time = reading.period, None
    if period or reading.over_time or any(column.is_time for column in groups):
        time, period, groups, measures, choice = _time_axis(reading, table, groups, measures, period)
        choices += choice
        labels = [column for column in labels if not column.is_time]
    aggregate = reading.aggregate
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
            or reading.has(_PLOT)
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
    if not groups and time is None and reading.ranked and reading.limit and measures and not labels:
        return replace(
            plan,
            intent="rows",
            measures=(),
            sort_by=(measures[0].name,),
            choices=tuple(choices),
            ascending=reading.ascending,
            limit=reading.limit,
        )
    share, measures, rate = _share(reading, measures, groups, time, named)
    if rate is not None:
        return replace(plan, measures=(rate.name,), groups=_names(groups), aggregate="mean", share=False, time=time, period=period,
                       method="rate", choices=tuple(choices))  # fmt: skip
    if aggregate == "count":
        measures = [] if not (measures and reading.has(r"\b(total|sum)\b")) else measures
    elif product is None and not measures:
        count = share or (aggregate is None and not time)
        if (aggregate not in (None, "sum") or time or (aggregate == "sum" and not share)) and not count:
            default = default_measure(table)
            if default is None:
                aggregate = "count"
            else:
                measures = [default]
                choices.append(f"No column of numbers was named, so {default.name} was taken.")
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
    names = (product.name,) if product else _names(measures)
    if len(groups) > 2:
        choices.append(f"Only the first two groupings were used: {groups[0].name} and {groups[1].name}.")
    return replace(plan, measures=names, groups=_names(groups[:2]), aggregate=aggregate, share=share, time=time, period=period,
                   product=product, choices=tuple(choices))  # fmt: skip


def _names(columns: list[Column]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(column.name for column in columns))


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


def _time_axis(
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
        period = _readable_period(chosen)
        if period != chosen.step:
            choices.append(f"Values are put together by {period}.")
    if chosen.role == "clock":
        period = period or ("hour" if chosen.distinct > 200 else None)
    return chosen.name, period if chosen.role != "year" else None, groups, measures, choices


def _readable_period(column: Column) -> Period:
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
    return replace(plan, measures=(counted[0].name,), groups=_names(groups), aggregate="distinct")


def _correlation(plan: Plan, reading: Reading) -> Plan:
    numbers = [
        mention.column
        for mention in reading.free_mentions
        if mention.column.is_number and mention.column.role != "identifier"
    ]
    numbers = list(dict.fromkeys(numbers))
    method = "spearman" if reading.spearman else "pearson"
    if len(numbers) == 2 and reading.chart != "heat map":
        return replace(plan, measures=_names(numbers), method=method)
    if len(numbers) == 1:
        return replace(plan, intent="correlation", measures=_names(numbers), method=method, target="one")
    all_numbers = (
        numbers
        if len(numbers) > 2
        else [column for column in plan.table.columns if column.is_measure and column.distinct > 1]
    )
    if len(all_numbers) < 2:
        raise NoPlanError(f"{plan.table.name} has fewer than two columns of numbers, so there is nothing to correlate.")
    return replace(plan, measures=_names(all_numbers[:40]), method=method, target="matrix")


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
        return replace(plan, measures=_names([target, *causes]), choices=tuple(choices))
    # `plot Y against X`, `Y vs X`: Y first.
    groups = [
        mention.column
        for mention in reading.group_mentions
        if mention.column.can_group and mention.column not in numbers
    ]
    return replace(plan, measures=_names([numbers[1], numbers[0]]), groups=_names(groups[:1]), choices=tuple(choices))


def _distribution(plan: Plan, reading: Reading) -> Plan:
    named = [mention.column for mention in reading.free_mentions]
    groups = [mention.column for mention in reading.group_mentions if mention.column.can_group]
    numbers = [column for column in named if column.is_number and column not in groups and column.role != "identifier"]
    if not numbers:
        labels = [column for column in named if column.can_group and column not in groups]
        if labels:
            return replace(plan, intent="aggregate", aggregate="count", groups=_names(labels[:1] + groups[:1]))
        dates = [column for column in named if column.is_time]
        if dates:
            return replace(
                plan,
                intent="aggregate",
                aggregate="count",
                time=dates[0].name,
                period=_readable_period(dates[0]) if dates[0].role == "date" else None,
            )
        default = default_measure(plan.table)
        if default is None:
            raise NoPlanError(f"{plan.table.name} has no column of numbers whose distribution could be shown.")
        numbers = [default]
        plan = replace(plan, choices=(f"No column of numbers was named, so {default.name} was taken.",))
    if len(numbers) == 1 and not groups and numbers[0].role == "flag":
        return replace(plan, intent="aggregate", aggregate="count", groups=_names(numbers))
    return replace(plan, measures=_names(numbers[:1]), groups=_names(groups[:1]))


def _compare(plan: Plan, reading: Reading) -> Plan:
    measures = _measures(reading)
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
    method = "test" if reading.has(r"t-?test|significan|anova|p-?value") else ""
    aggregate = reading.aggregate if reading.aggregate in ("sum", "mean", "median", "min", "max", "count") else None
    if len(years) >= 2 and times:
        chosen = times[0]
        rest = tuple(condition for condition in rest if condition.column != chosen.name)
        measure, choices = _measure_or_default(measures, plan)
        return replace(plan, measures=(measure.name,), time=chosen.name, method="periods", target=f"{years[0]:.0f},{years[1]:.0f}",
                       aggregate=aggregate or natural_aggregate(measure), conditions=rest, groups=_names(groups[:1]), choices=choices)  # fmt: skip
    if grouped_values or groups or labels:
        column = plan.table.by_name[grouped_values[0].column] if grouped_values else (groups or labels)[0]
        measures = [each for each in measures if each != column]
        if measures or not (column.role == "flag"):
            measure, choices = _measure_or_default(measures, plan)
            kept = (*rest, *grouped_values[:1])
            return replace(plan, measures=(measure.name,), groups=(column.name,), method=method or "groups", aggregate=aggregate or "mean",
                           conditions=kept, choices=choices)  # fmt: skip
    if len(measures) >= 2:
        return replace(
            plan,
            measures=_names(measures[:2]),
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
    if not sorts and reading.has(_SORT):
        sorts = [mention.column for mention in reading.free_mentions][:1]
    if not sorts and not plan.conditions:
        raise NoPlanError("It is not clear which rows to keep or what to sort by.")
    descending = reading.has(
        r"\b(descending|desc|from high|high to low|largest first|highest first|newest|reverse|latest|降序)\b"
    ) or (reading.ranked and not reading.ascending)
    return replace(plan, sort_by=_names(sorts), ascending=not descending)


def _pivot(plan: Plan, reading: Reading) -> Plan:
    measures = _measures(reading)
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
        measures=_names(measures[:1]) if aggregate != "count" else (),
        groups=_names(groups[:2]),
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
    measures = _measures(reading) or [column for column in [default_measure(plan.table)] if column is not None]
    groups = [mention.column for mention in reading.group_mentions if mention.column.can_group] or plan.table.groupings[
        :2
    ]
    times = [column for column in plan.table.times if column.role != "clock"]
    return replace(plan, measures=_names(measures[:1]), groups=_names(groups[:2]), time=times[0].name if times else None,
                   period=_readable_period(times[0]) if times and times[0].role == "date" else None,
                   aggregate=natural_aggregate(measures[0]) if measures else "count")  # fmt: skip


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


_FOLLOW = re.compile(
    r"^\s*(and|now|same|also|but|then|what about|how about|only|just|instead|as an?|ok|okay|again|for|by|in|per|without|with|excluding|except)\b|^\s*(那|再|同样)",
    re.IGNORECASE,
)


def follows_up(reading: Reading, intent: str) -> bool:
    """Whether the question only makes sense with the one before it."""
    words = len(reading.words)
    if _FOLLOW.match(reading.question):
        return words <= 12 and intent not in (
            "overview",
            "missing",
            "duplicates",
            "report",
            "clean",
            "convert",
            "join",
            "help",
        )
    return (
        words <= 4
        and intent in ("unknown", "aggregate")
        and not (reading.aggregate and reading.mentions)
        and not reading.ranked
    )


def continue_plan(previous: Plan, reading: Reading, table: TableProfile) -> Plan:
    """The previous plan with what the follow-up changes. Raises `NoPlanError`."""
    plan = replace(previous, question=reading.question, choices=tuple(c for c in previous.choices if "×" in c))
    if reading.unmatched_group and not reading.mentions and not reading.period:
        raise NoPlanError(f"No column of {table.name} reads like “{reading.unmatched_group}”.")
    kept = [c for c in plan.conditions if not any(n.column == c.column for n in reading.conditions)]
    plan = replace(plan, conditions=(*kept, *reading.conditions))
    if reading.conditions and not (reading.group_mentions or reading.period):
        # `only for Berlin`: grouping by a column that now has one value says nothing.
        fixed = {c.column for c in reading.conditions if c.operator == "=="}
        plan = replace(plan, groups=tuple(group for group in plan.groups if group not in fixed))
    measures = [column for column in _measures(reading) if column.role == "measure"]
    if measures:
        plan = replace(plan, measures=_names(measures[: max(1, len(plan.measures))]), product=None)
        if plan.intent == "aggregate" and plan.aggregate == "count":
            plan = replace(plan, aggregate=natural_aggregate(measures[0]))
    if reading.aggregate and (plan.measures or reading.aggregate == "count"):
        plan = replace(plan, aggregate=reading.aggregate)
    if reading.period or reading.over_time or any(mention.column.is_time for mention in reading.group_mentions):
        groups = [mention.column for mention in reading.group_mentions]
        time, period, groups, _, _ = _time_axis(reading, table, groups, [], reading.period)
        plan = replace(
            plan,
            time=time,
            period=period,
            groups=_names(groups) if groups or time is None else (),
            limit=None,
            ranked=False,
        )
    elif reading.group_mentions:
        groups = [mention.column for mention in reading.group_mentions if mention.column.name not in plan.measures]
        keeps = reading.has(r"\b(also|as well|too|additionally|split|broken down)\b") and plan.groups
        plan = replace(
            plan,
            groups=_names(groups) if not keeps else tuple(dict.fromkeys((*plan.groups, *_names(groups))))[:2],
            time=plan.time if keeps else None,
            period=plan.period if keeps else None,
        )
    elif (
        not measures
        and not reading.conditions
        and (labels := [m.column for m in reading.mentions if m.column.can_group])
    ):
        plan = replace(plan, groups=_names(labels[:1]), time=None, period=None)
    if reading.chart:
        plan = replace(plan, chart=reading.chart)
    if reading.limit or reading.ranked:
        plan = replace(plan, limit=reading.limit or plan.limit, ascending=reading.ascending, ranked=True)
    if reading.share:
        plan = replace(plan, share=plan.intent == "aggregate")
    if plan.intent in ("overview", "missing", "duplicates", "convert", "join", "clean", "help", "unknown"):
        raise NoPlanError("")
    if plan == replace(previous, question=reading.question, choices=plan.choices):
        raise NoPlanError("")
    return plan
