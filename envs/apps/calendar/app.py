"""Simple Calendar Pro: the month. Days and lists are in `lists`, the form is in `event_form`."""

from __future__ import annotations

from calendar import monthrange
from collections import defaultdict
from datetime import date, datetime
from functools import partial

from coach_gym.envs.apps.calendar import data as calendar_data
from coach_gym.envs.apps.calendar.data import DATABASE, PACKAGE, SCHEMA, Event
from coach_gym.envs.apps.calendar.event_form import EventForm, new_event
from coach_gym.envs.apps.calendar.lists import Agenda, DayView
from coach_gym.envs.phone.app import Choice, DatabaseApp, Menu, Screen
from coach_gym.envs.phone.epoch import from_seconds
from coach_gym.envs.phone.intents import CATEGORY, EDIT, INSERT, Intent
from coach_gym.envs.phone.notifications import Notification
from coach_gym.envs.phone.screens.pickers import DatePicker
from coach_gym.envs.phone.toolkit import theme
from coach_gym.envs.phone.toolkit.view import View
from coach_gym.envs.phone.toolkit.widgets import Column, Fab, Grid, IconButton, Row, Scaffold, Space, Text

VIEWS = ("Monthly view", "Daily view", "Simple event list")
SHOWN_IN_CELL = 3


