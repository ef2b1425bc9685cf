"""OsmAnd shows a map to move about, places to find and to keep (`places`), and routes to plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from coach_gym.envs.apps.osmand import data, gpx
from coach_gym.envs.apps.osmand import map as osmand_map
from coach_gym.envs.apps.osmand.data import MARKERS, PACKAGE, PLACES, SCHEMA, Place, Point
from coach_gym.envs.apps.osmand.gpx import TRACKS
from coach_gym.envs.apps.osmand.places import Favorites, Markers, Tracks
from coach_gym.envs.phone.app import DatabaseApp, Menu, Prompt, Screen
from coach_gym.envs.phone.folders import free_path, name_error
from coach_gym.envs.phone.system import bars
from coach_gym.envs.phone.toolkit import theme
from coach_gym.envs.phone.toolkit.view import TextInput, View
from coach_gym.envs.phone.toolkit.widgets import (
    Action,
    Button,
    Column,
    Icon,
    IconButton,
    ListItem,
    ListView,
    Picture,
    Pile,
    Row,
    Scaffold,
    Space,
    Text,
    TextField,
)

HOME = PLACES["Vaduz"]  # the middle of the map at first
ORANGE = "#ff8800"
MIN_ZOOM, MAX_ZOOM = 8, 17


class OsmAnd(DatabaseApp):
    """A map with favourites and tracks in GPX files, and markers in a database."""

    package = PACKAGE
    activity = "net.osmand.plus.activities.MapActivity"
    label = "OsmAnd"
    icon = "map_search"
    color = ORANGE
    path = MARKERS
    schema = SCHEMA

    def install(self) -> None:
        """Makes the database of markers and the folder of tracks."""
        super().install()
        self.phone.storage.mkdir(TRACKS)

    def main(self) -> Screen:
        """Opens the map."""
        return Map()


class MapScreen(Screen):
    """A map that follows the finger."""

    app: OsmAnd

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
        zoom_in = _round("plus", "Zoom in", lambda: self._zoom(1), "map_zoom_in_button")
        zoom_out = _round("minus", "Zoom out", lambda: self._zoom(-1), "map_zoom_out_button")
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


class Map(MapScreen):
    """The map with the user's places, and at the bottom what can be done with the chosen one."""

    def __init__(self) -> None:
        super().__init__()
        self.chosen: Place | None = None

    def build(self) -> View:
        """Shows the map with favourites, markers and the chosen place."""
        marks = [("favorite", place.point) for place in gpx.favorites(self.phone.storage)]
        marks += [("marker", marker.place.point) for marker in data.markers(self.app.db) if not marker.passed]
        marks += [("pin", self.chosen.point)] if self.chosen else []
        no_layers = partial(self.notify, "No other maps are installed")
        layers = _round("layers_outline", "Configure map", no_layers, "map_layers_button")
        top = Row([layers, _round("magnify", "Search", self.search, "map_search_button")], gap=8)
        menu = _round("menu", "Show main menu", lambda: self.push(Drawer(self)), "map_menu_button")
        bottom = Row([menu, Space(flex=1), self.zoom_buttons()], align="end")
        over: list[View] = [Column([top, Space(flex=1), bottom], flex=1, pad=12)]
        over += [self._sheet(self.chosen)] if self.chosen else []
        return Pile([self.map(marks), Column(over)])

    def _sheet(self, place: Place) -> View:
        """The card of the chosen place."""
        saved = any(place.point == known.point for known in gpx.favorites(self.phone.storage))
        heading = Row(
            [
                Column(
                    [
                        Text(place.name, 18, bold=True, max_lines=1, id="context_menu_line1"),
                        Text(data.point_text(place.point), 13, theme.SECONDARY, id="context_menu_line2"),
                    ],
                    gap=2, flex=1,
                ),
                IconButton("close", "Close", self._close),
            ],
            pad=(16, 12, 8, 4),
        )  # fmt: skip
        icon = "star" if saved else "star_outline"
        actions = [
            _action(icon, "Add", lambda: self.push(AddFavorite(place)), "Add to favorites"),
            _action("flag_outline", "Marker", lambda: self._mark(place)),
            _action(
                "map_marker_path", "Plan a route",
                lambda: self.push(PlanRoute(self.center, self.zoom, [place.point])),
            ),
        ]  # fmt: skip
        # a touch beside the buttons must not reach the map
        return Column([heading, Row(actions, pad=(8, 4, 8, 10))], bg=theme.SURFACE, on_tap=lambda: None)

    def choose(self, place: Place) -> None:
        """Shows a place in the middle of the map, with its card."""
        self.center, self.chosen = place.point, place
        self.zoom = max(self.zoom, 13)

    def on_back(self) -> bool:
        """Closes the card of the chosen place."""
        open_card, self.chosen = self.chosen is not None, None
        return open_card

    def _close(self) -> None:
        self.chosen = None

    def _mark(self, place: Place) -> None:
        data.add_marker(self.app.db, place, self.now)
        self.notify("Marker added")
        self.chosen = None


def _round(icon: str, desc: str, on_tap: Action, id: str) -> View:
    """A button that floats above the map."""
    return IconButton(icon, desc, on_tap, id, bg=theme.SURFACE, radius=22, border=theme.OUTLINE)


