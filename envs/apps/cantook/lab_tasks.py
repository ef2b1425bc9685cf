"""Families of Cantook."""

from __future__ import annotations

import random
import sqlite3
from typing import Any

from coach_gym.envs.apps.cantook.data import DATABASE, FILES
from coach_gym.envs.devices.device import Device
from coach_gym.envs.phone.media import epub
from coach_gym.envs.tasks import words
from coach_gym.envs.tasks.answers import plain
from coach_gym.envs.tasks.records import RecordsTask, another
from coach_gym.envs.tasks.task import Task
from coach_gym.envs.tasks.words import ParamRng

Entry = list  # [title, author, category, paragraphs, paragraphs read]: JSON
CATEGORIES = ("Adventure", "Biography", "Comedies", "Fantasy", "Historical", "Mystery", "Novels", "Poetry")
EBOOKS = "/sdcard/Download/Ebooks"
OCTOBER = 1696118400000  # the first of October 2023, in milliseconds: when the first book was added
DAY = 86_400_000


def books(rng: ParamRng, count: int) -> list[Entry]:
    """Returns books by two to four authors whose titles share no word, none of them read to the end."""
    authors = words.full_names(rng, rng.randint(2, 4))
    drawn = []
    for slug in words.slugs(rng, count):
        paragraphs = words.SENTENCES.draw_many(rng, rng.randint(5, 12))
        title = "The " + slug.replace("_", " ").title()
        read = rng.randrange(len(paragraphs))
        drawn.append([title, rng.choice(authors), rng.choice(CATEGORIES), paragraphs, read])
    return drawn


def file_of(entry: Entry) -> bytes:
    """Returns the EPUB file of a book."""
    title, author, category, paragraphs, _ = entry
    return epub.write(epub.Book(title, author, category, tuple(paragraphs)))


class ShelfTask(RecordsTask):
    """A task on the books in `params["books"]`, judged by how far each of them is read in the end."""

    apps = ("Cantook",)
    database = DATABASE
    given = "books"

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws three to eight books and picks one."""
        drawn = books(rng, rng.randint(3, 8))
        return {"title": rng.choice(drawn)[0], "books": drawn}

    def store(self, device: Device, db: sqlite3.Connection) -> None:
        """Adds the books and their files."""
        for id, entry in enumerate(self.params["books"], 1):
            title, author, category, paragraphs, read = entry
            path = f"{FILES}/{id}.epub"
            device.write(path, file_of(entry))
            db.execute(
                "INSERT INTO books(title, author, category, path, length, position, added) VALUES (?,?,?,?,?,?,?)",
                (title, author, category, path, len(paragraphs), read, OCTOBER + id * DAY),
            )

    def stored(self, db: sqlite3.Connection) -> list[tuple]:
        """Returns title and position of all books."""
        return db.execute("SELECT title, position FROM books").fetchall()

    def expected(self) -> list[tuple]:
        """Returns title and position that the books have to have in the end."""
        return list(self.progress().items())

    def progress(self) -> dict[str, int]:
        """Returns how many paragraphs of each book have to be read in the end, by title."""
        return {title: read for title, *_, read in self.params["books"]}

    def entry(self) -> Entry:
        """Returns the book that the goal names."""
        return next(entry for entry in self.params["books"] if entry[0] == self.params["title"])

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns another book."""
        return another(rng, self.params, "title", [entry[0] for entry in self.params["books"]])


class CantookDeleteBook(ShelfTask):
    """One book among others."""

    template = "Delete the book {title} from Cantook."
    budget = 14

    def progress(self) -> dict[str, int]:
        """Returns the other books."""
        return {title: read for title, read in super().progress().items() if title != self.params["title"]}


class CantookMarkAsRead(ShelfTask):
    """One book among others."""

    template = "Mark the book {title} as read in Cantook."
    budget = 12

    def progress(self) -> dict[str, int]:
        """Returns the books, one of them read to the end."""
        return {**super().progress(), self.params["title"]: len(self.entry()[3])}


