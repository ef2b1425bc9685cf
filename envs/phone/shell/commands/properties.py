"""`getprop` and `setprop`: Android's system properties."""

from __future__ import annotations

import re

from coach_gym.envs.phone.shell.commands import state
from coach_gym.envs.phone.shell.language.options import BadOption, Help, options
from coach_gym.envs.phone.shell.language.process import Command, Process

LONGEST = 91  # bytes of a value


def getprop(p: Process) -> int:
    """Prints a system property, or all of them. The phone has no file of their types (`-T`) and contexts (`-Z`)."""
    try:
        given = options(p.args, "TZ")
    except BadOption:
        bad = next(word for word in p.args if word not in ("-T", "-Z") and word.startswith("-"))
        return p.fail(f"unknown option -- {bad[2:] if bad.startswith('--') else bad.lstrip('-TZ')[:1]}", 255)
    if len(given.flags) > 1:
        return p.complain("Only one of -T or -Z may be specified", 255)
    if given.flags:
        return p.complain("Unable to load property info file", 255)
    if len(given.words) > 2:
        return p.fail('Max 2 arguments (see "getprop --help")', 255)
    if given.words:
        p.print(state.get_property(p.phone, given.words[0]) or "".join(given.words[1:]))
    else:
        p.print("".join(f"[{name}]: [{value}]\n" for name, value in state.properties(p.phone).items()), "")
    return 0


def setprop(p: Process) -> int:
    """Sets a system property, unless it is read-only. It has no options: `-x` is a name, too."""
    if p.args == ["--help"]:
        raise Help
    if len(p.args) != 2:
        return p.fail('Need 2 arguments (see "setprop --help")')
    name, value = p.args
    size = len(value.encode("utf-8", "surrogateescape"))
    if fault := _fault_of_name(name):
        return p.complain(fault)
    if size > LONGEST and not name.startswith("ro."):
        return p.complain(f"Value '{value}' is too long, {size} bytes vs a max of {LONGEST + 1}")
    if name.startswith("ro.") and state.get_property(p.phone, name):
        return p.complain(f"Failed to set property '{name}' to '{value}'\nSee dmesg for error reason.")
    p.phone.services.properties[name] = value
    p.phone.changed()
    return 0


def _fault_of_name(name: str) -> str:
    """Returns what is wrong with the name of a property; empty if nothing is."""
    if not name.strip(".") or name.strip(".") != name:
        return "Property names can't start or end with a '.'"
    if ".." in name:
        return "'..' is not allowed in a property name"
    bad = re.search(r"[^\w:@.-]", name, re.ASCII)
    return f"Invalid character '{bad[0]}' in property name" if bad else ""


COMMANDS: dict[str, Command] = {"getprop": getprop, "setprop": setprop}
