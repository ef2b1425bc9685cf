"""Replacements for upstream's judges that contradict their task: `judges="fixed"`.

Each says what is wrong with the original. Everything else about a task stays upstream's: its goal, its budget, and the
pages that its judge looks at where these were right.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from coach_gym.envs.suites.official_lab.checkout import Definition
from coach_gym.envs.suites.official_lab.compressed import Tree

Verdict = dict[str, Any]
Judge = Callable[[Any, Tree, dict[str, Any]], Verdict]
"""A judge's method: itself, the screen, the line of the trace."""

ELSEWHERE: Verdict = {"judge_page": False}


def fix(definition: Definition) -> Definition:
    """Returns the same task, judged by what it asks for."""
    if definition.id not in FIXES:
        return definition
    attributes = {"judge": FIXES[definition.id], "judge_page": lambda self, tree: True}
    return replace(definition, judge=type(f"Fixed_{definition.id}", (definition.judge,), attributes))


# reading a screen


def _levels(tree: Tree, above: str = "") -> Iterator[tuple[str, Tree]]:
    """Yields every element that contains others, with these."""
    yield above, tree
    for key, value in tree.items():
        if isinstance(value, dict):
            yield from _levels(value, key)


def _shows(tree: Tree, text: str) -> bool:
    """Returns whether a text is anywhere on the screen; "5 minutes" is not in "15 minutes"."""
    pattern = re.compile(rf"(?<!\w){re.escape(text)}")
    return any(pattern.search(key) for _, level in _levels(tree) for key in level)


def _beside(tree: Tree, text: str) -> list[str]:
    """Returns the descriptions of everything in one element with a text, and of that element."""
    return [key for above, level in _levels(tree) if any(text in key for key in level) for key in (above, *level)]


def _words(key: str) -> str:
    """Returns what an element shows."""
    return key.rpartition(";")[2].strip()


def _verdict(*goals: bool) -> Verdict:
    marks = {str(number): goal for number, goal in enumerate(goals, start=1)}
    return {"judge_page": True, **marks, "complete": all(goals)}


# the kinds of judges


def _setting_is(value: str) -> Judge:
    """Requires this value from the device; upstream accepts other answers too, even a failed command."""

    def judge(self: Any, tree: Tree, line: dict[str, Any]) -> Verdict:
        outputs = list(line.get("command", {}).values())
        return _verdict(outputs[0].rpartition("=")[2].strip() == value) if outputs else ELSEWHERE

    return judge


def _page_shows(page: str, *wanted: str) -> Judge:
    """Requires a page that shows one text to show others, too."""

    def judge(self: Any, tree: Tree, line: dict[str, Any]) -> Verdict:
        return _verdict(*(_shows(tree, text) for text in wanted)) if _shows(tree, page) else ELSEWHERE

    return judge


def _storage_of_apps(self: Any, tree: Tree, line: dict[str, Any]) -> Verdict:
    """Judges setting_6: upstream notes what the page shows and never says "complete"; here the answer must match."""
    sizes = [word for key in _beside(tree, ";Apps ") if re.search(r"\d [MG]B", word := _words(key))]
    if sizes and _shows(tree, ";Storage "):
        self.save_answer(sizes[0])
    if line["parsed_action"]["action"] != "finish":
        return ELSEWHERE
    return _verdict(self.check_answer(line))


def _browser(self: Any, tree: Tree, line: dict[str, Any]) -> Verdict:
    """Judges setting_19: upstream accepts a page that shows Firefox; here it must be the chosen browser."""
    if not _shows(tree, "Default browser app"):
        return ELSEWHERE
    states = [key.split(";")[2] for key in _beside(tree, ";Firefox ") if key.count(";") >= 4]
    return _verdict(any(" checked" in f" {state}" for state in states))


def _label_members(self: Any, tree: Tree, line: dict[str, Any]) -> Verdict:
    """Judges contacts_5: the goal names AAA and ABC, upstream looks for three others."""
    if not (_shows(tree, "work \u2022 ") and _shows(tree, "Add contacts")):
        return ELSEWHERE
    return _verdict(_shows(tree, ";AAA "), _shows(tree, ";ABC "))


