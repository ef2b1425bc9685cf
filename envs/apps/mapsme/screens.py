"""What MAPS.ME's screens share: the map, rows of places, and the search for a place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from coach_gym.envs.apps.mapsme import data
from coach_gym.envs.apps.mapsme import map as mapsme_map
from coach_gym.envs.apps.mapsme.data import HERE, Place, Point, World
from coach_gym.envs.apps.mapsme.route import distances
from coach_gym.envs.phone.app import DatabaseApp, Screen
from coach_gym.envs.phone.system import bars
from coach_gym.envs.phone.toolkit.view import TextInput, View
from coach_gym.envs.phone.toolkit.widgets import Action, Empty, Icon, ListItem, ListView, Scaffold, TextField

ICONS = {
    "Bus stop": "bus", "Café": "coffee", "Hotel": "bed", "Neighbourhood": "home_group", "Office": "office_building",
    "Park": "tree", "Pharmacy": "medical_bag", "Restaurant": "silverware_fork_knife", "Shop": "cart",
    "Station": "subway_variant", "Town": "city", "University": "school",
}  # fmt: skip


Pin = tuple[str, Point]
"""A kind of `mapsme_map.PINS`, and where it stands."""


LEAST = 80  # dp; the height of a map


class MapScreen(Screen):
    """A screen with a map on it."""

    app: DatabaseApp

    @property
    def world(self) -> World:
        """The map that is on the phone."""
        return data.read(self.app.db)

    def picture(
        self, world: World, view: mapsme_map.View, pins: Sequence[Pin] = (), line: Sequence[Point] = ()
    ) -> View:
        """Returns the picture of a part of the map, with the phone and other pins on it."""
        here = None if world.here is None else world.place(world.here)
        marks = [("here", here.point)] if here else []
        pixels = mapsme_map.draw(world, view, (*marks, *pins), tuple(line), self.phone.density)
        return View("android.view.SurfaceView", image=pixels, desc="Map", flex=1)

    def size(self, less: float) -> tuple[float, float]:
        """Returns width and height in dp of the screen without its bars and `less` dp of its height.

        On a screen on its side, where less than `LEAST` is left, the map has that and the page scrolls.
        """
        d = self.phone.density
        left = self.phone.height / d - bars.STATUS_HEIGHT - bars.NAVIGATION_HEIGHT - less
        return self.phone.width / d, max(left, LEAST)


def row(world: World, place: Place, on_tap: Action) -> View:
    """Returns a row with the name of a place, what and where it is, and how far away."""
    parts = [part for part in (place.kind, place.address, away(world, place)) if part]
    return ListItem(place.name, " • ".join(parts), on_tap, leading=Icon(ICONS.get(place.kind, "map_marker_outline")))


def away(world: World, place: Place) -> str:
    """Returns the distance of a place by road as text; empty where no road leads to it."""
    km = distances(world).get(place.id)
    return "" if km is None else data.distance_text(km)


class Search(MapScreen):
    """Finds places by name, kind or address, the nearest first.

    Args:
        then: Called with the id of the place that is touched.
        here: Whether the phone's own place can be chosen, too.
        stays: Whether this screen stays open for another choice.
    """

    def __init__(self, then: Callable[[int], None], here: bool = False, stays: bool = False) -> None:
        super().__init__()
        self.query = TextInput()
        self.then, self.here, self.stays = then, here, stays

    def build(self) -> View:
        """Shows the places found, or all kinds of places."""
        field = TextField(self.query, "Search", "search_query")
        words = self.query.text.casefold().split()
        world = self.world
        rows = self._found(world, words) if words else self._kinds(world)
        if self.here and world.here is not None:
            rows.insert(0, ListItem(HERE, on_tap=partial(self._choose, world.here), leading=Icon("crosshairs_gps")))
        body = ListView(rows, key=self.query.text) if rows else Empty("Nothing was found", "map_search_outline")
        return Scaffold(field, body, on_back=self.pop)

    def _found(self, world: World, words: Sequence[str]) -> list[View]:
        """Returns rows of the places that fit and can be reached."""
        near = distances(world)
        found = [place for place in world.places if place.name and all(word in _about(place) for word in words)]
        found = sorted((place for place in found if place.id in near), key=lambda place: near[place.id])
        return [row(world, place, partial(self._choose, place.id)) for place in found]

    def _kinds(self, world: World) -> list[View]:
        kinds = sorted({place.kind for place in world.places if place.name})
        choices = [(kind, partial(self.query.set, kind), Icon(ICONS.get(kind, "tag"))) for kind in kinds]
        return [ListItem(kind, on_tap=choose, leading=icon) for kind, choose, icon in choices]

    def _choose(self, id: int) -> None:
        if not self.stays:
            self.pop()
        self.then(id)


def _about(place: Place) -> str:
    return f"{place.name} {place.kind} {place.address}".casefold()
