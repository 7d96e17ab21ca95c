"""Which intent a question's words name."""

# ruff: noqa: E501 - patterns are written whole

from app.agent.offline.reading import Reading

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
SORT = r"\b(sort|order|sorted|ordered)\b.*\b(by|on)\b|排序"
_ROWS = r"\b(filter|keep only|rows? (where|with|in|for|that)|records? (where|with)|list (all|the|every)?|find (all|the)?|show (me )?(all|the|every)? ?(rows?|records?|entries)|extract)\b|筛选"
PLOT = r"\b(chart|plot|graph|draw|visuali[sz]e|diagram)\b|图"


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
            if intent == "compare" and _plain_versus(reading):
                return "scatter"
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
    if reading.has(SORT) and not (reading.aggregate or reading.group_mentions or reading.period):
        return "rows"
    if reading.has(_ROWS) and reading.conditions and not computes:
        return "rows"
    if computes or (
        reading.mentions and (reading.has(PLOT) or reading.has(r"\b(what|which|who|show|how|give|when)\b"))
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


def _plain_versus(reading: Reading) -> bool:
    """`gdp vs life expectancy`: two columns of numbers against each other, with no word of comparing."""
    numbers = {mention.column.name for mention in reading.free_mentions if mention.column.role == "measure"}
    return (
        len(numbers) == 2
        and not reading.group_mentions
        and not reading.aggregate
        and reading.has(r"\b(vs\.?|versus)\b")
        and not reading.has(r"compar|differ|test")
    )
