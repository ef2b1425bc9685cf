"""OpenTracks: recorded sports activities, as a list and one by one."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import Any

from coach_gym.envs.apps.opentracks.data import (
    CATEGORIES,
    DATABASE,
    PACKAGE,
    SCHEMA,
    TABLE,
    Track,
    clock_text,
    distance_text,
    elevation_text,
    save,
    speed_text,
    totals,
    track,
    tracks,
)
from coach_gym.envs.phone.app import Choice, Confirm, DatabaseApp, Menu, Screen
from coach_gym.envs.phone.pages import FormPage, SearchPage
from coach_gym.envs.phone.toolkit import theme
from coach_gym.envs.phone.toolkit.view import TextInput, View
from coach_gym.envs.phone.toolkit.widgets import (
    Button,
    Column,
    Divider,
    Empty,
    Fab,
    Header,
    Icon,
    IconButton,
    ListView,
    Row,
    Scaffold,
    Text,
    TextField,
)

ORANGE = "#ef6c00"


class OpenTracks(DatabaseApp):
    """The OpenTracks app."""

    package = PACKAGE
    activity = "de.dennisguse.opentracks.TrackListActivity"
    label = "OpenTracks"
    icon = "map_marker_path"
    color = ORANGE
    path = DATABASE
    schema = SCHEMA

    def main(self) -> Screen:
        """Opens the list of activities."""
        return Tracks()


class Tracks(SearchPage):
    """All activities, or those that the search finds, the latest first."""

    app: OpenTracks

    def build(self) -> View:
        """Lists the activities."""
        rows: list[View] = []
        for found in self._found():
            rows += [_row(found, partial(self.push, Details(found.id))), Divider()]
        body = ListView(rows, pad=(0, 0, 0, 76)) if rows else Empty("No recorded tracks yet", "map_marker_path")
        title: str | View = "OpenTracks"
        search = IconButton("magnify", "Search", self.search, "search")
        if self.searching:
            title = TextField(self.query, "Search name, type or description", "search_src_text")
            search = IconButton("close", "Clear query", self.search, "search_close_btn")
        totals = Menu([("Aggregated statistics", lambda: self.push(Totals(self._found())))])
        more = IconButton("dots_vertical", "More options", lambda: self.push(totals))
        record = Fab("record", "Record", lambda: self.push(Recording(self.now)), "track_list_fab_action")
        return Scaffold(title, body, actions=[search, more], fab=record)

    def _found(self) -> list[Track]:
        return tracks(self.app.db, self.words.strip())


def _row(shown: Track, on_tap: partial) -> View:
    notes = f"[{shown.category}] {shown.description}" if shown.category else shown.description
    left: list[View] = [
        Text(shown.name, 16, max_lines=1, id="track_list_item_name"),
        Row(
            [
                Text(f"{shown.start:%b %-d %Y}", 13, theme.SECONDARY, id="track_list_item_date"),
                Text(f"{shown.start:%H:%M}", 13, theme.SECONDARY, id="track_list_item_time"),
            ],
            gap=10,
        ),
    ]
    right = [
        Text(clock_text(shown.seconds), 13, theme.SECONDARY, id="track_list_item_total_time"),
        Text(distance_text(shown.meters), 13, theme.SECONDARY, id="track_list_item_distance"),
    ]
    if notes:
        left.append(Text(notes, 13, theme.SECONDARY, max_lines=1, id="track_list_item_category_description"))
    icon = CATEGORIES.get(shown.category, "account_question_outline")
    return View(
        "android.widget.RelativeLayout",
        [Icon(icon, 28, ORANGE), Column(left, gap=3, flex=1), Column(right, gap=3, align="end")],
        axis="h", gap=14, align="center", pad=(16, 10, 16, 10), on_tap=on_tap,
    )  # fmt: skip


class Totals(Screen):
    """Sums for the activities of each type."""

    def __init__(self, shown: Sequence[Track]) -> None:
        super().__init__()
        self.shown = list(shown)

    def build(self) -> View:
        """Shows number, distance, time and speed for each type."""
        rows: list[View] = []
        for category, (count, seconds, meters) in totals(self.shown).items():
            figures = [
                _figure("Distance", distance_text(meters)), _figure("Total time", clock_text(seconds)),
                _figure("Avg. speed", speed_text(meters, seconds)),
            ]  # fmt: skip
            rows += [Header(f"{category or 'unknown'} ({count})"), Row(figures, pad=(16, 0, 16, 10)), Divider()]
        body = ListView(rows) if rows else Empty("No recorded tracks yet", "map_marker_path")
        return Scaffold("Aggregated statistics", body, self.pop)


class Details(Screen):
    """The statistics of one activity."""

    app: OpenTracks

    def __init__(self, id: int) -> None:
        super().__init__()
        self.id = id

    def build(self) -> View:
        """Shows the statistics of the activity."""
        shown = track(self.app.db, self.id)
        if shown is None:
            return Scaffold("", Empty("This track was deleted", "map_marker_path"), self.pop)
        known = shown.id, shown.name, shown.category, shown.description
        ask = Confirm("Delete track?", "This track will be deleted permanently.", "OK", self._delete)
        menu = Menu([("Delete", lambda: self.push(ask))])
        actions = [
            IconButton("pencil_outline", "Edit", lambda: self.push(Form(*known)), "track_detail_menu_edit"),
            IconButton("dots_vertical", "More options", lambda: self.push(menu)),
        ]
        return Scaffold(shown.name, ListView(_statistics(shown)), self.pop, actions)

    def _delete(self) -> None:
        TABLE.delete(self.app.db, self.id)
        self.pop()


def _statistics(shown: Track) -> list[View]:
    start, stop = f"{shown.start:%b %-d %Y %H:%M}", f"{shown.stop:%b %-d %Y %H:%M}"
    speed, moving = speed_text(shown.meters, shown.seconds), speed_text(shown.meters, shown.moving)
    pairs = (
        (("Activity type", shown.category or "unknown"), ("Distance", distance_text(shown.meters))),
        (("Total time", clock_text(shown.seconds)), ("Moving time", clock_text(shown.moving))),
        (("Avg. speed", speed), ("Avg. moving", moving)),
        (("Gain", elevation_text(shown.gain)), ("Loss", elevation_text(shown.loss))),
        (("Start time", start), ("End time", stop)),
    )
    rows: list[View] = [Row([_figure(*pair) for pair in two], pad=(20, 10, 20, 10)) for two in pairs]
    return [*rows, Divider(), Header("Description"), Text(shown.description or "–", 15, pad=(16, 0, 16, 16))]


def _figure(name: str, value: str) -> View:
    """Returns a number with its name above it."""
    return Column([Text(name, 12, theme.SECONDARY, id="stats_description"), Text(value, 18, id="stats_value")], flex=1)


class Form(FormPage):
    """A form for name, type and description of an activity."""

    app: OpenTracks

    def __init__(self, id: int, name: str, category: str = "", description: str = "") -> None:
        super().__init__(id)
        self.name, self.category, self.description = TextInput(name), TextInput(category), TextInput(description)
        self.opened()

    def build(self) -> View:
        """Shows the three fields."""
        choose = IconButton("menu_down", "Choose activity type", self._choose, "fields_edit_activity_type_icon")
        category = TextField(self.category, "Activity type", "track_edit_activity_type", flex=1)
        fields = [
            TextField(self.name, "Name", "track_edit_name"),
            Row([category, choose], gap=6),
            TextField(self.description, "Description", "track_edit_description", lines=3),
            Row([Button("Cancel", self.pop, kind="text"), Button("Save", self._save)], gap=8, justify="end"),
        ]
        return Scaffold("Edit track", ListView([Column(fields, gap=12, pad=16)]), self.pop)

    def values(self) -> dict[str, Any]:
        """Returns the columns that the form shows."""
        category = self.category.text
        texts = {"name": self.name.text, "description": self.description.text}
        return {**texts, "category": category, "activity_type": category}

    def _choose(self) -> None:
        self.push(Choice("Select activity type", list(CATEGORIES), self.category.set, self.category.text))

    def _save(self) -> None:
        TABLE.update(self.app.db, self.id, self.changes())
        self.pop()


class Recording(Screen):
    """An activity being recorded. The phone lies still, so only the time counts up."""

    app: OpenTracks

    def __init__(self, start: datetime) -> None:
        super().__init__()
        self.start = start

    def build(self) -> View:
        """Shows the time that has passed."""
        seconds = int((self.now - self.start).total_seconds())
        figures = [_figure("Distance", distance_text(0)), _figure("Total time", clock_text(seconds))]
        state = Text("GPS searching for signal…", 13, theme.SECONDARY, pad=(20, 10, 20, 10))
        stop = Row([Button("Stop", self._stop, "track_recording_fab_action")], justify="center", pad=24)
        return Scaffold("Recording", Column([state, Row(figures, pad=20), stop]))

    def on_back(self) -> bool:
        """Stops and stores the recording."""
        self._stop()
        return True

    def _stop(self) -> None:
        name = f"{self.start:%Y-%m-%d %H:%M}"
        self.replace(Form(save(self.app.db, name, self.start, self.now), name))


APP = OpenTracks
