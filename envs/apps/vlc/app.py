"""VLC shows the films of the phone, a player, and playlists."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from coach_gym.envs.apps.vlc.data import Library, file_name, is_film
from coach_gym.envs.apps.vlc.player import LibraryScreen, Player
from coach_gym.envs.apps.vlc.playlists import AddToPlaylist, Playlist
from coach_gym.envs.phone.app import App, Confirm, Menu, Screen
from coach_gym.envs.phone.folders import SHARED, entries, size_text
from coach_gym.envs.phone.intents import VIEW, Intent
from coach_gym.envs.phone.media import mp4, pictures
from coach_gym.envs.phone.media.duration import clock_text
from coach_gym.envs.phone.paths import real
from coach_gym.envs.phone.screens.pages import SelectionPage
from coach_gym.envs.phone.toolkit import theme
from coach_gym.envs.phone.toolkit.view import TextInput, View
from coach_gym.envs.phone.toolkit.widgets import (
    BottomNavigation,
    Empty,
    Icon,
    IconButton,
    ListItem,
    ListView,
    Picture,
    Scaffold,
    TextField,
)

VIDEOS = f"{SHARED}/VLCVideos"
MEMORY = "Internal memory"
SECTIONS = (("filmstrip", "Video"), ("folder_outline", "Browse"), ("playlist_play", "Playlists"))
ORANGE = "#ff8800"


class Vlc(App):
    """The film player and its media library."""

    package = "org.videolan.vlc"
    activity = "org.videolan.vlc.gui.MainActivity"
    label = "VLC"
    icon = "traffic_cone"
    color = ORANGE

    def install(self) -> None:
        """Makes the folder of films and the media library."""
        self.phone.storage.mkdir(VIDEOS)
        _ = Library(self.phone.storage).db

    def main(self) -> Screen:
        """Opens the list of films."""
        return Main()

    def open(self, intent: Intent) -> bool:
        """Plays the film of a `file:` link."""
        path = real(intent.path)
        if intent.action != VIEW or not is_film(path):
            return False
        self.phone.open_screen(self.package, Player([path], self.phone.now))
        return True


class Main(SelectionPage[str], LibraryScreen):
    """All films, the folders, or the playlists; films can be selected by their paths."""

    def __init__(self) -> None:
        super().__init__()
        self.section = "Video"
        self.folder = ""  # the folder being browsed; empty: the list of storages
        self.query: TextInput | None = None

    def build(self) -> View:
        """Shows the section, and buttons while films are selected."""
        bottom = BottomNavigation(SECTIONS, self.section, self._go)
        body = {"Video": self._films, "Browse": self._browsed, "Playlists": self._playlists}[self.section]()
        if self.selected:
            return self.selecting(body, self._selection_actions())
        if self.query is not None:
            return Scaffold(TextField(self.query, "Search in current list"), body, self._end_search, bottom=bottom)
        title = file_name(self.folder) if self.section == "Browse" and self.folder not in ("", SHARED) else Vlc.label
        inside = self.section == "Browse" and self.folder
        actions = [IconButton("magnify", "Search", self._search, "ml_menu_filter")] if self.section == "Video" else []
        return Scaffold(title, body, self._up if inside else None, actions, bottom=bottom)

    def _go(self, section: str) -> None:
        self.section, self.folder, self.query = section, "", None

    def on_back(self) -> bool:
        """Ends the selection or the search, or goes to the folder above."""
        if super().on_back():
            return True
        if self.query is not None:
            self._end_search()
        elif self.folder:
            self._up()
        else:
            return False
        return True

    def _up(self) -> None:
        self.folder = "" if self.folder == SHARED else self.folder.rpartition("/")[0]

    def _search(self) -> None:
        self.query = TextInput()
        self.focus(self.query)

    def _end_search(self) -> None:
        self.query = None

    # lists

    def _films(self) -> View:
        words = self.query.text.strip().casefold() if self.query else ""
        rows = [self._film(path) for path in self.library.films() if words in file_name(path).casefold()]
        return ListView(rows, key="films") if rows else Empty("No media found", "movie_open_outline")

    def _film(self, path: str) -> View:
        more = IconButton("dots_vertical", f"Options of {file_name(path)}", lambda: self._menu(path))
        length = clock_text(seconds) if (seconds := self.library.seconds(path)) else ""
        return ListItem(
            file_name(path), length, lambda: self._tap(path), lambda: self.toggle(path), self._thumbnail(path), more,
            selected=path in self.selected,
        )  # fmt: skip

    def _thumbnail(self, path: str) -> View:
        first = mp4.slide_at(self.phone.storage.read(path) or b"", 0)
        shown = None if first is None else pictures.thumbnail(first, round(48 * self.phone.density))
        if shown is None:
            return Icon("movie_outline", 48, theme.OUTLINE)
        return Picture(shown, height=48, width=48, important=False)

    def _browsed(self) -> View:
        if not self.folder:
            return ListView([ListItem(MEMORY, "", lambda: self._enter(SHARED), leading=Icon("cellphone"))])
        rows = [
            ListItem(entry.name, "", partial(self._enter, entry.path), leading=Icon("folder", 40))
            if entry.folder
            else self._film(entry.path)
            for entry in entries(self.phone.storage, self.folder)
            if entry.folder or is_film(entry.path)
        ]
        return ListView(rows, key=self.folder) if rows else Empty("Directory is empty", "folder_open_outline")

    def _enter(self, folder: str) -> None:
        self.folder = folder

    def _playlists(self) -> View:
        rows = [self._playlist(*playlist) for playlist in self.library.playlists()]
        return ListView(rows, key="playlists") if rows else Empty("No playlist", "playlist_music")

    def _playlist(self, id: int, name: str, count: int) -> View:
        tracks = f"{count} track" if count == 1 else f"{count} tracks"
        return ListItem(name, tracks, lambda: self.push(Playlist(id)), leading=Icon("playlist_play", 40))

    # films

    def _tap(self, path: str) -> None:
        if self.selected:
            self.toggle(path)
        else:
            self._play([path])

    def _selection_actions(self) -> list[View]:
        return [
            IconButton("play", "Play", self._play_selected, "action_mode_video_play"),
            IconButton("playlist_plus", "Add to playlist", self._add_selected, "action_mode_video_add_playlist"),
            IconButton("delete_outline", "Delete", self._confirm_delete, "action_mode_video_delete"),
        ]

    def _play(self, paths: Sequence[str]) -> None:
        self.push(Player(paths, self.now))

    def _play_selected(self) -> None:
        self._play(self.selected)
        self.unselect()

    def _add_selected(self) -> None:
        self.push(AddToPlaylist(self.selected, self.unselect))

    def _confirm_delete(self) -> None:
        names = "\n".join(map(file_name, self.selected))
        self.push(Confirm("Delete?", names, "Delete", self._delete_selected))

    def _delete_selected(self) -> None:
        for path in self.selected:
            self.phone.storage.remove(path)
        self.unselect()

    def _menu(self, path: str) -> None:
        self.push(Menu([
            ("Play", lambda: self._play([path])),
            ("Add to playlist", lambda: self.push(AddToPlaylist([path], self.unselect))),
            ("Information", lambda: self._inform(path)),
        ], "bottom"))  # fmt: skip

    def _inform(self, path: str) -> None:
        length, size = clock_text(self.library.seconds(path)), size_text(self.phone.storage.size(path))
        facts = f"{path.rpartition('/')[0]}\n{length}, {size}"
        self.push(Confirm(file_name(path), facts, "OK", lambda: None, "Close"))


APP = Vlc
