"""The music that AndroidLab's Pi Music Player tasks ask about: twelve songs, a playlist, and one being played."""

from __future__ import annotations

from datetime import timedelta
from functools import lru_cache

from coach_gym.envs.apps.pimusic.data import MUSIC, Music
from coach_gym.envs.phone.media.mp4 import silence
from coach_gym.envs.phone.phone import Phone

SONGS = [  # title, artist, album, seconds
    ("Wish You Were Here", "Pink Floyd", "Pulse Live", 395),
    ("PINK BLOOD", "Hikaru Utada", "BAD MODE", 202),
    ("King Of Karaoke", "Eason Chan", "Nothing Really Matters", 218),
    ("Lightship", "Sonny Boy", "Sonny Boy Soundtrack", 212),
    ("The Wall", "Pink Floyd", "The Wall", 4863),
    ("Exaggerated", "Eason Chan", "U87", 282),
    ("Comfortably Numb", "Pink Floyd", "The Wall", 382),
    ("Future sounds", "Sonny Boy", "Sonny Boy Soundtrack", 245),
    ("Time Will Tell", "Hikaru Utada", "First Love", 327),
    ("Lonely Christmas", "Eason Chan", "Some Like It Hot", 210),
    ("Dark Side Of The Moon", "Pink Floyd", "Dark Side Of The Moon", 2577),
    ("Soft Oversight", "Sonny Boy", "Sonny Boy Soundtrack", 231),
]  # fmt: skip
FAVORITES = ("PINK BLOOD", "Wish You Were Here", "Soft Oversight")
PLAYED = "Future sounds"


@lru_cache(maxsize=len(SONGS))
def _file(title: str, artist: str, seconds: int) -> bytes:
    return silence(seconds, title=title, artist=artist)


def prepare(phone: Phone) -> None:
    """Copies the songs onto the phone, makes the playlist, and starts to play."""
    for days, (title, artist, album, seconds) in enumerate(SONGS):
        path = f"{MUSIC}/{album}/{title}.m4a"
        phone.storage.write(path, _file(title, artist, seconds), phone.now - timedelta(days=days + 1))
    music = Music(phone.storage)
    songs = {song.title: song for song in music.songs()}
    playlist = music.create("Favorite") or 0
    for title in FAVORITES:
        music.add(playlist, songs[title])
    music.set_order("tracks", "Date added", True)
    queue = music.sorted(list(songs.values()), "tracks")
    music.play(queue, [song.title for song in queue].index(PLAYED), phone.now)
