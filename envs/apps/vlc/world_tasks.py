"""Families of VLC: playlists, and a film to watch."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any, ClassVar

from coach_gym.envs.apps.markor import world_tasks as markor
from coach_gym.envs.apps.vlc.data import DATABASE
from coach_gym.envs.devices.device import Device
from coach_gym.envs.tasks.file_tree import Tree
from coach_gym.envs.tasks.pictures import film
from coach_gym.envs.tasks.task import Task
from coach_gym.envs.tasks.words import ADJECTIVES, FIRST_NAMES, NOUNS, ParamRng

VIDEOS, DOWNLOAD = "/sdcard/VLCVideos", "/sdcard/Download"
KINDS = ("clip", "footage", "scene", "recording", "highlight", "moment", "episode")
SHOWN = 8  # seconds for which a film shows each text


def film_names(rng: ParamRng, count: int) -> list[str]:
    """Draws file names of films, all different."""
    return [f"{rng.choice(KINDS)}_{rng.randint(1, 99)}_{noun}.mp4" for noun in NOUNS.draw_many(rng, count)]


def playlist_names(rng: ParamRng, count: int) -> list[str]:
    """Draws names of playlists that share no word."""
    pairs = zip(ADJECTIVES.draw_many(rng, count), NOUNS.draw_many(rng, count), strict=True)
    return [f"{adjective} {noun}".title() for adjective, noun in pairs]


def write_films(device: Device, folder: str, names: Sequence[str]) -> None:
    """Writes films that show their number and last half a minute or longer."""
    for number, name in enumerate(names):
        device.write(f"{folder}/{name}", film((f"film {number + 1}",), 30 + 7 * number))


class VlcCreatePlaylist(Task):
    """Make a playlist of some films of a folder, in order."""

    apps = ("VLC",)
    template = (
        "Create a playlist called {playlist_name} in VLC with these videos of the folder VLCVideos, in this order: "
        "{listed}."
    )
    difficulty = "medium"
    budget = 24

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws films, half of them for the playlist."""
        count = rng.randint(2, 4)
        names = film_names(rng, 2 * count)
        return {
            "playlist_name": playlist_names(rng, 1)[0], "files": names[:count], "noise_files": names[count:],
        }  # fmt: skip

    @property
    def goal(self) -> str:
        """The instruction, with the films in order."""
        return self.template.format(listed=", ".join(self.params["files"]), **self.params)

    def setup(self, device: Device) -> None:
        """Writes the films."""
        write_films(device, VIDEOS, sorted([*self.params["files"], *self.params["noise_files"]]))

    def evaluate(self, device: Device, answer: str | None) -> float:
        """Requires just this playlist with its films in order."""
        return float(playlists(device) == [(self.params["playlist_name"], self.params["files"])])

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns the parameters with the films in reverse order."""
        return {**self.params, "files": self.params["files"][::-1]}


def playlists(device: Device) -> list[tuple[str, list[str]]]:
    """Returns the playlists that are not empty, sorted by name, with the names of their films in order."""
    with device.database(DATABASE) as db:
        rows = db.execute(
            "SELECT name, filename FROM PlaylistMediaRelation JOIN Playlist ON id_playlist = playlist_id "
            "JOIN Media ON id_media = media_id ORDER BY name, id_playlist, position"
        ).fetchall()
    found: dict[str, list[str]] = {}
    for name, film_name in rows:
        found.setdefault(name, []).append(film_name)
    return list(found.items())


class VlcCreateTwoPlaylists(VlcCreatePlaylist):
    """Make two playlists."""

    template = (
        "Create two playlists in VLC with videos of the folder VLCVideos, each in this order: {playlist_name1} with "
        "{listed1}, and {playlist_name2} with {listed2}."
    )
    difficulty = "hard"
    budget = 44

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws two playlists and films for neither."""
        first, second = playlist_names(rng, 2)
        counts = rng.randint(2, 3), rng.randint(2, 3)
        names = film_names(rng, sum(counts) + rng.randint(1, 3))
        return {
            "playlist_name1": first, "files1": names[: counts[0]],
            "playlist_name2": second, "files2": names[counts[0] : sum(counts)],
            "noise_files": names[sum(counts) :],
        }  # fmt: skip

    @property
    def goal(self) -> str:
        """The instruction, with the films of both in order."""
        listed1, listed2 = (", ".join(self.params[files]) for files in ("files1", "files2"))
        return self.template.format(listed1=listed1, listed2=listed2, **self.params)

    def setup(self, device: Device) -> None:
        """Writes the films."""
        p = self.params
        write_films(device, VIDEOS, sorted([*p["files1"], *p["files2"], *p["noise_files"]]))

    def evaluate(self, device: Device, answer: str | None) -> float:
        """Requires just these playlists with their films in order."""
        p = self.params
        wanted = [(p["playlist_name1"], p["files1"]), (p["playlist_name2"], p["files2"])]
        return float(playlists(device) == sorted(wanted))

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns the parameters with the second playlist in reverse order."""
        return {**self.params, "files2": self.params["files2"][::-1]}


class MarkorTranscribeVideo(markor.NotesTask):
    """Type the words that a film shows one after the other into a note."""

    apps: ClassVar[tuple[str, ...]] = ("VLC", "Markor")
    template = (
        "Watch the video {video_name}, which is in Download, in VLC. It shows one word after the other. Write them in "
        "that order, separated by commas, into the new note {file_name} in Markor."
    )
    difficulty = "hard"
    budget = 40

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws the words of the film, other films, and notes that exist."""
        video, *others = film_names(rng, rng.randint(2, 5))
        return {
            "video_name": video, "file_name": f"{video.partition('.')[0]}_transcription.txt", "noise_files": others,
            "messages": FIRST_NAMES.draw_many(rng, rng.randint(2, 4)), "files": markor.notes(rng, 1, 3)["files"],
        }  # fmt: skip

    def setup(self, device: Device) -> None:
        """Writes the notes and the films."""
        super().setup(device)
        write_films(device, DOWNLOAD, self.params["noise_files"])
        device.write(f"{DOWNLOAD}/{self.params['video_name']}", film(tuple(self.params["messages"]), SHOWN))

    def expected(self, tree: Tree) -> Tree:
        """Adds the note with the words in order."""
        return {**tree, self.params["file_name"]: ", ".join(self.params["messages"]).encode()}

    def normal(self, data: bytes) -> bytes:
        """Drops spaces around commas, and a comma at the end."""
        return b",".join(word.strip() for word in data.strip().rstrip(b",").split(b","))

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns the parameters with the words in reverse order."""
        return self.but(messages=self.params["messages"][::-1])


TASKS: tuple[type[Task], ...] = (VlcCreatePlaylist, VlcCreateTwoPlaylists, MarkorTranscribeVideo)
