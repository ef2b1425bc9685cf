"""Writes files as AndroidControl's authors do, with the bytes made here by hand."""

import gzip
import io
import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from coach_gym.envs.phone.servers.accessibility import forest
from coach_gym.ui import Node

SCREEN = (112, 168)
POLYNOMIAL = 0x82F63B78


def crc32c(data: bytes) -> int:
    """Castagnoli's checksum, bit by bit, as RFC 3720 defines it."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (POLYNOMIAL if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def record(data: bytes) -> bytes:
    length = struct.pack("<Q", len(data))
    return length + _masked(length) + data + _masked(data)


def _masked(data: bytes) -> bytes:
    crc = crc32c(data)
    return struct.pack("<I", (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF)


def _varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    out = b""
    while value > 127:
        out, value = out + bytes([value & 127 | 128]), value >> 7
    return out + bytes([value])


def _field(number: int, data: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def example(features: dict[str, list[Any]]) -> bytes:
    """Serialises `tf.train.Example`: bytes in lists of field 1, whole numbers packed in field 3."""
    entries = b""
    for name, values in features.items():
        if values and isinstance(values[0], int):
            feature = _field(3, _field(1, b"".join(map(_varint, values))))
        else:
            feature = _field(1, b"".join(_field(1, value) for value in values))
        entries += _field(1, _field(1, name.encode()) + _field(2, feature))
    return _field(1, entries)


def write_shard(path: Path, episodes: list[dict[str, list[Any]]]) -> None:
    path.write_bytes(gzip.compress(b"".join(record(example(each)) for each in episodes)))


def screen(words: str, number: int = 0) -> tuple[bytes, bytes]:
    """Returns the PNG (with an alpha channel, as screenshots have) and the forest of a screen with one button."""
    width, height = SCREEN
    pixels = np.full((height, width, 4), 255, np.uint8)
    pixels[60:80, 10:60, :3] = np.random.default_rng(number).integers(0, 256, 3)
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, "PNG")
    button = Node(
        cls="android.widget.Button", bounds=(10, 60, 60, 80), text=words, package="org.app", clickable=True
    )
    bar = Node(cls="android.widget.TextView", bounds=(0, 0, width, 8), text="12:30", package="com.android.systemui")
    field = Node(cls="android.widget.EditText", bounds=(10, 90, 60, 110), hint="Name", package="org.app")
    root = Node(cls="hierarchy", bounds=(0, 0, width, height), package="org.app", children=[button, field, bar])
    return stream.getvalue(), forest(root).SerializeToString()


def demonstration(number: int, actions: list[dict[str, Any]], goal: str = "Save the note") -> dict[str, list[Any]]:
    screens = [screen(f"Save {number} {t}", 10 * number + t) for t in range(len(actions) + 1)]
    return {
        "episode_id": [number],
        "goal": [goal.encode()],
        "screenshots": [png for png, _ in screens],
        "screenshot_widths": [SCREEN[0]] * len(screens),
        "screenshot_heights": [SCREEN[1]] * len(screens),
        "accessibility_trees": [tree for _, tree in screens],
        "actions": [json.dumps(action).encode() for action in actions],
        "step_instructions": [f"Do part {t} of it".encode() for t in range(len(actions))],
    }
