"""Zoom, not signed in: joining meetings, and settings."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from coach_gym.envs.phone import epoch, preferences
from coach_gym.envs.phone.app import Choice, DatabaseApp, Dialog, Screen
from coach_gym.envs.phone.preferences import Value
from coach_gym.envs.phone.toolkit import theme
from coach_gym.envs.phone.toolkit.view import TextInput, View
from coach_gym.envs.phone.toolkit.widgets import (
    Button,
    Column,
    Empty,
    Header,
    Icon,
    IconButton,
    ListItem,
    ListView,
    Row,
    Scaffold,
    Space,
    Switch,
    SwitchItem,
    Text,
    TextField,
)

PACKAGE = "us.zoom.videomeetings"
PREFERENCES = f"/data/data/{PACKAGE}/shared_prefs/{PACKAGE}_preferences.xml"
DATABASE = f"/data/data/{PACKAGE}/databases/zoom_meetings.db"
SCHEMA = """
CREATE TABLE joined (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, meeting TEXT NOT NULL, name TEXT NOT NULL,
    audio INTEGER NOT NULL, video INTEGER NOT NULL, at INTEGER NOT NULL
);
"""
AUDIO = "auto_connect_audio"
AUDIO_CHOICES = ("Off", "WiFi or cellular data", "Call my phone number", "Auto-select based on network")
SKIN_TONE = "reaction_skin_tone"
SKIN_TONES = {  # and the colour of the hand
    "Default": "#ffc83d", "Light": "#f7dece", "Medium-light": "#f3d2a2", "Medium": "#d5ab88", "Medium-dark": "#af7e57",
    "Dark": "#7c533e",
}  # fmt: skip
SWITCHES = {  # preference: title, line below it
    "mute_microphone": ("Always mute my microphone", "When joining a meeting"),
    "turn_off_video": ("Always turn off my video", "When joining a meeting"),
    "mirror_video": ("Mirror my video", ""),
    "show_join_time": ("Show my connected time", ""),
    "original_sound": ("Use original sound", "Without noise suppression"),
}
LEAST_DIGITS, MOST_DIGITS = 9, 11  # of a meeting's number


def spaced(digits: str) -> str:
    """Returns a meeting's number as it is written: 3-3-3, 3-3-4 or 3-4-4 digits."""
    first = 7 if len(digits) > 10 else 6
    return " ".join(part for part in (digits[:3], digits[3:first], digits[first:]) if part)


class Zoom(DatabaseApp):
    """The Zoom app."""

    package = PACKAGE
    activity = "com.zipow.videobox.LauncherActivity"
    label = "Zoom"
    icon = "video"
    color = "#2d8cff"
    path = DATABASE
    schema = SCHEMA

    def main(self) -> Screen:
        """Opens the welcome page."""
        return Welcome()

    def setting(self, key: str, default: Value) -> Value:
        """Returns a preference, or its default while it is not set."""
        return preferences.load(self.phone.storage, PREFERENCES).get(key, default)

    def set(self, key: str, value: Value) -> None:
        """Stores a preference."""
        preferences.update(self.phone.storage, PREFERENCES, {key: value})


class Welcome(Screen):
    """The welcome page: what is possible without signing in."""

    app: Zoom

    def build(self) -> View:
        """Shows the ways to begin."""
        picture = Column(
            [
                Icon("video_outline", 96, theme.PRIMARY),
                Text("Welcome", 26, bold=True, align="center"),
                Text("Get started with your account", 15, theme.SECONDARY, align="center"),
            ],
            gap=12, flex=1, justify="center",
        )  # fmt: skip
        offline = partial(self.notify, "The sign-in page cannot be reached")
        buttons = [
            Button("Join a meeting", lambda: self.push(Join(self.app)), "btnJoinConf"),
            Button("Sign up", offline, "btnSignup", "text"),
            Button("Sign in", offline, "btnLogin", "text"),
        ]
        settings = IconButton("cog_outline", "Settings", lambda: self.push(Settings()), "btnSettings")
        return Scaffold("Zoom", Column([picture, Column(buttons, gap=8, pad=(24, 8, 24, 20))]), actions=[settings])


