"""Experts of the Markor families."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any

from coach_gym.envs.apps.markor.app import EXTENSIONS, NO_EXTENSION
from coach_gym.envs.tasks.screen import Screen, expert
from coach_gym.ui import Element

Params = Mapping[str, Any]

EDITOR = "Note text"


def open_note(s: Screen, name: str) -> Iterator[str]:
    """Goes from the list to the editor of a note, or into a folder."""
    yield from s.scroll_to(name)
    yield s.tap(name)


def select(s: Screen, name: str) -> Iterator[str]:
    """Selects a note or folder of the list."""
    yield from s.scroll_to(name)
    yield s.long_press(name)


def new_note(s: Screen, name: str) -> Iterator[str]:
    """Goes from the list to the empty editor of a new note."""
    yield s.tap("Create a new file or folder")
    yield from s.fill("Name", name)
    if not name.endswith(EXTENSIONS):
        yield s.tap("new_file_dialog__ext")
        yield s.tap(NO_EXTENSION)
    yield s.tap("OK")


def rename(s: Screen, name: str, new_name: str) -> Iterator[str]:
    """Renames a note of the list."""
    yield from select(s, name)
    yield s.tap("Rename")
    yield from s.fill("Name", new_name)
    yield s.tap("OK")


def add_at(s: Screen, end: str, text: str) -> Iterator[str]:
    """Types a text at the "top" or "bottom" of the one in the editor."""
    yield s.tap("More options")
    yield s.tap(f"Jump to {end}")
    yield s.type(text)


def replace_text(s: Screen, text: str) -> Iterator[str]:
    """Types a text in place of the one in the editor."""
    yield from s.refill(EDITOR, text)


def _open_note(s: Screen, p: Params) -> Iterator[str]:
    """Opens the note that the goal names."""
    yield from s.open("Markor")
    yield from open_note(s, p["name"])


def _open_new_note(s: Screen, p: Params) -> Iterator[str]:
    """Makes the note that the goal names."""
    yield from s.open("Markor")
    yield from new_note(s, p["name"])


def _save_and_rename(s: Screen, p: Params) -> Iterator[str]:
    yield s.tap("Save")
    yield s.tap("Navigate up")
    yield from rename(s, p["name"], p["new_name"])


def _delete_selected(s: Screen) -> Iterator[str]:
    yield s.tap("Delete")
    yield s.tap("OK")


@expert("MarkorCreateNote")
def create_note(s: Screen, p: Params) -> Iterator[str]:
    """Makes a note and types its text."""
    yield from _open_new_note(s, p)
    yield from s.fill(EDITOR, p["text"])
    yield s.tap("Save")


@expert("MarkorCreateNoteAndSms")
def create_note_and_sms(s: Screen, p: Params) -> Iterator[str]:
    """Makes a note and shares its text as a text message."""
    yield from _open_new_note(s, p)
    yield from s.fill(EDITOR, p["text"])
    yield s.tap("More options")
    yield s.tap("Share")
    yield s.tap("Simple SMS Messenger")
    yield from s.fill("new_conversation_address", p["number"])
    yield s.tap("OK")
    yield s.tap("SMS")


@expert("MarkorCreateNoteFromClipboard")
def create_note_from_clipboard(s: Screen, p: Params) -> Iterator[str]:
    """Makes a note and pastes its text."""
    yield from _open_new_note(s, p)
    yield s.long_press(EDITOR)
    yield s.tap("Paste")
    yield s.tap("Save")


@expert("MarkorCreateFolder")
def create_folder(s: Screen, p: Params) -> Iterator[str]:
    """Makes a folder."""
    yield from s.open("Markor")
    yield s.tap("Create a new file or folder")
    yield from s.fill("Name", p["name"])
    yield s.tap("Folder")


@expert("MarkorMergeNotes")
def merge_notes(s: Screen, p: Params) -> Iterator[str]:
    """Reads three notes and types their texts into a new one."""
    yield from s.open("Markor")
    texts = []
    for which in ("first", "second", "third"):
        yield from open_note(s, p[which])
        texts.append(s.find(EDITOR).value)
        yield s.tap("Navigate up")
    yield from new_note(s, p["name"])
    yield from s.fill(EDITOR, "\n\n".join(texts))
    yield s.tap("Save")


@expert("MarkorDeleteNote")
def delete_note(s: Screen, p: Params) -> Iterator[str]:
    """Deletes a note."""
    yield from s.open("Markor")
    yield from select(s, p["name"])
    yield from _delete_selected(s)


@expert("MarkorDeleteNewestNote")
def delete_newest_note(s: Screen, p: Params) -> Iterator[str]:
    """Deletes the note with the latest date."""
    yield from s.open("Markor")
    yield s.long_press(max(filter(_date, s.elements), key=_date).label)
    yield from _delete_selected(s)


def _date(row: Element) -> str:
    """Returns the date below a note's name in a form that sorts; empty if the element is not a note."""
    try:
        return datetime.strptime(f"2023 {row.label.rpartition(', ')[2]}", "%Y %b %d %H:%M").isoformat()
    except ValueError:
        return ""


