"""The conditions in a question: named values, comparisons with numbers, spans of time, yes/no columns."""

import re
from datetime import date

from app.agent.offline.columns import Mention, ValueMention
from app.agent.offline.profile import Column, TableProfile
from app.agent.offline.reading import Condition, Operator, Reading
from app.agent.offline.words import name_words, plain

_MONTH_NAMES = "january february march april may june july august september october november december"
_MONTHS = tuple(_MONTH_NAMES.split())
_NUMBER = r"[$€£]?(-?\d[\d,]*\.?\d*(?:e[-+]?\d+)?)\s?(k|m|million|thousand|billion|%)?\b"
_COMPARISONS: tuple[tuple[Operator, str], ...] = (
    (">=", r"(?:>=|at least|no less than|not less than|or more than|minimum of)"),
    ("<=", r"(?:<=|at most|no more than|not more than|up to|maximum of)"),
    (
        ">",
        r"(?:>|above|over|(?:greater|more|higher|larger|bigger|older|longer) than|exceeding|exceeds|exceed)",
    ),
    ("<", r"(?:<|below|under|less than|lower than|smaller than|fewer than|younger than|shorter than)"),
    ("!=", r"(?:!=|is not|isn't|not equal to)"),
    ("==", r"(?:==?|equals|equal to|is exactly|exactly)"),
)


def conditions_in(reading: Reading, table: TableProfile) -> tuple[Condition, ...]:
    found = [*_value_conditions(reading), *_number_conditions(reading, table), *_named_conditions(reading)]
    found += _time_conditions(reading, table, {condition.column for condition in found})
    found += _flag_conditions(reading, {condition.column for condition in found})
    return tuple(dict.fromkeys(found))


def _value_conditions(reading: Reading) -> list[Condition]:
    """Values named in the question; several of one column are alternatives."""
    by_column: dict[str, list[ValueMention]] = {}
    for value in reading.values:
        by_column.setdefault(value.column.name, []).append(value)
    conditions = []
    for name, values in by_column.items():
        before = " ".join(word.plain for word in reading.words[max(0, values[0].start - 3) : values[0].start])
        negative = bool(
            re.search(r"(\bnot|\bexcept|\bexcluding|\bwithout|!=|\bnon)$", before.replace(" for", "").strip())
        )
        texts = tuple(dict.fromkeys(value.value for value in values))
        if len(texts) == 1:
            conditions.append(Condition(name, "!=" if negative else "==", texts))
        else:
            conditions.append(Condition(name, "in", texts))
    return conditions


def _number_conditions(reading: Reading, table: TableProfile) -> list[Condition]:
    text = reading.question.lower()
    conditions: list[Condition] = []
    between = re.compile(rf"\b(?:between|from)\s+{_NUMBER}\s+(?:and|to)\s+{_NUMBER}")
    for match in between.finditer(text):
        low, high = _amount(match.group(1), match.group(2)), _amount(match.group(3), match.group(4))
        if low is None or high is None or (_is_year(low) and _is_year(high)):
            continue
        if column := _number_column(reading, table, match.start(), match.end()):
            conditions.append(Condition(column.name, "between", (low, high)))
    for operator, pattern in _COMPARISONS:
        for match in re.finditer(rf"(?<![<>=!]){pattern}\s*{_NUMBER}", text):
            value = _amount(match.group(1), match.group(2))
            column = _number_column(reading, table, match.start(), match.end())
            # `up to 2010` speaks of time, not of the number that is named nearby.
            if (
                value is None
                or column is None
                or (_is_year(value) and "up to" in match.group() and column.role != "year")
            ):
                continue
            if not any(each.column == column.name and value in each.values for each in conditions):
                conditions.append(Condition(column.name, operator, (value,)))
    for match in re.finditer(_NUMBER, text):
        # `Pclass 3`, `class is 3`: a number right after a column whose values it can be.
        value = _amount(match.group(1), match.group(2))
        column = next((each.column for each in reading.mentions if _ends_before(reading, each, match.start())), None)
        if value is None or column is None or any(each.column == column.name for each in conditions):
            continue
        if column.is_number and column.role != "year" and f"{value:g}" in column.values:
            conditions.append(Condition(column.name, "==", (value,)))
        elif column.role in ("category", "identifier", "text") and match.group(1) in column.values:
            conditions.append(Condition(column.name, "==", (match.group(1),)))
    return conditions


