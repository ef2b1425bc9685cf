"""The results of an evaluation, one line of JSON per episode."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from coach_gym.files import append_line, write_whole


@dataclass(frozen=True)
class Record:
    """One played episode.

    Attributes:
        number: Position in the evaluation: `run` times the number of tasks, plus the position of the task.
        run: Which repetition it belongs to, from 0.
        task: Name of the task family.
        params: Parameters of the task instance.
        goal: The instruction.
        difficulty: `"easy"`, `"medium"` or `"hard"`.
        kind: `"operation"` or `"query"`.
        score: The verdict from 0 to 1; None if there is none.
        steps: Number of steps.
        seconds: How long the episode took, waiting for other devices included.
        operations: Reasonable operation ratio: the share of actions after which the screen looked different.
        device: Name of the device; the embedded phone's is `"embedded phone"`.
        fault: What broke; None if nothing did.
        judged: AndroidLab's last verdict with its sub-goals; None for other tasks.
        judged_steps: Number of steps that AndroidLab's judge has seen.
        human_steps: Number of steps a person takes, where known.
    """

    number: int
    run: int
    task: str
    params: Mapping[str, Any]
    goal: str
    difficulty: str
    kind: str
    score: float | None
    steps: int
    seconds: float
    operations: float
    device: str = ""
    fault: str | None = None
    judged: Mapping[str, Any] | None = None
    judged_steps: int | None = None
    human_steps: int | None = None

    @property
    def valid(self) -> bool:
        """Whether the episode has a verdict; others are played again when the evaluation is continued."""
        return self.fault is None and self.score is not None

    @property
    def success(self) -> bool:
        """Whether the task was solved completely."""
        return self.valid and self.score is not None and self.score >= 1.0


class RecordFile:
    """A file of records that an interrupted evaluation continues.

    Its first line says what is evaluated; a file of another evaluation is refused. A last line that an interruption has
    cut off is dropped.

    Args:
        path: The file; made if it does not exist.
        about: What is evaluated.

    Attributes:
        records: The latest record of every number.
        attempts: How often every number was played.

    Raises:
        ValueError: The file belongs to another evaluation, or is damaged.
    """

    def __init__(self, path: Path, about: Mapping[str, Any]) -> None:
        self.path = path
        self.records: dict[int, Record] = {}
        self.attempts: Counter[int] = Counter()
        lines = _whole_lines(path)
        if not lines:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, json.dumps({"evaluation": dict(about)}) + "\n")
            return
        try:
            found, records = dict(json.loads(lines[0])["evaluation"]), _parse(lines[1:])
        except (ValueError, TypeError, LookupError) as error:
            raise ValueError(
                f"{path} holds no results of an evaluation, or damaged ones ({type(error).__name__}: {error}); choose "
                f"another file"
            ) from error
        wanted = json.loads(json.dumps(dict(about)))
        for name in wanted:
            if found.get(name) != wanted[name]:
                raise ValueError(
                    f"{path} holds another evaluation, with {name}={found.get(name)!r:.200} and not "
                    f"{wanted[name]!r:.200}; choose another file"
                )
        self._note(records)
        write_whole(path, "".join(line + "\n" for line in lines))

    def add(self, record: Record) -> None:
        """Appends a record, at once."""
        self._note([record])
        append_line(self.path, json.dumps(asdict(record)))

    def _note(self, records: Sequence[Record]) -> None:
        self.records.update({each.number: each for each in records})
        self.attempts.update(each.number for each in records)


def read_records(path: Path) -> tuple[dict[str, Any], list[Record]]:
    """Reads a file of records.

    Returns:
        What was evaluated, and the latest record of every episode, in their order.
    """
    head, *lines = _whole_lines(path)
    records = {each.number: each for each in _parse(lines)}
    return json.loads(head)["evaluation"], [records[number] for number in sorted(records)]


def _whole_lines(path: Path) -> list[str]:
    if not path.is_file():
        return []
    return path.read_text("utf-8").split("\n")[:-1]  # what follows the last line break was cut off


def _parse(lines: list[str]) -> list[Record]:
    names = {field.name for field in fields(Record)}
    return [Record(**{key: value for key, value in json.loads(line).items() if key in names}) for line in lines]


def share(values: Sequence[float]) -> float:
    """Returns the mean of some values; nan if there are none."""
    return sum(values) / len(values) if values else math.nan
