"""Commands that list files: `ls`, `stat`, `find`, `du`, `df`, in toybox's formats."""

from __future__ import annotations

import fnmatch
import re
import stat as modes
from collections.abc import Callable
from datetime import datetime, timedelta

from coach_gym.envs.phone.epoch import to_seconds
from coach_gym.envs.phone.paths import LINKS, link, real
from coach_gym.envs.phone.shell.language.options import Options, options
from coach_gym.envs.phone.shell.language.process import NO_FILE, Command, Process, Streams
from coach_gym.envs.phone.shell.toybox.attributes import BLOCK, Attributes, attributes, of_link, user_name

LABEL = "u:object_r:media_rw_data_file:s0"
DISK = 6_144_000  # KiB of the data partition, as on AndroidWorld's emulator


def ls(p: Process) -> int:
    """Lists files, then folders; `-l` with attributes, `-ll` with full times."""
    given = options(p.args, "1AaCcdFfghHilLmNnopqQrRSstuUxZ", "", {"color": "", "full-time": "l"})
    words, code = given.words or ["."], 0
    alone, folders = [], []
    for word in words:
        path = p.path(word)
        if not p.exists(path):
            code = p.fail(f"{word}: {NO_FILE}")
        elif "d" in given or not p.is_dir(path) or ("l" in given and link(word, p.shell.folder)):
            alone.append(word)
        else:
            folders.append(word)
    _Listing(p, given, "/").show([(word, word) for word in alone])
    for index, word in enumerate(sorted(folders)):
        if len(words) > 1 or "R" in given:
            p.print(f"{chr(10) if alone or index else ''}{word}:")
        _list_folder(p, given, word)
    return code


def _list_folder(p: Process, given: Options, word: str) -> None:
    path = p.path(word)
    names = p.files.names(path)
    if "a" in given or "f" in given:
        names = [".", "..", *names]
    elif "A" not in given:
        names = [name for name in names if not name.startswith(".")]
    _Listing(p, given, path).show([(name, f"{path}/{name}") for name in names], total=True)
    if "R" in given:
        for name in names:
            if name not in (".", "..") and p.is_dir(real(f"{path}/{name}")) and not link(f"{path}/{name}"):
                p.print(f"\n{word.rstrip('/')}/{name}:")
                _list_folder(p, given, f"{word.rstrip('/')}/{name}")


class _Listing:
    """The entries of one folder, or those given by name."""

    def __init__(self, p: Process, given: Options, folder: str) -> None:
        self.p, self.given, self.folder = p, given, folder
        self.long = any(flag in given for flag in "lgno")
        self.described = self.long or any(flag in given for flag in "tSsiFp")  # attributes matter

    def show(self, entries: list[tuple[str, str]], total: bool = False) -> None:
        """Prints (name, path) pairs in the order that the options ask for."""
        found = [(name, path, self._attributes(path)) for name, path in entries]
        if "t" in self.given:
            found.sort(key=lambda entry: entry[2].modified, reverse=True)
        elif "S" in self.given:
            found.sort(key=lambda entry: entry[2].size, reverse=True)
        elif not {"f", "U"} & set(self.given.flags):
            found.sort(key=lambda entry: entry[0])
        found = found[::-1] if "r" in self.given else found
        if total and (self.long or "s" in self.given):
            self.p.print(f"total {sum(a.blocks for _, _, a in found) // 2}")
        shown = [self._name(name, path, a) for name, path, a in found]
        if self.long:
            columns = [self._columns(a) for _, _, a in found]
            widths = [max(map(len, column)) for column in zip(*columns, strict=True)] if columns else []
            shown = [_aligned(row, widths) + name for row, name in zip(columns, shown, strict=True)]
        if "m" in self.given:
            self.p.print(", ".join(shown), "\n" if shown else "")
        else:
            self.p.print("".join(f"{line}\n" for line in shown), "")

    def _attributes(self, path: str) -> Attributes:
        folder = self.p.shell.folder
        target = None if path.endswith(("/.", "/..")) else link(path, folder)
        if target or not self.described:
            return of_link(target or "")
        return attributes(self.p.phone, self.p.path(path))

    def _name(self, name: str, path: str, a: Attributes) -> str:
        before = f"{a.inode} " if "i" in self.given else ""
        before += f"{a.blocks // 2} " if "s" in self.given else ""
        before += f"{LABEL} " if "Z" in self.given else ""
        folder = modes.S_ISDIR(a.mode)
        mark = "/" if folder and ({"F", "p"} & set(self.given.flags)) else ""
        if self.long and modes.S_ISLNK(a.mode):
            mark = f" -> {link(path, self.p.shell.folder)}"
        return before + (f'"{name}"' if "Q" in self.given else name) + mark

    def _columns(self, a: Attributes) -> list[str]:
        user, group = (str(a.user), str(a.group)) if "n" in self.given else (user_name(a.user), user_name(a.group))
        owners = ([] if "g" in self.given else [user]) + ([] if "o" in self.given else [group])
        size = _human(a.size) if "h" in self.given else str(a.size)
        full = self.given.flags.count("l") > 1
        at = self.p.local(a.modified)
        when = _full_time(at) if full else at.strftime("%Y-%m-%d %H:%M")
        return [modes.filemode(a.mode), f">{a.links}", *owners, f">{size}", when]


