"""Families of Pi Music Player."""

from __future__ import annotations

import random
from datetime import timedelta
from typing import Any

from coach_gym.envs.apps.pimusic.data import DATABASE, MUSIC, clock
from coach_gym.envs.devices.device import Device
from coach_gym.envs.phone.caching import cached
from coach_gym.envs.phone.epoch import to_millis
from coach_gym.envs.phone.media.mp4 import silence
from coach_gym.envs.tasks import words
from coach_gym.envs.tasks.answers import plain
from coach_gym.envs.tasks.records import another
from coach_gym.envs.tasks.task import Task
from coach_gym.envs.tasks.words import ParamRng

Entry = list  # [title, artist, album, seconds]: JSON
CLOSE = 3  # seconds that a touch on the slider may be off


def songs(rng: ParamRng, count: int) -> list[Entry]:
    """Returns songs by two to four artists; titles and albums share no word."""
    names = [name.replace("_", " ").title() for name in words.slugs(rng, count + 4)]
    artists = words.full_names(rng, rng.randint(2, 4))
    albums = [(name, rng.choice(artists)) for name in names[:4]]
    drawn = []
    for title in names[4:]:
        album, artist = rng.choice(albums)
        drawn.append([title, artist, album, rng.randint(150, 290)])
    return drawn


@cached(8)
def _file(title: str, artist: str, seconds: int) -> bytes:
    return silence(seconds, title=title, artist=artist)


def path_of(entry: Entry) -> str:
    """Returns the path of a song."""
    title, _, album, _ = entry
    return f"{MUSIC}/{album}/{title}.m4a"


