"""Dialects by name: in settings, on the command line, and beside the weights of a saved policy.

A dialect of your own has a name after `DIALECTS["Mine"] = Mine`, or if an installed package declares it:

    [options.entry_points]
    coach_gym.dialects =
        Mine = my_package.dialects:Mine
"""

import inspect
import json
from collections.abc import Callable, Mapping
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from coach_gym.dialects.agent_cpm_gui import AgentCpmGui
from coach_gym.dialects.dialect import Dialect
from coach_gym.dialects.gui_owl import GuiOwl
from coach_gym.dialects.os_genesis import OSGenesis
from coach_gym.dialects.qwen_mobile_use import Qwen3MobileUse, QwenMobileUse
from coach_gym.dialects.set_of_marks import SetOfMarks
from coach_gym.dialects.ui_genie import UIGenie
from coach_gym.dialects.ui_tars import UITars

DIALECTS: dict[str, Callable[..., Dialect]] = {
    each.__name__: each
    for each in (UITars, QwenMobileUse, Qwen3MobileUse, AgentCpmGui, OSGenesis, UIGenie, GuiOwl, SetOfMarks)
}
"""The known dialects by name. Entry points of the group `coach_gym.dialects` are known too."""
GROUP = "coach_gym.dialects"
_SETTINGS, _TEMPLATE = "coach_gym.json", "coach_gym_prompt.txt"


def dialect_named(name: str) -> Callable[..., Dialect]:
    """Returns the class of a dialect.

    Raises:
        ValueError: No dialect has this name.
    """
    if name in DIALECTS:
        return DIALECTS[name]
    declared = {point.name: point for point in entry_points(group=GROUP)}
    if name in declared:
        made: Callable[..., Dialect] = declared[name].load()
        return made
    known = ", ".join([*DIALECTS, *declared])
    raise ValueError(
        f"there is no dialect {name!r}; known are {known}. Pass a dialect of your own as an object, or make its name "
        f"known first: coach_gym.dialects.DIALECTS[{name!r}] = {name}"
    )


def choose_dialect(
    given: Dialect | str | None,
    stored: Mapping[str, Any],
    min_pixels: int | None = None,
    max_pixels: int | None = None,
) -> Dialect:
    """Returns the dialect of a policy.

    Args:
        given: A dialect, the name of one with its defaults, or None for the stored one.
        stored: Settings of the policy's own dialect, with its name as `dialect`.
        min_pixels: Overrides this argument of the dialect; None leaves it.
        max_pixels: Overrides this argument of the dialect; None leaves it.

    Raises:
        ValueError: The name is unknown, or the dialect cannot take the pixels or the stored settings.
    """
    bounds = {"min_pixels": min_pixels, "max_pixels": max_pixels}
    wanted = {name: value for name, value in bounds.items() if value is not None}
    if given is not None and not isinstance(given, str):
        if any(getattr(given, name, None) != value for name, value in wanted.items()):
            kind, words = type(given).__name__, ", ".join(f"{name}={value}" for name, value in wanted.items())
            raise ValueError(f"{words} contradicts the dialect that was passed; pass it there: {kind}({words})")
        return given
    settings = {"dialect": given} if isinstance(given, str) else dict(stored)
    name = settings.pop("dialect")
    make = dialect_named(name)
    unknown = sorted(wanted.keys() - inspect.signature(make).parameters.keys())
    if unknown:
        raise ValueError(f"{name} has no {' and no '.join(unknown)}; it takes {inspect.signature(make)}")
    try:
        return make(**settings | wanted)
    except TypeError as error:
        raise ValueError(f"the dialect {name} cannot be made with {settings | wanted}: {error}") from error


def settings_of(dialect: Dialect) -> dict[str, Any]:
    """Returns the name of a dialect and its constructor's arguments, but not the template.

    Raises:
        ValueError: The dialect has no name by which it would be found again, or keeps an argument that JSON cannot
            hold.
    """
    kind = type(dialect)
    try:
        known: object = dialect_named(kind.__name__)
    except ValueError:
        known = None
    if known is not kind:
        raise ValueError(
            f"the dialect {kind.__name__} would not be found again when the policy is loaded; make its name known "
            f"first, here and in the program that loads: coach_gym.dialects.DIALECTS[{kind.__name__!r}] = "
            f"{kind.__name__}"
        )
    settings: dict[str, Any] = {"dialect": kind.__name__}
    for name in inspect.signature(kind).parameters.keys() - {"template"}:
        value = vars(dialect).get(name, _MISSING)
        if not isinstance(value, bool | int | float | str | None):
            raise ValueError(
                f"{kind.__name__}.{name} cannot be saved; keep the constructor's argument {name} as an attribute of "
                f"that name, and as a number, text, bool or None"
            )
        settings[name] = value
    return settings


_MISSING = object()


def store_dialect(dialect: Dialect, directory: Path) -> None:
    """Writes a dialect beside the weights of its policy.

    Raises:
        ValueError: As for `settings_of`.
    """
    settings = settings_of(dialect)
    (directory / _SETTINGS).write_text(json.dumps(settings, indent=2) + "\n", "utf-8")
    template = vars(dialect).get("template")
    if template is not None:
        (directory / _TEMPLATE).write_text(Path(template).read_text("utf-8"), "utf-8")


def stored_settings(directory: Path) -> dict[str, Any] | None:
    """Returns what `store_dialect` wrote; None if it wrote nothing, as in a checkpoint from the hub.

    Raises:
        ValueError: The file is damaged.
    """
    path = directory / _SETTINGS
    if not path.is_file():
        return None
    try:
        settings = json.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise ValueError(f"{path} is damaged: {error}; restore it") from error
    if not isinstance(settings, dict) or not isinstance(settings.get("dialect"), str):
        raise ValueError(f"{path} is damaged: it does not name the 'dialect' of the policy; restore it")
    template = directory / _TEMPLATE
    return settings | ({"template": template} if template.is_file() else {})
