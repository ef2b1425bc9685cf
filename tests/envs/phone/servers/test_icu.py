"""Patterns of uiautomator's clients are read as Android's engine, ICU, reads them."""

import time

import pytest

from coach_gym.envs.phone.patterns import TooSlow
from coach_gym.envs.phone.servers.uiautomator.icu import compiled

FITS = [
    (r"\Qa.b*\E!", "a.b*!"), (r"x\Q[(", "x[("), (r"[\Q^-]\E]+", "]^-"), (r"\Q\E", ""),
    (r"[a-z&&[^b]]+", "ac"), (r"[[a-c][x-z]]+", "ax"), (r"[\p{L}--[a-z]]", "Z"), ("[a|~]+", "a|~"), ("[a||b]", "|"),
    (r"\h[\h]", "\t\u00a0"), (r"\H", "a"), (r"\v[\v]", "\r\u2028"), (r"\V", "a"), (r"\R", "\r\n"),
    (r"\x{1F600}\cA\e\0101\x42C", "😀\x01\x1bABC"), (r"(?<n>a)\k<n>\1", "aaa"), (r"a\Z\n", "a\n"),
    ("(?i)Ab", "aB"), ("(?diu:A)b", "ab"), ("(?x) a b", "ab"), ("a.b", "a\nb"), ("(?-s:.)", "a"),
    ("a{2}b{2,}+c{0,1}", "aabb"), ("(?=a)a(?<=a)(?<!b)(?>c)(?#d)", "ac"), ("[{}()?*]+", "{}()?*"), (r"\{\}", "{}"),
    (r".*\d{1,2}:\d{2}.*", "at 10:30"), (r"[^\W_]", "é"), ("]", "]"),
]  # fmt: skip
FITS_NOT = [
    (r"\Qa.b\E", "axb"), ("[a-z&&[^b]]", "b"), ("[a-z&&[^b]]", "&"), (r"[\Ha]", " "), (r"\V", "\n"), ("(?-s:.)", "\n"),
]  # fmt: skip
REFUSED = [
    "(?P<n>a)", "(?P=n)", "(?&n)", "(?1)", "(?R)", "(?|a)", "(?(1)a)", "(*FAIL)", r"\K", r"\m", r"\p{javaLowerCase}",
    "(?:cats){e<=1}", "(?b:cats)", "(?V0)a", "a}", "{", "a{,2}", "[]", "[a", "[a&&b", "(", ")", "a\\", "a" * 5000,
    "[" * 3000, "(" * 3000, r"\p{" * 1300,
]  # fmt: skip


@pytest.mark.parametrize("pattern, text", FITS)
def test_what_android_reads(pattern, text):
    assert compiled(pattern).fullmatch(text)


@pytest.mark.parametrize("pattern, text", FITS_NOT)
def test_what_does_not_fit(pattern, text):
    assert not compiled(pattern).fullmatch(text)


@pytest.mark.parametrize("pattern", REFUSED)
def test_what_android_refuses(pattern):
    began = time.monotonic()
    with pytest.raises(ValueError, match="regular expression|at most"):
        compiled(pattern)
    assert time.monotonic() - began < 2


@pytest.mark.parametrize("pattern", ["(a|aa)+b", r"([a-z&&[^b]]|aa)+\Qb\E", "(.*a){25}b"])
def test_a_search_without_end_is_given_up(pattern):
    with pytest.raises(TooSlow):
        compiled(pattern).fullmatch("a" * 5000 + "bc")
