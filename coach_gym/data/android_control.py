"""AndroidControl as its authors publish it (google-research/android_control): 15,283 demonstrations by people.

Every record holds `episode_id` and `goal`; the lists `screenshots` (PNG), `screenshot_widths`, `screenshot_heights` and
`accessibility_trees` (serialized `AndroidAccessibilityForest`); and `actions` (JSON) and `step_instructions`, one for
every screenshot but the last.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from android_env.proto.a11y.android_accessibility_forest_pb2 import AndroidAccessibilityForest
from google.protobuf.message import DecodeError
from tqdm import tqdm

from coach_gym.actions import Action, ActionError, Point, format_action
from coach_gym.data.folder import EpisodeFolder
from coach_gym.data.tfrecord import Values, read_examples
from coach_gym.episode import Candidate, Episode, Observation, Step
from coach_gym.recording.archive import read_png
from coach_gym.ui import compress, node_from_forest

SHARDS, SPLITS = "android_control-*-of-*", "splits.json"
TASK = "AndroidControl"
_PLAIN = {"navigate_back": "press_back", "navigate_home": "press_home", "wait": "wait"}
_FIELDS = ("episode_id", "goal", "screenshots", "screenshot_widths", "screenshot_heights", "accessibility_trees",
           "actions", "step_instructions")  # fmt: skip


class Unusable(ValueError):
    """An episode cannot be used; the message says why in words that are the same for all such episodes."""


def convert(
    source: str | Path, out: str | Path, split: str | None = None, finish: bool = True, progress_bar: bool = False
) -> EpisodeFolder:
    """Writes the episodes of AndroidControl to a folder; an interrupted call can be repeated.

    Episodes that cannot be used are dropped and counted by reason.

    Args:
        source: Folder of the shards, and of `splits.json` if a split is asked for.
        out: Folder to write, one file an episode, named by its `episode_id`.
        split: `"train"`, `"validation"` or `"test"`; None for all.
        finish: Adds a step `finished()` on the last screenshot, where the person did nothing more.
        progress_bar: Shows a progress bar.

    Raises:
        CorruptFile: A shard is damaged.
        ValueError: There are no shards, there is no such split, or `out` holds other episodes.
    """
    source = Path(source)
    shards = sorted(source.glob(SHARDS))
    if not shards:
        raise ValueError(f"{source} has no files {SHARDS}; download them from gs://gresearch/android_control")
    ids = None if split is None else _ids(source, split)
    folder = EpisodeFolder(out, {"source": TASK, "split": split, "finish": finish})
    with tqdm(desc=TASK, unit="episode", disable=not progress_bar) as bar:
        for number, shard in enumerate(shards, start=1):
            bar.set_postfix(shard=f"{number}/{len(shards)}")
            if shard.name not in folder.done:
                folder.finish(shard.name, _convert_shard(shard, folder, ids, finish, bar))
    return folder


def _ids(source: Path, split: str) -> set[int]:
    try:
        splits = {name: set(ids) for name, ids in json.loads((source / SPLITS).read_text("utf-8")).items()}
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise ValueError(f"{source / SPLITS} cannot be read ({error}); download it again, beside the shards") from error
    if split not in splits:
        raise ValueError(f"{source / SPLITS} has no split {split!r}; it has {', '.join(splits)}")
    return splits[split]


def _convert_shard(shard: Path, folder: EpisodeFolder, ids: set[int] | None, finish: bool, bar: Any) -> Counter[str]:
    dropped: Counter[str] = Counter()
    for example in read_examples(shard):
        bar.update()
        try:
            number = _one(example, "episode_id")
            name = f"{number:06d}"
            if (ids is None or number in ids) and name not in folder:
                episode, pngs = read_example(example, finish)
                folder.write(name, episode, pngs)
        except Unusable as error:
            dropped[str(error)] += 1
    return dropped


def read_example(example: Mapping[str, Values], finish: bool = True) -> tuple[Episode, list[bytes]]:
    """Returns the episode of an example, and its screenshots as PNG.

    An action's thought is the instruction of its step. A scroll, which has only a direction, starts in the middle of
    the screen. The outcome is 1, because the demonstrations were made by people and checked.

    Args:
        example: The features of a record.
        finish: As in `convert`.

    Raises:
        Unusable: It lacks something, or has an action that this library has not.
    """
    for name in _FIELDS:
        if name not in example:
            raise Unusable(f"no field {name}")
    pngs, actions, told = (example[name] for name in ("screenshots", "actions", "step_instructions"))
    if not len(pngs) == len(example["accessibility_trees"]) == len(actions) + 1 == len(told) + 1:
        raise Unusable("numbers of screenshots, trees, actions and instructions do not fit")
    episode = Episode(_text(_one(example, "goal")), outcome=1.0, task=TASK)
    episode.params = {"episode_id": _one(example, "episode_id")}
    shown = len(pngs) if finish else len(actions)
    for t, observation in enumerate(_observations(example, shown)):
        height, width = observation.screenshot.shape[:2]
        if t == len(actions):
            action, thought = Action("finished"), ""
        else:
            action, thought = read_action(actions[t], (width, height)), _text(told[t])
        text = format_action(action, " ".join(thought.split()))
        episode.steps.append(Step(observation, [Candidate(text, [], [])], 0, text))
    if not episode.steps:
        raise Unusable("no action")
    return episode, pngs[:shown]


def _one(example: Mapping[str, Values], name: str) -> Any:
    values = example.get(name, [])
    if len(values) != 1:
        raise Unusable(f"not exactly one {name}")
    return values[0]


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


def _observations(example: Mapping[str, Values], count: int) -> Iterator[Observation]:
    sizes = list(zip(example["screenshot_widths"], example["screenshot_heights"], strict=False))
    for t in range(count):
        pixels = _pixels(example["screenshots"][t])
        if t >= len(sizes) or pixels.shape[:2][::-1] != sizes[t]:
            raise Unusable("a screenshot of another size than told")
        try:
            forest = AndroidAccessibilityForest.FromString(example["accessibility_trees"][t])
        except DecodeError:
            raise Unusable("an unreadable accessibility tree") from None
        yield Observation(pixels, compress(node_from_forest(forest)))


def _pixels(png: bytes) -> np.ndarray:
    try:
        return read_png(png)
    except (OSError, ValueError, SyntaxError):  # Pillow's errors on broken files
        raise Unusable("an unreadable screenshot") from None


def read_action(raw: bytes, screen: Point) -> Action:
    """Returns an action of AndroidControl.

    Args:
        raw: JSON, such as `{"action_type": "click", "x": 540, "y": 1200}`.
        screen: Width and height of the screenshot in pixels.

    Raises:
        Unusable: There is no such action here, or it lies outside the screen.
    """
    try:
        told = json.loads(raw)
        kind = str(told["action_type"])
        if kind in ("click", "long_press"):
            x, y = round(told["x"]), round(told["y"])
            if not (0 <= x < screen[0] and 0 <= y < screen[1]):
                raise Unusable(f"a {kind} outside the screen")
            return Action(kind, (x, y))
        if kind == "scroll":
            return Action("scroll", (screen[0] // 2, screen[1] // 2), direction=told["direction"])
        if kind == "open_app":
            return Action("open_app", content=told["app_name"])
        if kind == "input_text":
            return Action("type", content=told["text"])
        if kind in _PLAIN:
            return Action(_PLAIN[kind])
    except Unusable:
        raise
    except (ValueError, TypeError, KeyError, ActionError):
        raise Unusable("an unreadable action") from None
    raise Unusable(f"an action {kind}")
