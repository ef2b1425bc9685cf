"""MAPS.ME's routes, which users plan, compare and follow."""

from __future__ import annotations

from coach_gym.envs.apps.mapsme import map as mapsme_map
from coach_gym.envs.apps.mapsme.data import HERE, Point, World, length_text, time_text
from coach_gym.envs.apps.mapsme.route import MODES, Route, route
from coach_gym.envs.apps.mapsme.screens import MapScreen, Search
from coach_gym.envs.phone import epoch
from coach_gym.envs.phone.toolkit import theme
from coach_gym.envs.phone.toolkit.view import View
from coach_gym.envs.phone.toolkit.widgets import (
    Button,
    Column,
    Divider,
    Empty,
    Icon,
    IconButton,
    ListItem,
    Row,
    Scaffold,
    Text,
)

ICONS = {"car": "car", "walk": "walk", "transit": "subway_variant", "bike": "bike"}
PANELS = theme.BAR_HEIGHT + 240  # dp that the map leaves to the panels


def points(world: World, way: Route) -> list[Point]:
    """Returns the points that a way leads through."""
    places = {place.id: place.point for place in world.places}
    return [places[id] for id in way.places]


def _name(world: World, id: int | None) -> str:
    """Returns the name of one end of a route."""
    place = None if id is None else world.place(id)
    return HERE if id == world.here else "Choose a place" if place is None else place.name


class Planning(MapScreen):
    """Where from, where to and by which means; the way is shown with its length and time."""

    def __init__(self, start: int, target: int | None, mode: str = "car") -> None:
        super().__init__()
        self.start, self.target, self.mode = start, target, mode

    def build(self) -> View:
        """Shows the ends, the means, and the route on the map."""
        world = self.world
        swap = IconButton("swap_vertical", "Swap", self._swap)
        ends = Row([Column([self._end(world, "From"), self._end(world, "To")], flex=1), swap], pad=(0, 0, 8, 0))
        modes = Row([self._mode(mode) for mode in MODES], gap=6, pad=(12, 4, 12, 8))
        if self.target is None:
            return Scaffold("Route", Column([ends, modes, Empty("Choose where to go", "map_marker_path")]), self.pop)
        way = route(world, self.start, self.target, self.mode)
        if way is None:
            return Scaffold("Route", Column([ends, modes, Empty("No route was found", "map_marker_off")]), self.pop)
        line = points(world, way)
        shown = self.picture(world, mapsme_map.around(line, *self.size(PANELS)), [("place", line[-1])], line)
        summary = self._summary(way, self.start == world.here)
        return Scaffold("Route", Column([ends, modes, Divider(), shown, summary]), self.pop)

    def _end(self, world: World, which: str) -> View:
        id = self.start if which == "From" else self.target
        icon = Icon("circle_outline" if which == "From" else "map_marker_outline")
        return ListItem(
            _name(world, id), which, lambda: self._pick(which), leading=icon, pad=(16, 4, 8, 4), min_height=48
        )

    def _mode(self, mode: str) -> View:
        chosen = mode == self.mode
        color = theme.PRIMARY if chosen else theme.SECONDARY
        return View(
            "android.widget.RadioButton", icon=ICONS[mode], desc=MODES[mode], checkable=True, checked=chosen, flex=1,
            height=theme.TOUCH, size=24, color=color, radius=8, bg="#d3e3fd" if chosen else theme.SURFACE_VARIANT,
            on_tap=lambda: self._choose(mode),
        )  # fmt: skip

    def _summary(self, way: Route, from_here: bool) -> View:
        texts = [Text(time_text(way.minutes), 20, bold=True), Text(length_text(way.km), 15, theme.SECONDARY)]
        if self.mode == "transit":
            texts[1:] = [Text(f"Subway {line}", 15, theme.SECONDARY) for line in way.lines]
        parts: list[View] = [Column(texts, gap=2, flex=1)]
        if from_here:
            parts.append(Button("Start", self._begin))
        return Row(parts, gap=12, pad=(16, 10, 16, 14))

    def _choose(self, mode: str) -> None:
        self.mode = mode

    def _pick(self, which: str) -> None:
        self.push(Search(lambda id: self._picked(which, id), here=True))

    def _picked(self, which: str, id: int) -> None:
        if which == "From":
            self.start = id
        else:
            self.target = id

    def _swap(self) -> None:
        if self.target is not None:
            self.start, self.target = self.target, self.start

    def _begin(self) -> None:
        self.app.db.execute(
            "INSERT INTO journeys(start, target, mode, at) VALUES (?, ?, ?, ?)",
            (self.start, self.target, self.mode, epoch.to_millis(self.now)),
        )
        self.push(Journey(self.start, self.target or 0, self.mode))


class Journey(MapScreen):
    """A journey on its way."""

    def __init__(self, start: int, target: int, mode: str) -> None:
        super().__init__()
        self.start, self.target, self.mode = start, target, mode

    def build(self) -> View:
        """Shows the way from where it starts, and the time left."""
        world = self.world
        way, place = route(world, self.start, self.target, self.mode), world.place(self.target)
        if way is None or place is None:
            return Scaffold("", Empty("No route was found", "map_marker_off"), on_back=self.pop)
        line = points(world, way)
        view = mapsme_map.View(line[0], 200.0, *self.size(160))
        left = Row(
            [
                Icon(ICONS[self.mode], 30, theme.PRIMARY),
                Column([Text(place.name, 16, bold=True), Text(f"{time_text(way.minutes)} left", 14)], flex=1, gap=2),
                Button("Stop", self.pop, kind="tonal"),
            ],
            gap=12, pad=(16, 12, 16, 14),
        )  # fmt: skip
        return Column([self.picture(world, view, [("place", place.point)], line), left], bg=theme.SURFACE)
