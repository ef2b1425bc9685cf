"""Experts of the Files families."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from coach_gym.envs.tasks.screen import Screen, expert

Params = Mapping[str, Any]


def open_folder(s: Screen, name: str) -> Iterator[str]:
    """Goes from the list into one of its folders."""
    yield from s.scroll_to(name)
    yield s.tap(name)


def _select_file(s: Screen, p: Params) -> Iterator[str]:
    """Selects the file that the goal names."""
    yield from s.open("Files")
    yield from open_folder(s, p["folder"])
    yield from s.scroll_to(p["name"])
    yield s.long_press(p["name"])


def _take_to_target(s: Screen, p: Params, verb: str) -> Iterator[str]:
    """Moves or copies the file into the folder that the goal names."""
    yield from _select_file(s, p)
    yield s.tap("More options")
    yield s.tap(f"{verb} to…")
    yield from open_folder(s, p["target"])
    yield s.tap(verb.upper())


@expert("FilesDeleteFile")
def delete_file(s: Screen, p: Params) -> Iterator[str]:
    """Deletes a file."""
    yield from _select_file(s, p)
    yield s.tap("Delete")
    yield s.tap("OK")


@expert("FilesMoveFile")
def move_file(s: Screen, p: Params) -> Iterator[str]:
    """Moves a file to another folder."""
    yield from _take_to_target(s, p, "Move")


@expert("FilesCopyFile")
def copy_file(s: Screen, p: Params) -> Iterator[str]:
    """Copies a file to another folder."""
    yield from _take_to_target(s, p, "Copy")


@expert("FilesRenameFile")
def rename_file(s: Screen, p: Params) -> Iterator[str]:
    """Renames a file."""
    yield from _select_file(s, p)
    yield s.tap("More options")
    yield s.tap("Rename")
    yield from s.fill("Name", p["new_name"])
    yield s.tap("OK")


@expert("FilesCreateFolder")
def create_folder(s: Screen, p: Params) -> Iterator[str]:
    """Makes a folder in another."""
    yield from s.open("Files")
    yield from open_folder(s, p["folder"])
    yield s.tap("More options")
    yield s.tap("New folder")
    yield from s.fill("Name", p["name"])
    yield s.tap("OK")


@expert("FilesFileSize")
def file_size(s: Screen, p: Params) -> Iterator[str]:
    """Answers with the size that stands below a file's name."""
    yield from s.open("Files")
    yield from open_folder(s, p["folder"])
    yield s.finish(s.find(p["name"]).label.rpartition(", ")[2])


@expert("FilesCountFiles")
def count_files(s: Screen, p: Params) -> Iterator[str]:
    """Answers with the number of rows that have a size."""
    yield from s.open("Files")
    yield from open_folder(s, p["folder"])
    found: set[str] = set()
    yield from s.sweep(lambda: found.update(r.label for r in s.elements if r.long_clickable and ", " in r.label))
    yield s.finish(str(len(found)))
