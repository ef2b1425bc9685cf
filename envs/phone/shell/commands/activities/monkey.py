"""`monkey`: touches an app at random."""

from __future__ import annotations

import random
import re

from coach_gym.envs.phone import intents
from coach_gym.envs.phone.intents import Intent
from coach_gym.envs.phone.shell.commands import state
from coach_gym.envs.phone.shell.language.process import Command, Process

SWIPES = 0.25  # share of monkey's events


def monkey(p: Process) -> int:
    """`monkey -p PACKAGE [-s SEED] COUNT`: launches an app as from its icon, and touches the screen at random for the
    rest of the events. Whenever that leaves the app, it is launched again."""
    package = next((b for a, b in zip(p.args, p.args[1:], strict=False) if a == "-p"), "")
    for word in p.args:
        p.print(f"  bash arg: {word}")
    if state.app_of(p.phone, package) is None:
        p.complain("** No activities found to run, monkey aborted.")
        return 252
    count = next((word for word in reversed(p.args) if re.fullmatch(r"\d{1,6}", word)), None)
    if count is None:
        return p.complain("** Error: Count not specified", 255)
    seed = next((b for a, b in zip(p.args, p.args[1:], strict=False) if a == "-s"), "0")
    _touch_at_random(p, package, int(count) - 1, random.Random(seed))
    p.phone.changed()
    p.print(f"Events injected: {count}\n## Network stats: elapsed time=17ms (0ms mobile, 0ms wifi, 17ms not connected)")
    return 0


def _touch_at_random(p: Process, package: str, events: int, rng: random.Random) -> None:
    phone = p.phone
    phone.start(Intent(intents.MAIN, package=package))
    for _ in range(events):
        p.shell.spend()
        start, end = ((rng.randrange(phone.width), rng.randrange(phone.height)) for _ in range(2))
        if rng.random() < SWIPES:
            phone.swipe(start, end)
        else:
            phone.tap(*start)
        if phone.foreground != package:
            phone.start(Intent(intents.MAIN, package=package))


COMMANDS: dict[str, Command] = {"monkey": monkey}
