"""How far an agent's skill reaches: success on unseen instances, words, task families and apps.

Each kind of unseen instance is measured on its own (docs/concepts/generalisation.md says what is kept apart). Unseen
instances and words come from training families, so training instances of the same families stand beside them. The table
has the policy greedy and sampled, with 95 % Wilson intervals, and two controls on the same instances: random touches,
and the scripted experts, which know the phone. With several policies, all play the same instances.

    python -m benchmarks.generalisation --policy pocket --split validation
    python -m benchmarks.generalisation --policy runs/first/agent --split test --episodes 400 --json result.json
    python -m benchmarks.generalisation --policy pocket runs/first/agent    # before and after a training
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shlex
import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, get_args

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np  # noqa: E402  (after the number of threads is set)
import torch  # noqa: E402
from transformers.utils import logging  # noqa: E402

from coach_gym.actions import Action, format_action  # noqa: E402
from coach_gym.agents.evaluation import Predictor, evaluate  # noqa: E402
from coach_gym.agents.generation.transformers import TransformersGenerator  # noqa: E402
from coach_gym.agents.models.policy import Policy  # noqa: E402
from coach_gym.agents.playing.player import PolicyPlayer  # noqa: E402
from coach_gym.envs.android import AndroidEnv  # noqa: E402
from coach_gym.envs.errors import UsageError  # noqa: E402
from coach_gym.envs.make import make_vector_env  # noqa: E402
from coach_gym.envs.suites.load import BUILTIN, load_suite  # noqa: E402
from coach_gym.envs.suites.play import play  # noqa: E402
from coach_gym.envs.suites.splits import Selection, Unseen  # noqa: E402
from coach_gym.envs.suites.suite import Suite  # noqa: E402
from coach_gym.ui import parse_ui  # noqa: E402

SCREEN = (270, 600)
NUM_ENVS = 16
Z = 1.96  # of a 95 % interval
HOW = {"greedy": True, "sampled": False}
CONTROLS = ("random", "expert")
KINDS = get_args(Unseen)
"""What can be new."""


@dataclass(frozen=True)
class Row:
    """What is measured: instances of some families, from one split."""

    name: str
    selection: Selection
    families: tuple[str, ...]


@dataclass(frozen=True)
class Share:
    """Solved episodes among those with a verdict."""

    solved: int
    episodes: int

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of Wilson (1927)."""
        if not self.episodes:
            return 0.0, 1.0
        n, p = self.episodes, self.solved / self.episodes
        middle = (p + Z**2 / (2 * n)) / (1 + Z**2 / n)
        half = Z / (1 + Z**2 / n) * math.sqrt(p * (1 - p) / n + Z**2 / (4 * n**2))
        return max(0.0, middle - half), min(1.0, middle + half)

    def __str__(self) -> str:
        if not self.episodes:
            return "no verdict"
        low, high = self.interval
        return f"{self.solved / self.episodes:5.1%} [{100 * low:.0f}-{100 * high:.0f}]"


