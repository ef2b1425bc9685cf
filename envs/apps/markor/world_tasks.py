"""Families of the Markor app: notes that are text files in folders."""

from __future__ import annotations

import random
from datetime import timedelta
from typing import Any, ClassVar

from coach_gym.envs.apps.contacts import address_book
from coach_gym.envs.apps.markor.app import NOTEBOOK
from coach_gym.envs.apps.messages import world_tasks as messages
from coach_gym.envs.devices.device import Device
from coach_gym.envs.tasks.answers import plain
from coach_gym.envs.tasks.file_tree import FileTask, Tree, contents
from coach_gym.envs.tasks.task import Task
from coach_gym.envs.tasks.words import NOUNS, SENTENCES, ParamRng, slugs


class NotesTask(FileTask):
    """A task on a notebook that holds `params["files"]` at the start: texts by path."""

    apps: ClassVar[tuple[str, ...]] = ("Markor",)
    root = NOTEBOOK

    def another(self, rng: random.Random) -> str:
        """Picks a note that the goal does not name."""
        return rng.choice([path for path in self.params["files"] if path != self.params["name"]])


def note_names(rng: ParamRng, count: int) -> list[str]:
    """Draws file names of notes; no two share a word."""
    return [slug + rng.choice((".md", ".txt")) for slug in slugs(rng, count)]


def with_texts(rng: ParamRng, names: list[str]) -> dict[str, str]:
    """Draws a different sentence for every note, in random order."""
    return dict(zip(rng.sample(names, len(names)), SENTENCES.draw_many(rng, len(names)), strict=True))


def with_ages(rng: ParamRng, names: list[str]) -> dict[str, int]:
    """Draws how many minutes ago each note was changed."""
    return dict(zip(names, rng.sample(range(10, 20_000), len(names)), strict=True))


def notes(rng: ParamRng, least: int = 3, most: int = 6) -> dict[str, Any]:
    """Draws some notes, and the name of one of them."""
    names = note_names(rng, rng.randint(least, most))
    return {"name": names[0], "files": with_texts(rng, names)}


def notes_and_a_new_one(rng: ParamRng, least: int = 2, most: int = 6) -> tuple[dict[str, str], str, str]:
    """Draws some notes, and the name and text of one that does not exist yet."""
    texts = with_texts(rng, note_names(rng, rng.randint(least, most) + 1))
    name, text = texts.popitem()
    return texts, name, text


# making


class MarkorCreateNote(NotesTask):
    """Create a note with a text."""

    template = "Create a note in Markor named {name} with the text: {text}"
    budget = 14

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws notes that exist, and the name and text of a new one."""
        files, name, text = notes_and_a_new_one(rng)
        return {"name": name, "text": text, "files": files}

    def expected(self, tree: Tree) -> Tree:
        """Adds the new note."""
        return {**tree, self.params["name"]: self.params["text"].encode()}

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns the parameters with another name."""
        return self.but(name="new_" + self.params["name"])


class MarkorCreateNoteFromClipboard(MarkorCreateNote):
    """Create a note with the text of the clipboard."""

    template = "Create a note in Markor named {name} and paste the text from the clipboard into it."
    difficulty = "medium"
    budget = 16

    def setup(self, device: Device) -> None:
        """Writes the notes, and copies the text."""
        super().setup(device)
        device.put_clipboard(self.params["text"])


class MarkorCreateNoteAndSms(MarkorCreateNote):
    """Create a note, and send its text to a number."""

    apps = ("Markor", "Simple SMS Messenger")
    template = (
        "Create a note in Markor named {name} with the text: {text} "
        "Then send the text of the note to {number} with Simple SMS Messenger."
    )
    difficulty = "hard"
    budget = 26

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws a new note, a number, and messages of others."""
        number, *others = address_book.numbers(rng, rng.randint(1, 4))
        return {**super().sample(rng), "number": number, "messages": messages.inbox(rng, others)}

    def setup(self, device: Device) -> None:
        """Writes the notes and the messages."""
        super().setup(device)
        self._sms.setup(device)

    def evaluate(self, device: Device, answer: str | None) -> float:
        """Requires both the note and the message."""
        note, message = super().evaluate(device, answer), self._sms.evaluate(device, answer)
        assert note is not None and message is not None  # both have rules
        return note * message

    @property
    def _sms(self) -> Task:
        return messages.SimpleSmsSend(self.but(message=self.params["text"]))

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns the parameters with another number."""
        return self.but(number=address_book.other_number(self.params["number"]))


