"""What the page shows of an episode, from its ATIF document."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import PurePosixPath
from typing import Any

from coach_gym.actions import ActionError, parse_action
from coach_gym.ui import parse_ui

_FLAGS = ("clickable", "long_clickable", "checkable", "checked", "focused", "selected", "scrollable", "editable")


def shown_episode(document: dict[str, Any]) -> dict[str, Any]:
    """Returns an episode as the page reads it.

    Args:
        document: What `coach_gym.recording.atif.to_atif` wrote.

    Returns:
        `goal`, `id`, `agent`, the `extra` of the document, and `steps`, each with the name of its `screen` and of the
        `next` one, its `elements`, its `candidates` and the verdict. The log-probability of a candidate is the sum over
        its tokens.
    """
    opening, *steps = document["steps"]
    screens = [_screen(opening["message"]), *(_screen(_observed(step)) for step in steps)]
    return {
        "id": document["trajectory_id"],
        "goal": opening["message"][0]["text"],
        "agent": document["agent"]["name"],
        **document["extra"],
        "steps": [_step(step, screens[t], screens[t + 1]) for t, step in enumerate(steps)],
    }


def _step(step: dict[str, Any], screen: str | None, following: str | None) -> dict[str, Any]:
    extra = step["extra"]
    return {
        "screen": screen,
        "next": following,
        "elements": elements_of(extra["ui"]),
        "error": extra["last_action_error"],
        "candidates": [
            {**_candidate(each), "executed": number == extra["executed"]}
            for number, each in enumerate(extra["candidates"])
        ],
        "verdict": extra["process_reward"],
        **{name: extra[name] for name in ("judged", "reasoning", "return", "version", "time", "prompt")},
    }


def _candidate(told: dict[str, Any]) -> dict[str, Any]:
    thought, action = "", None
    try:
        thought, parsed = parse_action(told["action"])
        action = {name: value for name, value in asdict(parsed).items() if value is not None}
    except ActionError:
        pass  # a response that is no action
    return {
        "text": told["text"],
        "thought": thought,
        "action": action,
        "tokens": len(told["token_ids"]),
        "logprob": sum(told["logprobs"]) if told["logprobs"] else None,
        **{name: told[name] for name in ("q", "advantage", "return")},
    }


def elements_of(ui: str) -> list[dict[str, Any]]:
    """Returns the elements of a screen text; none if it is in a format of the user's own."""
    try:
        elements = parse_ui(ui)
    except ValueError:
        return []
    return [
        {
            "cls": each.cls,
            "label": each.label,
            "value": each.value,
            "id": each.id,
            "bounds": each.bounds,
            "flags": [flag for flag in _FLAGS if getattr(each, flag)] + ([] if each.enabled else ["disabled"]),
        }
        for each in elements
    ]


def _observed(step: dict[str, Any]) -> list[dict[str, Any]]:
    return [part for result in step.get("observation", {}).get("results", []) for part in result["content"]]


def _screen(parts: list[dict[str, Any]]) -> str | None:
    paths = [PurePosixPath(part["source"]["path"]) for part in parts if part["type"] == "image"]
    return paths[0].stem if paths else None
