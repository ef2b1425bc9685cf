"""Commands that pack files: `tar`, `gzip` and its relatives, `unzip`."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
import zlib
from fnmatch import fnmatchcase

from coach_gym.envs.phone.epoch import from_seconds, to_seconds
from coach_gym.envs.phone.paths import absolute, real
from coach_gym.envs.phone.shell.language.options import Options, options
from coach_gym.envs.phone.shell.language.process import MOST_OUTPUT, NO_FILE, Command, Process
from coach_gym.envs.phone.shell.toybox.attributes import attributes, user_name

_CORRUPT = (OSError, EOFError, zlib.error, tarfile.TarError, zipfile.BadZipFile, NotImplementedError, RuntimeError)


def tar(p: Process) -> int:
    """`tar -c|-x|-t [-zv] [-f ARCHIVE] [-C FOLDER] [FILE …]`: packs, unpacks or lists files."""
    args = [f"-{p.args[0]}", *p.args[1:]] if p.args and not p.args[0].startswith("-") else p.args
    given = options(args, "cxtzvpOkhom", "fCX", {"exclude": "X", "directory": "C", "file": "f", "gzip": "z"})
    modes = [mode for mode in "cxt" if mode in given]
    if len(modes) != 1:
        return p.fail("Needs -txc")
    folder = p.path(given.values.get("C", "."))
    if not p.is_dir(folder):
        return p.fail(f"{given.values['C']}: {NO_FILE}")
    if modes == ["c"]:
        return _pack(p, given, folder)
    data = p.read(given.values.get("f", "-"))
    if data is None:
        return 1
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:*") as archive:
            for member in archive:
                _unpack(p, given, archive, member, folder)
    except _CORRUPT as fault:
        return p.fail(f"bad archive: {fault}")
    p.phone.changed()
    return int(p.failed)


def _pack(p: Process, given: Options, folder: str) -> int:
    if not given.words:
        return p.fail("empty archive")
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz" if "z" in given else "w", format=tarfile.GNU_FORMAT) as archive:
        for name in given.words:
            path = real(name, folder)
            if not p.exists(path):
                p.fail(f"{name}: {NO_FILE}")
                continue
            for each in [path, *p.files.below(path)]:
                if not any(fnmatchcase(each.rpartition("/")[2], pattern) for pattern in given.all.get("X", [])):
                    _add(p, archive, name.strip("/") + each[len(path) :], each, "v" in given)
    if given.values.get("f", "-") == "-":
        p.streams.stdout += packed.getvalue()
    else:
        p.storage.write(p.path(given.values["f"]), packed.getvalue())
        p.phone.changed()
    return int(p.failed)


def _add(p: Process, archive: tarfile.TarFile, name: str, path: str, told: bool) -> None:
    about, member = attributes(p.phone, path), tarfile.TarInfo(name)
    data = b"" if p.is_dir(path) else p.files.read(path) or b""
    member.size, member.mode, member.mtime = len(data), about.mode & 0o7777, to_seconds(about.modified)
    member.type = tarfile.DIRTYPE if p.is_dir(path) else tarfile.REGTYPE
    member.uid, member.gid = about.user, about.group
    member.uname, member.gname = user_name(about.user), user_name(about.group)
    archive.addfile(member, io.BytesIO(data))
    if told:
        p.complain(name + "/" * member.isdir())


def _unpack(p: Process, given: Options, archive: tarfile.TarFile, member: tarfile.TarInfo, folder: str) -> None:
    """Lists or extracts one file. Absolute names and `..` stay below the folder."""
    name = member.name + "/" * member.isdir()
    if given.words and not any(fnmatchcase(member.name, w) or member.name.startswith(f"{w}/") for w in given.words):
        return
    if "t" in given:
        kind = "d" if member.isdir() else "-"
        about = f"{kind}{_permissions(member.mode)} {member.uname}/{member.gname} {member.size:>9} "
        p.print((about + f"{p.local(from_seconds(int(member.mtime))):%Y-%m-%d %H:%M} ") * ("v" in given) + name)
        return
    if "v" in given:
        p.print(name)
    place = real(absolute(member.name, "/").lstrip("/"), folder)
    if member.isdir():
        p.storage.mkdir(place)
    elif (file := archive.extractfile(member)) is not None:
        if member.size > MOST_OUTPUT:
            raise tarfile.TarError(f"{name} is too large")
        p.storage.write(place, file.read(), from_seconds(int(member.mtime)))


def _permissions(mode: int) -> str:
    return "".join(letter if mode >> (8 - place) & 1 else "-" for place, letter in enumerate("rwxrwxrwx"))


def gzip_(p: Process) -> int:
    """`gzip`, `gunzip`, `zcat`: replaces files by packed or unpacked ones; `-c` prints them, `-k` keeps both."""
    given = options(p.args, "cdfkt123456789")
    unpacks = "d" in given or p.name in ("gunzip", "zcat")
    shown = "c" in given or p.name == "zcat"
    for name in given.words or ["-"]:
        data = p.read(name)
        if data is None:
            continue
        if unpacks and name != "-" and not shown and not name.endswith(".gz"):
            p.fail(f"no .gz: {name}")
            continue
        try:
            result = _unzipped(data) if unpacks else gzip.compress(data, mtime=0)
        except _CORRUPT as fault:
            p.fail(f"{name}: {fault}")
            continue
        if shown or name == "-":
            p.streams.stdout += result
        else:
            p.storage.write(p.path(name.removesuffix(".gz") if unpacks else f"{name}.gz"), result)
            if "k" not in given:
                p.storage.remove(p.path(name))
    p.phone.changed()
    return int(p.failed)


def _unzipped(data: bytes) -> bytes:
    with gzip.open(io.BytesIO(data)) as file:
        result = file.read(MOST_OUTPUT + 1)
    if len(result) > MOST_OUTPUT:
        raise OSError("too large")
    return result


def unzip(p: Process) -> int:
    """`unzip [-lpoqn] ARCHIVE [FILE …] [-d FOLDER]`: lists or unpacks files, or prints them."""
    given = options(p.args, "lpoqn", "d")
    if not given.words:
        return p.need(1)
    name, *wanted = given.words
    data = p.read(name)
    if data is None:
        return 9
    folder = p.path(given.values.get("d", "."))
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for member in archive.infolist():
                if not wanted or any(fnmatchcase(member.filename, pattern) for pattern in wanted):
                    _unzip_one(p, given, archive, member, folder)
    except _CORRUPT as fault:
        return p.fail(f"{name}: {fault}", 3)
    p.phone.changed()
    return int(p.failed)


def _unzip_one(p: Process, given: Options, archive: zipfile.ZipFile, member: zipfile.ZipInfo, folder: str) -> None:
    if "l" in given:
        year, month, day, hour, minute, _ = member.date_time
        p.print(f"{member.file_size:>9}  {year}-{month:02}-{day:02} {hour:02}:{minute:02}   {member.filename}")
        return
    if member.file_size > MOST_OUTPUT:
        raise OSError(f"{member.filename} is too large")
    place = real(absolute(member.filename, "/").lstrip("/"), folder)
    if "p" in given:
        p.streams.stdout += archive.read(member)
    elif member.is_dir():
        p.storage.mkdir(place)
    elif not ("n" in given and p.storage.exists(place)):
        p.storage.write(place, archive.read(member))
        p.print(f"  inflating: {member.filename}\n" * ("q" not in given), "")


COMMANDS: dict[str, Command] = {"tar": tar, "gzip": gzip_, "gunzip": gzip_, "zcat": gzip_, "unzip": unzip}
