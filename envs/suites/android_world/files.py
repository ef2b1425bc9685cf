"""Families of the Files app."""

from __future__ import annotations

import random
from typing import Any

from coach_gym.envs.phone.folders import SHARED
from coach_gym.envs.suites.file_tree import FileTask, Tree
from coach_gym.envs.suites.task import Task
from coach_gym.envs.suites.words import ParamRng, slugs

FOLDERS = {
    "DCIM": ".jpg", "Documents": ".pdf", "Download": ".zip", "Movies": ".mp4", "Music": ".mp3", "Pictures": ".png"
}  # fmt: skip
MAX_SIZE = 60_000  # bytes of a file


class StorageTask(FileTask):
    """A task on the shared storage, with `params["files"]` in `params["folder"]`: sizes by path."""

    apps = ("Files",)
    root = SHARED

    @property
    def path(self) -> str:
        """The file that the goal names."""
        return f"{self.params['folder']}/{self.params['name']}"

    def another(self, rng: random.Random) -> str:
        """The name of another file in the same folder."""
        folder, _, name = self.path.rpartition("/")
        names = [path.rpartition("/")[2] for path in self.params["files"] if path.startswith(folder + "/")]
        return rng.choice([other for other in names if other != name])


def file_names(rng: ParamRng, folder: str, count: int) -> list[str]:
    """Names of the kind of file that the folder is for, all different in their words."""
    return [slug + FOLDERS[folder] for slug in slugs(rng, count)]


def with_sizes(rng: ParamRng, folder: str, names: list[str]) -> dict[str, int]:
    """A size for every file, by path."""
    return {f"{folder}/{name}": rng.randrange(100, MAX_SIZE) for name in names}


def folder_of_files(rng: ParamRng) -> dict[str, Any]:
    """A folder, some files in it, and one of them."""
    folder = rng.choice(sorted(FOLDERS))
    names = file_names(rng, folder, rng.randint(3, 6))
    return {"name": names[0], "folder": folder, "files": with_sizes(rng, folder, names)}


class FilesDeleteFile(StorageTask):
    """One file goes, all others stay."""

    template = "Delete the file {name} in the folder {folder}."
    budget = 12

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        return folder_of_files(rng)

    def expected(self, tree: Tree) -> Tree:
        del tree[self.path]
        return tree

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        return self.but(name=self.another(rng))


TASKS: tuple[type[Task], ...] = (FilesDeleteFile,)
