"""The screens of Simple Calendar Pro that list events: of a day, to come, or searched for."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, timedelta
from functools import partial
from itertools import groupby

from coach_gym.envs.apps.calendar import data as calendar_data
from coach_gym.envs.apps.calendar.data import Event
from coach_gym.envs.apps.calendar.event_deletion import ask_to_delete
from coach_gym.envs.apps.calendar.event_form import EventForm, new_event
from coach_gym.envs.phone.app import DatabaseApp
from coach_gym.envs.phone.epoch import from_seconds
from coach_gym.envs.phone.screens.pages import SelectionPage
from coach_gym.envs.phone.toolkit.view import TextInput, View
from coach_gym.envs.phone.toolkit.widgets import (
    Empty,
    Fab,
    Header,
    IconButton,
    ListItem,
    ListView,
    Scaffold,
    TextField,
)

AHEAD = timedelta(days=100)  # how far the event list reaches
ONE_DAY = timedelta(days=1)


def heading(day: date) -> str:
    """Returns a day as lists call it, e.g. `October 15 (Sun)`."""
    return f"{day:%B %-d (%a)}"


def when(event: Event) -> str:
    """Returns the hours of an event."""
    start, end = (f"{from_seconds(at):%H:%M}" for at in (event.start, event.end))
    return "All-day" if event.all_day else start if event.start == event.end else f"{start} - {end}"


class EventList(SelectionPage[Event]):
    """A list of events: a touch opens one, a long touch selects it for deletion."""

    app: DatabaseApp

    def rows(self, events: Iterable[Event]) -> list[View]:
        """Returns a row for each event."""
        return [self._row(event) for event in events]

    def _row(self, event: Event) -> View:
        toggle = partial(self.toggle, event)
        tap = toggle if self.selected else lambda: self.push(EventForm(event))
        return ListItem(event.title, when(event), tap, on_long=toggle, selected=event in self.selected)

    def toggle(self, item: Event) -> None:
        """Selects an event, or no longer, and puts the keyboard away."""
        super().toggle(item)
        self.phone.focus = None

    def marking(self, body: View) -> View:
        """Returns the screen while events are selected."""
        ask = partial(ask_to_delete, self, self.selected, self.unselect)
        return self.selecting(body, [IconButton("delete_outline", "Delete", ask, "cab_delete")])


class DayView(EventList):
    """The events of a day."""

    def __init__(self, day: date) -> None:
        super().__init__()
        self.day = day

    def build(self) -> View:
        """Lists the events of the day."""
        rows = self.rows(calendar_data.between(self.app.db, self.day, self.day, self.phone.local))
        body = ListView(rows) if rows else Empty("No items found", "calendar_blank_outline")
        if self.selected:
            return self.marking(body)
        body.on_swipe = self._swiped
        actions = [
            IconButton("chevron_left", "Previous day", partial(self._turn, -1), "top_left_arrow"),
            IconButton("chevron_right", "Next day", partial(self._turn, 1), "top_right_arrow"),
        ]
        fab = Fab("plus", "New Event", lambda: self.push(new_event(self.local_now, self.day)), "calendar_fab")
        return Scaffold(heading(self.day), body, self.pop, actions, fab)

    def _turn(self, days: int) -> None:
        self.day += days * ONE_DAY

    def _swiped(self, way: str) -> None:
        if way in ("left", "right"):
            self._turn(1 if way == "left" else -1)


class Agenda(EventList):
    """All events from today on, or those that the search finds."""

    def __init__(self, searching: bool = False) -> None:
        super().__init__()
        self.searching = searching
        self.query = TextInput()

    def build(self) -> View:
        """Lists the events below headings with their days."""
        parts: list[View] = []
        for day, events in groupby(self._events(), lambda event: event.day):
            parts += [Header(heading(day)), *self.rows(events)]
        body = ListView(parts) if parts else Empty("No items found", "calendar_blank_outline")
        if self.selected:
            return self.marking(body)
        fab = Fab("plus", "New Event", self._new, "calendar_fab")
        if self.searching:
            return Scaffold(TextField(self.query, "Search", "search_src_text"), body, self.pop, fab=fab)
        search = IconButton("magnify", "Search", self._search, "search")
        return Scaffold("Simple event list", body, self.pop, [search], fab)

    def _events(self) -> list[Event]:
        if self.searching:
            return calendar_data.search(self.app.db, self.query.text, self.phone.local)
        today = self.local_now.date()
        return calendar_data.between(self.app.db, today, today + AHEAD, self.phone.local)

    def _new(self) -> None:
        now = self.local_now
        self.push(new_event(now, now.date()))

    def _search(self) -> None:
        self.searching = True
        self.focus(self.query)
