"""The records: the list of all of them, what can be done with one, and what is known about it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from typing import Any

from coach_gym.envs.apps.recorder import data
from coach_gym.envs.apps.recorder.dialogs import Question, Renamed, ask_name
from coach_gym.envs.phone.app import Menu, Screen
from coach_gym.envs.phone.folders import DOWNLOADS, Entry, by_date, by_name, copy_into, size_text
from coach_gym.envs.phone.intents import SEND, VIEW, Intent
from coach_gym.envs.phone.media.duration import clock_text
from coach_gym.envs.phone.screens.pages import SelectionPage
from coach_gym.envs.phone.toolkit import theme
from coach_gym.envs.phone.toolkit.view import View
from coach_gym.envs.phone.toolkit.widgets import Column, Empty, Icon, IconButton, ListView, Scaffold, Text

ORDERS = {  # by the numbers in the settings
    1: "By date (newest)", 4: "By date (oldest)", 2: "By name (A-Z)", 5: "By name (Z-A)", 3: "By duration (longest)",
    6: "By duration (shortest)",
}  # fmt: skip


def record_menu(screen: Screen, path: str, renamed: Renamed) -> Menu:
    """Returns the menu of what can be done with a record. `renamed` is called with its new path if it gets one."""
    to_downloads = "The record will be copied to the 'Downloads' directory"
    return Menu([
        ("Share", partial(_start, screen, SEND, path)),
        ("Information", lambda: screen.push(Information(path))),
        ("Rename", lambda: ask_name(screen, path, renamed)),
        ("Open with…", partial(_start, screen, VIEW, path)),
        ("Save as…", lambda: screen.push(Question(to_downloads, partial(_save_copies, screen, [path]), "Save as…"))),
        ("Delete", lambda: ask_to_delete(screen, [path], lambda: None)),
    ])  # fmt: skip


def _start(screen: Screen, action: str, path: str) -> None:
    """Lets another app play a record or send it."""
    kind = f"audio/{data.extension(path)[1:]}"
    if screen.phone.start(Intent(action, f"file://{path}", kind)) is None:
        screen.notify("No apps can perform this action.")


def _save_copies(screen: Screen, paths: Sequence[str]) -> None:
    copy_into(screen.phone.storage, list(paths), DOWNLOADS)
    if len(paths) == 1:
        screen.notify(f"{data.title(paths[0])} copied to the 'Downloads' directory")
    else:
        screen.notify(f"{len(paths)} records copied successfully")


def ask_to_delete(screen: Screen, paths: Sequence[str], then: Callable[[], Any]) -> None:
    """Asks whether records are put into the trash, and calls `then` once they are there."""

    def throw_away() -> None:
        for path in paths:
            data.throw_away(screen.phone.storage, path)
        screen.notify("The record moved to trash" if len(paths) == 1 else "Selected records moved to trash")
        then()

    what = data.title(paths[0]) if len(paths) == 1 else f"{len(paths)} selected records"
    screen.push(Question(f"Move to trash {what}?", throw_away))


class Records(SelectionPage[str]):
    """All records. Touching one plays it; a long touch selects it."""

    activity = f"{data.PACKAGE}.app.records.RecordsActivity"

    def __init__(self) -> None:
        super().__init__()
        self.playing: str | None = None  # path
        self.since: datetime | None = None

    def build(self) -> View:
        """Shows the records in the order that is set."""
        rows = [self._row(entry) for entry in self._listed()]
        body = ListView(rows, id="recycler_view") if rows else Empty("No records", "microphone_off")
        if self.selected:
            return self.selecting(body, [
                IconButton("download", "Save as…", self._save_selected, "btn_download_multi"),
                IconButton("delete_outline", "Delete", self._delete_selected, "btn_delete_multi"),
            ])  # fmt: skip
        order = ORDERS.get(self._order, ORDERS[1])
        title = Column([Text("Records", 19, id="txt_title"), Text(order, 12, theme.SECONDARY, id="txt_sub_title")])
        return Scaffold(title, body, self.pop, [IconButton("sort", "Sort", self._ask_order, "btn_sort")])

    @property
    def _order(self) -> int:
        return int(data.setting(self.phone.storage, data.ORDER))  # type: ignore[arg-type]

    def _listed(self) -> list[Entry]:
        storage, name = self.phone.storage, ORDERS.get(self._order, ORDERS[1])
        found = sorted(data.records(storage), key=by_name, reverse=name == "By name (Z-A)")
        if name.startswith("By date"):
            found.sort(key=by_date, reverse=name == "By date (newest)")
        if name.startswith("By duration"):
            found.sort(key=lambda e: data.seconds_of(storage, e.path), reverse=name == "By duration (longest)")
        return found

    def _ask_order(self) -> None:
        self.push(Menu([(name, partial(self._set_order, number)) for number, name in ORDERS.items()]))

    def _set_order(self, number: int) -> None:
        data.change(self.phone.storage, **{data.ORDER: number})

    def _row(self, entry: Entry) -> View:
        name, length = data.title(entry.path), data.seconds_of(self.phone.storage, entry.path)
        played = (self.now - self.since).total_seconds() if self.since and entry.path == self.playing else length
        shown = f"{clock_text(played)} / {clock_text(length)}" if played < length else clock_text(length)
        facts = f"{shown} • {size_text(entry.size)} • {self.phone.local(entry.modified):%d %b %Y %H:%M}"
        texts = [
            Text(name, 15, max_lines=2, id="list_item_name"),
            Text(facts, 13, theme.SECONDARY, max_lines=2, id="list_item_description"),
        ]
        icon = Icon("pause_circle" if played < length else "play_circle", 32, theme.PRIMARY)
        menu = record_menu(self, entry.path, lambda _: None)
        more = IconButton("dots_vertical", f"Options of {name}", lambda: self.push(menu), "list_item_more")
        selected = entry.path in self.selected
        return View(
            "android.widget.FrameLayout", [icon, Column(texts, gap=2, flex=1), more], axis="h", gap=14, align="center",
            pad=(16, 8, 16, 8), min_height=theme.ROW_HEIGHT, id="container", selected=selected,
            bg="#d3e3fd" if selected else None, on_tap=partial(self._tap, entry.path),
            on_long=partial(self.toggle, entry.path),
        )  # fmt: skip

    def _tap(self, path: str) -> None:
        if self.selected:
            self.toggle(path)
        elif path == self.playing:
            self.playing = self.since = None
        else:
            self.playing, self.since = path, self.now

    def _save_selected(self) -> None:
        count = len(self.selected)
        what = f"Copy {count} selected {'record' if count == 1 else 'records'} to the 'Downloads' directory?"
        self.push(Question(what, self._save, "Save as…"))

    def _save(self) -> None:
        _save_copies(self, self.selected)
        self.unselect()

    def _delete_selected(self) -> None:
        ask_to_delete(self, self.selected, self.unselect)


class Information(Screen):
    """What is known about a record."""

    activity = f"{data.PACKAGE}.app.info.ActivityInformation"

    def __init__(self, path: str) -> None:
        super().__init__()
        self.path = path

    def build(self) -> View:
        """Shows the facts below their names."""
        storage, path = self.phone.storage, self.path
        if not storage.exists(path):
            return Scaffold("Information", Empty("This record was deleted", "microphone_off"), self.pop)
        facts = {
            "Name:": (data.title(path), "txt_name"),
            "Format:": (data.called(data.FORMATS, data.extension(path)[1:]), "txt_format"),
            "Duration:": (clock_text(data.seconds_of(storage, path)), "txt_duration"),
            "Size:": (size_text(storage.size(path)), "txt_size"),
            "File location:": (path, "txt_location"),
            "Created:": (f"{self.phone.local(storage.modified(path)):%d %b %Y %H:%M}", "txt_created"),
        }
        rows = [
            Column([Text(name, 13, theme.SECONDARY), Text(value, 15, id=id)], gap=2, pad=(16, 6, 16, 6))
            for name, (value, id) in facts.items()
        ]
        return Scaffold("Information", ListView(rows), self.pop)
