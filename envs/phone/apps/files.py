"""Files: the phone's shared storage, folder by folder."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from coach_gym.envs.phone.app import App, Choice, Confirm, Menu, Screen
from coach_gym.envs.phone.folders import (
    SHARED,
    Entry,
    FolderScreen,
    by_date,
    by_name,
    by_size,
    by_type,
    entries,
    size_text,
)
from coach_gym.envs.phone.toolkit.view import View
from coach_gym.envs.phone.toolkit.widgets import (
    Button,
    Icon,
    IconButton,
    ListItem,
    ListView,
    Row,
    Scaffold,
    Space,
    TextField,
)

DEVICE = "sdk_gphone_x86_64"  # what the storage of AndroidWorld's phones is called
ORDERS = {
    "Name (A to Z)": (by_name, False),
    "Name (Z to A)": (by_name, True),
    "Type (A to Z)": (by_type, False),
    "Size (smallest first)": (by_size, False),
    "Size (largest first)": (by_size, True),
    "Modified (oldest first)": (by_date, False),
    "Modified (newest first)": (by_date, True),
}
ICONS = {
    "jpg": "image_outline", "png": "image_outline", "mp3": "music_note", "mp4": "filmstrip", "pdf": "file_pdf_box",
    "zip": "zip_box_outline", "txt": "file_document_outline", "md": "file_document_outline",
}  # fmt: skip


class Files(App):
    package = "com.google.android.documentsui"
    activity = "com.android.documentsui.files.FilesActivity"
    label = "Files"
    icon = "folder"
    color = "#1a73e8"

    def main(self) -> Screen:
        return Browser()


class Browser(FolderScreen):
    """A folder's files and folders, and what can be done with those selected."""

    def __init__(self) -> None:
        super().__init__(SHARED)

    def build(self) -> View:
        body = ListView([self._row(entry) for entry in self.listed()], key=self.folder)
        if self.selected:
            return Scaffold(f"{len(self.selected)} selected", body, self.unselect, self._selection_actions())
        if self.query is not None:
            return Scaffold(TextField(self.query, "Search"), body, self.end_search)
        actions = [
            IconButton("magnify", "Search", self.start_search, "option_menu_search"),
            IconButton("dots_vertical", "More options", self._more),
        ]
        up = None if self.at_root else partial(self.enter, self.folder.rpartition("/")[0])
        return Scaffold(_title(self.folder), body, up, actions)

    def _row(self, entry: Entry) -> View:
        return ListItem(
            entry.name, "" if entry.folder else size_text(entry.size), partial(self._tap, entry),
            partial(self.toggle, entry.path), leading=_icon(entry), selected=entry.path in self.selected,
        )  # fmt: skip

    def _tap(self, entry: Entry) -> None:
        if self.selected:
            self.toggle(entry.path)
        elif entry.folder:
            self.enter(entry.path)
        else:
            self.notify("Can't open file")

    def _more(self) -> None:
        items = [("New folder", self._new_folder), ("Sort by...", self._choose_order), ("Select all", self.select_all)]
        self.push(Menu(items))

    def _new_folder(self) -> None:
        self.ask_name("New folder", self._create_folder)

    def _create_folder(self, name: str) -> None:
        if self.may_create(self.folder, name.strip()):
            self.phone.storage.mkdir(f"{self.folder}/{name.strip()}")

    def _choose_order(self) -> None:
        current = next(label for label, order in ORDERS.items() if order == (self.sort, self.descending))
        self.push(Choice("Sort by", list(ORDERS), self._order, current))

    def _order(self, label: str) -> None:
        self.sort, self.descending = ORDERS[label]

    # what is selected

    def _selection_actions(self) -> list[View]:
        return [
            IconButton("delete_outline", "Delete", self._confirm_delete, "action_menu_delete"),
            IconButton("dots_vertical", "More options", self._more_with_selection),
        ]

    def _more_with_selection(self) -> None:
        items = [
            ("Select all", self.select_all),
            ("Copy to…", self._choose_copy),
            ("Move to…", self._choose_move),
        ]
        self.push(Menu(items + ([("Rename", self._rename)] if len(self.selected) == 1 else [])))

    def _confirm_delete(self) -> None:
        what = f'"{_title(self.selected[0])}"' if len(self.selected) == 1 else f"{len(self.selected)} items"
        self.push(Confirm(f"Delete {what}?", "", "OK", self.delete_selected))

    def _rename(self) -> None:
        path = self.selected[0]
        self.ask_name("Rename", partial(self.rename, path), path.rpartition("/")[2])

    def _choose_move(self) -> None:
        self.push(Destination("MOVE", self.move_selected))

    def _choose_copy(self) -> None:
        self.push(Destination("COPY", self.copy_selected))


class Destination(Screen):
    """Asks for a folder: walk to it, then touch the button named after what will happen."""

    def __init__(self, verb: str, then: Callable[[str], None]) -> None:
        super().__init__()
        self.folder, self.verb, self.then = SHARED, verb, then

    def build(self) -> View:
        folders = [entry for entry in entries(self.phone.storage, self.folder) if entry.folder]
        rows = [ListItem(e.name, "", partial(self._enter, e.path), leading=_icon(e)) for e in folders]
        buttons = [
            Space(flex=1),
            Button("CANCEL", self.pop, kind="text"),
            Button(self.verb, self._finish, kind="text"),
        ]
        bar = Row(buttons, gap=6, pad=(12, 6, 12, 6))
        return Scaffold(_title(self.folder), ListView(rows, key=self.folder), self._up, bottom=bar)

    def _enter(self, path: str) -> None:
        self.folder = path

    def _up(self) -> None:
        if not self.on_back():
            self.pop()

    def on_back(self) -> bool:
        if self.folder == SHARED:
            return False
        self.folder = self.folder.rpartition("/")[0]
        return True

    def _finish(self) -> None:
        self.pop()
        self.then(self.folder)


def _title(path: str) -> str:
    return DEVICE if path == SHARED else path.rpartition("/")[2]


def _icon(entry: Entry) -> View:
    return Icon("folder" if entry.folder else ICONS.get(entry.extension, "file_outline"))


APP = Files
