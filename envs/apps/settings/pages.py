"""The pages of Settings, one class each, in the order of its main list."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from coach_gym.envs.phone import zones
from coach_gym.envs.phone.app import Choice, Host, Prompt, Screen
from coach_gym.envs.phone.paths import BUILD
from coach_gym.envs.phone.settings import font_scale, whole
from coach_gym.envs.phone.system import bars, shade
from coach_gym.envs.phone.toolkit import theme
from coach_gym.envs.phone.toolkit.view import View
from coach_gym.envs.phone.toolkit.widgets import (
    Button,
    Column,
    Header,
    Icon,
    IconButton,
    ListItem,
    ListView,
    Row,
    Scaffold,
    Slider,
    SwitchItem,
    Text,
    TextField,
)

NETWORKS = (("AndroidWifi", False), ("Riverside Cafe", False), ("Home 2.4G", True), ("Library Guest", True))
TIMEOUTS = {  # what is shown: milliseconds
    "15 seconds": "15000", "30 seconds": "30000", "1 minute": "60000", "2 minutes": "120000",
    "5 minutes": "300000", "10 minutes": "600000", "30 minutes": "1800000",
}  # fmt: skip
FONT_SCALES = {"Small": "0.85", "Default": "1.0", "Large": "1.15", "Largest": "1.3"}
RINGTONES = ("None", "Beats", "Dance Party", "Early Bird", "Flutterby", "Hey Hey", "Zen")
LANGUAGES = {
    "English (United States)": "en-US", "Deutsch (Deutschland)": "de-DE", "Espa\u00f1ol (Espa\u00f1a)": "es-ES",
    "Fran\u00e7ais (France)": "fr-FR", "Italiano (Italia)": "it-IT", "Portugu\u00eas (Brasil)": "pt-BR",
}  # fmt: skip
VOLUMES = (  # title, key, highest, lowest
    ("Media volume", "volume_music", 15, 0),
    ("Call volume", "volume_voice", 7, 1),
    ("Ring & notification volume", "volume_ring", 7, 0),
    ("Alarm volume", "volume_alarm", 7, 1),
)


class Page(Screen):
    """A page of settings: a title and rows."""

    title = ""

    @classmethod
    def summary(cls, phone: Host) -> str:
        """Returns what the row that leads here says about the page's state."""
        return ""

    def rows(self) -> Sequence[View]:
        """Returns the rows of the page."""
        return []

    def build(self) -> View:
        """Shows the title and the rows."""
        return Scaffold(self.title, ListView(self.rows()), on_back=self.pop)

    def link(self, page: type[Page]) -> View:
        """Makes a row that opens another page."""
        return ListItem(page.title, page.summary(self.phone), lambda: self.push(page()))

    def fact(self, title: str, value: str) -> View:
        """Makes a row that tells something; a touch copies it."""
        return ListItem(title, value, partial(self._copy, value))

    def _copy(self, value: str) -> None:
        self.phone.clipboard = value
        self.notify("Copied to clipboard")

    def get(self, namespace: str, key: str) -> str:
        """Returns a setting's value."""
        return self.phone.storage.settings.get((namespace, key), "0")

    def put(self, namespace: str, key: str, value: str) -> None:
        """Changes a setting."""
        self.phone.storage.settings[namespace, key] = value

    def radio(self, title: str, key: str) -> View:
        """Makes a switch of a global setting that the notification shade has, too."""
        return SwitchItem(title, self.get("global", key) != "0", partial(shade.toggle, self.phone, key))

    def switch(self, title: str, namespace: str, key: str, on: str = "1", off: str = "0") -> View:
        """Makes a switch of a setting that is `on` or `off`."""
        checked = self.get(namespace, key) == on
        return SwitchItem(title, checked, partial(self.put, namespace, key, off if checked else on))

    def rename(self, namespace: str, key: str, name: str) -> None:
        """Changes a setting that is a name, unless the new name is empty."""
        if name.strip():
            self.put(namespace, key, name.strip())

    def options(self, key: str, values: dict[str, str]) -> list[View]:
        """Makes a row for each of the values that a system setting can have, by what they are called."""
        current = self.get("system", key)
        return [
            option(label, value == current, partial(self.put, "system", key, value)) for label, value in values.items()
        ]

    def choice(self, title: str, namespace: str, key: str, options: dict[str, str]) -> View:
        """Makes a row that lets one of several values be chosen from a list."""
        current = label_of(options, self.get(namespace, key))
        return ListItem(title, current, partial(self._choose, title, namespace, key, options))

    def _choose(self, title: str, namespace: str, key: str, options: dict[str, str]) -> None:
        current = label_of(options, self.get(namespace, key))
        self.push(Choice(title, list(options), lambda label: self.put(namespace, key, options[label]), current))


