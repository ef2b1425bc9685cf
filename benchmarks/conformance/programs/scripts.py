"""A model that is a script: for each goal the actions of a good run, in the words of the program that asks.

Every step names its element by what is written on it. As a model has to, the script finds that element in the prompt.
"""

from __future__ import annotations

import json
import re
from collections import Counter

Step = tuple[str, ...]
"""An action's name, what is written on its element, and a text to type."""

SCRIPTS: dict[str, list[Step]] = {
    # AndroidWorld
    r"Create a new contact for (?P<first>\w+) (?P<last>\w+)\. Their number is (?P<number>\S+)\.": [
        ("open_app", "Contacts"), ("click", "Create contact"), ("input_text", "First name", "{first}"),
        ("input_text", "Last name", "{last}"), ("input_text", "Phone", "{number}"), ("click", "Save"),
    ],
    r"Run the stopwatch\.": [("open_app", "Clock"), ("click", "Stopwatch"), ("click", "Start")],
    r"Pause the stopwatch\.": [
        ("open_app", "Clock"), ("click", "Stopwatch"), ("click", "Start"), ("click", "Pause"),
    ],
    r"Take one photo\.": [("open_app", "Camera"), ("click", "Shutter")],
    r"Open the (?P<app>.+) app\.": [("open_app", "{app}")],
    r"Turn wifi off\.": [
        ("open_app", "Settings"), ("click", "Network & internet"), ("click", "Internet"), ("click", "Wi\u2011Fi"),
    ],
    # AndroidLab
    r"Turn on airplane mode of my phone": [("click", "Network & internet"), ("click", "Airplane mode")],
    r"Turn my phone to Dark theme": [("click", "Display"), ("click", "Dark theme")],
    r"Add (?P<name>\w+) as a contacts and set his mobile phone number to be (?P<number>\d+)": [
        ("click", "Create contact"), ("click", "First name"), ("type", "{name}"), ("click", "Phone"),
        ("type", "{number}"), ("click", "Save"),
    ],
}  # fmt: skip

_GOALS = (r"The current user goal/request is: (.*)", r"Task Instruction: (.*)")


class Script:
    """Answers prompts of AndroidWorld's T3A and of AndroidLab's text mode. It remembers how far each goal has come."""

    def __init__(self) -> None:
        self._done: Counter[str] = Counter()

    def answer(self, prompt: str) -> str:
        """Returns the next action for a prompt that asks for one, else a few words.

        Raises:
            LookupError: There is no script for the goal, or its next element is not in the prompt.
        """
        goal = next((found[1] for pattern in _GOALS if (found := re.search(pattern, prompt))), None)
        if goal is None or "Your Answer:" not in prompt and "** XML **" not in prompt:
            return "A script answers."
        step = self._next(goal)
        return _for_world(step, prompt) if "Your Answer:" in prompt else _for_lab(step, prompt)

    def _next(self, goal: str) -> Step | None:
        """Returns the goal's next step, with the goal's own words filled in; None after the last."""
        for pattern, steps in SCRIPTS.items():
            if found := re.search(pattern, goal):
                done = self._done[goal]
                self._done[goal] += 1
                return tuple(part.format(**found.groupdict()) for part in steps[done]) if done < len(steps) else None
        raise LookupError(f"no script for the goal {goal!r}")


def _for_world(step: Step | None, prompt: str) -> str:
    """Writes a step as T3A's model does."""
    match step:
        case None:
            action: dict[str, object] = {"action_type": "status", "goal_status": "complete"}
        case "open_app", name:
            action = {"action_type": "open_app", "app_name": name}
        case kind, label, *text:
            written = re.escape(label)
            element = rf"UI element (\d+): UIElement\(text='?(?:{written}|[^,]*, content_description='{written})'?,"
            found = re.search(element, prompt)
            if found is None:
                raise LookupError(f"{label!r} is not on the screen:\n{prompt[-6000:]}")
            action = {"action_type": kind, "index": int(found[1]), **({"text": text[0]} if text else {})}
    return f"Reason: it is the next step.\nAction: {json.dumps(action)}"


def _for_lab(step: Step | None, prompt: str) -> str:
    """Writes a step as the model of AndroidLab's text mode does."""
    match step:
        case None:
            call = "finish()"
        case "type", text:
            call = f'do(action="Type", text={json.dumps(text)})'
        case _, label:
            bounds = r"bounds: \[(\d+),(\d+)\]\[(\d+),(\d+)\]"
            found = re.search(rf"\[\w+\] [^\n]*;;{re.escape(label)}\b[^\n]*\n\s*{bounds}", prompt)
            if found is None:
                raise LookupError(f"{label!r} is not on the screen:\n{prompt[-6000:]}")
            call = f'do(action="Tap", element=[{", ".join(found.groups())}])'
        case _:
            raise LookupError(f"AndroidLab has no action for {step}")
    return f"```\n{call}\n```"
