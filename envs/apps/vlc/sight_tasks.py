"""Families of VLC: films that are known by what they show."""

from __future__ import annotations

import random
from typing import Any, ClassVar

from coach_gym.envs.apps.vlc.world_tasks import VIDEOS, playlist_names, playlists
from coach_gym.envs.devices.device import Device
from coach_gym.envs.phone.media import mp4
from coach_gym.envs.tasks import scenes
from coach_gym.envs.tasks.answers import plain
from coach_gym.envs.tasks.scenes import COLORS, SHAPES, Scene
from coach_gym.envs.tasks.sight import SightTask, file_names, shapes
from coach_gym.envs.tasks.words import ParamRng

FRAME = (320, 240)  # pixels
SECONDS = 8  # for which every picture of a film is shown


class FilmTask(SightTask):
    """A task on films: `params["films"]` has their scenes in order, by file name. The names tell nothing."""

    apps: ClassVar[tuple[str, ...]] = ("VLC",)
    difficulty = "medium"
    budget = 20

    def setup(self, device: Device) -> None:
        for name, shown in self.params["films"].items():
            frames = [scenes.film_frame(scenes.drawn(scene), FRAME) for scene in shown]
            device.write(f"{VIDEOS}/{name}", mp4.slides(frames, SECONDS, FRAME))

    def swapped(self) -> dict[str, Any]:
        names, films = list(self.params["films"]), list(self.params["films"].values())
        return {**self.params, "films": dict(zip(names, films[1:] + films[:1], strict=True))}


class VlcPlaylistOfColor(FilmTask):
    """A playlist of the film that begins with a color."""

    template = (
        "In VLC, create a playlist called {playlist_name} with just the video of the folder VLCVideos whose picture in "
        "the list is {what}."
    )
    chance = 0.25

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        colors = rng.sample(tuple(COLORS), 4)
        shown: list[list[Scene]] = [[{"kind": "plain", "color": color}] * 4 for color in colors]
        films = dict(zip(file_names(rng, 4, "mp4"), shown, strict=True))
        return {"what": rng.choice(colors), "playlist_name": playlist_names(rng, 1)[0], "films": films}

    def evaluate(self, device: Device, answer: str | None) -> float:
        film = next(name for name, (first, *_) in self.params["films"].items() if first["color"] == self.params["what"])
        return float(playlists(device) == [(self.params["playlist_name"], [film])])

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        colors = {first["color"] for first, *_ in self.params["films"].values()}
        return {**self.params, "what": rng.choice(sorted(colors - {self.params["what"]}))}


class VlcLastShape(FilmTask):
    """What a film shows at its end."""

    kind = "query"
    template = (
        "Watch the video {name} in VLC to its end. Which shape does it show last? "
        "Answer with one of: circle, square, triangle, cross, ring."
    )
    chance = 1 / len(SHAPES)

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        name, other = names = file_names(rng, 2, "mp4")
        ends = rng.sample(SHAPES, 2)
        films = {file: [*_some(rng, 2, end), _shape(rng, end)] for file, end in zip(names, ends, strict=True)}
        return {"name": name, "other": other, "films": films}

    def evaluate(self, device: Device, answer: str | None) -> float:
        return float(plain(answer or "") == self.params["films"][self.params["name"]][-1]["shape"])

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        return {**self.params, "name": self.params["other"]}


def _some(rng: ParamRng, count: int, other_than: str) -> list[Scene]:
    """Scenes of shapes but one."""
    return [_shape(rng, shape) for shape in rng.sample([shape for shape in SHAPES if shape != other_than], count)]


def _shape(rng: ParamRng, shape: str) -> Scene:
    return shapes(rng, shape, rng.choice(tuple(COLORS)), 1)


TASKS: tuple[type[SightTask], ...] = (VlcLastShape, VlcPlaylistOfColor)
