"""What Retro Music offers to do with songs and playlists, and the dialogs that this takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from coach_gym.envs.apps.retro.data import Music, Song
from coach_gym.envs.phone.app import Choice, Confirm, Dialog, Prompt, Screen
from coach_gym.envs.phone.folders import size_text
from coach_gym.envs.phone.media.duration import clock_text
from coach_gym.envs.phone.screens.documents import SaveDocument
from coach_gym.envs.phone.toolkit.view import View
from coach_gym.envs.phone.toolkit.widgets import Action, Column, Text, TextField

NEW = "New playlist"
Items = list[tuple[str, Callable[[], Any]]]
"""Labels of a menu, and what is called when one is chosen."""


def length_text(millis: int) -> str:
    """Returns a duration, such as `03:20`."""
    return clock_text(millis / 1000)


def _music(screen: Screen) -> Music:
    return Music(screen.phone.storage)


# songs


def to_queue(screen: Screen, add: Callable[[Sequence[Song]], None], songs: Sequence[Song]) -> None:
    """Puts songs into the queue by a method of `Music`, and says so."""
    add(songs)
    title = "1 title" if len(songs) == 1 else f"{len(songs)} titles"
    screen.notify(f"Added {title} to the playing queue")


def ask_to_delete(screen: Screen, songs: Sequence[Song]) -> None:
    """Asks whether the files of songs are deleted."""

    def delete() -> None:
        for song in songs:
            screen.phone.storage.remove(song.path)

    several = len(songs) > 1
    question = f"Delete {len(songs)} songs?" if several else f"Delete the song {songs[0].title}?"
    screen.push(Confirm("Delete songs" if several else "Delete song", question, "Delete", delete))


class Details(Dialog):
    """What is known about a song and its file, which may be gone: playlists and the queue keep their songs."""

    def __init__(self, song: Song) -> None:
        super().__init__("Details")
        self.song = song

    def content(self) -> Sequence[View]:
        """Returns a line for every fact."""
        facts = {"fileName": f"File name: {self.song.title}", "trackLength": f"Length: {length_text(self.song.millis)}"}
        if self.phone.storage.exists(self.song.path):
            facts = {**self._file(), "trackLength": facts["trackLength"]}
        return [Column([Text(text, 14, id=id) for id, text in facts.items()], gap=8, pad=(20, 4, 20, 4))]

    def _file(self) -> dict[str, str]:
        storage, path = self.phone.storage, self.song.path
        return {
            "fileName": f"File name: {path.rpartition('/')[2]}",
            "filePath": f"File path: {path}",
            "dateModified": f"Last Modified: {storage.modified(path):%d %b %Y %H:%M}",
            "fileSize": f"Size: {size_text(storage.size(path))}",
            "fileFormat": f"Format: {path.rpartition('.')[2].upper()}",
        }

    def buttons(self) -> Sequence[View]:
        """Returns the button that closes it."""
        return [self.button("OK")]


# playlists


class NameDialog(Prompt):
    """A question for the name of a playlist."""

    def content(self) -> Sequence[View]:
        """Returns the text field."""
        field = TextField(self.input, "Playlist name", "actionNewPlaylist", self.closing(self.finish))
        return [Column([field], pad=(20, 4, 20, 8))]


def _ask_name(screen: Screen, title: str, then: Callable[[str], Any], yes: str, name: str = "") -> None:
    dialog = NameDialog(title, then, name, yes=yes)
    dialog.input.select_all()
    screen.push(dialog)
    screen.focus(dialog.input)


def ask_playlist(screen: Screen, songs: Sequence[Song]) -> None:
    """Asks which playlist songs are added to."""
    names = [name for _, name, _, _ in _music(screen).playlists()]
    screen.push(Choice("Add to playlist", [NEW, *names], partial(_chosen, screen, list(songs))))


def _chosen(screen: Screen, songs: Sequence[Song], name: str) -> None:
    if name == NEW:
        ask_new_playlist(screen, songs)
    else:
        _add(screen, songs, name)


def ask_new_playlist(screen: Screen, songs: Sequence[Song] = ()) -> None:
    """Asks for the name of a new playlist for songs."""
    _ask_name(screen, NEW, partial(_add, screen, list(songs)), "Create")


def _add(screen: Screen, songs: Sequence[Song], name: str) -> None:
    """Adds songs to the playlist of a name, which is made if there is none; without a name nothing happens."""
    if name:
        music = _music(screen)
        known = {name: id for id, name, _, _ in reversed(music.playlists())}
        music.add(known[name] if name in known else music.create(name), songs)
        screen.notify(f"Added {len(songs)} song(s) to {name}")


def playlist_items(screen: Screen, id: int, deleted: Action = lambda: None) -> Items:
    """Returns the menu of a playlist. `deleted` is called once it is deleted."""
    music = _music(screen)
    songs, name = [song for _, song in music.content(id)], music.name(id)

    def delete() -> None:
        music.delete(id)
        deleted()

    question = Confirm("Delete playlist", f"Delete the playlist {name}?", "Delete", delete)
    return [
        ("Play", lambda: music.play(songs)),
        ("Play next", lambda: to_queue(screen, music.play_next, songs)),
        ("Add to playing queue", lambda: to_queue(screen, music.enqueue, songs)),
        ("Add to playlist", lambda: ask_playlist(screen, songs)),
        ("Rename", lambda: _ask_name(screen, "Rename playlist", partial(_rename, screen, id), "Rename", name)),
        ("Delete", lambda: screen.push(question)),
        ("Save as file", lambda: screen.push(SaveDocument(f"{name}.m3u", partial(_write, screen, id)))),
    ]


def _rename(screen: Screen, id: int, name: str) -> None:
    if name:
        _music(screen).rename(id, name)


def _write(screen: Screen, id: int, path: str) -> None:
    screen.phone.storage.write(path, _music(screen).m3u(id))
    screen.notify(f"Saved playlist to {path.rpartition('/')[2]}")


def ask_to_take_out(screen: Screen, playlist: int, songs: Sequence[Song]) -> None:
    """Asks whether songs are taken out of a playlist."""

    def take_out() -> None:
        for key, song in _music(screen).content(playlist):
            if song in songs:
                _music(screen).remove(key)

    several = len(songs) > 1
    what = f"{len(songs)} songs" if several else f"the song {songs[0].title}"
    title = f"Remove {'songs' if several else 'song'} from playlist"
    screen.push(Confirm(title, f"Remove {what} from the playlist?", "Remove", take_out))
