"""Retro Music: songs, playlists and a playing queue."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from coach_gym.envs.apps.retro.actions import (
    NEW,
    Details,
    Items,
    ask_new_playlist,
    ask_playlist,
    ask_to_delete,
    ask_to_take_out,
    length_text,
    playlist_items,
    to_queue,
)
from coach_gym.envs.apps.retro.data import PACKAGE, Music, Song
from coach_gym.envs.phone.app import App, Menu, Screen
from coach_gym.envs.phone.intents import CATEGORY
from coach_gym.envs.phone.screens.pages import SelectionPage
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
    Row,
    Scaffold,
    Text,
    TextField,
)

SECTIONS = (("music_note", "Songs"), ("account_music_outline", "Artists"), ("playlist_music", "Playlists"))


class RetroMusic(App):
    """The Retro Music app."""

    package = PACKAGE
    activity = "code.name.monkey.retromusic.activities.MainActivity"
    role = f"{CATEGORY}APP_MUSIC"
    label = "Retro Music"
    icon = "music_circle"
    color = "#c2185b"

    def install(self) -> None:
        """Makes the two databases."""
        _ = self.music.db, self.music.queue_db

    def main(self) -> Screen:
        """Opens the list of songs; missing databases are created again."""
        self.install()  # missing databases are created again
        return Main()

    @property
    def music(self) -> Music:
        """The phone's songs, playlists and queue."""
        return Music(self.phone.storage)


def count_text(count: int, millis: int) -> str:
    """Returns number and duration of songs, such as `1 Song • 03:20`."""
    return f"{count} {'Song' if count == 1 else 'Songs'} • {length_text(millis)}"


class SongList(SelectionPage[Song]):
    """A screen with songs that can be selected, played, queued and put into playlists."""

    app: RetroMusic

    def listed(self) -> list[Song]:
        """Returns the songs on the screen."""
        raise RuntimeError(f"{type(self).__name__} lists no songs")

    def row(self, song: Song, **more: Any) -> View:
        """Returns a song in the list."""
        options = IconButton("dots_vertical", f"Options of {song.title}", partial(self._menu, song), "menu")
        note = Icon("music_note", 32, theme.PRIMARY)
        more = {"leading": note, "trailing": options, **more}
        return ListItem(
            song.title, f"{song.artist} • {length_text(song.millis)}", partial(self._tap, song),
            partial(self.toggle, song), selected=song in self.selected, **more,
        )  # fmt: skip

    def selection(self, body: View) -> View:
        """Returns the screen while songs are selected."""
        return self.selecting(body, [
            IconButton("playlist_play", "Play next", lambda: self._selected_to(self.app.music.play_next)),
            IconButton("playlist_plus", "Add to playlist", self._selected_to_playlist, "action_add_to_playlist"),
            IconButton("dots_vertical", "More options", self._more_with_selection),
        ])  # fmt: skip

    def now_playing(self) -> list[View]:
        """Returns the bar with the song that is being played; nothing without one."""
        queue, position = self.app.music.queue(), self.app.music.position
        if position >= len(queue):
            return []
        song = queue[position]
        texts = Column([Text(song.title, 14, bold=True, max_lines=1), Text(song.artist, 12, max_lines=1)], flex=1)
        return [View(
            "android.widget.FrameLayout", [Icon("album", 36, theme.PRIMARY), texts, Icon("playlist_music")], axis="h",
            gap=12, align="center", pad=(16, 6, 16, 6), bg="#fde7ef", id="mini_player",
            on_tap=lambda: self.push(Queue()),
        )]  # fmt: skip

    def _tap(self, song: Song) -> None:
        if self.selected:
            self.toggle(song)
        else:
            songs = self.listed()
            self.app.music.play(songs, songs.index(song))

    # what can be done

    def _menu(self, song: Song) -> None:
        self.push(Menu(self.items(song), "bottom"))

    def items(self, song: Song) -> Items:
        """Returns the menu of a song."""
        music = self.app.music
        return [
            ("Play next", lambda: to_queue(self, music.play_next, [song])),
            ("Add to playing queue", lambda: to_queue(self, music.enqueue, [song])),
            *more_items(self, song),
        ]

    def _more_with_selection(self) -> None:
        self.push(Menu(self.items_for_selected()))

    def items_for_selected(self) -> Items:
        """Returns the menu of the selected songs."""
        return [
            ("Add to playing queue", lambda: self._selected_to(self.app.music.enqueue)),
            ("Delete from device", self._delete_selected),
            ("Select all", partial(setattr, self, "selected", self.listed())),
        ]

    def _delete_selected(self) -> None:
        ask_to_delete(self, self.selected)
        self.unselect()

    def _selected_to(self, add: Callable[[Sequence[Song]], None]) -> None:
        to_queue(self, add, self.selected)
        self.unselect()

    def _selected_to_playlist(self) -> None:
        ask_playlist(self, self.selected)
        self.unselect()


