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
    """From the list to the editor of a note, or into a folder."""
    yield from s.scroll_to(name)
    yield s.tap(name)


def select(s: Screen, name: str) -> Iterator[str]:
    """From the list to its toolbar for a note or folder."""
    yield from s.scroll_to(name)
    yield s.long_press(name)


def new_note(s: Screen, name: str) -> Iterator[str]:
    """From the list to the empty editor of a new note."""
    yield s.tap("Create a new file or folder")
    yield from s.fill("Name", name)
    if not name.endswith(EXTENSIONS):
        yield s.tap("new_file_dialog__ext")
        yield s.tap(NO_EXTENSION)
    yield s.tap("OK")


def rename(s: Screen, name: str, new_name: str) -> Iterator[str]:
    """From the list: another name for a note."""
    yield from select(s, name)
    yield s.tap("Rename")
    yield from s.fill("Name", new_name)
    yield s.tap("OK")


def add_at_top(s: Screen, text: str) -> Iterator[str]:
    """In the editor: a text before the one that is there."""
    yield s.tap("More options")
    yield s.tap("Jump to top")
    yield s.type(text)


def replace_text(s: Screen, text: str) -> Iterator[str]:
    """In the editor: a text instead of the one that is there."""
    yield s.long_press(EDITOR)
    yield s.type(text)


@expert("MarkorCreateNote")
def create_note(s: Screen, p: Params) -> Iterator[str]:
    yield from s.open("Markor")
    yield from new_note(s, p["name"])
    yield from s.fill(EDITOR, p["text"])
    yield s.tap("Save")
    yield s.finish()


@expert("MarkorCreateNoteAndSms")
def create_note_and_sms(s: Screen, p: Params) -> Iterator[str]:
    yield from s.open("Markor")
    yield from new_note(s, p["name"])
    yield from s.fill(EDITOR, p["text"])
    yield s.tap("More options")
    yield s.tap("Share")
    yield s.tap("Simple SMS Messenger")
    yield from s.fill("new_conversation_address", p["number"])
    yield s.tap("OK")
    yield s.tap("SMS")
    yield s.finish()


@expert("MarkorCreateNoteFromClipboard")
def create_note_from_clipboard(s: Screen, p: Params) -> Iterator[str]:
    yield from s.open("Markor")
    yield from new_note(s, p["name"])
    yield s.long_press(EDITOR)
    yield s.tap("Paste")
    yield s.tap("Save")
    yield s.finish()


@expert("MarkorCreateFolder")
def create_folder(s: Screen, p: Params) -> Iterator[str]:
    yield from s.open("Markor")
    yield s.tap("Create a new file or folder")
    yield from s.fill("Name", p["name"])
    yield s.tap("Folder")
    yield s.finish()


@expert("MarkorMergeNotes")
def merge_notes(s: Screen, p: Params) -> Iterator[str]:
    yield from s.open("Markor")
    texts = []
    for which in ("first", "second", "third"):
        yield from open_note(s, p[which])
        texts.append(s.find(EDITOR).value)
        yield s.tap("Navigate up")
    yield from new_note(s, p["name"])
    yield from s.fill(EDITOR, "\n\n".join(texts))
    yield s.tap("Save")
    yield s.finish()


@expert("MarkorDeleteNote")
def delete_note(s: Screen, p: Params) -> Iterator[str]:
    yield from s.open("Markor")
    yield from select(s, p["name"])
    yield s.tap("Delete")
    yield s.tap("OK")
    yield s.finish()


@expert("MarkorDeleteNewestNote")
def delete_newest_note(s: Screen, p: Params) -> Iterator[str]:
    yield from s.open("Markor")
    yield s.long_press(max(filter(_date, s.elements), key=_date).label)
    yield s.tap("Delete")
    yield s.tap("OK")
    yield s.finish()


def _date(row: Element) -> str:
    """The date below a note's name, in a form that sorts; empty if the element is not a note."""
    try:
        return datetime.strptime(f"2023 {row.label.rpartition(', ')[2]}", "%Y %b %d %H:%M").isoformat()
    except ValueError:
        return ""


@expert("MarkorDeleteAllNotes")
def delete_all_notes(s: Screen, p: Params) -> Iterator[str]:
    yield from s.open("Markor")
    yield s.long_press(lambda e: e.long_clickable)
    yield s.tap("More options")
    yield s.tap("Select all")
    yield s.tap("Delete")
    yield s.tap("OK")
    yield s.finish()


@expert("MarkorEditNote")
def edit_note(s: Screen, p: Params) -> Iterator[str]:
    edits: dict[str, Callable[[], Iterator[str]]] = {
        "at the top": lambda: add_at_top(s, p["text"] + "\n"),
        "at the bottom": lambda: s.fill(EDITOR, "\n" + p["text"]),
        "in place of the old text": lambda: replace_text(s, p["text"]),
    }
    yield from s.open("Markor")
    yield from open_note(s, p["name"])
    yield from edits[p["where"]]()
    yield s.tap("Save")
    yield s.finish()


@expert("MarkorAddNoteHeader")
def add_note_header(s: Screen, p: Params) -> Iterator[str]:
    yield from s.open("Markor")
    yield from open_note(s, p["name"])
    yield from add_at_top(s, p["text"] + "\n\n")
    yield s.tap("Save")
    yield s.tap("Navigate up")
    yield from rename(s, p["name"], p["new_name"])
    yield s.finish()


@expert("MarkorChangeNoteContent")
def change_note_content(s: Screen, p: Params) -> Iterator[str]:
    yield from s.open("Markor")
    yield from open_note(s, p["name"])
    yield from replace_text(s, p["text"])
    yield s.tap("Save")
    yield s.tap("Navigate up")
    yield from rename(s, p["name"], p["new_name"])
    yield s.finish()


@expert("MarkorRenameNote")
def rename_note(s: Screen, p: Params) -> Iterator[str]:
    yield from s.open("Markor")
    yield from rename(s, p["name"], p["new_name"])
    yield s.finish()


@expert("MarkorMoveNote")
def move_note(s: Screen, p: Params) -> Iterator[str]:
    yield from s.open("Markor")
    yield from open_note(s, p["source"])
    yield from select(s, p["name"])
    yield s.tap("Move")
    yield from open_note(s, p["target"])
    yield s.tap("Select")
    yield s.finish()


@expert("MarkorNoteByAge")
def note_by_age(s: Screen, p: Params) -> Iterator[str]:
    yield from s.open("Markor")
    rows = sorted(filter(_date, s.elements), key=_date)
    chosen = rows[-1] if p["age"] == "newest" else rows[0]
    yield s.finish(chosen.label.rpartition(", ")[0])


@expert("MarkorCountNotes")
def count_notes(s: Screen, p: Params) -> Iterator[str]:
    yield from s.open("Markor")
    yield from open_note(s, p["folder"])
    yield s.finish(str(sum(1 for row in s.elements if _date(row))))


@expert("MarkorNoteLine")
def note_line(s: Screen, p: Params) -> Iterator[str]:
    yield from s.open("Markor")
    yield from open_note(s, p["name"])
    yield s.finish(s.find(EDITOR).value)
