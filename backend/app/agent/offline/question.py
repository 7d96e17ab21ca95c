"""What a question asks for, before it is matched to an intent: aggregate, period, ranking, chart, conditions, groupings."""

# ruff: noqa: E501 - patterns are written whole

import re
from dataclasses import replace
from typing import Literal

from app.agent.offline.columns import Mention, ValueMention, find_columns, find_values
from app.agent.offline.conditions import conditions_in
from app.agent.offline.profile import TableProfile
from app.agent.offline.reading import Aggregate, Period, Reading
from app.agent.offline.words import Word, plain, question_words

_AGGREGATES: tuple[tuple[Aggregate, str], ...] = (
    ("distinct", r"\b(unique|distinct|different)\b|去重"),
    ("median", r"\bmedian\b|中位数"),
    ("mean", r"\b(average|averages|avg|mean|means|typical|on average)\b|平均"),
    ("std", r"\b(standard deviation|std|stdev|variance)\b|标准差"),
    ("count", r"\b(how many|count|counts|number of|frequency|frequencies|how often)\b|多少|数量|个数"),
    ("sum", r"\b(total|totals|sum|sums|summed|overall|altogether|combined|how much)\b|总|合计"),
    ("max", r"\b(maximum|max)\b|最大"),
    ("min", r"\b(minimum|min)\b|最小"),
)
_PERIOD_WORDS: tuple[tuple[Period, str, str], ...] = (
    ("hour", "hourly", "每小时"),
    ("day", "daily", "每天|每日|按天"),
    ("week", "weekly", "每周|按周"),
    ("month", "monthly", "每月|按月|月度"),
    ("quarter", "quarterly", "每季|按季"),
    ("year", "yearly|annual|annually|over the years", "每年|按年|年度"),
)
# `by month`, `month over month`, `which month had the most`.
_PERIODS: tuple[tuple[Period, str], ...] = tuple(
    (
        period,
        rf"\b({adverbs}|(by|per|each|every|of) (the )?{period}|{period}[- ]over[- ]{period}"
        rf"|(which|what|best|worst|busiest|strongest|weakest|top|peak|the) {period}s? (had|has|have|was|is|were|with|saw|did))\b"
        rf"|{chinese}",
    )
    for period, adverbs, chinese in _PERIOD_WORDS
)
_OVER_TIME = r"\b(trend|trends|over time|time series|timeline|evolution|evolve|develop(ed|ment)?|progress(ion)?|line chart|line graph|line plot|history|over the (years|months|days|weeks))\b|趋势|变化"
_CHARTS = (
    ("heat map", r"\bheat ?map\b"), ("scatter", r"\bscatter\b"), ("histogram", r"\bhistogram\b"), ("box", r"\bbox ?-?(plot|chart|and)|\bboxplots?\b"),
    ("pie!", r"\b(pie|donut|doughnut)\b.*\b(anyway|really|insist|still|regardless)\b|\b(really|insist|still)\b.*\b(pie|donut)\b"),
    ("pie", r"\b(pie|donut|doughnut)\b"), ("area", r"\barea (chart|graph|plot)\b"), ("line", r"\bline (chart|graph|plot)\b|\bas (a )?lines?\b"),
    ("bar", r"\bbar (chart|graph|plot)s?\b|\bbars\b|\bcolumn chart\b|柱状图"),
)  # fmt: skip
_NUMBER_WORDS = {
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "nine": 9,
    "ten": 10,
    "twenty": 20,
}
_HIGH = r"highest|most|largest|biggest|greatest|best|oldest|longest|tallest|heaviest|richest|priciest|most expensive|fastest|leading|maximum|max|最高|最多"
_LOW = r"lowest|least|fewest|smallest|worst|youngest|shortest|lightest|cheapest|poorest|slowest|minimum|min|最低|最少"
_GROUP_LINKS = {"by", "per", "each", "every", "across", "within"}


def read_question(question: str, table: TableProfile) -> Reading:
    """Read a question against a table's columns and values."""
    words = question_words(question)
    mentions = find_columns(words, table)
    values = find_values(words, table, mentions)
    mentions = [each for each in mentions if not _inside_value(each, values)]
    reading = Reading(question, words, mentions, values, columns=table.columns)
    text = _without_names(question, words, mentions)
    limit, ascending, ranked = _ranking(text)
    named_aggregate = next((name for name, pattern in _AGGREGATES if re.search(pattern, text)), None)
    extreme = (
        None
        if named_aggregate in {"mean", "median", "sum", "count"}
        else _extreme_of_each(text, ranked=ranked, limit=limit)
    )
    if extreme is not None:
        ascending, ranked = False, False
    groups, sorts, unmatched = _groupings(words, mentions, text)
    period = next((name for name, pattern in _PERIODS if re.search(pattern, text)), None)
    reading = replace(
        reading,
        aggregate=extreme or named_aggregate,
        share=bool(re.search(r"\b(percentage|percent|share|shares|proportion|fraction|rate|rates|breakdown)\b|\d ?%|\bwhat %|占比|比例", text)),
        period=period,
        over_time=bool(re.search(_OVER_TIME, text)) or unmatched == "date",
        limit=limit, ascending=ascending, ranked=ranked,
        chart=next((name for name, pattern in _CHARTS if re.search(pattern, text)), None),
        group_mentions=groups, sort_mentions=sorts,
        unmatched_group=None if period or unmatched == "date" else unmatched,
        spearman="spearman" in text or "rank correlation" in text,
    )  # fmt: skip
    return replace(reading, conditions=conditions_in(reading, table))


