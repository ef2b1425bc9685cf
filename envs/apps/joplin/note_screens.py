"""A note of Joplin: its row in lists, the note to read, and the note to edit."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial

from coach_gym.envs.apps.joplin import data
from coach_gym.envs.apps.joplin.data import Note
from coach_gym.envs.phone.app import Choice, DatabaseApp, Dialog, Menu, Screen
from coach_gym.envs.phone.epoch import to_millis
from coach_gym.envs.phone.intents import EXTRA_TEXT, SEND, Intent
from coach_gym.envs.phone.toolkit import theme
from coach_gym.envs.phone.toolkit.view import TextInput, View
from coach_gym.envs.phone.toolkit.widgets import (
    Action,
    Checkbox,
    CheckItem,
    Column,
    Divider,
    Empty,
    Fab,
    IconButton,
    ListView,
    Row,
    Scaffold,
    Text,
    TextField,
)

_TASK = re.compile(r"(\s*[-*] )\[([ xX])\] ?(.*)")  # a check box in the text of a note
_HEADING = re.compile(r"(#{1,6}) +(.*)")
_BULLET = re.compile(r"\s*[-*+] +(.*)")


def note_row(
    screen: Screen, note: Note, on_tap: Action | None = None, on_long: Action | None = None, selected: bool = False
) -> View:
    """Returns the row of a note; a to-do has a check box. A touch opens the note, unless `on_tap` is given."""
    title = note.title or "Untitled"
    on_tap = on_tap or partial(screen.push, NoteScreen(note.id))
    bg = "#d3e3fd" if selected else None
    text = Text(title, 15, theme.SECONDARY if note.done else theme.TEXT, max_lines=1, flex=1, pad=(0, 12, 0, 12))
    if not note.todo:
        return Row(
            [text], pad=(16, 0, 16, 0), min_height=48, important=True, on_tap=on_tap, on_long=on_long, bg=bg,
            selected=selected,
        )  # fmt: skip
    box = Checkbox(note.done, partial(_tick, screen, note), f"to-do: {title}")
    body = Row([text], flex=1, important=True, on_tap=on_tap, on_long=on_long, min_height=48, selected=selected)
    return Row([box, body], gap=2, pad=(6, 0, 16, 0), bg=bg)


def _tick(screen: Screen, note: Note) -> None:
    """Completes a to-do, or makes it open again."""
    at = 0 if note.done else to_millis(screen.now)
    data.update(screen.app.db, note.id, screen.now, todo_completed=at)  # type: ignore[attr-defined]


class NoteScreen(Screen):
    """One note to read. Its check boxes can be ticked."""

    app: DatabaseApp

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
        title = "Trash" if note.deleted else data.folder_title(self.app.db, note.folder)
        book = Text(title, 12, theme.SECONDARY, pad=(16, 4, 16, 0))
        lines = [self._line(note, number, line) for number, line in enumerate(note.body.split("\n"))]
        body = ListView([Row(heading, gap=4, pad=(16, 2, 16, 8)), Divider(), *lines, View(height=80)])
        more = IconButton("dots_vertical", "More options", partial(self._menu, note))
        page = Column([book, body], flex=1)
        edit = Fab("pencil", "Edit", lambda: self.push(Editor(note.id, note.title, note.body)))
        return Scaffold("", page, self.pop, [more], None if note.deleted else edit)

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
        kind = {"is_todo": int(not note.todo), "todo_completed": 0}
        items: list[tuple[str, Action]] = [
            ("Share", partial(self._share, note)),
            ("Convert to note" if note.todo else "Convert to todo", lambda: self._update(note, **kind)),
            ("Copy Markdown link", partial(self._copy_link, note)),
            ("Properties", lambda: self.push(Properties(note))),
            ("Move to notebook…", lambda: self._choose_folder(note)),
            ("Delete", self._delete),
        ]
        if note.deleted:
            items = [("Properties", lambda: self.push(Properties(note))), ("Restore", self._restore)]
        self.push(Menu(items))

    def _update(self, note: Note, **values: str | int) -> None:
        data.update(self.app.db, note.id, self.now, **values)

    def _share(self, note: Note) -> None:
        text = f"{note.title}\n\n{note.body}"
        if self.phone.start(Intent(SEND, type="text/plain", extras={EXTRA_TEXT: text})) is None:
            self.notify("No apps can perform this action.")

    def _copy_link(self, note: Note) -> None:
        self.phone.clipboard = f"[{note.title}](:/{note.id})"

    def _choose_folder(self, note: Note) -> None:
        titles = [title for _, title, _ in data.folders(self.app.db)]
        current = data.folder_title(self.app.db, note.folder)
        self.push(Choice("Move to notebook…", titles, self._move, current))

    def _move(self, title: str) -> None:
        folder = next(id for id, known, _ in data.folders(self.app.db) if known == title)
        data.update(self.app.db, self.id, self.now, parent_id=folder)

    def _delete(self) -> None:
        """Puts the note into the trash; the real app does not ask."""
        data.delete(self.app.db, self.id, self.now)
        self.pop()

    def _restore(self) -> None:
        data.restore(self.app.db, self.id, self.now)
        self.pop()


class Properties(Dialog):
    """When a note was made and changed."""

    def __init__(self, note: Note) -> None:
        super().__init__("Properties")
        self.note = note

    def content(self) -> Sequence[View]:
        """Returns the two times."""
        times = {"Created": self.note.created, "Updated": self.note.updated}
        return [Text(f"{name}: {at:%d/%m/%Y %H:%M}", 14, pad=(20, 4, 20, 4)) for name, at in times.items()]

    def buttons(self) -> Sequence[View]:
        """Returns the button that closes it."""
        return [self.button("Close")]


class Editor(Screen):
    """The title and text of a note. Leaving the screen stores what was typed.

    Args:
        id: The note.
        title: Its title.
        body: Its text.
        new: Whether it was just made; it is removed again if nothing is typed.
    """

    app: DatabaseApp

    def __init__(self, id: str, title: str, body: str, new: bool = False) -> None:
        super().__init__()
        self.id, self.new = id, new
        self.title, self.body = TextInput(title), TextInput(body)

    def build(self) -> View:
        """Shows the fields of title and text."""
        title = TextField(self.title, "Add title", "note_title", border=None, bold=True)
        body = TextField(self.body, "Add body", "note_body", lines=10, flex=1, border=None)
        save = IconButton("content_save_outline", "Save changes", self.leave)
        return Scaffold("", ListView([title, Divider(), body]), self.leave, [save])

    def on_back(self) -> bool:
        """Stores what was changed, then leaves."""
        if self.new and not (self.title.text or self.body.text):
            data.erase(self.app.db, self.id)
            return False
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