def build_properties(model: str, version: str, build: str) -> bytes:
    """Returns the contents of `BUILD` for a phone's model, Android version and build number."""
    return f"ro.product.model={model}\nro.build.version.release={version}\nro.build.display.id={build}\n".encode()


def label_of(options: dict[str, str], value: str) -> str:
    """Returns what a value is called in a list of options; the value itself if it is not there."""
    return next((label for label, option in options.items() if option == value), value)


# network


class Network(Page):
    """Internet, mobile data, airplane mode."""

    title = "Network & internet"

    def rows(self) -> Sequence[View]:
        return [
            self.link(Internet),
            self.radio("Mobile data", "mobile_data"),
            self.radio("Airplane mode", "airplane_mode_on"),
            self.switch("Data Saver", "global", "data_saver"),
            self.fact("VPN", "None"),
            self.fact("Private DNS", "Automatic"),
        ]


class Internet(Page):
    """Wi-Fi and its networks."""

    title = "Internet"

    @classmethod
    def summary(cls, phone: Host) -> str:
        """Returns the network that is joined."""
        on = phone.storage.settings.get(("global", "wifi_on"), "0") != "0"
        return phone.storage.settings.get(("global", "wifi_network"), "") if on else ""

    def rows(self) -> Sequence[View]:
        switch = self.radio("Wi\u2011Fi", "wifi_on")
        if self.get("global", "wifi_on") == "0":
            return [switch]
        joined = self.get("global", "wifi_network")
        networks = sorted(NETWORKS, key=lambda network: network[0] != joined)
        return [switch, *(self._network(name, secured, name == joined) for name, secured in networks)]

    def _network(self, name: str, secured: bool, joined: bool) -> View:
        lock = Icon("lock_outline", 18) if secured else None
        state = "Connected" if joined else ""
        return ListItem(name, state, partial(self._touched, name, secured and not joined), leading=Icon("wifi"),
                        trailing=lock)  # fmt: skip

    def _touched(self, name: str, ask: bool) -> None:
        if ask:
            self.push(PasswordPrompt(name, partial(self._join, name), hint="Password", yes="Connect"))
        else:
            self.put("global", "wifi_network", name)

    def _join(self, name: str, password: str) -> None:
        right = self.phone.storage.settings.get(("global", password_key(name)), password)
        if len(password) < 8 or password != right:
            self.notify("Check password and try again")
        else:
            self.put("global", "wifi_network", name)


def password_key(network: str) -> str:
    """Returns which global setting has a network's password; without it, the network takes any of eight characters."""
    return f"wifi_password_{network}"


class PasswordPrompt(Prompt):
    """A question for a text that nobody else is to read."""

    def content(self) -> Sequence[View]:
        """Returns the text field."""
        field = TextField(self.input, self.hint, on_submit=self.closing(self.finish), password=True)
        return [Column([field], pad=(20, 4, 20, 8))]