class MarkorCreateFolder(NotesTask):
    """Create a folder."""

    template = "Create a folder in Markor named {name}."
    budget = 10

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws notes and folders that exist, and the name of a new folder."""
        name, *folders = NOUNS.draw_many(rng, rng.randint(2, 3))
        files = notes(rng, 1, 4)["files"]
        inside = note_names(rng, len(folders))
        return {
            "name": name.title(),
            "files": files | {f"{folder.title()}/{note}": "" for folder, note in zip(folders, inside, strict=True)},
        }

    def expected(self, tree: Tree) -> Tree:
        """Adds the new folder."""
        return {**tree, self.params["name"] + "/": b""}

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns the parameters with a letter more in the name."""
        return self.but(name=self.params["name"] + "s")


class MarkorMergeNotes(NotesTask):
    """Join the texts of three notes, with empty lines between them, in a new note."""

    template = (
        "Merge the Markor notes {first}, {second} and {third}, in this order, into a new note named {name}. "
        "Leave an empty line between their texts."
    )
    difficulty = "hard"
    budget = 28

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws notes, three of which are to be merged."""
        files, name, _ = notes_and_a_new_one(rng, 3)
        first, second, third = rng.sample(sorted(files), 3)
        return {"name": name, "first": first, "second": second, "third": third, "files": files}

    def expected(self, tree: Tree) -> Tree:
        """Adds the merged note."""
        texts = [tree[self.params[which]] for which in ("first", "second", "third")]
        return {**tree, self.params["name"]: b"\n\n".join(texts)}

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns the parameters with the first two notes swapped."""
        return self.but(first=self.params["second"], second=self.params["first"])


# deleting


class MarkorDeleteNote(NotesTask):
    """Delete one note; all others must stay."""

    template = "Delete the note {name} in Markor."
    budget = 10

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws notes and one of them."""
        return notes(rng, 3, 7)

    def expected(self, tree: Tree) -> Tree:
        """Takes the note away."""
        del tree[self.params["name"]]
        return tree

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns the parameters with another note."""
        return self.but(name=self.another(rng))


class DatedNotesTask(NotesTask):
    """A task on notes that were changed `params["ages"]` minutes ago."""

    def setup(self, device: Device) -> None:
        """Writes the notes with their ages."""
        super().setup(device)
        for name, text in self.params["files"].items():
            age = timedelta(minutes=self.params["ages"][name])
            device.write(f"{self.root}/{name}", contents(text), device.now - age)


class MarkorDeleteNewestNote(DatedNotesTask):
    """Delete the note that was changed last."""

    template = "Delete the newest note in Markor."
    budget = 10

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws notes of different ages."""
        names = note_names(rng, rng.randint(3, 6))
        return {"files": with_texts(rng, names), "ages": with_ages(rng, names)}

    def expected(self, tree: Tree) -> Tree:
        """Takes the youngest note away."""
        ages = self.params["ages"]
        del tree[min(ages, key=ages.__getitem__)]
        return tree


class MarkorDeleteAllNotes(NotesTask):
    """Empty the notebook."""

    template = "Delete all notes in Markor."
    budget = 14

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws two to six notes."""
        return {"files": notes(rng, 2, 6)["files"]}

    def expected(self, tree: Tree) -> Tree:
        """Takes everything away."""
        return {}


# changing


class MarkorEditNote(NotesTask):
    """Add a line to either end of a note, or replace its text. Empty lines do not matter."""

    template = "Edit the note {name} in Markor: write this {where}: {text}"
    difficulty = "medium"
    budget = 14
    places = ("at the top", "at the bottom", "in place of the old text")

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws a note, a text, and where it has to go."""
        files, _, text = notes_and_a_new_one(rng)
        return {"name": rng.choice(sorted(files)), "where": rng.choice(cls.places), "text": text, "files": files}

    def expected(self, tree: Tree) -> Tree:
        """Edits the note."""
        old, new = tree[self.params["name"]], self.params["text"].encode()
        edited = {"at the top": new + b"\n" + old, "at the bottom": old + b"\n" + new}
        return {**tree, self.params["name"]: edited.get(self.params["where"], new)}

    def normal(self, data: bytes) -> bytes:
        """Leaves out empty lines."""
        return b"\n".join(line for line in data.splitlines() if line.strip())

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns the parameters with another place for the text."""
        return self.but(where=rng.choice([place for place in self.places if place != self.params["where"]]))


