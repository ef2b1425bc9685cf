"""MAPS.ME shows a map to move about, places to find and to keep, and routes (`planning`)."""

from __future__ import annotations

from functools import partial
from typing import Any

from coach_gym.envs.apps.mapsme import data
from coach_gym.envs.apps.mapsme import map as mapsme_map
from coach_gym.envs.apps.mapsme.data import DATABASE, PACKAGE, ROLES, SCHEMA, Place, World
from coach_gym.envs.apps.mapsme.planning import Planning
from coach_gym.envs.apps.mapsme.screens import MapScreen, Search, away, row
from coach_gym.envs.phone.app import DatabaseApp, Menu, Screen
from coach_gym.envs.phone.intents import CATEGORY
from coach_gym.envs.phone.toolkit import theme
from coach_gym.envs.phone.toolkit.view import View
from coach_gym.envs.phone.toolkit.widgets import (
    Button,
    Column,
    Empty,
    Header,
    Icon,
    IconButton,
    ListItem,
    ListView,
    Pile,
    Row,
    Scaffold,
    Space,
    Text,
)

ZOOM = 1.8  # by one touch of a zoom button
SCALES = (2.0, 600.0)  # dp per kilometre


class MapsMe(DatabaseApp):
    """Maps without a network: the app shows the map in its database."""

    package = PACKAGE
    activity = "com.mapswithme.maps.MwmActivity"
    role = f"{CATEGORY}APP_MAPS"
    label = "MAPS.ME"
    icon = "map_outline"
    color = "#006c35"
    path = DATABASE
    schema = SCHEMA

    def main(self) -> Screen:
        """Opens the map."""
        return Map()


class Map(MapScreen):
    """The map, surrounded by the entrances to everything else."""

    def __init__(self) -> None:
        super().__init__()
        self.view: mapsme_map.View | None = None

    def build(self) -> View:
        """Shows the map with the search above it."""
        world = self.world
        if world.here is None or (here := world.place(world.here)) is None:
            return Scaffold(self.app.label, Empty("No map was downloaded", "map_marker_off_outline"))
        if self.view is None:
            self.view = mapsme_map.View(here.point, 70.0, *self.size(56))
        shown = self.picture(world, self.view)
        shown.on_drag = self._drag
        sides = Row([Space(flex=1), Column(self._buttons(), gap=8, pad=(0, 0, 10, 20))])
        return Column(
            [Pile([shown, Column([self._search_bar(), Space(flex=1), sides])], flex=1), self._bar()],
        )

    def _search_bar(self) -> View:
        field = View(
            "android.widget.FrameLayout", [Icon("magnify"), Text("Search", 15, theme.SECONDARY, flex=1)], axis="h",
            gap=12, align="center", pad=(14, 10, 14, 10), bg=theme.SURFACE, border=theme.OUTLINE, radius=22,
            on_tap=self._search, id="search_text_query",
        )  # fmt: skip
        return Column([field], pad=(12, 10, 12, 0))

    def _buttons(self) -> list[View]:
        look: dict[str, Any] = {"bg": theme.SURFACE, "border": theme.OUTLINE, "radius": 22}
        return [
            IconButton("plus", "Zoom in", lambda: self._zoom(ZOOM), **look),
            IconButton("minus", "Zoom out", lambda: self._zoom(1 / ZOOM), **look),
            IconButton("crosshairs_gps", "My position", self._recenter, **look),
        ]

    def _bar(self) -> View:
        ways = [
            IconButton("directions", "Route", lambda: self.push(Planning(self.world.here or 0, None))),
            IconButton("magnify", "Find", self._search),
            IconButton("star_outline", "My places", lambda: self.push(MyPlaces())),
        ]
        cells = [Column([way], align="center", flex=1) for way in ways]
        return Row(cells, pad=(8, 6, 8, 6), bg=theme.SURFACE)

    def _drag(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        if self.view is not None:
            self.view = self.view.moved(start, end)

    def _zoom(self, factor: float) -> None:
        if self.view is not None:
            scale = min(max(SCALES[0], self.view.scale * factor), SCALES[1])
            self.view = mapsme_map.View(self.view.center, scale, self.view.width, self.view.height)

    def _recenter(self) -> None:
        self.view = None

    def _search(self) -> None:
        self.push(Search(lambda id: self.push(Sheet(id)), stays=True))


class Sheet(MapScreen):
    """A place on the map, and what can be done with it."""

    def __init__(self, id: int) -> None:
        super().__init__()
        self.id = id

    def build(self) -> View:
        """Shows the place on the map, its name and where it is."""
        world = self.world
        place = world.place(self.id)
        if place is None:
            return Scaffold("", Empty("The place is not on this map", "map_marker_off_outline"), on_back=self.pop)
        saved = self.id in data.bookmarks(self.app.db)
        where = " • ".join(part for part in (place.kind, place.address, away(world, place)) if part)
        here = world.here or 0
        buttons = [
            Button("Route from", lambda: self.push(Planning(self.id, None)), kind="tonal", flex=1),
            Button("Route to", lambda: self.push(Planning(here, self.id)), flex=1),
        ]
        toggle = partial(data.toggle_bookmark, self.app.db, self.id)
        save = IconButton("star" if saved else "star_outline", "Forget" if saved else "Save", toggle)
        title = Column([Text(place.name, 19, bold=True), Text(where, 14, theme.SECONDARY)], gap=3, flex=1)
        sheet = Column([Row([title, save], gap=8), Row(buttons, gap=10)], gap=12, pad=(16, 12, 16, 14))
        view = mapsme_map.View(place.point, 120.0, *self.size(theme.BAR_HEIGHT + 130))
        return Scaffold("", Column([self.picture(world, view, [("place", place.point)]), sheet]), on_back=self.pop)


class MyPlaces(MapScreen):
    """Home, work, and the places that were saved."""

    def build(self) -> View:
        """Shows home and work above the saved places."""
        db, world = self.app.db, self.world
        mine = data.my_places(db)
        rows = [self._role(world, role, world.place(mine[role]) if role in mine else None) for role in ROLES]
        saved = [place for id in data.bookmarks(db) if (place := world.place(id)) is not None]
        if saved:
            rows += [Header("Bookmarks"), *(row(world, place, partial(self._open, place.id)) for place in saved)]
        return Scaffold("My places", ListView(rows), on_back=self.pop)

    def _role(self, world: World, role: str, place: Place | None) -> View:
        icon = Icon("home_outline" if role == "Home" else "briefcase_outline")
        if place is None:
            return ListItem(role, f"Add your {role.lower()} address", lambda: self._pick(role), leading=icon)
        where = f"{place.address or place.name} • {away(world, place)}"
        more = IconButton("dots_vertical", f"Options of {role}", lambda: self._menu(role))
        return ListItem(role, where, lambda: self._open(place.id), leading=icon, trailing=more)

    def _open(self, id: int) -> None:
        self.push(Sheet(id))

    def _pick(self, role: str) -> None:
        self.push(Search(lambda id: data.set_my_place(self.app.db, role, id)))

    def _menu(self, role: str) -> None:
        self.push(Menu([
            ("Change", lambda: self._pick(role)),
            ("Remove", lambda: data.set_my_place(self.app.db, role, None)),
        ], "bottom"))  # fmt: skip


APP = MapsMe
