"""Tables of how well a critic and a process reward model did, beside controls that know less or nothing."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from benchmarks.judging.measure import Record
from benchmarks.judging.metrics import (
    Report,
    Tally,
    contrast_report,
    contrast_tally,
    critic_report,
    critic_tally,
    interval,
    judge_report,
    judge_tally,
    return_report,
    return_tally,
    total,
    wilson,
)

Scores = Callable[[Record], Sequence[float]]


def _shuffled(record: Record) -> list[float]:
    """Q of other candidates of the state."""
    return random.Random(f"{record.episode} {record.texts} {record.q}").sample(record.q, len(record.q))


def _state_mean(record: Record) -> list[float]:
    """A critic that knows the state and nothing of its candidates: a V."""
    return [sum(record.q) / len(record.q)] * len(record.q)


CRITICS: dict[str, Scores] = {
    "critic": lambda record: record.q,
    "shuffled": _shuffled,
    "log_prob": lambda record: record.log_prob,
    "state_mean": _state_mean,
}
"""The critic and its controls: its Q shuffled within states, the policy's own preference, and a V."""


def _scorers(records: Sequence[Record]) -> dict[str, Scores]:
    """The critic, its controls, and the process reward model where it was asked about all candidates."""
    return CRITICS | ({"judge": lambda record: record.verdicts} if all(r.verdicts for r in records) else {})


def critics(records: Sequence[Record]) -> dict[str, Any]:
    """Compares critic, controls and judge with measured Q. The row `again` holds one measurement against the other."""
    known = [record for record in records if record.measured and not any(map(math.isnan, record.truth))]
    rows = {
        name: [critic_tally(scores(record), record.truth, record.texts) for record in known]
        for name, scores in _scorers(known).items()
    }
    rows["again"] = [critic_tally(record.again, record.measured, record.texts) for record in known]
    return _rows(critic_report, rows, known)


def contrasts(records: Sequence[Record]) -> dict[str, Any]:
    """Compares critic, controls and judge with which candidates are good."""
    rows = {
        name: [contrast_tally(scores(record), record.good, record.texts) for record in records]
        for name, scores in _scorers(records).items()
    }
    return _rows(contrast_report, rows, records)


def returns(records: Sequence[Record]) -> dict[str, Any]:
    """Compares Q of executed actions with the returns that the agent learns from, and with the outcome as it says."""
    known = [record for record in records if record.returned is not None]
    rows = {
        name: [return_tally(scores(record)[0], record.returned or 0.0) for record in known]
        for name, scores in CRITICS.items()
        if name in ("critic", "log_prob")
    }
    return _rows(return_report, rows, known)


def judges(records: Sequence[Record]) -> dict[str, Any]:
    """Compares verdicts on executed actions with the truth; steps whose truth is unknown are left out."""
    known = [record for record in records if not math.isnan(record.good[0])]
    verdicts: dict[str, Callable[[Record], float | None]] = {"prm": lambda r: r.verdict, "always_yes": lambda r: 1.0}
    rows = {
        name: [judge_tally(record.good[0] > 0.5, verdict(record)) for record in known]
        for name, verdict in verdicts.items()
    }
    return _rows(judge_report, rows, known)


def families(records: Sequence[Record]) -> dict[str, dict[str, Any]]:
    """Returns counts and shares of every family; `..._interval` is Wilson's, as if its pairs were independent."""
    table = {}
    for family in sorted({record.family for record in records}):
        mine = [record for record in records if record.family == family]
        row: dict[str, Any] = {"states": len(mine)}
        if mine[0].measured:
            known = [record for record in mine if not any(map(math.isnan, record.truth))]
            row |= _share("auc", total([critic_tally(r.q, r.truth, r.texts) for r in known]), "ordered", "pairs")
        if mine[0].good:
            sums = total([contrast_tally(r.q, r.good, r.texts) for r in mine])
            row |= _share("good_auc", sums, "good_ordered", "good_pairs")
            row |= _verdicts([record for record in mine if not math.isnan(record.good[0])])
        table[family] = row
    return table


def _share(name: str, sums: Tally, part: str, whole: str) -> dict[str, Any]:
    low, high = wilson(sums.get(part, 0.0), sums.get(whole, 0.0))
    share = sums[part] / sums[whole] if sums.get(whole) else None
    return {name: share, f"{name}_n": int(sums.get(whole, 0)), f"{name}_interval": [low, high]}


def _verdicts(known: Sequence[Record]) -> dict[str, Any]:
    sums = total([judge_tally(record.good[0] > 0.5, record.verdict) for record in known])
    cells = {name: int(count) for name, count in sums.items()}
    if not known:
        return {"accuracy": None, **cells}
    right = sums["true_yes"] + sums["true_no"]
    return {"accuracy": right / len(known), "accuracy_interval": [*wilson(right, len(known))], **cells}


def _rows(
    report: Callable[[Tally], Report], rows: Mapping[str, Sequence[Tally]], records: Sequence[Record]
) -> dict[str, Any]:
    """Metrics of every row with intervals over episodes, None where undefined; nothing without any record."""
    if not records:
        return {}
    episodes = [record.episode for record in records]
    return {
        name: {
            metric: {"value": _finite(value), "low": _finite(bounds[metric][0]), "high": _finite(bounds[metric][1])}
            for metric, value in report(total(tallies)).items()
        }
        for name, tallies in rows.items()
        for bounds in [interval(report, tallies, episodes)]
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def show(title: str, rows: Mapping[str, Any]) -> None:
    """Prints one column per row of a comparison, with an interval for the first."""
    if not rows:
        return
    first, *others = rows
    print(f"\n{title:30s}{first:>8s}{'95 %':>18s}" + "".join(f"{name:>12s}" for name in others))
    for metric, cell in rows[first].items():
        bounds = f"{_text(cell['low'])} to {_text(cell['high'])}"
        rest = "".join(f"{_text(rows[name][metric]['value']):>12s}" for name in others)
        print(f"  {metric:28s}{_text(cell['value']):>8s}{bounds:>18s}{rest}")


def show_families(table: Mapping[str, Mapping[str, Any]]) -> None:
    """Prints the families."""
    columns = f"{'auc':>12s}{'good auc':>12s}{'PRM right':>12s}{'good yes':>10s}{'bad yes':>9s}"
    print(f"\n{'family':28s}{'states':>7s}{columns}")
    for family, row in table.items():
        good = row.get("true_yes", 0) + row.get("false_no", 0)
        bad = row.get("false_yes", 0) + row.get("true_no", 0)
        cells = "".join(
            f"{_text(row.get(name))} [{row.get(f'{name}_n', good + bad)}]".rjust(12)
            for name in ("auc", "good_auc", "accuracy")
        )
        verdicts = f"{row.get('true_yes', 0)}/{good}".rjust(10) + f"{row.get('false_yes', 0)}/{bad}".rjust(9)
        print(f"{family:28s}{row['states']:7d}{cells}{verdicts}")


def _text(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
