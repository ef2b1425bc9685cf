"""Settings on AndroidLab's phone: more pages, in Android's words, and a phone that lives in Shanghai."""

from __future__ import annotations

from functools import partial

from coach_gym.envs.apps.settings import lab_pages as pages
from coach_gym.envs.apps.settings.app import Edition, Settings
from coach_gym.envs.phone.input.ime import ADB_IME
from coach_gym.envs.phone.services import Services
from coach_gym.envs.phone.settings import DEFAULT_IME

EDITION = Edition(
    values={
        ("global", "wifi_wakeup_enabled"): "1", ("global", "private_dns_mode"): "opportunistic",
        ("global", "private_dns_specifier"): "", ("secure", "bluetooth_name"): "Pixel 7 Pro",
        ("secure", "tts_language"): "English (United States)", ("system", "ring_vibration_intensity"): "2",
        ("system", "volume_ring_speaker"): "5", ("system", "volume_alarm_speaker"): "6",
        ("system", "time_12_24"): "12", ("secure", "default_input_method"): ADB_IME,
        ("secure", "enabled_input_methods"): f"{DEFAULT_IME}:{ADB_IME}",
    },
    services=Services(
        packages=dict.fromkeys(pages.INSTALLED, "1 1.0"), roles={"browser": "Chrome"},
        properties={"persist.sys.timezone": pages.ZONE}, zone=pages.ZONE,
    ),
    pages={
        page.title: page
        for page in (
            pages.Network, pages.ConnectedDevices, pages.Apps, pages.Notifications, pages.Sound, pages.Display,
            pages.System, pages.Internet, pages.Languages, pages.DateAndTime,
        )
    },
    searched={
        "Internet": pages.Internet, "Wi\u2011Fi": pages.Internet, "Private DNS": pages.Network,
        "Airplane mode": pages.Network, "Bluetooth": pages.ConnectedDevices, "Device name": pages.PairDevice,
        "Default apps": pages.DefaultApps, "Languages": pages.Languages, "Text-to-speech output": pages.TextToSpeech,
        "Date & time": pages.DateAndTime, "Time zone": pages.TimeZone, "Ring vibration": pages.Vibration,
        "Device & app notifications": pages.NotificationAccess,
    },
)  # fmt: skip

APP = partial(Settings, edition=EDITION)
