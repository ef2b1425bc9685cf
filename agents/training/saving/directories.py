"""Directories that are written whole or not at all, and that show when they were damaged.

A directory is written beside its place as `{name}.partial`. Its files are on the disk, with their checksums, before it
takes its name; what it replaces lies in `{name}.replaced` for that moment. Both hold a mark, so that a later save can
tell what an interrupted one has left from a folder of the user's.
"""

import hashlib
import os
import re
import shutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from coach_gym.agents.distributed import processes
from coach_gym.interruptions import held_back

SUMS = "SHA256SUMS"
"""Checksums of all other files, in the format of `sha256sum`."""

_MARK = "unfinished.txt"
_EXPLANATION = "coach-gym was interrupted while it saved. The next save to the same place removes this folder.\n"
_LINE = re.compile(r"([0-9a-f]{64})  (.+)")


@contextmanager
def replacing(path: Path, parts: Collection[str]) -> Iterator[Path]:
    """Yields a new directory, which replaces `path` at the end of the context; all processes enter it together.

    Files in `path` that are not of an earlier save are kept. After an error or an interruption `path` is as before.

    Args:
        path: The directory.
        parts: Names that a directory from before there were checksums may hold; the first two are in each.

    Raises:
        FileExistsError: `path`, or the place of a directory that is needed meanwhile, holds something else.
    """
    path = path.resolve()
    fresh = _beside(path, "partial")
    if refusal := processes.gather(_refusal(path, parts))[0]:
        raise FileExistsError(refusal)
    try:
        if processes.rank() == 0:
            remove(fresh)
            if earlier := replaced_by(path):  # a save was killed between its two renames
                earlier.rename(path)
            fresh.mkdir(parents=True)
            (fresh / _MARK).write_text(_EXPLANATION)
        processes.barrier()
        yield fresh
        processes.barrier()
        _seal(fresh)
        if processes.rank() == 0:
            with held_back():
                _swap(fresh, path, parts)
        processes.barrier()
    except BaseException as error:
        if processes.rank() == 0:
            error.add_note(f"This was while saving to {path}.")
            with held_back():
                remove(fresh)
        raise


def replaced_by(path: Path) -> Path | None:
    """Returns where a directory lies that was about to be replaced when a save was killed."""
    replaced = _beside(path.resolve(), "replaced")
    return replaced if not path.exists() and replaced.is_dir() else None


def check(path: Path, together: bool = False) -> None:
    """Checks all files of a directory against their checksums.

    Args:
        path: The directory.
        together: Whether all processes call it and share the work.

    Raises:
        FileNotFoundError: A file is missing.
        ValueError: A file has changed since it was saved.
    """
    step = processes.size() if together else 1
    mine = list(_sums(path).items())[processes.rank() % step :: step]
    error = next((error for name, expected in mine if (error := _damage(path, name, expected))), None)
    for each in processes.gather(error) if together else [error]:
        if each is not None:
            raise each


def _damage(path: Path, name: str, expected: str) -> Exception | None:
    file = path / name
    if not file.is_file():
        return FileNotFoundError(
            f"{file} is missing, so {path} cannot be loaded whole; restore that file, or load another checkpoint"
        )
    if _sum(file) != expected:
        return ValueError(
            f"{file} does not match its checksum, so it was damaged or changed after it was saved; load another "
            f"checkpoint, or, if you changed it yourself, delete its line from {path / SUMS}"
        )
    return None


def _refusal(path: Path, parts: Collection[str]) -> str | None:
    """Why nothing can be saved here; None if it can."""
    elsewhere = "so it is not replaced; save to another path"
    if path.exists() and not (path.is_dir() and (_is_empty(path) or is_saved(path, parts))):
        return f"{path} exists and is not a saved agent, {elsewhere}"
    for name in ("partial", "replaced"):
        beside = _beside(path, name)
        if beside.exists() and not (beside.is_dir() and (_is_empty(beside) or (beside / _MARK).is_file())):
            return f"{beside} exists and is needed to save {path}, but no save has left it, {elsewhere}, or move it"
    return None


def _is_empty(directory: Path) -> bool:
    return not any(directory.iterdir())


def is_saved(directory: Path, parts: Collection[str]) -> bool:
    """Returns whether a save has written the directory, as far as its names tell; `parts` are as for `replacing`."""
    return (directory / SUMS).is_file() or all((directory / name).is_file() for name in list(parts)[:2])


