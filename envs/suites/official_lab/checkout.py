"""Loads the task definitions and judges of a user's checkout of AndroidLab, and nothing else of it.

The judges import an evaluation package that clones emulators, runs shell commands and calls language models. We need
only the judges' base class and two functions that search a screen, so empty modules replace the rest while the judges
are imported. No module that holds a key is ever read.
"""

from __future__ import annotations

import ast
import importlib
import json
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

from coach_gym.envs.errors import UsageError

VARIABLE = "COACH_ANDROID_LAB"
LENGTHS = "evaluation/tasks/human_ground_turth/ground_truth_length.json"
_STUBBED = ("jsonlines", "evaluation.definition", "evaluation.docker_utils", "utils_mobile", "utils_mobile.utils")
_OURS = ("evaluation", *_STUBBED)
_importing = threading.Lock()


@dataclass(frozen=True)
class Definition:
    """One task as the checkout defines it.

    Attributes:
        id: Such as `clock_1`.
        app: The app's name in the goal.
        package: The app's Android package.
        text: What is to be done.
        query: The adb command whose output the judge reads at every step, or None.
        judge: The judge's class; made with an object whose `answer_judge` compares answers.
        human_steps: How many steps a person took.
        kind: `"query"` or `"operation"`, as the checkout says.
    """

    id: str
    app: str
    package: str
    text: str
    query: str | None
    judge: type[Any]
    human_steps: int
    kind: str = "operation"

    @property
    def goal(self) -> str:
        """Returns the instruction in upstream's words."""
        return f"You should use {self.app} to complete the following task: {self.text}"

    @property
    def answered(self) -> bool:
        """Returns whether the judge compares an answer; the checkout's `metric_type` is no reliable guide to that."""
        return "check_answer" in self.judge.judge.__code__.co_names


def find(path: str | os.PathLike[str] | None = None) -> Path:
    """Returns the folder of the checkout: the one given, or the one that the environment variable names.

    Raises:
        UsageError: There is none, or it does not hold AndroidLab.
    """
    given = os.fspath(path) if path is not None else os.environ.get(VARIABLE, "")
    if not given:
        raise UsageError(
            f"suite='official' of android_lab needs a checkout of AndroidLab: git clone "
            f"https://github.com/THUDM/Android-Lab, then pass checkout='…/Android-Lab' or set {VARIABLE}"
        )
    folder = Path(given).expanduser().resolve()
    if not (folder / "evaluation" / "config").is_dir():
        raise UsageError(f"{folder} is no checkout of AndroidLab: it has no folder evaluation/config")
    return folder


@lru_cache(maxsize=4)
def load(folder: Path) -> tuple[Definition, ...]:
    """Returns all tasks of a checkout, sorted by app and number.

    Raises:
        UsageError: A dependency of the judges is missing, or a task has no judge.
    """
    try:
        import yaml
    except ImportError as error:
        raise UsageError("AndroidLab's tasks are YAML: pip install 'coach-gym[official]'") from error
    lengths = json.loads((folder / LENGTHS).read_text())
    apps = [yaml.safe_load(file.read_text()) for file in sorted((folder / "evaluation" / "config").glob("*.yaml"))]
    with _importing, importable(folder):
        return tuple(_definition(app, task, lengths) for app in _with_packages(folder, apps) for task in app["tasks"])


def _with_packages(folder: Path, apps: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Fills in packages: some definitions repeat the app's name instead, and upstream launches apps from a table."""
    source = ast.parse((folder / "templates" / "packages.py").read_text())
    tables = [node.value for node in source.body if isinstance(node, ast.Assign)]
    table = {_plain(name): package for name, package in ast.literal_eval(tables[0]).items()}
    return [{**app, "package": table.get(_plain(app["package"]), app["package"])} for app in apps]


def _plain(name: str) -> str:
    return name.replace(" ", "").casefold()


def _definition(app: dict[str, Any], task: dict[str, Any], lengths: dict[str, int]) -> Definition:
    id = task["task_id"]
    judges = importlib.import_module(task["metric_func"]).function_map
    if id not in judges:
        raise UsageError(f"the checkout of AndroidLab defines the task {id} but no judge for it")
    kind = "query" if task.get("metric_type") == "query_detect" else "operation"
    query = task.get("adb_query")
    return Definition(id, app["APP"], app["package"], task["task"], query, judges[id], lengths[id], kind)


@contextmanager
def importable(folder: Path) -> Iterator[None]:
    """Makes the checkout importable, with stubs. Leaves no trace in this process or in the checkout."""
    mine = {name: module for name, module in sys.modules.items() if name.split(".")[0] in _roots()}
    no_bytecode = sys.dont_write_bytecode
    for name in mine:
        del sys.modules[name]
    sys.modules.update({name: _stub(name) for name in _STUBBED})
    sys.path.insert(0, str(folder))
    sys.dont_write_bytecode = True
    try:
        yield
    finally:
        sys.dont_write_bytecode = no_bytecode
        sys.path.remove(str(folder))
        for name in [name for name in sys.modules if name.split(".")[0] in _roots()]:
            del sys.modules[name]
        sys.modules.update(mine)


def _roots() -> set[str]:
    return {name.split(".")[0] for name in _OURS}


def _stub(name: str) -> ModuleType:
    """Makes an empty module with what the judges' base class imports from it: at most the comparison of answers."""
    module = ModuleType(name)
    unused = {"get_compressed_xml", "execute_adb_command"}
    module.__dict__.update({attribute: _unavailable for attribute in unused})
    if name == "evaluation.definition":
        module.__dict__["detect_answer"] = _detect_answer
    return module


def _detect_answer(question: str, answer: str, standard: str, judging: Judging) -> bool:
    return judging.compare(question, answer, standard)


def _unavailable(*_: Any) -> None:
    raise RuntimeError("this part of AndroidLab is not loaded")


class Judging:
    """Compares answers for a judge, which is made with it.

    AndroidLab's judges swallow every exception and count it as a wrong answer. `failure` keeps the exception, so that a
    failed judge is not mistaken for one that said no. `open` says that there was an answer and nobody to compare it.
    """

    def __init__(self, answer_judge: Callable[[str, str, str], bool] | None) -> None:
        self.answer_judge = answer_judge
        self.failure: Exception | None = None
        self.open = False

    def compare(self, question: str, answer: str, standard: str) -> bool:
        """Returns whether the answer judge accepts an answer."""
        if self.answer_judge is None:
            self.open = self.open or bool(answer.strip())  # without words there is nothing to compare
            return False
        try:
            return bool(self.answer_judge(question, answer, standard))
        except Exception as error:
            self.failure = error
            raise
