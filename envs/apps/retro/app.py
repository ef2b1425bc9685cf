"""Retro Music: songs, playlists and a playing queue."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from coach_gym.envs.apps.retro.data import PACKAGE, Music, Song
from coach_gym.envs.phone.app import App, Choice, Confirm, Menu, Screen
from coach_gym.envs.phone.documents import SaveDocument
from coach_gym.envs.phone.intents import CATEGORY
from coach_gym.envs.phone.media.duration import clock_text
from coach_gym.envs.phone.pages import SelectionPage
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
NEW = "New playlist"


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


def length_text(millis: int) -> str:
    """Returns a duration, such as `03:20`."""
    return clock_text(millis / 1000)


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
        options = IconButton("dots_vertical", f"Options of {song.title}", partial(self._menu, song))
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
        self.push(Menu([
            ("Play next", lambda: self._to(self.app.music.play_next, [song])),
            ("Add to playing queue", lambda: self._to(self.app.music.enqueue, [song])),
            ("Add to playlist", lambda: self.ask_playlist([song])),
            ("Details", lambda: self._details(song)),
            ("Delete from device", lambda: self._confirm_delete(song)),
        ], "bottom"))  # fmt: skip

    def _more_with_selection(self) -> None:
        enqueue = ("Add to playing queue", lambda: self._selected_to(self.app.music.enqueue))
        self.push(Menu([enqueue, ("Select all", partial(setattr, self, "selected", self.listed()))]))

    def _selected_to(self, what: Callable[[Sequence[Song]], None]) -> None:
        self._to(what, self.selected)
        self.unselect()

    def _to(self, what: Callable[[Sequence[Song]], None], songs: Sequence[Song]) -> None:
        what(songs)
        title = "1 title" if len(songs) == 1 else f"{len(songs)} titles"
        self.notify(f"Added {title} to the playing queue")

    def _selected_to_playlist(self) -> None:
        self.ask_playlist(self.selected)
        self.unselect()

    def ask_playlist(self, songs: Sequence[Song]) -> None:
        """Asks which playlist songs are added to."""
        names = [name for _, name, _, _ in self.app.music.playlists()]
        self.push(Choice("Add to playlist", [NEW, *names], partial(self._chosen, list(songs))))

    def _chosen(self, songs: Sequence[Song], name: str) -> None:
        if name == NEW:
            self.ask_new_playlist(songs)
        else:
            playlist = next(id for id, found, _, _ in self.app.music.playlists() if found == name)
            self._add(playlist, songs)

    def ask_new_playlist(self, songs: Sequence[Song] = ()) -> None:
        """Asks for the name of a new playlist for songs."""
        self.ask(NEW, lambda name: self._create(songs, name), hint="Playlist name", yes="Create")

    def _create(self, songs: Sequence[Song], name: str) -> None:
        playlist = self.app.music.create(name.strip()) if name.strip() else None
        if playlist is None:
            self.notify("Playlist already exists" if name.strip() else "A playlist needs a name")
        else:
            self._add(playlist, songs)

    def _add(self, playlist: int, songs: Sequence[Song]) -> None:
        self.app.music.add(playlist, songs)
        self.notify(f"Added {len(songs)} songs to {self.app.music.name(playlist)}")

    def _details(self, song: Song) -> None:
        facts = f"Artist: {song.artist}\nLength: {length_text(song.millis)}\nFile path: {song.path}"
        self.push(Confirm(song.title, facts, "OK", lambda: None, "Close"))

    def _confirm_delete(self, song: Song) -> None:
        question = f"Do you want to delete {song.title}?"
        self.push(Confirm("Delete song", question, "Delete", lambda: self.phone.storage.remove(song.path)))


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
            actions = [IconButton("playlist_plus", NEW, self.ask_new_playlist, "action_new_playlist")]
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
        return ListView(rows, key="songs") if rows else Empty("No songs", "music_off")

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
        self.push(Artist(name))

    def _playlists(self) -> View:
        rows = [self._playlist(*playlist) for playlist in self.app.music.playlists()]
        return ListView(rows, key="playlists") if rows else Empty("No playlists", "playlist_music")

    def _playlist(self, id: int, name: str, count: int, millis: int) -> View:
        icon = Icon("playlist_music", 32, theme.PRIMARY)
        return ListItem(name, count_text(count, millis), lambda: self.push(Playlist(id)), leading=icon)


class Artist(SongList):
    """The songs of one artist."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    def listed(self) -> list[Song]:
        """Returns the artist's songs."""
        return [song for song in self.app.music.songs() if song.artist == self.name]

    def build(self) -> View:
        """Lists the artist's songs."""
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
        content = self.app.music.content(self.id)
        total = count_text(len(content), sum(song.millis for _, song in content))
        rows = [self.row(song, trailing=self._remove_button(key, song)) for key, song in content]
        body = ListView([Text(total, 13, theme.SECONDARY, pad=(16, 4, 16, 8), id="playlist_info"), *rows])
        if self.selected:
            return self.selection(body)
        more = IconButton("dots_vertical", "More options", self._more)
        return Scaffold(self.app.music.name(self.id), body, self.pop, [more])

    def _remove_button(self, key: int, song: Song) -> View:
        return IconButton("close", f"Remove {song.title}", lambda: self.app.music.remove(key))

    def _more(self) -> None:
        songs, name = self.listed(), self.app.music.name(self.id)
        question = f"Do you want to delete {name}?"
        self.push(Menu([
            ("Play", lambda: self.app.music.play(songs)),
            ("Add to playing queue", lambda: self._to(self.app.music.enqueue, songs)),
            ("Rename", lambda: self.ask("Rename playlist", self._rename, name, "Playlist name", "Rename")),
            ("Delete", lambda: self.push(Confirm("Delete playlist", question, "Delete", self._delete))),
            ("Save as file", lambda: self.push(SaveDocument(f"{name}.m3u", self._write))),
        ]))  # fmt: skip

    def _rename(self, name: str) -> None:
        if name.strip():
            self.app.music.rename(self.id, name.strip())

    def _delete(self) -> None:
        self.app.music.delete(self.id)
        self.pop()

    def _write(self, path: str) -> None:
        self.phone.storage.write(path, self.app.music.m3u(self.id))
        self.notify(f"Saved playlist to {path.rpartition('/')[2]}")


class Queue(Screen):
    """The songs to be played next."""

    app: RetroMusic

    def build(self) -> View:
        """Lists the queue and marks the song that is played."""
        music = self.app.music
        queue, position = music.queue(), music.position
        rows = [self._row(index, song, index == position) for index, song in enumerate(queue)]
        body = ListView(rows) if rows else Empty("Nothing to play", "playlist_remove")
        clear = partial(music.play, [])
        sweep = IconButton("delete_sweep_outline", "Clear queue", clear, "action_clear_playing_queue")
        return Scaffold("Playing queue", body, self.pop, [sweep])

    def _row(self, index: int, song: Song, playing: bool) -> View:
        number = Icon("volume_high", 24, theme.PRIMARY) if playing else Text(str(index + 1), important=False)
        music = self.app.music
        remove = IconButton("close", f"Remove {song.title}", lambda: music.dequeue(index))
        return ListItem(
            song.title, f"{song.artist} • {length_text(song.millis)}", lambda: music.move_to(index),
            leading=Row([number], width=24), trailing=remove, selected=playing,
        )  # fmt: skip


APP = RetroMusic
