"""Where the numbers go: a table on the terminal and TensorBoard, with Stable-Baselines3's keys and folders."""

import re
from collections import defaultdict
from pathlib import Path
from typing import Any, Protocol

Value = float | int | str


class Output(Protocol):
    """One place that records are written to."""

    def write(self, values: dict[str, Value], excluded: dict[str, tuple[str, ...]], step: int) -> None:
        """Writes what was recorded since the last dump, without the keys that exclude this output by name."""
        ...

    def close(self) -> None:
        """Flushes and releases what is open."""
        ...


class HumanOutput:
    """A table on standard output, grouped by the part of the key before the slash."""

    name = "stdout"

    def write(self, values: dict[str, Value], excluded: dict[str, tuple[str, ...]], step: int) -> None:
        """Prints one table."""
        rows = _rows({key: value for key, value in values.items() if self.name not in excluded[key]})
        if not rows:
            return
        left, right = (max(len(row[column]) for row in rows) for column in (0, 1))
        rule = "-" * (left + right + 7)
        print(rule, *(f"| {key:<{left}} | {value:<{right}} |" for key, value in rows), rule, sep="\n", flush=True)

    def close(self) -> None:
        """Nothing is open."""


class TensorBoardOutput:
    """Event files that TensorBoard reads."""

    name = "tensorboard"

    def __init__(self, folder: str | Path) -> None:
        from torch.utils.tensorboard import SummaryWriter  # takes a second to import

        self._writer = SummaryWriter(str(folder))

    def write(self, values: dict[str, Value], excluded: dict[str, tuple[str, ...]], step: int) -> None:
        """Adds one point to every curve."""
        for key, value in values.items():
            if self.name in excluded[key]:
                continue
            if isinstance(value, str):
                self._writer.add_text(key, value, step)
            else:
                self._writer.add_scalar(key, value, step)
        self._writer.flush()

    def close(self) -> None:
        """Closes the event file."""
        self._writer.close()


class Logger:
    """Collects named values and writes them together.

    Args:
        folder: folder of this run, None if nothing is kept.
        outputs: where `dump` writes to.

    Attributes:
        name_to_value: what was recorded since the last dump.
    """

    def __init__(self, folder: str | Path | None, outputs: list[Any]) -> None:
        self.dir = None if folder is None else str(folder)
        self.outputs = outputs
        self.name_to_value: dict[str, Value] = {}
        self._counts: dict[str, int] = defaultdict(int)
        self._excluded: dict[str, tuple[str, ...]] = {}

    def record(self, key: str, value: Any, exclude: str | tuple[str, ...] | None = None) -> None:
        """Sets the value of `key` for the next dump.

        Args:
            key: `group/name`.
            value: number or text.
            exclude: `"stdout"` or `"tensorboard"`, or both, to leave out there.
        """
        self.name_to_value[key] = value if isinstance(value, str | int) else float(value)
        self._excluded[key] = (exclude,) if isinstance(exclude, str) else tuple(exclude or ())

    def record_mean(self, key: str, value: float, exclude: str | tuple[str, ...] | None = None) -> None:
        """Like `record`, but repeated calls before a dump are averaged."""
        count = self._counts[key]
        mean = float(self.name_to_value.get(key, 0.0)) if count else 0.0
        self._counts[key] = count + 1
        self.record(key, mean + (float(value) - mean) / (count + 1), exclude)

    def dump(self, step: int = 0) -> None:
        """Writes everything recorded since the last dump under the number of environment steps `step`."""
        for output in self.outputs:
            output.write(self.name_to_value, self._excluded, step)
        self.name_to_value, self._excluded = {}, {}
        self._counts.clear()

    def close(self) -> None:
        """Closes all outputs."""
        for output in self.outputs:
            output.close()


def configure_logger(
    verbose: int, tensorboard_log: str | Path | None, tb_log_name: str, reset_num_timesteps: bool
) -> Logger:
    """The logger of one call of `learn`.

    Args:
        verbose: 1 and more print the table.
        tensorboard_log: parent of the run folders, None for none.
        tb_log_name: runs go to `{tensorboard_log}/{tb_log_name}_{n}`.
        reset_num_timesteps: True starts run n + 1, False goes on with the latest.
    """
    outputs: list[Output] = [HumanOutput()] if verbose >= 1 else []
    if tensorboard_log is None:
        return Logger(None, outputs)
    latest = _latest_run(Path(tensorboard_log), tb_log_name)
    run = latest + 1 if reset_num_timesteps else max(latest, 1)
    folder = Path(tensorboard_log) / f"{tb_log_name}_{run}"
    return Logger(folder, [*outputs, TensorBoardOutput(folder)])


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
