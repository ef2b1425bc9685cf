"""Families of the Files app."""

from __future__ import annotations

import random
import re
from typing import Any

from coach_gym.envs.apps.files.world_tasks import (
    FOLDERS,
    FilesMoveFile,
    StorageTask,
    file_names,
    folder_of_files,
    with_sizes,
)
from coach_gym.envs.devices.device import Device
from coach_gym.envs.phone.folders import size_text
from coach_gym.envs.tasks.answers import plain
from coach_gym.envs.tasks.file_tree import CountTask, Tree
from coach_gym.envs.tasks.task import Task
from coach_gym.envs.tasks.words import ParamRng


class FilesCopyFile(FilesMoveFile):
    """Copy a file to another folder."""

    template = "Copy the file {name} from the folder {folder} to the folder {target}."

    def expected(self, tree: Tree) -> Tree:
        """Adds the copy."""
        return {**tree, f"{self.params['target']}/{self.params['name']}": tree[self.path]}


class FilesFileSize(StorageTask):
    """Say the size of one file, as the list shows it."""

    template = "How large is the file {name} in the folder {folder}?"
    budget = 8
    kind = "query"

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws a folder, its files and one of them."""
        return folder_of_files(rng)

    def evaluate(self, device: Device, answer: str | None) -> float:
        """Requires the size as the list shows it, and all files untouched."""
        size = size_text(self.params["files"][self.path])
        return super().evaluate(device, answer) * float(_compact(answer or "") == _compact(size))

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns the parameters with another file."""
        return self.but(name=self.another(rng))


def _compact(size: str) -> str:
    """Shortens a size as people write it: 2.50 kB becomes 2.5kb, 2.00 kB becomes 2kb."""
    return re.sub(r"(\.\d*?)0+(?=kb$)", r"\1", plain(size).replace(" ", "")).replace(".kb", "kb")


class FilesCountFiles(CountTask, StorageTask):
    """Count the files of a folder; another folder holds more or fewer."""

    template = "How many files are in the folder {folder}?"

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws two folders with different numbers of files."""
        folder, other = rng.sample(sorted(FOLDERS), 2)
        here, there = rng.sample(range(1, 7), 2)
        files = with_sizes(rng, folder, file_names(rng, folder, here))
        return {
            "folder": folder,
            "other": other,
            "files": files | with_sizes(rng, other, file_names(rng, other, there)),
        }


TASKS: tuple[type[Task], ...] = (
    FilesCopyFile,
    FilesCountFiles,
    FilesFileSize,
)
