"""Words of questions and of column names in one comparable form."""

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[A-Za-z])(?=\d)|(?<=\d)(?=[A-Za-z])")
_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
_WORD = re.compile(rf"[{_CJK}]+|[^\W_{_CJK}]+(?:['’][a-z]+)?|[<>=!]=?|%|[$€£¥#]")
_CJK_RUN = re.compile(rf"[{_CJK}]+")


def plain(text: str) -> str:
    """Without case, accents and width variants."""
    decomposed = unicodedata.normalize("NFKD", text).casefold()
    return unicodedata.normalize("NFC", "".join(mark for mark in decomposed if not unicodedata.combining(mark)))


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """A word without its plural ending; words are in `plain` form."""
    word = re.sub(r"['’]s?$", "", word)
    if len(word) > 6 and word.endswith(("iest", "iness")):
        return word[: -4 if word.endswith("iest") else -5] + "y"
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("sses", "xes", "ches", "shes", "zes")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


@lru_cache(maxsize=50_000)
def name_words(name: str) -> tuple[str, ...]:
    """The words of a column's name: camelCase, snake_case, digits and punctuation cut it."""
    parts = [part for piece in re.split(r"[\W_]+", name) for part in _CAMEL.split(piece)]
    return tuple(stem(plain(part)) for part in parts if part)


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a question: as written, its stem, and where it stands (characters).

    `tied` says that an underscore ties it to the next word: the two were written as one name.
    """

    text: str
    stem: str
    start: int
    end: int
    tied: bool = False

    @property
    def plain(self) -> str:
        return plain(self.text)


def question_words(question: str) -> list[Word]:
    """The words of a question in order; runs of CJK stay whole, camelCase and snake_case are cut as in names."""
    words: list[Word] = []
    for match in _WORD.finditer(question.replace("_", " ")):
        text = match.group()
        if _CJK_RUN.fullmatch(text):
            words.append(Word(text, plain(text), match.start(), match.end()))
            continue
        position = match.start()
        for part in _CAMEL.split(text) if not re.fullmatch(r"[A-Za-z]?\d+(st|nd|rd|th)?", text) else [text]:
            end = position + len(part)
            words.append(Word(part, stem(plain(part)), position, end, tied=question[end : end + 1] == "_"))
            position = end
    return words


def is_cjk(text: str) -> bool:
    return bool(_CJK_RUN.search(text))