def _amount(digits: str, scale: str | None) -> float | None:
    try:
        number = float(digits.replace(",", "").rstrip("."))
    except ValueError:
        return None
    return number * {"k": 1e3, "thousand": 1e3, "m": 1e6, "million": 1e6, "billion": 1e9}.get(scale or "", 1.0)


def _is_year(value: float) -> bool:
    return value.is_integer() and 1500 <= value <= 2200


def _ends_before(reading: Reading, mention: Mention, position: int) -> bool:
    between = reading.question[reading.words[mention.end - 1].end : position].lower()
    return (
        re.fullmatch(r"\s*(?:is|=|==|equals?|of|:)?\s*", between) is not None
        and position > reading.words[mention.end - 1].end
    )


def _number_column(reading: Reading, table: TableProfile, start: int, end: int) -> Column | None:
    """The column of numbers nearest to a comparison: before it in the sentence, else right after its number."""
    numbers = [
        mention for mention in reading.mentions if mention.column.is_number and mention.column.role != "identifier"
    ]
    if re.search(r"\b(older|younger)\b", reading.text[max(0, start - 3) : end]):
        # People say "older than 30" without naming the column of ages.
        age = next((column for column in table.columns if column.is_number and "age" in name_words(column.name)), None)
        if age is not None:
            return age
    before = [mention for mention in numbers if reading.words[mention.end - 1].end <= start]
    after = [mention for mention in numbers if reading.words[mention.start].start >= end]
    if (
        after
        and reading.words[after[0].start].start - end <= 2
        and not (before and start - reading.words[before[-1].end - 1].end <= 4)
    ):
        return after[0].column
    if before:
        return before[-1].column
    if after:
        return after[0].column
    return None


def _named_conditions(reading: Reading) -> list[Condition]:
    """`where NAME is "value"`, `NAME contains value`, `NAME is missing`, with values that the profile does not hold."""
    conditions = []
    taken = {value.column.name for value in reading.values}
    for mention in reading.mentions:
        if mention.column.name in taken:
            continue
        rest = reading.question[reading.words[mention.end - 1].end :]
        if re.match(r"\s*(is|are)\s+(missing|null|blank|empty|unknown)\b", rest, re.IGNORECASE):
            conditions.append(Condition(mention.column.name, "missing"))
        elif (
            re.match(r"\s*(is|are)\s+(not|known|present)\s*(missing|null|blank|empty)?\b", rest, re.IGNORECASE)
            and "missing" in rest.lower()
        ):
            conditions.append(Condition(mention.column.name, "present"))
        elif not mention.column.is_number and (
            match := re.match(
                r"\s*(?:contains?|containing|includes?|including|like)\s+[\"'“‘]?([^\"'”’?,]+)", rest, re.IGNORECASE
            )
        ):
            conditions.append(Condition(mention.column.name, "contains", (match.group(1).strip(" ."),)))
        elif not mention.column.is_number and (
            match := re.match(r"\s*(?:is|=|==|equals|named|called)?\s*[\"“‘']([^\"”’]+?)[\"”’']", rest, re.IGNORECASE)
        ):
            conditions.append(Condition(mention.column.name, "==", (match.group(1).strip(),)))
    return conditions


_FLAG_LINKS = (
    "for",
    "among",
    "only",
    "of",
    "with",
    "who",
    "that",
    "which",
    "whose",
    "were",
    "was",
    "had",
    "did",
    "are",
)


def _flag_conditions(reading: Reading, taken: set[str]) -> list[Condition]:
    """`for smokers`, `who survived`, `among non-smokers`: such a yes/no column keeps its yes (or no) rows."""
    conditions = []
    counts = reading.aggregate == "count" and not reading.group_mentions
    for mention in reading.mentions:
        column = mention.column
        if (
            column.role not in ("boolean", "flag")
            or column.name in taken
            or mention in reading.group_mentions
            or mention.start == 0
        ):
            continue
        place = mention.start - 1
        negative = reading.words[place].stem in ("non", "not", "never", "didn't", "didn", "without")
        if negative:
            place -= 1
        before = reading.words[place].stem if place >= 0 else ""
        linked = before in _FLAG_LINKS and (len(reading.mentions) > 1 or negative or before in ("only", "who", "that"))
        if reading.share and not negative:
            linked = linked and before in ("for", "among", "with")
        if linked or counts or (negative and not reading.has(r"\b(compare|difference|vs|versus|between)\b")):
            yes, no = yes_and_no(column)
            conditions.append(Condition(column.name, "==", (no if negative else yes,)))
    return conditions


