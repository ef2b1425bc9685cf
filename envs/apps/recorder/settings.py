"""Audio Recorder's settings, and the trash, which is reached from there."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from coach_gym.envs.apps.recorder import data
from coach_gym.envs.apps.recorder.dialogs import Question
from coach_gym.envs.phone.app import Choice, Screen
from coach_gym.envs.phone.folders import Entry
from coach_gym.envs.phone.media.duration import clock_text
from coach_gym.envs.phone.preferences import Value
from coach_gym.envs.phone.toolkit import theme
from coach_gym.envs.phone.toolkit.view import View
from coach_gym.envs.phone.toolkit.widgets import (
    Button,
    Chip,
    Column,
    Divider,
    Empty,
    Grid,
    Icon,
    ListItem,
    ListView,
    Row,
    Scaffold,
    Space,
    Switch,
    Text,
)


class Settings(Screen):
    """What is recorded and how it is called, and how much there is."""

    activity = f"{data.PACKAGE}.app.settings.SettingsActivity"

    def build(self) -> View:
        """Lists the settings of the app and then those of the sound."""
        naming = ListItem(self._naming(), on_tap=self._choose_naming, leading=Icon("format_title"), id="name_format")
        rows = [
            ListItem("Trash", on_tap=lambda: self.push(Trash()), leading=Icon("delete_outline"), id="btnTrash"),
            self._switch("Keep screen ON while recording", data.SCREEN_ON, "swKeepScreenOn"),
            self._switch("Show rename dialog after recording is completed", data.ASKS_NAME, "swAskToRename"),
            naming,
            Divider(),
            *self._sound(),
            Divider(),
            *self._totals(),
        ]
        return Scaffold("Settings", ListView(rows), self.pop)

    def _get(self, key: str) -> Value:
        return data.setting(self.phone.storage, key)

    def _set(self, key: str, value: Value) -> None:
        data.change(self.phone.storage, **{key: value})

    def _switch(self, title: str, key: str, id: str) -> View:
        on = bool(self._get(key))
        return ListItem(title, on_tap=partial(self._set, key, not on), trailing=Switch(on, None, id=id))

    def _naming(self) -> str:
        return self._example(str(self._get(data.NAMING)))

    def _example(self, naming: str) -> str:
        return f"Naming: {data.name_at(naming, 1, self.now, self.phone.local)}.m4a"

    def _choose_naming(self) -> None:
        forms = {self._example(naming): naming for naming in data.NAMINGS}
        self.push(Choice("", list(forms), lambda form: self._set(data.NAMING, forms[form]), self._naming()))

    def _sound(self) -> list[View]:
        """Returns the choices for the sound; a bit rate is chosen only for the first format."""
        offered: dict[str, tuple[str, Mapping[str, Value], str]] = {
            "Recording format:": (data.FORMAT, data.FORMATS, "setting_recording_format"),
            "Sample rate:": (data.SAMPLE_RATE, data.SAMPLE_RATES, "setting_frequency"),
            "Bitrate:": (data.BITRATE, data.BITRATES, "setting_bitrate"),
            "Channel count:": (data.CHANNELS, data.CHANNEL_COUNTS, "setting_channels"),
        }
        if self._get(data.FORMAT) != "m4a":
            del offered["Bitrate:"]
        reset = Button("Reset", self._reset, "btnReset", "tonal")
        told = Text(self._told(), 13, theme.SECONDARY, flex=1, id="txt_information")
        return [Row([told, reset], gap=10, pad=(16, 8, 16, 0)), *(self._chips(t, *o) for t, o in offered.items())]

    def _told(self) -> str:
        """Returns what is recorded, such as `M4a, 44.1kHz, 128 kbps, Stereo`."""
        kinds: dict[str, Mapping[str, Value]] = {
            data.FORMAT: data.FORMATS, data.SAMPLE_RATE: data.SAMPLE_RATES, data.BITRATE: data.BITRATES,
            data.CHANNELS: data.CHANNEL_COUNTS,
        }  # fmt: skip
        if self._get(data.FORMAT) != "m4a":
            del kinds[data.BITRATE]
        return ", ".join(data.called(offered, self._get(key)) for key, offered in kinds.items())

    def _chips(self, title: str, key: str, values: Mapping[str, Value], id: str) -> View:
        current = self._get(key)
        chips = [Chip(name, value == current, partial(self._set, key, value)) for name, value in values.items()]
        return Column([Text(title, 15), Grid(chips, 3, gap=8)], gap=8, pad=(16, 10, 16, 10), id=id)

    def _reset(self) -> None:
        data.change(self.phone.storage, **data.AUDIO_DEFAULTS)

    def _totals(self) -> list[View]:
        storage = self.phone.storage
        found = data.records(storage)
        length = clock_text(sum(data.seconds_of(storage, entry.path) for entry in found))
        texts = {
            "txt_records_count": f"Total records count: {len(found)}",
            "txt_total_duration": f"Total recorded duration: {length}",
        }
        return [Text(text, 13, theme.SECONDARY, pad=(16, 6, 16, 6), id=id) for id, text in texts.items()]


class Trash(Screen):
    """The deleted records, which can be restored."""

    activity = f"{data.PACKAGE}.app.trash.TrashActivity"

    def build(self) -> View:
        """Lists the records with what can be done with each."""
        found = data.trash(self.phone.storage)
        rows = [self._row(entry) for entry in found]
        body = ListView(rows, id="recycler_view") if rows else Empty("Empty", "delete_outline")
        clear = Button("Delete all", self._ask_to_clear, "btn_delete_all", "text")
        return Scaffold("Trash", body, self.pop, [clear] if rows else [])

    def _row(self, entry: Entry) -> View:
        name, path = data.title(entry.path), entry.path
        restore = Question(f"Restore record {name}?", partial(self._restore, path))
        delete = Question(f"Delete record {name} forever?", partial(self._delete, path))
        buttons = [
            Space(flex=1),
            Button("Restore", lambda: self.push(restore), "list_item_restore", "text", desc=f"Restore {name}"),
            Button("Delete", lambda: self.push(delete), "list_item_delete", "text", desc=f"Delete {name}"),
        ]
        return Column([Text(name, 15, pad=(16, 10, 16, 0), id="list_item_name"), Row(buttons, pad=(8, 0, 8, 4))])

    def _restore(self, path: str) -> None:
        data.restore(self.phone.storage, path)
        self.notify("The record restored successfully")

    def _delete(self, path: str) -> None:
        self.phone.storage.remove(path)
        self.notify("The record deleted successfully")

    def _ask_to_clear(self) -> None:
        self.push(Question("Delete all records?", self._clear))

    def _clear(self) -> None:
        for entry in data.trash(self.phone.storage):
            self.phone.storage.remove(entry.path)
        self.notify("All records deleted successfully")
