"""Joplin: notes and to-dos in notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from coach_gym.envs.apps.joplin import data
from coach_gym.envs.apps.joplin.data import DATABASE, PACKAGE, SCHEMA
from coach_gym.envs.apps.joplin.note_screens import Editor, NoteScreen, note_row
from coach_gym.envs.apps.joplin.notebooks import ALL, FolderForm, SideMenu
from coach_gym.envs.phone.app import Choice, DatabaseApp, Dialog, Menu, Screen
from coach_gym.envs.phone.screens.pages import SelectionPage
from coach_gym.envs.phone.toolkit.view import TextInput, View
from coach_gym.envs.phone.toolkit.widgets import (
    Button,
    CheckItem,
    Column,
    Divider,
    Empty,
    Fab,
    IconButton,
    ListView,
    Radio,
    Row,
    Scaffold,
    Text,
    TextField,
)


class Joplin(DatabaseApp):
    """The Joplin app."""

    package = PACKAGE
    activity = "net.cozic.joplin.MainActivity"
    label = "Joplin"
    icon = "alpha_j_box"
    color = "#0053b8"
    path = DATABASE
    schema = SCHEMA

    def main(self) -> Screen:
        """Opens the list of all notes."""
        return Notes()


class Notes(SelectionPage[str]):
    """The notes of one notebook, or of all. A long touch selects one by its id."""

    app: Joplin

    def __init__(self) -> None:
        super().__init__()
        self.folder = ""  # id; empty for all notebooks

    def build(self) -> View:
        """Lists the notes of the notebook that is shown."""
        books = data.folders(self.app.db)
        body = self._body() if books else self._no_books()
        if self.selected:
            return self.selecting(body, self._for_selected())
        menu = IconButton("menu", "Sidebar", lambda: self.push(SideMenu(self)))
        title = Row([menu, Text(self._title(), 19, max_lines=1, flex=1)], gap=4)
        actions = [
            IconButton("magnify", "Search", self._search),
            IconButton("filter_outline", "Sort notes by", lambda: self.push(Sorting())),
        ]
        return Scaffold(title, body, actions=actions, fab=Fab("plus", "Add new", self._choose_new) if books else None)

    def _body(self) -> View:
        nothing = "There are currently no notes. Create one by clicking on the (+) button."
        rows = [
            note_row(self, note, partial(self._tap, note.id), partial(self.toggle, note.id), note.id in self.selected)
            for note in data.listed(self.app.db, self.folder)
        ]
        return ListView([*rows, View(height=80)], key=self.folder) if rows else Empty(nothing, "notebook_outline")

    def _no_books(self) -> View:
        create = Row([Button("Create a notebook", self._create_book)], justify="center", pad=16)
        return Column([Empty("You currently have no notebooks.", "notebook_outline"), create])

    def _create_book(self) -> None:
        form = FolderForm(self)
        self.push(form)
        form.focus(form.title)

    def _title(self) -> str:
        return data.folder_title(self.app.db, self.folder) or ALL

    def on_back(self) -> bool:
        """Ends the selection, or leads from a notebook to all notes."""
        if super().on_back():
            return True
        inside, self.folder = bool(self.folder), ""
        return inside

    def _tap(self, id: str) -> None:
        if self.selected:
            self.toggle(id)
        else:
            self.push(NoteScreen(id))

    def _search(self) -> None:
        search = Search()
        self.push(search)
        self.focus(search.query)

    def _choose_new(self) -> None:
        items = [("New to-do", lambda: self._new(True)), ("New note", lambda: self._new(False))]
        self.push(Menu(items, "bottom"))

    def _new(self, todo: bool) -> None:
        folder = self.folder or data.default_folder(self.app.db)
        editor = Editor(data.create(self.app.db, folder, "", "", self.now, todo), "", "", new=True)
        self.push(editor)
        self.focus(editor.title)

    # what can be done with the selected notes

    def _for_selected(self) -> list[View]:
        return [
            IconButton("folder_outline", "Move to notebook…", self._choose_folder),
            IconButton("select_all", "Select all", self._select_all),
            IconButton("delete_outline", "Delete", self._delete_selected),
            IconButton("content_copy", "Duplicate", self._duplicate_selected),
        ]

    def _select_all(self) -> None:
        """Selects all notes, or none if all are selected."""
        listed = [note.id for note in data.listed(self.app.db, self.folder)]
        self.selected = [] if len(self.selected) == len(listed) else listed

    def _delete_selected(self) -> None:
        for id in self.selected:
            data.delete(self.app.db, id, self.now)
        self.unselect()

    def _duplicate_selected(self) -> None:
        for id in self.selected:
            data.duplicate(self.app.db, id, self.now)
        self.unselect()

    def _choose_folder(self) -> None:
        titles = [title for _, title, _ in data.folders(self.app.db)]
        self.push(Choice("Move to notebook…", titles, self._move_selected))

    def _move_selected(self, title: str) -> None:
        folder = next(id for id, known, _ in data.folders(self.app.db) if known == title)
        for id in self.selected:
            data.update(self.app.db, id, self.now, parent_id=folder)
        self.unselect()


class Sorting(Dialog):
    """How lists of notes are sorted, and which to-dos they show."""

    app: Joplin

    SWITCHES = {
        data.REVERSE: "Reverse sort order", data.TO_DOS_FIRST: "Uncompleted to-dos on top",
        data.SHOWS_DONE: "Show completed to-dos",
    }  # fmt: skip

    def __init__(self) -> None:
        super().__init__("Sort notes by")

    def content(self) -> Sequence[View]:
        """Returns the fields, of which one is chosen, and the switches. Touching one closes the dialog."""
        current = data.setting(self.app.db, data.SORT_FIELD)
        fields = [
            Radio(name, field == current, self.closing(partial(self._set, data.SORT_FIELD, field)))
            for name, field in data.SORT_FIELDS.items()
        ]
        switches = [self._switch(key, name) for key, name in self.SWITCHES.items()]
        return [Column([ListView([*fields, Divider(), *switches])], height=372)]

    def _switch(self, key: str, name: str) -> View:
        on = data.setting(self.app.db, key) == "1"
        return CheckItem(name, on, self.closing(partial(self._set, key, "0" if on else "1")))

    def _set(self, key: str, value: str) -> None:
        data.change_setting(self.app.db, key, value)


class Search(Screen):
    """The notes of all notebooks that contain some words."""

    app: Joplin

    def __init__(self) -> None:
        super().__init__()
        self.query = TextInput()

    def build(self) -> View:
        """Lists the notes that match as it is typed."""
        rows = [note_row(self, note) for note in data.search(self.app.db, self.query.text)]
        clear = IconButton("close", "Clear", partial(self.query.set, ""))
        return Scaffold(TextField(self.query, "Search", "search"), ListView(rows), self.pop, [clear])


APP = Joplin
