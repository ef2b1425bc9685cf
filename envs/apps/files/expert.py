"""Experts of the Files families."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from coach_gym.envs.tasks.screen import Screen, expert

Params = Mapping[str, Any]


def open_folder(s: Screen, name: str) -> Iterator[str]:
    """Into a folder of the list."""
    yield from s.scroll_to(name)
    yield s.tap(name)


@expert("FilesDeleteFile")
def delete_file(s: Screen, p: Params) -> Iterator[str]:
    yield from s.open("Files")
    yield from open_folder(s, p["folder"])
    yield from s.scroll_to(p["name"])
    yield s.long_press(p["name"])
    yield s.tap("Delete")
    yield s.tap("OK")
    yield s.finish()


@expert("FilesMoveFile")
def move_file(s: Screen, p: Params) -> Iterator[str]:
    yield from s.open("Files")
    yield from open_folder(s, p["folder"])
    yield from s.scroll_to(p["name"])
    yield s.long_press(p["name"])
    yield s.tap("More options")
    yield s.tap("Move to…")
    yield from open_folder(s, p["target"])
    yield s.tap("MOVE")
    yield s.finish()


@expert("FilesCopyFile")
def copy_file(s: Screen, p: Params) -> Iterator[str]:
    yield from s.open("Files")
    yield from open_folder(s, p["folder"])
    yield from s.scroll_to(p["name"])
    yield s.long_press(p["name"])
    yield s.tap("More options")
    yield s.tap("Copy to…")
    yield from open_folder(s, p["target"])
    yield s.tap("COPY")
    yield s.finish()


@expert("FilesRenameFile")
def rename_file(s: Screen, p: Params) -> Iterator[str]:
    yield from s.open("Files")
    yield from open_folder(s, p["folder"])
    yield from s.scroll_to(p["name"])
    yield s.long_press(p["name"])
    yield s.tap("More options")
    yield s.tap("Rename")
    yield from s.fill("Name", p["new_name"])
    yield s.tap("OK")
    yield s.finish()


@expert("FilesCreateFolder")
def create_folder(s: Screen, p: Params) -> Iterator[str]:
    yield from s.open("Files")
    yield from open_folder(s, p["folder"])
    yield s.tap("More options")
    yield s.tap("New folder")
    yield from s.fill("Name", p["name"])
    yield s.tap("OK")
    yield s.finish()


@expert("FilesFileSize")
def file_size(s: Screen, p: Params) -> Iterator[str]:
    yield from s.open("Files")
    yield from open_folder(s, p["folder"])
    yield s.finish(s.find(p["name"]).label.rpartition(", ")[2])


@expert("FilesCountFiles")
def count_files(s: Screen, p: Params) -> Iterator[str]:
    yield from s.open("Files")
    yield from open_folder(s, p["folder"])
    yield s.finish(str(sum(1 for row in s.elements if row.long_clickable and ", " in row.label)))
