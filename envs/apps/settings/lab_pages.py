"""The pages of Settings that are different or new on AndroidLab's phone."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import partial

from coach_gym.envs.apps.settings import pages as usual
from coach_gym.envs.apps.settings.pages import Page, option
from coach_gym.envs.phone import zones
from coach_gym.envs.phone.app import Choice, Confirm, Dialog, Prompt
from coach_gym.envs.phone.screens.pickers import DatePicker, HalfDayPicker
from coach_gym.envs.phone.toolkit import theme
from coach_gym.envs.phone.toolkit.view import TextInput, View
from coach_gym.envs.phone.toolkit.widgets import (
    Button,
    Column,
    Header,
    Icon,
    ListItem,
    ListView,
    Radio,
    Row,
    Scaffold,
    Switch,
    Text,
    TextField,
)

ZONE = "Asia/Shanghai"
LANGUAGES = dict(
    sorted(
        {
            **usual.LANGUAGES, "English (United Kingdom)": "en-GB", "Espa\u00f1ol (Estados Unidos)": "es-US",
            "Espa\u00f1ol (M\u00e9xico)": "es-MX",
        }.items()
    )
)  # fmt: skip
"""Names of languages, with their codes."""
SPOKEN = (
    "Chinese (China)", "English (United Kingdom)", "English (United States)", "French (France)", "German (Germany)",
    "Spanish (Spain)",
)  # fmt: skip
BROWSERS = ("Chrome", "Firefox")
INSTALLED = {"com.booking": "Booking.com", "org.mozilla.firefox": "Firefox"}
"""Apps that can be removed again, with the names of their packages."""


class ListPage(Page):
    """A page whose list is an element, as Android's is: it can have the focus."""

    def build(self) -> View:
        """Shows the title and the list."""
        return Scaffold(self.title, ListView(self.rows(), focusable=True), on_back=self.pop)


# network


class Network(ListPage, usual.Network):
    """As usual, with a choice of the server that resolves names."""

    def rows(self) -> Sequence[View]:
        mode = self.get("global", "private_dns_mode")
        host = self.get("global", "private_dns_specifier")
        shown = {"off": "Off", "opportunistic": "Automatic"}.get(mode, host)
        dns = ListItem("Private DNS", shown, lambda: self.push(PrivateDns(mode, host)))
        return [self.link(Internet), *usual.Network.rows(self)[1:-1], dns]


class PrivateDns(Dialog):
    """Which server resolves names: no private one, any, or one by name."""

    MODES = {"off": "Off", "opportunistic": "Automatic", "hostname": "Private DNS provider hostname"}

    def __init__(self, mode: str, host: str) -> None:
        super().__init__("Select Private DNS mode")
        self.mode, self.host = mode, TextInput(host)

    def content(self) -> Sequence[View]:
        """Returns the modes, and a field if one asks for a name."""
        radios = [
            Radio(label, mode == self.mode, partial(setattr, self, "mode", mode)) for mode, label in self.MODES.items()
        ]
        if self.mode != "hostname":
            return radios
        field = TextField(self.host, "Enter hostname of DNS provider", "private_dns_mode_provider_hostname")
        return [*radios, Column([field], pad=(20, 4, 20, 8))]

    def buttons(self) -> Sequence[View]:
        """Returns "Cancel" and "Save"."""
        return [self.button("Cancel"), self.button("Save", self._save)]

    def _save(self) -> None:
        self.phone.storage.settings["global", "private_dns_mode"] = self.mode
        self.phone.storage.settings["global", "private_dns_specifier"] = self.host.text.strip()


class Internet(usual.Internet):
    """As usual, with a link to more preferences."""

    def rows(self) -> Sequence[View]:
        return [*super().rows(), self.link(NetworkPreferences)]


class NetworkPreferences(ListPage):
    """When Wi-Fi turns itself on, and whether it reports public networks."""

    title = "Network preferences"

    def rows(self) -> Sequence[View]:
        return [
            self.switch("Turn on Wi\u2011Fi automatically", "global", "wifi_wakeup_enabled"),
            self.switch("Notify for public networks", "global", "wifi_networks_available_notification_on"),
        ]