def more_items(screen: Screen, song: Song) -> Items:
    """Returns the end of every menu of a song."""
    return [
        ("Add to playlist", lambda: ask_playlist(screen, [song])),
        ("Go to album", lambda: screen.push(Group("album", song.album))),
        ("Go to artist", lambda: screen.push(Group("artist", song.artist))),
        ("Details", lambda: screen.push(Details(song))),
        ("Delete from device", lambda: ask_to_delete(screen, [song])),
    ]


class Main(SongList):
    """All songs, artists or playlists."""

    def __init__(self) -> None:
        super().__init__()
        self.section = "Songs"
        self.query: TextInput | None = None

    def listed(self) -> list[Song]:
        """Returns all songs, or those that the search finds."""
        words = self.query.text.strip().casefold() if self.query else ""
        return [song for song in self.app.music.songs() if words in f"{song.title} {song.artist}".casefold()]

    def build(self) -> View:
        """Shows the section that is chosen."""
        body = {"Songs": self._songs, "Artists": self._artists, "Playlists": self._playlists}[self.section]()
        if self.selected:
            return self.selection(body)
        bottom = Column([*self.now_playing(), BottomNavigation(SECTIONS, self.section, self._go)])
        if self.query is not None:
            return Scaffold(TextField(self.query, "Search your library"), body, self.leave, bottom=bottom)
        actions = [IconButton("magnify", "Search", self._search, "action_search")]
        if self.section == "Playlists":
            actions = [IconButton("playlist_plus", NEW, partial(ask_new_playlist, self), "action_new_playlist")]
        return Scaffold(self.section, body, actions=actions, bottom=bottom)

    def _go(self, section: str) -> None:
        self.section, self.query = section, None

    def on_back(self) -> bool:
        """Ends the search or the selection."""
        if self.query is not None and not self.selected:
            self.query = None
            return True
        return super().on_back()

    def _search(self) -> None:
        self.section, self.query = "Songs", TextInput()
        self.focus(self.query)

    def _songs(self) -> View:
        rows = [self.row(song) for song in self.listed()]
        return ListView(rows, key="songs") if rows else Empty("You have no songs", "music_off")

    def _artists(self) -> View:
        by_artist: dict[str, list[Song]] = {}
        for song in self.app.music.songs():
            by_artist.setdefault(song.artist, []).append(song)
        rows = [
            ListItem(name, count_text(len(songs), sum(song.millis for song in songs)), partial(self._open_artist, name))
            for name, songs in sorted(by_artist.items())
        ]
        return ListView(rows, key="artists") if rows else Empty("No artists", "music_off")

    def _open_artist(self, name: str) -> None:
        self.push(Group("artist", name))

    def _playlists(self) -> View:
        rows = [self._playlist(*playlist) for playlist in self.app.music.playlists()]
        return ListView(rows, key="playlists") if rows else Empty("You have no playlists", "playlist_music")

    def _playlist(self, id: int, name: str, count: int, millis: int) -> View:
        icon = Icon("playlist_music", 32, theme.PRIMARY)
        options = IconButton("dots_vertical", f"Options of {name}", lambda: self._playlist_menu(id), "menu")
        return ListItem(
            name, count_text(count, millis), lambda: self.push(Playlist(id)), leading=icon, trailing=options
        )

    def _playlist_menu(self, id: int) -> None:
        self.push(Menu(playlist_items(self, id), "bottom"))