class RandomTouches:
    """Touches a random element of the screen, and says in every tenth step that it is done."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def predict(
        self, observation: Any, state: Any = None, episode_start: Any = None, deterministic: bool = False
    ) -> tuple[list[str], None]:
        """Returns an action for every observation of a batch."""
        return [self._act(ui) for ui in observation["ui"]], None

    def _act(self, ui: str) -> str:
        places = [element.center for element in parse_ui(ui) if element.clickable and element.enabled]
        if not places or self.rng.random() < 0.1:
            return format_action(Action("finished"))
        return format_action(Action("click", places[self.rng.integers(len(places))]))


def main() -> None:
    """Measures row by row, prints the table and writes the JSON."""
    options = _options()
    torch.set_num_threads(1)
    logging.disable_progress_bar()
    suite = load_suite(options.benchmark)
    players = {each: load_player(each, options.max_new_tokens, options.max_prompt_length) for each in options.policy}
    where = f"{options.benchmark} (embedded phone), {options.split}"
    print(f"{where}: {options.episodes} episodes in every row")
    if options.split == "test":
        print("Test figures are for reporting: do not choose settings or agents by them, but with --split validation.")
    table = []
    for row in rows(suite, options.split, options.tasks, options.unseen):
        found = measure(row, players, options)
        table.append({"row": row.name, **row.selection.report(), "families": row.families, **as_json(found)})
        print(f"\n{row.name} ({len(row.families)} families)")
        for name, shares in found.items():
            print(f"  {name:34s}" + "".join(f"{how:>10s} {share!s:>16s}" for how, share in shares.items()), flush=True)
    command = f"python -m benchmarks.generalisation {shlex.join(sys.argv[1:])}"
    print(f"\n95 % Wilson intervals in brackets; sampling seed {options.seed}\nrerun: {command}")
    if options.json:
        report = {"headline": headline(table, options.policy), "device": "embedded phone", "policies": options.policy,
                  "seed": options.seed, "rows": table, "command": command}  # fmt: skip
        options.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.generalisation", description=__doc__.splitlines()[0])
    parser.add_argument(
        "--policy", nargs="+", default=["pocket"],
        help="'pocket', a directory, a hub id, or a saved agent's folder; if several, first the one before training",
    )
    parser.add_argument("--benchmark", choices=tuple(BUILTIN), default="android_world")
    parser.add_argument("--split", choices=("validation", "test"), default="validation")
    parser.add_argument("--episodes", type=int, default=200, help="per row")
    parser.add_argument("--tasks", nargs="+", help="training families to measure; the others are left out")
    parser.add_argument("--unseen", nargs="+", choices=KINDS, default=KINDS, help="what to measure; all by default")
    parser.add_argument("--seed", type=int, default=0, help="seed of sampling, and of the first instance")
    parser.add_argument("--max-new-tokens", type=int, default=48)
    parser.add_argument("--max-prompt-length", type=int, default=3072)
    parser.add_argument("--json", type=Path, help="write the results to this file")
    return parser.parse_args()


def load_player(source: str, max_new_tokens: int, max_prompt_length: int) -> PolicyPlayer:
    """Loads a policy, or the policy of an agent that `save` wrote, to draw at temperature 1."""
    actor = Path(source) / "actor"
    policy = Policy.load(actor if actor.is_dir() else source)
    policy.max_prompt_length = max_prompt_length
    return PolicyPlayer(policy, TransformersGenerator(policy), 1.0, max_new_tokens)


def rows(suite: Suite, split: str, tasks: list[str] | None, kinds: Iterable[str] = KINDS) -> Iterator[Row]:
    """Yields what to measure; kinds that the suite has no families for are left out."""
    training = suite.of("train", tasks=tasks).families
    for unseen in kinds:
        try:
            there = suite.of(split, unseen)
        except UsageError:
            print(f"{'unseen ' + unseen:44s}this suite has none for {split}")
            continue
        families = tuple(there.families)
        if unseen in ("instances", "words"):
            families = tuple(name for name in families if name in training)
            if not families:
                print(f"{'unseen ' + unseen:44s}none of the tasks has any")
                continue
            yield Row(f"training, for unseen {unseen}", Selection("train"), families)
        yield Row(f"unseen {unseen}", there.selection, families)


def measure(
    row: Row, players: dict[str, PolicyPlayer], options: argparse.Namespace
) -> dict[str, dict[str, Share]]:
    """Plays the same instances with every policy, greedy and sampled, and with the controls."""
    where = {
        "benchmark": options.benchmark, "screen_size": SCREEN, "tasks": row.families,
        "split": row.selection.split, "unseen": row.selection.unseen,
    }  # fmt: skip
    found = {}
    for source, player in players.items():
        torch.manual_seed(options.seed)
        found[source] = {how: success(player, where, options, greedy) for how, greedy in HOW.items()}
    random, expert = success(RandomTouches(options.seed), where, options), expert_success(AndroidEnv(**where), options)
    return {**found, "controls": dict(zip(CONTROLS, (random, expert), strict=True))}


def as_json(found: dict[str, dict[str, Share]]) -> dict[str, Any]:
    """Returns shares and their intervals."""
    return {
        name: {how: {**asdict(share), "interval": share.interval} for how, share in shares.items()}
        for name, shares in found.items()
    }


def headline(table: list[dict[str, Any]], policies: list[str]) -> dict[str, float]:
    """Returns the share solved in every row: the mean of the policies after the first, and with `_before` the first's.

    If there is only one, the share is its own. The controls' shares stand beside.
    """
    first, *others = policies
    found = {}
    for row in table:
        for how in HOW:
            key = _key(row["row"], how)
            found[key] = fmean(_rate(row[each][how]) for each in others or [first])
            if others:
                found[f"{key}_before"] = _rate(row[first][how])
        found |= {_key(row["row"], how): _rate(row["controls"][how]) for how in CONTROLS}
    return found


def success(
    model: Predictor, where: dict[str, Any], options: argparse.Namespace, deterministic: bool = False
) -> Share:
    """Evaluates a model."""
    envs = make_vector_env(min(NUM_ENVS, options.episodes), **where)
    results = evaluate(model, envs, options.episodes, deterministic, options.seed).judged
    envs.close()
    return Share(sum(bool(result.success) for result in results), len(results))


def expert_success(env: AndroidEnv, options: argparse.Namespace) -> Share:
    """Lets the experts play."""
    solved = faults = 0
    for seed in range(options.seed, options.seed + options.episodes):
        try:
            shown = play(env, *env.reset(seed=seed))
        except LookupError:  # it does not find what it looks for
            continue
        solved += shown.reward >= 1.0
        faults += "fault" in shown.info
    env.close()
    return Share(solved, options.episodes - faults)


def _key(row: str, player: str) -> str:
    return f"{player}_{row}".replace(", for", "").replace(" ", "_")


def _rate(share: dict[str, Any]) -> float:
    return share["solved"] / max(share["episodes"], 1)


if __name__ == "__main__":
    main()
