"""Files shows the phone's shared storage, folder by folder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from coach_gym.envs.phone.app import App, Confirm, Menu, Screen
from coach_gym.envs.phone.folders import (
    DEVICE,
    DOWNLOADS,
    SHARED,
    Entry,
    FolderScreen,
    by_date,
    by_name,
    by_size,
    by_type,
    folder_name,
    may_create,
    search,
    size_text,
)
from coach_gym.envs.phone.intents import CATEGORY, GET_CONTENT, OPEN_DOCUMENT, VIEW, Intent
from coach_gym.envs.phone.screens.documents import Destination
from coach_gym.envs.phone.toolkit.view import View
from coach_gym.envs.phone.toolkit.widgets import (
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
PAGES = ("htm", "html")
DOCUMENTS = ("doc", "docx", "pdf", *TEXTS, *PAGES)
KINDS = {"Images": IMAGES, "Audio": AUDIO, "Videos": VIDEOS, "Documents": DOCUMENTS}
ICONS = {
    IMAGES: "image_outline", AUDIO: "music_note", VIDEOS: "filmstrip", DOCUMENTS: "file_document_outline",
    ("zip",): "zip_box_outline",
}  # fmt: skip


class Files(App):
    """The file manager."""

    package = "com.google.android.documentsui"
    activity = "com.android.documentsui.files.FilesActivity"
    role = f"{CATEGORY}APP_FILES"
    label = "Files"
    icon = "folder"
    color = "#1a73e8"

    def main(self) -> Screen:
        """Opens the shared storage."""
        return Browser()

    def open(self, intent: Intent) -> bool:
        """Shows the shared storage to programs that ask for a file."""
        if intent.action not in (GET_CONTENT, OPEN_DOCUMENT):
            return False
        self.phone.open_screen(self.package, Browser())
        return True


class Browser(FolderScreen):
    """A folder's files and folders, and what can be done with those selected."""

    def __init__(self) -> None:
        super().__init__(SHARED)

    def build(self) -> View:
        """Shows the folder, what is found in it, or what is selected."""
        rows = [self.row(entry) for entry in self.listed()]
        body = ListView(rows, key=self.folder) if rows else Empty("No items", "folder_open_outline")
        if self.selected:
            return self.selecting(body, self.selection_actions())
        if self.query is not None:
            return Scaffold(TextField(self.query, "Search"), body, self.end_search)
        actions = [
            IconButton("magnify", "Search", self.start_search, "option_menu_search"),
            IconButton("dots_vertical", "More options", self._more),
        ]
        if not self.at_root:
            return Scaffold(folder_name(self.folder), body, self.up, actions)
        roots = IconButton("menu", "Show roots", self._roots)
        return Scaffold(Row([roots, Text(DEVICE, 19, flex=1)], gap=4), body, None, actions)

    def _roots(self) -> None:
        kinds = [(name, lambda name=name: self.push(FilesOfKind(name))) for name in KINDS]
        folders = [("Downloads", lambda: self.enter(DOWNLOADS)), (DEVICE, lambda: self.enter(SHARED))]
        self.push(Menu([*kinds, *folders], "bottom"))

    def row(self, entry: Entry) -> View:
        """A file or folder of the list."""
        return ListItem(
            entry.name, "" if entry.folder else size_text(entry.size), lambda: self._tap(entry),
            lambda: self.toggle(entry.path), leading=_icon(entry), selected=entry.path in self.selected,
        )  # fmt: skip

    def _tap(self, entry: Entry) -> None:
        if self.selected:
            self.toggle(entry.path)
        elif entry.folder:
            self.enter(entry.path)
        elif entry.extension in PAGES:
            apps = (("Chrome", "com.android.chrome"), ("Markor", "net.gsantner.markor"))
            self.push(OpenWith([(name, partial(self._open, entry, package)) for name, package in apps]))
        else:
            self._open(entry)

    def _open(self, entry: Entry, package: str = "") -> None:
        """Shows a file in an app, by default in the first one that can."""
        if self.phone.start(Intent(VIEW, f"file://{entry.path}", package=package)) is None:
            self.notify("Can't open file")

    def _more(self) -> None:
        self.push(Menu([
            ("New folder", lambda: self.ask("New folder", self._create_folder, hint="Name")),
            ("Sort by...", lambda: self.ask_order(ORDERS)),
            ("Select all", self.select_all),
        ]))  # fmt: skip

    def _create_folder(self, name: str) -> None:
        if may_create(self, self.folder, name.strip()):
            self.phone.storage.mkdir(f"{self.folder}/{name.strip()}")

    # what is selected

    def selection_actions(self) -> list[View]:
        """The buttons at the top while something is selected."""
        return [
            IconButton("delete_outline", "Delete", self._confirm_delete, "action_menu_delete"),
            IconButton("dots_vertical", "More options", self._more_with_selection),
        ]

    def _more_with_selection(self) -> None:
        items = [
            ("Select all", self.select_all),
            ("Copy to…", lambda: self.push(Destination("COPY", self.copy_selected))),
            ("Move to…", lambda: self.push(Destination("MOVE", self.move_selected))),
        ]
        self.push(Menu(items + ([("Rename", self.ask_rename)] if len(self.selected) == 1 else [])))

    def _confirm_delete(self) -> None:
        what = f'"{folder_name(self.selected[0])}"' if len(self.selected) == 1 else f"{len(self.selected)} items"
        self.push(Confirm(f"Delete {what}?", "", "OK", self.delete_selected))


class OpenWith(Menu):
    """Asks which app should open a file."""

    def __init__(self, apps: Sequence[tuple[str, Callable[[], None]]]) -> None:
        super().__init__(apps, "bottom")

    def build(self) -> View:
        """Shows a title above the apps."""
        card = super().build()
        card.children = [Text("Open with", 18, pad=(20, 12, 20, 6), id="title"), *card.children]
        return card


class FilesOfKind(Browser):
    """All files of a kind, such as "Images", wherever they are."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.kind = kind

    def build(self) -> View:
        """Shows the files, and buttons while some are selected."""
        body = ListView([self.row(entry) for entry in self.listed()])
        return self.selecting(body, self.selection_actions()) if self.selected else Scaffold(self.kind, body, self.pop)

    def listed(self) -> list[Entry]:
        """Returns the files of the kind, by name."""
        files = search(self.phone.storage, SHARED, "")
        return sorted((file for file in files if file.extension in KINDS[self.kind]), key=by_name)


def _icon(entry: Entry) -> View:
    if entry.folder:
        return Icon("folder")
    return Icon(next((icon for group, icon in ICONS.items() if entry.extension in group), "file_outline"))


APP = Files
