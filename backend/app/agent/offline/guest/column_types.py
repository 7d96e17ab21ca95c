"""Turn columns of text into numbers and dates, and say which part each column can play.

Roles: `measure` (a number to add up or average), `flag` (0 or 1), `year`, `date`, `clock` (time of day), `boolean` (yes/no),
`category` (few distinct texts), `text`, `identifier` (never added up), `empty`.
"""

# ruff: noqa: E501 - patterns are written whole

import re
import warnings
from typing import Any

import numpy as np
import pandas as pd

# What pandas itself takes for missing; further marks count only inside columns of numbers or dates.
MISSING = ["", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A"]
MISSING += ["NA", "NULL", "NaN", "None", "n/a", "nan", "null"]
MISSING_AMONG_NUMBERS = [
    "-",
    "--",
    "---",
    "?",
    ".",
    "..",
    "*",
    "x",
    "N.A.",
    "n.a.",
    "missing",
    "unknown",
    "none",
    "nil",
]

# Share of the values that must read as numbers (or dates) before a column counts as one; the rest is reported.
ENOUGH = 0.9
MOST_CATEGORIES = 60

BOOLEANS = ({"true", "false"}, {"yes", "no"}, {"y", "n"}, {"t", "f"}, {"ja", "nein"}, {"oui", "non"}, {"是", "否"})
TIME_NAME = re.compile(
    r"date|time|day|month|period|stamp|\bts\b|\bdt\b|_at$|datum|zeit|fecha|日期|时间|年月", re.IGNORECASE
)
YEAR_NAME = re.compile(
    r"(^|[^a-z])(year|yr|fy|jahr|annee|année|año|anno|time|period|season)s?([^a-z]|$)|year$|^year|年", re.IGNORECASE
)
ID_NAME = re.compile(
    r"(?i:(^|[\s_\-.#/])(ids?|uuid|guid|fips|zip|zipcode|postcode|phone|ssn|isbn|sku|serial|index|key|code|plz)$)"
    r"|(?i:^(rowid|#|no\.?|nr\.?|s\.?no\.?|row ?id|zip ?code|postal ?code)$)|[a-z](ID|Id|Code|Key)$|[A-Z]{2}ID$|编号",
)
DURATION_NAME = re.compile(r"wait|duration|elapsed|length|avg|average|abandon|took|lap|pace|时长", re.IGNORECASE)
COORDINATE_NAME = re.compile(r"^(lat|lon|lng|latitude|longitude)$", re.IGNORECASE)
CURRENCY = "$€£¥₹₽₩฿"

DATE_FORMATS = (
    "%Y-%m-%d", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S.%f", "%Y/%m/%d", "%Y/%m/%d %H:%M:%S", "%Y/%m/%d %H:%M",
    "%Y.%m.%d", "%Y-%m", "%Y/%m", "%d-%b-%Y", "%d-%b-%y", "%d %b %Y", "%d %B %Y", "%b %d, %Y", "%B %d, %Y", "%b %d %Y",
    "%B %d %Y", "%b %d %Y %I:%M:%S %p", "%b %d, %Y %I:%M:%S %p", "%b %Y", "%B %Y", "%b-%y", "%b-%Y", "%Y-%b-%d", "%Y-%b-%d %H:%M:%S",
    "%d.%m.%Y", "%d.%m.%y", "%d.%m.%Y %H:%M", "%d.%m.%Y %H:%M:%S", "%Y年%m月%d日", "%Y年%m月", "%d-%b-%Y %H:%M:%S", "%a %b %d %Y",
    "%a, %d %b %Y %H:%M:%S", "%A, %B %d, %Y", "%m/%Y", "%Y.%m.%d %H:%M:%S",
)  # fmt: skip
# The same writing with day and month in the two orders.
SLASH_FORMATS = tuple(
    (f"%m{mark}%d{mark}{rest}", f"%d{mark}%m{mark}{rest}")
    for mark in "/-"
    for rest in ("%Y", "%y", "%Y %H:%M", "%Y %H:%M:%S", "%y %H:%M", "%Y %I:%M %p", "%Y %I:%M:%S %p", "%y %H:%M:%S")
)


def type_columns(
    frame: pd.DataFrame, roles: dict[str, str], units: dict[str, str], notes: list[str], *, decimal_comma: bool
) -> pd.DataFrame:
    """The frame with each column typed; fills `roles`, `units` and `notes`. `decimal_comma`: the file's form suggests it."""
    texts = {name for name in frame.columns if _is_text(frame[name])}
    uniques = {name: _distinct(frame[name]) for name in texts}
    comma = _has_decimal_comma([values for _, values in uniques.values()], decimal_comma)
    if comma:
        notes.append("Decimal commas were read (1.234,5 is 1234.5).")
    typed: dict[str, Any] = {}
    for name in frame.columns:
        codes, distinct = uniques.get(name, (None, None))
        values = _native(frame[name]) if codes is None else _typed(codes, distinct, name, units, notes, comma)
        if pd.api.types.is_numeric_dtype(values) and (dates := dates_in_numbers(values, name)) is not None:
            notes.append(f"{name!r} holds dates written as numbers.")
            values = dates
        typed[name] = values
        roles[name] = _role(typed[name], name, units)
    return pd.DataFrame(typed, columns=frame.columns)


def _distinct(column: Any) -> tuple[Any, Any]:
    """(which of the distinct texts stands in each row, the distinct texts), texts without outer blanks."""
    cells = column.to_numpy(dtype=object)
    texts = np.array(["" if cell is None or cell != cell else str(cell).strip() for cell in cells], dtype=object)
    codes, distinct = pd.factorize(texts)
    return codes, distinct


def _is_text(column: Any) -> bool:
    return not (
        pd.api.types.is_numeric_dtype(column)
        or pd.api.types.is_datetime64_any_dtype(column)
        or pd.api.types.is_bool_dtype(column)
    )


def _native(column: Any) -> Any:
    """A column that its file already typed: dates lose their zone (as UTC), truth values become text."""
    if pd.api.types.is_bool_dtype(column):
        return column.map({True: "True", False: "False"}).reset_index(drop=True)
    if isinstance(column.dtype, pd.DatetimeTZDtype):
        return column.dt.tz_convert("UTC").dt.tz_localize(None).reset_index(drop=True)
    if pd.api.types.is_float_dtype(column):
        return pd.Series(_whole_if_possible(column.to_numpy(dtype=float, na_value=np.nan)))
    return column.reset_index(drop=True)


def _whole_if_possible(numbers: Any) -> Any:
    """Integers when every number is one and none is missing."""
    if len(numbers) and not np.isnan(numbers).any() and (numbers % 1 == 0).all() and np.abs(numbers).max() < 2**53:
        return numbers.astype("int64")
    return numbers


def _typed(codes: Any, uniques: Any, name: str, units: dict[str, str], notes: list[str], comma: bool) -> Any:
    """One column of text as the type that nearly all of its values have. `codes` say which of `uniques` stands in each row."""
    counts = np.bincount(codes, minlength=len(uniques))
    known = np.array([value not in MISSING for value in uniques], dtype=bool)
    present = int(counts[known].sum())
    if present == 0:
        return pd.Series(np.nan, index=range(len(codes)), dtype=float)
    marks = known & np.array([value.lower() in MISSING_AMONG_NUMBERS for value in uniques], dtype=bool)
    kept = known & ~marks
    total = int(counts[kept].sum())
    for convert in (_as_durations, _as_numbers, _as_dates):
        if total == 0 or (converted := convert(uniques[kept], name, units, notes, comma)) is None:
            continue
        good = int(counts[kept][pd.notna(converted)].sum())
        if good < ENOUGH * total or good == 0:
            units.pop(name, None)
            continue
        _note_losses(name, total - good, int(counts[marks].sum()), convert is _as_dates, notes)
        nothing = np.datetime64("NaT", "ns") if converted.dtype.kind == "M" else np.nan
        values = np.full(len(uniques), nothing, dtype=converted.dtype)
        values[kept] = converted
        filled = values.take(codes)
        return pd.Series(_whole_if_possible(filled) if filled.dtype.kind == "f" else filled)
    values = pd.Series(uniques, dtype=object)
    values[~known] = None
    return values.take(codes).reset_index(drop=True).astype("str")


def _note_losses(name: str, unread: int, marked: int, dates: bool, notes: list[str]) -> None:
    if unread:
        notes.append(
            f"{unread:,} value(s) of {name!r} could not be read as a {'date' if dates else 'number'} and count as missing."
        )
    if marked:
        notes.append(f"{marked:,} mark(s) such as '-' or '?' in {name!r} count as missing.")


# --- Numbers ----------------------------------------------------------------------------------------------------------

_PLAIN = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
_POINT = re.compile(r"[-+]?\d{1,3}(,\d{3})+(\.\d*)?|[-+]?\d{1,3}(,\d\d)*,\d{3}(\.\d*)?")
_COMMA = re.compile(r"[-+]?\d+,\d+|[-+]?\d{1,3}(\.\d{3})+(,\d*)?")
_CERTAIN_COMMA = re.compile(r"[-+]?\d{1,3}(\.\d{3})+,\d*|[-+]?\d+,(\d{1,2}|\d{4,})|[-+]?0,\d+|[-+]?\d{4,},\d+")
_CERTAIN_POINT = re.compile(r"[-+]?\d{1,3}(,\d{3})+\.\d*|[-+]?\d+\.(\d{1,2}|\d{4,})|[-+]?\d{1,3}(,\d{3}){2,}")
_LEADING_ZERO = re.compile(r"0\d+")
_SPACES = re.compile("[\\s\u00a0\u202f\u2009'’]")
_SCALES = {"k": 1e3, "K": 1e3, "M": 1e6, "m": 1e6, "B": 1e9, "bn": 1e9}


def _bare(value: str) -> str:
    """A number as written, without sign words, currency, percent and spaces."""
    text = _SPACES.sub("", value)
    if text.startswith("(") and text.endswith(")"):
        text = "-" + text[1:-1]
    text = text.strip(CURRENCY + "%")
    for word in ("USD", "EUR", "GBP", "US$", "CNY", "RMB", "CHF", "元", "円"):
        text = text.removeprefix(word).removesuffix(word)
    if text.startswith("-") and len(text) > 1:
        text = "-" + text[1:].strip(CURRENCY)
    return "-" + text[:-1] if text.endswith("-") else text


def _has_decimal_comma(columns: list[Any], suggested: bool) -> bool:
    """Whether the file writes 1,5 for one and a half: by certain writings, and by the delimiter only when they are silent."""
    commas = points = 0
    for values in columns:
        sample = [_bare(value) for value in values[:500] if value]
        numeric = sum(
            bool(_COMMA.fullmatch(text) or _POINT.fullmatch(text) or _PLAIN.fullmatch(text)) for text in sample
        )
        if not sample or numeric < ENOUGH * len(sample):
            continue
        commas += sum(bool(_CERTAIN_COMMA.fullmatch(text)) for text in sample)
        points += sum(bool(_CERTAIN_POINT.fullmatch(text)) for text in sample)
    return commas > points or (suggested and commas == points and commas > 0)


def _as_numbers(values: Any, name: str, units: dict[str, str], notes: list[str], comma: bool) -> Any:
    if any(_LEADING_ZERO.fullmatch(value) for value in values[:1000]):
        return None  # codes such as 02013 would lose their zeros
    bare = [_bare(value) for value in values]
    numbers = np.array([_number(text, comma) for text in bare], dtype=float)
    if np.isnan(numbers).mean() > 0.5:
        return None
    percent = sum(value.endswith("%") for value in values)
    if percent > 0.5 * len(values):
        units[name] = "%"
        notes.append(f"{name!r} is in percent (15 means 15 %).")
    else:
        signs = [mark for mark in CURRENCY if sum(mark in value for value in values) > 0.5 * len(values)]
        if signs:
            units[name] = signs[0]
    return numbers


def _number(text: str, comma: bool) -> float:
    if comma and _COMMA.fullmatch(text):
        return float(text.replace(".", "").replace(",", "."))
    if _PLAIN.fullmatch(text):
        return float(text)
    if _POINT.fullmatch(text):
        return float(text.replace(",", ""))
    for suffix, scale in _SCALES.items():
        stem = text.removesuffix(suffix)
        if stem != text and _PLAIN.fullmatch(stem):
            return float(stem) * scale
    return float("nan")


# --- Dates and times --------------------------------------------------------------------------------------------------


def _as_durations(values: Any, name: str, units: dict[str, str], notes: list[str], comma: bool) -> Any:
    """hh:mm:ss in a column whose name speaks of a duration, as seconds."""
    if not DURATION_NAME.search(name) or not all(
        re.fullmatch(r"\d+:\d\d:\d\d(\.\d+)?", value) for value in values[:50]
    ):
        return None
    seconds = pd.to_timedelta(pd.Series(values), errors="coerce").dt.total_seconds().to_numpy()
    units[name] = "seconds"
    notes.append(f"{name!r} was read as a duration, in seconds.")
    return seconds


def _as_dates(values: Any, name: str, units: dict[str, str], notes: list[str], comma: bool) -> Any:
    texts = pd.Series(values, dtype=str)
    sample = texts.iloc[np.linspace(0, len(texts) - 1, min(len(texts), 400)).astype(int)]
    if all(re.fullmatch(r"\d{1,2}:\d\d(:\d\d)?( ?[AP]M)?", value, re.IGNORECASE) for value in sample):
        clock = pd.to_datetime("1970-01-01 " + texts, format="mixed", errors="coerce")
        units[name] = "clock"
        return clock.to_numpy()
    cleaned = _plain_dates(texts)
    found = _date_format(_plain_dates(sample), name, notes, comma)
    if found is None:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if found == "iso":
            return pd.to_datetime(cleaned, format="ISO8601", errors="coerce", utc=True).dt.tz_localize(None).to_numpy()
        return pd.to_datetime(cleaned, format=found, errors="coerce").to_numpy()


def _plain_dates(texts: Any) -> Any:
    """Dates without what surrounds them in logs and ephemerides: `A.D.`, an underscore, a time scale."""
    texts = texts.str.replace(r"^A\.D\. ", "", regex=True).str.replace(r"_?(TAI|UTC|TDB|GMT)$", "", regex=True)
    texts = texts.str.replace(r"(?<=\d)_(?=\d)", " ", regex=True).str.replace(r"\s+", " ", regex=True)
    return texts.str.replace(r"(?<=:\d\d)\.0+$", "", regex=True).str.strip()


def _date_format(sample: Any, name: str, notes: list[str], comma: bool) -> str | None:
    if not sample.str.contains(r"\d").all():
        return None

    def fit(form: str) -> float:
        return float(pd.to_datetime(sample, format=form, errors="coerce").notna().mean())

    zoned = sample.str.contains(r"T|Z$|[+-]\d\d:\d\d$", regex=True).mean() > 0.5
    if zoned and pd.to_datetime(sample, format="ISO8601", errors="coerce", utc=True).notna().mean() >= ENOUGH:
        return "iso"
    if sample.str.match(r"\d").mean() < ENOUGH and not sample.str.contains(r"\d{4}|\d\d$", regex=True).mean() >= ENOUGH:
        return None
    for month_first, day_first in SLASH_FORMATS:
        first, second = fit(month_first), fit(day_first)
        if max(first, second) >= ENOUGH:
            if first == second:
                chosen = day_first if comma else month_first
                notes.append(
                    f"Dates in {name!r} could be day-first or month-first; {'day' if comma else 'month'}-first was assumed."
                )
                return chosen
            if second > first:
                notes.append(f"Dates in {name!r} are day-first.")
            return month_first if first > second else day_first
    return next((form for form in DATE_FORMATS if fit(form) >= ENOUGH), None)


# --- Roles ------------------------------------------------------------------------------------------------------------


def _role(values: Any, name: str, units: dict[str, str]) -> str:
    if pd.api.types.is_numeric_dtype(values):
        numbers = values.to_numpy(dtype=float, na_value=np.nan)
        present = numbers[~np.isnan(numbers)]
        return _number_role(present, name) if len(present) else "empty"
    present = values.dropna()
    if present.empty:
        return "empty"
    if pd.api.types.is_datetime64_any_dtype(values):
        return "clock" if units.get(name) == "clock" else "date"
    distinct = present.nunique()
    if distinct == 2 and {value.lower() for value in present.unique()} in BOOLEANS:
        return "boolean"
    if distinct > 0.9 * len(present) and distinct > 20:
        return "identifier" if ID_NAME.search(name) else "text"
    if distinct <= MOST_CATEGORIES or (distinct <= 0.5 * len(present) and present.str.len().mean() <= 60):
        return "category"
    return "text"


def _number_role(present: Any, name: str) -> str:
    """The role of numbers, none of them missing."""
    whole = bool((present % 1 == 0).all())
    timely = YEAR_NAME.search(name) or TIME_NAME.search(name)
    if whole and timely and present.min() >= 1500 and present.max() <= 2200:
        return "year"
    if whole and (ID_NAME.search(name) or name.startswith("Unnamed: ")):
        return "identifier"
    if whole and len(present) > 20 and (np.diff(present) == 1).all():
        return "identifier"
    return "flag" if set(np.unique(present)) == {0, 1} else "measure"


def dates_in_numbers(values: Any, name: str) -> Any:
    """Numbers that are really dates (20140918, or seconds since 1970 in a column of times), or None."""
    if not TIME_NAME.search(name):
        return None
    present = values.dropna()
    if present.empty or not (present % 1 == 0).all():
        return None
    if present.between(18000101, 21001231).all():
        dates = pd.to_datetime(
            values.map(lambda number: f"{number:.0f}", na_action="ignore"), format="%Y%m%d", errors="coerce"
        )
        return dates if dates[values.notna()].notna().mean() > ENOUGH else None
    if present.between(180001, 210012).all() and present.mod(100).between(1, 12).all():
        return pd.to_datetime(
            values.map(lambda number: f"{number:.0f}", na_action="ignore"), format="%Y%m", errors="coerce"
        )
    for unit, low in (("s", 6e8), ("ms", 6e11)):
        if present.between(low, 3.5 * low).all():
            return pd.to_datetime(values, unit=unit)
    return None
