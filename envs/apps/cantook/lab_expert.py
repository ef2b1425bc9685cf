"""Experts of Cantook."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from coach_gym.envs.tasks.screen import Screen, expert
from coach_gym.ui import Element

APP = "Cantook"
NUMBERS = ("No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten")


# questions


@expert("cantook_1")
def has_pride_and_prejudice(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Searches for the book."""
    yield from _my_books(s)
    yield s.tap("Search")
    yield s.type("Pride and Prejudice")
    yield s.finish("Yes" if any(_is_book(element) for element in s.elements) else "No")


@expert("cantook_2")
def last_read(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Reads the first title below "Recently read"."""
    yield from s.open(APP)
    yield s.finish(_below(s, "Recently read")[0].label.split(", ")[0])


@expert("cantook_3")
def author_of_second(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Reads the second author below "Recently added"."""
    yield from s.open(APP)
    yield from s.scroll_to("Recently added")
    yield s.finish(_below(s, "Recently added")[1].label.split(", ")[1])


@expert("cantook_4")
def books_by_dickens(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Reads how many books the author has."""
    yield from _my_books(s, "Authors")
    yield from s.scroll_to("Charles Dickens")
    yield s.finish(NUMBERS[int(s.find("Charles Dickens").label.split(", ")[1].split()[0])])


@expert("cantook_5")
def progress_of_romeo(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Reads the progress of the book."""
    yield from _progress(s, "Romeo and Juliet")


@expert("CantookProgressOf")
def progress_of(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Reads the progress of the book."""
    yield from _progress(s, p["title"])


@expert("CantookBooksByAuthor")
def books_by(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Reads how many books the author has."""
    yield from _my_books(s, "Authors")
    yield from s.scroll_to(p["author"])
    yield s.finish(s.find(p["author"]).label.split(", ")[1].split()[0])


# books


@expert("cantook_6")
def import_alice(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Imports the file and finds the book on the home page."""
    yield from _import(s, "alice_in_wonderland.epub")
    yield s.tap("Home")
    yield from s.scroll_to("Alice's Adventures in Wonderland")


@expert("CantookImportBook")
def import_book(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Imports the file."""
    yield from _import(s, p["file"])


@expert("cantook_7")
def delete_quixote(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Deletes the book."""
    yield from _delete(s, "Don Quixote")


@expert("CantookDeleteBook")
def delete_book(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Deletes the book."""
    yield from _delete(s, p["title"])


@expert("cantook_8")
def mark_hamlet(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Marks the book as read."""
    yield from _mark(s, "Hamlet", "Mark as read")


@expert("cantook_9")
def mark_second(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Marks the second book below "Recently read" as unread."""
    yield from s.open(APP)
    second = _below(s, "Recently read")[1].label.split(", ")[0]
    yield s.tap(f"Options of {second}")
    yield s.tap("Mark as unread")


@expert("CantookMarkAsRead")
def mark_as_read(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Marks the book as read."""
    yield from _mark(s, p["title"], "Mark as read")


@expert("cantook_10")
def open_romeo(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Opens the book."""
    yield from _my_books(s)
    yield from s.scroll_to("Romeo and Juliet")
    yield s.tap("Romeo and Juliet")


# shelves


@expert("cantook_11")
def open_tragedies(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Opens the category."""
    yield from _my_books(s, "Categories")
    yield from s.scroll_to("Tragedies")
    yield s.tap("Tragedies")


@expert("cantook_12")
def create_favorite(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Creates the collection."""
    yield from _create(s, "Favorite")


@expert("CantookCreateCollection")
def create_collection(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Creates the collection."""
    yield from _create(s, p["name"])


# working the app


def _my_books(s: Screen, tab: str = "Books") -> Iterator[str]:
    yield from s.open(APP)
    yield s.tap("My Books")
    if tab != "Books":
        yield s.tap(tab)


def _options(s: Screen, title: str) -> Iterator[str]:
    yield from _my_books(s)
    yield from s.scroll_to(f"Options of {title}")
    yield s.tap(f"Options of {title}")


def _progress(s: Screen, title: str) -> Iterator[str]:
    yield from _options(s, title)
    yield s.finish(s.find(lambda element: element.label.endswith("%")).label)


def _delete(s: Screen, title: str) -> Iterator[str]:
    yield from _options(s, title)
    yield from s.follow("Delete", lambda element: element.label == "Delete" and element.cls == "Button")


def _mark(s: Screen, title: str, mark: str) -> Iterator[str]:
    yield from _options(s, title)
    yield s.tap(mark)


def _import(s: Screen, file: str) -> Iterator[str]:
    """From the folder for books below the one for downloads."""
    yield from s.open(APP)
    yield s.tap("More")
    yield s.tap("Import files")
    for name in ("Download", "Ebooks", file):
        yield from s.scroll_to(name)
        yield s.tap(name)


def _create(s: Screen, name: str) -> Iterator[str]:
    yield from _my_books(s, "Collections")
    yield s.tap("New collection")
    yield from s.fill("Collection name", name)
    yield s.tap("Create")


def _below(s: Screen, heading: str) -> list[Element]:
    """Returns the books of a list of the home page, from top to bottom."""
    top = s.find(heading).bounds[1]
    return [element for element in s.elements if _is_book(element) and element.bounds[1] > top]


def _is_book(element: Element) -> bool:
    """Returns whether an element is the row of a book: title, author and progress."""
    return element.long_clickable and element.label.endswith("%")
