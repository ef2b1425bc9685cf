"""Commands that work on text: `head`, `tail`, `grep`, `sort`, `wc` and their like."""

from __future__ import annotations

import base64
import fnmatch
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from operator import itemgetter

from coach_gym.envs.phone.shell.commands.kernel import PIECE
from coach_gym.envs.phone.shell.language.environment import Endless, Killed
from coach_gym.envs.phone.shell.language.options import Options, options, size
from coach_gym.envs.phone.shell.language.patterns import BadPattern, translate
from coach_gym.envs.phone.shell.language.process import MOST_OUTPUT, MOST_PARTS, Command, Process, few
from coach_gym.envs.phone.shell.language.words import unescape
from coach_gym.envs.phone.shell.toybox.matching import Pattern, TooComplex, compiled

MOST = 1_000_000  # lines that `seq` and `yes` print; with more they are killed


def inputs(p: Process, names: list[str], most: int = PIECE) -> Iterator[tuple[str, bytes]]:
    """Yields name and contents of every file that can be read; of standard input if none is named."""
    for name in names or ["-"]:
        data = p.read(name, most)
        if data is not None:
            yield name, data


def _lines(data: bytes) -> list[bytes]:
    """Returns lines with their ends; the last one may have none."""
    few(range(data.count(b"\n")))
    return data.splitlines(keepends=True) if b"\r" not in data else re.findall(rb"[^\n]*\n|[^\n]+", data)


def head(p: Process) -> int:
    """Prints the first lines, or bytes with `-c`."""
    return _part(p, lambda items, count: items[:count])


def tail(p: Process) -> int:
    """Prints the last lines, or with `+N` those from the Nth on. `-f` goes on with what others add to the file."""

    def last(items, count):
        return items[count - 1 if count else 0 :] if count > 0 else items[count:] if count else items[:0]

    code = _part(p, last, backwards=True, more="fFs")
    if code == 0 and {"f", "F"} & {letter for word in p.args if re.fullmatch("-[a-zA-Z]+", word) for letter in word}:
        p.shell.endless, p.shell.follow = True, _added(p, p.path(p.args[-1]))
    return code


def _added(p: Process, path: str) -> Callable[[], bytes]:
    """Returns what returns the bytes that were added to a file since it was last asked."""
    seen = len(p.storage.read(path) or b"")

    def added() -> bytes:
        nonlocal seen
        data = p.storage.read(path) or b""
        start, seen = min(seen, len(data)), len(data)
        return data[start:]

    return added


def _part(p: Process, cut: Callable, backwards: bool = False, more: str = "") -> int:
    args = [f"-n{p.args[0][1:]}", *p.args[1:]] if re.fullmatch(r"-\d+", "".join(p.args[:1])) else p.args
    given = options(args, "qv" + more, "nc", {"lines": "n", "bytes": "c"})
    what = "c" if "c" in given else "n"
    text = given.values.get(what, "10")
    count = size(text)
    if count is None:
        return p.fail(f"bad number '{text}'")
    if backwards and not text.startswith("+"):
        count = -abs(count)
    most = min(count, MOST_OUTPUT) if what == "c" and count > 0 else PIECE
    for index, (name, data) in enumerate(inputs(p, given.words, most)):
        if "v" in given or (len(given.words) > 1 and "q" not in given):
            p.print(f"{chr(10) if index else ''}==> {name} <==")
        p.streams.stdout += cut(data, count) if what == "c" else b"".join(cut(_lines(data), count))
    return int(p.failed)


