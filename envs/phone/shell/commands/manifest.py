"""Package, version and services of an APK: a zip whose AndroidManifest.xml is in Android's binary form of XML."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass

LARGEST = 4 << 20  # bytes of a manifest
LONGEST = 1024  # bytes or units that are read of a string
_ATTRIBUTE = 20  # bytes
_STRINGS, _ELEMENT, _UTF8 = 0x0001, 0x0102, 1 << 8
_STRING_VALUE = 0x03


Strings = Callable[[int], str]
"""Returns a string of the file by its number."""


class BadPackage(Exception):
    """The bytes are no APK."""


@dataclass(frozen=True)
class Manifest:
    """What the first element of the manifest says."""

    package: str
    version_code: str
    version_name: str


def read_manifest(apk: bytes) -> Manifest:
    """Returns the manifest of an APK.

    Raises:
        BadPackage: It has no readable manifest.
    """
    values = _elements(apk)[0][1]
    package = values.get("package", "")
    if not package or not package.replace(".", "").replace("_", "").isalnum():
        raise BadPackage("the manifest names no package")
    return Manifest(package, values.get("versionCode", "1"), values.get("versionName", "1.0"))


def read_services(apk: bytes) -> list[str]:
    """Returns the classes of the services in an APK, as the manifest writes them.

    Raises:
        BadPackage: It has no readable manifest.
    """
    return [values["name"] for name, values in _elements(apk) if name == "service" and "name" in values]


def _elements(apk: bytes) -> list[tuple[str, dict[str, str]]]:
    """Returns the elements of an APK's manifest, at least one: their names and attributes."""
    try:
        with zipfile.ZipFile(io.BytesIO(apk)) as archive, archive.open("AndroidManifest.xml") as file:
            data = file.read(LARGEST)
        elements, at = [], 8
        strings: Strings = [].__getitem__
        while at + 8 <= len(data):
            kind, header, size = struct.unpack_from("<HHI", data, at)
            if kind == _STRINGS:
                strings = _pool(data[at : at + size])
            elif kind == _ELEMENT:
                elements.append(_element(data[at : at + size], header, strings))
            at += max(size, 8)
    except (zipfile.BadZipFile, KeyError, zlib.error, struct.error, IndexError, ValueError, EOFError,
            NotImplementedError, RuntimeError) as fault:  # fmt: skip
        raise BadPackage(f"cannot read the manifest: {fault}") from None
    if not elements:
        raise BadPackage("the manifest is empty")
    return elements


def _pool(chunk: bytes) -> Strings:
    """Returns what reads a string of a pool by its number: only then, as there can be many and long ones."""
    count, _, flags, start = struct.unpack_from("<IIII", chunk, 8)
    offsets = struct.unpack_from(f"<{min(count, len(chunk) // 4)}I", chunk, 28)
    return lambda number: _string(chunk, start + offsets[number], bool(flags & _UTF8))


def _string(chunk: bytes, at: int, utf8: bool) -> str:
    """Reads a string: in UTF-8 after its lengths in characters and bytes, in UTF-16 after its length in units."""
    if utf8:
        at += 2 if chunk[at] & 0x80 else 1
        length = chunk[at]
        if length & 0x80:
            length, at = (length & 0x7F) << 8 | chunk[at + 1], at + 1
        return chunk[at + 1 : at + 1 + min(length, LONGEST)].decode("utf-8", "replace")
    (length,) = struct.unpack_from("<H", chunk, at)
    if length & 0x8000:
        length, at = (length & 0x7FFF) << 16 | struct.unpack_from("<H", chunk, at + 2)[0], at + 2
    return chunk[at + 2 : at + 2 + 2 * min(length, LONGEST)].decode("utf-16-le", "replace")


def _element(chunk: bytes, header: int, strings: Strings) -> tuple[str, dict[str, str]]:
    name, start, size, count = struct.unpack_from("<iHHH", chunk, header + 4)
    values = {}
    for index in range(min(count, len(chunk) // _ATTRIBUTE)):
        _, key, _, _, _, kind, value = struct.unpack_from("<iiiHBBi", chunk, header + start + index * size)
        values[strings(key)] = strings(value) if kind == _STRING_VALUE else str(value)
    return strings(name), values
