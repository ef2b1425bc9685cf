"""OsmAnd's favourites and tracks: GPX files in which only what the user changes is rewritten."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol
from xml.dom.minidom import Document, Element, Node, parseString
from xml.parsers.expat import ExpatError
from xml.sax.saxutils import escape

from coach_gym.envs.apps.osmand.data import PACKAGE, Place, Point, on_map
from coach_gym.envs.phone.caching import cached

FILES = f"/storage/emulated/0/Android/data/{PACKAGE}/files"
FAVORITES = f"{FILES}/favorites/favorites.gpx"
TRACKS = f"{FILES}/tracks"
_GPX = "http://www.topografix.com/GPX/1/1"
_HEAD = (
    "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>\n"
    f'<gpx version="1.1" creator="OsmAnd 4.4.7" xmlns="{_GPX}" xmlns:osmand="https://osmand.net">\n'
)
_AFTER_POINTS = ("rte", "trk", "extensions")  # what follows the waypoints of a file


class Files(Protocol):
    """A phone's files: its storage, or a device."""

    def read(self, path: str) -> bytes | None: ...

    def write(self, path: str, data: bytes) -> None: ...


# favourites


def favorites(files: Files) -> list[Place]:
    """Returns the saved places in the order of the file."""
    return list(_places(files.read(FAVORITES) or b"", "wpt"))


def save_favorites(files: Files, places: Iterable[Place]) -> None:
    """Writes a new file of favourites in place of the old one."""
    points = "".join(f"  <wpt {_at(place.point)}><name>{escape(place.name)}</name></wpt>\n" for place in places)
    head = f"{_HEAD}  <metadata><name>favorites</name></metadata>\n"
    files.write(FAVORITES, f"{head}{points}</gpx>\n".encode())


def add_favorite(files: Files, place: Place) -> None:
    """Adds a place behind the other favourites; everything else in the file stays."""
    document = _document(files.read(FAVORITES) or b"")
    if document is None:
        save_favorites(files, [place])
        return
    root = _root(document)
    prefix = root.tagName.removesuffix("gpx")
    point, name = document.createElement(f"{prefix}wpt"), document.createElement(f"{prefix}name")
    name.appendChild(document.createTextNode(place.name))
    point.appendChild(name)
    for attribute, degrees in zip(("lat", "lon"), place.point, strict=True):
        point.setAttribute(attribute, f"{degrees:.7f}")
    before = next((child for child in root.childNodes if child.localName in _AFTER_POINTS), None)
    root.insertBefore(point, before)
    root.insertBefore(document.createTextNode("\n"), before)
    files.write(FAVORITES, document.toxml("utf-8"))


def remove_favorite(files: Files, place: Place) -> None:
    """Removes a favourite; everything else in the file stays."""
    document = _document(files.read(FAVORITES) or b"")
    if document is None:
        return
    point = next((p for p in document.getElementsByTagNameNS(_GPX, "wpt") if _place(p) == place), None)
    if point is not None:
        _root(document).removeChild(point)
        files.write(FAVORITES, document.toxml("utf-8"))


# tracks


def track(files: Files, path: str) -> list[Point]:
    """Returns the points of a track in order; none if the file is no track."""
    return [place.point for place in _places(files.read(path) or b"", "trkpt")]


def save_track(files: Files, path: str, points: Iterable[Point]) -> None:
    """Writes a line through points as a track."""
    name = escape(path.rpartition("/")[2].removesuffix(".gpx"))
    line = "".join(f"    <trkpt {_at(point)}/>\n" for point in points)
    track = f"  <trk><name>{name}</name><trkseg>\n{line}  </trkseg></trk>\n"
    files.write(path, f"{_HEAD}  <metadata><name>{name}</name></metadata>\n{track}</gpx>\n".encode())


# XML


def _at(point: Point) -> str:
    return f'lat="{point[0]:.7f}" lon="{point[1]:.7f}"'


@cached(8)
def _places(gpx: bytes, tag: str) -> tuple[Place, ...]:
    """Returns the points of a GPX file that have a tag."""
    document = _document(gpx)
    points = document.getElementsByTagNameNS(_GPX, tag) if document else ()
    return tuple(place for point in points if (place := _place(point)) is not None)


def _document(gpx: bytes) -> Document | None:
    """Parses a GPX file; None if it is not one, because files also come from outside."""
    try:
        document = parseString(gpx)
    except (ExpatError, ValueError):
        return None
    root = _root(document)
    return document if (root.namespaceURI, root.localName) == (_GPX, "gpx") else None


def _root(document: Document) -> Element:
    root = document.documentElement
    assert root is not None  # parsed documents have one
    return root


def _place(point: Element) -> Place | None:
    """Returns the place of a waypoint or track point; None without coordinates on the map."""
    try:
        at = float(point.getAttribute("lat")), float(point.getAttribute("lon"))
    except ValueError:
        return None
    names = (child for child in point.childNodes if child.localName == "name")
    texts = (text for name in names for text in name.childNodes if text.nodeType == Node.TEXT_NODE)
    return Place("".join(text.data for text in texts), at) if on_map(at) else None