class PairDevice(ListPage):
    """The name that other devices see."""

    title = "Pair new device"

    def rows(self) -> Sequence[View]:
        name = self.get("secure", "bluetooth_name")
        return [ListItem("Device name", name, self._ask_name), Header("Available devices")]

    def _ask_name(self) -> None:
        rename = partial(self.rename, "secure", "bluetooth_name")
        name = self.get("secure", "bluetooth_name")
        self.push(Prompt("Rename this device", rename, name, hint="Device name", yes="Rename"))


class ConnectedDevices(usual.ConnectedDevices):
    """As usual, without the phone's name, which is on the next page."""

    pairing = PairDevice

    def rows(self) -> Sequence[View]:
        return super().rows()[:-1]


# apps and notifications


class Apps(usual.Apps):
    """The apps of the home screen, those that can be removed, and which app opens what."""

    def rows(self) -> Sequence[View]:
        there = {package: name for package, name in INSTALLED.items() if package in self.phone.services.packages}
        removable = [
            ListItem(name, on_tap=partial(self._more, package), leading=Icon("application_outline"))
            for package, name in there.items()
        ]
        return [self.link(DefaultApps), *removable, *super().rows()]

    def _more(self, package: str) -> None:
        self.push(RemovableApp(package))


class RemovableApp(ListPage, usual.AppPage):
    """An app that can be uninstalled."""

    def rows(self) -> Sequence[View]:
        return [
            self.heading(INSTALLED[self.package]),
            Row([Button("Uninstall", self._ask, kind="tonal")], gap=10, pad=(16, 0, 16, 8)),
            self.notifications(),
        ]

    def _ask(self) -> None:
        self.push(Confirm(INSTALLED[self.package], "Do you want to uninstall this app?", "OK", self._uninstall))

    def _uninstall(self) -> None:
        del self.phone.services.packages[self.package]
        roles = self.phone.services.roles
        if roles["browser"] == INSTALLED[self.package]:
            roles["browser"] = BROWSERS[0]
        self.pop()


class DefaultApps(ListPage):
    """Which apps open web pages, calls and messages."""

    title = "Default apps"

    def rows(self) -> Sequence[View]:
        return [
            ListItem("Browser app", self.phone.services.roles["browser"], lambda: self.push(DefaultBrowser())),
            self.fact("Phone app", "Phone"),
            self.fact("SMS app", "Messages"),
        ]


class DefaultBrowser(ListPage):
    """Which app opens web pages."""

    title = "Default browser app"

    def rows(self) -> Sequence[View]:
        services = self.phone.services
        there = [name for name in BROWSERS if name != "Firefox" or "org.mozilla.firefox" in services.packages]
        return [option(name, name == services.roles["browser"], partial(self._choose_browser, name)) for name in there]

    def _choose_browser(self, name: str) -> None:
        self.phone.services.roles["browser"] = name


class Notifications(usual.Notifications):
    """As usual, with a link to the access of each app."""

    def rows(self) -> Sequence[View]:
        return [*super().rows(), self.link(NotificationAccess)]


class NotificationAccess(ListPage):
    """Which apps may show notifications."""

    title = "Device & app notifications"

    def rows(self) -> Sequence[View]:
        apps = sorted(self.phone.apps.values(), key=lambda app: app.label.casefold())
        rows: list[View] = []
        for heading, blocked in (("Allowed", False), ("Not allowed", True)):
            mine = [app for app in apps if (self.get("global", usual.blocking(app.package)) == "1") == blocked]
            rows += [Header(heading)] if mine else []
            rows += [ListItem(app.label, on_tap=partial(self._show, app.package)) for app in mine]
        return rows

    def _show(self, package: str) -> None:
        self.push(AppNotifications(package))


class AppNotifications(ListPage, usual.AppPage):
    """Whether one app may show notifications."""

    title = ""

    def rows(self) -> Sequence[View]:
        name = self.phone.apps[self.package].label
        return [self.heading(name), self.notifications("Allow notification access")]


# sound and display


class Sound(usual.Sound):
    """As usual, with a link to vibration. Volumes are kept for the speaker, too."""

    copies = ("_speaker",)

    def rows(self) -> Sequence[View]:
        rows = list(super().rows())
        return [*rows[:4], self.link(Vibration), *rows[4:]]


class Vibration(ListPage):
    """When the phone vibrates."""

    title = "Vibration & haptics"

    def rows(self) -> Sequence[View]:
        return [
            self.switch("Ring vibration", "system", "ring_vibration_intensity", on="2", off="0"),
            self.switch("Notification vibration", "system", "notification_vibration_intensity", on="2", off="0"),
            self.switch("Touch feedback", "system", "haptic_feedback_intensity", on="2", off="0"),
        ]


