"""Find the columns and the values of a table that a question speaks of."""

import re
from collections import defaultdict
from dataclasses import dataclass, field

from rapidfuzz import fuzz, process

from app.agent.offline.profile import Column, TableProfile
from app.agent.offline.vocabulary import ABBREVIATIONS, CUMULATIVE, STEERING, SYNONYMS, VALUE_ALIASES
from app.agent.offline.words import Word, is_cjk, name_words, plain, stem

EXACT = 100.0
LEAST_SCORE = 58.0
CUT_NAME = 25.0
MOST_WINDOW = 7
_PARENTHESES = re.compile(r"\s*[\(\[][^)\]]*[\)\]]\s*")


@dataclass(frozen=True, slots=True)
class Mention:
    """A column that words `start` to `end` (exclusive) of the question mean, and what else they could have meant."""

    column: Column
    start: int
    end: int
    score: float
    others: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ValueMention:
    """A value of a column that words `start` to `end` (exclusive) of the question name."""

    column: Column
    value: str
    start: int
    end: int


@dataclass(frozen=True)
class _Index:
    forms: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    by_word: dict[str, set[int]] = field(default_factory=lambda: defaultdict(set))
    words: list[tuple[str, ...]] = field(default_factory=list)


def find_columns(words: list[Word], table: TableProfile) -> list[Mention]:
    """The columns that the question names, in the order of its words; no word counts twice."""
    index = _index_of(table)
    stems = {word.stem for word in words}
    found: list[Mention] = []
    for start in range(len(words)):
        for end in range(start + 1, min(len(words), start + MOST_WINDOW) + 1):
            scored = _score_window(words[start:end], table, index)
            if (start and words[start - 1].tied) or words[end - 1].tied:
                # `total votes_dem` names votes_dem: a window that cuts a written name is a worse reading of it.
                scored = [(score - CUT_NAME, place) for score, place in scored if score - CUT_NAME >= LEAST_SCORE]
            if scored:
                best = max(score for score, _ in scored)
                # Names that fit about as well are told apart by the question's other words: `calls ... abandoned`.
                near = [place for score, place in scored if score >= best - (0.01 if best >= EXACT else 12)]
                near.sort(
                    key=lambda place: (
                        *_preference(table.columns[place], index.words[place], stems),
                        -dict((p, s) for s, p in scored)[place],
                        place,
                    )
                )
                others = tuple(table.columns[place].name for place in near[1:4])
                found.append(Mention(table.columns[near[0]], start, end, best, others))
    found.extend(_cjk_mentions(words, table))
    chosen: list[Mention] = []
    # The surest first; of equals the one that explains more words.
    for mention in sorted(found, key=lambda each: (-each.score, each.start - each.end, each.start)):
        if all(
            mention.end <= other.start or mention.start >= other.end or _is_cjk_pair(mention, other, words)
            for other in chosen
        ):
            chosen.append(mention)
    return sorted(chosen, key=lambda each: each.start)


def _is_cjk_pair(one: Mention, other: Mention, words: list[Word]) -> bool:
    """Several columns may stand in one unbroken run of CJK characters."""
    return (
        one.start == other.start
        and one.end == other.end
        and is_cjk(words[one.start].text)
        and one.column != other.column
    )


_CUMULATIVE = re.compile(CUMULATIVE, re.IGNORECASE)
# What a question does not mean unless it says the word: bounds and ranks stand beside the value itself.
_DERIVED_WORDS = {"rank", "error", "id", "code", "min", "max", "lower", "upper"}
_ROLE_ORDER = {
    "measure": 0,
    "flag": 0,
    "category": 0,
    "boolean": 0,
    "date": 0,
    "year": 0,
    "clock": 1,
    "text": 1,
    "identifier": 2,
    "empty": 3,
}


def _preference(column: Column, name: tuple[str, ...], stems: set[str]) -> tuple[int, int, int]:
    """Of columns that fit equally: the usable ones, those that the question says more about, totals before parts."""
    said = sum(any(word == other or (len(word) > 3 and _same_root(word, other)) for other in stems) for word in name)
    derived = bool(_DERIVED_WORDS & set(name) - stems) or (
        _CUMULATIVE.search(column.name) is not None and "cumulative" not in stems
    )
    return (_ROLE_ORDER[column.role] >= 2 or derived, -said, "total" not in name)


