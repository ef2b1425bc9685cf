"""Calendario, the calendar of AndroidLab's phone: a list of events, an event's page, and the form for one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from functools import partial

from coach_gym.envs.apps.calendario import data
from coach_gym.envs.apps.calendario.data import NOTIFICATIONS, RECURRENCES, Event, notification_text
from coach_gym.envs.phone.app import Choice, Confirm, DatabaseApp, Screen
from coach_gym.envs.phone.intents import CATEGORY
from coach_gym.envs.phone.screens.pickers import DatePicker, HalfDayPicker
from coach_gym.envs.phone.toolkit import theme
from coach_gym.envs.phone.toolkit.view import TextInput, View
from coach_gym.envs.phone.toolkit.widgets import (
    Button,
    Column,
    Empty,
    Fab,
    Header,
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


def day_name(day: date, today: date) -> str:
    """Returns how a day is shown: Today, Tomorrow, or such as Mon, May 13."""
    return {0: "Today", 1: "Tomorrow"}.get((day - today).days, f"{day:%a, %b %d}")


def clock(at: datetime) -> str:
    """Returns a time such as 5:00 PM."""
    return f"{at.hour % 12 or 12}:{at:%M %p}"


class Calendario(DatabaseApp):
    """The calendar app."""

    package = data.PACKAGE
    role = f"{CATEGORY}APP_CALENDAR"
    label = "Calendar"
    icon = "calendar_month"
    color = "#00897b"
    path = data.PATH
    schema = data.SCHEMA

    def main(self) -> Screen:
        """Shows all events."""
        return Agenda()


class CalendarScreen(Screen):
    """What the screens of this app have in common."""

    app: Calendario

    @property
    def today(self) -> date:
        """The day where the phone is."""
        return self.local_now.date()

    def event(self, id: int) -> Event | None:
        """Returns the event of that id, if it still exists."""
        return next((event for event in data.events(self.app.db) if event.id == id), None)


class Agenda(CalendarScreen):
    """All events under the names of their days."""

    def build(self) -> View:
        """Lists the events, each below the name of its day."""
        rows: list[View] = []
        day = None
        for event in data.events(self.app.db):
            if event.starts.date() != day:
                day = event.starts.date()
                rows.append(Header(day_name(day, self.today)))
            when = "All day" if event.all_day else f"{clock(event.starts)} – {clock(event.ends)}"
            rows.append(ListItem(event.title, when, partial(self._open, event.id), leading=Icon("calendar_blank")))
        body = ListView(rows) if rows else Empty("No events", "calendar_blank")
        return Scaffold(f"{self.local_now:%B %Y}", body, fab=Fab("plus", "Add event", self._add))

    def _open(self, id: int) -> None:
        self.push(EventPage(id))

    def _add(self) -> None:
        start = self.local_now.replace(minute=0, second=0) + timedelta(hours=1)
        form = EventForm(Event("", start, start + timedelta(hours=1)))
        self.push(form)
        self.focus(form.title)


class EventPage(CalendarScreen):
    """All there is to know about an event."""

    def __init__(self, id: int) -> None:
        super().__init__()
        self.id = id

    def build(self) -> View:
        """Shows the event, with buttons to edit and delete it."""
        event = self.event(self.id)
        if event is None:
            return Scaffold("", Empty("This event does not exist any more", "calendar_blank"), self.pop)
        actions = [
            IconButton("pencil_outline", "Edit event", self._edit),
            IconButton("delete_outline", "Delete event", self._ask),
        ]
        return Scaffold("Event", ListView(self._rows(event)), self.pop, actions)

    def _rows(self, event: Event) -> list[View]:
        rows = [Text(event.title, 24, pad=(16, 12, 16, 12)), self._when(event)]
        rows.append(ListItem(event.recurrence, leading=Icon("repeat")))
        rows += [ListItem(notification_text(before), leading=Icon("bell_outline")) for before in event.notifications]
        texts = ((event.note, "text"), (event.location, "map_marker_outline"))
        return rows + [ListItem(text, leading=Icon(icon)) for text, icon in texts if text]

    def _when(self, event: Event) -> View:
        first, last = day_name(event.starts.date(), self.today), day_name(event.ends.date(), self.today)
        starts, ends = (first, last) if event.all_day else (f"{first} {clock(event.starts)}", clock(event.ends))
        texts = [Text(starts, 15), Text("All day" if event.all_day else f"to {ends}", 15, theme.SECONDARY)]
        return Row([Icon("clock_outline"), Column(texts, 2)], 14, (16, 8, 16, 8))

    def _edit(self) -> None:
        event = self.event(self.id)
        if event is not None:
            self.push(EventForm(event))

    def _ask(self) -> None:
        self.push(Confirm("Delete event?", "", "Delete", self._delete))

    def _delete(self) -> None:
        data.delete(self.app.db, self.id)
        self.pop()
        self.notify("Event deleted")


class EventForm(CalendarScreen):
    """Everything about an event, to be changed. Nothing is stored before Save."""

    def __init__(self, event: Event) -> None:
        super().__init__()
        self.draft = event
        self.title, self.note, self.location = TextInput(event.title), TextInput(event.note), TextInput(event.location)

    def build(self) -> View:
        """Shows one row or field for everything about the event."""
        draft = self.draft
        rows: list[View] = [
            Column([TextField(self.title, "Title", "title")], pad=(16, 8, 16, 4)),
            SwitchItem("All day", draft.all_day, partial(self._change, all_day=not draft.all_day)),
            self._moment("Starts", draft.starts, "starts"),
            self._moment("Ends", draft.ends, "ends"),
            ListItem("Recurrence", draft.recurrence, self._ask_recurrence, leading=Icon("repeat")),
            *self._notifications(),
            Column([TextField(self.note, "Note", "note", lines=2)], pad=(16, 8, 16, 8)),
            Column([TextField(self.location, "Location", "location")], pad=(16, 0, 16, 8)),
        ]
        heading = "Edit event" if draft.id else "New event"
        return Scaffold(heading, ListView(rows), self.pop, [Button("Save", self._save, "save")])

    def _moment(self, name: str, at: datetime, which: str) -> View:
        day = Button(day_name(at.date(), self.today), partial(self._ask_day, which), kind="text", desc=f"{name} on")
        hour = Button(clock(at), partial(self._ask_time, which), kind="text", desc=f"{name} at")
        return Row([Text(name, 15, flex=1), day, *([] if self.draft.all_day else [hour])], pad=(16, 2, 8, 2))

    def _notifications(self) -> Sequence[View]:
        rows = [self._notification(minutes, notification_text(minutes)) for minutes in self.draft.notifications]
        return [*rows, ListItem("Add notification", on_tap=self._ask_notification, leading=Icon("bell_plus_outline"))]

    def _notification(self, minutes: int, name: str) -> View:
        remove = IconButton("close", f"Remove {name}", partial(self._drop, minutes))
        return Row([Icon("bell_outline"), Text(name, 15, flex=1), remove], 14, (16, 2, 8, 2))

    # what touches do

    def _change(self, **changes: object) -> None:
        self.draft = replace(self.draft, **changes)  # type: ignore[arg-type]

    def _ask_day(self, which: str) -> None:
        at: datetime = getattr(self.draft, which)
        self.push(DatePicker(at.date(), lambda day: self._move(which, datetime.combine(day, at.time()))))

    def _ask_time(self, which: str) -> None:
        at: datetime = getattr(self.draft, which)
        self.push(HalfDayPicker(at.time(), lambda hour: self._move(which, datetime.combine(at.date(), hour))))

    def _move(self, which: str, to: datetime) -> None:
        """Moves the start together with the end. An end that would be before the start goes to the next day."""
        length = self.draft.ends - self.draft.starts
        if which == "starts":
            self._change(starts=to, ends=to + length)
        else:
            self._change(ends=to if to > self.draft.starts else to + timedelta(days=1))

    def _ask_recurrence(self) -> None:
        self.push(Choice("Recurrence", RECURRENCES, lambda how: self._change(recurrence=how), self.draft.recurrence))

    def _ask_notification(self) -> None:
        self.push(Choice("Notification", list(NOTIFICATIONS), self._add_notification))

    def _add_notification(self, name: str) -> None:
        self._change(notifications=tuple(sorted({*self.draft.notifications, NOTIFICATIONS[name]})))

    def _drop(self, minutes: int) -> None:
        self._change(notifications=tuple(other for other in self.draft.notifications if other != minutes))

    def _save(self) -> None:
        """Stores the event and shows its page."""
        title = self.title.text.strip()
        if not title:
            self.notify("Enter a title")
            return
        note, location = self.note.text.strip(), self.location.text.strip()
        id = data.save(self.app.db, replace(self.draft, title=title, note=note, location=location))
        self.pop()
        if not self.draft.id:
            self.push(EventPage(id))


APP = Calendario