def _aligned(row: list[str], widths: list[int]) -> str:
    """Returns cells side by side; those that begin with `>` are aligned to the right."""
    cells = (
        cell[1:].rjust(width - 1) if cell.startswith(">") else cell.ljust(width)
        for cell, width in zip(row, widths, strict=True)
    )
    return " ".join(cells) + " "


def _full_time(time: datetime) -> str:
    return f"{time:%Y-%m-%d %H:%M:%S}.{time.microsecond:06d}000 {time:%z}"


def _human(size: int) -> str:
    """Returns a size in the form of `ls -h`: 512, 1.5K, 23M."""
    if size < 1024:
        return str(size)
    value, units = size / 1024, "KMGT"
    while value >= 1023.5 and len(units) > 1:
        value, units = value / 1024, units[1:]
    return f"{value:.1f}{units[0]}" if value < 9.95 else f"{value:.0f}{units[0]}"


def stat(p: Process) -> int:
    """Prints attributes of files; `-c` in a format of `%`-letters."""
    given = options(p.args, "L", "c")
    default = (
        "  File: %N\n  Size: %s\t Blocks: %b\t IO Blocks: %B\t %F\nDevice: %Dh/%dd\t Inode: %i\t Links: %h\t "
        "Device type: 0,0\nAccess: (0%a/%A)\tUid: (%U)\tGid: (%G)\nAccess: %x\nModify: %y\nChange: %z"
    )
    form, code = given.values.get("c", default), 0
    for name in given.words:
        path, target = p.path(name), link(name, p.shell.folder)
        if not p.exists(path):
            code = p.fail(f"'{name}': {NO_FILE}")
            continue
        a = of_link(target) if target and "L" not in given else attributes(p.phone, path)
        values = _stat_values(p, name, target, a)
        if form is default:
            values |= {"U": f"{a.user:5d}/{user_name(a.user):>8}", "G": f"{a.group:5d}/{user_name(a.group):>8}"}
        p.print(_filled(form, values))
    return code


def _filled(form: str, values: dict[str, str]) -> str:
    return re.sub(r"%(.)", lambda match: values.get(match[1], match[0]), form)


