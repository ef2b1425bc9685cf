"""`log`: writes to Android's log."""

from __future__ import annotations

from coach_gym.envs.phone.services import PRIORITIES
from coach_gym.envs.phone.shell.language.options import options
from coach_gym.envs.phone.shell.language.process import Command, Process


def log(p: Process) -> int:
    """`log [-p PRIORITY] [-t TAG] [TEXT …]`: writes a message; without a text, each line of standard input."""
    given = options(p.args, "", "pt")
    priority = given.values.get("p", "i")[:1].upper()
    if not priority or priority not in PRIORITIES:
        return p.fail(f"bad -p '{given.values['p']}'")
    read = lambda: p.streams.stdin.read().decode("utf-8", "surrogateescape").splitlines()  # noqa: E731
    for text in [" ".join(given.words)] if given.words else read():
        p.phone.services.write_log(p.phone.now, priority, given.values.get("t", "log"), text)
    return 0


COMMANDS: dict[str, Command] = {"log": log}
