"""Compares answers with AndroidLab's standard answers, without a language model."""

from __future__ import annotations

import re
import unicodedata

_NUMBERS = {
    word: str(value)
    for value, word in enumerate("zero one two three four five six seven eight nine ten eleven twelve".split())
}
_UNITS = {
    "hour": "hr", "hours": "hr", "hrs": "hr", "minute": "min", "minutes": "min", "mins": "min", "second": "sec",
    "seconds": "sec", "secs": "sec",
}  # fmt: skip
_IDLE = {"a", "about", "an", "and", "is", "the"}
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3})")
_NUMBER_AND_WORD = re.compile(r"(?<=\d)(?=[a-z])")


def same_answer(question: str, answer: str, standard: str) -> bool:
    """Compares an answer with a standard answer, word by word.

    Case, accents, punctuation, articles, ways to write numbers and units do not count, nor do words that the
    question has used already ("2" and "Two alarms" both answer how many alarms there are). A standard answer
    with "or" in it gives alternatives.

    Example:
        >>> same_answer("How many alarms are on?", "2", "Two alarms")
        True
        >>> same_answer("When does it ring?", "7:30 am.", "7:30AM")
        True
    """
    given, asked = _words(answer), set(_words(question))
    return any(_same(given, _words(wanted), asked) for wanted in (standard, *standard.split(" or ")))


def _same(given: list[str], wanted: list[str], asked: set[str]) -> bool:
    if given == wanted:
        return bool(wanted)
    news = [word for word in wanted if word not in asked]
    return bool(news) and news == [word for word in given if word not in asked]


def _words(text: str) -> list[str]:
    plain = unicodedata.normalize("NFKD", text).casefold()
    plain = "".join(character for character in plain if not unicodedata.combining(character))
    plain = _NUMBER_AND_WORD.sub(" ", _THOUSANDS.sub("", plain))
    words = (_word(word.strip(".:")) for word in re.findall(r"[\w@.:%]+", plain))
    return [word for word in words if word and word not in _IDLE]


def _word(word: str) -> str:
    if re.fullmatch(r"\d+\.\d+", word):
        word = word.rstrip("0").rstrip(".")
    return _NUMBERS.get(word) or _UNITS.get(word) or word
