"""Joplin: notes and to-dos in notebooks."""

from __future__ import annotations

import re
from functools import partial

from coach_gym.envs.apps.joplin import data
from coach_gym.envs.apps.joplin.data import DATABASE, PACKAGE, SCHEMA, Note
from coach_gym.envs.phone.app import Choice, Confirm, DatabaseApp, Menu, Prompt, Screen
from coach_gym.envs.phone.epoch import to_millis
from coach_gym.envs.phone.toolkit import theme
from coach_gym.envs.phone.toolkit.view import TextInput, View
from coach_gym.envs.phone.toolkit.widgets import (
    Checkbox,
    CheckItem,
    Column,
    Divider,
    Empty,
    Fab,
    Header,
    Icon,
    IconButton,
    ListItem,
    ListView,
    Row,
    Scaffold,
    Text,
    TextField,
)

ALL = "All notes"
_TASK = re.compile(r"(\s*[-*] )\[([ xX])\] ?(.*)")  # a check box in the text of a note
_HEADING = re.compile(r"(#{1,6}) +(.*)")
_BULLET = re.compile(r"\s*[-*+] +(.*)")


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


class Notes(Screen):
    """The notes of one notebook, or of all."""

    app: Joplin

    def __init__(self) -> None:
        super().__init__()
        self.folder = ""  # id; empty for all notebooks

    def build(self) -> View:
        """Lists the notes of the notebook that is shown."""
        shown = data.notes(self.app.db, self.folder)
        rows = [_row(self, note) for note in shown]
        nothing = "There are currently no notes. Create one by clicking on the (+) button."
        body = ListView([*rows, View(height=80)], key=self.folder) if rows else Empty(nothing, "notebook_outline")
        menu = IconButton("menu", "Sidebar", lambda: self.push(SideMenu(self)))
        title = Row([menu, Text(self._title(), 19, max_lines=1, flex=1)], gap=4)
        actions = [
            IconButton("magnify", "Search", self._search),
            IconButton("dots_vertical", "More options", self._menu),
        ]
        return Scaffold(title, body, actions=actions, fab=Fab("plus", "Add new", self._choose_new))

    def _title(self) -> str:
        return data.folder_title(self.app.db, self.folder) or ALL

    def on_back(self) -> bool:
        """Leads from a notebook to all notes."""
        inside, self.folder = bool(self.folder), ""
        return inside

    def _search(self) -> None:
        search = Search()
        self.push(search)
        self.focus(search.query)

    def _menu(self) -> None:
        if self.folder:
            self.push(Menu([("Edit notebook", self._rename)]))
        else:
            self.notify("No notebook is selected")

    def _rename(self) -> None:
        self.push(Prompt("Edit notebook", partial(self._renamed, self.folder), self._title(), "Notebook title"))

    def _renamed(self, folder: str, title: str) -> None:
        self.app.db.execute("UPDATE folders SET title = ? WHERE id = ?", (title, folder))

    def _choose_new(self) -> None:
        items = [("New to-do", lambda: self._new(True)), ("New note", lambda: self._new(False))]
        self.push(Menu(items, "bottom"))

    def _new(self, todo: bool) -> None:
        folder = self.folder or next((id for id, _, _ in data.folders(self.app.db)), "")
        if not folder:
            folder = data.create_folder(self.app.db, "Notebook", self.now)
        id = data.create(self.app.db, folder, "", "", self.now, todo)
        editor = Editor(id, "", "")
        self.push(editor)
        self.focus(editor.title)


def _row(screen: Screen, note: Note) -> View:
    """Returns the row of a note; a to-do has a check box."""
    title = note.title or "Untitled"
    open_note = partial(screen.push, NoteScreen(note.id))
    text = Text(title, 15, theme.SECONDARY if note.done else theme.TEXT, max_lines=1, flex=1, pad=(0, 12, 0, 12))
    if not note.todo:
        return Row([text], pad=(16, 0, 16, 0), min_height=48, important=True, on_tap=open_note)
    box = Checkbox(note.done, partial(_tick, screen, note), f"to-do: {title}")
    body = Row([text], flex=1, important=True, on_tap=open_note, min_height=48)
    return Row([box, body], gap=2, pad=(6, 0, 16, 0))


def _tick(screen: Screen, note: Note) -> None:
    """Completes a to-do, or makes it open again."""
    at = 0 if note.done else to_millis(screen.now)
    data.update(screen.app.db, note.id, screen.now, todo_completed=at)  # type: ignore[attr-defined]


class SideMenu(Screen):
    """The notebooks to choose from."""

    app: Joplin

    def __init__(self, notes: Notes) -> None:
        super().__init__()
        self.notes = notes

    def build(self) -> View:
        """Lists the notebooks with the number of their notes."""
        books = data.folders(self.app.db)
        rows: list[View] = [
            ListItem(ALL, on_tap=partial(self._show, ""), leading=Icon("note_multiple_outline")),
            Divider(),
            Header("Notebooks"),
        ]
        for id, title, count in books:
            number = Text(str(count), 13, theme.SECONDARY)
            rows.append(
                ListItem(title, on_tap=partial(self._show, id), leading=Icon("notebook_outline"), trailing=number)
            )
        rows += [Divider(), ListItem("New notebook", on_tap=self._ask, leading=Icon("plus"))]
        return Scaffold("Joplin", ListView(rows), self.pop)

    def _show(self, folder: str) -> None:
        self.notes.folder = folder
        self.pop()

    def _ask(self) -> None:
        self.ask("New notebook", self._create, hint="Enter notebook title")

    def _create(self, title: str) -> None:
        if title.strip():
            data.create_folder(self.app.db, title.strip(), self.now)
        else:
            self.notify("The notebook needs a title")