def _extreme_of_each(text: str, *, ranked: bool, limit: int | None) -> Literal["max", "min"] | None:
    """`highest price by year` asks for the highest of each year; `which year has the highest price` for one year."""
    if not ranked or limit is not None or re.search(r"\b(which|who|what|whose|top|bottom)\b", text):
        return None
    match = re.search(r"\b(highest|maximum|max|lowest|minimum|min)\b.*\b(by|per|for each|in each|of each)\b", text)
    return None if match is None else "max" if match.group(1) in {"highest", "maximum", "max"} else "min"


def _without_names(question: str, words: list[Word], mentions: list[Mention]) -> str:
    """The question without the long names of columns: `average` in `Average Price` asks for no average."""
    for mention in mentions:
        if mention.score > 101 and mention.end - mention.start > 1:
            start, end = words[mention.start].start, words[mention.end - 1].end
            question = question[:start] + "_" * (end - start) + question[end:]
    return plain(question)


def _inside_value(mention: Mention, values: list[ValueMention]) -> bool:
    return mention.score < 100 and any(value.start <= mention.start and mention.end <= value.end for value in values)


def _ranking(text: str) -> tuple[int | None, bool, bool]:
    """(how many, from the low end, whether a ranking is asked for at all)"""
    number = rf"(\d+|{'|'.join(_NUMBER_WORDS)})"
    for pattern, low in ((rf"\b(?:top|first|highest|largest|best|biggest)[- ]{number}\b", False),
                         (rf"\b(?:bottom|last|lowest|smallest|worst)[- ]{number}\b", True),
                         (rf"\b{number} (?:\w+ )?(?:{_HIGH})\b", False), (rf"\b{number} (?:\w+ )?(?:{_LOW})\b", True)):  # fmt: skip
        if match := re.search(pattern, text):
            word = match.group(1)
            return int(_NUMBER_WORDS.get(word, 0) or word), low, True
    if re.search(r"\b(top|bottom)\b", text):
        return 10, "bottom" in text, True
    if re.search(rf"\b({_HIGH})\b", text):
        return None, False, True
    if re.search(rf"\b({_LOW})\b", text):
        return None, True, True
    if re.search(r"\b(rank|ranking|ranked)\b|排名", text):
        return None, False, True
    return None, False, False


def _groupings(
    words: list[Word], mentions: list[Mention], text: str
) -> tuple[tuple[Mention, ...], tuple[Mention, ...], str | None]:
    """Columns after `by`, `per`, `for each`; columns after `sorted by`; a grouping word that is no column."""
    groups: list[Mention] = []
    sorts: list[Mention] = []
    unmatched = None
    for place, word in enumerate(words):
        if word.stem not in _GROUP_LINKS or any(mention.start <= place < mention.end for mention in mentions):
            continue
        before = words[place - 1].stem if place else ""
        target = (
            sorts
            if before in ("sort", "sorted", "order", "ordered", "rank", "ranked", "ascending", "descending")
            else groups
        )
        after = place + 1
        while after < len(words) and words[after].stem in ("the", "each", "every", "a", "an", "both", "of", "by"):
            after += 1
        named = next(
            (mention for mention in mentions if mention.start <= after < mention.end or mention.start == after), None
        )
        if named is None:
            # One adjective may stand between: `by passenger class`.
            named = (
                next((mention for mention in mentions if mention.start == after + 1), None)
                if after < len(words) and words[after].stem not in ("and", "in")
                else None
            )
        if named is None:
            if (
                word.stem in ("by", "per")
                and after < len(words)
                and words[after].stem.isalpha()
                and len(words[after].stem) > 2
            ):
                unmatched = unmatched or words[after].text
            continue
        if named not in target:
            target.append(named)
        follow = named.end
        while follow + 1 < len(words) and words[follow].stem in ("and", "then"):
            more = next(
                (
                    mention
                    for mention in mentions
                    if mention.start in (follow + 1, follow + 2) and mention not in target
                ),
                None,
            )
            if more is None:
                break
            target.append(more)
            follow = more.end
    if not groups and (match := re.search(r"按(.{1,12}?)(统计|分组|汇总|计算|的)", text)):
        groups = [mention for mention in mentions if plain(mention.column.name) in match.group(1)]
    return tuple(groups), tuple(sorts), unmatched if not groups and not sorts else None
