"""Settings of AndroidLab's phone: more pages, in Android's words, and a phone that lives in Shanghai."""

from __future__ import annotations

from coach_gym.envs.apps.settings import app as settings
from coach_gym.envs.apps.settings import lab_pages as lab
from coach_gym.envs.apps.settings import pages
from coach_gym.envs.phone.app import Screen

MORE_DEFAULTS = {
    ("global", "wifi_wakeup_enabled"): "1", ("global", "private_dns_mode"): "opportunistic",
    ("global", "private_dns_specifier"): "", ("secure", "bluetooth_name"): "Pixel 7 Pro",
    ("secure", "tts_language"): "English (United States)", ("system", "ring_vibration_intensity"): "2",
    ("system", "volume_ring_speaker"): "5", ("system", "volume_alarm_speaker"): "6",
    ("system", "time_12_24"): "12", ("property", "persist.sys.timezone"): lab.ZONE,
    ("installed", "com.booking"): "1 1.0", ("installed", "org.mozilla.firefox"): "1 1.0",
    ("role", "browser"): "Chrome",
}  # fmt: skip

LAB_PAGES = {
    "Network & internet": lab.Network, "Connected devices": lab.ConnectedDevices, "Apps": lab.Apps,
    "Notifications": lab.Notifications, "Sound & vibration": lab.Sound, "Display": lab.Display, "System": lab.System,
}  # fmt: skip
"""What takes the place of the usual pages."""


class LabSettings(settings.Settings):
    def install(self) -> None:
        super().install()
        self.phone.storage.settings.update(MORE_DEFAULTS)

    def main(self) -> Screen:
        return LabMain()


def _lab(title: str, page: type[pages.Page]) -> type[pages.Page]:
    return LAB_PAGES.get(title, page)


class LabMain(settings.Main):
    """The list of all pages."""

    pages = tuple((icon, title, _lab(title, page)) for icon, title, page in settings.MAIN)
    searched = (
        *((title, _lab(page.title, page)) for title, page in settings.SEARCHED if title not in lab.SEARCHED),
        *lab.SEARCHED.items(),
    )


APP = LabSettings