def _stat_values(p: Process, name: str, target: str | None, a: Attributes) -> dict[str, str]:
    seconds, full = str(to_seconds(a.modified)), _full_time(p.local(a.modified))
    shown = f"`{name}' -> `{target}'" if target and a.kind == "symbolic link" else f"`{name}'"
    return {
        "n": name, "N": shown if target else name, "s": str(a.size), "b": str(a.blocks), "B": "512", "o": str(BLOCK),
        "F": a.kind if a.size or a.kind != "regular file" else "regular empty file", "D": "2f", "d": "47",
        "i": str(a.inode), "h": str(a.links), "a": f"{modes.S_IMODE(a.mode):o}", "A": modes.filemode(a.mode),
        "f": f"{a.mode:x}", "u": str(a.user), "U": user_name(a.user), "g": str(a.group), "G": user_name(a.group),
        "X": seconds, "Y": seconds, "Z": seconds, "x": full, "y": full, "z": full, "m": "/storage/emulated",
        "t": "0", "T": "0", "%": "%",
    }  # fmt: skip


def find(p: Process) -> int:
    """Walks folders and tests what is there. It follows links named on the command line."""
    split = next((i for i, a in enumerate(p.args) if a[:1] in ("-", "!", "(") and a not in ("-H", "-L")), len(p.args))
    starts = [a for a in p.args[:split] if a not in ("-H", "-L")] or ["."]
    try:
        search = _Search(p, p.args[split:])
    except (ValueError, IndexError) as fault:
        return p.fail(str(fault) if isinstance(fault, ValueError) else "missing argument")
    code = 0
    for start in starts:
        if p.exists(p.path(start)):
            search.walk(start, p.path(start), 0)
        else:
            code = p.fail(f"'{start}': {NO_FILE}")
    search.finish()
    p.phone.changed()
    return code or search.code


Check = Callable[[str, str], bool]  # take the name as shown, and the path


_VALUED = (
    "-name", "-iname", "-path", "-wholename", "-ipath", "-type", "-maxdepth", "-mindepth", "-size", "-mtime", "-mmin",
    "-atime", "-amin", "-ctime", "-cmin", "-newer", "-user", "-group",
)  # fmt: skip


_TYPES = {"directory": "d", "regular file": "f", "symbolic link": "l", "character device": "c"}