class Calendar(DatabaseApp):
    """The Simple Calendar Pro app."""

    package = PACKAGE
    activity = "com.simplemobiletools.calendar.pro.activities.MainActivity"
    role = f"{CATEGORY}APP_CALENDAR"
    label = "Simple Calendar Pro"
    icon = "calendar_month"
    color = "#e65100"
    path = DATABASE
    schema = SCHEMA

    def main(self) -> Screen:
        """Opens the current month."""
        return Month(self.phone.local(self.phone.now).date())

    def elapsed(self, since: datetime) -> None:
        """Posts notifications for the events of which to remind."""
        now = self.phone.now
        if since.replace(second=0, microsecond=0) == now.replace(second=0, microsecond=0):
            return
        for event in calendar_data.reminders(self.db, since, now, self.phone.local):
            text = f"{from_seconds(event.start):%H:%M}" if not event.all_day else "All-day"
            self.phone.post(Notification(self.package, event.title, text, now, partial(self._show, event)))

    def _show(self, event: Event) -> None:
        self.phone.push(self, EventForm(event))

    def open(self, intent: Intent) -> bool:
        """Shows a form filled with the `title`, times, place and description of an event to insert."""
        if intent.action not in (INSERT, EDIT) or not _is_event(intent):
            return False
        now = self.phone.local(self.phone.now)
        form = new_event(now, now.date())
        for field, name in ((form.title, "title"), (form.location, "eventLocation"), (form.description, "description")):
            field.set(intent.extra(name))
        form.start = self._moment(intent, "beginTime") or form.start
        form.end = max(self._moment(intent, "endTime") or form.start, form.start)
        form.all_day = intent.extras.get("allDay") is True
        self.phone.open_screen(self.package, form)
        return True


    def _moment(self, intent: Intent, name: str) -> datetime | None:
        """Returns a time that is given in milliseconds since 1970."""
        milliseconds = intent.extras.get(name)
        return self.phone.local(from_seconds(milliseconds // 1000)) if isinstance(milliseconds, int) else None


def _is_event(intent: Intent) -> bool:
    return intent.type.endswith("/event") or intent.data.startswith("content://com.android.calendar/events")


class Month(Screen):
    """A month, with the first events of each day in its cell."""

    app: Calendar

    def __init__(self, day: date) -> None:
        super().__init__()
        self.month = day.replace(day=1)

    def build(self) -> View:
        """Shows the days of the month in their weeks."""
        names = [Text(name, 12, theme.SECONDARY, align="center", important=False) for name in "SMTWTFS"]
        weeks: list[View] = [Row(week, flex=1, align="stretch") for week in self._weeks()]
        weeks += [Space(flex=6 - len(weeks))]  # room for six, so that no day is below the button
        month = Column([Grid(names, 7, pad=(0, 4, 0, 4)), *weeks], flex=1, on_swipe=self._swiped)
        actions = [
            IconButton("chevron_left", "Previous month", partial(self._turn, -1), "top_left_arrow"),
            IconButton("chevron_right", "Next month", partial(self._turn, 1), "top_right_arrow"),
            IconButton("magnify", "Search", self._search, "search"),
            IconButton("view_agenda_outline", "Change view", self._choose_view, "change_view"),
            IconButton("dots_vertical", "More options", self._more),
        ]
        new = Fab("plus", "New Event", self._new, "calendar_fab")
        title = self.month.strftime("%B" if self.month.year == self.local_now.year else "%B %Y")
        return Scaffold(title, month, actions=actions, fab=new)

    def _weeks(self) -> list[list[View]]:
        first, last = self.month, self.month.replace(day=monthrange(self.month.year, self.month.month)[1])
        events: dict[date, list[Event]] = defaultdict(list)
        for event in calendar_data.between(self.app.db, first, last, self.phone.local):
            events[max(event.day, first)].append(event)
        today = self.local_now.date()
        days = [first.replace(day=number) for number in range(1, last.day + 1)]
        cells = [_cell(day, events[day], day == today, partial(self.push, DayView(day))) for day in days]
        blank = (first.weekday() + 1) % 7  # weeks start on Sunday
        weeks = [cells[max(0, start) : start + 7] for start in range(-blank, len(cells), 7)]
        weeks[0] = [Space(flex=blank), *weeks[0]] if blank else weeks[0]
        weeks[-1] = [*weeks[-1], Space(flex=7 - len(weeks[-1]))] if len(weeks[-1]) < 7 else weeks[-1]
        return weeks

    def _new(self) -> None:
        now = self.local_now
        self.push(new_event(now, now.date()))

    def _turn(self, months: int) -> None:
        index = 12 * self.month.year + self.month.month - 1 + months
        self.month = date(index // 12, index % 12 + 1, 1)

    def _swiped(self, way: str) -> None:
        self._turn({"left": 1, "up": 1}.get(way, -1))

    def _search(self) -> None:
        agenda = Agenda(searching=True)
        self.push(agenda)
        self.focus(agenda.query)

    def _choose_view(self) -> None:
        self.push(Choice("Change view", VIEWS, self._change_view, VIEWS[0]))

    def _change_view(self, name: str) -> None:
        if name == "Daily view":
            self.push(DayView(self.local_now.date()))
        elif name == "Simple event list":
            self.push(Agenda())

    def _more(self) -> None:
        today = self.local_now.date()
        picker = DatePicker(today, lambda day: self.push(DayView(day)))
        go_to_today = partial(setattr, self, "month", today.replace(day=1))
        self.push(Menu([("Go to today", go_to_today), ("Go to date", lambda: self.push(picker))]))


def _cell(day: date, events: list[Event], today: bool, on_tap: partial) -> View:
    number = str(day.day)
    if not events and not today:  # most are like that: one view, with its text at the top
        return View(
            "android.view.View", text=number, on_tap=on_tap, flex=1, size=13, align="center", multiline=True,
            pad=(1, 5, 1, 0),
        )  # fmt: skip
    bars = [
        Text(event.title, 8, theme.ON_PRIMARY, max_lines=1, bg="#ef6c00", radius=2, pad=(2, 1, 1, 1), important=False)
        for event in events[:SHOWN_IN_CELL]
    ]
    return View(
        "android.view.View", [_number(number, today), *bars], text=number, on_tap=on_tap, flex=1, gap=1,
        pad=(1, 2, 1, 0), selected=today,
    )  # fmt: skip


def _number(number: str, today: bool) -> View:
    if not today:
        return Text(number, 13, align="center", height=22, important=False)
    disc = Text(
        number, 13, theme.ON_PRIMARY, align="center", height=22, width=24, bg=theme.PRIMARY, radius=11, important=False
    )
    return Row([disc], justify="center")


APP = Calendar
