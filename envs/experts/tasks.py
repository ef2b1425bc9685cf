"""Experts of the Tasks app."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from coach_gym.envs.experts.screen import Screen, expert
from coach_gym.ui import Element

APP = "Tasks"


@expert("TasksAddTask")
def add(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from s.open(APP)
    yield s.tap("Create new task")
    yield from s.fill("Task name", p["title"])
    how, _, what = p["extra"].partition(" ")
    if how == "due":
        yield s.tap("No due date")
        yield s.tap(what.capitalize())
    elif how == "with":
        yield s.tap(what.split(" ")[0].capitalize())
    yield s.tap("Save")
    yield s.finish()


@expert("TasksCompleteTask")
def complete(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from s.open(APP)
    box = f"Complete {p['title']}"
    yield from s.scroll_to(box)
    yield s.tap(box)
    yield s.finish()


@expert("TasksDeleteTask")
def delete(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from s.open(APP)
    yield from s.scroll_to(p["title"])
    yield s.tap(p["title"])
    yield s.tap("Delete")
    yield s.tap(_confirming)
    yield s.finish()


def _confirming(element: Element) -> bool:
    """The button of a dialog, which says the same as the icon that opened it."""
    return element.label == "Delete" and element.cls == "Button"
