"""What the two XML forms of a screen share: escaping, bounds, and a strict reader of start tags."""

import re
from xml.parsers import expat

from coach_gym.ui.tree import Bounds

ILLEGAL_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""Matches the characters that XML 1.0 cannot hold, escaped or not."""

# Illegal characters, mark-up, and everything that Python treats as the end of a line.
_SPECIAL = re.compile('[&<>"\x00-\x1f\x85\u2028\u2029\ud800-\udfff\ufffe\uffff]')
_ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}
_ESCAPES |= {character: f"&#{ord(character)};" for character in "\n\t\r\x85\u2028\u2029"}
_BOUNDS = re.compile(r"\[(-?[0-9]{1,6}),(-?[0-9]{1,6})\]\[(-?[0-9]{1,6}),(-?[0-9]{1,6})\]")


def escape(text: str) -> str:
    """Escapes a text for an attribute value and drops what XML 1.0 cannot hold."""
    if _SPECIAL.search(text) is None:
        return text
    return _SPECIAL.sub(lambda found: _ESCAPES.get(found[0], ""), text)


def read_bounds(text: str) -> Bounds:
    """Reads `[left,top][right,bottom]`.

    Raises:
        ValueError: The text has another form.
    """
    found = _BOUNDS.fullmatch(text)
    if found is None:
        raise ValueError(f"bounds={text[:60]!r} do not have the form [left,top][right,bottom]")
    left, top, right, bottom = map(int, found.groups())
    return left, top, right, bottom


def start_tags(xml: str) -> list[tuple[int, str, dict[str, str]]]:
    """Returns depth, name and attributes of every element in an XML text.

    Raises:
        ValueError: The text is malformed, or has a document type, which could define entities.
    """
    tags: list[tuple[int, str, dict[str, str]]] = []
    depth = 0

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        tags.append((depth, name, attributes))
        depth += 1

    def end(name: str) -> None:
        nonlocal depth
        depth -= 1

    def doctype(*_: object) -> None:
        raise ValueError("a screen's XML must not carry a document type")

    parser = expat.ParserCreate("utf-8")
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.StartDoctypeDeclHandler = doctype
    try:
        parser.Parse(xml.encode(), True)
    except expat.ExpatError as error:
        raise ValueError(f"the screen's XML is malformed: {error}") from error
    return tags