class PairDevice(Page):
    """The phone's name, and no devices to pair with."""

    title = "Pair new device"

    def rows(self) -> Sequence[View]:
        return [self.fact("Device name", self.get("global", "device_name")), Header("Available devices")]


class ConnectedDevices(Page):
    """Bluetooth and NFC."""

    title = "Connected devices"
    pairing: type[Page] = PairDevice

    def rows(self) -> Sequence[View]:
        return [
            self.radio("Bluetooth", "bluetooth_on"),
            ListItem("Pair new device", on_tap=self._pair, leading=Icon("plus")),
            self.switch("NFC", "global", "nfc_on"),
            self.fact("Device name", self.get("global", "device_name")),
        ]

    def _pair(self) -> None:
        self.put("global", "bluetooth_on", "1")
        self.push(self.pairing())


# apps and notifications


class Apps(Page):
    """All installed apps."""

    title = "Apps"

    def rows(self) -> Sequence[View]:
        apps = sorted(self.phone.apps.values(), key=lambda app: app.label.casefold())
        return [
            ListItem(app.label, on_tap=partial(self._info, app.package), leading=Icon(app.icon, 24, app.color))
            for app in apps
        ]

    def _info(self, package: str) -> None:
        self.push(AppInfo(package))


class AppPage(Page):
    """A page about one app."""

    title = "App info"

    def __init__(self, package: str) -> None:
        super().__init__()
        self.package = package

    def heading(self, name: str) -> View:
        """Returns the app's name in large letters."""
        return Text(name, 20, pad=(16, 8, 16, 8))

    def notifications(self, title: str = "Notifications") -> View:
        """Returns the switch of the app's notifications."""
        return self.switch(title, "global", blocking(self.package), on="0", off="1")


def blocking(package: str) -> str:
    """Returns the global setting that is 1 if an app may not show notifications."""
    return f"notifications_blocked_{package}"


class AppInfo(AppPage):
    """One app: whether it runs, and may show notifications."""

    def rows(self) -> Sequence[View]:
        app = self.phone.apps[self.package]
        running = self.package in self.phone.stacks
        buttons = [
            Button("Open", partial(self.phone.launch, self.package), kind="tonal"),
            Button("Force stop", partial(self.phone.force_stop, self.package), kind="tonal", enabled=running),
        ]
        return [
            self.heading(app.label),
            Row(buttons, gap=10, pad=(16, 0, 16, 8)),
            self.notifications(),
        ]


class Notifications(Page):
    """What notifications do."""

    title = "Notifications"

    def rows(self) -> Sequence[View]:
        return [
            self.switch("Notification history", "secure", "notification_history_enabled"),
            self.switch("Notifications on lock screen", "secure", "lock_screen_show_notifications"),
            self.radio("Do Not Disturb", "zen_mode"),
            self.switch("Notification dot on app icon", "secure", "notification_badging"),
        ]


# battery and storage


class Battery(Page):
    """The battery's level, and how to save power."""

    title = "Battery"

    @classmethod
    def summary(cls, phone: Host) -> str:
        """Returns the level."""
        return f"{bars.battery_level(phone)}%"

    def rows(self) -> Sequence[View]:
        return [
            Text(self.summary(self.phone), 40, pad=(16, 8, 16, 12)),
            self.radio("Battery Saver", "low_power"),
            self.switch("Battery percentage", "system", "status_bar_show_battery_percent"),
        ]


class Storage(Page):
    """What takes how much space."""

    title = "Storage"

    @classmethod
    def summary(cls, phone: Host) -> str:
        """Returns how much space is used."""
        return "28% used"

    def rows(self) -> Sequence[View]:
        used = (("Apps", "11 GB"), ("System", "18 GB"), ("Images", "4.2 GB"), ("Videos", "1.9 GB"),
                ("Audio", "0.6 GB"), ("Documents & other", "0.1 GB"))  # fmt: skip
        return [Text("36 GB used of 128 GB", 18, pad=(16, 8, 16, 8)), *(self.fact(*entry) for entry in used)]


