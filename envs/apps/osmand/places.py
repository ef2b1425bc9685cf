"""OsmAnd's lists: markers, favourites and tracks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from coach_gym.envs.apps.osmand import data, gpx
from coach_gym.envs.apps.osmand.data import Marker, Place
from coach_gym.envs.apps.osmand.gpx import TRACKS
from coach_gym.envs.apps.osmand.map import ORANGE
from coach_gym.envs.phone.app import Confirm, DatabaseApp, Menu, Screen
from coach_gym.envs.phone.toolkit.view import View
from coach_gym.envs.phone.toolkit.widgets import Empty, Header, Icon, IconButton, ListItem, ListView, Scaffold


class PlaceList(Screen):
    """A list whose rows lead to the map: `show` is called with the place that is touched."""

    app: DatabaseApp

    def __init__(self, show: Callable[[Place], Any]) -> None:
        super().__init__()
        self.show = show

    def go(self, place: Place) -> None:
        """Closes the lists and shows a place on the map."""
        map_screen = self.phone.stack[0]
        while self.phone.top is not map_screen:
            self.phone.pop(self.phone.top)
        self.show(place)


class Markers(PlaceList):
    """All markers: those ahead, and the history of those passed."""

    def build(self) -> View:
        """Shows the markers ahead above those passed."""
        shown = data.markers(self.app.db)
        ahead, passed = [m for m in shown if not m.passed], [m for m in shown if m.passed]
        rows = [self._row(marker) for marker in ahead]
        rows += [Header("History"), *(self._row(marker) for marker in passed)] if passed else []
        body = ListView(rows) if rows else Empty("No map markers", "flag_outline")
        return Scaffold("Map markers", body, self.pop)

    def _row(self, marker: Marker) -> View:
        tick = IconButton(
            "restore" if marker.passed else "check", "Restore" if marker.passed else "Mark passed",
            lambda: data.pass_marker(self.app.db, marker, self.now),
        )  # fmt: skip
        where = data.point_text(marker.place.point)
        icon = Icon("flag_outline" if marker.passed else "flag", color="#1a73e8")
        go, ask = lambda: self.go(marker.place), lambda: self._ask(marker)
        return ListItem(marker.place.name, where, go, ask, icon, tick)

    def _ask(self, marker: Marker) -> None:
        def delete() -> None:
            data.delete_marker(self.app.db, marker.id)

        self.push(Confirm(f"Delete {marker.place.name}?", "", "Delete", delete))


class Favorites(PlaceList):
    """All favourites."""

    def build(self) -> View:
        """Shows the favourites in the order of their file."""
        shown = gpx.favorites(self.phone.storage)
        rows = [self._row(place) for place in shown]
        return Scaffold("Favorites", ListView(rows) if rows else Empty("No favorites", "star_outline"), self.pop)

    def _row(self, place: Place) -> View:
        more = IconButton("dots_vertical", f"More options for {place.name}", lambda: self._menu(place))
        icon = Icon("star", color="#f5a623")
        return ListItem(place.name, data.point_text(place.point), lambda: self.go(place), leading=icon, trailing=more)

    def _menu(self, place: Place) -> None:
        self.push(Menu([("Delete", lambda: gpx.remove_favorite(self.phone.storage, place))]))


class Tracks(Screen):
    """All tracks, by name."""

    def build(self) -> View:
        """Shows the tracks with their lengths."""
        files = self.phone.storage.listdir(TRACKS)
        rows = [self._row(name) for name in files if name.endswith(".gpx")]
        return Scaffold("Tracks", ListView(rows) if rows else Empty("No tracks", "map_marker_path"), self.pop)

    def _row(self, name: str) -> View:
        points = gpx.track(self.phone.storage, f"{TRACKS}/{name}")
        what = f"{data.distance_text(data.length(points))}  •  {len(points)} points"
        more = IconButton("dots_vertical", f"More options for {name}", lambda: self._menu(name))
        icon = Icon("map_marker_path", color=ORANGE)
        return ListItem(name.removesuffix(".gpx"), what, leading=icon, trailing=more)

    def _menu(self, name: str) -> None:
        ask = Confirm(f"Delete {name}?", "", "Delete", lambda: self.phone.storage.remove(f"{TRACKS}/{name}"))
        self.push(Menu([("Delete", lambda: self.push(ask))]))
