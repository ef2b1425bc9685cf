"""The smallest package file: a zip with a manifest that names the package.

android_env downloads its accessibility forwarder and installs it. The embedded phone has that app's function built in
and runs no foreign code, so a file with the app's name will do where the network is out of reach.
"""

from __future__ import annotations

import io
import struct
import zipfile

FORWARDER = "com.google.androidenv.accessibilityforwarder"
FILLING = 1 << 16
"""Bytes. android_env installs a file that it has not flushed, so that short ones arrive empty."""

_STRINGS, _ELEMENT, _XML, _UTF8, _NONE, _TEXT = 0x0001, 0x0102, 0x0003, 1 << 8, 0xFFFFFFFF, 0x03


def package(name: str) -> bytes:
    """Returns the package file of an app without code."""
    words = ["manifest", "package", name]
    texts = [bytes([len(word), len(word)]) + word.encode() + b"\0" for word in words]
    offsets = [sum(map(len, texts[:index])) for index in range(len(texts))]
    data = b"".join(texts)
    data += b"\0" * (-len(data) % 4)
    start = 28 + 4 * len(words)
    pool = struct.pack("<HHIIIIII", _STRINGS, 28, start + len(data), len(words), 0, _UTF8, start, 0)
    pool += struct.pack(f"<{len(words)}I", *offsets) + data
    attribute = struct.pack("<IIIHBBI", _NONE, 1, 2, 8, 0, _TEXT, 2)
    element = struct.pack("<HHIIIIIHHHHHH", _ELEMENT, 16, 36 + len(attribute), 1, _NONE, _NONE, 0, 20, 20, 1, 0, 0, 0)
    body = pool + element + attribute
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("resources.arsc", bytes(FILLING))
        archive.writestr("AndroidManifest.xml", struct.pack("<HHI", _XML, 8, 8 + len(body)) + body)
    return file.getvalue()