def _index_of(table: TableProfile) -> _Index:
    index = _Index()
    for place, column in enumerate(table.columns):
        words = name_words(column.name)
        index.words.append(words)
        for form in {column.name, _PARENTHESES.sub(" ", column.name)}:
            joined = "".join(name_words(form))
            if joined and place not in index.forms[joined]:
                index.forms[joined].append(place)
        for word in words:
            for form in {word, ABBREVIATIONS.get(word, word)}:
                index.by_word[form].add(place)
    return index


def _score_window(window: list[Word], table: TableProfile, index: _Index) -> list[tuple[float, int]]:
    stems = [word.stem for word in window]
    joined = "".join(stems)
    if joined in index.forms:
        steering = len(window) == 1 and joined in STEERING
        return [(EXACT + len(window) - (35 if steering else 0), place) for place in index.forms[joined]]
    content = [each for each in stems if each not in STEERING and each.isalnum() and not each.isdigit()]
    if not content or stems[0] in STEERING or stems[-1] in STEERING:
        return []
    scored: dict[int, float] = {}
    for place in _shared(content, index):
        # Numbers count when the column holds them: `gdp 2007` is gdpPercap_2007.
        score = _overlap(stems, index.words[place])
        if score >= LEAST_SCORE:
            scored[place] = score
    if len(joined) >= 3 and len(window) <= 4:
        alike = (
            process.extract(joined, list(index.forms), scorer=fuzz.ratio, score_cutoff=84, limit=3)
            if len(joined) > 3
            else []
        )
        for form, score, _ in alike:
            if form[:1] == joined[:1]:
                for place in index.forms[form]:
                    scored[place] = max(scored.get(place, 0), score * 0.9)
        for form, places in index.forms.items():
            shorter, longer = sorted((form, joined), key=len)
            part = longer.startswith(shorter) or (longer.endswith(shorter) and longer == form)
            only = len(joined) == 3 and sum(each.startswith(joined) for each in index.forms) == 1
            if only and form.startswith(joined):
                scored.update({place: 62.0 for place in places if place not in scored})
            if (len(shorter) >= 4 and part and len(shorter) >= 0.45 * len(longer)) or _same_root(form, joined):
                for place in places:
                    scored[place] = max(scored.get(place, 0), 60 + 25 * len(shorter) / len(longer))
    return [(score, place) for place, score in scored.items()]


