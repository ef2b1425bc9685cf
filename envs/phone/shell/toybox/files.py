"""Commands that create, copy, move and remove files and folders."""

from __future__ import annotations

import hashlib
import itertools
import re
import string
from collections.abc import Iterator
from datetime import UTC, datetime

from coach_gym.envs.phone import zones
from coach_gym.envs.phone.epoch import from_seconds
from coach_gym.envs.phone.folders import SHARED
from coach_gym.envs.phone.paths import link, real
from coach_gym.envs.phone.shell.commands.kernel import DEVICES, ENDLESS, device
from coach_gym.envs.phone.shell.language.options import Options, options, size
from coach_gym.envs.phone.shell.language.process import NO_FILE, Command, Process
from coach_gym.envs.phone.shell.toybox.attributes import attributes, user_id
from coach_gym.envs.phone.shell.toybox.text import texts
from coach_gym.envs.phone.storage import LONGEST


def cat(p: Process) -> int:
    """Prints files: `-v` with control characters as `^X`, `-t` tabs, too, `-e` with `$` at the ends of lines."""
    given = options(p.args, "uevt")
    table = {code: f"^{chr(code ^ 64)}" for code in [*range(32), 127] if code not in (9, 10)}
    table |= ({9: "^I"} if "t" in given else {}) | ({10: "$\n"} if "e" in given else {})

    def show(name: str, data: bytes) -> None:
        if set("evt") & set(given.flags):
            text = data.decode("latin-1").translate(table)
            data = "".join(c if ord(c) < 128 else f"M-{_plain(chr(ord(c) - 128))}" for c in text).encode()
        p.streams.stdout.extend(data)

    return _each(p, given.words or ["-"], show)


def _plain(character: str) -> str:
    return character if 32 <= ord(character) < 127 else f"^{chr(ord(character) ^ 64)}"


def _each(p: Process, names: list[str], use) -> int:
    """Reads files one after the other. Returns 1 if one of them cannot be read."""
    code = 0
    for name in names:
        data = p.read(name)
        if data is None:
            code = 1
        else:
            use(name, data)
    return code


def mkdir(p: Process) -> int:
    """Creates folders; `-p` with those above them."""
    given = options(p.args, "pv", "m", {"parents": "p"})
    if "m" in given and not _MODE.fullmatch(given.values["m"]):
        return p.fail(f"bad mode '{given.values['m']}'")
    code = 0 if given.words else p.need(1)
    for name in given.words:
        path = p.path(name)
        if p.exists(path) and not ("p" in given and p.is_dir(path)):
            code = p.fail(f"'{name}': File exists")
        elif "p" not in given and not p.is_dir(_parent(path)):
            code = p.fail(f"'{name}': {'Not a directory' if p.exists(_parent(path)) else NO_FILE}")
        elif "p" in given and any(_is_file(p, part) for part in _parents(path)):
            code = p.fail(f"'{name}': Not a directory")
        else:
            with p.going_on():
                p.storage.mkdir(path)
                if "m" in given and not path.startswith(SHARED):
                    p.storage.attributes[path, "mode"] = _new_mode(0o755, given.values["m"])
                p.print(f"mkdir: created directory '{name}'\n" if "v" in given else "", "")
    p.phone.changed()
    return code or int(p.failed)


def rmdir(p: Process) -> int:
    """Removes empty folders."""
    given = options(p.args, "")
    code = 0
    for name in given.words:
        path = p.path(name)
        if not p.is_dir(path):
            code = p.fail(f"{name}: {'Not a directory' if p.exists(path) else NO_FILE}")
        elif p.files.names(path):
            code = p.fail(f"{name}: Directory not empty")
        else:
            with p.going_on():
                p.storage.remove(path)
    p.phone.changed()
    return code or int(p.failed)


def _parent(path: str) -> str:
    return path.rpartition("/")[0] or "/"


def _parents(path: str) -> Iterator[str]:
    """Yields the folders above a path, from the innermost; of one that is longer than any may be, none."""
    while len(path) <= LONGEST and (path := path.rpartition("/")[0]):
        yield path


def _is_file(p: Process, path: str) -> bool:
    return p.exists(path) and not p.is_dir(path)