def yes(p: Process) -> int:
    """Prints its words, or `y`, line after line until it is killed."""
    line = (" ".join(p.args or ["y"]) + "\n").encode("utf-8", "surrogateescape")
    p.streams.stdout += line * min(MOST, MOST_OUTPUT // len(line))
    raise Endless


def wc(p: Process) -> int:
    """Counts lines, words and bytes."""
    given = options(p.args, "lwcmL")
    flags = [flag for flag in "lwmcL" if flag in given] or ["l", "w", "c"]
    rows = []
    for name, data in inputs(p, given.words):
        rows.append(([_COUNTS[flag](data) for flag in flags], "" if name == "-" else name))
    if len(rows) > 1:
        rows.append(([sum(column) for column in zip(*(row for row, _ in rows), strict=True)], "total"))
    for numbers, name in rows:
        width = 7 if len(rows) > 1 or (len(flags) > 1 and not given.words) else 0
        p.print(" ".join(f"{number:{width}d}" for number in numbers) + (f" {name}" if name else ""))
    return int(p.failed)


_OUTLINE = bytes(ord(" " if bytes([byte]).isspace() else "x") for byte in range(256))
_COUNTS: dict[str, Callable[[bytes], int]] = {
    "l": lambda data: data.count(b"\n"), "c": len, "m": lambda data: len(data.decode("utf-8", "replace")),
    "w": lambda data: (b" " + data.translate(_OUTLINE)).count(b" x"),
    "L": lambda data: max(map(len, texts(data)), default=0),
}  # fmt: skip


def grep(p: Process) -> int:
    """Prints matching lines. Basic expressions, `-E` extended ones, `-F` plain text."""
    given = options(p.args, "EFGivwxlLcnqosHhrRay", "emABCfMS", _LONG)
    words, p.quiet = list(given.words), "s" in given
    patterns = [line for each in given.all.get("e", []) for line in each.split("\n")]
    patterns += [line for name in given.all.get("f", []) for line in texts(p.read(name) or b"")]
    if not patterns:
        if not words:
            return p.need(1)
        patterns = words.pop(0).split("\n")
    kind = "F" if "F" in given or p.name == "fgrep" else "E" if "E" in given or p.name == "egrep" else "G"
    try:
        wanted = _wanted(patterns, kind, given)
    except BadPattern as fault:
        return p.fail(f"bad regex '{patterns[0]}': {fault}", 2)
    recursive = "r" in given or "R" in given
    names = [file for word in words or ["."] for file in _files(p, word)] if recursive else words
    only, never = given.all.get("M", ["*"]), given.all.get("S", [])
    names = [name for name in names if _matches(name, only) and not _matches(name, never)] if recursive else names
    found = False
    for name, data in inputs(p, names):
        label = f"{name}:" if ("H" in given or len(names) > 1 or recursive) and "h" not in given else ""
        found = _grep_one(p, given, wanted, name, data, label) or found
    return 0 if found else 2 if p.failed else 1


_LONG = {"include": "M", "exclude": "S", "color": "", "line-buffered": "", "ignore-case": "i", "count": "c"}


def _matches(name: str, patterns: list[str]) -> bool:
    return any(fnmatch.fnmatchcase(name.rpartition("/")[2], pattern) for pattern in patterns)


def _wanted(patterns: list[str], kind: str, given: Options) -> Pattern:
    text = "|".join(f"(?:{re.escape(each) if kind == 'F' else translate(each, kind == 'E')})" for each in patterns)
    if "w" in given:
        text = rf"(?<!\w)(?:{text})(?!\w)"
    if "x" in given:
        text = rf"^(?:{text})$"
    try:
        return compiled(text, re.IGNORECASE if "i" in given or "y" in given else 0)
    except (re.error, RecursionError, OverflowError, TooComplex) as fault:
        raise BadPattern(str(fault)) from None


def _files(p: Process, name: str) -> list[str]:
    path = p.path(name)
    if not p.is_dir(path):
        return [name]
    found = [file for file in p.files.below(path) if p.files.attributes(file).kind == "regular file"]
    return [name.rstrip("/") + file[len(path.rstrip("/")) :] for file in sorted(found)]


def _grep_one(p: Process, given: Options, wanted: Pattern, name: str, data: bytes, label: str) -> bool:
    """Prints what the options ask for of one file. Returns whether a line matched."""
    lines = texts(data)
    hits = [i for i, line in enumerate(timed(p, lines)) if bool(wanted.search(line)) != ("v" in given)]
    hits = hits[: given.count("m", len(hits))]
    if "q" in given:
        return bool(hits)
    if "l" in given or "L" in given:
        if bool(hits) == ("l" in given):
            p.print("(standard input)" if name == "-" else name)
    elif "c" in given:
        p.print(f"{label}{len(hits)}")
    elif "o" in given:
        for i in hits:
            p.shell.look_at_clock()
            for match in wanted.finditer(lines[i]):
                if match[0]:
                    p.print(f"{label}{f'{i + 1}:' if 'n' in given else ''}{match[0]}")
    else:
        _show_hits(p, given, lines, hits, label)
    return bool(hits)


def _show_hits(p: Process, given: Options, lines: list[str], hits: list[int], label: str) -> None:
    before, after = (given.count(flag, given.count("C", 0)) for flag in "BA")
    shown, found = -1, set(hits)
    for hit in hits:
        start, end = max(shown + 1, hit - before), min(len(lines), hit + after + 1)
        if (before or after) and 0 <= shown < start - 1:
            p.print("--")
        for i in range(start, end):
            mark = ":" if i in found else "-"
            number = f"{i + 1}{mark}" if "n" in given else ""
            p.print(f"{label[:-1] + mark if label else ''}{number}{lines[i]}")
            shown = i


def sort(p: Process) -> int:
    """Sorts lines: `-r`, `-n`, `-u`, `-f`, by a field with `-k` and `-t`."""
    given = options(p.args, "bfghnrsu", "kto")
    lines = [line for _, data in inputs(p, given.words) for line in texts(data)]
    key = _sort_key(given)
    lines.sort(key=key, reverse="r" in given)
    if "u" in given:
        lines = [line for i, line in enumerate(lines) if not i or key(line) != key(lines[i - 1])]
    output = "".join(f"{line}\n" for line in lines)
    if "o" in given:
        p.storage.write(p.path(given.values["o"]), output.encode("utf-8", "surrogateescape"))
    else:
        p.print(output, "")
    return 2 * p.failed


def texts(data: bytes) -> list[str]:
    """Returns lines without their ends."""
    return few(data.decode("utf-8", "surrogateescape").removesuffix("\n").split("\n", MOST_PARTS)) if data else []


def timed(p: Process, lines: list[str]) -> Iterator[str]:
    """Yields lines for as long as the run may take."""
    for line in lines:
        p.shell.look_at_clock()
        yield line


def _sort_key(given: Options) -> Callable[[str], tuple]:
    match = re.match(r"(\d{1,4})[\d.]*(?:,\d+)?([a-zA-Z]*)", given.values.get("k", ""))
    column, flags = (int(match[1]), match[2] + "".join(given.flags)) if match else (0, "".join(given.flags))
    separator = given.values.get("t")

    def key(line: str) -> tuple:
        text = "".join(line.split(separator)[column - 1 : column]) if column else line
        if "n" in flags or "g" in flags or "h" in flags:
            number = re.match(r"\s*(-?\d{1,18}(?:\.\d{0,18})?)", text)
            return (float(number[1]) if number else 0.0, line)
        text = text.strip() if "b" in flags else text
        return (text.lower() if "f" in flags else text, line) if "f" in flags else (text,)

    return key


def uniq(p: Process) -> int:
    """Drops repeated lines: `-c` counts them, `-d` and `-u` keep only repeated or single ones."""
    given = options(p.args, "cdiu")
    groups: list[tuple[str, int]] = []
    for _, data in inputs(p, given.words[:1]):
        for line in texts(data):
            same = groups and (line.lower() == groups[-1][0].lower() if "i" in given else line == groups[-1][0])
            if same:
                groups[-1] = groups[-1][0], groups[-1][1] + 1
            else:
                groups.append((line, 1))
    for line, count in groups:
        if ("d" in given and count < 2) or ("u" in given and count > 1):
            continue
        p.print(f"{count:7d} {line}" if "c" in given else line)
    return int(p.failed)


def cut(p: Process) -> int:
    """Prints columns: `-d` and `-f` fields, `-c` characters, `-b` bytes."""
    given = options(p.args, "sn", "dfcbO")
    flag = next((flag for flag in "fcb" if flag in given), "")
    if not flag:
        return p.fail("no -fcb")
    ranges = _ranges(given.values[flag])
    if ranges is None:
        return p.fail(f"bad list '{given.values[flag]}'")
    separator = given.values.get("d", "\t") or "\t"
    for _, data in inputs(p, given.words):
        for line in texts(data):
            if flag == "f" and separator not in line:
                if "s" not in given:
                    p.print(line)
                continue
            items = line.split(separator) if flag == "f" else list(line)
            within = ranges[: bisect_right(ranges, len(items), key=itemgetter(0))]
            chosen = [item for first, last in within for item in items[first - 1 : last]]
            p.print(given.values.get("O", separator if flag == "f" else "").join(chosen))
    return int(p.failed)


def _ranges(text: str) -> list[tuple[int, int]] | None:
    """Returns the numbers of a list such as `1,3-5`, as ranges in order that do not overlap; None if it is no list."""
    ranges: list[tuple[int, int]] = []
    for part in text.split(","):
        match = re.fullmatch(r"(\d{0,9})(-?)(\d{0,9})", part)
        if not match or not (match[1] or match[3]):
            return None
        first = int(match[1] or 1)
        ranges.append((max(1, first), int(match[3]) if match[3] else 1 << 30 if match[2] else first))
    apart: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        first = max(first, apart[-1][1] + 1) if apart else first
        if first <= last:
            apart.append((first, last))
    return apart


_CLASSES = {
    "digit": "0123456789", "lower": "abcdefghijklmnopqrstuvwxyz", "upper": "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "space": " \t\n\r\f\v",
}  # fmt: skip
_CLASSES |= {"alpha": _CLASSES["upper"] + _CLASSES["lower"]}
_CLASSES |= {"alnum": _CLASSES["digit"] + _CLASSES["alpha"]}


def tr(p: Process) -> int:
    """Replaces, deletes (`-d`) or squeezes (`-s`) characters."""
    given = options(p.args, "dsCc")
    sets = [_characters(word) for word in given.words]
    if not sets:
        return p.need(1)
    text = p.streams.stdin.read().decode("utf-8", "surrogateescape")
    first, inverted = sets[0], "c" in given or "C" in given
    last = sets[1] if len(sets) > 1 else ""
    mapping: dict[str, str | None] = {c: last[min(i, len(last) - 1)] for i, c in enumerate(first)} if last else {}
    known = set(first)
    inside = {c for c in set(text) if (c in known) != inverted}
    if "d" in given:
        text = text.translate({ord(c): None for c in inside})
        inside = set()
    elif last:
        text = text.translate({ord(c): last[-1] if inverted else mapping[c] for c in inside})
    if "s" in given:
        squeezed = set(last) or inside
        text = re.sub(r"(.)\1+", lambda run: run[1] if run[1] in squeezed else run[0], text, flags=re.DOTALL)
    p.print(text, "")
    return 0


def _characters(word: str) -> str:
    word = re.sub(r"\[:(\w+):\]", lambda match: _CLASSES.get(match[1], ""), unescape(word))
    return re.sub(
        r"(.)-(.)", lambda match: "".join(map(chr, range(ord(match[1]), min(ord(match[2]), 0xFFFF) + 1))), word
    )


def seq(p: Process) -> int:
    """Prints numbers."""
    given = options([f" {word}" if re.match(r"-\d", word) else word for word in p.args], "w", "sf")
    try:
        numbers = [int(word) for word in given.words if len(word) < 12]
    except ValueError:
        return p.fail("bad number")
    if not 1 <= len(numbers) <= 3:
        return p.need(1)
    first, step = (numbers[0] if len(numbers) > 1 else 1), (numbers[1] if len(numbers) > 2 else 1)
    if step == 0:
        return p.fail("bad step")
    if "f" in given:
        return p.fail("-f is not on the embedded phone")
    found = range(first, numbers[-1] + (1 if step > 0 else -1), step)
    if len(found) > MOST:
        raise Killed
    words = list(map(str, found))
    if "w" in given:
        width = max(map(len, words), default=0)
        words = [word.zfill(width) for word in words]
    p.print(given.values.get("s", "\n").join(words), "\n" if words else "")
    return 0


def tee(p: Process) -> int:
    """Copies standard input to files and to standard output; `-a` appends."""
    given = options(p.args, "ai")
    data = p.streams.stdin.read()
    p.streams.stdout += data
    for name in given.words:
        path = p.path(name)
        if path == "/dev/null":
            continue
        with p.going_on():
            p.storage.write(path, (p.storage.read(path) or b"") + data if "a" in given else data)
    p.phone.changed()
    return int(p.failed)


_BLANKS = b" \t\n\r\f\v"


def base64_(p: Process) -> int:
    """Encodes or, with `-d`, decodes base64."""
    given = options(p.args, "di", "w")
    for _, data in inputs(p, given.words):
        if "d" in given:
            try:
                p.streams.stdout += base64.b64decode(data.translate(None, _BLANKS), validate="i" not in given)
            except ValueError:
                return p.fail("bad input")
            continue
        text, width = base64.b64encode(data).decode(), given.count("w", 76) or 1 << 30
        p.print("".join(f"{text[i : i + width]}\n" for i in few(range(0, len(text), width))), "")
    return int(p.failed)


def tac(p: Process) -> int:
    """Prints the lines in reverse order."""
    for _, data in inputs(p, p.args):
        p.print("".join(f"{line}\n" for line in reversed(texts(data))), "")
    return int(p.failed)


def rev(p: Process) -> int:
    """Prints every line backwards."""
    for _, data in inputs(p, p.args):
        p.print("".join(f"{line[::-1]}\n" for line in texts(data)), "")
    return int(p.failed)


def nl(p: Process) -> int:
    """Numbers the lines that are not empty, or all of them with `-b a`."""
    given = options(p.args, "", "bwsv")
    number, width, mark = given.count("v", 1), given.count("w", 6), given.values.get("s", "\t")
    for _, data in inputs(p, given.words):
        for line in texts(data):
            counted = line or given.values.get("b") == "a"
            p.print(f"{number:>{width}}{mark}{line}" if counted else " " * (width + len(mark)))
            number += bool(counted)
    return int(p.failed)


def more(p: Process) -> int:
    """Prints files; a shell without a terminal has no pages."""
    for _, data in inputs(p, p.args):
        p.streams.stdout += data
    return int(p.failed)


COMMANDS: dict[str, Command] = {
    "head": head, "tail": tail, "wc": wc, "grep": grep, "egrep": grep, "fgrep": grep, "sort": sort, "uniq": uniq,
    "cut": cut, "tr": tr, "seq": seq, "tee": tee, "base64": base64_, "tac": tac, "rev": rev, "nl": nl, "more": more,
    "yes": yes,
}  # fmt: skip
