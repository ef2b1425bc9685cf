"""VLC shows the films of the phone, a player, and playlists."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial

from coach_gym.envs.apps.vlc.data import Library, file_name, is_film
from coach_gym.envs.phone.app import App, Confirm, Dialog, Menu, Screen
from coach_gym.envs.phone.folders import SHARED, entries, size_text
from coach_gym.envs.phone.intents import VIEW, Intent
from coach_gym.envs.phone.media import film, mp4, pictures
from coach_gym.envs.phone.media.duration import clock_text
from coach_gym.envs.phone.pages import SelectionPage
from coach_gym.envs.phone.paths import real
from coach_gym.envs.phone.toolkit import theme
from coach_gym.envs.phone.toolkit.view import TextInput, View
from coach_gym.envs.phone.toolkit.widgets import (
    BottomNavigation,
    Column,
    Empty,
    Icon,
    IconButton,
    ListItem,
    ListView,
    Picture,
    Row,
    Scaffold,
    Slider,
    Text,
    TextField,
)

VIDEOS = f"{SHARED}/VLCVideos"
MEMORY = "Internal memory"
SECTIONS = (("filmstrip", "Video"), ("folder_outline", "Browse"), ("playlist_play", "Playlists"))
SKIP = 10  # seconds
BLACK, ORANGE = "#101010", "#ff8800"


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
        _ = self.library.db

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

    @property
    def library(self) -> Library:
        """The phone's films and playlists."""
        return Library(self.phone.storage)

    def seconds(self, path: str) -> float:
        """Returns the length of a film; 0 if it is not known."""
        return mp4.duration(self.phone.storage.read(path) or b"") or 0.0


class Main(SelectionPage[str]):
    """All films, the folders, or the playlists; films can be selected by their paths."""

    app: Vlc

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
        rows = [self._film(path) for path in self.app.library.films() if words in file_name(path).casefold()]
        return ListView(rows, key="films") if rows else Empty("No media found", "movie_open_outline")

    def _film(self, path: str) -> View:
        more = IconButton("dots_vertical", f"Options of {file_name(path)}", lambda: self._menu(path))
        length = clock_text(seconds) if (seconds := self.app.seconds(path)) else ""
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
        rows = [self._playlist(*playlist) for playlist in self.app.library.playlists()]
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
        length, size = clock_text(self.app.seconds(path)), size_text(self.phone.storage.size(path))
        facts = f"{path.rpartition('/')[0]}\n{length}, {size}"
        self.push(Confirm(file_name(path), facts, "OK", lambda: None, "Close"))


class AddToPlaylist(Dialog):
    """Asks for the playlist to add films to: a new one by its name, or one that exists."""

    app: Vlc
    placement = "bottom"

    def __init__(self, paths: Sequence[str], then: Callable[[], None]) -> None:
        super().__init__("Add to playlist")
        self.paths, self.then, self.name = list(paths), then, TextInput()

    def content(self) -> Sequence[View]:
        """Shows a field for a new name above the playlists."""
        there = self.app.library.playlists()
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
            self._added(self.app.library.create(name))

    def _add(self, playlist: int) -> None:
        self.pop()
        self._added(playlist)

    def _added(self, playlist: int) -> None:
        self.app.library.add(playlist, self.paths)
        self.notify(f"{len(self.paths)} added to playlist")
        self.then()


class Playlist(Screen):
    """The films of one playlist in their order."""

    app: Vlc

    def __init__(self, id: int) -> None:
        super().__init__()
        self.id = id

    def build(self) -> View:
        """Shows the films in order."""
        rows = [self._row(position, path) for position, path in self.app.library.content(self.id)]
        actions = [
            IconButton("play", "Play all", self._play, "play_btn"),
            IconButton("dots_vertical", "More options", self._more),
        ]
        return Scaffold(self.app.library.name(self.id), ListView(rows), self.pop, actions)

    def _row(self, position: int, path: str) -> View:
        remove = IconButton("close", f"Remove {file_name(path)}", partial(self.app.library.remove, self.id, position))
        length = clock_text(self.app.seconds(path))
        number = Text(str(position + 1), important=False)
        return ListItem(file_name(path), length, lambda: self._play(position), leading=number, trailing=remove)

    def _play(self, position: int = 0) -> None:
        paths = [path for _, path in self.app.library.content(self.id)]
        if paths:
            self.push(Player(paths, self.now, position))

    def _more(self) -> None:
        name = self.app.library.name(self.id)
        self.push(Menu([
            ("Rename", lambda: self.ask("Rename", self._rename, name, "Playlist name")),
            ("Delete", lambda: self.push(Confirm(f"Delete playlist {name}?", "", "Delete", self._delete))),
        ]))  # fmt: skip

    def _rename(self, name: str) -> None:
        if name.strip():
            self.app.library.rename(self.id, name.strip())

    def _delete(self) -> None:
        self.app.library.delete(self.id)
        self.pop()