# sound and display


class Sound(Page):
    """Volumes and sounds."""

    title = "Sound & vibration"
    copies: tuple[str, ...] = ()  # suffixes of further settings that a volume is kept in

    def rows(self) -> Sequence[View]:
        return [
            *(self._volume(*entry) for entry in VOLUMES),
            self.radio("Do Not Disturb", "zen_mode"),
            self.choice("Phone ringtone", "system", "ringtone", {name: name for name in RINGTONES}),
            self.switch("Vibrate for calls", "system", "vibrate_when_ringing"),
            self.switch("Dial pad tones", "system", "dtmf_tone"),
            self.switch("Screen locking sound", "system", "lockscreen_sounds_enabled"),
            self.switch("Touch sounds", "system", "sound_effects_enabled"),
        ]

    def _volume(self, title: str, key: str, highest: int, lowest: int) -> View:
        level = whole(self.phone.storage.settings, "system", key, 0, highest)
        slider = Slider(level / highest, partial(self._set, key, highest, lowest), title, key)
        return Column([Text(title, 14, pad=(4, 6, 0, 0), important=False), slider], pad=(12, 0, 12, 0))

    def _set(self, key: str, highest: int, lowest: int, share: float) -> None:
        for suffix in ("", *self.copies):
            self.put("system", key + suffix, str(max(lowest, round(share * highest))))


class Display(Page):
    """Brightness, theme, font size and rotation."""

    title = "Display"

    def rows(self) -> Sequence[View]:
        level = round(100 * shade.brightness(self.phone) / shade.BRIGHTEST)
        timeout = label_of(TIMEOUTS, self.get("system", "screen_off_timeout"))
        return [
            ListItem("Brightness level", f"{level}%", lambda: self.push(Brightness())),
            self.switch("Adaptive brightness", "system", "screen_brightness_mode"),
            ListItem("Screen timeout", f"After {timeout} of inactivity", lambda: self.push(ScreenTimeout())),
            self.switch("Dark theme", "secure", "ui_night_mode", on="2", off="1"),
            self.link(FontSize),
            self.switch("Night Light", "secure", "night_display_activated"),
            self.switch("Auto-rotate screen", "system", "accelerometer_rotation"),
        ]


class Brightness(Screen):
    """The brightness slider above the page."""

    dialog = True

    def build(self) -> View:
        """Shows the slider."""
        level = shade.brightness(self.phone) / shade.BRIGHTEST
        slider = Slider(level, partial(shade.set_brightness, self.phone), "Display brightness", "slider")
        return Column([slider], pad=(16, 8, 16, 8), bg=theme.SURFACE, radius=28)


class ScreenTimeout(Page):
    """How long the screen stays on."""

    title = "Screen timeout"

    def rows(self) -> Sequence[View]:
        return self.options("screen_off_timeout", TIMEOUTS)


class FontSize(Page):
    """How large texts are."""

    title = "Font size"

    @classmethod
    def summary(cls, phone: Host) -> str:
        """Returns the name of the size."""
        return label_of(FONT_SCALES, phone.storage.settings.get(("system", "font_scale"), "1.0"))

    def rows(self) -> Sequence[View]:
        size, sizes = font_scale(self.phone.storage.settings), list(map(float, FONT_SCALES.values()))
        place = min(range(len(sizes)), key=lambda place: abs(sizes[place] - size))  # clients set others, too
        last = len(FONT_SCALES) - 1
        slider = Slider(place / last, lambda share: self._set(round(share * last)), "Font size", "seekbar")
        return [
            Text("Sample text", pad=(16, 20, 16, 20), important=False),
            Text(self.summary(self.phone), 15, align="center", id="current_label"),
            Row(
                [
                    IconButton("format_font_size_decrease", "Make smaller", partial(self._set, max(0, place - 1))),
                    Column([slider], flex=1),
                    IconButton("format_font_size_increase", "Make larger", partial(self._set, min(last, place + 1))),
                ],
                pad=(8, 0, 8, 0),
            ),
        ]

    def _set(self, place: int) -> None:
        self.put("system", "font_scale", list(FONT_SCALES.values())[place])


