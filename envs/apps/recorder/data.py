"""Audio Recorder's data: its settings, and the sound files of recordings, kept or in the trash."""

from __future__ import annotations

import io
import wave
from collections.abc import Mapping
from datetime import datetime
from posixpath import basename, splitext

from coach_gym.envs.phone import preferences
from coach_gym.envs.phone.epoch import Moved, to_millis, unmoved
from coach_gym.envs.phone.folders import SHARED, Entry, entries
from coach_gym.envs.phone.media import audio, mp4
from coach_gym.envs.phone.storage import Storage

PACKAGE = "com.dimowner.audiorecorder"
RECORDS = f"{SHARED}/Android/data/{PACKAGE}/files/Music/records"
SETTINGS = f"/data/data/{PACKAGE}/shared_prefs/{PACKAGE}.data.PrefsImpl.xml"
EXTENSION = ".m4a"  # unless the settings say otherwise
TRASHED = ".del"  # after the name of a record in the trash
LONGEST_NAME = 50
LONGEST_RECORD = 4 * 3600  # seconds

# keys of the settings
COUNTER, ORDER, ASKS_NAME, SCREEN_ON = (
    "record_counter", "pref_records_order", "is_ask_rename_after_stop_recording", "keep_screen_on",
)  # fmt: skip
NAMING, FORMAT, SAMPLE_RATE, BITRATE, CHANNELS = (
    "setting_naming_format", "setting_recording_format", "setting_sample_rate", "setting_bitrate",
    "setting_channel_count",
)  # fmt: skip
AUDIO_DEFAULTS: Mapping[str, preferences.Value] = {
    FORMAT: "m4a", SAMPLE_RATE: 44100, BITRATE: 128000, CHANNELS: 2,
}  # fmt: skip
_DEFAULTS: Mapping[str, preferences.Value] = {
    **AUDIO_DEFAULTS, NAMING: "record", COUNTER: 0, ORDER: 1, ASKS_NAME: True, SCREEN_ON: False,
}  # fmt: skip

# what the settings offer: the values by what they are called
FORMATS = {"M4a": "m4a", "Wav": "wav", "3gp": "3gp"}
SAMPLE_RATES = {
    "8kHz": 8000, "16kHz": 16000, "22kHz": 22050, "32kHz": 32000, "44.1kHz": 44100, "48kHz": 48000,
}  # fmt: skip
BITRATES = {f"{kilobits} kbps": 1000 * kilobits for kilobits in (48, 96, 128, 192, 256)}
CHANNEL_COUNTS = {"Stereo": 2, "Mono": 1}
NAMINGS = ("record", "date", "date_us", "date_iso8601", "timestamp")


def setting(storage: Storage, key: str) -> preferences.Value:
    """Returns a setting, or its default."""
    return preferences.load(storage, SETTINGS).get(key, _DEFAULTS[key])


def change(storage: Storage, **settings: preferences.Value) -> None:
    """Changes settings."""
    preferences.update(storage, SETTINGS, settings)


def called(offered: Mapping[str, preferences.Value], value: preferences.Value) -> str:
    """Returns what the settings call a value; the value itself if they do not offer it."""
    return next((name for name, each in offered.items() if each == value), str(value))


# records


def name_at(naming: str, number: int, now: datetime, local: Moved = unmoved) -> str:
    """Returns the name of a new record: the number that it is, or the time, in one of the forms `NAMINGS`."""
    match naming:
        case "date":
            return f"{local(now):%d.%m.%Y %H.%M.%S}"
        case "date_us":
            return f"{local(now):%m-%d-%Y %I.%M.%S%p}"
        case "date_iso8601":
            return f"{local(now):%Y-%m-%d %H.%M.%S}"
        case "timestamp":
            return str(to_millis(now))
        case _:
            return f"Record-{number}"


def save(storage: Storage, seconds: float, now: datetime, local: Moved = unmoved) -> str:
    """Stores a record of silence in the format that is set. Returns its path."""
    path = _new_path(storage, now, local)
    seconds = min(max(1.0, seconds), LONGEST_RECORD)
    storage.write(path, _silent_wave(seconds) if path.endswith(".wav") else mp4.silence(seconds))
    return path


def _new_path(storage: Storage, now: datetime, local: Moved) -> str:
    """Returns the path of a new record, and counts it. Numbers of deleted records are not given again."""
    naming, ending = str(setting(storage, NAMING)), f".{setting(storage, FORMAT)}"
    number = int(setting(storage, COUNTER)) + 1  # type: ignore[arg-type]
    name = name_at(naming, number, now, local)
    while storage.exists(f"{RECORDS}/{name}{ending}"):
        number += 1
        name = name_at(naming, number, now, local) if naming == "record" else f"1{name}"
    change(storage, **{COUNTER: preferences.Long(number)})
    return f"{RECORDS}/{name}{ending}"


def _silent_wave(seconds: float) -> bytes:
    """Returns a WAV file of silence, with few bytes a second."""
    file = io.BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(1)
        sound.setframerate(mp4.RATE)
        sound.writeframes(b"\x80" * round(seconds * mp4.RATE))
    return file.getvalue()


def title(path: str) -> str:
    """Returns the name of a record without its extension."""
    return splitext(basename(path.removesuffix(TRASHED)))[0]


def extension(path: str) -> str:
    """Returns the extension of a record, with its dot."""
    return splitext(path.removesuffix(TRASHED))[1]


def seconds_of(storage: Storage, path: str) -> float:
    """Returns the length of a record in seconds; 0 for a file that is no sound."""
    sound = audio.sound(storage.read(path) or b"")
    return sound.seconds if sound else 0.0


def records(storage: Storage) -> list[Entry]:
    """Returns the records that are not in the trash."""
    return [entry for entry in entries(storage, RECORDS) if not entry.folder and not entry.name.endswith(TRASHED)]


def trash(storage: Storage) -> list[Entry]:
    """Returns the records in the trash."""
    return [entry for entry in entries(storage, RECORDS) if entry.name.endswith(TRASHED)]


def throw_away(storage: Storage, path: str) -> None:
    """Puts a record into the trash: its file stays where it is, under another name."""
    storage.move(path, path + TRASHED)


def restore(storage: Storage, path: str) -> None:
    """Takes a record out of the trash."""
    storage.move(path, path.removesuffix(TRASHED))