def rm(p: Process) -> int:
    """Removes files; `-r` folders, too; `-f` ignores missing ones."""
    given = options(p.args, "fRrv", "", {"recursive": "r", "force": "f"})
    recursive, code = "r" in given or "R" in given, 0
    if not given.words and "f" not in given:
        return p.need(1)
    for name in given.words:
        path = p.path(name)
        if path == "/" or name.rstrip("/").rpartition("/")[2] in (".", ".."):
            code = p.fail(f"bad path {name}")
        elif not p.exists(path):
            code = code if "f" in given else p.fail(f"{name}: {NO_FILE}")
        elif link(name, p.shell.folder):
            code = p.fail(f"{name}: Read-only file system")
        elif p.is_dir(path) and not recursive:
            code = p.fail(f"{name}: Is a directory")
        else:
            with p.going_on():
                p.storage.require_writable(path)
                p.storage.remove(path)
                p.print(f"rm '{name}'\n" if "v" in given else "", "")
    p.phone.changed()
    return code or int(p.failed)


def touch(p: Process) -> int:
    """Creates files, or changes their times. `-c`: only existing ones; `-d`, `-t`, `-r`: to a given time."""
    given = options(p.args, "acmh", "dtr")
    when = _time_given(p, given.values)
    if isinstance(when, str):
        return p.fail(when)
    code = 0
    for name in given.words:
        path = p.path(name)
        if p.is_dir(path) or path in DEVICES or ("c" in given and not p.exists(path)):
            continue
        if not p.is_dir(_parent(path)):
            code = p.fail(f"'{name}': {NO_FILE}")
        else:
            with p.going_on():
                p.storage.write(path, p.storage.read(path) or b"", when)
    p.phone.changed()
    return code or int(p.failed)


def _time_given(p: Process, values: dict[str, str]) -> datetime | str:
    """Returns the time for `touch`, or an error message."""
    if "r" in values:
        path = p.path(values["r"])
        return p.files.attributes(path).modified if p.exists(path) else f"'{values['r']}': {NO_FILE}"
    text = values.get("d") or values.get("t")
    if text is None:
        return p.phone.now
    forms = ("%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%d", "%Y%m%d%H%M.%S", "%Y%m%d%H%M")
    utc = "d" in values and text.endswith("Z")
    plain = re.sub(r"(\.\d+)?Z?$", "", text) if "d" in values else text
    if plain.startswith("@") and plain[1:].isdecimal():
        return from_seconds(min(int(plain[1:]), 1 << 32))
    for form in forms:
        try:
            time = datetime.strptime(plain, form)
            return zones.on_clock(p.phone.services, time.replace(tzinfo=UTC)) if utc else p.on_clock(time)
        except ValueError:
            continue
    return f"bad date '{text}'"


def cp(p: Process) -> int:
    """Copies files; `-r` folders, too."""
    return _transfer(p, options(p.args, "adfHLnPprRvT", "t", {"preserve": "p"}), move=False)


def mv(p: Process) -> int:
    """Moves files and folders."""
    return _transfer(p, options(p.args, "fnvT", "t"), move=True)


def _transfer(p: Process, given: Options, move: bool) -> int:
    """Copies or moves the first words to the last, which must be a folder if they are several."""
    words = [*given.words, given.values["t"]] if "t" in given.values else given.words
    if len(words) < 2:
        return p.need(2)
    *sources, target = words
    place = p.path(target)
    into = p.is_dir(place) and "T" not in given
    if len(sources) > 1 and not into:
        return p.fail(f"'{target}' not directory")
    code = 0
    for name in sources:
        path = p.path(name)
        end = f"{place.rstrip('/')}/{name.rstrip('/').rpartition('/')[2]}" if into else place
        with p.going_on():
            code = _transfer_one(p, given, name, path, target, end, move) or code
    p.phone.changed()
    return code or int(p.failed)


def _transfer_one(p: Process, given: Options, name: str, path: str, target: str, end: str, move: bool) -> int:
    end = real(end)
    files, storage, recursive = p.files, p.storage, move or any(flag in given for flag in "arRd")
    if not p.exists(path):
        return p.fail(f"bad '{name}': {NO_FILE}")
    if end == "/dev/null" and not move:
        return 0
    if files.is_dir(path) and not recursive:
        return p.fail(f"Skipped dir '{name}'")
    if "n" in given and files.exists(end):
        return 0
    if path == end:
        return 0 if move or name.rstrip("/").endswith("/.") else p.fail(f"'{name}' is '{name}'")
    if end.startswith(path.rstrip("/") + "/"):
        return p.fail(f"'{name}' into itself" if move else f"{name}: loop")
    if not files.is_dir(_parent(end)):
        return p.fail(f"bad '{name}': {NO_FILE}" if move else f"{target}: {NO_FILE}")
    if files.is_dir(end) != files.is_dir(path) and files.exists(end):
        return p.fail(f"'{end}': {'Is a directory' if files.is_dir(end) else 'Not a directory'}")
    if move:
        if storage.is_dir(end) and storage.listdir(end):
            return p.fail(f"bad '{name}': Directory not empty")
        storage.require_writable(path)
        storage.move(path, end)
    else:
        copy_below(p, path, end, keep="a" in given or "p" in given)
    p.print(f"{p.name} '{name}'\n" if "v" in given else "", "")
    return 0


