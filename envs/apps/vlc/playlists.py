"""VLC's playlists: the films in one, and the question which one to add films to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from coach_gym.envs.apps.vlc.data import file_name
from coach_gym.envs.apps.vlc.player import LibraryScreen, Player
from coach_gym.envs.phone.app import Confirm, Dialog, Menu
from coach_gym.envs.phone.media.duration import clock_text
from coach_gym.envs.phone.toolkit.view import TextInput, View
from coach_gym.envs.phone.toolkit.widgets import (
    Column,
    IconButton,
    ListItem,
    ListView,
    Scaffold,
    Text,
    TextField,
)


class AddToPlaylist(Dialog, LibraryScreen):
    """Asks for the playlist to add films to: a new one by its name, or one that exists."""

    placement = "bottom"

    def __init__(self, paths: Sequence[str], then: Callable[[], None]) -> None:
        super().__init__("Add to playlist")
        self.paths, self.then, self.name = list(paths), then, TextInput()

    def content(self) -> Sequence[View]:
        """Shows a field for a new name above the playlists."""
        there = self.library.playlists()
        rows = [ListItem(name, "", partial(self._add, id), min_height=44) for id, name, _ in there]
        field = TextField(self.name, "Enter playlist name", "dialog_playlist_name", self._save)
        parts = [Column([field], pad=(20, 4, 20, 8))]
        return [*parts, Column([ListView(rows)], height=min(44 * len(rows), 220))] if rows else parts

    def buttons(self) -> Sequence[View]:
        """Offers to cancel or to make the playlist."""
        return [self.button("Cancel"), self.button("Save", self._created)]

    def _save(self) -> None:
        self.pop()
        self._created()

    def _created(self) -> None:
        name = self.name.text.strip()
        if name:
            self._added(self.library.create(name))

    def _add(self, playlist: int) -> None:
        self.pop()
        self._added(playlist)

    def _added(self, playlist: int) -> None:
        self.library.add(playlist, self.paths)
        self.notify(f"{len(self.paths)} added to playlist")
        self.then()


class Playlist(LibraryScreen):
    """The films of one playlist in their order."""

    def __init__(self, id: int) -> None:
        super().__init__()
        self.id = id

    def build(self) -> View:
        """Shows the films in order."""
        rows = [self._row(position, path) for position, path in self.library.content(self.id)]
        actions = [
            IconButton("play", "Play all", self._play, "play_btn"),
            IconButton("dots_vertical", "More options", self._more),
        ]
        return Scaffold(self.library.name(self.id), ListView(rows), self.pop, actions)

    def _row(self, position: int, path: str) -> View:
        remove = IconButton("close", f"Remove {file_name(path)}", partial(self.library.remove, self.id, position))
        length = clock_text(self.library.seconds(path))
        number = Text(str(position + 1), important=False)
        return ListItem(file_name(path), length, lambda: self._play(position), leading=number, trailing=remove)

    def _play(self, position: int = 0) -> None:
        paths = [path for _, path in self.library.content(self.id)]
        if paths:
            self.push(Player(paths, self.now, position))

    def _more(self) -> None:
        name = self.library.name(self.id)
        self.push(Menu([
            ("Rename", lambda: self.ask("Rename", self._rename, name, "Playlist name")),
            ("Delete", lambda: self.push(Confirm(f"Delete playlist {name}?", "", "Delete", self._delete))),
        ]))  # fmt: skip

    def _rename(self, name: str) -> None:
        if name.strip():
            self.library.rename(self.id, name.strip())

    def _delete(self) -> None:
        self.library.delete(self.id)
        self.pop()
