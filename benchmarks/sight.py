"""AndroidSight's control: who acts looks at the true picture, at a fixed one, and at another instance's.

The scripted experts read what they must see from the screenshot. With the true picture they solve every instance. With
a fixed picture, or with those of another instance of the same task, they solve what can be solved by chance, and less
where an expert gives up because it does not find what it looks for. A policy that looks falls to chance in the same
way; one that does not is as good as before. Policies play test instances, and whole families that training leaves out.

    python -m benchmarks.sight --seeds 50 --json benchmarks/results/sight.json --grid docs/images/sight.png
    python -m benchmarks.sight --policy pocket --seeds 100 --json benchmarks/results/sight_pocket.json
    python -m benchmarks.sight --policy pocket --seeds 20 --demo    # the demo's families, which can be solved blind
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shlex
import sys
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from statistics import mean

os.environ.setdefault("OMP_NUM_THREADS", "1")

import gymnasium as gym  # noqa: E402  (after the number of threads is set)
import numpy as np  # noqa: E402
from PIL import Image, ImageDraw  # noqa: E402

from benchmarks import demo  # noqa: E402
from benchmarks.figures.style import DARK, LIGHT, Theme  # noqa: E402
from coach_gym.agents import GRPOAgent  # noqa: E402
from coach_gym.agents.evaluation import evaluate  # noqa: E402
from coach_gym.agents.models.policy import Policy  # noqa: E402
from coach_gym.envs.android import AndroidEnv  # noqa: E402
from coach_gym.envs.blinding import FixedPicture, ShuffledPicture  # noqa: E402
from coach_gym.envs.phone.toolkit.fonts import font  # noqa: E402
from coach_gym.envs.suites.load import load_suite  # noqa: E402
from coach_gym.envs.suites.play import play  # noqa: E402
from coach_gym.envs.tasks.sight import SightTask  # noqa: E402
from coach_gym.envs.tasks.words import Split  # noqa: E402
from coach_gym.envs.vector import AndroidVectorEnv  # noqa: E402

Row = dict[str, float]
SCREEN = (270, 600)
ENVS = 10  # that play side by side
SIGHT = "android_sight"
SUITE = load_suite(SIGHT)
FAMILIES: dict[str, type[SightTask]] = SUITE.families  # type: ignore[assignment]
LEFT_OUT = FAMILIES.keys() - SUITE.of("train").families.keys()  # of training
COLUMNS, SHOWN, GAP, LABEL = 7, (168, 373), 12, 22  # of the grid; all but the first in pixels


def environment(
    families: Iterable[str] | None = None, split: Split | None = None, benchmark: str = SIGHT
) -> AndroidEnv:
    """Makes an environment of some families, or of all."""
    return AndroidEnv(benchmark, screen_size=SCREEN, tasks=families, split=split)


PICTURES: dict[str, Callable[..., gym.Env]] = {
    "true": environment,
    "shuffled": lambda *which: ShuffledPicture(environment(*which), environment(*which)),
    "fixed": lambda *which: FixedPicture(environment(*which)),
}


def success(env: gym.Env, family: str, seeds: int) -> float:
    """Returns the share of instances the expert solves; it fails if it does not find what it looks for."""
    rewards = []
    for seed in range(seeds):
        observation, info = env.reset(seed=seed, options={"task": family})
        try:
            rewards.append(play(env, observation, info).reward)
        except (LookupError, RuntimeError, ValueError):
            rewards.append(0.0)
    return mean(rewards)


def policy_success(
    agent: GRPOAgent, pictures: str, family: str, seeds: int, benchmark: str = SIGHT
) -> tuple[float, tuple[float, float]]:
    """Returns the share of instances a policy solves, acting greedily, and Wilson's 95 % interval.

    No instance was trained on: they are test's, or of a family that training leaves out.
    """
    split = None if family in LEFT_OUT else "test"
    envs = AndroidVectorEnv([partial(PICTURES[pictures], (family,), split, benchmark)] * ENVS)
    solved, judged = evaluate(agent, envs, seeds).success_per_task[family]
    envs.close()
    return solved / judged, wilson(solved, judged)


def wilson(solved: int, judged: int, z: float = 1.96) -> tuple[float, float]:
    """Returns Wilson's interval of a share."""
    share, more = solved / judged, z * z / judged
    middle, half = share + more / 2, z * math.sqrt(share * (1 - share) / judged + more / judged / 4)
    return (middle - half) / (1 + more), (middle + half) / (1 + more)


def decisive_picture(family: str, seed: int) -> np.ndarray:
    """Returns the expert's screenshot that differs most from that of the instance with another answer."""
    env = environment()
    observation, info = env.reset(seed=seed, options={"task": family})
    shown = play(env, observation, info)
    observation, info = env.reset(options={"task": family, "params": FAMILIES[family](info["params"]).swapped()})
    swapped = play(env, observation, info)
    best, most = shown.steps[0][0]["screenshot"], 0
    for (seen, action), (other, action_there) in zip(shown.steps, swapped.steps, strict=False):
        differing = int((seen["screenshot"] != other["screenshot"]).any(axis=-1).sum())
        if differing > most:
            best, most = seen["screenshot"], differing
        if action != action_there:
            break
    return best


