"""What scripted experts work with: the latest screen text, and actions aimed by label."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from typing import Any

import numpy as np

from coach_gym.actions import Action, format_action, parse_action
from coach_gym.ui import Element, parse_ui

Target = str | Element | Callable[[Element], bool]
"""An element's label, its hint or id, or a part of its label; a condition on elements; or the element itself."""

Expert = Callable[["Screen", Mapping[str, Any]], Iterator[str]]
EXPERTS: dict[str, Expert] = {}
"""Every expert by the name of the family that it solves."""

_MAX_SCROLLS = 40


def expert(*families: str) -> Callable[[Expert], Expert]:
    """Makes a generator function the expert of the families named.

    It is called with the screen and the instance's parameters and yields one action text a step. Each new
    observation reaches the screen before the generator resumes. It need not say that it is done: `finishing` does.

    Example:
        >>> @expert("AddFriend")
        ... def add_contact(screen, params):
        ...     yield from screen.open("Contacts")
        ...     yield screen.tap("Create contact")
        ...     yield from screen.fill("First name", params["first"])
        ...     yield screen.tap("Save")
    """

    def register(function: Expert) -> Expert:
        finished = finishing(function)
        for family in families:
            if family in EXPERTS:
                raise ValueError(f"{family} has two experts: {EXPERTS[family]} and {function}")
            EXPERTS[family] = finished
        return finished

    return register


def finishing(script: Expert) -> Expert:
    """Makes an expert of a script: it declares the task done at the end, unless the script did, with an answer."""

    @wraps(script)
    def play(screen: Screen, params: Mapping[str, Any]) -> Iterator[str]:
        kind = ""
        for action in script(screen, params):
            kind = parse_action(action)[1].kind
            yield action
        if kind != "finished":
            yield screen.finish()

    return play