def option(label: str, chosen: bool, on_tap: Callable[[], None]) -> View:
    """Makes a row for one of several values on a page of its own."""
    mark = Icon("radiobox_marked" if chosen else "radiobox_blank", color=theme.PRIMARY if chosen else theme.SECONDARY)
    return ListItem(label, on_tap=on_tap, leading=mark, checkable=True, checked=chosen)


# accessibility, location, system


class Accessibility(Page):
    """Aids for seeing and hearing."""

    title = "Accessibility"

    def rows(self) -> Sequence[View]:
        return [
            self.link(FontSize),
            self.switch("Color inversion", "secure", "accessibility_display_inversion_enabled"),
            self.switch("Caption preferences", "secure", "accessibility_captioning_enabled"),
        ]


class Location(Page):
    """Whether apps learn where the phone is."""

    title = "Location"

    @classmethod
    def summary(cls, phone: Host) -> str:
        """Returns On or Off."""
        return "Off" if phone.storage.settings.get(("secure", "location_mode")) == "0" else "On"

    def rows(self) -> Sequence[View]:
        return [self.switch("Use location", "secure", "location_mode", on="3")]


class System(Page):
    """Languages, the clock, and the system's version."""

    title = "System"

    def rows(self) -> Sequence[View]:
        return [self.link(Languages), self.link(DateAndTime), self.fact("System update", "Updated to Android 13")]


class Languages(Page):
    """The language that the phone speaks."""

    title = "Languages"

    @classmethod
    def summary(cls, phone: Host) -> str:
        """Returns the language."""
        return label_of(LANGUAGES, phone.storage.settings.get(("system", "system_locales"), "en-US"))

    def rows(self) -> Sequence[View]:
        return self.options("system_locales", LANGUAGES)


class DateAndTime(Page):
    """The phone's clock."""

    title = "Date & time"

    @classmethod
    def summary(cls, phone: Host) -> str:
        """Returns the date."""
        return phone.local(phone.now).strftime("%B %-d, %Y")

    def rows(self) -> Sequence[View]:
        return [
            self.switch("Set time automatically", "global", "auto_time"),
            self.fact("Date", self.local_now.strftime("%B %-d, %Y")),
            self.fact("Time", self.local_now.strftime("%H:%M")),
            self.switch("Set time zone automatically", "global", "auto_time_zone"),
            self.fact("Time zone", zones.called(self.phone.services, self.now)),
            self.switch("Use 24-hour format", "system", "time_12_24", on="24", off="12"),
        ]


class AboutPhone(Page):
    """The phone's name, model and version."""

    title = "About phone"

    @classmethod
    def summary(cls, phone: Host) -> str:
        """Returns the phone's name."""
        return phone.storage.settings.get(("global", "device_name"), "")

    def rows(self) -> Sequence[View]:
        name = self.summary(self.phone)
        return [
            ListItem("Device name", name, self._ask_name),
            self.fact("Phone number", "+15551234567"),
            self.fact("Model", self._property("ro.product.model")),
            self.fact("Android version", self._property("ro.build.version.release")),
            self.fact("IP address", "10.0.2.16"),
            self.fact("Build number", self._property("ro.build.display.id")),
        ]

    def _ask_name(self) -> None:
        self.push(Prompt("Device name", partial(self.rename, "global", "device_name"), self.summary(self.phone)))

    def _property(self, key: str) -> str:
        lines = (self.phone.storage.read(BUILD) or b"").decode().splitlines()
        return dict(line.split("=", 1) for line in lines if "=" in line).get(key, "")