def copy_below(p: Process, source: str, target: str, keep: bool) -> None:
    """Copies a file, or a folder into another that may exist; `keep` keeps times and permissions."""
    files, storage = p.files, p.storage
    for name in [source, *files.below(source)]:
        end = target + name[len(source) :]
        if files.is_dir(name):
            storage.mkdir(end)
        else:
            storage.write(end, files.read(name) or b"", files.attributes(name).modified if keep else None)
        if keep:
            for what in ("mode", "user", "group"):
                if (name, what) in storage.attributes:
                    storage.attributes[end, what] = storage.attributes[name, what]


_MODE = re.compile(r"[0-7]{1,4}|[ugoa]*[-+=][rwxXst]*(,[ugoa]*[-+=][rwxXst]*)*")


def chmod(p: Process) -> int:
    """Changes permissions; `-R` of everything below."""
    minus = [word for word in p.args if re.fullmatch("-[rwxXst]+", word)]  # `-x` is a mode, not an option
    given = options([word for word in p.args if word not in minus], "Rf")
    mode, *names = [*minus, *given.words] or [""]
    if not names or not _MODE.fullmatch(mode):
        return p.fail(f"bad mode '{mode}'") if names else p.need(2)
    return _change(p, names, "R" in given, lambda path: [("mode", _new_mode(attributes(p.phone, path).mode, mode))])


def chown(p: Process) -> int:
    """Changes owners and groups; `-R` of everything below."""
    given = options(p.args, "hHLPRf")
    owner, *names = given.words or [""]
    user, _, group = ("", "", owner) if p.name == "chgrp" else owner.replace(".", ":", 1).partition(":")
    changes = []
    for what, name in (("user", user), ("group", group)):
        id = user_id(name) if name else None
        if name and id is None:
            return p.fail(f"bad {what} '{name}'")
        if id is not None:
            changes.append((what, id))
    return _change(p, names, "R" in given, lambda path: changes) if names else p.need(2)


def _change(p: Process, names: list[str], recursive: bool, changes) -> int:
    """Changes attributes of files. Those on the shared storage stay as they are, as on Android."""
    code = 0
    for name in names:
        path = p.path(name)
        if not p.exists(path):
            code = p.fail(f"{name}: {NO_FILE}")
            continue
        for each in [path, *(p.files.below(path) if recursive else [])]:
            if not (each == SHARED or each.startswith(SHARED + "/")):
                p.storage.require_writable(each)
                for what, value in changes(each):
                    p.storage.attributes[each, what] = value
    return code


def _new_mode(old: int, text: str) -> int:
    """Returns the permissions after a change such as `755` or `u+x,go-w`."""
    mode = old & 0o7777
    if text.isdecimal():
        return int(text, 8)
    for clause in text.split(","):
        who, op, what = re.fullmatch(r"([ugoa]*)([-+=])(.*)", clause).groups()  # type: ignore[union-attr]
        letters = what.replace("X", "x" if mode & 0o111 or old & 0o40000 else "")
        bits = sum({"r": 4, "w": 2, "x": 1}.get(letter, 0) for letter in set(letters))
        shifts = [{"u": 6, "g": 3, "o": 0}[w] for w in (set("ugo") if "a" in who or not who else set(who))]
        mask = sum(bits << shift for shift in shifts)
        if op == "=":
            mode &= ~sum(7 << shift for shift in shifts)
        mode = mode & ~mask if op == "-" else mode | mask
    return mode


def restorecon(p: Process) -> int:
    """Does nothing: files never lose their SELinux labels here."""
    return _need_files(p, options(p.args, "DFRnrv").words)


def chcon(p: Process) -> int:
    """Accepts SELinux labels of existing files."""
    return _need_files(p, options(p.args, "hRv").words[1:])


def _need_files(p: Process, names: list[str]) -> int:
    code = 0
    for name in names:
        if not p.exists(p.path(name)):
            code = p.fail(f"'{name}': {NO_FILE}")
    return code


