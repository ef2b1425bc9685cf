"""Markor edits notes, which are plain text files in Documents/Markor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from coach_gym.envs.apps.markor.editor import Editor, ShareSheet, decoded
from coach_gym.envs.phone.app import App, Choice, Confirm, Dialog, Menu, Screen
from coach_gym.envs.phone.folders import (
    SHARED,
    Entry,
    FolderScreen,
    by_date,
    by_name,
    by_size,
    by_type,
    entries,
    may_create,
)
from coach_gym.envs.phone.intents import VIEW, Intent
from coach_gym.envs.phone.paths import real
from coach_gym.envs.phone.toolkit import theme
from coach_gym.envs.phone.toolkit.view import TextInput, View
from coach_gym.envs.phone.toolkit.widgets import (
    Column,
    Fab,
    Icon,
    IconButton,
    ListItem,
    ListView,
    Scaffold,
    Text,
    TextField,
)

NOTEBOOK = f"{SHARED}/Documents/Markor"
EXTENSIONS = (".md", ".txt")  # of notes
TEXTS = (*EXTENSIONS, ".csv", ".json")
NO_EXTENSION = "none"
ORDERS = {"Name": by_name, "Date": by_date, "Size": by_size, "File type": by_type}


class Markor(App):
    """An editor of notes, which are files."""

    package = "net.gsantner.markor"
    activity = ".activity.MainActivity"
    label = "Markor"
    icon = "note_text_outline"
    color = "#d14b3a"

    def install(self) -> None:
        """Makes the notebook."""
        self.phone.storage.mkdir(NOTEBOOK)

    def main(self) -> Screen:
        """Opens the notebook."""
        return Notes()

    def open(self, intent: Intent) -> bool:
        """Shows a text file in the editor: `file:` links to text, and to anything if Markor is asked for by name."""
        path = real(intent.path)
        if intent.action != VIEW or not intent.data.startswith("file:"):
            return False
        if not intent.package and not path.lower().endswith(TEXTS):
            return False
        self.phone.open_screen(self.package, Editor(path, self.phone.storage.read(path)))
        return True


class Notes(FolderScreen):
    """The notebook: notes and folders, and what can be done with those selected."""

    def __init__(self) -> None:
        super().__init__(NOTEBOOK)

    def build(self) -> View:
        """Shows the folder, what is found in it, or what is selected."""
        body = ListView([self._row(entry) for entry in self.listed()], key=self.folder)
        if self.selected:
            return Scaffold(str(len(self.selected)), body, self.unselect, self._selection_actions())
        if self.query is not None:
            return Scaffold(TextField(self.query, "Search"), body, self.end_search)
        actions = [
            IconButton("magnify", "Search", self.start_search, "action_search"),
            IconButton("sort", "Sort by", self._choose_order, "action_sort"),
        ]
        fab = Fab("plus", "Create a new file or folder", self._create, "fab_add_new_item")
        return Scaffold(self.folder.rpartition("/")[2], body, None if self.at_root else self.up, actions, fab)

    def _row(self, entry: Entry) -> View:
        date = "" if entry.folder else self.phone.local(entry.modified).strftime("%b %-d %H:%M")
        return ListItem(
            entry.name, date, lambda: self._tap(entry), lambda: self.toggle(entry.path),
            leading=Icon("folder" if entry.folder else "file_document_outline"), selected=entry.path in self.selected,
        )  # fmt: skip

    def _tap(self, entry: Entry) -> None:
        if self.selected:
            self.toggle(entry.path)
        elif entry.folder:
            self.enter(entry.path)
        else:
            self.push(Editor(entry.path, self.phone.storage.read(entry.path)))

    def _choose_order(self) -> None:
        current = next(label for label, sort in ORDERS.items() if sort is self.sort)
        options = [*ORDERS, "Reverse order"]
        self.push(Choice("Sort by", options, self._order, current))

    def _order(self, label: str) -> None:
        if label == "Reverse order":
            self.sort_by(self.sort, not self.descending)
        else:
            self.sort_by(ORDERS[label], self.descending)

    # new files and folders

    def _create(self) -> None:
        dialog = NewFile(self._create_file, self._create_folder)
        self.push(dialog)
        self.focus(dialog.name)

    def _create_file(self, name: str) -> None:
        if may_create(self, self.folder, name):
            path = f"{self.folder}/{name}"
            self.phone.storage.write(path, b"")
            editor = Editor(path, b"")
            self.push(editor)
            self.focus(editor.input)

    def _create_folder(self, name: str) -> None:
        if may_create(self, self.folder, name):
            self.phone.storage.mkdir(f"{self.folder}/{name}")

    # what is selected

    def _selection_actions(self) -> list[View]:
        move = partial(self._choose_folder, "Move", self.move_selected)
        rename = IconButton("form_textbox", "Rename", self.ask_rename, "action_rename_selected_item")
        return [
            *([rename] if len(self.selected) == 1 else []),
            IconButton("delete_outline", "Delete", self._confirm_delete, "action_delete_selected_items"),
            IconButton("folder_move_outline", "Move", move, "action_move_selected_items"),
            IconButton("dots_vertical", "More options", self._more),
        ]

    def _more(self) -> None:
        copy = partial(self._choose_folder, "Copy", self.copy_selected)
        self.push(Menu([("Select all", self.select_all), ("Copy", copy), ("Share", self._share)]))

    def _choose_folder(self, title: str, then: Callable[[str], None]) -> None:
        self.push(FolderPicker(title, then))

    def _share(self) -> None:
        notes = [path for path in self.selected if not self.phone.storage.is_dir(path)]
        if notes:
            self.push(ShareSheet("\n".join(decoded(self.phone.storage.read(path))[0] for path in notes)))

    def _confirm_delete(self) -> None:
        names = "\n".join(path.rpartition("/")[2] for path in self.selected)
        self.push(Confirm("Confirm delete", names, "OK", self.delete_selected))


class NewFile(Dialog):
    """Asks for the name of a new file or folder. A name that ends like a note keeps its extension."""

    def __init__(self, file: Callable[[str], None], folder: Callable[[str], None]) -> None:
        super().__init__()
        self.name, self.extension = TextInput(), EXTENSIONS[0]
        self.file, self.folder = file, folder

    def content(self) -> Sequence[View]:
        """Shows fields for the name and its extension."""
        extension = ListItem(
            "Extension", self.extension, self._choose, pad=(4, 2, 4, 2), min_height=44, id="new_file_dialog__ext"
        )
        return [Column([TextField(self.name, "Name", "new_file_dialog__name", self._submit), extension], pad=16)]

    def buttons(self) -> Sequence[View]:
        """Offers to make a folder or a file."""
        return [
            self.button("Folder", self._make_folder),
            self.button("Cancel"),
            self.button("OK", self._make_file),
        ]

    def _choose(self) -> None:
        self.push(Choice("Extension", (*EXTENSIONS, NO_EXTENSION), self._chosen, self.extension))

    def _chosen(self, extension: str) -> None:
        self.extension = extension

    def _submit(self) -> None:
        self.pop()
        self._make_file()

    def _make_file(self) -> None:
        name = self.name.text.strip()
        extension = "" if self.extension == NO_EXTENSION or name.endswith(EXTENSIONS) else self.extension
        self.file(name and name + extension)

    def _make_folder(self) -> None:
        self.folder(self.name.text.strip())


class FolderPicker(Dialog):
    """Walks through the folders of the notebook; "Select" takes the one shown."""

    def __init__(self, title: str, then: Callable[[str], None]) -> None:
        super().__init__(title)
        self.folder, self.then = NOTEBOOK, then

    def content(self) -> Sequence[View]:
        """Shows the folders below, and the way up."""
        folders = [entry for entry in entries(self.phone.storage, self.folder) if entry.folder]
        rows = [self._row(entry.name, entry.path) for entry in folders]
        if self.folder != NOTEBOOK:
            rows.insert(0, self._row("..", self.folder.rpartition("/")[0]))
        here = Text(self.folder.rpartition("/")[2], 14, theme.SECONDARY, pad=(20, 0, 20, 4), id="folder_path")
        return [here, Column([ListView(rows, key=self.folder)], height=264)]

    def _row(self, name: str, path: str) -> View:
        return ListItem(name, "", lambda: self._enter(path), leading=Icon("folder"), min_height=44)

    def _enter(self, path: str) -> None:
        self.folder = path

    def buttons(self) -> Sequence[View]:
        """Offers to cancel or to take the folder shown."""
        return [self.button("Cancel"), self.button("Select", self._finish)]

    def _finish(self) -> None:
        self.then(self.folder)


APP = Markor
