"""Settings: switches, levels and choices of the phone, kept in Android's settings tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial

from coach_gym.envs.apps.settings import pages
from coach_gym.envs.apps.settings.pages import Page
from coach_gym.envs.phone.app import App, Host, Screen
from coach_gym.envs.phone.intents import Intent
from coach_gym.envs.phone.paths import BATTERY_LEVEL, BUILD
from coach_gym.envs.phone.services import Services
from coach_gym.envs.phone.toolkit import theme
from coach_gym.envs.phone.toolkit.view import TextInput, View
from coach_gym.envs.phone.toolkit.widgets import (
    Column,
    Empty,
    Icon,
    IconButton,
    ListItem,
    ListView,
    Row,
    Scaffold,
    Text,
    TextField,
)

DEFAULTS = {
    "global": {
        "wifi_on": "1", "wifi_network": "AndroidWifi", "bluetooth_on": "1", "airplane_mode_on": "0",
        "mobile_data": "1", "nfc_on": "1", "low_power": "0", "zen_mode": "0", "auto_time": "1", "auto_time_zone": "1",
        "data_saver": "0", "device_name": "Pixel 6",
    },
    "secure": {
        "ui_night_mode": "1", "location_mode": "3", "night_display_activated": "0", "notification_badging": "1",
        "notification_history_enabled": "0", "lock_screen_show_notifications": "1",
        "accessibility_display_inversion_enabled": "0", "accessibility_captioning_enabled": "0",
    },
    "system": {
        "screen_brightness": "102", "screen_brightness_mode": "0", "screen_off_timeout": "60000", "font_scale": "1.0",
        "accelerometer_rotation": "0", "time_12_24": "24", "status_bar_show_battery_percent": "0",
        "volume_music": "6", "volume_voice": "4", "volume_ring": "5", "volume_alarm": "6", "vibrate_when_ringing": "0",
        "dtmf_tone": "1", "sound_effects_enabled": "1", "lockscreen_sounds_enabled": "1", "ringtone": "Zen",
        "system_locales": "en-US",
    },
}  # fmt: skip

MAIN = (  # icon, title, page
    ("wifi", "Network & internet", pages.Network),
    ("devices", "Connected devices", pages.ConnectedDevices),
    ("apps", "Apps", pages.Apps),
    ("bell_outline", "Notifications", pages.Notifications),
    ("battery", "Battery", pages.Battery),
    ("harddisk", "Storage", pages.Storage),
    ("volume_high", "Sound & vibration", pages.Sound),
    ("brightness_6", "Display", pages.Display),
    ("human", "Accessibility", pages.Accessibility),
    ("map_marker_outline", "Location", pages.Location),
    ("information_outline", "System", pages.System),
    ("cellphone", "About phone", pages.AboutPhone),
)

SEARCHED = (  # title, the page that has it; pages themselves are found by their titles
    ("Airplane mode", pages.Network),
    ("Battery percentage", pages.Battery),
    ("Brightness level", pages.Display),
    ("Dark theme", pages.Display),
    ("Device name", pages.AboutPhone),
    ("Do Not Disturb", pages.Notifications),
    ("Media volume", pages.Sound),
    ("NFC", pages.ConnectedDevices),
    ("Night Light", pages.Display),
    ("Bluetooth", pages.ConnectedDevices),
    ("Android version", pages.AboutPhone),
    ("Screen timeout", pages.Display),
    ("Wi\u2011Fi", pages.Internet),
    ("Internet", pages.Internet),
    ("Font size", pages.FontSize),
    ("Languages", pages.Languages),
    ("Date & time", pages.DateAndTime),
    ("Battery Saver", pages.Battery),
)


ACTIONS = {  # after android.settings.: the page that it opens
    "WIFI_SETTINGS": pages.Internet, "WIRELESS_SETTINGS": pages.Network, "BLUETOOTH_SETTINGS": pages.ConnectedDevices,
    "AIRPLANE_MODE_SETTINGS": pages.Network, "DISPLAY_SETTINGS": pages.Display, "SOUND_SETTINGS": pages.Sound,
    "APPLICATION_SETTINGS": pages.Apps, "DATE_SETTINGS": pages.DateAndTime, "LOCALE_SETTINGS": pages.Languages,
    "INPUT_METHOD_SETTINGS": pages.Languages, "APP_NOTIFICATION_SETTINGS": pages.Notifications,
    "MANAGE_APPLICATIONS_SETTINGS": pages.Apps,
    "LOCATION_SOURCE_SETTINGS": pages.Location, "ACCESSIBILITY_SETTINGS": pages.Accessibility,
    "INTERNAL_STORAGE_SETTINGS": pages.Storage, "DEVICE_INFO_SETTINGS": pages.AboutPhone,
    "BATTERY_SAVER_SETTINGS": pages.Battery, "NOTIFICATION_SETTINGS": pages.Notifications,
}  # fmt: skip


@dataclass(frozen=True)
class Edition:
    """What differs between the app's versions on the two phones.

    Attributes:
        values: Settings of a new phone besides `DEFAULTS`, or instead of them, by namespace and key.
        services: What else a new phone has: installed packages, roles, properties, its zone.
        pages: Pages that take the place of the usual ones with the same titles.
        searched: Pages that have what the search finds by these titles, besides the usual or instead of it.
    """

    values: Mapping[tuple[str, str], str] = field(default_factory=dict)
    services: Services = field(default_factory=Services)
    pages: Mapping[str, type[Page]] = field(default_factory=dict)
    searched: Mapping[str, type[Page]] = field(default_factory=dict)

    def page(self, usual: type[Page]) -> type[Page]:
        """Returns the page that stands where the usual one does."""
        return self.pages.get(usual.title, usual)

    def findable(self) -> list[tuple[str, type[Page]]]:
        """Returns what the search knows: titles, and the pages that have them."""
        main = [(title, self.page(page)) for _, title, page in MAIN]
        usual = [(title, self.page(page)) for title, page in SEARCHED if title not in self.searched]
        return [*main, *usual, *self.searched.items()]


ANDROID_WORLD = Edition()


class Settings(App):
    """The Settings app."""

    package = "com.android.settings"
    activity = ".Settings"
    label = "Settings"
    icon = "cog"
    color = "#5f6368"

    def __init__(self, phone: Host, edition: Edition = ANDROID_WORLD) -> None:
        super().__init__(phone)
        self.edition = edition

    def install(self) -> None:
        """Sets what is not set yet, and writes the battery's level and the build's properties."""
        table = self.phone.storage.settings
        for namespace, values in DEFAULTS.items():
            for key, value in values.items():
                table.setdefault((namespace, key), value)
        table.update(self.edition.values)
        services, ours = self.phone.services, self.edition.services
        services.packages.update(ours.packages)
        services.roles.update(ours.roles)
        services.properties.update(ours.properties)
        services.zone = ours.zone
        self.phone.storage.write(BATTERY_LEVEL, b"84\n")
        self.phone.storage.write(BUILD, pages.build_properties("Pixel 6", "13", "TE1A.220922.034"))

    def clear(self) -> None:
        """Leaves the settings alone: they belong to the system, not to this app."""

    def main(self) -> Screen:
        """Shows the list of all pages."""
        return Main()

    def open(self, intent: Intent) -> bool:
        """Opens the page that an action such as `android.settings.WIFI_SETTINGS` names."""
        action = intent.action.removeprefix("android.settings.")
        if action == "APPLICATION_DETAILS_SETTINGS" and intent.path in self.phone.apps:
            self.phone.open_screen(self.package, pages.AppInfo(intent.path))
            return True
        if action == "SETTINGS":
            self.phone.launch(self.package)
        elif action in ACTIONS:
            self.phone.open_screen(self.package, self.edition.page(ACTIONS[action])())
        return action == "SETTINGS" or action in ACTIONS


class Main(Screen):
    """The list of all pages."""

    app: Settings

    def build(self) -> View:
        """Shows the search bar, and a row for each page."""
        hint = Text("Search settings", 15, theme.SECONDARY, important=False, flex=1)
        search = Row(
            [Icon("magnify"), hint], gap=12, pad=(16, 8, 16, 8), bg=theme.SURFACE_VARIANT, radius=24, height=44,
            important=True, desc="Search settings", id="search_action_bar", on_tap=self._search,
        )  # fmt: skip
        rows = [self._row(icon, title, self.app.edition.page(page)) for icon, title, page in MAIN]
        return Scaffold("Settings", Column([Column([search], pad=(12, 0, 12, 6)), ListView(rows)]))

    def _row(self, icon: str, title: str, page: type[Page]) -> View:
        return ListItem(title, page.summary(self.phone), lambda: self.push(page()), leading=Icon(icon))

    def _search(self) -> None:
        search = Search(self.app.edition.findable())
        self.push(search)
        self.focus(search.query)


class Search(Screen):
    """Finds settings and pages by a part of their titles."""

    def __init__(self, entries: list[tuple[str, type[Page]]]) -> None:
        super().__init__()
        self.entries = entries
        self.query = TextInput()

    def build(self) -> View:
        """Shows the search field and what it finds."""
        field = TextField(self.query, "Search settings", "search_src_text", flex=1, border=None)
        clear = [IconButton("close", "Clear text", self._clear)] if self.query.text else []
        found = self._found()
        rows = [ListItem(title, page.title, partial(self._open, page)) for title, page in found]
        body = ListView(rows) if rows or not self.query.text.strip() else Empty("No results")
        return Scaffold(Row([field, *clear]), body, on_back=self.pop)

    def _clear(self) -> None:
        self.query.set("")
        self.focus(self.query)

    def _found(self) -> list[tuple[str, type[Page]]]:
        wanted = _plain(self.query.text)
        return [entry for entry in self.entries if wanted and wanted in _plain(entry[0])]

    def _open(self, page: type[Page]) -> None:
        self.push(page())


def _plain(text: str) -> str:
    """Returns a text as typed on a keyboard, with a plain hyphen for the non-breaking one of Wi‑Fi."""
    return text.strip().casefold().replace("\u2011", "-")


APP = Settings