class Join(Screen):
    """A meeting's number, or the name of a personal link, and how to join."""

    app: Zoom

    def __init__(self, app: Zoom) -> None:
        super().__init__()
        self.number, self.link = TextInput(), TextInput()
        self.name = TextInput(str(app.setting("screen_name", "Android")))
        self.by_link = False
        self.no_audio = False
        self.no_video = bool(app.setting("turn_off_video", False))

    def build(self) -> View:
        """Shows number, name and options."""
        other = "Join with a meeting ID" if self.by_link else "Join with a personal link name"
        turn = partial(setattr, self, "by_link", not self.by_link)
        rows = [
            Column([self._meeting()], pad=(16, 4, 16, 0)),
            Row([Button(other, turn, "btnGotoVanityUrl", "text")], justify="center"),
            Column([TextField(self.name, "Your name", "edtScreenName")], pad=(16, 0, 16, 10)),
            Column([Button("Join", self._join, "btnJoin", enabled=self._ready())], pad=(16, 4, 16, 10)),
            Text(
                "If you received an invitation link, tap on the link again to join the meeting", 13, theme.SECONDARY,
                align="center", pad=(24, 2, 24, 8),
            ),
            Header("Join options"),
            self._option("Don't Connect To Audio", "no_audio"),
            self._option("Turn Off My Video", "no_video"),
        ]  # fmt: skip
        return Scaffold("Join a meeting", ListView(rows), on_back=self.pop)

    def _meeting(self) -> View:
        if self.by_link:
            return TextField(self.link, "Personal link name", "edtConfVanityUrl")
        digits = self._digits()
        if digits == self.number.text.replace(" ", "") and self.number.text != spaced(digits):
            self.number.set(spaced(digits))  # what else was typed stays as it is
        field = TextField(self.number, "Meeting ID", "edtConfNumber", flex=1)
        recent = IconButton("chevron_down", "Recent meetings", lambda: self.push(Recent(self.number)))
        return Row([field, recent], gap=4)

    def _digits(self) -> str:
        return "".join(filter(str.isdecimal, self.number.text))

    def _ready(self) -> bool:
        if self.by_link:
            return bool(self.link.text.strip() and self.name.text.strip())
        return LEAST_DIGITS <= len(self._digits()) <= MOST_DIGITS and bool(self.name.text.strip())

    def _option(self, title: str, name: str) -> View:
        """Returns a switch that says its state in words, as Zoom's do."""
        on = getattr(self, name)
        switch = Switch(on, None, desc="On, switch" if on else "Off, switch")
        return ListItem(title, on_tap=partial(setattr, self, name, not on), trailing=switch)

    def _join(self) -> None:
        meeting, name = self.link.text.strip() if self.by_link else self._digits(), self.name.text.strip()
        self.app.db.execute(
            "INSERT INTO joined(meeting, name, audio, video, at) VALUES (?, ?, ?, ?, ?)",
            (meeting, name, not self.no_audio, not self.no_video, epoch.to_millis(self.now)),
        )
        self.app.set("screen_name", name)
        self.push(Waiting(meeting if self.by_link else spaced(meeting)))


class Recent(Dialog):
    """The meetings joined lately, the last one first; touching one puts its number in the field."""

    app: Zoom

    def __init__(self, number: TextInput) -> None:
        super().__init__("Recent meetings")
        self.number = number

    def content(self) -> Sequence[View]:
        """Lists the meetings."""
        rows = self.app.db.execute("SELECT meeting, name FROM joined ORDER BY at DESC, id DESC LIMIT 20").fetchall()
        items = [ListItem(spaced(meeting), f"as {name}", partial(self._choose, meeting)) for meeting, name in rows]
        if not items:
            return [Column([Empty("No recent meetings", "history")], height=150)]
        return [Column([ListView(items)], height=min(60 * len(items), 320))]

    def buttons(self) -> Sequence[View]:
        """Returns Close."""
        return [self.button("Close")]

    def _choose(self, meeting: str) -> None:
        self.number.set(meeting)
        self.pop()


class Waiting(Screen):
    """A meeting that its host has not started yet."""

    app: Zoom

    def __init__(self, meeting: str) -> None:
        super().__init__()
        self.meeting = meeting

    def build(self) -> View:
        """Shows that the host has not started the meeting."""
        words = [
            Icon("account_clock_outline", 72, theme.OUTLINE),
            Text("Waiting for the host to start this meeting", 17, align="center"),
            Text(f"Meeting ID: {self.meeting}", 15, theme.SECONDARY, align="center"),
        ]
        leave = Button("Leave", self.pop, "btnLeave", bg=theme.ERROR)
        body = Column([Column(words, gap=14, pad=24, flex=1, justify="center"), leave, Space(24)], pad=(24, 0, 24, 0))
        return Scaffold("Zoom meeting", body)


class Settings(Screen):
    """The settings that need no account."""

    app: Zoom

    def build(self) -> View:
        """Lists the settings."""
        audio = str(self.app.setting(AUDIO, AUDIO_CHOICES[0]))
        choice = Choice("Connect audio using", AUDIO_CHOICES, partial(self.app.set, AUDIO), audio)
        tone = SKIN_TONES[str(self.app.setting(SKIN_TONE, "Default"))]
        rows = [
            Header("Meeting"),
            ListItem("Auto-connect to audio", audio, lambda: self.push(choice)),
            ListItem(
                "Reaction skin tone", on_tap=lambda: self.push(SkinTones()),
                trailing=Row([Icon("hand_back_right", 26, tone), Icon("chevron_right")], gap=8),
            ),
            Header("Audio and video"),
            *[
                SwitchItem(title, bool(self.app.setting(key, False)), partial(self._flip, key), below)
                for key, (title, below) in SWITCHES.items()
            ],
            Header("About"),
            ListItem("Version", "5.17.11"),
        ]  # fmt: skip
        return Scaffold("Settings", ListView(rows), on_back=self.pop)

    def _flip(self, key: str) -> None:
        self.app.set(key, not self.app.setting(key, False))


class SkinTones(Screen):
    """The colors that a raised hand can have. The one in use is marked."""

    app: Zoom

    def build(self) -> View:
        """Lists the colors."""
        current = str(self.app.setting(SKIN_TONE, "Default"))
        rows = [self._row(tone, color, tone == current) for tone, color in SKIN_TONES.items()]
        return Scaffold("Reaction skin tone", ListView(rows), on_back=self.pop)

    def _row(self, tone: str, color: str, chosen: bool) -> View:
        mark = Icon("check", 24, theme.PRIMARY, "Selected") if chosen else None
        hand = Icon("hand_back_right", 28, color)
        return ListItem(tone, on_tap=partial(self.app.set, SKIN_TONE, tone), leading=hand, trailing=mark)


APP = Zoom