def checksum(p: Process) -> int:
    """`md5sum`, `sha1sum`, `sha256sum`, …: prints a digest and the name of each file; `-b` only the digest, `-c`
    whether the files are those of a list."""
    given = options(p.args, "bcs")
    kind = p.name.removesuffix("sum")
    if "c" in given:
        return _each(p, given.words or ["-"], lambda name, data: _check(p, kind, data, "s" in given)) or int(p.failed)

    def show(name: str, data: bytes) -> None:
        digest = hashlib.new(kind, data, usedforsecurity=False).hexdigest()
        p.print(digest if "b" in given else f"{digest}  {name}")

    return _each(p, given.words or ["-"], show)


def _check(p: Process, kind: str, listed: bytes, quiet: bool) -> None:
    """Prints of each line of a list whether its file has its digest."""
    for line in texts(listed):
        digest, _, name = line.partition("  ")
        data = p.read(name)
        same = data is not None and hashlib.new(kind, data, usedforsecurity=False).hexdigest() == digest.lower()
        p.failed = p.failed or not same
        p.print(f"{name}: {'OK' if same else 'FAILED'}\n" * (not quiet), "")


def realpath(p: Process) -> int:
    """Prints the places in storage that paths name."""
    code = 0
    for name in options(p.args, "em").words:
        path = p.path(name)
        if p.storage.is_dir(_parent(path)):
            p.print(path)
        else:
            code = p.fail(f"{name}: {NO_FILE}")
    return code


def readlink(p: Process) -> int:
    """Prints the targets of links; `-f` of whole paths."""
    given = options(p.args, "efmnq")
    code = 0
    for name in given.words:
        target = p.path(name) if any(flag in given for flag in "efm") else link(name, p.shell.folder)
        if target is None:
            code = 1
        else:
            p.print(target, "" if "n" in given else "\n")
    return code


def basename(p: Process) -> int:
    """Prints the last part of a path, without a suffix if one is given."""
    given = options(p.args, "a", "s")
    name, suffix = given.words[0] if given.words else "", (given.words[1:2] or [given.values.get("s", "")])[0]
    base = name.rstrip("/").rpartition("/")[2] or ("/" if name else "")
    p.print(base.removesuffix(suffix) if base != suffix else base)
    return 0


def dirname(p: Process) -> int:
    """Prints a path without its last part."""
    for name in options(p.args, "").words:
        head, slash, _ = name.rstrip("/").rpartition("/")
        p.print(head.rstrip("/") or ("/" if slash else "."))
    return 0


def truncate(p: Process) -> int:
    """Cuts or extends files to a size `-s`: by `+N` or `-N`, to at most `<N` or at least `>N`, to a multiple of N below
    `/N` or above `%N`. `-c` creates none."""
    given = options(p.args, "c", "s")
    text = given.values.get("s", "")
    amount = size(text.lstrip("+-<>/%")) if len(text.lstrip("+-<>/%")) >= len(text) - 1 else None
    if amount is None or (text[0] in "/%" and not amount):
        return p.fail(f"bad size '{text}'" if text else "Needs -s")
    for name in given.words:
        path = p.path(name)
        data = p.storage.read(path)
        if data is None and (p.storage.is_dir(path) or not p.storage.is_dir(_parent(path))):
            p.fail(f"'{name}': {'Is a directory' if p.storage.is_dir(path) else NO_FILE}")
        elif data is not None or "c" not in given:
            _set_size(p, path, data or b"", text[0], amount)
    p.phone.changed()
    return int(p.failed)


def _set_size(p: Process, path: str, data: bytes, sign: str, amount: int) -> None:
    old = len(data)
    new = {
        "+": old + amount, "-": max(0, old - amount), "<": min(old, amount), ">": max(old, amount),
        "/": old - old % (amount or 1), "%": old + -old % (amount or 1),
    }.get(sign, amount)  # fmt: skip
    if new > LARGEST:
        p.fail("No space left on device")
    else:
        with p.going_on():
            p.storage.write(path, data[:new].ljust(new, b"\0"))


def fallocate(p: Process) -> int:
    """Extends a file with zeros to the size `-l`."""
    given = options(p.args, "", "l")
    if not given.words or "l" not in given:
        return p.fail("need -l and a file") if given.words else p.need(1)
    length = size(given.values["l"])
    if length is None or not 0 <= length <= LARGEST:
        known = length is not None and length >= 0
        return p.fail("No space left on device" if known else f"bad size '{given.values['l']}'")
    path = p.path(given.words[0])
    if p.storage.is_dir(path) or not p.storage.is_dir(_parent(path)):
        return p.fail(f"{given.words[0]}: {'Is a directory' if p.storage.is_dir(path) else NO_FILE}")
    p.storage.write(path, (p.storage.read(path) or b"").ljust(length, b"\0"))
    p.phone.changed()
    return 0