class MusicTask(Task):
    """A task on the songs in `params["songs"]` and the empty playlists in `params["playlists"]`."""

    apps = ("Pi Music Player",)

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws four to nine songs and picks one."""
        drawn = songs(rng, rng.randint(4, 9))
        return {"title": rng.choice(drawn)[0], "songs": drawn, "playlists": [], "playing": None}

    def setup(self, device: Device) -> None:
        """Writes the songs, the last one first, and stores playlists and player."""
        for days, entry in enumerate(self.params["songs"]):
            title, artist, _, seconds = entry
            device.write(path_of(entry), _file(title, artist, seconds), device.now - timedelta(days=days + 1))
        with device.database(DATABASE) as db:
            db.executemany("INSERT INTO playlists(name) VALUES (?)", [(name,) for name in self.params["playlists"]])
            if self.params["playing"] is not None:
                db.execute("INSERT INTO queue VALUES (0, ?)", (path_of(self.song(self.params["playing"])),))
                db.execute("INSERT INTO player VALUES (0, 0, ?)", (to_millis(device.now),))

    def song(self, title: str) -> Entry:
        """Returns the song of that title."""
        return next(entry for entry in self.params["songs"] if entry[0] == title)

    def playlists(self, device: Device) -> dict[str, list[str]]:
        """Returns the paths in every playlist, by the playlist's name."""
        with device.database(DATABASE) as db:
            content: dict[str, list[str]] = {name: [] for (name,) in db.execute("SELECT name FROM playlists")}
            for name, path in db.execute(
                "SELECT name, path FROM entries JOIN playlists ON playlists.id = playlist ORDER BY entries.id"
            ):
                content[name].append(path)
        return content

    def player(self, device: Device) -> tuple[str, float, bool] | None:
        """Returns the path of the song, the second at which it was last started or paused, and whether it runs."""
        with device.database(DATABASE) as db:
            row = db.execute("SELECT path, seconds, since FROM player JOIN queue USING (place)").fetchone()
        return None if row is None else (row[0], row[1], row[2] is not None)

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns another song."""
        return another(rng, self.params, "title", [entry[0] for entry in self.params["songs"]])


class PiMusicCreatePlaylist(MusicTask):
    """An empty playlist."""

    template = "Create a playlist called {name} in Pi Music Player."
    budget = 14

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws the name of the playlist and that of another."""
        first, second = words.slugs(rng, 2)
        return {**super().sample(rng), "name": first.replace("_", " "), "playlists": [second.replace("_", " ")]}

    def evaluate(self, device: Device, answer: str | None) -> float:
        """Compares the names of all playlists, which must be empty."""
        names = [*self.params["playlists"], self.params["name"]]
        return float(self.playlists(device) == {name: [] for name in names})

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns the first word of the name."""
        return {**self.params, "name": self.params["name"].split()[0]}


class PiMusicAddToPlaylist(MusicTask):
    """One song in one of the playlists."""

    template = "In Pi Music Player, add the song {title} to the playlist {playlist}."
    difficulty = "medium"
    budget = 18

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws two or three playlists and picks one."""
        names = words.ADJECTIVES.draw_many(rng, rng.randint(2, 3))
        return {**super().sample(rng), "playlists": names, "playlist": rng.choice(names)}

    def evaluate(self, device: Device, answer: str | None) -> float:
        """Compares the songs of all playlists."""
        expected: dict[str, list[str]] = {name: [] for name in self.params["playlists"]}
        expected[self.params["playlist"]].append(path_of(self.song(self.params["title"])))
        return float(self.playlists(device) == expected)

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns another song or another playlist."""
        if rng.random() < 0.5:
            return super().near_miss(rng)
        return another(rng, self.params, "playlist", self.params["playlists"])


class PiMusicPlaySong(MusicTask):
    """The player plays one of the songs."""

    template = "Play the song {title} in Pi Music Player."
    budget = 10

    def evaluate(self, device: Device, answer: str | None) -> float:
        """Checks that the player runs with the song."""
        player = self.player(device)
        return float(player is not None and player[0] == path_of(self.song(self.params["title"])) and player[2])


class PiMusicPauseAt(MusicTask):
    """The player is paused at a time of the song."""

    template = "In Pi Music Player, pause the song that is being played and move it to {time}."
    difficulty = "medium"
    budget = 14

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws a time of the song that is being played."""
        params = super().sample(rng)
        return {**params, "playing": params["title"], "time": clock(rng.randint(50, 140))}

    def evaluate(self, device: Device, answer: str | None) -> float:
        """Checks that the player rests within three seconds of the time."""
        player, wanted = self.player(device), _seconds(self.params["time"])
        path = path_of(self.song(self.params["playing"]))
        rests = player is not None and player[0] == path and not player[2]
        return float(rests and player is not None and abs(player[1] - wanted) <= CLOSE)

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns a time 10 to 25 seconds earlier."""
        return {**self.params, "time": clock(_seconds(self.params["time"]) - rng.randint(10, 25))}


def _seconds(time: str) -> int:
    minutes, seconds = time.split(":")
    return 60 * int(minutes) + int(seconds)


class PiMusicCountByArtist(MusicTask):
    """The number of songs by an artist."""

    template = "How many songs by {artist} are there in Pi Music Player?"
    kind = "query"
    budget = 10

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws two artists with different numbers of songs."""
        params = super().sample(rng)
        here, there = words.full_names(rng, 2)
        counts = rng.sample(range(1, 6), 2)
        names = [name.replace("_", " ").title() for name in words.slugs(rng, sum(counts) + 2)]
        artists = [here] * counts[0] + [there] * counts[1]
        albums = {here: names[0], there: names[1]}
        drawn = [
            [title, artist, albums[artist], rng.randint(150, 290)]
            for title, artist in zip(names[2:], artists, strict=True)
        ]
        return {**params, "title": drawn[0][0], "songs": drawn, "artist": here, "other": there}

    def evaluate(self, device: Device, answer: str | None) -> float:
        """Compares the number."""
        count = sum(artist == self.params["artist"] for _, artist, *_ in self.params["songs"])
        given = plain(answer or "").removesuffix(" songs").removesuffix(" song")
        return float(given == str(count))

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns the other artist."""
        return {**self.params, "artist": self.params["other"]}


class PiMusicAlbumOf(MusicTask):
    """The album that a song is on."""

    template = "Which album is the song {title} on, according to Pi Music Player?"
    kind = "query"
    budget = 12

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws two songs of different albums."""
        params = super().sample(rng)
        first, second = params["songs"][:2]
        if first[2] == second[2]:  # songs of the same album would be no near miss
            second[2] = words.slug(rng).replace("_", " ").title() + " Live"
        return {**params, "title": first[0], "other": second[0]}

    def evaluate(self, device: Device, answer: str | None) -> float:
        """Compares the answer with the album."""
        return float(plain(answer or "") == plain(self.song(self.params["title"])[2]))

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns the other song."""
        return {**self.params, "title": self.params["other"]}


TASKS: tuple[type[Task], ...] = (
    PiMusicAddToPlaylist,
    PiMusicAlbumOf,
    PiMusicCountByArtist,
    PiMusicCreatePlaylist,
    PiMusicPauseAt,
    PiMusicPlaySong,
)
