"""Families of Retro Music: playlists and the playing queue."""

from __future__ import annotations

import random
from typing import Any

from coach_gym.envs.apps.retro.data import PLAYLISTS, QUEUE
from coach_gym.envs.apps.vlc.world_tasks import DOWNLOAD, playlist_names
from coach_gym.envs.devices.device import Device
from coach_gym.envs.phone.media import mp4
from coach_gym.envs.tasks.task import Task
from coach_gym.envs.tasks.words import FIRST_NAMES, ParamRng, Pool

MUSIC = "/sdcard/Music"
SONGS = 14  # on the phone
SHORTEST, LONGEST = 180, 290  # seconds

TITLES = Pool("""
    A Long Way Down; After the Rain; All the Small Hours; Anchor Song; Between the Lines; Blue Window; Borrowed
    Time; Bread and Roses; By the Canal; Carry the Light; City Asleep; Cold Coffee; Counting Waves; Dancing
    Alone; Dear Winter; Don't Look Up; Dust and Gold; Early Train; Empty Rooms; Every Other Sunday; Falling
    Upward; Far from Harbour; Field of Stars; First Frost; Five Bells; Glass Houses; Good Morning Moon; Half a
    Map; Hold the Door; Home by Eight; In Another Life; Iron and Honey; Just Before Dawn; Kitchen Waltz; Last Bus
    Home; Leave the Radio On; Letters to Ida; Little Lanterns; Low Tide; Made of Paper; Midnight Ferry; Moving
    Boxes; Never the Same River; No Umbrella; North of Here; Old Photographs; On the Third Floor; One More Mile;
    Open Windows; Paper Boats; Quiet Streets; Red Bicycle; Running Late; Salt and Sugar; Second Spring; Silver
    Thread; Slow Dissolve; Small Talk; Song for Nobody; Stone by Stone; Summer on Loan; Sunday Papers; Ten
    Thousand Steps; The Garden Gate; The Long Goodbye; The Other Side; Two Left Shoes; Under the Bridge Lamps;
    Unfinished Letter; Walking Backwards; Where the Road Bends; Yellow Leaves
""")


class MusicTask(Task):
    """A task on a phone with songs, whose lengths `params["seconds"]` gives by file name."""

    apps = ("Retro Music",)

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws the songs of the phone, two to four that the goal names, and the name of a playlist."""
        names = [f"{title}.m4a" for title in TITLES.draw_many(rng, SONGS)]
        return {
            "playlist_name": f"{playlist_names(rng, 1)[0]} {rng.randint(1, 99)}", "files": names[: rng.randint(2, 4)],
            "seconds": {name: rng.randint(SHORTEST, LONGEST) for name in sorted(names)},
            "artists": FIRST_NAMES.draw_many(rng, 3),
        }  # fmt: skip

    @property
    def goal(self) -> str:
        """The template with the titles of the songs."""
        return self.template.format(songs=", ".join(self.titles), **self.params)

    @property
    def titles(self) -> list[str]:
        """The titles of the songs that the goal names, in order."""
        return [name.partition(".")[0] for name in self.params["files"]]

    def setup(self, device: Device) -> None:
        """Writes the songs."""
        artists = self.params["artists"]
        for number, (name, seconds) in enumerate(self.params["seconds"].items()):
            song = mp4.silence(seconds, title=name.partition(".")[0], artist=artists[number % len(artists)])
            device.write(f"{MUSIC}/{name}", song)

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns the songs in the opposite order."""
        return {**self.params, "files": self.params["files"][::-1]}


def playlists(device: Device) -> list[tuple[str, list[str], int]]:
    """Returns name, titles in order and length in milliseconds of every playlist, by name."""
    with device.database(PLAYLISTS) as db:
        lists = db.execute("SELECT playlist_id, playlist_name FROM PlaylistEntity ORDER BY playlist_name").fetchall()
        songs = "SELECT title, duration FROM SongEntity WHERE playlist_creator_id = ? ORDER BY song_key"
        found = [(name, db.execute(songs, (id,)).fetchall()) for id, name in lists]
    return [(name, [title for title, _ in rows], sum(millis for _, millis in rows)) for name, rows in found]


class RetroCreatePlaylist(MusicTask):
    """Some songs in a new playlist, in order."""

    template = "Create a playlist in Retro Music called {playlist_name} with these songs, in this order: {songs}."
    difficulty = "medium"
    budget = 34

    def evaluate(self, device: Device, answer: str | None) -> float:
        """Checks that the playlist is the only one and holds the songs in order."""
        found = [(name, titles) for name, titles, _ in playlists(device)]
        return float(found == [(self.params["playlist_name"], self.titles)])


class RetroPlayingQueue(MusicTask):
    """Some songs in the playing queue, in order, and no others."""

    template = "Add these songs to the playing queue of Retro Music, in this order: {songs}."
    difficulty = "medium"
    budget = 28

    def evaluate(self, device: Device, answer: str | None) -> float:
        """Compares the titles in the queue."""
        if device.read(QUEUE) is None:  # the app makes it when it is opened
            return 0.0
        with device.database(QUEUE) as db:
            titles = [title for (title,) in db.execute("SELECT title FROM playing_queue ORDER BY rowid")]
        return float(titles == self.titles)


class RetroSavePlaylist(RetroCreatePlaylist):
    """A new playlist, also as a file."""

    template = (
        "Create a playlist in Retro Music called {playlist_name} with these songs, in this order: {songs}. Then save "
        "the playlist as a file in Downloads."
    )
    difficulty = "hard"
    budget = 46

    def evaluate(self, device: Device, answer: str | None) -> float:
        """Also compares the names in the file."""
        data = device.read(f"{DOWNLOAD}/{self.params['playlist_name']}.m3u") or b""
        lines = data.decode("utf-8", "replace").splitlines()
        named = [line.rpartition("/")[2] for line in lines if line and not line.startswith("#")]
        return super().evaluate(device, answer) * float(named == self.params["files"])


class RetroPlaylistDuration(MusicTask):
    """A new playlist of any songs that together last between two times."""

    template = (
        "Create a playlist in Retro Music called {playlist_name} that lasts between {low} and {high} minutes. Choose "
        "among the songs on the phone."
    )
    difficulty = "hard"
    budget = 60

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws the least length, too."""
        low = rng.choice((20, 25, 30, 35))
        return {**super().sample(rng), "low": low, "high": low + 5}

    def evaluate(self, device: Device, answer: str | None) -> float:
        """Checks that the playlist is the only one and lasts long enough, not too long."""
        found, low, high = playlists(device), 60_000 * self.params["low"], 60_000 * self.params["high"]
        named = [name for name, _, _ in found] == [self.params["playlist_name"]]
        return float(named and low <= found[0][2] <= high)

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns ten minutes less."""
        return {**self.params, "low": self.params["low"] - 10, "high": self.params["high"] - 10}


TASKS: tuple[type[Task], ...] = (RetroCreatePlaylist, RetroPlayingQueue, RetroSavePlaylist, RetroPlaylistDuration)
