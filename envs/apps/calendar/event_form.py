"""The screen of Simple Calendar Pro on which an event is made or changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from functools import partial
from typing import Any

from coach_gym.envs.apps.calendar import data as calendar_data
from coach_gym.envs.apps.calendar.data import ALL_DAY, DAY, REPETITIONS, WEEK, Event, rule_for
from coach_gym.envs.apps.calendar.event_choices import NEVER, REMINDERS, Weekdays, days_text, reminder_text
from coach_gym.envs.apps.calendar.event_deletion import ask_to_delete
from coach_gym.envs.phone.app import Choice, DatabaseApp
from coach_gym.envs.phone.epoch import from_seconds, midnight, to_seconds
from coach_gym.envs.phone.screens.pages import FormPage
from coach_gym.envs.phone.screens.pickers import DatePicker, TimePicker
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
    Space,
    SwitchItem,
    Text,
    TextField,
)

_NEW_TYPE = "Add a new type"
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
        self.all_day, self.interval, self.limit = event.all_day, event.interval, event.limit
        self.rule: int | None = None  # once weekdays are chosen
        self.reminders = [event.reminder_1, event.reminder_2, event.reminder_3]
        self.type = event.type
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
            *self._repetition_details(),
            *self._reminders(),
            ListItem(self._type, on_tap=self._choose_type, leading=Icon("label_outline"), id="event_type"),
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
        self.interval, self.rule = REPETITIONS[name], None

    def _repetition_details(self) -> list[View]:
        """Returns the weekdays of a weekly event, and until when it repeats."""
        if not self.interval:
            return []
        until = f"{from_seconds(self.limit):%B %-d %Y}" if self.limit else "Forever"
        rows = [ListItem("Repeat till", until, self._choose_limit, leading=_indent(), id="event_repetition_limit")]
        if self.interval % WEEK == 0:
            days = days_text(self._edited().rule)
            rows.insert(
                0, ListItem("Repeat on", days, self._choose_days, leading=_indent(), id="event_repetition_rule")
            )
        return rows

    def _choose_days(self) -> None:
        self.push(Weekdays(self._edited().rule, partial(setattr, self, "rule")))

    def _choose_limit(self) -> None:
        self.push(Choice("Repeat till", ["Forever", "A date"], self._set_limit, "A date" if self.limit else "Forever"))

    def _set_limit(self, name: str) -> None:
        if name == "Forever":
            self.limit = 0
        else:
            self.push(DatePicker((from_seconds(self.limit) if self.limit else self.start).date(), self._repeat_till))

    def _repeat_till(self, day: date) -> None:
        self.limit = to_seconds(midnight(day)) + DAY - 1

    def _reminders(self) -> list[View]:
        """Returns the reminders, and a row for another one."""
        given = [index for index, minutes in enumerate(self.reminders) if minutes != NEVER]
        rows: list[View] = []
        for index in [*given, *(index for index in range(3) if index not in given)][: len(given) + 1]:
            text = reminder_text(self.reminders[index]) if index in given or not given else "Add another reminder"
            icon = _indent() if rows else Icon("bell_outline")
            ask = partial(self._choose_reminder, index)
            rows.append(ListItem(text, on_tap=ask, leading=icon, id=f"event_reminder_{index + 1}"))
        return rows

    def _choose_reminder(self, index: int) -> None:
        now = reminder_text(self.reminders[index])
        self.push(Choice("Reminder", list(REMINDERS), partial(self._set_reminder, index), now))

    def _set_reminder(self, index: int, name: str) -> None:
        self.reminders[index] = REMINDERS[name]
        kept = sorted({minutes for minutes in self.reminders if minutes != NEVER})  # as the app stores them
        self.reminders = [*kept, NEVER, NEVER, NEVER][:3]

    @property
    def _type(self) -> str:
        names = calendar_data.event_types(self.app.db)
        return next((name for name, id in names.items() if id == self.type), "Regular event")

    def _choose_type(self) -> None:
        names = [*calendar_data.event_types(self.app.db), _NEW_TYPE]
        self.push(Choice("Event type", names, self._set_type, self._type))

    def _set_type(self, name: str) -> None:
        if name == _NEW_TYPE:
            self.ask("New type", self._add_type, hint="Title")
        else:
            self.type = calendar_data.event_types(self.app.db)[name]

    def _add_type(self, name: str) -> None:
        if name.strip():
            self.type = calendar_data.add_event_type(self.app.db, name.strip())

    def values(self) -> dict[str, Any]:
        """Returns what the form shows. The times are start, end, and whether the event takes all day."""
        fields = {"title": self.title, "location": self.location, "description": self.description}
        texts = {column: field.text.strip() for column, field in fields.items()}
        repetition = {"interval": self.interval, "rule": self.rule, "limit": self.limit if self.interval else 0}
        reminders = {f"reminder_{index}": minutes for index, minutes in enumerate(self.reminders, start=1)}
        times = (self.start, self.end, self.all_day)
        return {**texts, **repetition, **reminders, "type": self.type, "times": times}

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
        rule = changes.pop("rule", None)
        event = replace(self.event, **changes)
        if rule is not None:
            return replace(event, rule=rule)
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
            calendar_data.save(self.app.db, self._series(edited), self.now, self.phone.on_clock)
            self.pop()

    def _series(self, edited: Event) -> Event:
        """Returns the whole repeated event, moved as far as the occurrence in the form."""
        stored = None if edited.id is None else calendar_data.get(self.app.db, edited.id, self.phone.local)
        if stored is None:
            return replace(edited, id=None)
        start = stored.start + edited.start - self.event.start
        return replace(edited, start=start, end=start + edited.end - edited.start)


def _indent() -> View:
    """Returns what stands in place of an icon."""
    return Space(width=24)


def _value(name: str, what: str, value: str, on_tap: Callable, flex: float = 0) -> View:
    text = Text(value, 15, important=False)
    return View(
        "android.widget.TextView", [text], desc=f"{name} {what} {value}", on_tap=on_tap, pad=(14, 12, 14, 12),
        id=f"event_{name.lower()}_{what}", flex=flex,
    )  # fmt: skip
