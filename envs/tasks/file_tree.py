"""Base of tasks on the files below one folder."""

from __future__ import annotations

import random
from typing import Any, ClassVar

from coach_gym.envs.devices.device import Device
from coach_gym.envs.tasks.answers import same_number
from coach_gym.envs.tasks.task import Task

Tree = dict[str, bytes]
"""Contents by path below the root; a folder has a slash at its end and no contents."""


def read_tree(device: Device, root: str, below: str = "") -> Tree:
    """Returns all files and folders below `root`, without white space at the ends of the contents."""
    tree: Tree = {}
    for name in device.listdir(f"{root}/{below}".rstrip("/")):
        data = device.read(f"{root}/{below}{name}")
        if data is None:
            tree[f"{below}{name}/"] = b""
            tree |= read_tree(device, root, f"{below}{name}/")
        else:
            tree[f"{below}{name}"] = data.rstrip()
    return tree


class FileTask(Task):
    """A task that starts with `params["files"]`: texts or numbers of bytes, by path below the root."""

    root: ClassVar[str]

    def setup(self, device: Device) -> None:
        """Writes the files of the start."""
        for path, content in self.params["files"].items():
            device.write(f"{self.root}/{path}", contents(content))
        self.before = read_tree(device, self.root)

    def evaluate(self, device: Device, answer: str | None) -> float:
        """Compares what is there with `expected`."""
        wanted, found = self.expected(dict(self.before)), read_tree(device, self.root)
        return float({p: self.normal(d) for p, d in found.items()} == {p: self.normal(d) for p, d in wanted.items()})

    def expected(self, tree: Tree) -> Tree:
        """Returns what has to be there in the end and nothing else, given what was there at the start."""
        return tree

    def normal(self, data: bytes) -> bytes:
        """Returns the part of a file's contents that counts."""
        return data

    def but(self, **params: Any) -> dict[str, Any]:
        """Returns the parameters with some replaced, to mislead an expert."""
        return {**self.params, **params}


class CountTask(FileTask):
    """Count the files of `params["folder"]`; the folder `params["other"]` holds more or fewer."""

    budget = 8
    kind = "query"

    def evaluate(self, device: Device, answer: str | None) -> float:
        """Requires the number, and all files untouched."""
        count = sum(path.startswith(self.params["folder"] + "/") for path in self.params["files"])
        return super().evaluate(device, answer) * float(same_number(answer, count))

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns the parameters with the other folder."""
        return self.but(folder=self.params["other"])


def contents(content: str | int) -> bytes:
    """Returns a text as bytes, or that many zeros."""
    return bytes(content) if isinstance(content, int) else content.encode()