def _beside(path: Path, what: str) -> Path:
    return path.with_name(f"{path.name}.{what}")


def remove(directory: Path) -> None:
    """Removes a directory, its mark at the end, so that it tells what a kill has left; none is no error."""
    if not directory.exists():
        return
    for each in directory.iterdir():
        if each.name == _MARK:
            continue
        if each.is_dir() and not each.is_symlink():
            shutil.rmtree(each)
        else:
            each.unlink()
    (directory / _MARK).unlink(missing_ok=True)
    directory.rmdir()


def remove_saved(directory: Path, parts: Collection[str]) -> None:
    """Removes the files that saves have written, and the directory unless it holds others.

    What shows that it is a saved agent goes last, so that what a kill has left can be removed later.

    Args:
        directory: A directory for which `is_saved` is true.
        parts: As for `replacing`.
    """
    last = [Path(name) for name in (*list(parts)[:2], SUMS)]
    written = _written(directory, parts).intersection(_files(directory))
    for file in written.difference(last):
        (directory / file).unlink()
    for folder in sorted({above for file in written for above in file.parents} - {Path()}, reverse=True):
        if _is_empty(directory / folder):
            (directory / folder).rmdir()
    for file in last:
        (directory / file).unlink(missing_ok=True)
    if _is_empty(directory):
        directory.rmdir()


def _seal(directory: Path) -> None:
    """Writes all files through to the disk, and their checksums beside them; processes share the work."""
    files = [file for file in _files(directory) if file != Path(_MARK)]
    mine = files[processes.rank() :: processes.size()]
    everyones = processes.gather({file.as_posix(): _sum(directory / file, sync=True) for file in mine})
    if processes.rank() == 0:
        sums = {name: value for theirs in everyones for name, value in theirs.items()}
        (directory / SUMS).write_text("".join(f"{value}  {name}\n" for name, value in sorted(sums.items())))
        _sum(directory / SUMS, sync=True)
        for folder in {(directory / file).parent for file in files}:
            _sync_folder(folder)


def _swap(fresh: Path, path: Path, parts: Collection[str]) -> None:
    """Puts a sealed directory in its place."""
    replaced = _beside(path, "replaced")
    if path.exists():
        remove(replaced)
        _keep_strangers(path, fresh, parts)
    try:
        if path.exists():
            (path / _MARK).write_text(_EXPLANATION)  # on a full disk this leaves an empty file
            path.rename(replaced)
        fresh.rename(path)
    except BaseException:
        if replaced.exists() and not path.exists():
            replaced.rename(path)
        (path / _MARK).unlink(missing_ok=True)
        raise
    (path / _MARK).unlink()
    _sync_folder(path.parent)
    remove(replaced)


def _keep_strangers(path: Path, fresh: Path, parts: Collection[str]) -> None:
    """Links the files that no save has written into the new directory."""
    written = _written(path, parts)
    for file in _files(path):
        if file in written or (fresh / file).exists():
            continue
        (fresh / file).parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(path / file, fresh / file, follow_symlinks=False)
        except OSError:  # not every file system has links
            shutil.copy2(path / file, fresh / file, follow_symlinks=False)


def _written(path: Path, parts: Collection[str]) -> set[Path]:
    """The files that saves have written."""
    try:
        return {Path(name) for name in (SUMS, _MARK, *_sums(path))}
    except (FileNotFoundError, ValueError):  # from before there were checksums, or damaged
        return {file for file in _files(path) if file.parts[0] in {SUMS, _MARK, *parts}}


def _files(directory: Path) -> list[Path]:
    """All files in a directory and its folders, relative to it, in order."""
    found = (each for each in directory.rglob("*") if each.is_symlink() or not each.is_dir())
    return sorted(each.relative_to(directory) for each in found)


def _sums(directory: Path) -> dict[str, str]:
    """Reads the checksums by name of the file."""
    sums = {}
    for line in (directory / SUMS).read_bytes().decode("utf-8", "replace").splitlines():
        match = _LINE.fullmatch(line)
        if match is None:
            raise ValueError(f"{directory / SUMS} is damaged: {line!r} is no checksum; load another checkpoint")
        sums[match[2]] = match[1]
    return sums


def _sum(file: Path, sync: bool = False) -> str:
    with file.open("rb") as opened:
        if sync:
            os.fsync(opened.fileno())
        return hashlib.file_digest(opened, "sha256").hexdigest()


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