def grid(theme: Theme = LIGHT) -> Image.Image:
    """Draws one picture of every family."""
    rows = -(-len(FAMILIES) // COLUMNS)
    width, height = SHOWN[0] + GAP, SHOWN[1] + LABEL + GAP
    image = Image.new("RGB", (COLUMNS * width + GAP, rows * height + GAP), theme.paper)
    pen = ImageDraw.Draw(image)
    for number, family in enumerate(FAMILIES):
        left, top = GAP + number % COLUMNS * width, GAP + number // COLUMNS * height
        picture = Image.fromarray(decisive_picture(family, number)).resize(SHOWN, Image.Resampling.LANCZOS)
        image.paste(picture, (left, top + LABEL))
        pen.rectangle((left - 1, top + LABEL - 1, left + SHOWN[0], top + LABEL + SHOWN[1]), outline="#9aa0a6")
        pen.text((left, top + 2), family, theme.ink, font(13))
    return image


def expert_row(family: str, seeds: int) -> Row:
    """Returns the experts' success with each kind of picture."""
    return {name: success(make(), family, seeds) for name, make in PICTURES.items()}


def policy_row(agent: GRPOAgent, family: str, seeds: int, benchmark: str = SIGHT) -> Row:
    """Returns a policy's success with each kind of picture, and the ends of Wilson's intervals."""
    row = {}
    for name in PICTURES:
        row[name], (row[f"{name}_low"], row[f"{name}_high"]) = policy_success(agent, name, family, seeds, benchmark)
    return row


def sees(chance: float, row: Row) -> bool:
    """Whether a policy is better with the true picture than by chance and than with another instance's, at 95 %.

    Of two shares the difference counts, with Newcombe's interval.
    """
    uncertain = math.hypot(row["true"] - row["true_low"], row["shuffled_high"] - row["shuffled"])
    return row["true_low"] > chance and row["true"] - row["shuffled"] > uncertain


def main() -> None:
    """Runs the benchmark."""
    arguments = _arguments()
    command = f"python -m benchmarks.sight {shlex.join(sys.argv[1:])}"
    who, measure = "Experts", expert_row
    if arguments.policy:
        policy = Policy.load(arguments.policy)
        agent = GRPOAgent(policy, AndroidVectorEnv([environment] * ENVS), max_new_tokens=48, max_prompt_length=4096)
        who = f"The policy {arguments.policy}, greedy, with 95 % intervals,"
        measure = partial(policy_row, agent, benchmark="android_world" if arguments.demo else SIGHT)
    print(f"{who} on the embedded phone, {arguments.seeds} instances a family\n")
    print(f"{'family':26s}{'chance':>8s}" + "".join(f"{name:>18s}" for name in PICTURES))
    table = {}
    for family in demo.TASKS if arguments.demo else arguments.families:
        row = measure(family, arguments.seeds)
        row["chance"] = 0.0 if arguments.demo else FAMILIES[family].chance
        table[family] = row
        cells = "".join(f"{_cell(row, name):>18s}" for name in PICTURES)
        print(f"{family:26s}{row['chance']:8.2f}{cells}", flush=True)
    headline: dict[str, float] = {name: mean(row[name] for row in table.values()) for name in ("chance", *PICTURES)}
    print(f"{'mean':26s}{headline['chance']:8.2f}" + "".join(f"{headline[name]:18.2f}" for name in PICTURES))
    if arguments.policy:
        headline["families_seen"] = sum(sees(row["chance"], row) for row in table.values())
        print(f"\n{headline['families_seen']} of {len(table)} families are solved by looking, at 95 %")
    if arguments.json:
        report = {"headline": headline, "families": table, "seeds": arguments.seeds, "command": command}
        arguments.json.write_text(json.dumps(report, indent=1) + "\n", "utf-8")
    if arguments.grid:
        grid(LIGHT).save(arguments.grid, optimize=True)
        grid(DARK).save(arguments.grid.with_stem(f"{arguments.grid.stem}_dark"), optimize=True)
    print(f"\nrerun: {command}")


def _cell(row: Row, name: str) -> str:
    interval = f" ({row[f'{name}_low']:.2f}-{row[f'{name}_high']:.2f})" if f"{name}_low" in row else ""
    return f"{row[name]:.2f}{interval}"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sight", description=__doc__.splitlines()[0])
    parser.add_argument("--policy", help="'pocket' or a directory; without it, the scripted experts act")
    parser.add_argument("--families", nargs="+", default=list(FAMILIES), choices=list(FAMILIES), metavar="FAMILY")
    parser.add_argument("--demo", action="store_true", help="the demo's families instead; needs a policy")
    parser.add_argument("--seeds", type=int, default=20, help="instances per family")
    parser.add_argument("--json", type=Path, help="write the results to this file")
    parser.add_argument("--grid", type=Path, help="write one picture of every family to this file, in dark beside it")
    options = parser.parse_args()
    if options.demo and not options.policy:
        parser.error("--demo needs --policy: the experts of these families do not look at pictures")
    return options


if __name__ == "__main__":
    main()
