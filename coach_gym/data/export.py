"""Kept episodes in the formats of others: AndroidControl's records, and a Hugging Face data set."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from coach_gym.actions import Action, ActionError, parse_action
from coach_gym.data.tfrecord import Values, write_examples
from coach_gym.episode import Episode, Observation, Step
from coach_gym.files import becoming
from coach_gym.recording.png import encode_png
from coach_gym.ui import Node, parse_ui

_PLAIN = {"press_back": "navigate_back", "press_home": "navigate_home", "press_enter": "press_enter", "wait": "wait"}
_LISTS = {"candidates": "string", "q": "float64", "advantages": "float64", "returns": "float64"}
_LISTS_OF_LISTS = {"token_ids": "int64", "logprobs": "float64"}
_VALUES = {
    "episode": "int64", "step": "int64", "goal": "string", "task": "string", "params": "string", "seed": "int64",
    "outcome": "float64", "fault": "string", "answer": "string", "ui": "string", "last_action_error": "string",
    "action": "string", "executed": "int64", "process_reward": "float64", "reasoning": "string", "return": "float64",
}  # fmt: skip


def export_android_control(episodes: Iterable[Episode], folder: str | Path) -> int:
    """Writes episodes as a TFRecord file with AndroidControl's fields, which `convert` reads.

    Args:
        episodes: The episodes.
        folder: Where to write `android_control-00000-of-00001`.

    Returns:
        The number of records.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    records = (android_control_record(episode, number) for number, episode in enumerate(episodes))
    return write_examples(folder / "android_control-00000-of-00001", records)


def android_control_record(episode: Episode, number: int) -> dict[str, Values]:
    """Returns an episode with AndroidControl's fields.

    The final `finished` is left out, as there, and so are steps whose text was no action, which did nothing. What
    AndroidControl does not have is written in its manner: `press_enter`, and `drag` with `x`, `y`, `to_x` and `to_y`.
    The trees hold what the screen text holds.

    Args:
        episode: The episode.
        number: Its `episode_id`.
    """
    acted = [(step, *_parsed(step)) for step in episode.steps]
    done = [each for each in acted if each[2] is not None and each[2].kind != "finished"]
    seen = [step.observation for step, _, _ in done]
    ending = [episode.last] if episode.last is not None else [step.observation for step in episode.steps[-1:]]
    seen += ending
    return {
        "episode_id": [number],
        "goal": [_bytes(episode.goal)],
        "screenshots": [encode_png(each.screenshot) for each in seen],
        "screenshot_widths": [each.screenshot.shape[1] for each in seen],
        "screenshot_heights": [each.screenshot.shape[0] for each in seen],
        "accessibility_trees": [_tree(each) for each in seen],
        "actions": [json.dumps(_action(action)).encode() for _, _, action in done if action is not None],
        "step_instructions": [_bytes(thought) for _, thought, _ in done],
    }


def export_dataset(episodes: Iterable[Episode], path: str | Path) -> int:
    """Writes episodes as a parquet file that `datasets.load_dataset("parquet", data_files=path)` loads.

    A row is a step. `params` is JSON, `screenshot` an image, and `candidates`, `q`, `advantages`, `returns`,
    `token_ids` and `logprobs` have an entry for each of the k candidates.

    Args:
        episodes: The episodes.
        path: The file.

    Returns:
        The number of rows.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    kinds = {"string": pa.string(), "int64": pa.int64(), "float64": pa.float64()}
    fields = {name: kinds[kind] for name, kind in _VALUES.items()}
    fields |= {name: pa.list_(kinds[kind]) for name, kind in _LISTS.items()}
    fields |= {name: pa.list_(pa.list_(kinds[kind])) for name, kind in _LISTS_OF_LISTS.items()}
    fields["screenshot"] = pa.struct({"bytes": pa.binary(), "path": pa.string()})
    schema = pa.schema(fields, metadata={"huggingface": json.dumps({"info": {"features": _features()}})})
    written = 0
    with becoming(Path(path)) as partial, pq.ParquetWriter(str(partial), schema) as writer:
        for number, episode in enumerate(episodes):
            rows = list(_rows(episode, number))
            if rows:
                writer.write_table(pa.Table.from_pylist(rows, schema))
            written += len(rows)
    return written


def _rows(episode: Episode, number: int) -> Iterator[dict[str, Any]]:
    params = json.dumps(episode.params, default=str)
    shared = {
        "episode": number, "goal": episode.goal, "task": episode.task, "params": params, "seed": episode.seed,
        "outcome": episode.outcome, "fault": episode.fault, "answer": episode.answer,
    }  # fmt: skip
    for t, step in enumerate(episode.steps):
        candidates = step.candidates
        yield {
            **shared,
            "step": t,
            "screenshot": {"bytes": encode_png(step.observation.screenshot), "path": None},
            "ui": step.observation.ui,
            "last_action_error": step.observation.last_action_error,
            "action": step.action,
            "executed": step.executed,
            "process_reward": step.process_reward,
            "reasoning": step.reasoning,
            "return": step.return_,
            "candidates": [each.text for each in candidates],
            "q": [each.q for each in candidates],
            "advantages": [each.advantage for each in candidates],
            "returns": [each.return_ for each in candidates],
            "token_ids": [each.token_ids for each in candidates],
            "logprobs": [each.logprobs for each in candidates],
        }


def _features() -> dict[str, Any]:
    """The columns as Hugging Face's `datasets` describes them."""

    def value(kind: str) -> dict[str, Any]:
        return {"dtype": kind, "_type": "Value"}

    def sequence(feature: dict[str, Any]) -> dict[str, Any]:
        return {"feature": feature, "_type": "Sequence"}

    features = {name: value(kind) for name, kind in _VALUES.items()}
    features |= {name: sequence(value(kind)) for name, kind in _LISTS.items()}
    features |= {name: sequence(sequence(value(kind))) for name, kind in _LISTS_OF_LISTS.items()}
    return features | {"screenshot": {"_type": "Image"}}


def _parsed(step: Step) -> tuple[str, Action | None]:
    try:
        return parse_action(step.action)
    except ActionError:
        return "", None


def _action(action: Action) -> dict[str, Any]:
    """An action as AndroidControl writes it."""
    if action.kind in _PLAIN:
        return {"action_type": _PLAIN[action.kind]}
    if action.kind == "open_app":
        return {"action_type": "open_app", "app_name": action.content}
    if action.kind == "type":
        return {"action_type": "input_text", "text": action.content}
    if action.kind == "scroll" and action.direction is not None:
        return {"action_type": "scroll", "direction": action.direction}
    assert action.start is not None
    told = {"action_type": action.kind, "x": action.start[0], "y": action.start[1]}
    return told if action.end is None else {**told, "to_x": action.end[0], "to_y": action.end[1]}


def _tree(seen: Observation) -> bytes:
    from coach_gym.envs.phone.servers.accessibility import forest

    height, width = seen.screenshot.shape[:2]
    nodes = [
        Node(
            cls=f"android.widget.{each.cls}", bounds=each.bounds, text=each.value or each.label, desc=each.desc,
            id=each.id, hint=each.hint, clickable=each.clickable, long_clickable=each.long_clickable,
            checkable=each.checkable, checked=each.checked, focused=each.focused, selected=each.selected,
            scrollable=each.scrollable, enabled=each.enabled, package="app",
        )
        for each in parse_ui(seen.ui)
    ]  # fmt: skip
    root = Node(cls="hierarchy", bounds=(0, 0, width, height), package="app", children=nodes)
    return forest(root).SerializeToString()


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")