class Search(Screen):
    """The notes of all notebooks that contain some words."""

    app: Joplin

    def __init__(self) -> None:
        super().__init__()
        self.query = TextInput()

    def build(self) -> View:
        """Lists the notes that match as it is typed."""
        rows = [_row(self, note) for note in data.search(self.app.db, self.query.text)]
        clear = IconButton("close", "Clear", partial(self.query.set, ""))
        return Scaffold(TextField(self.query, "Search", "search"), ListView(rows), self.pop, [clear])


class NoteScreen(Screen):
    """One note to read. Its check boxes can be ticked."""

    app: Joplin

    def __init__(self, id: str) -> None:
        super().__init__()
        self.id = id

    def build(self) -> View:
        """Shows the note line by line."""
        note = data.note(self.app.db, self.id)
        if note is None:
            return Scaffold("", Empty("This note was deleted", "notebook_outline"), self.pop)
        heading: list[View] = [Text(note.title or "Untitled", 20, bold=True, flex=1, id="note_title")]
        if note.todo:
            heading.insert(0, Checkbox(note.done, partial(_tick, self, note), f"to-do: {note.title}"))
        book = Text(data.folder_title(self.app.db, note.folder), 12, theme.SECONDARY, pad=(16, 4, 16, 0))
        lines = [self._line(note, number, line) for number, line in enumerate(note.body.split("\n"))]
        body = ListView([Row(heading, gap=4, pad=(16, 2, 16, 8)), Divider(), *lines, View(height=80)])
        more = IconButton("dots_vertical", "More options", partial(self._menu, note))
        page = Column([book, body], flex=1)
        return Scaffold(
            "", page, self.pop, [more], Fab("pencil", "Edit", lambda: self.push(Editor(note.id, note.title, note.body)))
        )

    def _line(self, note: Note, number: int, line: str) -> View:
        """Returns a line of Markdown as it looks."""
        if task := _TASK.fullmatch(line):
            return CheckItem(task[3], task[2] != " ", partial(self._tick_line, note, number))
        if heading := _HEADING.fullmatch(line):
            return Text(heading[2], max(15, 22 - 2 * len(heading[1])), bold=True, pad=(16, 8, 16, 4))
        if bullet := _BULLET.fullmatch(line):
            return Text(f"• {bullet[1]}", 15, pad=(24, 2, 16, 2))
        return Text(line, 15, pad=(16, 2, 16, 2), min_height=10)

    def _tick_line(self, note: Note, number: int) -> None:
        lines = note.body.split("\n")
        task = _TASK.fullmatch(lines[number])
        if task is not None:
            mark = "x" if task[2] == " " else " "
            lines[number] = lines[number][: task.start(2)] + mark + lines[number][task.end(2) :]
            data.update(self.app.db, note.id, self.now, body="\n".join(lines))

    def _menu(self, note: Note) -> None:
        convert = "Convert to note" if note.todo else "Convert to to-do"
        kind = {"is_todo": int(not note.todo), "todo_completed": 0}
        self.push(Menu([
            (convert, lambda: data.update(self.app.db, note.id, self.now, **kind)),
            ("Move to notebook…", lambda: self._choose_folder(note)),
            ("Delete note", lambda: self.push(Confirm("Delete note?", "", "OK", self._delete))),
        ]))  # fmt: skip

    def _choose_folder(self, note: Note) -> None:
        titles = [title for _, title, _ in data.folders(self.app.db)]
        current = data.folder_title(self.app.db, note.folder)
        self.push(Choice("Move to notebook…", titles, self._move, current))

    def _move(self, title: str) -> None:
        folder = next(id for id, known, _ in data.folders(self.app.db) if known == title)
        data.update(self.app.db, self.id, self.now, parent_id=folder)

    def _delete(self) -> None:
        data.delete(self.app.db, self.id)
        self.pop()


class Editor(Screen):
    """The title and text of a note. Leaving the screen stores what was typed."""

    app: Joplin

    def __init__(self, id: str, title: str, body: str) -> None:
        super().__init__()
        self.id = id
        self.title, self.body = TextInput(title), TextInput(body)

    def build(self) -> View:
        """Shows the fields of title and text."""
        title = TextField(self.title, "Add title", "note_title", border=None, bold=True)
        body = TextField(self.body, "Add body", "note_body", lines=10, flex=1, border=None)
        save = IconButton("content_save_outline", "Save changes", self.leave)
        return Scaffold("", ListView([title, Divider(), body]), self.leave, [save])

    def on_back(self) -> bool:
        """Stores what was changed, then leaves."""
        note, changes = data.note(self.app.db, self.id), {}
        if note is not None and self.title.text != note.title:
            changes["title"] = self.title.text.strip()
        if note is not None and self.body.text != note.body:
            changes["body"] = self.body.text
        if changes and not self.title.text.strip():
            changes["title"] = self.body.text.strip().split("\n")[0][:80]
        if changes:
            data.update(self.app.db, self.id, self.now, **changes)
        return False


APP = Joplin
