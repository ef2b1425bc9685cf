"""Logging to the terminal, TensorBoard, CSV and JSON, with the keys, folders and files of Stable-Baselines3."""

import csv
import io
import json
import math
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from tqdm.auto import tqdm

from coach_gym.agents.training.logs.media import is_media, write_media
from coach_gym.files import append_line, require_folders, write_whole

Value = float | int | str


class Output(Protocol):
    """A destination of log entries."""

    def write(self, values: dict[str, Value], excluded: dict[str, tuple[str, ...]], step: int) -> None:
        """Writes the values recorded since the last dump, except for keys that exclude this output by name."""
        ...

    def close(self) -> None:
        """Flushes and closes open files."""
        ...


@runtime_checkable
class MediaOutput(Protocol):
    """A destination that shows more than numbers and short texts."""

    name: str

    def write_media(self, values: dict[str, Any], step: int) -> None:
        """Writes pictures and the like, see `coach_gym.agents.training.logs.media`."""
        ...


class HumanOutput:
    """Prints a table to standard output, grouped by the part of the key before the slash."""

    name = "stdout"

    def write(self, values: dict[str, Value], excluded: dict[str, tuple[str, ...]], step: int) -> None:
        """Prints one table."""
        rows = _rows({key: value for key, value in values.items() if self.name not in excluded[key]})
        if not rows:
            return
        left, right = (max(len(row[column]) for row in rows) for column in (0, 1))
        rule = "-" * (left + right + 7)
        with tqdm.external_write_mode():  # a progress bar steps aside
            print(rule, *(f"| {key:<{left}} | {value:<{right}} |" for key, value in rows), rule, sep="\n", flush=True)

    def close(self) -> None:
        """Does nothing: no file is open."""


class TensorBoardOutput:
    """Writes event files for TensorBoard.

    Args:
        folder: Folder of the event files.
    """

    name = "tensorboard"

    def __init__(self, folder: str | Path) -> None:
        from torch.utils.tensorboard import SummaryWriter  # takes a second to import

        self._writer = SummaryWriter(str(folder))

    def write(self, values: dict[str, Value], excluded: dict[str, tuple[str, ...]], step: int) -> None:
        """Adds a point to every curve."""
        for key, value in values.items():
            if self.name in excluded[key]:
                continue
            if isinstance(value, str):
                self._writer.add_text(key, value, step)
            else:
                self._writer.add_scalar(key, value, step)
        self._writer.flush()

    def write_media(self, values: dict[str, Any], step: int) -> None:
        """Adds pictures, videos, histograms, texts and hyper-parameters."""
        for key, value in values.items():
            write_media(self._writer, key, value, step)
        self._writer.flush()

    def close(self) -> None:
        """Closes the event file."""
        self._writer.close()


class CsvOutput:
    """Writes `progress.csv`: a row for each dump, and a column for each key that ever had a value.

    Args:
        folder: Folder of the run. A file that is there already is continued.
    """

    name = "csv"

    def __init__(self, folder: str | Path) -> None:
        self.path = Path(folder) / "progress.csv"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._keys: list[str] = []
        if self.path.is_file():
            with self.path.open(newline="", encoding="utf-8") as file:
                self._keys = next(csv.reader(file), [])

    def write(self, values: dict[str, Value], excluded: dict[str, tuple[str, ...]], step: int) -> None:
        """Appends a row; keys that are new cost one rewriting of the file."""
        row = {key: value for key, value in sorted(values.items()) if self.name not in excluded[key]}
        if not row:
            return
        new = [key for key in row if key not in self._keys]
        if new:
            self._add_columns(new)
        append_line(self.path, self._lines([row]).removesuffix("\n"))

    def _add_columns(self, keys: list[str]) -> None:
        rows: list[dict[str, str]] = []
        if self._keys:
            with self.path.open(newline="", encoding="utf-8") as file:
                rows = list(csv.DictReader(file))
        self._keys += keys
        write_whole(self.path, self._lines([dict(zip(self._keys, self._keys, strict=True)), *rows]))

    def _lines(self, rows: Sequence[Mapping[str, Value]]) -> str:
        file = io.StringIO()
        csv.DictWriter(file, self._keys).writerows(rows)
        return file.getvalue()

    def close(self) -> None:
        """Does nothing: no file is open."""


