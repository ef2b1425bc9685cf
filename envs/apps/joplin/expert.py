"""Experts of the Joplin app."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from coach_gym.envs.tasks.screen import Screen, expert
from coach_gym.ui import Element

APP = "Joplin"
_ATTENDANCE = re.compile(r"• (?:Present: |Attendees: )?(\d+)(?: \w+ (?:took part|came))?")


@expert("NotesIsTodo")
def is_todo(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Finds the note and looks for its box."""
    yield from _find(s, p["title"])
    yield s.finish(str(s.has(f"to-do: {p['title']}")))


@expert("NotesTodoItemCount")
def count_todos(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Counts the boxes in the notebook."""
    yield from s.open(APP)
    yield s.tap("Sidebar")
    yield from s.scroll_to(p["notebook"])
    yield s.tap(p["notebook"])
    seen: set[str] = set()
    while True:
        seen |= {element.label for element in s.elements if _is_box(element)}
        before = s.text
        if not any(element.scrollable for element in s.elements):
            break
        yield s.scroll("down")
        if s.text == before:
            break
    yield s.finish(str(len(seen)))


@expert("NotesMeetingAttendeeCount")
def attendees(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Reads the number in the text of the note."""
    yield from open_note(s, p["title"])
    yield from s.scroll_to(_says_how_many)
    found = _ATTENDANCE.fullmatch(s.find(_says_how_many).label)
    yield s.finish(found[1] if found else "")


@expert("NotesRecipeIngredientCount")
def quantity(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Reads the quantity in the text of the note."""

    def names_it(element: Element) -> bool:
        return element.label.startswith("• ") and element.label.endswith(f" {p['ingredient']}")

    yield from open_note(s, p["title"])
    yield from s.scroll_to(names_it)
    yield s.finish(s.find(names_it).label.removeprefix("• ").removesuffix(f" {p['ingredient']}"))


def _find(s: Screen, title: str) -> Iterator[str]:
    yield from s.open(APP)
    yield s.tap("Search")
    yield s.type(title)


def open_note(s: Screen, title: str) -> Iterator[str]:
    """Finds a note by its title and opens it, from anywhere."""
    yield from _find(s, title)
    yield s.tap(lambda element: element.label == title and not element.editable)


def _is_box(element: Element) -> bool:
    return element.label.startswith("to-do: ")


def _says_how_many(element: Element) -> bool:
    return _ATTENDANCE.fullmatch(element.label) is not None
