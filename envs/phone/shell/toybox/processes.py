"""Commands about processes: `ps`, `pidof`, `kill` and their like."""

from __future__ import annotations

from collections.abc import Callable

from coach_gym.envs.phone.shell.commands import state
from coach_gym.envs.phone.shell.commands.state import Task
from coach_gym.envs.phone.shell.language.environment import OWN_PID
from coach_gym.envs.phone.shell.language.options import options
from coach_gym.envs.phone.shell.language.process import Command, Process

_FIELDS: dict[str, tuple[int, Callable[[Task], object]]] = {  # width (negative: to the left), value
    "USER": (-14, lambda task: task.user), "UID": (6, lambda task: task.uid), "PID": (6, lambda task: task.pid),
    "PPID": (6, lambda task: task.parent), "VSZ": (9, lambda task: 13816016), "RSS": (7, lambda task: 124548),
    "WCHAN": (10, lambda task: 0), "ADDR": (10, lambda task: 0), "S": (1, lambda task: "S"),
    "TTY": (-4, lambda task: "?"), "C": (2, lambda task: 0), "STIME": (-5, lambda task: "15:34"),
    "TIME": (8, lambda task: "00:00:00"), "%CPU": (4, lambda task: "0.0"), "%MEM": (4, lambda task: "6.1"),
    "PRI": (3, lambda task: 19), "NI": (3, lambda task: 0),
} | dict.fromkeys(("NAME", "CMD", "ARGS", "CMDLINE", "COMM"), (-1, lambda task: task.name))  # fmt: skip
_SIGNALS = "HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM"
_USUAL = "USER,PID,PPID,VSZ,RSS,WCHAN,ADDR,S,NAME"
_FULL = "UID,PID,PPID,C,STIME,TTY,TIME,CMD"


def ps(p: Process) -> int:
    """Lists processes: of users (`-u`), by ids (`-p`); `-f` and `-o` choose the columns."""
    given = options(p.args, "AedTwZlknf", "oOpPuUgt")
    names = given.values.get("o", _FULL if "f" in given else _USUAL).replace(" ", ",").upper().split(",")
    bad = next((name for name in names if name.partition("=")[0] not in _FIELDS), None)
    if bad is not None:
        return p.fail(f"bad -o {given.values['o']}@0")
    users = given.values.get("u", given.values.get("U", "")).split(",")
    ids = given.values.get("p", "").split(",")
    tasks = [
        task for task in state.processes(p.phone)
        if (users == [""] or {task.user, str(task.uid)} & set(users)) and (ids == [""] or str(task.pid) in ids)
    ]  # fmt: skip
    rows = [[name.partition("=")[2] if "=" in name else name for name in names]]
    rows += [[str(_FIELDS[name.partition("=")[0]][1](task)) for name in names] for task in tasks]
    for row in rows if any(rows[0]) else rows[1:]:
        cells = (_cell(text, _FIELDS[name.partition("=")[0]][0]) for text, name in zip(row, names, strict=True))
        p.print(" ".join(cells).rstrip())
    return int(not tasks)


def _cell(text: str, width: int) -> str:
    return text.ljust(-width) if width < 0 else text.rjust(width)


def pidof(p: Process) -> int:
    """Prints the process ids of names, of one only with `-s`; fails if there are none."""
    given = options(p.args, "sx")
    pids = [str(task.pid) for task in state.processes(p.phone) if task.name in given.words]
    if pids:
        p.print(" ".join(pids[:1] if "s" in given else pids))
    return int(not pids)


def pgrep(p: Process) -> int:
    """Prints the ids of the processes whose name contains a text, or is it (`-x`); `-l` with the names, `-n`
    and `-o` of the newest or the oldest only."""
    given = options(p.args, "flxno")
    if not given.words:
        return p.need(1)
    found = [task for task in state.processes(p.phone) if _named(task, given.words[0], exactly="x" in given)]
    found = found[-1:] if "n" in given else found[:1] if "o" in given else found
    for task in found:
        p.print(f"{task.pid} {task.name}" if "l" in given else str(task.pid))
    return int(not found)


def _named(task: Task, text: str, exactly: bool) -> bool:
    return task.name == text if exactly else text in task.name


def kill(p: Process) -> int:
    """Ends processes by id; `-0` only asks whether they exist, `-l` lists the signals."""
    words = list(p.args)
    if words[:1] == ["-l"]:
        p.print(_SIGNALS)
        return 0
    signal = words.pop(0) if words and words[0].startswith("-") else "-TERM"
    if signal == "-s" and words:
        signal = f"-{words.pop(0)}"
    if not _is_signal(signal):
        return p.fail(f"Unknown signal '{signal[1:]}'")
    for word in words:
        found = [task for task in state.processes(p.phone) if str(task.pid) == word]
        if word == OWN_PID and p.shell.endless:  # a script's own program in the background, such as `screenrecord`
            if signal != "-0":
                p.shell.end_program()
        elif not found:
            p.complain(f"{p.name}: {word}: No such process")
        elif signal != "-0":
            state.end(p.phone, found[0])
    return int(p.failed) if words else p.need(1)


def kill_named(p: Process) -> int:
    """`pkill TEXT`, `killall NAME`: ends processes by name, whatever the signal, such as `-9` or `-INT`."""
    given = options([word for word in p.args if not _is_signal(word)], "flxqi", "us")
    found = [
        task for task in state.processes(p.phone)
        if any(_named(task, word, exactly=p.name == "killall" or "x" in given) for word in given.words)
    ]  # fmt: skip
    for task in found:
        state.end(p.phone, task)
    if not found and p.name == "killall":
        return p.fail(f"{' '.join(given.words)}: No such process")
    return int(not found)


def _is_signal(word: str) -> bool:
    name = word[1:].removeprefix("SIG")
    return word.startswith("-") and (name.isdecimal() or name in _SIGNALS.split())


COMMANDS: dict[str, Command] = {
    "ps": ps, "pidof": pidof, "pgrep": pgrep, "kill": kill, "pkill": kill_named, "killall": kill_named,
}  # fmt: skip
