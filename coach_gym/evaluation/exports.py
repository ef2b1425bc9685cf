"""Writes results in the files that AndroidWorld's and AndroidLab's own scripts read."""

from __future__ import annotations

import gzip
import json
import math
import pickle
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from coach_gym.envs.suites.official_lab.metrics import Run, reversed_redundancy, sub_goals
from coach_gym.evaluation.records import Record


def write_android_world(records: Sequence[Record], folder: Path, agent: str = "") -> None:
    """Writes what `android_world.checkpointer.IncrementalCheckpointer(folder).load()` reads.

    `suite_utils.process_episodes` makes upstream's tables of it. Episodes without a verdict have upstream's form of an
    exception, so that its runner plays them again.

    Args:
        records: Results of AndroidWorld's tasks.
        folder: Written to; one file for each instance of each task.
        agent: Name of the agent.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for record in records:
        episode = {
            "goal": record.goal,
            "task_template": record.task,
            "instance_id": record.run,
            "is_successful": record.score if record.valid else math.nan,
            "run_time": record.seconds,
            "agent_name": agent,
            "episode_length": record.steps if record.valid else math.nan,
            "episode_data": math.nan,
            "finish_dtime": None,
            "seed": record.params.get("seed"),
            "aux_data": None,
            "screen_config": None,
            "exception_info": None if record.valid else record.fault or "no verdict",
        }
        with gzip.open(folder / f"{record.task}_{record.run}.pkl.gz", "wb") as file:
            pickle.dump([episode], file)


def write_android_lab(records: Sequence[Record], folder: Path, agent: str = "agent") -> None:
    """Writes what `generate_result.py` of AndroidLab writes for an agent, and sums up in its table.

    Its last step, `output_to_excel`, reads `folder` as its `--output_folder`. Every run is an agent of its own.

    Args:
        records: Results of AndroidLab's official tasks.
        folder: Written to; a folder for each run with `results.jsonl` and `total.jsonl`.
        agent: Name of the agent.

    Raises:
        ValueError: There are results of other tasks, which AndroidLab's judges have not seen.
    """
    foreign = sorted({record.task for record in records if record.judged is None and record.valid})
    if foreign:
        raise ValueError(f"AndroidLab's own judges have not judged {', '.join(foreign[:3])}; evaluate suite='official'")
    for run in sorted({record.run for record in records}):
        target = folder / f"{agent}_run{run}"
        target.mkdir(parents=True, exist_ok=True)
        results = [_lab_result(record) for record in records if record.run == run and record.valid]
        by_app: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for result in results:
            by_app[result["task_id"].split("_")[0]].append(result)
        _write_lines(target / "results.jsonl", results)
        _write_lines(target / "total.jsonl", [_lab_total(app, found) for app, found in by_app.items()])


def _lab_result(record: Record) -> dict[str, Any]:
    judged = dict(record.judged or {})
    run = Run(judged, record.judged_steps or 0, record.human_steps or 0, record.operations)
    return {
        "task_id": record.task,
        "task": record.goal,
        "metric_type": "query_detect" if record.kind == "query" else "operation",
        "result": judged,
        "RRR": reversed_redundancy(run),
        "reasonable_operation_ratio": record.operations,
    }


def _lab_total(app: str, results: Sequence[dict[str, Any]]) -> dict[str, Any]:
    complete = sum(result["result"].get("complete") is True for result in results)
    partial = sum(sub_goals(result["result"]) for result in results)
    total = {
        "App": app, "Acc": complete / len(results), "Total": len(results), "Complete_Correct": complete,
        "Sum_Partial_Acc": partial, "Partial_Acc": partial / len(results),
    }  # fmt: skip
    for name in ("RRR", "reasonable_operation_ratio"):
        known = [result[name] for result in results if result[name] is not None]
        total |= {name: sum(known) / len(known) if known else 0, f"Sum_{name}": sum(known)}
    return total


def _write_lines(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