def _any_title(self: Any, tree: Tree, line: dict[str, Any]) -> Verdict:
    """Judges calendar_10: upstream looks for "this_day" where the goal says "this day"."""
    return _verdict(True) if _shows(tree, "this day") or _shows(tree, "this_day") else ELSEWHERE


def _all_day(self: Any, tree: Tree, line: dict[str, Any]) -> Verdict:
    """Judges calendar_14: upstream looks for a yearly event; the goal asks for one that lasts all day."""
    if not _shows(tree, "exam"):
        return ELSEWHERE
    keys = [key for text in ("All day", "All-day", "all day", "all-day") for key in _beside(tree, text)]
    return _verdict(bool(keys) and not any("unchecked" in key for key in keys))


# alarms


def _alarms(tree: Tree) -> list[tuple[str, bool]]:
    """Yields the time and the state of each alarm in the list, however deeply its parts are nested."""
    found: list[tuple[str, bool]] = []
    time = ""
    for _, level in _levels(tree):
        for key in level:
            if shown := re.search(r"\d{1,2}:\d\d\s[AP]M", key):
                time = shown[0].replace("\u200a", " ")
            if "Switch" in key and "checked" in key and time:
                found.append((time, "unchecked" not in key))
                time = ""
    return found


def _on_alarms(judged: Callable[[list[tuple[str, bool]]], bool]) -> Judge:
    """Judges the list of alarms; upstream finds none unless they are below an element called Alarm."""

    def judge(self: Any, tree: Tree, line: dict[str, Any]) -> Verdict:
        alarms = _alarms(tree)
        return _verdict(judged(alarms)) if alarms and _shows(tree, "Add alarm") else ELSEWHERE

    return judge


def _all_off(alarms: list[tuple[str, bool]]) -> bool:
    return not any(on for _, on in alarms)


def _none_after_two(alarms: list[tuple[str, bool]]) -> bool:
    return not any(_minutes(time) > 14 * 60 for time, _ in alarms)


def _four_is_off(alarms: list[tuple[str, bool]]) -> bool:
    return ("4:00 PM", False) in alarms


def _minutes(time: str) -> int:
    hours, minutes, half = re.split("[: ]", time)
    return (int(hours) % 12 + 12 * (half == "PM")) * 60 + int(minutes)


FIXES: dict[str, Judge] = {
    "setting_0": _setting_is("1"),
    "setting_3": _setting_is("0"),
    "setting_6": _storage_of_apps,
    "setting_9": _setting_is("0"),
    "setting_10": _setting_is("7"),
    "setting_19": _browser,
    # another address than the goal's
    "contacts_2": _page_shows("John Smith", "Call Mobile 1 (234) 567-8 ", "Email Work 123456@gmail.com "),
    "contacts_5": _label_members,
    # another person than the goal's
    "contacts_7": _page_shows(";AAA ", "October 24, 1996 "),
    # a title that the goal does not give
    "calendar_4": _page_shows("Jun 01", "Monthly"),
    # other times than the goal's
    "calendar_7": _page_shows("meeting", "May 13", "5 minutes before", "10 minutes before"),
    # a notification that the goal does not ask for, in place of what it asks for
    "calendar_8": _page_shows("work", "Today", "5:00 PM", "computer"),
    "calendar_9": _page_shows("work", "Today", "5:00 PM", "Daily"),
    "calendar_10": _any_title,
    # another event than the goal's
    "calendar_12": _page_shows(";Today ", "Hello"),
    "calendar_14": _all_day,
    # upstream knows the page by every text on it saying "Info" or "Read", which the book's title cannot
    "cantook_8": _page_shows("Mark as ", ";Hamlet ", "Mark as unread", "100.0%"),
    "cantook_9": _page_shows("Mark as ", ";Oliver Twist ", "Mark as read"),
    "clock_7": _on_alarms(_all_off),
    "clock_8": _on_alarms(_none_after_two),
    "clock_9": _on_alarms(_four_is_off),
}
"""By task id."""