def _same_root(one: str, other: str) -> bool:
    """survived and survival: most of both words is one common beginning."""
    common = next(
        (place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )
    longest = max(len(one), len(other))
    return (common >= 5 and common >= 0.7 * longest) or (common >= 6 and common >= 0.5 * longest)


def _shared(content: list[str], index: _Index) -> set[int]:
    """Columns that share a word, or the idea of a word, with the window."""
    return {
        place for word in content for form in {word, *SYNONYMS.get(word, ())} for place in index.by_word.get(form, ())
    }


def _overlap(stems: list[str], name: tuple[str, ...]) -> float:
    """How well the window's words cover the column's name, 0 to 98; 0 when a word of the window is foreign to it."""
    expanded = {form for word in name for form in (word, ABBREVIATIONS.get(word, word))}
    strength = 0.0
    for word in stems:
        word_forms = {word, ABBREVIATIONS.get(word, word)}
        if word_forms & expanded:
            strength += len(word)
        elif SYNONYMS.get(word, set()) & expanded:
            strength += 0.75 * len(word)
        elif word in STEERING:
            continue
        else:
            return 0.0
    letters = sum(len(word) for word in name)
    exact = all(word in expanded for word in stems)
    head = 4.0 if name and (stems[0] == name[0] or stems[-1] == name[-1]) else 0.0
    return min(98.0, (64.0 if exact else 56.0) + 28.0 * min(1.0, strength / letters) + head)


def _cjk_mentions(words: list[Word], table: TableProfile) -> list[Mention]:
    found = []
    for place, word in enumerate(words):
        if not is_cjk(word.text):
            continue
        names = [(column, plain(column.name)) for column in table.columns if is_cjk(column.name)]
        inside = [(column, name) for column, name in names if name in word.stem]
        longest = [column for column, name in inside if not any(name != other and name in other for _, other in inside)]
        synonyms = [
            column
            for column, name in names
            if column not in longest and any(other in word.stem for other in SYNONYMS.get(name, ()) if is_cjk(other))
        ]
        found += [Mention(column, place, place + 1, EXACT + 1) for column in longest]
        found += [Mention(column, place, place + 1, 70.0) for column in synonyms if not longest]
        english = [
            column
            for column in table.columns
            for other in name_words(column.name)
            if any(s in word.stem for s in SYNONYMS.get(other, ()) if is_cjk(s))
        ]
        if not longest and not synonyms:
            found += [Mention(column, place, place + 1, 65.0) for column in dict.fromkeys(english)]
    return found


def find_values(words: list[Word], table: TableProfile, mentions: list[Mention]) -> list[ValueMention]:
    """The values of text columns that the question names; one-letter and yes/no values need their column's name."""
    index: dict[str, list[tuple[Column, str]]] = defaultdict(list)
    for column in table.columns:
        if column.role in ("category", "boolean", "text", "identifier") and column.values:
            for value in column.values:
                if key := _value_key(value):
                    index[key].append((column, value))
    found: list[ValueMention] = []
    taken: set[int] = set()
    for size in range(MOST_WINDOW, 0, -1):
        for start in range(len(words) - size + 1):
            window = words[start : start + size]
            if taken & set(range(start, start + size)):
                continue
            key = " ".join(VALUE_ALIASES.get(word.plain, word.plain) for word in window)
            options = index.get(key) or index.get(" ".join(word.stem for word in window), [])
            options = [option for option in options if _allowed(option, window, words, start, mentions)]
            if options:
                column, value = min(
                    options, key=lambda option: (_distance(option[0], start, mentions), table.columns.index(option[0]))
                )
                found.append(ValueMention(column, value, start, start + size))
                taken |= set(range(start, start + size))
    for place, word in enumerate(words):
        if is_cjk(word.text) and place not in taken:
            inside = [
                (key, option)
                for key, options in index.items()
                if is_cjk(key) and key in word.stem
                for option in options[:1]
            ]
            if inside:
                column, value = max(inside, key=lambda pair: len(pair[0]))[1]
                if plain(column.name) != plain(value):
                    found.append(ValueMention(column, value, place, place + 1))
    return sorted(found, key=lambda each: each.start)


def _value_key(value: str) -> str:
    return " ".join(part for part in re.findall(r"[^\W_]+", plain(value)))


def _distance(column: Column, start: int, mentions: list[Mention]) -> int:
    """How far from the value its column is named; far away when it is not named."""
    return min((abs(mention.start - start) for mention in mentions if mention.column == column), default=99)


_LINKS = {"is", "=", "==", "equal", "was", "are", "of", "in", "for", "only"}


def _allowed(
    option: tuple[Column, str], window: list[Word], words: list[Word], start: int, mentions: list[Mention]
) -> bool:
    column, value = option
    end = start + len(window)
    for mention in mentions:
        # A word that fully names a column is that column, unless the value's own column stands right before it.
        if mention.start < end and start < mention.end and mention.score >= 90 and mention.column != column:
            return False
        if mention.start < end and start < mention.end and mention.score >= 100:
            return False
    near = _distance(column, start, mentions) <= 3
    key = _value_key(value)
    before = words[start - 1].stem if start else ""
    if key in ("yes", "no", "true", "false", "y", "n", "t", "f") or len(key) == 1 or key.isdigit():
        return near or (
            len(key) == 1 and key.isalpha() and window[0].text == value and before in _LINKS and key not in ("a", "i")
        )
    if all(stem(part) in STEERING for part in key.split()):
        return near
    return len(key) > 1
