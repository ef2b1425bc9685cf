"""A monkey at the embedded phone: touches whatever is there, types what nobody types, and must break nothing.

``COACH_MONKEY=100000`` in the environment makes it play longer.
"""

import os
import random

import pytest

from coach_gym.actions import Action, format_action
from coach_gym.envs.android import AndroidEnv
from coach_gym.envs.profiles import world_phone
from coach_gym.ui import parse_ui

STEPS = int(os.environ.get("COACH_MONKEY", "400"))
SCREEN = (270, 600)
TEXTS = (
    "a", "Ada Lovelace", "7", "-1", "1e309", "99999999999999999999", "0.1.2", "12:61", "31/02/2023", "", " ", "/",
    "a/b", "../../x", ".", "..", "con.txt", "x" * 3000, "line\nline\r\nline", "'; DROP TABLE t; --", '"',
    "%s %d {} {0}", "<b>&", "مرحبا", "👩‍👩‍👧", "日本語", "e\u0301", "\u202e", "\u200b", "٣", "½", "²",
)  # fmt: skip
APPS = (*(app.label for app in world_phone().apps.values()), "Nonsense")
KINDS = {
    "click": 50, "long_press": 10, "type": 14, "scroll": 8, "drag": 5, "press_back": 6, "press_enter": 4, "open_app": 2,
    "wait": 1, "press_home": 0.3,
}  # fmt: skip


def pick(rng, observation):
    """Mostly an element that can be touched, sometimes anything."""
    elements = [e for e in parse_ui(observation["ui"]) if e.clickable or e.long_clickable or e.editable or e.scrollable]
    x, y = rng.randrange(SCREEN[0]), rng.randrange(SCREEN[1])
    if elements and rng.random() < 0.85:
        x, y = rng.choice(elements).center
        x, y = min(x, SCREEN[0] - 1), min(y, SCREEN[1] - 1)
    (kind,) = rng.choices(list(KINDS), KINDS.values())
    if kind in ("click", "long_press"):
        return Action(kind, (x, y))
    if kind == "scroll":
        return Action(kind, (x, y), direction=rng.choice(["up", "down", "left", "right"]))
    if kind == "drag":
        return Action(kind, (x, y), (rng.randrange(SCREEN[0]), rng.randrange(SCREEN[1])))
    if kind in ("type", "open_app"):
        return Action(kind, content=rng.choice(TEXTS if kind == "type" else APPS))
    return Action(kind)


@pytest.mark.parametrize("benchmark", ["android_world", "android_lab"])
def test_a_monkey_breaks_nothing(benchmark):
    """Neither a fault of the phone nor an observation outside its space, whatever state the phone is brought into."""
    env = AndroidEnv(benchmark, screen_size=SCREEN, max_steps=60)
    rng = random.Random(0)
    observation, info = env.reset(seed=0)
    history = []
    for _ in range(STEPS):
        text = format_action(pick(rng, observation)) if len(history) < 55 else "finished(content='7')"
        history.append(text)
        observation, _, terminated, truncated, info = env.step(text)
        assert "fault" not in info, f"{info['task']} {dict(info['params'])}\n" + "\n".join([*history, info["fault"]])
        assert observation in env.observation_space
        if terminated or truncated:
            observation, info = env.reset()
            assert "fault" not in info, f"{info['task']} {dict(info['params'])}: {info['fault']}"
            history = []