@expert("MarkorDeleteAllNotes")
def delete_all_notes(s: Screen, p: Params) -> Iterator[str]:
    """Selects all notes and deletes them."""
    yield from s.open("Markor")
    yield s.long_press(lambda e: e.long_clickable)
    yield s.tap("More options")
    yield s.tap("Select all")
    yield from _delete_selected(s)


@expert("MarkorEditNote")
def edit_note(s: Screen, p: Params) -> Iterator[str]:
    """Adds a line to a note, or replaces its text."""
    edits: dict[str, Callable[[], Iterator[str]]] = {
        "at the top": lambda: add_at(s, "top", p["text"] + "\n"),
        "at the bottom": lambda: add_at(s, "bottom", "\n" + p["text"]),
        "in place of the old text": lambda: replace_text(s, p["text"]),
    }
    yield from _open_note(s, p)
    yield from edits[p["where"]]()
    yield s.tap("Save")


@expert("MarkorAddNoteHeader")
def add_note_header(s: Screen, p: Params) -> Iterator[str]:
    """Adds a line above a note's text and renames the note."""
    yield from _open_note(s, p)
    yield from add_at(s, "top", p["text"] + "\n\n")
    yield from _save_and_rename(s, p)


@expert("MarkorChangeNoteContent")
def change_note_content(s: Screen, p: Params) -> Iterator[str]:
    """Replaces a note's text and renames the note."""
    yield from _open_note(s, p)
    yield from replace_text(s, p["text"])
    yield from _save_and_rename(s, p)


@expert("MarkorRenameNote")
def rename_note(s: Screen, p: Params) -> Iterator[str]:
    """Renames a note."""
    yield from s.open("Markor")
    yield from rename(s, p["name"], p["new_name"])


@expert("MarkorMoveNote")
def move_note(s: Screen, p: Params) -> Iterator[str]:
    """Moves a note to another folder."""
    yield from s.open("Markor")
    yield from open_note(s, p["source"])
    yield from select(s, p["name"])
    yield s.tap("Move")
    yield from open_note(s, p["target"])
    yield s.tap("Select")


@expert("MarkorNoteByAge")
def note_by_age(s: Screen, p: Params) -> Iterator[str]:
    """Answers with the name of the note with the latest or earliest date."""
    yield from s.open("Markor")
    rows = sorted(filter(_date, s.elements), key=_date)
    chosen = rows[-1] if p["age"] == "newest" else rows[0]
    yield s.finish(chosen.label.rpartition(", ")[0])


@expert("MarkorCountNotes")
def count_notes(s: Screen, p: Params) -> Iterator[str]:
    """Answers with the number of rows that have a date."""
    yield from s.open("Markor")
    yield from open_note(s, p["folder"])
    found: set[str] = set()
    yield from s.sweep(lambda: found.update(row.label for row in s.elements if _date(row)))
    yield s.finish(str(len(found)))


@expert("MarkorNoteLine")
def note_line(s: Screen, p: Params) -> Iterator[str]:
    """Answers with the text of a note."""
    yield from _open_note(s, p)
    yield s.finish(s.find(EDITOR).value)