class CantookImportBook(ShelfTask):
    """One of the files in the folder of books."""

    template = "Import the file {file} from the folder Download/Ebooks into Cantook."
    difficulty = "medium"
    budget = 16

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws the books of the shelf and two files."""
        *shelf, first, second = books(rng, rng.randint(4, 7))
        files = {entry[0].lower().replace(" ", "_") + ".epub": entry for entry in (first, second)}
        return {"title": first[0], "file": list(files)[0], "files": files, "books": shelf}

    def setup(self, device: Device) -> None:
        """Also writes the two files."""
        super().setup(device)
        for name, entry in self.params["files"].items():
            device.write(f"{EBOOKS}/{name}", file_of(entry))

    def progress(self) -> dict[str, int]:
        """Returns the books and the new one, unread."""
        return {**super().progress(), self.params["title"]: 0}

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns the other file."""
        return {**self.params, "file": list(self.params["files"])[1]}


class CantookCreateCollection(ShelfTask):
    """An empty collection."""

    template = "Create a collection called {name} in Cantook."
    budget = 14

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws a name of two words."""
        return {**super().sample(rng), "name": " ".join(words.ADJECTIVES.draw_many(rng, 2))}

    def evaluate(self, device: Device, answer: str | None) -> float:
        """Checks that the collection is the only one; the shelf must not have changed."""
        with device.database(DATABASE) as db:
            names = db.execute("SELECT name FROM collections").fetchall()
        return super().evaluate(device, answer) * float(names == [(self.params["name"],)])

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns the first word of the name."""
        return {**self.params, "name": self.params["name"].split()[0]}


class CantookProgressOf(ShelfTask):
    """The reading progress of a book."""

    template = "According to Cantook, how many percent of the book {title} have I read?"
    kind = "query"
    budget = 12

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws a book that is partly read and another that is not."""
        params = super().sample(rng)
        first, second = params["books"][:2]
        first[4], second[4] = 1 + first[4] % (len(first[3]) - 1), 0
        return {**params, "title": first[0], "other": second[0]}

    def evaluate(self, device: Device, answer: str | None) -> float:
        """Compares the share in per cent; the shelf must not have changed."""
        *_, paragraphs, read = self.entry()
        share = f"{100 * read / len(paragraphs):.1f}"
        given = plain(answer or "").removesuffix("percent").removesuffix("%").strip()
        return super().evaluate(device, answer) * float(given in (share, share.removesuffix(".0")))

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns the other book."""
        return {**self.params, "title": self.params["other"]}


class CantookBooksByAuthor(ShelfTask):
    """The number of books by an author."""

    template = "How many books by {author} do I have in Cantook?"
    kind = "query"
    budget = 12

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws two authors with different numbers of books."""
        here, there = words.full_names(rng, 2)
        counts = rng.sample(range(1, 6), 2)
        drawn = books(rng, sum(counts))
        for entry, author in zip(drawn, [here] * counts[0] + [there] * counts[1], strict=True):
            entry[1] = author
        return {"title": drawn[0][0], "author": here, "other": there, "books": rng.sample(drawn, len(drawn))}

    def evaluate(self, device: Device, answer: str | None) -> float:
        """Compares the number; the shelf must not have changed."""
        count = sum(author == self.params["author"] for _, author, *_ in self.params["books"])
        given = plain(answer or "").removesuffix(" books").removesuffix(" book")
        return super().evaluate(device, answer) * float(given == str(count))

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns the other author."""
        return {**self.params, "author": self.params["other"]}


TASKS: tuple[type[Task], ...] = (
    CantookBooksByAuthor,
    CantookCreateCollection,
    CantookDeleteBook,
    CantookImportBook,
    CantookMarkAsRead,
    CantookProgressOf,
)
