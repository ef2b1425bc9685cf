"""Pi Music Player: songs, albums, artists and playlists, and a player."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from coach_gym.envs.apps.pimusic.data import DATABASE, PACKAGE, SCHEMA, SORTS, Music, Song, clock, count
from coach_gym.envs.phone.app import App, Choice, Confirm, Dialog, Menu, Prompt, Screen
from coach_gym.envs.phone.intents import CATEGORY
from coach_gym.envs.phone.screens.pages import SearchPage
from coach_gym.envs.phone.toolkit import theme
from coach_gym.envs.phone.toolkit.view import View
from coach_gym.envs.phone.toolkit.widgets import (
    Column,
    Divider,
    Empty,
    Icon,
    IconButton,
    ListItem,
    ListView,
    Radio,
    Row,
    Scaffold,
    Slider,
    Space,
    Tabs,
    Text,
)

TABS = ("TRACKS", "ALBUMS", "ARTISTS", "PLAYLISTS")
HINT = "Swipe up for Now Playing list, Equalizer and more"
RESTART = 3  # seconds into a song after which "Previous" goes back to its start
NEW = "Create playlist"
PRESETS = ("Normal", "Classical", "Dance", "Flat", "Folk", "Jazz", "Pop", "Rock")


class PiMusic(App):
    """The Pi Music Player app."""

    package = PACKAGE
    activity = "com.Project100Pi.themusicplayer.MainActivity"
    role = f"{CATEGORY}APP_MUSIC"
    label = "Pi Music Player"
    icon = "pi"
    color = "#c2185b"

    def install(self) -> None:
        """Makes the database."""
        self.phone.storage.create_database(DATABASE, SCHEMA)

    def main(self) -> Screen:
        """Opens the tabs."""
        return Main()

    @property
    def music(self) -> Music:
        """The songs, playlists and player of the phone."""
        return Music(self.phone.storage)

    def toggle(self) -> None:
        """Pauses or resumes the player."""
        music, now = self.music, self.phone.now
        if (playing := music.playing(now)) is not None:
            music.go_to(playing.place, playing.seconds, not playing.runs, now)


class SongList(Screen):
    """A screen with songs, and the bar of the player at the bottom."""

    app: PiMusic

    def listed(self) -> list[Song]:
        """Returns the songs on the screen, in order."""
        raise RuntimeError(f"{type(self).__name__} lists no songs")

    def rows(self, songs: Sequence[Song]) -> list[View]:
        """Returns a row for each of the songs that are listed: title, artist, length."""
        return [self._row(place, song) for place, song in enumerate(songs)]

    def _row(self, place: int, song: Song) -> View:
        more = IconButton("dots_vertical", f"Options of {song.title}", partial(self._menu, song))
        end = Row([Text(clock(song.seconds), 13, theme.SECONDARY), more], gap=2)
        note = Icon("music_note", 28, self.app.color)
        return ListItem(song.title, song.artist, partial(self._play, place), leading=note, trailing=end)

    def _play(self, place: int) -> None:
        self.app.music.play(self.listed(), place, self.now)
        self.push(Player())

    def _menu(self, song: Song) -> None:
        self.push(Menu([
            ("Play next", lambda: self._play_next(song)),
            ("Add to playlist", lambda: self._ask_playlist(song)),
            ("Song info", lambda: self.push(Info(song))),
        ], "bottom"))  # fmt: skip

    def _play_next(self, song: Song) -> None:
        music, playing = self.app.music, self.app.music.playing(self.now)
        if playing is None:
            music.play([song], 0, self.now)
            return
        queue = music.queue()
        music.set_queue([*queue[: playing.place + 1], song, *queue[playing.place + 1 :]])
        music.go_to(playing.place, playing.seconds, playing.runs, self.now)

    def _ask_playlist(self, song: Song) -> None:
        names = [name for _, name in self.app.music.playlists()]
        self.push(Choice("Add to playlist", [NEW, *names], partial(self._add, song)))

    def _add(self, song: Song, name: str) -> None:
        if name == NEW:
            self.push(Prompt(NEW, partial(self._create_with, song), hint="Playlist name", yes="Create"))
            return
        ids = {name: id for id, name in self.app.music.playlists()}
        self.app.music.add(ids[name], song)
        self.notify(f"Added to {name}")

    def _create_with(self, song: Song, name: str) -> None:
        if self.create(name):
            self._add(song, name.strip())

    def create(self, name: str) -> bool:
        """Makes an empty playlist; tells the user why if it cannot."""
        name = name.strip()
        made = bool(name) and self.app.music.create(name) is not None
        if not made:
            self.notify("A playlist of that name exists already" if name else "A playlist needs a name")
        return made

    # order

    def sort_button(self, where: str) -> View:
        """Returns the button that asks how a kind of list is to be sorted."""
        music = self.app.music
        then = partial(music.set_order, where)
        return IconButton("sort", "Sort By", lambda: self.push(SortBy(*music.order(where), then)))

    # the bar of the player

    def bar(self) -> View | None:
        """Returns the bar that pauses or opens what is played; None if nothing ever was."""
        playing = self.app.music.playing(self.now)
        if playing is None:
            return None
        icon, desc = ("pause", "Pause") if playing.runs else ("play", "Play")
        texts = [Text(playing.song.title, 14, bold=True, max_lines=1), Text(playing.song.artist, 12, max_lines=1)]
        parts = [Icon("album", 34, self.app.color), Column(texts, flex=1), IconButton(icon, desc, self.app.toggle)]
        return View(
            "android.widget.RelativeLayout", parts, axis="h", gap=12, align="center", pad=(16, 6, 8, 6), bg="#fde7ef",
            on_tap=lambda: self.push(Player()),
        )  # fmt: skip


class Main(SearchPage, SongList):
    """Tracks, albums, artists and playlists, each under a tab."""

    def __init__(self) -> None:
        super().__init__()
        self.tab = TABS[0]

    def build(self) -> View:
        """Shows the tab that is chosen, or what the search finds."""
        actions = [self.search_button()]
        if self.tab == TABS[0] and not self.searching:
            actions.append(self.sort_button("tracks"))
        content = {"TRACKS": self._tracks, "ALBUMS": self._albums, "ARTISTS": self._artists}.get(
            self.tab, self._playlists
        )
        rows = content()
        body = ListView(rows, key=self.tab) if rows else Empty("No songs found", "music_note_off")
        title = self.title_or_field(self.app.label)
        return Scaffold(title, body, actions=actions, tabs=Tabs(TABS, self.tab, self._select), bottom=self.bar())

    def listed(self) -> list[Song]:
        """Returns the songs of the tab of tracks, in its order."""
        words = self.words.strip().casefold()
        found = [song for song in self.app.music.songs() if words in f"{song.title}\n{song.artist}".casefold()]
        return self.app.music.sorted(found, "tracks")

    def search(self) -> None:
        """Searches among the tracks."""
        super().search()
        self.tab = TABS[0]

    def _select(self, tab: str) -> None:
        self.tab, self.searching = tab, False

    def _tracks(self) -> list[View]:
        songs = self.listed()
        heading = Text(count(songs), 13, theme.SECONDARY, pad=(16, 10, 16, 4))
        return [heading, *self.rows(songs)] if songs else []

    def _albums(self) -> list[View]:
        return [self._group("album", album, songs) for album, songs in _groups(self.app.music.songs(), 3)]

    def _artists(self) -> list[View]:
        return [self._group("artist", artist, songs) for artist, songs in _groups(self.app.music.songs(), 2)]

    def _group(self, kind: str, name: str, songs: Sequence[Song]) -> View:
        icon = Icon("album" if kind == "album" else "account_music", 30, self.app.color)
        return ListItem(name, count(songs), lambda: self.push(Group(kind, name)), leading=icon)

    def _playlists(self) -> list[View]:
        ask = Prompt(NEW, self.create, hint="Playlist name", yes="Create")
        new = ListItem(NEW, on_tap=lambda: self.push(ask), leading=Icon("plus", 30, self.app.color))
        return [new, *(self._playlist(id, name) for id, name in self.app.music.playlists())]

    def _playlist(self, id: int, name: str) -> View:
        ask = Confirm(f"Delete {name}?", "Its songs stay.", "Delete", lambda: self.app.music.delete(id))
        return ListItem(
            name, count(self.app.music.content(id)), lambda: self.push(Group("playlist", name)),
            lambda: self.push(ask), leading=Icon("playlist_music", 30, self.app.color),
        )  # fmt: skip


def _groups(songs: Sequence[Song], column: int) -> list[tuple[str, list[Song]]]:
    """Returns songs by artist or album, in alphabetical order."""
    names = sorted({str(song[column]) for song in songs}, key=str.casefold)
    return [(name, [song for song in songs if song[column] == name]) for name in names]


class Group(SongList):
    """The songs of an artist, an album or a playlist."""

    def __init__(self, kind: str, name: str) -> None:
        super().__init__()
        self.kind, self.name = kind, name

    def build(self) -> View:
        """Lists the songs of the group."""
        heading = Text(self.name, 19, max_lines=1, flex=1, important=False)
        title = View("android.widget.FrameLayout", [heading], desc=self.name, flex=1)
        actions = [] if self.kind == "playlist" else [self.sort_button(self.kind)]
        songs = self.listed()
        body = ListView(self.rows(songs)) if songs else Empty("No songs yet", "music_note_off")
        return Scaffold(title, body, self.pop, actions, bottom=self.bar())

    def listed(self) -> list[Song]:
        """Returns the songs of the group, in its order."""
        music = self.app.music
        if self.kind == "playlist":
            ids = {name: id for id, name in music.playlists()}
            return music.content(ids.get(self.name, 0))
        column = 3 if self.kind == "album" else 2
        return music.sorted([song for song in music.songs() if song[column] == self.name], self.kind)


class SortBy(Dialog):
    """Asks for the order and direction of a list and calls `then` with both."""

    def __init__(self, sort: str, descending: bool, then: Callable[[str, bool], None]) -> None:
        super().__init__("Sort By")
        self.sort, self.descending, self.then = sort, descending, then

    def content(self) -> Sequence[View]:
        """Lists the orders and the two directions."""
        ways = (("Ascending", False), ("Descending", True))
        return [
            *[Radio(sort, sort == self.sort, partial(setattr, self, "sort", sort)) for sort in SORTS],
            Divider(),
            *[Radio(name, way == self.descending, partial(setattr, self, "descending", way)) for name, way in ways],
        ]

    def buttons(self) -> Sequence[View]:
        """Returns Cancel and OK."""
        return [self.button("Cancel"), self.button("OK", lambda: self.then(self.sort, self.descending))]


class Info(Dialog):
    """The details of a song."""

    def __init__(self, song: Song) -> None:
        super().__init__("Song info")
        self.song = song

    def content(self) -> Sequence[View]:
        """Lists title, artist, album, length and path."""
        song = self.song
        lines = [
            ("Title", song.title), ("Artist", song.artist), ("Album", song.album), ("Duration", clock(song.seconds)),
            ("Location", song.path),
        ]  # fmt: skip
        return [Text(f"{name}: {value}", 15, pad=(20, 5, 20, 5)) for name, value in lines]

    def buttons(self) -> Sequence[View]:
        """Returns OK."""
        return [self.button("OK")]


class Player(Screen):
    """The player with its current song."""

    app: PiMusic

    def build(self) -> View:
        """Shows the song with its slider and buttons."""
        playing = self.app.music.playing(self.now)
        if playing is None:
            return Scaffold("", Empty("Nothing is being played", "music_note_off"), on_back=self.pop)
        song, _, seconds, runs = playing
        cover = View(
            "android.widget.ImageView", [Icon("music", 110, "#ffffff")], bg=self.app.color, radius=16, width=230,
            height=230, align="center", justify="center", important=False,
        )  # fmt: skip
        times = Row([Text(clock(seconds), 13), Space(flex=1), Text(clock(song.seconds), 13)], pad=(20, 0, 20, 0))
        controls = [
            IconButton("skip_previous", "Previous", partial(self._skip, -1)),
            IconButton("pause" if runs else "play", "Pause" if runs else "Play", self.app.toggle),
            IconButton("skip_next", "Next", partial(self._skip, 1)),
        ]
        body = [
            Column([cover], align="center", justify="center", flex=1),
            Text(song.title, 20, bold=True, align="center", max_lines=1, pad=(20, 6, 20, 0)),
            Text(song.artist, 14, theme.SECONDARY, align="center", max_lines=1, pad=(20, 2, 20, 6)),
            Column([Slider(seconds / max(1, song.seconds), self._seek, "Seek", "seek_bar")], pad=(10, 0, 10, 0)),
            times,
            Row(controls, gap=28, justify="center", pad=(0, 8, 0, 8)),
            Text(HINT, 12, theme.SECONDARY, align="center", pad=(16, 12, 16, 14), on_tap=lambda: self.push(Queue())),
        ]
        return Scaffold("", Column(body, on_swipe=self._swiped), on_back=self.pop)

    def _seek(self, share: float) -> None:
        if (playing := self.app.music.playing(self.now)) is not None:
            self.app.music.go_to(playing.place, round(share * playing.song.seconds), playing.runs, self.now)

    def _skip(self, step: int) -> None:
        playing = self.app.music.playing(self.now)
        if playing is None:
            return
        place = playing.place if step < 0 and playing.seconds > RESTART else playing.place + step
        self.app.music.go_to(place % len(self.app.music.queue()), 0, playing.runs, self.now)

    def _swiped(self, way: str) -> None:
        if way == "up":
            self.push(Queue())


class Queue(Screen):
    """The Now Playing list: the songs that are played one after the other."""

    app: PiMusic

    def build(self) -> View:
        """Lists the queue and marks the song that is played."""
        playing = self.app.music.playing(self.now)
        at = -1 if playing is None else playing.place
        rows = [self._row(place, song, place == at) for place, song in enumerate(self.app.music.queue())]
        presets = Choice("Equalizer", PRESETS, self.app.music.set_preset, self.app.music.preset)
        equalizer = IconButton("equalizer", "Equalizer", lambda: self.push(presets))
        return Scaffold("Now Playing list", ListView(rows), on_back=self.pop, actions=[equalizer])

    def _row(self, place: int, song: Song, current: bool) -> View:
        mark = Icon("volume_high" if current else "music_note", 24, self.app.color)
        length = Text(clock(song.seconds), 13, theme.SECONDARY)
        return ListItem(
            song.title, song.artist, lambda: self.app.music.go_to(place, 0, True, self.now), leading=mark,
            trailing=length, selected=current,
        )  # fmt: skip


APP = PiMusic