class Group(SongList):
    """The songs of one artist or album.

    Args:
        kind: What they share: "artist" or "album".
        name: Its name.
    """

    def __init__(self, kind: str, name: str) -> None:
        super().__init__()
        self.kind, self.name = kind, name

    def listed(self) -> list[Song]:
        """Returns the songs by title."""
        return [song for song in self.app.music.songs() if song._asdict()[self.kind] == self.name]

    def build(self) -> View:
        """Lists the songs."""
        body = ListView([self.row(song) for song in self.listed()])
        return self.selection(body) if self.selected else Scaffold(self.name, body, self.pop)


class Playlist(SongList):
    """The songs of one playlist in their order."""

    def __init__(self, id: int) -> None:
        super().__init__()
        self.id = id

    def listed(self) -> list[Song]:
        """Returns the songs of the playlist."""
        return [song for _, song in self.app.music.content(self.id)]

    def build(self) -> View:
        """Lists the songs of the playlist below their total length."""
        songs = self.listed()
        total = count_text(len(songs), sum(song.millis for song in songs))
        rows = [self.row(song) for song in songs]
        body = ListView([Text(total, 13, theme.SECONDARY, pad=(16, 4, 16, 8), id="playlist_info"), *rows])
        if self.selected:
            return self.selection(body)
        more = IconButton("dots_vertical", "More options", self._more)
        return Scaffold(self.app.music.name(self.id), body, self.pop, [more])

    def items(self, song: Song) -> Items:
        """Returns the menu of a song, which can be taken out of the playlist."""
        return [("Remove from playlist", lambda: ask_to_take_out(self, self.id, [song])), *super().items(song)]

    def items_for_selected(self) -> Items:
        """Returns the menu of the selected songs, which can be taken out of the playlist."""
        return [("Remove from playlist", self._take_out_selected), *super().items_for_selected()]

    def _take_out_selected(self) -> None:
        ask_to_take_out(self, self.id, self.selected)
        self.unselect()

    def _more(self) -> None:
        self.push(Menu(playlist_items(self, self.id, self.pop)))


class Queue(Screen):
    """The songs to be played next."""

    app: RetroMusic

    def build(self) -> View:
        """Lists the queue and marks the song that is played."""
        music = self.app.music
        queue, position = music.queue(), music.position
        rows = [self._row(index, song, index == position) for index, song in enumerate(queue)]
        body = ListView(rows) if rows else Empty("No songs playing", "playlist_remove")
        clear = partial(music.play, [])
        sweep = IconButton("delete_sweep_outline", "Clear queue", clear, "action_clear_playing_queue")
        return Scaffold("Now playing queue", body, self.pop, [sweep])

    def _row(self, index: int, song: Song, playing: bool) -> View:
        number = Icon("volume_high", 24, theme.PRIMARY) if playing else Text(str(index + 1), important=False)
        options = IconButton("dots_vertical", f"Options of {song.title}", partial(self._menu, index, song), "menu")
        return ListItem(
            song.title, f"{song.artist} • {length_text(song.millis)}", partial(self.app.music.move_to, index),
            leading=Row([number], width=24), trailing=options, selected=playing,
        )  # fmt: skip

    def _menu(self, index: int, song: Song) -> None:
        music = self.app.music
        self.push(Menu([
            ("Play next", lambda: to_queue(self, music.play_next, [song])),
            ("Remove from playing queue", lambda: music.dequeue(index)),
            *more_items(self, song),
        ], "bottom"))  # fmt: skip


APP = RetroMusic