def _action(icon: str, label: str, on_tap: Action, desc: str = "") -> View:
    parts = [Icon(icon, 24, ORANGE), Text(label, 12, theme.SECONDARY, align="center", max_lines=1, important=False)]
    return View(
        "android.widget.LinearLayout", parts, text=label, desc=desc, on_tap=on_tap, flex=1, gap=4, pad=(4, 8, 4, 8)
    )


class Drawer(Screen):
    """The main menu."""

    def __init__(self, map: Map) -> None:
        super().__init__()
        self.map = map

    def build(self) -> View:
        """Shows the ways to everything else."""
        items = (
            ("flag_outline", "Map markers", Markers(self.map.choose)),
            ("star_outline", "My Places", MyPlaces(self.map)),
            ("map_marker_path", "Plan a route", PlanRoute(self.map.center, self.map.zoom, [])),
            ("magnify", "Search", Search(self.map)),
        )
        rows = [ListItem(label, on_tap=partial(self.replace, to), leading=Icon(icon)) for icon, label, to in items]
        return Scaffold("OsmAnd", ListView(rows), self.pop)


class MyPlaces(Screen):
    """The entrance to favourites and tracks."""

    def __init__(self, map: Map) -> None:
        super().__init__()
        self.map = map

    def build(self) -> View:
        """Shows two rows."""
        show = self.map.choose
        rows = [
            ListItem("Favorites", on_tap=lambda: self.push(Favorites(show)), leading=Icon("star_outline")),
            ListItem("Tracks", on_tap=lambda: self.push(Tracks()), leading=Icon("map_marker_path")),
        ]
        return Scaffold("My Places", ListView(rows), self.pop)


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
        icon = Icon("map_marker", color=ORANGE)
        return ListItem(place.name, kind, lambda: self._show(place), leading=icon, trailing=far)

    def _distance(self, place: Place) -> float:
        return data.distance(self.map.center, place.point)

    def _show(self, place: Place) -> None:
        self.pop()
        self.map.choose(place)


class AddFavorite(Screen):
    """Asks for the name of a favourite."""

    def __init__(self, place: Place) -> None:
        super().__init__()
        self.place, self.name = place, TextInput(place.name)

    def build(self) -> View:
        """Shows a field for the name above the coordinates."""
        where = Text(data.point_text(self.place.point), 14, theme.SECONDARY)
        fields = [TextField(self.name, "Name", "name_edit"), where]
        save = Row([Button("Save", self._save, "save_button", flex=1)], pad=16)
        return Scaffold("Add favorite", ListView([Column(fields, gap=12, pad=16)]), self.pop, bottom=save)

    def _save(self) -> None:
        name = self.name.text.strip()
        if not name:
            self.notify("Enter a name")
            return
        gpx.add_favorite(self.phone.storage, replace(self.place, name=name))
        self.notify("Favorite saved")
        self.pop()


class PlanRoute(MapScreen):
    """A line through points; the middle of the map is the next one."""

    def __init__(self, center: Point, zoom: int, points: list[Point]) -> None:
        super().__init__(center, zoom)
        self.points = list(points)

    def build(self) -> View:
        """Shows the route on the map, its length, and the tools."""
        cross = Column([Icon("plus", 32, "#7b1fa2")], justify="center", align="center")
        search = IconButton("magnify", "Search", self.search)
        done = Button("Done", self._ask_name, "done_button", "text", enabled=len(self.points) > 1)
        bar = Row(
            [IconButton("close", "Cancel", self.pop), Text("Plan a route", 18, flex=1), search, done],
            bg=theme.SURFACE, pad=(4, 4, 8, 4), gap=4,
        )  # fmt: skip
        count = f"{len(self.points)} point{'' if len(self.points) == 1 else 's'}"
        length = data.distance_text(data.length(self.points))
        undo = IconButton("undo", "Undo", self._undo, "undo_point_button")
        tools = Row(
            [
                Column([Text(length, 18), Text(count, 13, theme.SECONDARY)], flex=1),
                undo, Button("Add", self._add, "add_point_button"),
            ],
            bg=theme.SURFACE, pad=(16, 8, 12, 8), gap=8,
        )  # fmt: skip
        middle = Column([Space(flex=1), Row([Space(flex=1), self.zoom_buttons()])], flex=1, pad=12)
        over = Column([bar, middle, tools])
        return Pile([self.map([("pin", point) for point in self.points[-1:]], self.points), cross, over])

    def on_back(self) -> bool:
        """Asks before points are lost."""
        if not self.points:
            return False
        self.push(Menu([("Discard the route", self.pop)], "center"))
        return True

    def _add(self) -> None:
        self.points.append(self.center)

    def _undo(self) -> None:
        self.points = self.points[:-1]

    def _ask_name(self) -> None:
        name = f"{self.now:%Y-%m-%d_%H-%M_%a}"
        prompt = Prompt("Save as new track", self._save, name, "File name", yes="Save")
        prompt.input.selected = True
        self.push(prompt)

    def _save(self, name: str) -> None:
        file = f"{name.strip()}.gpx"
        error = name_error(self.phone.storage, TRACKS, file)
        if error and not self.phone.storage.exists(f"{TRACKS}/{file}"):
            self.notify(error)
            return
        gpx.save_track(self.phone.storage, free_path(self.phone.storage, TRACKS, file), self.points)
        self.notify("Track saved")
        self.pop()


APP = OsmAnd
