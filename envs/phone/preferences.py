"""Android's SharedPreferences: an app's small values in an XML file."""

from __future__ import annotations

from collections.abc import Mapping
from xml.etree import ElementTree
from xml.sax.saxutils import escape, quoteattr

from coach_gym.envs.phone.caching import cached
from coach_gym.envs.phone.storage import Storage

Value = bool | int | float | str | frozenset[str]


class Long(int):
    """A whole number that is written as a `long`, however small it is: apps refuse to read it as an `int`."""


_HEAD = "<?xml version='1.0' encoding='utf-8' standalone='yes' ?>\n"
_INT = range(-(1 << 31), 1 << 31)


def load(storage: Storage, path: str) -> dict[str, Value]:
    """Returns the values of a preferences file; none if it is missing or damaged."""
    data = storage.read(path)
    return {} if data is None else dict(_parse(data))


def update(storage: Storage, path: str, changes: Mapping[str, Value | None]) -> None:
    """Sets values of a preferences file, and removes those given as None."""
    values: dict[str, Value | None] = {**load(storage, path), **changes}
    storage.write(path, to_xml({key: value for key, value in values.items() if value is not None}))


def from_xml(data: bytes) -> dict[str, Value]:
    """Returns the values in the bytes of a preferences file; none if they are damaged."""
    return dict(_parse(data))


@cached(4)
def _parse(data: bytes) -> Mapping[str, Value]:
    try:
        return {entry.attrib["name"]: _value(entry) for entry in ElementTree.fromstring(data)}
    except (ElementTree.ParseError, LookupError, ValueError):
        return {}  # as on Android: the app finds its defaults


def _value(entry: ElementTree.Element) -> Value:
    match entry.tag:
        case "string":
            return entry.text or ""
        case "set":
            return frozenset(item.text or "" for item in entry)
        case "boolean":
            return entry.attrib["value"] == "true"
        case "float":
            return float(entry.attrib["value"])
        case "long":
            return Long(entry.attrib["value"])
        case _:
            return int(entry.attrib["value"])


def to_xml(values: Mapping[str, Value]) -> bytes:
    """Returns a preferences file as Android writes it."""
    lines = [_entry(key, value) for key, value in values.items()]
    return f"{_HEAD}<map>\n{''.join(lines)}</map>\n".encode()


def _entry(key: str, value: Value) -> str:
    name = quoteattr(key)
    if isinstance(value, str):
        return f"    <string name={name}>{escape(value)}</string>\n"
    if isinstance(value, frozenset):
        items = "".join(f"        <string>{escape(item)}</string>\n" for item in sorted(value))
        return f"    <set name={name}>\n{items}    </set>\n"
    if isinstance(value, bool):
        return f'    <boolean name={name} value="{str(value).lower()}" />\n'
    if isinstance(value, float):
        kind = "float"
    else:
        kind = "long" if isinstance(value, Long) or value not in _INT else "int"
    return f'    <{kind} name={name} value="{value}" />\n'
