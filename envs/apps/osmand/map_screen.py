"""What OsmAnd's screens with a map share: the map that follows the finger, and the search for a place on it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from coach_gym.envs.apps.osmand import data
from coach_gym.envs.apps.osmand import map as osmand_map
from coach_gym.envs.apps.osmand.data import PLACES, Place, Point
from coach_gym.envs.phone.app import Screen
from coach_gym.envs.phone.system import bars
from coach_gym.envs.phone.toolkit import theme
from coach_gym.envs.phone.toolkit.view import TextInput, View
from coach_gym.envs.phone.toolkit.widgets import (
    Action,
    Column,
    Icon,
    IconButton,
    ListItem,
    ListView,
    Picture,
    Scaffold,
    Text,
    TextField,
)

HOME = PLACES["Vaduz"]  # the middle of the map at first
MIN_ZOOM, MAX_ZOOM = 8, 17


class MapScreen(Screen):
    """A map that follows the finger."""

    def __init__(self, center: Point = HOME, zoom: int = 12) -> None:
        super().__init__()
        self.center, self.zoom = center, zoom

    @property
    def view(self) -> osmand_map.View:
        """The part of the world that the screen shows."""
        d = self.phone.density
        height = self.phone.height / d - bars.STATUS_HEIGHT - bars.NAVIGATION_HEIGHT
        return osmand_map.View(self.center, self.zoom, self.phone.width / d, height)

    def map(self, marks: Sequence[tuple[str, Point]] = (), line: Sequence[Point] = ()) -> View:
        """Returns the picture of the map."""
        view = self.view
        pixels = osmand_map.draw(view, tuple(marks), tuple(line))
        return Column([Picture(pixels, "", view.height, important=False, on_drag=self._drag, on_hold=self._hold)])

    def zoom_buttons(self) -> View:
        """Returns the buttons at the right."""
        zoom_in = round_button("plus", "Zoom in", lambda: self._zoom(1), "map_zoom_in_button")
        zoom_out = round_button("minus", "Zoom out", lambda: self._zoom(-1), "map_zoom_out_button")
        return Column([zoom_in, zoom_out], gap=8)

    def _drag(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        self.center = self.view.moved(start, end).center

    def _zoom(self, levels: int) -> None:
        self.zoom = min(max(MIN_ZOOM, self.zoom + levels), MAX_ZOOM)

    def _hold(self, at: tuple[float, float]) -> None:
        point = self.view.point(*at)
        self.choose(Place(data.point_text(point), point))

    def choose(self, place: Place) -> None:
        """Shows a place that was found, or touched on the map."""
        self.center = place.point

    def search(self) -> None:
        """Looks for a place to show."""
        search = Search(self)
        self.push(search)
        self.focus(search.query)


def round_button(icon: str, desc: str, on_tap: Action, id: str) -> View:
    """A button that floats above the map."""
    return IconButton(icon, desc, on_tap, id, bg=theme.SURFACE, radius=22, border=theme.OUTLINE)


class Search(Screen):
    """Finds a place by its name or coordinates, and shows it on the map that it was opened from."""

    def __init__(self, map: MapScreen) -> None:
        super().__init__()
        self.map, self.query = map, TextInput()

    def build(self) -> View:
        """Shows what is found, the nearest first."""
        found = sorted(data.search(self.query.text), key=self._distance)
        rows = [self._row(place) for place in found]
        clear = IconButton("close", "Clear", partial(self.query.set, ""), "clearButton")
        field = TextField(self.query, "Search", "searchEditText")
        return Scaffold(field, ListView(rows), self.pop, [clear])

    def _row(self, place: Place) -> View:
        kind = f"Village, {data.COUNTRY}" if place.name in PLACES else "Coordinates"
        far = Text(data.distance_text(self._distance(place)), 12, theme.SECONDARY)
        icon = Icon("map_marker", color=osmand_map.ORANGE)
        return ListItem(place.name, kind, lambda: self._show(place), leading=icon, trailing=far)

    def _distance(self, place: Place) -> float:
        return data.distance(self.map.center, place.point)

    def _show(self, place: Place) -> None:
        self.pop()
        self.map.choose(place)
