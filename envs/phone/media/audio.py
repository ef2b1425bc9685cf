"""Sound files: what a music player reads from MP3, MP4 and WAV (title, artist, length), and MP3 files of silence."""

from __future__ import annotations

import io
import math
import re
import struct
import wave
from typing import NamedTuple

from coach_gym.envs.phone.media import mp4

EXTENSIONS = ("m4a", "mp3", "wav")

# MPEG audio, layer III (ISO/IEC 11172-3 and 13818-3), by version: 0 is 2.5, 2 is 2, 3 is 1
BITRATES = {3: (0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320)}
BITRATES[0] = BITRATES[2] = (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160)
RATES = {3: (44100, 48000, 32000), 2: (22050, 24000, 16000), 0: (11025, 12000, 8000)}
SAMPLES = {3: 1152, 2: 576, 0: 576}  # of one frame
ENCODINGS = ("latin-1", "utf-16", "utf-16-be", "utf-8")  # of ID3v2's texts
ID3 = {b"TIT2": "title", b"TPE1": "artist"}
_HEADER = re.compile(rb"\xff[\xe2\xe3\xf2\xf3\xfa\xfb]")  # where a frame may start

_SILENT_HEADER, _SILENT_FRAME = b"\xff\xf3\x18\xc4", 36  # MPEG-2, 8 kbit/s, 16 kHz, mono: 36 bytes for 36 ms


class Sound(NamedTuple):
    """A sound file.

    Attributes:
        seconds: Length in seconds.
        title: Its title; empty if the file names none.
        artist: Its artist; empty if the file names none.
    """

    seconds: float
    title: str = ""
    artist: str = ""


def sound(data: bytes) -> Sound | None:
    """Returns what a file says about itself, or None if it is no sound file."""
    if mp4.is_mp4(data):
        return Sound(mp4.duration(data) or 0.0, **mp4.tags(data))
    if data.startswith(b"RIFF"):
        return _wave(data)
    if data.startswith(b"ID3") or _HEADER.match(data):
        return _mp3(data)
    return None


def silent_mp3(seconds: float, title: str, artist: str) -> bytes:
    """Returns an MP3 file of silence, made of one frame repeated."""
    frame = _SILENT_HEADER + bytes(_SILENT_FRAME - len(_SILENT_HEADER))
    count = max(1, math.ceil(seconds * RATES[2][2] / SAMPLES[2]))
    told = struct.pack(">4sII", b"Info", 1, count)  # after the header and 9 bytes of side information
    first = frame[:13] + told + frame[13 + len(told) :]
    texts = b"".join(
        struct.pack(">4sIH", kind, len(text) + 1, 0) + b"\x01" + text
        for kind, text in ((b"TIT2", title.encode("utf-16")), (b"TPE1", artist.encode("utf-16")))
    )
    size = bytes(len(texts) >> shift & 0x7F for shift in (21, 14, 7, 0))
    return b"ID3\x03\0\0" + size + texts + first + frame * count


def _wave(data: bytes) -> Sound | None:
    try:
        with wave.open(io.BytesIO(data)) as file:
            return Sound(file.getnframes() / file.getframerate())
    except (wave.Error, EOFError, struct.error, ZeroDivisionError):
        return None


def _mp3(data: bytes) -> Sound:
    texts, start = _id3(data) if data.startswith(b"ID3") else ({}, 0)
    return Sound(_mp3_seconds(data, start), **texts)


def _id3(data: bytes) -> tuple[dict[str, str], int]:
    """Returns title and artist of an ID3v2.3 or 2.4 tag, and where the tag ends."""
    texts = {}
    end, offset = 10 + _seven_bits(data[6:10]), 10
    while offset + 10 <= min(end, len(data)) and data[offset]:
        kind, size = data[offset : offset + 4], data[offset + 4 : offset + 8]
        length = _seven_bits(size) if data[3] == 4 else int.from_bytes(size)
        if kind in ID3 and length:
            texts[ID3[kind]] = _text(data[offset + 10 : offset + 10 + length])
        offset += 10 + length
    return texts, end


def _seven_bits(size: bytes) -> int:
    """Returns a number of which each byte holds seven bits."""
    value = 0
    for byte in size:
        value = value << 7 | byte & 0x7F
    return value


def _text(content: bytes) -> str:
    encoding = ENCODINGS[content[0]] if content and content[0] < len(ENCODINGS) else "latin-1"
    return content[1:].decode(encoding, "replace").partition("\0")[0]


def _mp3_seconds(data: bytes, start: int) -> float:
    """Returns the length by the number of frames, if the first one tells it (Xing, Info), else by size and bit rate."""
    found = _HEADER.search(data, start, start + 65536)
    if found is None or found.start() + 4 > len(data):
        return 0.0
    header = int.from_bytes(data[found.start() : found.start() + 4])
    version, bitrate, rate = header >> 19 & 3, header >> 12 & 15, header >> 10 & 3
    if bitrate in (0, 15) or rate == 3:
        return 0.0
    seconds = SAMPLES[version] / RATES[version][rate]  # of one frame
    told = re.search(rb"(?:Xing|Info)...[\x01-\x0f](....)", data[found.start() : found.start() + 64], re.DOTALL)
    if told is not None and told[0][7] & 1:
        return int.from_bytes(told[1]) * seconds
    return (len(data) - found.start()) * 8 / (1000 * BITRATES[version][bitrate])
