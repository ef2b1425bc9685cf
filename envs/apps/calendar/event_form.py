"""The screen of Simple Calendar Pro that shows an event, to make or to change it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING

from coach_gym.envs.apps.calendar import data as calendar_data
from coach_gym.envs.apps.calendar.data import ALL_DAY, REPETITIONS, Event, rule_for
from coach_gym.envs.apps.calendar.event_deletion import ask_to_delete
from coach_gym.envs.phone.app import Choice, Confirm, Screen
from coach_gym.envs.phone.epoch import from_seconds, midnight, to_seconds
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

if TYPE_CHECKING:
    from coach_gym.envs.apps.calendar.app import Calendar

END_OF_ALL_DAY = timedelta(hours=12)  # the app lets all-day events end at noon


def new_event(now: datetime, day: date) -> EventForm:
    """The form for an event on a day, which is proposed to start at the next full hour."""
    start = to_seconds(datetime.combine(day, time((now.hour + 1) % 24)))
    return EventForm(Event(None, start, start))


class EventForm(Screen):
    """An event, or an occurrence of one; `id` None makes a new one."""

    app: Calendar

    def __init__(self, event: Event) -> None:
        super().__init__()
        self.event = event
        self.title, self.location = TextInput(event.title), TextInput(event.location)
        self.description = TextInput(event.description)
        self.start, self.end = from_seconds(event.start), from_seconds(event.end)
        self.all_day, self.interval = event.all_day, event.interval

    def build(self) -> View:
        fields = [
            TextField(self.title, "Title", "event_title"),
            TextField(self.location, "Location", "event_location"),
            TextField(self.description, "Description", "event_description", lines=2),
        ]
        parts = [
            Column(fields, gap=8, pad=(16, 4, 16, 4)),
            SwitchItem("All-day", self.all_day, self._toggle_all_day),
            self._moment("Start", self.start, self._choose_start_date, self._choose_start_time),
            self._moment("End", self.end, self._choose_end_date, self._choose_end_time),
            ListItem(self._repetition, "", self._choose_repetition, leading=Icon("repeat"), id="event_repetition"),
        ]
        actions = [IconButton("check", "Save", self._save, "save", theme.PRIMARY)]
        if self.event.id is not None:
            actions.insert(0, IconButton("delete_outline", "Delete", self._ask, "delete"))
        return Scaffold("New Event" if self.event.id is None else "Edit Event", ListView(parts), self._leave, actions)

    def _moment(self, name: str, at: datetime, choose_date: Callable, choose_time: Callable) -> View:
        """A date and a time to touch; screen readers read which one it is."""
        parts = [_value(name, "date", f"{at:%B %-d %Y}", choose_date, flex=1)]
        if not self.all_day:
            parts.append(_value(name, "time", f"{at:%H:%M}", choose_time))
        return Row([Icon("clock_outline"), *parts], pad=(16, 0, 8, 0))

    @property
    def _repetition(self) -> str:
        return replace(self.event, interval=self.interval).repetition

    def _toggle_all_day(self) -> None:
        self.all_day = not self.all_day

    def _choose_start_date(self) -> None:
        self.push(DatePicker(self.start.date(), self._set_start_date))

    def _choose_start_time(self) -> None:
        self.push(TimePicker(self.start.time(), self._set_start_time))

    def _choose_end_date(self) -> None:
        self.push(DatePicker(self.end.date(), self._set_end_date))

    def _choose_end_time(self) -> None:
        self.push(TimePicker(self.end.time(), self._set_end_time))

    def _set_start_date(self, day: date) -> None:
        self._move_start(datetime.combine(day, self.start.time()))

    def _set_start_time(self, at: time) -> None:
        self._move_start(datetime.combine(self.start, at))

    def _move_start(self, start: datetime) -> None:
        """The end moves along: the event keeps its length."""
        self.start, self.end = start, self.end + (start - self.start)

    def _set_end_date(self, day: date) -> None:
        self.end = datetime.combine(day, self.end.time())

    def _set_end_time(self, at: time) -> None:
        self.end = datetime.combine(self.end, at)

    def _choose_repetition(self) -> None:
        self.push(Choice("Repetition", list(REPETITIONS), self._set_repetition, self._repetition))

    def _set_repetition(self, name: str) -> None:
        self.interval = REPETITIONS[name]

    def on_back(self) -> bool:
        self._leave()
        return True

    def _leave(self) -> None:
        if self._edited() != self.event:
            self.push(Confirm("Discard changes?", "", "Discard", self.pop))
        else:
            self.pop()

    def _edited(self) -> Event:
        """The event as the form has it."""
        start, end = self.start, self.end
        if self.all_day:
            start, end = midnight(start), midnight(end) + END_OF_ALL_DAY
        same_rhythm = self.interval == self.event.interval and start.date() == self.event.day
        return replace(
            self.event, start=to_seconds(start), end=to_seconds(end), title=self.title.text.strip(),
            location=self.location.text.strip(), description=self.description.text.strip(), interval=self.interval,
            rule=self.event.rule if same_rhythm else rule_for(self.interval, start.date()),
            flags=self.event.flags & ~ALL_DAY | (ALL_DAY if self.all_day else 0),
        )  # fmt: skip

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
        """All of a repeated event, moved as far as the occurrence in the form was."""
        stored = None if edited.id is None else calendar_data.get(self.app.db, edited.id)
        if stored is None:
            return replace(edited, id=None)
        start = stored.start + edited.start - self.event.start
        return replace(edited, start=start, end=start + edited.end - edited.start)

    def _ask(self) -> None:
        ask_to_delete(self, [self.event], self.pop)


def _value(name: str, what: str, value: str, on_tap: Callable, **more: object) -> View:
    text = Text(value, 15, important=False)
    return View(
        "android.widget.TextView", [text], desc=f"{name} {what} {value}", on_tap=on_tap, pad=(14, 12, 14, 12),
        id=f"event_{name.lower()}_{what}", **more,
    )  # fmt: skip
