"""The screen of Simple Calendar Pro on which an event is made or changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from functools import partial
from typing import Any

from coach_gym.envs.apps.calendar import data as calendar_data
from coach_gym.envs.apps.calendar.data import ALL_DAY, REPETITIONS, Event, rule_for
from coach_gym.envs.apps.calendar.event_deletion import ask_to_delete
from coach_gym.envs.phone.app import Choice, DatabaseApp
from coach_gym.envs.phone.epoch import from_seconds, midnight, to_seconds
from coach_gym.envs.phone.pages import FormPage
from coach_gym.envs.phone.pickers import DatePicker, TimePicker
from coach_gym.envs.phone.toolkit import theme
from coach_gym.envs.phone.toolkit.view import TextInput, View
from coach_gym.envs.phone.toolkit.widgets import (
    Column,
    Icon,
    IconButton,
    ListItem,
    ListView,
    Row,
    Scaffold,
    SwitchItem,
    Text,
    TextField,
)

END_OF_ALL_DAY = timedelta(hours=12)  # the app lets all-day events end at noon


def new_event(now: datetime, day: date) -> EventForm:
    """Returns the form for a new event on a day, starting at the next full hour."""
    start = to_seconds(datetime.combine(day, time((now.hour + 1) % 24)))
    return EventForm(Event(None, start, start))


class EventForm(FormPage):
    """An event, or an occurrence of one; `id` None makes a new one."""

    app: DatabaseApp

    def __init__(self, event: Event) -> None:
        super().__init__(event.id)
        self.event = event
        self.title, self.location = TextInput(event.title), TextInput(event.location)
        self.description = TextInput(event.description)
        self.start, self.end = from_seconds(event.start), from_seconds(event.end)
        self.all_day, self.interval = event.all_day, event.interval
        self.opened()

    def build(self) -> View:
        """Shows texts, times and repetition."""
        fields = [
            TextField(self.title, "Title", "event_title"),
            TextField(self.location, "Location", "event_location"),
            TextField(self.description, "Description", "event_description", lines=2),
        ]
        parts = [
            Column(fields, gap=8, pad=(16, 4, 16, 4)),
            SwitchItem("All-day", self.all_day, partial(setattr, self, "all_day", not self.all_day)),
            self._moment("Start", self.start),
            self._moment("End", self.end),
            ListItem(self._repetition, "", self._choose_repetition, leading=Icon("repeat"), id="event_repetition"),
        ]
        actions = [IconButton("check", "Save", self._save, "save", theme.PRIMARY)]
        if self.id is not None:
            ask = partial(ask_to_delete, self, [self.event], self.pop)
            actions.insert(0, IconButton("delete_outline", "Delete", ask, "delete"))
        return Scaffold("New Event" if self.id is None else "Edit Event", ListView(parts), self.leave, actions)

    def _moment(self, name: str, at: datetime) -> View:
        """Returns a date and a time to touch; screen readers read which one it is."""
        end = name.lower()
        day, clock = at.date(), at.time()
        set_date, set_time = partial(self._set_date, end), partial(self._set_time, end)
        parts = [_value(name, "date", f"{at:%B %-d %Y}", lambda: self.push(DatePicker(day, set_date)), flex=1)]
        if not self.all_day:
            parts.append(_value(name, "time", f"{at:%H:%M}", lambda: self.push(TimePicker(clock, set_time))))
        return Row([Icon("clock_outline"), *parts], pad=(16, 0, 8, 0))

    def _set_date(self, end: str, day: date) -> None:
        self._set(end, datetime.combine(day, getattr(self, end).time()))

    def _set_time(self, end: str, at: time) -> None:
        self._set(end, datetime.combine(getattr(self, end), at))

    def _set(self, end: str, moment: datetime) -> None:
        """Moves one end of the event; with the start, the end moves along."""
        if end == "start":
            self.end += moment - self.start
        setattr(self, end, moment)

    @property
    def _repetition(self) -> str:
        return replace(self.event, interval=self.interval).repetition

    def _choose_repetition(self) -> None:
        self.push(Choice("Repetition", list(REPETITIONS), self._set_repetition, self._repetition))

    def _set_repetition(self, name: str) -> None:
        self.interval = REPETITIONS[name]

    def values(self) -> dict[str, Any]:
        """Returns texts, repetition and times: start, end, and whether the event takes all day."""
        fields = {"title": self.title, "location": self.location, "description": self.description}
        texts = {column: field.text.strip() for column, field in fields.items()}
        return {**texts, "interval": self.interval, "times": (self.start, self.end, self.all_day)}

    def unsaved(self) -> bool:
        """Returns whether saving would change the event."""
        return self._edited() != self.event

    def _edited(self) -> Event:
        """Returns the event as the form has it."""
        changes = self.changes()
        if "times" in changes:
            start, end, all_day = changes.pop("times")
            if all_day:
                start, end = midnight(start), midnight(end) + END_OF_ALL_DAY
            flags = self.event.flags & ~ALL_DAY | (ALL_DAY if all_day else 0)
            changes |= {"start": to_seconds(start), "end": to_seconds(end), "flags": flags}
        event = replace(self.event, **changes)
        if (event.interval, event.day) != (self.event.interval, self.event.day):
            event = replace(event, rule=rule_for(event.interval, event.day))
        return event

    def _save(self) -> None:
        edited = self._edited()
        if not edited.title:
            self.notify("Title cannot be empty")
        elif edited.end < edited.start:
            self.notify("The event cannot end earlier than it starts")
        else:
            calendar_data.save(self.app.db, self._series(edited), self.now)
            self.pop()

    def _series(self, edited: Event) -> Event:
        """Returns the whole repeated event, moved as far as the occurrence in the form."""
        stored = None if edited.id is None else calendar_data.get(self.app.db, edited.id)
        if stored is None:
            return replace(edited, id=None)
        start = stored.start + edited.start - self.event.start
        return replace(edited, start=start, end=start + edited.end - edited.start)


def _value(name: str, what: str, value: str, on_tap: Callable, flex: float = 0) -> View:
    text = Text(value, 15, important=False)
    return View(
        "android.widget.TextView", [text], desc=f"{name} {what} {value}", on_tap=on_tap, pad=(14, 12, 14, 12),
        id=f"event_{name.lower()}_{what}", flex=flex,
    )  # fmt: skip