def yes_and_no(column: Column) -> tuple[str | float, str | float]:
    """The values that mean yes and no in a flag or boolean column, as they stand in the data."""
    if column.role == "flag":
        return 1.0, 0.0
    positive = next(
        (value for value in column.values if value.casefold() in ("true", "yes", "y", "t", "ja", "oui", "是")), "True"
    )
    return positive, next((value for value in column.values if value != positive), "False")


def _time_conditions(reading: Reading, table: TableProfile, taken: set[str]) -> list[Condition]:
    """Years, months and quarters that the question names, on the table's column of time."""
    named = [mention.column for mention in reading.mentions if mention.column.role in ("date", "year")]
    times = [*named, *(column for column in table.times if column.role != "clock")]
    times = [column for column in times if column.name not in taken]
    if not times:
        return []
    column, text = times[0], reading.text
    for mention in reading.mentions:
        # Digits that belong to a column's name (gdpPercap_2007) name no year.
        for place in range(mention.start, mention.end):
            text = text.replace(plain(reading.words[place].text), " ") if reading.words[place].text.isdigit() else text
    span = _span(text)
    if span is None:
        return []
    low, high = span
    if column.role == "year":
        if low is not None and high is not None and high.year - low.year == 1:
            return [Condition(column.name, "==", (float(low.year),))]
        if low is not None and high is not None:
            return [Condition(column.name, "between", (float(low.year), float(high.year - 1)))]
        if low is not None:
            return [Condition(column.name, ">=", (float(low.year),))]
        return [Condition(column.name, "<", (float(high.year),))] if high is not None else []
    first = low.isoformat() if low is not None else "0001-01-01"
    return [Condition(column.name, "dates", (first, high.isoformat() if high is not None else "9999-12-31"))]


def _span(text: str) -> tuple[date | None, date | None] | None:
    """The days a question limits itself to: first day, first day after; an open end is None."""
    year = r"\b((?:1[5-9]|20|21)\d\d)\b"
    names = "|".join(f"{name}|{name[:3]}" for name in _MONTHS)
    if match := re.search(r"\b(\d{4})-(\d\d)-(\d\d)\b\s*(?:to|and|until|-)\s*(\d{4})-(\d\d)-(\d\d)\b", text):
        numbers = [int(part) for part in match.groups()]
        last = date(*numbers[3:])
        return date(*numbers[:3]), date.fromordinal(last.toordinal() + 1)
    if match := re.search(rf"\b({names})\.? {year}", text):
        return _month_span(int(match.group(2)), [name[:3] for name in _MONTHS].index(match.group(1)[:3]) + 1)
    if match := re.search(rf"\bq([1-4])[ ,/-]*(?:of )?{year}", text):
        first = 3 * int(match.group(1)) - 2
        return _month_span(int(match.group(2)), first)[0], _month_span(int(match.group(2)), first + 2)[1]
    if match := re.search(rf"(?:between|from)\s+{year}\s+(?:and|to|until|through|-|–)\s*{year}", text):
        return date(int(match.group(1)), 1, 1), date(int(match.group(2)) + 1, 1, 1)
    if match := re.search(rf"\b(?:since|from|starting in|as of)\s+{year}", text):
        return date(int(match.group(1)), 1, 1), None
    if match := re.search(rf"\bafter\s+{year}", text):
        return date(int(match.group(1)) + 1, 1, 1), None
    if match := re.search(rf"\b(?:before|until|prior to)\s+{year}", text):
        return None, date(int(match.group(1)), 1, 1)
    if len(re.findall(year, text)) == 1 and (
        match := re.search(rf"\b(?:in|during|for|of|year|only|and|about)\s+(?:the year\s+|year\s+)?{year}", text)
    ):
        return date(int(match.group(1)), 1, 1), date(int(match.group(1)) + 1, 1, 1)
    return None


def _month_span(year: int, month: int) -> tuple[date, date]:
    return date(year, month, 1), date(year + month // 12, month % 12 + 1, 1)
