"""What the form of Simple Calendar Pro offers for an event beside its texts and times: repetition, reminders, type."""

from __future__ import annotations

from calendar import day_name
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from coach_gym.envs.phone.app import Dialog
from coach_gym.envs.phone.toolkit.view import View
from coach_gym.envs.phone.toolkit.widgets import Checkbox, Column, ListItem, ListView

NEVER = -1  # minutes, where there is no reminder
REMINDERS = {
    "No reminder": NEVER, "At start": 0, "5 minutes before": 5, "10 minutes before": 10, "30 minutes before": 30,
    "1 hour before": 60, "1 day before": 1440, "1 week before": 10080,
}  # fmt: skip
"""Minutes before the start of an event, by what the form calls them."""

WEEKDAYS = tuple(day_name)
"""The days of the week in the order of a rule's bits."""


def reminder_text(minutes: int) -> str:
    """Returns what the form calls a reminder some minutes before an event."""
    return next((name for name, each in REMINDERS.items() if each == minutes), f"{minutes} minutes before")


def days_text(rule: int) -> str:
    """Returns the weekdays of a rule, as the form shows them."""
    chosen = [name for bit, name in enumerate(WEEKDAYS) if rule >> bit & 1]
    return "Every day" if len(chosen) == 7 else ", ".join(chosen if len(chosen) == 1 else [name[:3] for name in chosen])


class Weekdays(Dialog):
    """A list of weekdays, any number of which can be ticked.

    Args:
        rule: The ticked ones, a bit for each day from Monday on.
        then: Called with the new rule if at least one is ticked.
    """

    def __init__(self, rule: int, then: Callable[[int], Any]) -> None:
        super().__init__("Repeat on")
        self.rule, self.then = rule, then

    def content(self) -> Sequence[View]:
        """Lists the days with their boxes."""
        return [Column([ListView([self._row(bit, name) for bit, name in enumerate(WEEKDAYS)])], height=308)]

    def _row(self, bit: int, name: str) -> View:
        toggle = partial(self._toggle, bit)
        return ListItem(name, on_tap=toggle, leading=Checkbox(bool(self.rule >> bit & 1), toggle, name), min_height=44)

    def _toggle(self, bit: int) -> None:
        self.rule ^= 1 << bit

    def buttons(self) -> Sequence[View]:
        """Returns the buttons that cancel and accept."""
        return [self.button("Cancel"), self.button("OK", self._finish)]

    def _finish(self) -> None:
        if self.rule:
            self.then(self.rule)
