"""Small tools about the machine and about numbers: `nproc`, `free`, `getenforce`, `run-as`, `expr`."""

from __future__ import annotations

import re

from coach_gym.envs.phone.shell.commands import kernel, state
from coach_gym.envs.phone.shell.language.options import options
from coach_gym.envs.phone.shell.language.process import Command, Process


def nproc(p: Process) -> int:
    """Prints the number of processors."""
    p.print(str(kernel.CPUS))
    return 0


def free(p: Process) -> int:
    """Prints the memory in use: in bytes, or in KiB (`-k`) or MiB (`-m`)."""
    given = options(p.args, "bkmgth")
    unit = 1 if "k" in given else 1024 if "m" in given else 1 / 1024
    total, left = kernel.MEMORY, kernel.FREE
    numbers = "".join(f"{int(number / unit):>15}" for number in (total, total - left, left, 0, 0))
    p.print("\t\t".join(["", "total        used        free      shared     buffers"]))
    p.print(f"Mem:{numbers}\nSwap:{'0':>14}{'0':>15}{'0':>15}")
    return 0


def getenforce(p: Process) -> int:
    """Prints whether SELinux enforces its rules."""
    p.print("Permissive")
    return 0


def run_as(p: Process) -> int:
    """`run-as PACKAGE COMMAND …`: runs a command in the folder of an app."""
    if len(p.args) < 2:
        return p.complain("run-as: usage: run-as <package-name> [--user <uid>] <command> [<args>]")
    package, *rest = p.args
    if package not in state.packages(p.phone):
        return p.fail(f"unknown package: {package}")
    rest = rest[2:] if rest[:1] == ["--user"] else rest
    kept, p.shell.folder = p.shell.folder, f"/data/data/{package}"
    try:
        return p.shell.run(rest, p.streams)
    finally:
        p.shell.folder = kept


def expr(p: Process) -> int:
    """Computes an expression of words: `|`, `&`, comparisons, `+ - * / %` and brackets."""
    words = list(p.args)
    try:
        value = _expression(words, 0)
        if words:
            raise ValueError
    except (ValueError, IndexError):
        return p.fail("syntax error", 2)
    except ZeroDivisionError:
        return p.fail("division by zero", 2)
    p.print(value)
    return int(value in ("", "0"))


_LEVELS = (("|",), ("&",), ("=", "==", "!=", "<", "<=", ">", ">="), ("+", "-"), ("*", "/", "%"))


_ORDERS = {"=": (0,), "==": (0,), "!=": (-1, 1), "<": (-1,), "<=": (-1, 0), ">": (1,), ">=": (0, 1)}


def _expression(words: list[str], level: int) -> str:
    if level == len(_LEVELS):
        word = words.pop(0)
        if word != "(":
            return word
        value = _expression(words, 0)
        if words.pop(0) != ")":
            raise ValueError
        return value
    value = _expression(words, level + 1)
    while words and words[0] in _LEVELS[level]:
        operator = words.pop(0)
        value = _combined(value, operator, _expression(words, level + 1))
    return value


def _combined(left: str, operator: str, right: str) -> str:
    zero = ("", "0")
    if operator == "|":
        return right if left in zero else left
    if operator == "&":
        return "0" if left in zero or right in zero else left
    numbers = all(re.fullmatch(r"-?\d{1,18}", word) for word in (left, right))
    if operator in _LEVELS[2]:
        order = (int(left) > int(right)) - (int(left) < int(right)) if numbers else (left > right) - (left < right)
        return str(int(order in _ORDERS[operator]))
    if not numbers:
        raise ValueError
    x, y = int(left), int(right)
    if operator in "/%":  # towards zero, as in C
        quotient = abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
        return str(quotient if operator == "/" else x - quotient * y)
    return str({"+": x + y, "-": x - y, "*": x * y}[operator])


COMMANDS: dict[str, Command] = {
    "nproc": nproc, "free": free, "getenforce": getenforce, "run-as": run_as, "expr": expr,
}  # fmt: skip