class Display(ListPage, usual.Display):
    """As usual; the row of the dark theme and its switch are two elements."""

    def rows(self) -> Sequence[View]:
        rows = list(usual.Display.rows(self))
        dark = self.get("secure", "ui_night_mode") == "2"
        then = partial(self.put, "secure", "ui_night_mode", "1" if dark else "2")
        rows[3] = ListItem("Dark theme", on_tap=then, trailing=Switch(dark, None, "Dark theme"))
        return rows


# system


class System(ListPage):
    """As usual, with a page for languages and input."""

    title = "System"

    def rows(self) -> Sequence[View]:
        return [self.link(LanguagesAndInput), self.link(DateAndTime), self.fact("System update", "Android 13")]


class LanguagesAndInput(ListPage):
    """Languages, the keyboard and speech."""

    title = "Languages & input"

    def rows(self) -> Sequence[View]:
        return [self.link(Languages), self.fact("On-screen keyboard", "Gboard"), self.link(TextToSpeech)]


class Languages(ListPage):
    """The phone's languages, the one that it speaks first."""

    title = "Languages"

    def rows(self) -> Sequence[View]:
        rows = [self._language(place, name) for place, name in enumerate(self._names(), start=1)]
        return [*rows, ListItem("Add a language", on_tap=self._add, leading=Icon("plus"))]

    def _language(self, place: int, name: str) -> View:
        texts = [Text(name, 15, flex=1), Text(str(place), 15, theme.SECONDARY)]
        return Row(texts, 14, (16, 8, 24, 8), important=True, on_tap=partial(self._prefer, name), min_height=56)

    def _names(self) -> list[str]:
        return [usual.label_of(LANGUAGES, code) for code in self.get("system", "system_locales").split(",")]

    def _prefer(self, name: str) -> None:
        self._store([name, *(other for other in self._names() if other != name)])

    def _store(self, names: list[str]) -> None:
        self.put("system", "system_locales", ",".join(LANGUAGES.get(name, name) for name in names))

    def _add(self) -> None:
        known = self._names()
        others = [name for name in LANGUAGES if name not in known]
        self.push(Choice("Add a language", others, lambda name: self._store([*known, name])))


class TextToSpeech(ListPage):
    """In which language the phone reads texts out."""

    title = "Text-to-speech output"

    def rows(self) -> Sequence[View]:
        spoken = {name: name for name in SPOKEN}
        return [
            self.fact("Preferred engine", "Speech Recognition & Synthesis"),
            self.choice("Language", "secure", "tts_language", spoken),
        ]


class DateAndTime(ListPage):
    """The phone's clock; it can be set unless it sets itself."""

    title = "Date & time"

    def rows(self) -> Sequence[View]:
        by_hand = self.get("global", "auto_time") == "0"
        return [
            self.switch("Set time automatically", "global", "auto_time"),
            ListItem("Date", self.local_now.strftime("%B %-d, %Y"), self._ask_date, enabled=by_hand),
            ListItem("Time", self.local_now.strftime("%-I:%M %p"), self._ask_time, enabled=by_hand),
            self.switch("Set time zone automatically", "global", "auto_time_zone"),
            ListItem("Time zone", zones.called(self.phone.services, self.now), lambda: self.push(TimeZone())),
            self.switch("Use 24-hour format", "system", "time_12_24", on="24", off="12"),
        ]

    def _ask_date(self) -> None:
        now = self.local_now
        self.push(DatePicker(now.date(), lambda day: self._set(datetime.combine(day, self.local_now.time()))))

    def _ask_time(self) -> None:
        now = self.local_now
        self.push(HalfDayPicker(now.time(), lambda at: self._set(datetime.combine(self.local_now.date(), at))))

    def _set(self, now: datetime) -> None:
        self.phone.now = self.phone.on_clock(now)


class TimeZone(ListPage):
    """Where the phone is."""

    title = "Time zone"

    def rows(self) -> Sequence[View]:
        services = self.phone.services
        name, offset = zones.current(services), zones.offset(services, self.now)
        region = [self.fact("Region", "China")] if name == ZONE else []
        return [*region, self.fact("Time zone", f"{name} ({offset})")]
