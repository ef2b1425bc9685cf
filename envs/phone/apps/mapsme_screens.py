"""What MAPS.ME's screens share: the map, rows of places, and the search for a place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from coach_gym.envs.phone.app import Screen
from coach_gym.envs.phone.apps import mapsme_data as data
from coach_gym.envs.phone.apps import mapsme_map
from coach_gym.envs.phone.apps.mapsme_data import HERE, Place, Point
from coach_gym.envs.phone.apps.mapsme_route import distances
from coach_gym.envs.phone.system import bars
from coach_gym.envs.phone.toolkit.view import TextInput, View
from coach_gym.envs.phone.toolkit.widgets import Action, Empty, Icon, ListItem, ListView, Scaffold, TextField

if TYPE_CHECKING:
    from coach_gym.envs.phone.apps.mapsme import MapsMe

ICONS = {
    "Bus stop": "bus", "Café": "coffee", "Hotel": "bed", "Neighbourhood": "home_group", "Office": "office_building",
    "Park": "tree", "Pharmacy": "medical_bag", "Restaurant": "silverware_fork_knife", "Shop": "cart",
    "Station": "subway_variant", "Town": "city", "University": "school",
}  # fmt: skip


class MapScreen(Screen):
    """A screen with a map on it."""

    app: MapsMe

    def picture(
        self, view: mapsme_map.View, pins: Sequence[tuple[str, Point]] = (), line: Sequence[Point] = ()
    ) -> View:
        """A part of the map, with the phone and other things on it."""
        world = self.app.world
        here = None if world.here is None else world.place(world.here)
        marks = [("here", here.point)] if here else []
        pixels = mapsme_map.draw(world, view, (*marks, *pins), tuple(line))
        return View("android.view.SurfaceView", image=pixels, desc="Map", flex=1)

    def size(self, less: float) -> tuple[float, float]:
        """Width and height in dp of the screen without bars and without `less` dp of its height."""
        d = self.phone.density
        return self.phone.width / d, self.phone.height / d - bars.STATUS_HEIGHT - bars.NAVIGATION_HEIGHT - less

    def nearest(self, places: Sequence[Place]) -> list[Place]:
        """Places by their distance, without those that cannot be reached."""
        away = distances(self.app.world)
        return sorted((place for place in places if place.id in away), key=lambda place: (away[place.id], place.id))

    def row(self, place: Place, on_tap: Action, title: str = "", trailing: View | None = None) -> View:
        """A place of a list: what it is called, what and where it is, how far away."""
        parts = [place.name] if title else [place.kind]
        parts += [place.address] if place.address else []
        parts.append(self.away(place))
        icon = Icon(ICONS.get(place.kind, "map_marker_outline"))
        return ListItem(title or place.name, " • ".join(parts), on_tap, leading=icon, trailing=trailing)

    def away(self, place: Place) -> str:
        """How far a place is."""
        km = distances(self.app.world).get(place.id)
        return "" if km is None else data.distance_text(km)


class Search(MapScreen):
    """Places by name, kind or address, the nearest first.

    Args:
        then: is called with the id of the place that is touched (a bound method or a partial of one).
        here: whether the phone's own place can be chosen, too.
        stays: whether this screen stays open for another choice.
    """

    def __init__(self, then: Callable[[int], None], here: bool = False, stays: bool = False) -> None:
        super().__init__()
        self.query = TextInput()
        self.then, self.here, self.stays = then, here, stays

    def build(self) -> View:
        field = TextField(self.query, "Search", "search_query")
        words = self.query.text.casefold().split()
        rows = self._found(words) if words else self._kinds()
        if self.here and self.app.world.here is not None:
            rows.insert(
                0, ListItem(HERE, on_tap=partial(self._choose, self.app.world.here), leading=Icon("crosshairs_gps"))
            )
        body = ListView(rows, key=self.query.text) if rows else Empty("Nothing was found", "map_search_outline")
        return Scaffold(field, body, on_back=self.pop)

    def _found(self, words: Sequence[str]) -> list[View]:
        named = [place for place in self.app.world.places if place.name]
        found = [place for place in named if all(word in _about(place) for word in words)]
        return [self.row(place, partial(self._choose, place.id)) for place in self.nearest(found)]

    def _kinds(self) -> list[View]:
        kinds = sorted({place.kind for place in self.app.world.places if place.name})
        return [ListItem(kind, on_tap=partial(self._ask, kind), leading=Icon(ICONS.get(kind, "tag"))) for kind in kinds]

    def _ask(self, kind: str) -> None:
        self.query.set(kind)

    def _choose(self, id: int) -> None:
        if not self.stays:
            self.pop()
        self.then(id)


def _about(place: Place) -> str:
    return f"{place.name} {place.kind} {place.address}".casefold()
