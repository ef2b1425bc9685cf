"""Commands that show or compare the bytes of files: `xxd`, `od`, `strings`, `file`, `cmp`, `diff`."""

from __future__ import annotations

import difflib
import re
import struct
import sys
from collections import Counter
from itertools import zip_longest

from coach_gym.envs.phone.paths import link
from coach_gym.envs.phone.shell.language.options import BadOption, options
from coach_gym.envs.phone.shell.language.process import NO_FILE, Command, Process, few
from coach_gym.envs.phone.shell.toybox.text import inputs, texts

MOST_COMPARED = 20_000  # lines of either file


WIDEST = 256  # bytes in a line of `xxd`
NEWLINE = b"\n"
AT_ONCE = 1 << 16  # lines, or bytes compared, between two looks at the clock


def xxd(p: Process) -> int:
    """Prints bytes in hexadecimal: `-c N` in a line, `-g N` together, `-p` without addresses, `-i` as numbers of C;
    `-l N` the first N, `-s N` from there, `-o N` with that added to the addresses; `-r` the way back."""
    given = options(p.args, "pri", "cgols")
    width = given.count("c", 30 if "p" in given else 12 if "i" in given else 16)
    group = given.count("g", 0 if "p" in given else 2)
    if group < 0 or not 0 <= width <= WIDEST:
        raise BadOption("-g < 0" if group < 0 else "-c < 0" if width < 0 else f"-c > {WIDEST}")
    for _, data in inputs(p, given.words[:1]):
        if "r" in given:
            return _from_hexadecimal(p, data, given.flags)
        start = given.count("s", 0)
        data = data[start : start + given.count("l", len(data))]
        width = width or (len(data) or 1 if {"p", "i"} & set(given.flags) else WIDEST)
        for at in range(0, len(data), width * AT_ONCE):
            part = data[at : at + width * AT_ONCE]
            if "i" in given:
                p.print(_numbers(part, width), "\n" if at + len(part) == len(data) else ",\n")
            elif "p" in given:
                p.print(part.hex("\n", -width) if not group else "\n".join(_words(part, width, group)))
            else:
                p.print(_dump(part, width, group, given.count("o", 0) + start + at), "")
    return int(p.failed)


def _words(data: bytes, width: int, group: int) -> list[str]:
    """Returns the bytes of each line in hexadecimal."""
    if not 0 < group < width:
        return data.hex("\n", -width).split("\n")
    return [data[at : at + width].hex(" ", -group) for at in range(0, len(data), width)]


def _numbers(data: bytes, width: int) -> str:
    return ",\n".join("  0x" + row.replace(" ", ", 0x") for row in _words(data, width, 1))


_SHOWN = bytes(byte if 32 <= byte < 127 else ord(".") for byte in range(256))