class Player(Screen):
    """Plays films one after the other as the phone's clock runs, and stops at the end of the last."""

    app: Vlc

    def __init__(self, paths: Sequence[str], now: datetime, index: int = 0) -> None:
        super().__init__()
        self.paths, self.index = list(paths), index
        self.place = 0.0  # seconds into the film when it was last started or stopped
        self.since: datetime | None = now  # when it was started; None: stopped

    def build(self) -> View:
        """Shows the picture of the moment above the controls."""
        self._follow_clock()
        length = self.app.seconds(self.path)
        bar = Slider(self.place_now / length if length else 0.0, self._seek, "Seek", "player_overlay_seekbar")
        times = Row([
            Text(clock_text(int(self.place_now)), 13, "#ffffff", id="player_overlay_time"),
            Column([bar], flex=1), Text(clock_text(length), 13, "#ffffff", id="player_overlay_length"),
        ], gap=12, pad=(16, 4, 16, 0))  # fmt: skip
        return Scaffold(
            Text(file_name(self.path), 15, max_lines=2, id="player_overlay_title"), self._picture(), self.pop,
            bottom=Column([times, self._buttons()], bg=BLACK),
        )  # fmt: skip

    def _picture(self) -> View:
        data = self.phone.storage.read(self.path) or b""
        shown = film.frame(data, self.place_now, self.phone.width, self.phone.height)
        if shown is None:
            sign = Text("This film can't be decoded on this phone", 14, "#bdbdbd", align="center")
            return Column([Icon("filmstrip_off", 48, "#757575"), sign], bg=BLACK, justify="center", gap=12)
        return Picture(shown, "Video player", whole=True, bg=BLACK, id="player_surface")

    def _buttons(self) -> View:
        play = ("pause", "Pause", self._pause) if self.since else ("play", "Play", self._resume)
        buttons: list[tuple[str, str, Callable[[], None]]] = [
            ("rewind_10", "Rewind 10 seconds", lambda: self._skip(-SKIP)),
            ("skip_previous", "Previous", lambda: self._turn(-1)),
            play,
            ("skip_next", "Next", lambda: self._turn(1)),
            ("fast_forward_10", "Forward 10 seconds", lambda: self._skip(SKIP)),
        ]
        row = [IconButton(icon, label, then, color="#ffffff") for icon, label, then in buttons]
        return Row(row, gap=14, justify="center", pad=(0, 0, 0, 8))

    @property
    def path(self) -> str:
        """The path of the film that is being played."""
        return self.paths[self.index]

    @property
    def place_now(self) -> float:
        """Seconds into the film; the phone's clock may have been set back."""
        return self.place + (max(0.0, (self.now - self.since).total_seconds()) if self.since else 0.0)

    def _follow_clock(self) -> None:
        """Goes on to the next film when one has ended."""
        while self.since and self.place_now >= (length := self.app.seconds(self.path)):
            rest = self.place_now - length
            if self.index + 1 == len(self.paths):
                self.place, self.since = length, None
            else:
                self.index, self.place, self.since = self.index + 1, rest, self.now

    def _pause(self) -> None:
        self.place, self.since = self.place_now, None

    def _resume(self) -> None:
        if self.place >= self.app.seconds(self.path):
            self.place = 0.0
        self.since = self.now

    def _seek(self, share: float) -> None:
        self.place = share * self.app.seconds(self.path)
        self.since = self.now if self.since else None

    def _skip(self, seconds: float) -> None:
        self.place = min(max(0.0, self.place_now + seconds), self.app.seconds(self.path))
        self.since = self.now if self.since else None

    def _turn(self, films: int) -> None:
        self.index = min(max(0, self.index + films), len(self.paths) - 1)
        self.place, self.since = 0.0, self.now


APP = Vlc
