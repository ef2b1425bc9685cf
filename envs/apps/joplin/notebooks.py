"""Joplin's side menu of notebooks, the form of a notebook, and the trash."""

from __future__ import annotations

from functools import partial
from typing import Protocol

from coach_gym.envs.apps.joplin import data
from coach_gym.envs.apps.joplin.note_screens import note_row
from coach_gym.envs.phone.app import Choice, Confirm, DatabaseApp, Dialog, Menu, Screen
from coach_gym.envs.phone.toolkit import theme
from coach_gym.envs.phone.toolkit.view import TextInput, View
from coach_gym.envs.phone.toolkit.widgets import (
    Action,
    Column,
    Divider,
    Empty,
    Header,
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

ALL = "All notes"
_NO_PARENT = "Select parent notebook"


class List(Protocol):
    """The list of notes beside which the side menu is opened.

    Attributes:
        folder: The id of the notebook that is shown; empty for all notebooks.
    """

    folder: str


class SideMenu(Screen):
    """The notebooks to choose from."""

    app: DatabaseApp

    def __init__(self, notes: List) -> None:
        super().__init__()
        self.notes = notes

    def build(self) -> View:
        """Lists the notebooks with the number of their notes, those inside another one below it."""
        rows: list[View] = [
            ListItem(ALL, on_tap=partial(self._show, ""), leading=Icon("note_multiple_outline")),
            Divider(),
            Header("Notebooks"),
        ]
        rows += [self._row(*book) for book in data.tree(self.app.db)]
        empty = Menu([("Empty trash", self._ask_to_empty)], "bottom")
        rows += [
            ListItem("Trash", "", self._open_trash, partial(self.push, empty), Icon("trash_can_outline")),
            Divider(),
            ListItem("New Notebook", on_tap=self._new, leading=Icon("plus")),
        ]
        return Scaffold("Joplin", ListView(rows), self.pop)

    def _row(self, id: str, title: str, count: int, depth: int) -> View:
        icon: View = Icon("notebook_outline")
        if depth:
            icon = Row([Space(width=20 * depth), icon])
        number = Text(str(count), 13, theme.SECONDARY)
        return ListItem(title, "", partial(self._show, id), partial(self._menu, id, title), icon, number)

    def _show(self, folder: str) -> None:
        self.notes.folder = folder
        self.pop()

    def _new(self) -> None:
        self._open_form(FolderForm(self.notes))

    def _open_form(self, form: FolderForm) -> None:
        self.replace(form)
        form.focus(form.title)

    def _menu(self, id: str, title: str) -> None:
        self.push(FolderMenu(f"Notebook: {title}", partial(self._edit, id), partial(self._ask_to_delete, id, title)))

    def _edit(self, id: str) -> None:
        parent = data.parents(self.app.db).get(id, "")
        self._open_form(FolderForm(self.notes, id, data.folder_title(self.app.db, id), parent))

    def _ask_to_delete(self, id: str, title: str) -> None:
        question = f'Move notebook "{title}" to the trash?'
        self.push(Confirm("", question, "OK", partial(self._delete, id)))

    def _delete(self, id: str) -> None:
        if self.notes.folder in data.below(self.app.db, id):
            self.notes.folder = ""
        data.delete_folder(self.app.db, id, self.now)

    def _open_trash(self) -> None:
        self.replace(Trash())

    def _ask_to_empty(self) -> None:
        question = "This will permanently delete all items in the trash. Continue?"
        self.push(Confirm("", question, "Empty trash", lambda: data.empty_trash(self.app.db)))


class FolderMenu(Dialog):
    """What can be done with a notebook."""

    def __init__(self, title: str, edit: Action, delete: Action) -> None:
        super().__init__(title)
        self.edit, self.delete = edit, delete

    def buttons(self) -> list[View]:
        """Returns the buttons to edit, delete, and do neither."""
        return [self.button("Edit", self.edit), self.button("Delete", self.delete), self.button("Cancel")]


class FolderForm(Screen):
    """The title of a notebook, and the notebook that it is in.

    Args:
        notes: The list that shows the notebook once it is saved.
        id: The notebook; None for a new one.
        title: Its title so far.
        parent: The id of the notebook that it is in so far; empty if it is in none.
    """

    app: DatabaseApp

    def __init__(self, notes: List, id: str | None = None, title: str = "", parent: str = "") -> None:
        super().__init__()
        self.notes, self.id = notes, id
        self.title, self.parent = TextInput(title), parent
        self.stored = title, parent

    def build(self) -> View:
        """Shows both fields; what is unchanged or has no title cannot be saved."""
        parent = data.folder_title(self.app.db, self.parent) or _NO_PARENT
        fields = [
            TextField(self.title, "Enter notebook title", "title"),
            ListItem(parent, on_tap=self._choose, trailing=Icon("menu_down"), pad=(4, 8, 4, 8)),
        ]
        changed = bool(self.title.text) and (self.title.text, self.parent) != self.stored
        save = IconButton("content_save_outline", "Save changes", self._save, enabled=changed)
        return Scaffold("Edit notebook", ListView([Column(fields, gap=10, pad=16)]), self.pop, [save])

    def _choose(self) -> None:
        ids = {title: id for id, title, _ in data.folders(self.app.db) if id != self.id}
        current = data.folder_title(self.app.db, self.parent) or _NO_PARENT
        self.push(Choice(_NO_PARENT, [_NO_PARENT, *ids], lambda title: self._set_parent(ids.get(title, "")), current))

    def _set_parent(self, id: str) -> None:
        self.parent = id

    def _save(self) -> None:
        title = self.title.text.lstrip("/\\")
        if title == "Conflicts":
            self.notify('Notebooks cannot be named "Conflicts", which is a reserved title.')
        elif self.id is None:
            self._show(data.create_folder(self.app.db, title, self.now, self.parent))
        elif self.parent in data.below(self.app.db, self.id):
            self.notify("Cannot move notebook to this location")
        else:
            data.update_folder(self.app.db, self.id, title, self.parent, self.now)
            self._show(self.id)

    def _show(self, id: str) -> None:
        self.notes.folder = id
        self.pop()


class Trash(Screen):
    """The notes in the trash."""

    app: DatabaseApp

    def build(self) -> View:
        """Lists the notes."""
        rows = [note_row(self, note) for note in data.trash(self.app.db)]
        body = ListView(rows) if rows else Empty("There are currently no notes.", "trash_can_outline")
        return Scaffold("Trash", body, self.pop)