class MarkorChangeNoteContent(NotesTask):
    """Rename a note and replace its text."""

    template = "Rename the Markor note {name} to {new_name} and replace its text with: {text}"
    difficulty = "medium"
    budget = 22

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws a note, its new name and its new text."""
        files, new_name, text = notes_and_a_new_one(rng)
        return {"name": rng.choice(sorted(files)), "new_name": new_name, "text": text, "files": files}

    def expected(self, tree: Tree) -> Tree:
        """Renames the note and replaces its text."""
        del tree[self.params["name"]]
        return {**tree, self.params["new_name"]: self.params["text"].encode()}

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns the parameters with another name."""
        return self.but(new_name="old_" + self.params["new_name"])


class MarkorAddNoteHeader(MarkorChangeNoteContent):
    """Rename a note and add a line and an empty line above its text."""

    template = (
        "Rename the Markor note {name} to {new_name} and add this line above its text, "
        "with an empty line between: {text}"
    )
    budget = 24

    def expected(self, tree: Tree) -> Tree:
        """Renames the note and adds the line above its text."""
        text = self.params["text"].encode() + b"\n\n" + tree.pop(self.params["name"])
        return {**tree, self.params["new_name"]: text}


class MarkorRenameNote(NotesTask):
    """Rename a note."""

    template = "Rename the note {name} in Markor to {new_name}."
    budget = 14

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws a note and its new name."""
        files, new_name, _ = notes_and_a_new_one(rng)
        return {"name": rng.choice(sorted(files)), "new_name": new_name, "files": files}

    def expected(self, tree: Tree) -> Tree:
        """Renames the note."""
        tree[self.params["new_name"]] = tree.pop(self.params["name"])
        return tree

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns the parameters with another note."""
        return self.but(name=self.another(rng))


class MarkorMoveNote(NotesTask):
    """Move a note from one folder to another."""

    template = "In Markor, move the note {name} from the folder {source} to the folder {target}."
    difficulty = "medium"
    budget = 16

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws notes in three folders, one of which has to move."""
        folders = [noun.title() for noun in NOUNS.draw_many(rng, 3)]
        names = note_names(rng, rng.randint(4, 7))
        texts = with_texts(rng, names)
        places = [folders[0], *(rng.choice(folders) for _ in names[3:]), folders[1], folders[2]]
        return {
            "name": names[0],
            "source": folders[0],
            "target": folders[1],
            "files": {f"{place}/{name}": texts[name] for name, place in zip(names, places, strict=True)},
        }

    def expected(self, tree: Tree) -> Tree:
        """Moves the note."""
        name = self.params["name"]
        tree[f"{self.params['target']}/{name}"] = tree.pop(f"{self.params['source']}/{name}")
        return tree

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns the parameters with another target."""
        folders = {path.partition("/")[0] for path in self.params["files"]}
        return self.but(target=rng.choice(sorted(folders - {self.params["source"], self.params["target"]})))


# asking


class MarkorNoteLine(NotesTask):
    """Say what is in a note."""

    template = "What does the note {name} in Markor say?"
    budget = 8
    kind = "query"

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws notes and one of them."""
        return notes(rng)

    def evaluate(self, device: Device, answer: str | None) -> float:
        """Requires the text of the note, and all notes untouched."""
        text = self.params["files"][self.params["name"]]
        return super().evaluate(device, answer) * float(plain(answer or "") == plain(text))

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns the parameters with another note."""
        return self.but(name=self.another(rng))


TASKS: tuple[type[Task], ...] = (
    MarkorAddNoteHeader,
    MarkorChangeNoteContent,
    MarkorCreateFolder,
    MarkorCreateNote,
    MarkorCreateNoteAndSms,
    MarkorCreateNoteFromClipboard,
    MarkorDeleteAllNotes,
    MarkorDeleteNewestNote,
    MarkorDeleteNote,
    MarkorEditNote,
    MarkorMergeNotes,
    MarkorMoveNote,
    MarkorNoteLine,
    MarkorRenameNote,
)