class JsonOutput:
    """Writes `progress.json`: one JSON object per line for each dump.

    Args:
        folder: Folder of the run. A file that is there already is continued.
    """

    name = "json"

    def __init__(self, folder: str | Path) -> None:
        self.path = Path(folder) / "progress.json"
        self.path.parent.mkdir(parents=True, exist_ok=True)

    def write(self, values: dict[str, Value], excluded: dict[str, tuple[str, ...]], step: int) -> None:
        """Appends a line; numbers that JSON does not have, such as nan, become null."""
        row = {key: _finite(value) for key, value in sorted(values.items()) if self.name not in excluded[key]}
        if row:
            append_line(self.path, json.dumps(row))

    def close(self) -> None:
        """Does nothing: no file is open."""


def _finite(value: Value) -> Value | None:
    return None if isinstance(value, float) and not math.isfinite(value) else value


class Logger:
    """Collects named values and writes them together.

    Args:
        folder: Folder of this run; None if nothing is kept.
        outputs: Destinations of `dump`.

    Attributes:
        name_to_value: Values recorded since the last dump.
    """

    def __init__(self, folder: str | Path | None, outputs: list[Any]) -> None:
        self.dir = None if folder is None else str(folder)
        self.outputs = outputs
        self.name_to_value: dict[str, Value] = {}
        self._media: dict[str, Any] = {}
        self._counts: dict[str, int] = defaultdict(int)
        self._excluded: dict[str, tuple[str, ...]] = {}

    def record(self, key: str, value: Any, exclude: str | tuple[str, ...] | None = None) -> None:
        """Sets the value of `key` for the next dump.

        Args:
            key: Name of the value, as `group/name`.
            value: A number or text; for TensorBoard also an array or tensor, whose histogram is shown, or one of
                Stable-Baselines3's `Image`, `Figure`, `Video` and `HParam`.
            exclude: Outputs that omit the value: `"stdout"`, `"tensorboard"`, `"csv"`, `"json"`, or several.
        """
        self._excluded[key] = (exclude,) if isinstance(exclude, str) else tuple(exclude or ())
        if is_media(value):
            self._media[key] = value
        else:
            self.name_to_value[key] = value if isinstance(value, str | int) else float(value)

    def record_mean(self, key: str, value: float, exclude: str | tuple[str, ...] | None = None) -> None:
        """Records a value like `record`, but averages repeated calls before a dump."""
        count = self._counts[key]
        mean = float(self.name_to_value.get(key, 0.0)) if count else 0.0
        self._counts[key] = count + 1
        self.record(key, mean + (float(value) - mean) / (count + 1), exclude)

    def dump(self, step: int = 0) -> None:
        """Writes the values recorded since the last dump, at `step` environment steps."""
        for output in self.outputs:
            output.write(self.name_to_value, self._excluded, step)
            if isinstance(output, MediaOutput):
                shown = {key: value for key, value in self._media.items() if output.name not in self._excluded[key]}
                output.write_media(shown, step)
        self.name_to_value, self._excluded, self._media = {}, {}, {}
        self._counts.clear()

    def close(self) -> None:
        """Closes all outputs."""
        for output in self.outputs:
            output.close()


def configure_logger(
    verbose: int, tensorboard_log: str | Path | None, tb_log_name: str, reset_num_timesteps: bool
) -> Logger:
    """Makes the logger of one call of `learn`.

    Args:
        verbose: Prints the table if at least 1.
        tensorboard_log: Parent of the run folders; None writes none.
        tb_log_name: Runs go to `{tensorboard_log}/{tb_log_name}_{n}`.
        reset_num_timesteps: True starts run n + 1; False continues the latest.

    Raises:
        ValueError: `tensorboard_log` cannot be written to.
    """
    outputs: list[Output] = [HumanOutput()] if verbose >= 1 else []
    if tensorboard_log is None:
        return Logger(None, outputs)
    require_folders(tensorboard_log=Path(tensorboard_log))
    latest = _latest_run(Path(tensorboard_log), tb_log_name)
    run = latest + 1 if reset_num_timesteps else max(latest, 1)
    folder = Path(tensorboard_log) / f"{tb_log_name}_{run}"
    return Logger(folder, [*outputs, TensorBoardOutput(folder), CsvOutput(folder), JsonOutput(folder)])


def _latest_run(parent: Path, name: str) -> int:
    runs = (re.fullmatch(re.escape(name) + r"_(\d+)", path.name) for path in parent.glob("*"))
    return max((int(run[1]) for run in runs if run), default=0)


def _rows(values: dict[str, Value]) -> list[tuple[str, str]]:
    rows, group = [], None
    for key, value in sorted(values.items()):
        head, _, name = key.rpartition("/")
        if head and head != group:
            rows.append((f"{head}/", ""))
            group = head
        text = f"{value:.3g}" if isinstance(value, float) else str(value)
        rows.append((f"   {name}" if head else name, text))
    return rows
