"""Settings of agents and engines, from a file or from the command line."""

import json
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

_TABLES = {
    "env": "settings of the environment; put its id into [train] env, or pass --env",
    "train": "options of coach-gym train",
}
CONFIGS = Path(__file__).parents[1] / "configs"
"""Settings that are ready for use."""


def read_config(path: Path | None) -> dict[str, Any]:
    """Reads a TOML or JSON file, or one of the shipped files by its name; without a path, returns no settings.

    Raises:
        SystemExit: There is no such file, or it holds no settings.
    """
    if path is None:
        return {}
    if not path.exists():
        shipped = {each.stem: each for each in CONFIGS.glob("*.toml")}
        if str(path) not in shipped:
            sys.exit(f"there is no file {path}, and shipped are only {', '.join(sorted(shipped))}")
        path = shipped[str(path)]
    try:
        text = path.read_text("utf-8")
        settings = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
    except (OSError, ValueError, RecursionError) as error:
        sys.exit(f"the settings in {path} cannot be read ({error}); mend the file")
    if not isinstance(settings, dict):
        sys.exit(f"{path} holds a {type(settings).__name__}, not settings by name; mend the file")
    for name, held in _TABLES.items():
        if not isinstance(settings.get(name, {}), dict):
            sys.exit(f"{name} = {settings[name]!r:.60} in {path} is no table; [{name}] is that of the {held}")
    return settings


def parse_settings(words: Sequence[str]) -> dict[str, Any]:
    """Reads settings from `--name value` or `--name=value`; a value is JSON if it parses as JSON, else text, but
    for Python's True and False.

    Raises:
        SystemExit: The words are not pairs of name and value.
    """
    settings: dict[str, Any] = {}
    rest = [part for word in words for part in (word.split("=", 1) if word.startswith("--") else [word])]
    if len(rest) % 2 or not all(name.startswith("--") for name in rest[::2]):
        sys.exit(f"settings must be pairs of --name and value; got: {' '.join(words)}")
    for name, value in zip(rest[::2], rest[1::2], strict=True):
        try:
            settings[name[2:].replace("-", "_")] = json.loads(value)
        except ValueError:
            settings[name[2:].replace("-", "_")] = {"True": True, "False": False}.get(value, value)
    return settings
