"""The table of an evaluation, as text, JSON and CSV."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from statistics import stdev
from typing import Any

from coach_gym.agents.judging.chat import Usage
from coach_gym.envs.suites.official_lab import metrics
from coach_gym.evaluation.records import Record, share

EMBEDDED = "embedded phone"
_COLUMNS = (
    "run", "number", "task", "difficulty", "kind", "score", "steps", "seconds", "operations", "device", "fault",
    "judged_steps", "human_steps", "goal", "params",
)  # fmt: skip


@dataclass
class Report:
    """Summarises an evaluation.

    Rates are in percent, over the episodes with a verdict. The spread is the standard deviation over runs.

    Attributes:
        records: The latest record of every episode.
        tasks: Number of tasks of the suite.
        agent: Name of the agent.
        env: Id of the environment.
        source: Where the suite comes from, such as `"official"`.
        seconds: How long the latest call has played.
        usage: What models behind servers have been asked for in that call.
    """

    records: Sequence[Record]
    tasks: int
    agent: str = ""
    env: str = ""
    source: str = ""
    seconds: float = 0.0
    usage: Usage = field(default_factory=Usage)

    @property
    def success_rate(self) -> float:
        """Share of the episodes with a verdict that were solved, in percent; nan if there are none."""
        return 100 * share([record.success for record in self._valid()])

    def _valid(self, keep: Callable[[Record], bool] = lambda record: True) -> list[Record]:
        return [record for record in self.records if record.valid and keep(record)]

    def _runs(self) -> list[int]:
        return sorted({record.run for record in self.records})

    def rows(self) -> dict[str, dict[str, float]]:
        """Returns success rates in percent, with their spread over runs and their numbers of episodes, by group."""
        groups: dict[str, Callable[[Record], bool]] = {"all": lambda record: True}
        for name in ("easy", "medium", "hard"):
            groups[name] = lambda record, name=name: record.difficulty == name  # type: ignore[misc]
        for name in ("operation", "query"):
            groups[name] = lambda record, name=name: record.kind == name  # type: ignore[misc]
        rows = {}
        for name, keep in groups.items():
            if kept := self._valid(keep):
                by_run = [[record.success for record in kept if record.run == run] for run in self._runs()]
                rates = [100 * share(solved) for solved in by_run if solved]
                spread = stdev(rates) if len(rates) > 1 else math.nan
                rows[name] = {"SR": sum(rates) / len(rates), "spread": spread, "episodes": len(kept)}
        return rows

    def measures(self) -> dict[str, float]:
        """Returns the other measures: AndroidLab's (in percent), steps, faults, time and cost.

        Sub-SR and RRR need AndroidLab's own judges. ROR is AndroidLab's, averaged over the episodes with a verdict.
        """
        valid = self._valid()
        found: dict[str, float] = {}
        judged = [record for record in valid if record.judged is not None]
        if judged:
            played = [_lab_run(record) for record in judged]
            reports = metrics.report(played, total=self.tasks * len(self._runs()))
            found |= {"Sub-SR": reports["Sub-SR"], "RRR": reports["RRR"]}
        found["ROR"] = 100 * share([record.operations for record in valid])
        found["steps"] = share([record.steps for record in valid])
        found["faults"] = sum(record.fault is not None for record in self.records)
        found["without a verdict"] = sum(record.fault is None and record.score is None for record in self.records)
        found["not played"] = self.tasks * max(1, len(self._runs())) - len(self.records)
        found["hours"] = sum(record.seconds for record in self.records) / 3600
        if self.usage.requests:
            found |= {name.replace("_", " "): value for name, value in asdict(self.usage).items()}
        return found

    @property
    def label(self) -> str:
        """What was measured; success on the embedded phone is never called a benchmark's score."""
        embedded = any(record.device == EMBEDDED for record in self.records)
        where = f"{self.source} tasks{', embedded phone' if embedded else ''}"
        return f"{self.agent or 'agent'} on {self.env} ({where})"

    def __str__(self) -> str:
        lines = [self.label, f"{'':14s}{'SR %':>8s}{'spread':>8s}{'episodes':>10s}"]
        for name, row in self.rows().items():
            spread = "" if math.isnan(row["spread"]) else f"{row['spread']:.1f}"
            lines.append(f"{name:14s}{row['SR']:>8.1f}{spread:>8s}{row['episodes']:>10.0f}")
        lines.append("")
        lines += [f"{name:20s}{value:>10.4g}" for name, value in self.measures().items()]
        return "\n".join(lines)

    def to_json(self) -> str:
        """Returns the summary and all records as JSON; unknown numbers are null."""
        summary = {"measured": self.label, "agent": self.agent, "env": self.env, "suite": self.source}
        found = {**summary, "tasks": self.tasks, "success": self.rows(), "measures": self.measures()}
        return json.dumps({**_finite(found), "records": [asdict(record) for record in self.records]}, indent=2) + "\n"

    def to_csv(self) -> str:
        """Returns one line per episode."""
        stream = io.StringIO()
        writer = csv.DictWriter(stream, _COLUMNS, lineterminator="\n")
        writer.writeheader()
        for record in self.records:
            row = {name: value for name, value in asdict(record).items() if name in _COLUMNS}
            writer.writerow({**row, "params": json.dumps(row["params"])})
        return stream.getvalue()


def _lab_run(record: Record) -> metrics.Run:
    assert record.judged is not None
    return metrics.Run(record.judged, record.judged_steps or 0, record.human_steps or 0, record.operations)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value
