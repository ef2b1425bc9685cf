"""Families of the Files app."""

from __future__ import annotations

import random
from typing import Any

from coach_gym.envs.phone.folders import SHARED
from coach_gym.envs.tasks.file_tree import FileTask, Tree
from coach_gym.envs.tasks.task import Task
from coach_gym.envs.tasks.words import NOUNS, ParamRng, slugs

FOLDERS = {
    "DCIM": ".jpg", "Documents": ".pdf", "Download": ".zip", "Movies": ".mp4", "Music": ".mp3", "Pictures": ".png"
}  # fmt: skip
MAX_SIZE = 60  # kB, of a file


class StorageTask(FileTask):
    """A task on the shared storage, with `params["files"]` in `params["folder"]`: sizes by path."""

    apps = ("Files",)
    root = SHARED

    @property
    def path(self) -> str:
        """The path of the file that the goal names."""
        return f"{self.params['folder']}/{self.params['name']}"

    def another(self, rng: random.Random) -> str:
        """Picks another file in the same folder by its name."""
        folder, _, name = self.path.rpartition("/")
        names = [path.rpartition("/")[2] for path in self.params["files"] if path.startswith(folder + "/")]
        return rng.choice([other for other in names if other != name])


def file_names(rng: ParamRng, folder: str, count: int) -> list[str]:
    """Draws file names of the kind that the folder is for; no two share a word."""
    return [slug + FOLDERS[folder] for slug in slugs(rng, count)]


def with_sizes(rng: ParamRng, folder: str, names: list[str]) -> dict[str, int]:
    """Draws a different size in bytes for every file, by path."""
    kilobytes = rng.sample(range(1, MAX_SIZE), len(names))
    return {f"{folder}/{name}": 1000 * size + rng.randrange(400) for name, size in zip(names, kilobytes, strict=True)}


def folder_of_files(rng: ParamRng) -> dict[str, Any]:
    """Draws a folder, some files in it, and one of them."""
    folder = rng.choice(sorted(FOLDERS))
    names = file_names(rng, folder, rng.randint(3, 6))
    return {"name": names[0], "folder": folder, "files": with_sizes(rng, folder, names)}


class FilesDeleteFile(StorageTask):
    """Delete one file; all others must stay."""

    template = "Delete the file {name} in the folder {folder}."
    budget = 12

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws a folder, its files and one of them."""
        return folder_of_files(rng)

    def expected(self, tree: Tree) -> Tree:
        """Takes the file away."""
        del tree[self.path]
        return tree

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns the parameters with another file."""
        return self.but(name=self.another(rng))


class FilesMoveFile(StorageTask):
    """Move a file from one folder to another."""

    template = "Move the file {name} from the folder {folder} to the folder {target}."
    difficulty = "medium"
    budget = 18

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws a file, where it is, and where it has to go."""
        drawn = folder_of_files(rng)
        target = rng.choice(sorted(FOLDERS.keys() - {drawn["folder"]}))
        there = with_sizes(rng, target, file_names(rng, target, rng.randint(1, 3)))
        return {**drawn, "target": target, "files": drawn["files"] | there}

    def expected(self, tree: Tree) -> Tree:
        """Moves the file."""
        tree[f"{self.params['target']}/{self.params['name']}"] = tree.pop(self.path)
        return tree

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns the parameters with another target."""
        others = FOLDERS.keys() - {self.params["folder"], self.params["target"]}
        return self.but(target=rng.choice(sorted(others)))


class FilesRenameFile(StorageTask):
    """Rename a file."""

    template = "Rename the file {name} in the folder {folder} to {new_name}."
    difficulty = "medium"
    budget = 16

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws a file and its new name."""
        folder = rng.choice(sorted(FOLDERS))
        new_name, *names = file_names(rng, folder, rng.randint(4, 7))
        return {"name": names[0], "folder": folder, "new_name": new_name, "files": with_sizes(rng, folder, names)}

    def expected(self, tree: Tree) -> Tree:
        """Renames the file."""
        tree[f"{self.params['folder']}/{self.params['new_name']}"] = tree.pop(self.path)
        return tree

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns the parameters with another file."""
        return self.but(name=self.another(rng))


class FilesCreateFolder(StorageTask):
    """Make a folder in another."""

    template = "Create a folder named {name} in the folder {folder}."
    budget = 14

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws a folder with files, and the name of a new one in it."""
        return {**folder_of_files(rng), "name": NOUNS.draw(rng).title()}

    def expected(self, tree: Tree) -> Tree:
        """Adds the new folder."""
        return {**tree, f"{self.path}/": b""}

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns the parameters with another folder to make it in."""
        return self.but(folder=rng.choice(sorted(FOLDERS.keys() - {self.params["folder"]})))


TASKS: tuple[type[Task], ...] = (
    FilesCreateFolder,
    FilesDeleteFile,
    FilesMoveFile,
    FilesRenameFile,
)
