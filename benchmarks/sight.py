"""AndroidSight's control: experts that look at the true picture, at a fixed one, and at another instance's.

The scripted experts read what they must see from the screenshot. With the true picture they solve every instance. With
a fixed picture, or with those of another instance of the same task, they solve what can be solved by chance, and less
where an expert gives up because it does not find what it looks for.

    python -m benchmarks.sight --seeds 50 --json benchmarks/results/sight.json --grid docs/images/sight.png
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import mean

os.environ.setdefault("OMP_NUM_THREADS", "1")

import gymnasium as gym  # noqa: E402  (after the number of threads is set)
import numpy as np  # noqa: E402
from PIL import Image, ImageDraw  # noqa: E402

from coach_gym.envs.android import AndroidEnv  # noqa: E402
from coach_gym.envs.blinding import FixedPicture, ShuffledPicture  # noqa: E402
from coach_gym.envs.phone.toolkit.fonts import font  # noqa: E402
from coach_gym.envs.suites.load import load_suite  # noqa: E402
from coach_gym.envs.suites.play import play  # noqa: E402
from coach_gym.envs.tasks.sight import SightTask  # noqa: E402

SCREEN = (270, 600)
FAMILIES: dict[str, type[SightTask]] = load_suite("android_sight").families  # type: ignore[assignment]
COLUMNS, SHOWN, GAP, LABEL = 7, (168, 373), 12, 22  # of the grid; all but the first in pixels


def environment() -> AndroidEnv:
    """Makes an environment of all families."""
    return AndroidEnv("android_sight", screen_size=SCREEN)


PICTURES: dict[str, Callable[[], gym.Env]] = {
    "true": environment,
    "shuffled": lambda: ShuffledPicture(environment(), environment()),
    "fixed": lambda: FixedPicture(environment()),
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


def grid() -> Image.Image:
    """Draws one picture of every family."""
    rows = -(-len(FAMILIES) // COLUMNS)
    width, height = SHOWN[0] + GAP, SHOWN[1] + LABEL + GAP
    image = Image.new("RGB", (COLUMNS * width + GAP, rows * height + GAP), "white")
    pen = ImageDraw.Draw(image)
    for number, family in enumerate(FAMILIES):
        left, top = GAP + number % COLUMNS * width, GAP + number // COLUMNS * height
        picture = Image.fromarray(decisive_picture(family, number)).resize(SHOWN, Image.Resampling.LANCZOS)
        image.paste(picture, (left, top + LABEL))
        pen.rectangle((left - 1, top + LABEL - 1, left + SHOWN[0], top + LABEL + SHOWN[1]), outline="#b0b0b0")
        pen.text((left, top + 2), family, "black", font(13))
    return image


def main() -> None:
    """Runs the benchmark."""
    arguments = _arguments()
    command = f"python -m benchmarks.sight {shlex.join(sys.argv[1:])}"
    print(f"Experts on the embedded phone, {arguments.seeds} instances a family\n")
    print(f"{'family':26s}{'chance':>8s}" + "".join(f"{name:>10s}" for name in PICTURES))
    table = {}
    envs = {name: make() for name, make in PICTURES.items()}
    for family, task in FAMILIES.items():
        row = {name: success(env, family, arguments.seeds) for name, env in envs.items()}
        table[family] = {"chance": task.chance, **row}
        print(f"{family:26s}{task.chance:8.2f}" + "".join(f"{row[name]:10.2f}" for name in PICTURES), flush=True)
    headline = {name: mean(row[name] for row in table.values()) for name in ("chance", *PICTURES)}
    print(f"{'mean':26s}{headline['chance']:8.2f}" + "".join(f"{headline[name]:10.2f}" for name in PICTURES))
    if arguments.json:
        report = {"headline": headline, "families": table, "seeds": arguments.seeds, "command": command}
        arguments.json.write_text(json.dumps(report, indent=1) + "\n", "utf-8")
    if arguments.grid:
        grid().save(arguments.grid, optimize=True)
    print(f"\nrerun: {command}")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sight", description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=20, help="instances per family")
    parser.add_argument("--json", type=Path, help="write the results to this file")
    parser.add_argument("--grid", type=Path, help="write one picture of every family to this file")
    return parser.parse_args()


if __name__ == "__main__":
    main()
