"""Files: the phone's shared storage, folder by folder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from coach_gym.envs.apps.chrome import app as chrome
from coach_gym.envs.apps.markor.app import Editor, Markor, decoded
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
    search,
    size_text,
)
from coach_gym.envs.phone.intents import VIEW, Intent
from coach_gym.envs.phone.toolkit.view import View
from coach_gym.envs.phone.toolkit.widgets import (
    Button,
    Empty,
    Icon,
    IconButton,
    ListItem,
    ListView,
    Row,
    Scaffold,
    Space,
    Text,
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
IMAGES, AUDIO, VIDEOS = ("gif", "jpeg", "jpg", "png", "webp"), ("m4a", "mp3", "ogg", "wav"), ("3gp", "mkv", "mp4")
TEXTS = ("csv", "json", "md", "txt")
PAGES = chrome.SUFFIXES
DOCUMENTS = ("doc", "docx", "pdf", *TEXTS, *PAGES)
KINDS = {"Images": IMAGES, "Audio": AUDIO, "Videos": VIDEOS, "Documents": DOCUMENTS}
DOWNLOADS = f"{SHARED}/Download"
ICONS = {
    IMAGES: "image_outline", AUDIO: "music_note", VIDEOS: "filmstrip", DOCUMENTS: "file_document_outline",
    ("zip",): "zip_box_outline",
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
        rows = [self.row(entry) for entry in self.listed()]
        body = ListView(rows, key=self.folder) if rows else Empty("No items", "folder_open_outline")
        if self.selected:
            return self.selecting(body)
        if self.query is not None:
            return Scaffold(TextField(self.query, "Search"), body, self.end_search)
        actions = [
            IconButton("magnify", "Search", self.start_search, "option_menu_search"),
            IconButton("dots_vertical", "More options", self._more),
        ]
        if not self.at_root:
            return Scaffold(_title(self.folder), body, self.up, actions)
        roots = IconButton("menu", "Show roots", self._roots)
        return Scaffold(Row([roots, Text(DEVICE, 19, flex=1)], gap=4), body, None, actions)

    def _roots(self) -> None:
        kinds = [(name, partial(self._show_all, name)) for name in KINDS]
        folders = [("Downloads", partial(self.enter, DOWNLOADS)), (DEVICE, partial(self.enter, SHARED))]
        self.push(Menu([*kinds, *folders], "bottom"))

    def _show_all(self, kind: str) -> None:
        self.push(FilesOfKind(kind))

    def row(self, entry: Entry) -> View:
        return ListItem(
            entry.name, "" if entry.folder else size_text(entry.size), partial(self._tap, entry),
            partial(self.toggle, entry.path), leading=_icon(entry), selected=entry.path in self.selected,
        )  # fmt: skip

    def _tap(self, entry: Entry) -> None:
        if self.selected:
            self.toggle(entry.path)
        elif entry.folder:
            self.enter(entry.path)
        elif entry.extension in TEXTS:
            self._edit(entry)
        elif entry.extension in PAGES:
            self.push(OpenWith([("Chrome", partial(self._browse, entry)), ("Markor", partial(self._edit, entry))]))
        elif self.phone.start(Intent(VIEW, f"file://{entry.path}")) is None:
            self.notify("Can't open file")

    def _edit(self, entry: Entry) -> None:
        editor = Editor(entry.path, decoded(self.phone.storage.read(entry.path)))
        self.phone.open_screen(Markor.package, editor)

    def _browse(self, entry: Entry) -> None:
        chrome.open_page(self.phone, entry.path)

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
        self.sort_by(*ORDERS[label])

    # what is selected

    def selecting(self, body: View) -> View:
        """The screen while something is selected."""
        actions = [
            IconButton("delete_outline", "Delete", self._confirm_delete, "action_menu_delete"),
            IconButton("dots_vertical", "More options", self._more_with_selection),
        ]
        return Scaffold(f"{len(self.selected)} selected", body, self.unselect, actions)

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


class OpenWith(Menu):
    """Asks which app shall open a file."""

    def __init__(self, apps: Sequence[tuple[str, Callable[[], None]]]) -> None:
        super().__init__(apps, "bottom")

    def build(self) -> View:
        card = super().build()
        card.children = [Text("Open with", 18, pad=(20, 12, 20, 6), id="title"), *card.children]
        return card


class FilesOfKind(Browser):
    """All files of a kind, such as "Images", wherever they are."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.kind = kind

    def build(self) -> View:
        rows = [self.row(entry) for entry in self.listed()]
        if self.selected:
            return self.selecting(ListView(rows))
        return Scaffold(self.kind, ListView(rows), self.pop)

    def listed(self) -> list[Entry]:
        files = search(self.phone.storage, SHARED, "")
        return sorted((file for file in files if file.extension in KINDS[self.kind]), key=by_name)


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
    if entry.folder:
        return Icon("folder")
    return Icon(next((icon for group, icon in ICONS.items() if entry.extension in group), "file_outline"))


APP = Files
