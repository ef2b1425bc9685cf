"""OsmAnd shows a map to move about, places to find and to keep (`places`), and routes to plan."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from urllib.parse import unquote_plus

from coach_gym.envs.apps.osmand import data, gpx
from coach_gym.envs.apps.osmand.data import MARKERS, PACKAGE, SCHEMA, Place
from coach_gym.envs.apps.osmand.gpx import TRACKS
from coach_gym.envs.apps.osmand.map import ORANGE
from coach_gym.envs.apps.osmand.map_screen import MapScreen, Search, round_button
from coach_gym.envs.apps.osmand.places import Favorites, Markers, Tracks
from coach_gym.envs.apps.osmand.planning import PlanRoute
from coach_gym.envs.phone.app import DatabaseApp, Screen
from coach_gym.envs.phone.intents import CATEGORY, VIEW, Intent
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
    Pile,
    Row,
    Scaffold,
    Space,
    Text,
    TextField,
)

_GEO = re.compile(r"geo:(-?\d{1,2}(?:\.\d+)?),(-?\d{1,3}(?:\.\d+)?)(?:\?q=([^&]*))?")


class OsmAnd(DatabaseApp):
    """A map with favourites and tracks in GPX files, and markers in a database."""

    package = PACKAGE
    activity = "net.osmand.plus.activities.MapActivity"
    role = f"{CATEGORY}APP_MAPS"
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

    def open(self, intent: Intent) -> bool:
        """Shows the place of a link such as `geo:47.14,9.52?q=Vaduz`."""
        found = _GEO.match(intent.data)
        if intent.action != VIEW or found is None:
            return False
        point, name = (float(found[1]), float(found[2])), unquote_plus(found[3] or "")
        screen = Map()
        self.phone.open_screen(self.package, screen)
        if any(point):
            screen.choose(Place(name or data.point_text(point), point))
        else:  # geo:0,0?q=... asks for a search
            search = Search(screen)
            search.query.set(name)
            self.phone.push(self, search)
        return True


class Map(MapScreen):
    """The map with the user's places, and at the bottom what can be done with the chosen one."""

    app: DatabaseApp

    def __init__(self) -> None:
        super().__init__()
        self.chosen: Place | None = None

    def build(self) -> View:
        """Shows the map with favourites, markers and the chosen place."""
        marks = [("favorite", place.point) for place in gpx.favorites(self.phone.storage)]
        marks += [("marker", marker.place.point) for marker in data.markers(self.app.db) if not marker.passed]
        marks += [("pin", self.chosen.point)] if self.chosen else []
        no_layers = partial(self.notify, "No other maps are installed")
        layers = round_button("layers_outline", "Configure map", no_layers, "map_layers_button")
        top = Row([layers, round_button("magnify", "Search", self.search, "map_search_button")], gap=8)
        menu = round_button("menu", "Show main menu", lambda: self.push(Drawer(self)), "map_menu_button")
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


APP = OsmAnd
