"""Package files: where an app's lies, and the smallest one, a zip with a manifest that names the package."""

from __future__ import annotations

import io
import struct
import zipfile
from functools import lru_cache

_STRINGS, _ELEMENT, _XML, _UTF8, _NONE, _TEXT = 0x0001, 0x0102, 0x0003, 1 << 8, 0xFFFFFFFF, 0x03


def is_googles(package: str) -> bool:
    """Returns whether an app is part of the system image."""
    return package.startswith(("com.android.", "com.google.android.", "android"))


def place(package: str, in_image: bool) -> str:
    """Returns the path of an app's package file; those of the system image lie in a part of their own."""
    if in_image:
        return f"/system/app/{package}/{package}.apk"
    return f"/data/app/~~{package}==/{package}-1/base.apk"


@lru_cache(maxsize=64)
def package_file(package: str, filling: int = 0) -> bytes:
    """Returns the package file of an app without code.

    Args:
        package: Its name.
        filling: Bytes of resources that mean nothing.
    """
    words = ["manifest", "package", package]
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
        manifest = zipfile.ZipInfo("AndroidManifest.xml")  # without the time of this computer
        archive.writestr(manifest, struct.pack("<HHI", _XML, 8, 8 + len(body)) + body)
        if filling:
            archive.writestr(zipfile.ZipInfo("resources.arsc"), bytes(filling))
    return file.getvalue()
