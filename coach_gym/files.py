"""Files that an interruption leaves whole."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from coach_gym.checks import WrongType, is_finite


def write_whole(path: Path, content: str | bytes, durable: bool = False) -> None:
    """Writes a file so that others, and whoever comes after an interruption, see all of it or what was there before.

    Args:
        path: The file.
        content: All of it; text is written as UTF-8.
        durable: Waits until the disk has it.
    """
    with becoming(path) as partial, partial.open("wb") as file:
        file.write(content.encode() if isinstance(content, str) else content)
        if durable:
            file.flush()
            os.fsync(file.fileno())


@contextmanager
def becoming(path: Path) -> Iterator[Path]:
    """Yields where to write a file, which takes its place once the `with` block has ended without an error."""
    partial = path.with_name(f"{path.name}.{os.getpid()}.partial")
    try:
        yield partial
        partial.rename(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


def require_writable(path: Path) -> None:
    """Checks that a file can be written, before there is anything to write; one that is there stays as it is.

    Raises:
        OSError: It cannot.
    """
    new = not path.exists()
    path.open("ab").close()
    if new:
        path.unlink()


def require_folders(**folders: Path) -> None:
    """Checks that files can be written to folders, before there is anything to write; those missing stay missing.

    Raises:
        ValueError: They cannot.
    """
    for name, folder in folders.items():
        try:
            nearest = next(each for each in (folder, *folder.parents) if each.exists())
            TemporaryFile(dir=nearest).close()
        except OSError as error:
            reason = f"{name}={str(folder)!r} cannot be written to ({error.strerror})"
            raise ValueError(f"{reason}; pass another folder") from error


def as_folder(**given: Any) -> Path:
    """Returns the path of a folder.

    Raises:
        TypeError: It is no path.
    """
    ((name, path),) = given.items()
    if not isinstance(path, str | os.PathLike):
        raise WrongType(f"{name}={path!r:.60} is of type {type(path).__name__}; pass the path of a folder")
    return Path(path)


def append_line(path: Path, line: str, durable: bool = False) -> None:
    """Appends a line to a file, which is made if it is missing; one that was cut off stays a line by itself.

    Args:
        path: The file.
        line: The line without its end.
        durable: Waits until the disk has it.
    """
    with path.open("a+b") as file:
        cut_off = False
        if file.seek(0, os.SEEK_END):
            file.seek(-1, os.SEEK_END)
            cut_off = file.read(1) != b"\n"
        file.write((b"\n" if cut_off else b"") + line.encode() + b"\n")
        if durable:
            file.flush()
            os.fsync(file.fileno())


def read_object(path: Path, **kinds: type | tuple[type, ...]) -> dict[str, Any]:
    """Reads a JSON object.

    Args:
        path: The file.
        **kinds: Keys that it must have, and what their values must be; numbers are finite, and true is none.

    Raises:
        ValueError: The file is damaged.
    """
    try:
        found = dict(json.loads(path.read_text("utf-8")))
    except (ValueError, TypeError, RecursionError) as error:
        raise ValueError(f"{path} is damaged ({error}); put back a copy, or remove it") from error
    for key, kind in kinds.items():
        if not _is(found.get(key, ...), kind):
            told = f"{key}={found[key]!r:.40}" if key in found else f"no {key}"
            raise ValueError(f"{path} is damaged ({told}); put back a copy, or remove it")
    return found


def _is(value: Any, kind: type | tuple[type, ...]) -> bool:
    if isinstance(value, int | float) and (isinstance(value, bool) or not is_finite(value)):
        return False
    return isinstance(value, kind)