LARGEST = 1 << 28  # bytes that `dd` copies


def dd(p: Process) -> int:
    """`dd if=… of=… bs=… count=… skip=… seek=…`: copies blocks of a file, or of `/dev/zero`."""
    given = dict(word.partition("=")[::2] for word in p.args)
    for name, value in given.items():
        if name not in ("if", "of", "bs", "count", "skip", "seek", "status", "conv"):
            return p.fail(f"bad arg {name}")
        if name == "conv" and not set(value.split(",")) <= {"notrunc", "fsync"}:
            return p.fail(f"conv={value} is not on the embedded phone")
    sizes = {}
    for name, default, least in (("bs", "512", 1), ("count", "-1", -1), ("skip", "0", 0), ("seek", "0", 0)):
        number = size(given.get(name, default))
        if number is None or number < least:
            return p.fail(f"bad {name}={given[name]}")
        sizes[name] = number
    source, most = given.get("if", "-"), sizes["bs"] * sizes["count"]
    if source in ENDLESS:
        if not 0 <= most <= LARGEST:
            return p.fail("No space left on device")
        data = device(p.phone, source, most) or b""
    else:
        whole = p.read(source)
        if whole is None:
            return 1
        whole = whole[sizes["bs"] * sizes["skip"] :]
        data = whole[:most] if most >= 0 else whole
    if "of" in given and p.path(given["of"]) != "/dev/null":
        target, before = p.path(given["of"]), sizes["bs"] * sizes["seek"]
        if before + len(data) > LARGEST:
            return p.fail("No space left on device")
        old = (p.storage.read(target) or b"") if before or "notrunc" in given.get("conv", "") else b""
        after = old[before + len(data) :] if "notrunc" in given.get("conv", "") else b""
        p.storage.write(target, old[:before].ljust(before, b"\0") + data + after)
        p.phone.changed()
    elif "of" not in given:
        p.streams.stdout += data
    full, rest = divmod(len(data), sizes["bs"])
    p.complain(f"{full}+{int(rest > 0)} records in\n{full}+{int(rest > 0)} records out\n{len(data)} bytes copied")
    return 0


def mktemp(p: Process) -> int:
    """Creates an empty file, or with `-d` a folder, whose name ends in letters that nobody else uses."""
    given = options(p.args, "dqtu", "p")
    template = given.words[0] if given.words else "tmp.XXXXXXXXXX"
    marks = len(template) - len(template.rstrip("X"))
    if marks < 2:
        return p.fail("need XX in template")
    folder = given.values.get("p", p.shell.variables.get("TMPDIR", "/data/local/tmp"))
    start = (
        template[:-marks] if given.words and "p" not in given and "t" not in given else f"{folder}/{template[:-marks]}"
    )
    path = next(
        path for number in itertools.count()
        if not p.storage.exists(path := p.path(f"{start}{_letters(number, marks)}"))
    )  # fmt: skip
    if not p.storage.is_dir(_parent(path)):
        return p.fail(f"Failed to create {'directory' if 'd' in given else 'file'} {path}: {NO_FILE}")
    if "u" not in given:
        p.storage.mkdir(path) if "d" in given else p.storage.write(path, b"")
        p.phone.changed()
    p.print(path)
    return 0


def _letters(number: int, count: int) -> str:
    """Returns a number in as many letters and digits as asked for."""
    digits = string.ascii_letters + string.digits
    text = ""
    for _ in range(min(count, 10)):
        number, rest = divmod(number, len(digits))
        text = digits[rest] + text
    return text.rjust(count, digits[0])


def ln(p: Process) -> int:
    """Refuses: the phone's storage keeps no links but Android's own."""
    given = options(p.args, "sfnrtvT")
    return p.fail(f"cannot create link to '{given.words[0]}': Operation not permitted") if given.words else p.need(1)


COMMANDS: dict[str, Command] = {
    "mktemp": mktemp, "ln": ln, "unlink": rm, "dd": dd,
    "cat": cat, "mkdir": mkdir, "rmdir": rmdir, "rm": rm, "touch": touch, "cp": cp, "mv": mv,
    "chmod": chmod, "chown": chown, "chgrp": chown, "restorecon": restorecon, "chcon": chcon, "md5sum": checksum,
    "sha1sum": checksum, "sha256sum": checksum, "sha512sum": checksum,
    "realpath": realpath, "readlink": readlink, "basename": basename, "dirname": dirname, "truncate": truncate,
    "fallocate": fallocate,
}  # fmt: skip
