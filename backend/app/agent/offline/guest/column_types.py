"""Turn columns of text into numbers and dates, and say which part each column can play.

Roles: `measure` (a number to add up or average), `flag` (0 or 1), `year`, `date`, `clock` (time of day), `boolean` (yes/no),
`category` (few distinct texts), `text`, `identifier` (never added up), `empty`.
"""

import re
from typing import Any

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
    r"(^|[\s_\-.#/])(id|ids|uuid|guid|fips|zip|zipcode|postcode|phone|ssn|isbn|sku|serial|index|key|code|plz)$"
    r"|[a-z](ID|Id|Code|Key)$|^(id|rowid|#|no\.?|nr\.?|index|s\.?no\.?|row ?id|zip ?code|postal ?code)$|编号",
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
) -> None:
    """Type each column in place and fill `roles`, `units` and `notes`."""
    texts = [name for name in frame.columns if _is_text(frame[name])]
    comma = _decimal_comma(frame[texts], decimal_comma)
    if comma:
        notes.append("Decimal commas were read (1.234,5 is 1234.5).")
    typed: dict[str, Any] = {}
    for name in frame.columns:
        typed[name] = _typed(frame[name], name, units, notes, comma) if name in set(texts) else _native(frame[name])
    for name, values in typed.items():
        roles[name] = _role(values, name, units)
        if roles[name] == "year":
            units.pop(name, None)
    if texts:
        # In one step: column by column, wide tables would be copied over and over.
        replaced = pd.DataFrame(typed, index=frame.index, columns=frame.columns)
        frame.drop(columns=list(frame.columns), inplace=True)
        for start in replaced.columns:
            frame[start] = replaced[start] if len(replaced.columns) < 200 else None
        if len(replaced.columns) >= 200:
            raise NotImplementedError
