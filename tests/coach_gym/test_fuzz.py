"""Random, mutated and hostile answers: every parser returns an action or raises ActionError, fast, and environments
continue.

`COACH_FUZZ=1000000 python -m pytest tests/coach_gym/test_fuzz.py` runs a million of them.
"""

import json
import os
import random
import time
from collections.abc import Callable

from coach_gym.actions import KINDS, Action, ActionError, format_action, parse_action
from coach_gym.dialects import QwenMobileUse, UITars
from coach_gym.envs.android import AndroidEnv

STRINGS = int(os.environ.get("COACH_FUZZ", 5_000))

SEEDS = [
    "Thought: Save\nAction: click(start_box='(77,12)')",
    "Action: click(start_box='<|box_start|>(540,1200)<|box_end|>')",
    "click(point='<point>540 1200</point>')",
    "long_press(start_box='[1, 2, 3, 4]')",
    "Thought: on.\nAction: scroll(start_box='(5,6)', direction='down')",
    "drag(start_point='<point>1 2</point>', end_point='<point>3 4</point>')",
    "Action: type(content='it\\'s \\\\ \\n \"here\"')",
    "type(content='I'm here, ok')",
    "open_app(app_name='Clock')",
    "finished(content='42')",
    'On.\n<tool_call>\n{"name": "mobile_use", "arguments": {"action": "click", "coordinate": [5, 6]}}\n</tool_call>',
    '<tool_call>{"name": "mobile_use", "arguments": {"action": "type", "text": "\\ud83d\\n"}}</tool_call>',
    '<tool_call>{"name": "mobile_use", "arguments": {"action": "swipe", "coordinate": [5, 6], "coordinate2": [1, 2]}}',
]
TOKENS = [
    *"()[]{}<>'\"\\=,.:;|-+ \n\r\t\x00", *KINDS, "Action:", "Thought:",
    "\nAction: ", "start_box=", "point=", "end_box=",
    "content=", "<|box_start|>", "<|im_end|>", "</point>", "<tool_call>", '"coordinate": ', "nan", "inf", "1e999", "-0",
    "9" * 400, "0x10", "None", "__import__('os').system('true')", "{0.__class__}", "%s%n", "💥", "\ud800", "\u202e",
    "\u2028", "']", "')", "\\u0000", "[" * 300, "(" * 300, "'" * 300, "\\" * 301, " " * 300,
]  # fmt: skip


def mutate(text: str, rng: random.Random) -> str:
    """Makes one to four edits: deletes, doubles, inserts a token, replaces a character, or splices another answer."""
    for _ in range(rng.randint(1, 4)):
        at, to = sorted((rng.randint(0, len(text)), rng.randint(0, len(text))))
        piece = rng.choice(
            ["", text[at:to] * 2, rng.choice(TOKENS), chr(rng.randrange(0x110000)), rng.choice(SEEDS)[at:to]]
        )
        text = text[:at] + piece + text[to if rng.random() < 0.5 else at :]
    return text


def answer(rng: random.Random) -> str:
    match rng.randrange(10):
        case 0:
            return "".join(chr(rng.randrange(0x110000)) for _ in range(rng.randrange(40)))
        case 1 | 2:
            return "".join(rng.choices(TOKENS, k=rng.randrange(30)))
        case _:
            return mutate(rng.choice(SEEDS), rng)


def read(parse: Callable[[str], tuple[str, Action]], text: str) -> Action | None:
    try:
        return parse(text)[1]
    except ActionError as error:
        assert 10 < len(str(error)) < 400
        str(error).encode()
        return None


def test_no_answer_breaks_a_parser() -> None:
    rng = random.Random(20260)
    tars, qwen = UITars(), QwenMobileUse()
    frame = tars.frame(1080, 2400)
    parsers = (parse_action, lambda text: tars.parse(text, frame), lambda text: qwen.parse(text, frame))
    understood = 0
    slowest = 0.0
    for number in range(STRINGS):
        text = answer(rng)
        start = time.process_time()
        actions = [read(parse, text) for parse in parsers]
        slowest = max(slowest, time.process_time() - start)
        for action in filter(None, actions):
            understood += 1
            # Whatever was read is a complete action: it can be written, read back, stored and shown.
            assert parse_action(format_action(action)) == ("", action), (number, text)
            action.content.encode()
            json.dumps(action.content)
    assert STRINGS * 0.1 < understood < STRINGS * 2.9
    assert slowest < 0.1


def test_no_answer_breaks_an_environment() -> None:
    """Every answer is a step: an observation within its space and an error message, but never a fault."""
    rng = random.Random(20261)
    env = AndroidEnv("android_world", screen_size=(270, 600), max_steps=50)
    _, info = env.reset(seed=0)
    refused = 0
    for number in range(STRINGS):
        text = answer(rng)
        observation, reward, terminated, truncated, info = env.step(text)
        assert "fault" not in info, (number, text, info["fault"])
        assert observation in env.observation_space
        assert 0 <= reward <= 1
        refused += bool(observation["last_action_error"])
        if terminated or truncated:
            env.reset()
    assert STRINGS * 0.1 < refused < STRINGS