def _dump(data: bytes, width: int, group: int, start: int) -> str:
    shown, pad = data.translate(_SHOWN).decode(), 2 * width + (-(-width // group) - 1 if group else 0)
    line, rows = f"%08x: %-{pad}s  %s\n", zip(range(0, len(data), width), _words(data, width, group), strict=True)
    return "".join([line % (start + at, words, shown[at : at + width]) for at, words in rows])


def _from_hexadecimal(p: Process, data: bytes, flags: list[str]) -> int:
    if "i" in flags:
        digits = re.findall(rb"0x([0-9a-fA-F]{2})", data)
        p.streams.stdout += bytes.fromhex(b"".join(digits).decode())
        return 0
    lines = texts(data)
    digits = lines if "p" in flags else [re.sub(r"^[^:]*:|  .*", "", line) for line in lines]
    try:
        p.streams.stdout += bytes.fromhex("".join(digits))
    except ValueError:
        return p.fail("bad hexadecimal digits")
    return 0


_OCTAL, _HEX = "o", "x"


def od(p: Process) -> int:
    """Prints bytes: by default two at a time in octal, `-c` as characters, `-t x1` in hexadecimal, `-A n|d|x|o`."""
    given = options(p.args, "bcdovx", "AjNt")
    kind = given.values.get("t", next((letter for letter in "bcdox" if letter in given), "o2"))
    form = {"b": "o1", "c": "c", "d": "u2", "o": "o2", "x": "x2"}.get(kind, kind)
    match = re.fullmatch(r"c|([oxu])([124])", form)
    base = {"n": "", "d": "07d", "x": "07x", "o": "07o"}.get(given.values.get("A", "o"))
    if not match or base is None:
        return p.fail(f"bad -t {kind}" if not match else f"bad -A '{given.values['A']}'")
    size = int(match[2] or 1)
    data = b"".join(data for _, data in inputs(p, given.words))
    start = given.count("j", 0)
    data = data[start : start + given.count("N", len(data))]
    for at in range(0, len(data), 16):
        row = data[at : at + 16]
        p.print((format(start + at, base) if base else "") + _cells(row, match[1] or "c", size))
    p.print(f"{format(start + len(data), base)}\n" if base else "", "")
    return int(p.failed)


_NAMED = {0: "\\0", 7: "\\a", 8: "\\b", 9: "\\t", 10: "\\n", 11: "\\v", 12: "\\f", 13: "\\r"}
_CHARACTERS = [f"{_NAMED.get(n) or (chr(n) if 32 <= n < 127 else f'{n:03o}'):>4}" for n in range(256)]
_CELLS = {"o": (" %03o", " %06o", " %011o"), "x": (" %02x", " %04x", " %08x"), "u": (" %3d", " %5d", " %10d")}


def _cells(row: bytes, kind: str, size: int) -> str:
    if kind == "c":
        return "".join([_CHARACTERS[byte] for byte in row])
    row += bytes(-len(row) % size)
    numbers = struct.unpack(f"<{len(row) // size}{'BHI'[size // 2]}", row)
    return _CELLS[kind][size // 2] * len(numbers) % numbers


def strings(p: Process) -> int:
    """Prints the runs of at least four printable characters (`-n` sets how many)."""
    given = options(p.args, "af", "n")
    least = max(1, min(given.count("n", 4), 1000))
    for _, data in inputs(p, given.words):
        for match in re.finditer(rb"[\t -~]{%d,}" % least, data):
            p.print(match[0].decode())
    return int(p.failed)


_KINDS = (
    (b"\x89PNG", "PNG image data"), (b"\xff\xd8\xff", "JPEG image data"), (b"GIF8", "GIF image data"),
    (b"\x7fELF", "ELF executable"), (b"SQLite format 3", "SQLite 3.x database"), (b"PK\x03\x04", "Zip archive data"),
    (b"\x1f\x8b", "gzip compressed data"), (b"#!", "script text executable"), (b"ID3", "Audio file with ID3"),
    (b"%PDF", "PDF document"), (b"RIFF", "RIFF data"),
)  # fmt: skip


def file(p: Process) -> int:
    """Tells what kinds of files these are, by how they begin."""
    given = options(p.args, "bhLs")
    if not given.words:
        return p.need(1)
    width = max(map(len, given.words)) + 1
    for name in given.words:
        path, target = p.path(name), link(name, p.shell.folder)
        data = b"" if p.is_dir(path) or not p.exists(path) else p.read(name) or b""
        if target and "L" not in given:
            kind = f"symbolic link to {target}"
        elif not p.exists(path):
            kind = f"cannot open: {NO_FILE}"
        elif p.is_dir(path):
            kind = "directory"
        else:
            kind = next((kind for start, kind in _KINDS if data.startswith(start)), _text_or_data(data))
        p.print(kind if "b" in given else f"{name + ':':<{width}} {kind}")
    return 0


def _text_or_data(data: bytes) -> str:
    if not data:
        return "empty"
    if data.isascii() and not set(data) & set(b"\0\1\2\3\4\5\6"):
        return "ASCII text"
    try:
        data.decode()
    except UnicodeDecodeError:
        return "data"
    return "data" if b"\0" in data else "UTF-8 text"


def cmp(p: Process) -> int:
    """Compares two files byte by byte: 1 if they differ; `-s` says nothing, `-l` prints every difference, `-n` compares
    at most so many bytes. Numbers after the files are how many to skip of each."""
    given = options(p.args, "ls", "n", {"silent": "s", "quiet": "s"})
    words, limit = given.words, given.count("n", sys.maxsize)
    if {"l", "s"} <= set(given.flags) or limit < 1:
        raise BadOption("-n < 1" if limit < 1 else "No 's' with 'l'")
    if not 1 <= len(words) <= 4:
        return p.need(1) if not words else p.fail('Max 4 arguments (see "cmp --help")')
    if bad := next((word for word in words[2:] if not re.fullmatch("[0-9]{1,18}", word)), None):
        return p.fail(f"not integer: {bad}", 2)
    names = [*words[:2], "-"][:2]
    data = [p.read(name) for name in names]
    if None in data:
        return 2
    skipped = zip(data, [*map(int, words[2:]), 0, 0], strict=False)
    first, second = ((each or b"")[skip : skip + limit] for each, skip in skipped)
    if first == second or "s" in given:
        return int(first != second)
    return _tell(p, names, first, second, every="l" in given)


def _tell(p: Process, names: list[str], first: bytes, second: bytes, every: bool) -> int:
    """Says where two texts first differ, or prints all places; if one ends earlier, says which. Returns the code."""
    length, code = min(len(first), len(second)), 2
    for start in range(0, length, AT_ONCE):
        pair = first[start : start + AT_ONCE], second[start : start + AT_ONCE]
        if pair[0] == pair[1]:
            continue
        found = [(at, a, b) for at, (a, b) in enumerate(zip(*pair, strict=False), start + 1) if a != b]
        if found and not every:
            at = found[0][0]
            p.print(f"{names[0]} {names[1]} differ: char {at}, line {first[: at - 1].count(NEWLINE) + 1}")
            return 1
        code = 1 if found else code
        p.print("".join([f"{at} {a:o} {b:o}\n" for at, a, b in found]), "")
    if len(first) != len(second):
        line = "" if every else f", line {first[:length].count(NEWLINE)}"
        p.fail(f"EOF on {names[len(first) > len(second)]} after byte {length}{line}")
    return code


def diff(p: Process) -> int:
    """Compares two files line by line, in the unified form: 1 if they differ; `-q` only says so. `-r` compares folders,
    `-b` and `-i` ignore blanks and cases."""
    given = options(p.args, "uqrabiw", "U", {"brief": "q", "unified": "u", "recursive": "r"})
    if len(given.words) != 2:
        return p.need(2)
    left, right = given.words
    if p.is_dir(p.path(left)) and p.is_dir(p.path(right)):
        return _compare_folders(p, left, right, given.flags)
    data = [p.read(name) for name in (left, right)]
    if None in data:
        return 2
    first, second = (_text_lines(each or b"") for each in data)
    if max(len(first), len(second)) > MOST_COMPARED:
        return p.fail(f"more than {MOST_COMPARED} lines", 2)
    if [_folded(line, given.flags) for line in first] == [_folded(line, given.flags) for line in second]:
        return 0
    if "q" in given:
        p.print(f"Files {left} and {right} differ")
        return 1
    for line in difflib.unified_diff(first, second, left, right, n=given.count("U", 3)):
        p.print(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n", "")
    return 1


def _text_lines(data: bytes) -> list[str]:
    few(range(data.count(b"\n")))
    return data.decode("utf-8", "surrogateescape").splitlines(keepends=True)


def _folded(line: str, flags: list[str]) -> str:
    line = " ".join(line.split()) if {"b", "w"} & set(flags) else line
    return line.lower() if "i" in flags else line


def _compare_folders(p: Process, left: str, right: str, flags: list[str]) -> int:
    """Compares the files of two folders; those of one alone differ."""
    code = 0
    names = [p.files.names(p.path(folder)) for folder in (left, right)]
    for name in sorted({*names[0], *names[1]}):
        if name not in names[0] or name not in names[1]:
            p.print(f"Only in {left if name in names[0] else right}: {name}")
            code = 1
        elif "r" in flags or not p.is_dir(p.path(f"{left}/{name}")):
            args = [*(f"-{flag}" for flag in flags if flag != "U"), f"{left}/{name}", f"{right}/{name}"]
            code = max(code, diff(Process(p.shell, p.name, args, p.streams)))
    return code


def comm(p: Process) -> int:
    """Prints which lines of two sorted files are in the first, the second or both; `-1`, `-2`, `-3` leave one out."""
    given = options(p.args, "123")
    if len(given.words) != 2:
        return p.need(2)
    data = [p.read(name) for name in given.words]
    if None in data:
        return 1
    first, second = (Counter(texts(each or b"")) for each in data)
    shown = [column for column in range(3) if str(column + 1) not in given]
    for line in sorted({*first, *second}):
        counts = _counts(first[line], second[line])
        for tabs, column in enumerate(shown):
            p.print(("\t" * tabs + f"{line}\n") * counts[column], "")
    return 0


def _counts(first: int, second: int) -> tuple[int, int, int]:
    both = min(first, second)
    return first - both, second - both, both


def paste(p: Process) -> int:
    """Joins the lines of files side by side, or with `-s` those of each file; `-d` sets what stands between them."""
    given = options(p.args, "s", "d")
    between = given.values.get("d", "\t")
    columns = [texts(data) for _, data in inputs(p, given.words)]
    rows = columns if "s" in given else [list(row) for row in zip_longest(*columns, fillvalue="")]
    for row in rows:
        p.print("".join(f"{between[i % len(between)] if i and between else ''}{text}" for i, text in enumerate(row)))
    return int(p.failed)


COMMANDS: dict[str, Command] = {
    "xxd": xxd, "od": od, "strings": strings, "file": file, "cmp": cmp, "diff": diff, "comm": comm, "paste": paste,
}  # fmt: skip
