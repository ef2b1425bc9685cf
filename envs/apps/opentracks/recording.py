"""Recording an activity, and the forms for what it is called."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from coach_gym.envs.apps.opentracks import data
from coach_gym.envs.phone.app import Choice, Confirm, DatabaseApp, Screen
from coach_gym.envs.phone.screens.pages import FormPage
from coach_gym.envs.phone.toolkit import theme
from coach_gym.envs.phone.toolkit.view import TextInput, View
from coach_gym.envs.phone.toolkit.widgets import (
    Action,
    Button,
    Column,
    Empty,
    Fab,
    IconButton,
    ListView,
    Row,
    Scaffold,
    Text,
    TextField,
)


def figure(name: str, value: str) -> View:
    """Returns a number with its name above it."""
    return Column([Text(name, 12, theme.SECONDARY, id="stats_description"), Text(value, 18, id="stats_value")], flex=1)


def ask_to_delete(screen: Screen, then: Action) -> None:
    """Asks before a track is deleted."""
    screen.push(Confirm("Delete track?", "This track will be deleted permanently.", "OK", then))


class Form(FormPage):
    """A form for name, type and description of an activity."""

    app: DatabaseApp
    activity = f"{data.PACKAGE}.TrackEditActivity"

    def __init__(self, id: int, name: str, category: str = "", description: str = "") -> None:
        super().__init__(id)
        self.name, self.category, self.description = TextInput(name), TextInput(category), TextInput(description)
        self.opened()

    def build(self) -> View:
        """Shows the three fields."""
        buttons = [
            Button("Cancel", self.pop, "track_edit_cancel", "text"),
            Button("Save", self._finish, "track_edit_save"),
        ]
        fields = [*self.fields(), Row(buttons, gap=8, justify="end")]
        return Scaffold("Edit track", ListView([Column(fields, gap=12, pad=16)]), self.pop)

    def fields(self) -> list[View]:
        """Returns the three fields."""
        choose = IconButton("menu_down", "Choose activity type", self._choose, "track_edit_activity_type_icon")
        category = TextField(self.category, "Activity type", "track_edit_activity_type", flex=1)
        return [
            TextField(self.name, "Name", "track_edit_name"),
            Row([category, choose], gap=6),
            TextField(self.description, "Description", "track_edit_description", lines=3),
        ]

    def values(self) -> dict[str, Any]:
        """Returns the columns that the form shows."""
        return {"name": self.name.text, "category": self.category.text, "description": self.description.text}

    def _choose(self) -> None:
        self.push(Choice("Select activity type", data.TYPES, self.category.set, self.category.text))

    def save(self) -> None:
        """Stores what was changed, with the key of the type."""
        changes = self.changes()
        if "category" in changes:
            changes["activity_type"] = data.type_key(changes["category"])
        data.TABLE.update(self.app.db, self.id, changes)

    def _finish(self) -> None:
        self.save()
        self.pop()


class Recording(Screen):
    """An activity being recorded. The phone lies still, so only the time counts up.

    Args:
        id: Key of the activity.
        since: When its recording began, or went on.
    """

    app: DatabaseApp
    activity = f"{data.PACKAGE}.TrackRecordingActivity"

    def __init__(self, id: int, since: datetime) -> None:
        super().__init__()
        self.id, self.since = id, since

    def build(self) -> View:
        """Shows the time that has passed."""
        shown = data.track(self.app.db, self.id)
        if shown is None:
            return Scaffold("", Empty("This track was deleted", "map_marker_path"), self.pop)
        seconds = shown.seconds + int((self.now - self.since).total_seconds())
        distance = data.distance_text(shown.meters, data.units_of(self.phone.storage))
        figures = [figure("Distance", distance), figure("Total time", data.clock_text(seconds))]
        state = Text("GPS searching for signal…", 13, theme.SECONDARY, pad=(20, 10, 20, 10))
        stop = Fab("stop", "Stop", lambda: self.notify("Hold to stop"), "track_recording_fab_action")
        stop.on_long = self._stop
        return Scaffold("Recording", Column([state, Row(figures, pad=20)]), fab=stop)

    def on_back(self) -> bool:
        """Stops the recording."""
        if data.track(self.app.db, self.id) is None:
            return False
        self._stop()
        return True

    def _stop(self) -> None:
        data.go_on(self.app.db, self.id, self.since, self.now)
        shown = data.track(self.app.db, self.id)
        if shown is not None:
            self.replace(Stopped(shown.id, shown.name, shown.category, shown.description))


class Stopped(Form):
    """The form after a recording, which is finished, goes on, or is discarded."""

    activity = f"{data.PACKAGE}.TrackStoppedActivity"

    def build(self) -> View:
        """Shows the fields, what was recorded, and the three buttons."""
        buttons = [
            IconButton("delete_outline", "Discard", lambda: ask_to_delete(self, self._discard), "discard_button"),
            IconButton("record", "Record", self._resume, "resume_button", theme.ERROR),
            IconButton("stop", "Stop", self._finish, "finish_button"),
        ]
        bar = Row(buttons, gap=40, justify="center", pad=(16, 8, 16, 16))
        page = ListView([Column([*self.fields(), Row(self._figures())], gap=12, pad=16)])
        return Scaffold("", page, bottom=bar)

    def _figures(self) -> list[View]:
        shown = data.track(self.app.db, self.id or 0)
        if shown is None:
            return []
        units = data.units_of(self.phone.storage)
        speed = shown.meters / shown.moving if shown.moving else 0.0
        tell = data.pace_text if data.is_paced(self.phone.storage, shown.category) else data.speed_text
        return [
            Text(data.clock_text(shown.moving), 18, flex=1, id="time"),
            Text(data.distance_text(shown.meters, units), 18, flex=1, id="distance"),
            Text(tell(speed, units), 18, flex=1, id="speed"),
        ]

    def _discard(self) -> None:
        data.TABLE.delete(self.app.db, self.id)
        self.pop()

    def _resume(self) -> None:
        """Goes on recording, under the name that was typed."""
        self.save()
        self.replace(Recording(self.id or 0, self.now))

    def on_back(self) -> bool:
        """Goes on recording."""
        self._resume()
        return True
