"""Finds the package for an app's name, because no Android command reports the labels on the home screen."""

from __future__ import annotations

import re
from collections.abc import Collection

# The packages of each label; if there are several, the first that is installed counts.
# fmt: off
_KNOWN: dict[str, tuple[str, ...]] = {
    "Audio Recorder": ("com.dimowner.audiorecorder",),
    "Bluecoins": ("com.rammigsoftware.bluecoins",),
    "Broccoli": ("com.flauschcode.broccoli",),
    "Calculator": ("com.google.android.calculator", "com.android.calculator2"),
    "Calendar": ("com.skuld.calendario", "com.google.android.calendar", "com.android.calendar"),
    "Camera": ("com.android.camera2", "com.google.android.GoogleCamera", "com.android.camera"),
    "Cantook": ("com.aldiko.android",),
    "Chrome": ("com.android.chrome",),
    "Clipper": ("ca.zgrs.clipper",),
    "Clock": ("com.google.android.deskclock", "com.android.deskclock"),
    "Contacts": ("com.google.android.contacts", "com.android.contacts"),
    "Dialer": ("com.google.android.dialer", "com.android.dialer"),
    "Drive": ("com.google.android.apps.docs",),
    "Files": ("com.google.android.documentsui", "com.android.documentsui", "com.google.android.apps.nbu.files"),
    "Firefox": ("org.mozilla.firefox",),
    "Gallery": ("com.android.gallery3d", "com.simplemobiletools.gallery.pro"),
    "Gmail": ("com.google.android.gm",),
    "Google": ("com.google.android.googlequicksearchbox",),
    "Joplin": ("net.cozic.joplin",),
    "Keep Notes": ("com.google.android.keep",),
    "MAPS.ME": ("com.mapswithme.maps.pro",),
    "Maps": ("com.google.android.apps.maps",),
    "Markor": ("net.gsantner.markor",),
    "Messages": ("com.google.android.apps.messaging", "com.android.mms"),
    "MiniWoB": ("com.google.androidenv.miniwob",),
    "OpenTracks": ("de.dennisguse.opentracks",),
    "OsmAnd": ("net.osmand", "net.osmand.plus"),
    "Phone": ("com.google.android.dialer", "com.android.dialer"),
    "Photos": ("com.google.android.apps.photos",),
    "Pi Music Player": ("com.Project100Pi.themusicplayer",),
    "Play Store": ("com.android.vending",),
    "Pro Expense": ("com.arduia.expense",),
    "Retro Music": ("code.name.monkey.retromusic",),
    "Settings": ("com.android.settings",),
    "Simple Calendar Pro": ("com.simplemobiletools.calendar.pro",),
    "Simple Draw Pro": ("com.simplemobiletools.draw.pro",),
    "Simple Gallery Pro": ("com.simplemobiletools.gallery.pro",),
    "Simple SMS Messenger": ("com.simplemobiletools.smsmessenger",),
    "Tasks": ("org.tasks", "com.tarento.tasks", "com.google.android.apps.tasks"),
    "VLC": ("org.videolan.vlc",),
    "WhatsApp": ("com.whatsapp",),
    "YouTube": ("com.google.android.youtube",),
    "YT Music": ("com.google.android.apps.youtube.music",),
    "Zoom": ("us.zoom.videomeetings",),
}
_ALSO_CALLED = {
    "broccoli app": "Broccoli", "google chrome": "Chrome", "google contacts": "Contacts", "map.me": "MAPS.ME",
    "maps me": "MAPS.ME", "miniwob++": "MiniWoB", "open tracks": "OpenTracks",
    "open tracks sports tracker": "OpenTracks", "system settings": "Settings", "setting": "Settings",
    "simple calendar": "Simple Calendar Pro", "simple gallery": "Simple Gallery Pro", "sms messenger":
    "Simple SMS Messenger", "simple sms": "Simple SMS Messenger",
}
# fmt: on
_BY_NAME = {label.casefold(): packages for label, packages in _KNOWN.items()}
_COMMON_WORDS = {"com", "org", "net", "android", "google", "apps", "app", "mobile", "pro"}


def package_named(label: str, installed: Collection[str]) -> str | None:
    """Returns the installed package that a label means, or None.

    Case and surrounding spaces do not matter. An unknown label means a package with that word in its name (`Aegis`:
    `com.beemdevelopment.aegis`) or with exactly that name.

    Args:
        label: What an agent calls the app.
        installed: Packages that can be opened.
    """
    name = label.strip().casefold()
    known = _BY_NAME.get(_ALSO_CALLED.get(name, name).casefold(), ())
    for package in known:
        if package in installed:
            return package
    plain = re.sub(r"[\W_]", "", name)
    return next((p for p in sorted(installed) if p.casefold() == name or plain in _words(p)), None) if plain else None


def label_of(package: str) -> str:
    """Returns the label of a package for messages, or the package itself if its label is unknown."""
    return next((label for label, packages in _KNOWN.items() if package in packages), package)


def _words(package: str) -> set[str]:
    return set(package.casefold().split(".")) - _COMMON_WORDS
