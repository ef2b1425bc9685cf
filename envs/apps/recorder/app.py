"""Audio Recorder records what the microphone hears, which on this phone is silence."""

from __future__ import annotations

from datetime import datetime
from functools import partial

from coach_gym.envs.phone.app import App, Confirm, Menu, Screen
from coach_gym.envs.phone.folders import SHARED, Entry, by_date, entries, renamed, size_text
from coach_gym.envs.phone.media import audio, mp4
from coach_gym.envs.phone.media.duration import clock_text
from coach_gym.envs.phone.toolkit import theme
from coach_gym.envs.phone.toolkit.view import View
from coach_gym.envs.phone.toolkit.widgets import (
    Action,
    Column,
    Empty,
    Icon,
    IconButton,
    ListItem,
    ListView,
    Row,
    Scaffold,
    Space,
    Text,
)

PACKAGE = "com.dimowner.audiorecorder"
RECORDS = f"{SHARED}/Android/data/{PACKAGE}/files/Music/records"
EXTENSION = ".m4a"
MICROPHONE = "record audio"


class AudioRecorder(App):
    """The recorder, which keeps its recordings in `RECORDS`."""

    package = PACKAGE
    activity = "com.dimowner.audiorecorder.app.main.MainActivity"
    activities = ("com.dimowner.audiorecorder.app.welcome.WelcomeActivity",)
    label = "Audio Recorder"
    icon = "microphone"
    color = "#37474f"

    def install(self) -> None:
        """Makes the folder of recordings; recording is allowed from the start."""
        self.phone.storage.mkdir(RECORDS)
        self.phone.permissions.add((PACKAGE, MICROPHONE))

    def main(self) -> Screen:
        """Opens the recorder."""
        return Recorder()


class Recorder(Screen):
    """The recorded time, and the buttons to record, pause, stop or discard."""

    def __init__(self) -> None:
        super().__init__()
        self.recorded: float | None = None  # seconds up to the last pause; None: not recording
        self.since: datetime | None = None  # when the recording was last resumed; None: paused

    def build(self) -> View:
        """Shows the time above the buttons."""
        return Scaffold(
            AudioRecorder.label,
            Column(
                [
                    Space(flex=1),
                    Icon("waveform", 96, theme.PRIMARY if self.since else theme.OUTLINE),
                    Text(clock_text(self._seconds), 48, align="center", id="txt_progress"),
                    Text(self._state, 14, theme.SECONDARY, align="center", id="txt_name", min_height=24),
                    Space(flex=1),
                    Row(self._buttons(), gap=28, justify="center", pad=(16, 8, 16, 40)),
                ],
                align="center",
            ),
            actions=[IconButton("format_list_bulleted", "Records", lambda: self.push(Records()), "btn_records_list")],
        )

    @property
    def _seconds(self) -> float:
        """Seconds recorded so far; the phone's clock may have been set back."""
        running = max(0.0, (self.now - self.since).total_seconds()) if self.since else 0.0
        return (self.recorded or 0.0) + running

    @property
    def _state(self) -> str:
        if self.recorded is None:
            return ""
        return "Recording" if self.since else "Recording paused"

    def _buttons(self) -> list[View]:
        if self.recorded is None:
            return [_round("microphone", "Start recording", self._start, "btn_record", theme.ERROR)]
        go_on = ("microphone", "Resume recording", self._go_on)
        if self.since:
            go_on = ("pause", "Pause recording", self._pause)
        return [
            _round("delete_outline", "Delete recording", self._confirm_delete, "btn_record_delete"),
            _round(*go_on, "btn_record", theme.ERROR),
            _round("stop", "Stop recording", self._stop, "btn_record_stop"),
        ]

    def _start(self) -> None:
        self.allowed(MICROPHONE, self._go_on)

    def _pause(self) -> None:
        self.recorded, self.since = self._seconds, None

    def _go_on(self) -> None:
        self.recorded, self.since = self._seconds, self.now

    def _confirm_delete(self) -> None:
        self.push(Confirm("Delete record?", "What was recorded will be lost.", "Yes", self._reset, "No"))

    def _reset(self) -> None:
        self.recorded = self.since = None

    def _stop(self) -> None:
        """Saves the recording under a name that the user may change."""
        number = 1
        while self.phone.storage.exists(path := f"{RECORDS}/Record-{number}{EXTENSION}"):
            number += 1
        self.phone.storage.write(path, mp4.silence(max(1.0, self._seconds)))
        self._reset()
        ask_name(self, path)


def _round(icon: str, desc: str, on_tap: Action, id: str, color: str = theme.SECONDARY) -> View:
    """A large round button."""
    return View(
        "android.widget.ImageButton", icon=icon, desc=desc, on_tap=on_tap, id=id, color="#ffffff", bg=color, size=30,
        width=64, height=64, radius=32,
    )  # fmt: skip


def ask_name(screen: Screen, path: str) -> None:
    """Asks for a new name for a recording; without an answer it keeps its name."""
    screen.ask("Rename record", partial(_rename, screen, path), _title(path), "Record name", "Save")


def _rename(screen: Screen, path: str, name: str) -> None:
    renamed(screen, path, name.strip() and name.strip() + EXTENSION)


def _title(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(EXTENSION)


class Records(Screen):
    """All recordings, the newest first; touching one plays it."""

    def __init__(self) -> None:
        super().__init__()
        self.playing: str | None = None  # path
        self.since: datetime | None = None

    def build(self) -> View:
        """Shows the recordings, the newest first."""
        files = [entry for entry in entries(self.phone.storage, RECORDS) if not entry.folder]
        rows = [self._row(entry) for entry in sorted(files, key=by_date, reverse=True)]
        return Scaffold("Records", ListView(rows) if rows else Empty("No records", "microphone_off"), self.pop)

    def _row(self, entry: Entry) -> View:
        sound = audio.sound(self.phone.storage.read(entry.path) or b"")
        length = sound.seconds if sound else 0.0
        played = (self.now - self.since).total_seconds() if self.since and entry.path == self.playing else length
        shown = f"{clock_text(played)} / {clock_text(length)}" if played < length else clock_text(length)
        facts = f"{shown} • {size_text(entry.size)} • {entry.modified.strftime('%d %b %Y %H:%M')}"
        icon = Icon("pause_circle" if played < length else "play_circle", 32, theme.PRIMARY)
        more = IconButton("dots_vertical", f"Options of {_title(entry.path)}", lambda: self._menu(entry.path))
        return ListItem(_title(entry.path), facts, lambda: self._play(entry.path), leading=icon, trailing=more)

    def _play(self, path: str) -> None:
        if path == self.playing:
            self.playing = self.since = None
        else:
            self.playing, self.since = path, self.now

    def _menu(self, path: str) -> None:
        delete = Confirm("Delete record?", _title(path), "Yes", lambda: self.phone.storage.remove(path), "No")
        self.push(Menu([("Rename", lambda: ask_name(self, path)), ("Delete", lambda: self.push(delete))]))


APP = AudioRecorder