class _Search:
    """A parsed expression of `find`."""

    ACTIONS = ("-print", "-print0", "-delete", "-exec", "-ok")

    def __init__(self, p: Process, words: list[str]) -> None:
        self.p, self.files, self.words, self.code = p, p.files, list(words), 0
        self.deepest, self.shallowest = 1 << 30, 0
        self.depth_first = "-delete" in words or "-depth" in words
        self.pruned = False
        self.collected: list[tuple[list[str], list[str]]] = []  # commands of `-exec … +` with their arguments so far
        self.check = self._either() if words else lambda name, path: True
        if self.words:
            raise ValueError(f"bad arg '{self.words[0]}'")
        if not any(word in self.ACTIONS for word in words):
            self.check = self._and(self.check, self._print("\n"))

    def walk(self, name: str, path: str, depth: int) -> None:
        """Tests a file, and everything below it if it is a folder."""
        self.p.shell.spend()
        self.pruned = False
        if not self.depth_first and depth >= self.shallowest:
            self.check(name, path)
        if depth < self.deepest and not self.pruned and path not in LINKS:
            for child in self.files.names(path):
                self.walk(f"{name.rstrip('/')}/{child}", f"{path.rstrip('/')}/{child}", depth + 1)
        if self.depth_first and depth >= self.shallowest:
            self.check(name, path)

    def finish(self) -> None:
        for command, names in self.collected:
            if names:
                self.p.shell.run([*command, *names], self.p.streams)

    # the expression

    def _either(self) -> Check:
        check = self._both()
        while self.words and self.words[0] in ("-o", "-or"):
            self.words.pop(0)
            check = self._or(check, self._both())
        return check

    def _both(self) -> Check:
        check = self._one()
        while self.words and self.words[0] not in ("-o", "-or", ")"):
            if self.words[0] in ("-a", "-and"):
                self.words.pop(0)
            check = self._and(check, self._one())
        return check

    def _and(self, left: Check, right: Check) -> Check:
        return lambda name, path: left(name, path) and right(name, path)

    def _or(self, left: Check, right: Check) -> Check:
        return lambda name, path: left(name, path) or right(name, path)

    def _one(self) -> Check:
        word = self.words.pop(0)
        if word in ("!", "-not"):
            check = self._one()
            return lambda name, path: not check(name, path)
        if word == "(":
            check = self._either()
            if not self.words or self.words.pop(0) != ")":
                raise ValueError("need )")
            return check
        if word in ("-print", "-print0"):
            return self._print("\n" if word == "-print" else "\0")
        if word in ("-exec", "-ok"):
            return self._exec()
        if word in ("-delete", "-prune", "-empty", "-true", "-depth", "-xdev", "-mount", "-follow"):
            return {"-delete": self._delete, "-prune": self._prune, "-empty": self._empty}.get(word, _true)
        if word not in _VALUED:
            raise ValueError(f"bad arg '{word}'")
        return self._with_value(word, self.words.pop(0))

    def _with_value(self, word: str, value: str) -> Check:
        if word in ("-name", "-iname"):
            return self._matching(value, word == "-iname", lambda name: name.rstrip("/").rpartition("/")[2] or name)
        if word in ("-path", "-wholename", "-ipath"):
            return self._matching(value, word == "-ipath", lambda name: name)
        if word == "-type":
            kinds = set(value.split(","))
            return lambda name, path: _TYPES[self.files.attributes(path).kind] in kinds
        if word in ("-maxdepth", "-mindepth"):
            setattr(self, "deepest" if word == "-maxdepth" else "shallowest", _number(value))
            return _true
        if word == "-size":
            return self._sized(value)
        if word in ("-mtime", "-mmin", "-atime", "-amin", "-ctime", "-cmin"):
            return self._aged(value, 86400 if word.endswith("time") else 60)
        if word == "-newer":
            if not self.p.exists(self.p.path(value)):
                raise ValueError(f"'{value}': {NO_FILE}")
            limit = self.files.attributes(self.p.path(value)).modified
            return lambda name, path: self.files.attributes(path).modified > limit
        what = word[1:]  # -user or -group
        return lambda name, path: value in _owner(self.files.attributes(path), what)

    def _matching(self, pattern: str, fold: bool, part: Callable[[str], str]) -> Check:
        if fold:
            return lambda name, path: fnmatch.fnmatchcase(part(name).lower(), pattern.lower())
        return lambda name, path: fnmatch.fnmatchcase(part(name), pattern)

    def _sized(self, value: str) -> Check:
        match = re.fullmatch(r"([-+]?)(\d{1,15})([cwbkMG]?)", value)
        if not match:
            raise ValueError(f"bad -size '{value}'")
        unit = {"c": 1, "w": 2, "": 512, "b": 512, "k": 1024, "M": 1 << 20, "G": 1 << 30}[match[3]]
        return lambda name, path: _compare(-(-self.files.attributes(path).size // unit), match[1], int(match[2]))

    def _aged(self, value: str, unit: int) -> Check:
        match = re.fullmatch(r"([-+]?)(\d{1,9})", value)
        if not match:
            raise ValueError(f"bad time '{value}'")

        def check(name: str, path: str) -> bool:
            age = self.p.phone.now - self.files.attributes(path).modified
            return _compare(age // timedelta(seconds=unit), match[1], int(match[2]))

        return check

    def _empty(self, name: str, path: str) -> bool:
        a = self.files.attributes(path)
        return not (self.files.names(path) if modes.S_ISDIR(a.mode) else a.size)

    def _prune(self, name: str, path: str) -> bool:
        self.pruned = True
        return True

    # actions

    def _print(self, end: str) -> Check:
        def show(name: str, path: str) -> bool:
            self.p.print(name, end)
            return True

        return show

    def _delete(self, name: str, path: str) -> bool:
        if path not in LINKS and self.files.names(path):
            self.code = self.p.fail(f"{name}: Directory not empty")
            return False
        with self.p.going_on():
            self.p.storage.require_writable(path)
            self.p.storage.remove(path)
            return True
        self.code = 1
        return False

    def _exec(self) -> Check:
        end = next((i for i, word in enumerate(self.words) if word == ";" or (word == "+" and i)), None)
        if not end:
            raise ValueError("bad -exec")
        command, last = self.words[:end], self.words[end]
        del self.words[: end + 1]
        if last == "+":
            names: list[str] = []
            self.collected.append(([word for word in command if word != "{}"], names))
            return lambda name, path: _collected(names, name)
        streams = Streams(self.p.streams.stdin, self.p.streams.stdout, self.p.streams.stderr)
        return lambda name, path: self.p.shell.run([w.replace("{}", name) for w in command], streams) == 0


def _collected(names: list[str], name: str) -> bool:
    names.append(name)
    return True


def _true(name: str, path: str) -> bool:
    return True


def _number(text: str) -> int:
    if not text.isdecimal():
        raise ValueError(f"not a number '{text}'")
    return int(text)


def _owner(a: Attributes, what: str) -> tuple[str, str]:
    id = a.user if what == "user" else a.group
    return str(id), user_name(id)


def _compare(value: int, sign: str, limit: int) -> bool:
    return value > limit if sign == "+" else value < limit if sign == "-" else value == limit


def du(p: Process) -> int:
    """Prints the space that files take, in KiB; `-s` only of the arguments, `-h` in words, `-a` of every file."""
    given = options(p.args, "achHkKlLmsx", "d", {"max-depth": "d"})
    depth = 0 if "s" in given else given.count("d", 1 << 30)
    total, code = 0, 0
    for name in given.words or ["."]:
        if p.exists(p.path(name)):
            total += _used(p, given, name, p.path(name), depth)
        else:
            code = p.fail(f"'{name}': {NO_FILE}")
    if "c" in given:
        p.print(f"{_amount(total, given)}\ttotal")
    return code


def _used(p: Process, given: Options, name: str, path: str, depth: int, top: bool = True) -> int:
    """Prints a line for a file and for what is below it. Returns the KiB it takes."""
    a = p.files.attributes(path)
    folder = modes.S_ISDIR(a.mode)
    used = 4 if folder else a.blocks // 2
    for child in p.files.names(path) if folder else ():
        used += _used(p, given, f"{name.rstrip('/')}/{child}", f"{path.rstrip('/')}/{child}", depth - 1, top=False)
    if top or (depth >= 0 and (folder or "a" in given)):
        p.print(f"{_amount(used, given)}\t{name}")
    return used


def _amount(kib: int, given: Options) -> str:
    return _human(kib * 1024) if "h" in given else str(-(-kib // 1024)) if "m" in given else str(kib)


def df(p: Process) -> int:
    """Prints the free space of the data partition, where all files are."""
    given = options(p.args, "ahHikP", "t")
    used = sum(-(-p.storage.size(path) // BLOCK) * 4 for path in p.storage.files_below("/")) + 1_480_000
    rows = [("/dev/block/dm-5", DISK, used, "/data"), ("/dev/fuse", DISK, used, "/storage/emulated")]
    wanted = [p.path(word) for word in given.words]
    if wanted:
        rows = [rows[path.startswith("/storage")] for path in wanted]
    header = "Filesystem      Size Used Avail Use% Mounted on" if "h" in given else (
        "Filesystem     1K-blocks     Used Available Use% Mounted on"
    )  # fmt: skip
    p.print(header)
    for device, size, taken, place in rows:
        free, share = size - taken, -(-taken * 100 // size)
        if "h" in given:
            p.print(f"{device:15} {_short(size):>4} {_short(taken):>4} {_short(free):>5} {share:>3}% {place}")
        else:
            p.print(f"{device:14} {size:>9} {taken:>8} {free:>9} {share:>3}% {place}")
    return 0


def _short(kib: int) -> str:
    return _human(kib * 1024)


COMMANDS: dict[str, Command] = {"ls": ls, "stat": stat, "find": find, "du": du, "df": df}
