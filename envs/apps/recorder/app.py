"""Audio Recorder records what the microphone hears, which on this phone is silence."""

from __future__ import annotations

from datetime import datetime
from functools import partial

from coach_gym.envs.apps.recorder import data
from coach_gym.envs.apps.recorder.data import PACKAGE, RECORDS
from coach_gym.envs.apps.recorder.dialogs import Question, ask_name
from coach_gym.envs.apps.recorder.records import Records, record_menu
from coach_gym.envs.apps.recorder.settings import Settings
from coach_gym.envs.phone.app import App, Screen
from coach_gym.envs.phone.media.duration import clock_text
from coach_gym.envs.phone.toolkit import theme
from coach_gym.envs.phone.toolkit.view import View
from coach_gym.envs.phone.toolkit.widgets import Action, Column, Icon, IconButton, Row, Scaffold, Space, Text

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
        self.latest = ""  # path of the last record

    def build(self) -> View:
        """Shows the time above the buttons."""
        record = self._shown()
        name = data.title(record) if record else self._state
        rename = partial(ask_name, self, record, self._renamed) if record else None
        return Scaffold(
            AudioRecorder.label,
            Column(
                [
                    Space(flex=1),
                    Icon("waveform", 96, theme.PRIMARY if self.since else theme.OUTLINE),
                    Text(clock_text(self._seconds), 48, align="center", id="txt_progress"),
                    Text(name, 14, theme.SECONDARY, align="center", id="txt_name", min_height=24, on_tap=rename),
                    Text(self._info(record), 12, theme.SECONDARY, align="center", id="txt_record_info"),
                    Space(flex=1),
                    self._bottom(),
                ],
                align="center",
            ),
            actions=[IconButton("dots_vertical", "More options", self._menu, "btn_share")] if record else [],
        )

    def _shown(self) -> str:
        """Returns the path of the last record; empty if it is gone, and while another is made."""
        return self.latest if self.recorded is None and self.phone.storage.exists(self.latest) else ""

    def _info(self, record: str) -> str:
        """Returns size, format and sample rate of a record, or of one that is yet to be made."""
        storage = self.phone.storage
        size = storage.size(record) if record else 0
        format = data.extension(record)[1:] if record else data.setting(storage, data.FORMAT)
        rate = data.called(data.SAMPLE_RATES, data.setting(storage, data.SAMPLE_RATE))
        return f"{round(size / (1 << 20), 2):g} Mb, {data.called(data.FORMATS, format)}, {rate}"

    def _renamed(self, path: str) -> None:
        self.latest = path

    def _menu(self) -> None:
        self.push(record_menu(self, self.latest, self._renamed))

    def _bottom(self) -> View:
        settings = IconButton("cog_outline", "Settings", lambda: self.push(Settings()), "btn_settings")
        records = IconButton("format_list_bulleted", "Records", lambda: self.push(Records()), "btn_records_list")
        buttons = Row(self._buttons(), gap=28, justify="center", flex=1)
        return Row([settings, buttons, records], pad=(8, 8, 8, 40))

    @property
    def _seconds(self) -> float:
        """Seconds recorded so far; the phone's clock may have been set back."""
        running = max(0.0, (self.now - self.since).total_seconds()) if self.since else 0.0
        return (self.recorded or 0.0) + running

    @property
    def _state(self) -> str:
        if self.recorded is None:
            return ""
        return "Recording…" if self.since else "Paused"

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
        """Asks whether the recording is discarded; it waits meanwhile, and afterwards if it is not."""
        self._pause()
        self.push(Question("Delete this record?", self._reset))

    def _reset(self) -> None:
        self.recorded = self.since = None

    def _stop(self) -> None:
        """Saves the recording under a name that the user may change."""
        self.latest = data.save(self.phone.storage, self._seconds, self.now, self.phone.local)
        self._reset()
        if data.setting(self.phone.storage, data.ASKS_NAME):
            ask_name(self, self.latest, self._renamed, recorded=True)


def _round(icon: str, desc: str, on_tap: Action, id: str, color: str = theme.SECONDARY) -> View:
    """A large round button."""
    return View(
        "android.widget.ImageButton", icon=icon, desc=desc, on_tap=on_tap, id=id, color="#ffffff", bg=color, size=30,
        width=64, height=64, radius=32,
    )  # fmt: skip


APP = AudioRecorder