class Screen:
    """The screen as its text describes it, and actions on it.

    Methods that return text are one action; those that return an iterator are several, for `yield from`.
    The thought of an action is the label of what it touches; of a row that joins several texts, the first.
    """

    def __init__(self) -> None:
        self.elements: list[Element] = []
        self.text = ""
        self.pixels = np.zeros((0, 0, 3), np.uint8)

    def update(self, observation: Mapping[str, Any]) -> None:
        """Takes in what the last action led to."""
        self.text = observation["ui"]
        self.elements = parse_ui(self.text)
        self.pixels = observation.get("screenshot", self.pixels)

    def color(self, x: int, y: int) -> tuple[int, ...]:
        """Returns red, green and blue of a pixel, for what no text describes."""
        return tuple(int(part) for part in self.pixels[y, x])

    def find_all(self, target: Target) -> list[Element]:
        """Returns the elements that match, best first: by the whole label, by hint or id, by a part of the label.

        The parts are what commas separate: a row that joins several texts is found by any of them.
        """
        if isinstance(target, Element):
            return [target]
        if callable(target):
            return [element for element in self.elements if target(element)]
        ranked = [(rank, element) for element in self.elements if (rank := _rank(element, target)) is not None]
        return [element for _, element in sorted(ranked, key=lambda pair: pair[0])]

    def has(self, target: Target) -> bool:
        """Returns whether anything matches."""
        return bool(self.find_all(target))

    def find(self, target: Target) -> Element:
        """Returns the best match.

        Raises:
            LookupError: Nothing on the screen matches.
        """
        return self._first(target, lambda element: True)

    def tap(self, target: Target) -> str:
        """Touches the middle of an element: the best match that can be touched, else the best."""
        element = self._first(target, _touchable)
        return format_action(Action("click", element.center), _name(element))

    def long_press(self, target: Target) -> str:
        """Touches an element and holds."""
        element = self._first(target, _touchable)
        return format_action(Action("long_press", element.center), _name(element))

    def drag(self, target: Target, end: tuple[int, int]) -> str:
        """Moves a finger from an element to a pixel."""
        element = self._first(target, _touchable)
        return format_action(Action("drag", element.center, end), _name(element))

    def scroll(self, direction: str, within: Target | None = None) -> str:
        """Shows what lies in a direction, in the largest scrolling area or in the one given."""
        area = self.find(within) if within is not None else self._scrolling_area()
        return format_action(Action("scroll", area.center, direction=direction))

    def type(self, text: str) -> str:
        """Types into the field that has the focus."""
        return format_action(Action("type", content=text))

    def back(self) -> str:
        """Presses the back button."""
        return format_action(Action("press_back"))

    def home(self) -> str:
        """Presses the home button."""
        return format_action(Action("press_home"))

    def enter(self) -> str:
        """Presses the enter key."""
        return format_action(Action("press_enter"))

    def wait(self) -> str:
        """Lets time pass."""
        return format_action(Action("wait"))

    def finish(self, answer: str = "") -> str:
        """Declares the task done, with the answer that a query asks for."""
        return format_action(Action("finished", content=answer))

    def open(self, app: str) -> Iterator[str]:
        """Opens an app by its name."""
        yield format_action(Action("open_app", content=app))

    def fill(self, target: Target, text: str) -> Iterator[str]:
        """Touches a text field, unless it has the focus already, and types. It may have to be scrolled to."""
        yield from self.scroll_to(target)
        field = self._first(target, _editable)
        if not field.focused:
            yield self.tap(field)
        yield self.type(text)

    def refill(self, target: Target, text: str) -> Iterator[str]:
        """Types in place of what a text field holds."""
        yield from self.scroll_to(target)
        field = self._first(target, _editable)
        if field.value:
            yield from self.select_text(field)
            yield self.type(text)
        else:
            yield from self.fill(field, text)

    def select_text(self, target: Target) -> Iterator[str]:
        """Selects all that a text field holds: a long touch selects a word, or nothing, and offers to select all."""
        yield self.long_press(target)
        if self.has("Select all"):
            yield self.tap("Select all")

    def follow(self, *targets: Target) -> Iterator[str]:
        """Touches one element after another, and scrolls to those that are not on the screen."""
        for target in targets:
            yield from self.scroll_to(target)
            yield self.tap(target)

    def toggle(self, target: Target, on: bool) -> Iterator[str]:
        """Touches a switch or check box if it is not in the wanted state."""
        box = self._first(target, _checkable)
        if box.checked != on:
            yield self.tap(box)

    def scroll_to(self, target: Target, within: Target | None = None) -> Iterator[str]:
        """Scrolls down until something matches; from the end, back up to the start.

        Raises:
            LookupError: Nothing matches from end to end.
        """
        for direction in ("down", "up"):
            for _ in range(_MAX_SCROLLS):
                if self.has(target):
                    return
                before = self.text
                yield self.scroll(direction, within)
                if self.text == before:
                    break
        if not self.has(target):
            raise LookupError(f"{target!r} was not found by scrolling")

    def sweep(self, look: Callable[[], Any]) -> Iterator[str]:
        """Scrolls down to the end and calls `look` on every page, the first included."""
        look()
        while any(element.scrollable for element in self.elements):
            before = self.text
            yield self.scroll("down")
            if self.text == before:
                return
            look()

    def _first(self, target: Target, preferred: Callable[[Element], bool]) -> Element:
        """Returns the best match among the preferred ones, else the best of all."""
        found = self.find_all(target)
        if not found:
            labels = [element.label for element in self.elements if element.label]
            raise LookupError(f"{target!r} is not on the screen, which shows {labels}")
        return next(filter(preferred, found), found[0])

    def _scrolling_area(self) -> Element:
        areas = [element for element in self.elements if element.scrollable]
        if not areas:
            raise LookupError("nothing on the screen scrolls")
        return max(areas, key=_area)


def _name(element: Element) -> str:
    return element.label.split(", ")[0]


def _rank(element: Element, label: str) -> int | None:
    """Returns how well a label fits: 0 whole, 1 by hint or id, 2 in part, None not at all."""
    if label in (element.label, element.desc):
        return 0
    if label in (element.hint, element.id):
        return 1
    return 2 if label in element.label.split(", ") else None


def _touchable(element: Element) -> bool:
    return element.enabled and (element.clickable or element.long_clickable or element.editable)


def _editable(element: Element) -> bool:
    return element.editable


def _checkable(element: Element) -> bool:
    return element.checkable


def _area(element: Element) -> int:
    left, top, right, bottom = element.bounds
    return (right - left) * (bottom - top)
