"""OsmAnd's routes: lines through points, saved as tracks."""

from __future__ import annotations

from coach_gym.envs.apps.osmand import data, gpx
from coach_gym.envs.apps.osmand.data import Point
from coach_gym.envs.apps.osmand.gpx import TRACKS
from coach_gym.envs.apps.osmand.map_screen import MapScreen
from coach_gym.envs.phone.app import Menu, Prompt
from coach_gym.envs.phone.folders import free_path, name_error
from coach_gym.envs.phone.toolkit import theme
from coach_gym.envs.phone.toolkit.view import View
from coach_gym.envs.phone.toolkit.widgets import Button, Column, Icon, IconButton, Pile, Row, Space, Text


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
        name = f"{self.local_now:%Y-%m-%d_%H-%M_%a}"
        prompt = Prompt("Save as new track", self._save, name, "File name", yes="Save")
        prompt.input.select_all()
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
