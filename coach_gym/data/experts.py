"""Episodes that the scripted experts of the embedded phone solve."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gymnasium as gym
from tqdm import tqdm

from coach_gym.agents.playing.rollout import observation_of
from coach_gym.data.folder import EpisodeFolder
from coach_gym.envs.suites.in_order import InOrder
from coach_gym.envs.suites.play import Demonstration, play
from coach_gym.episode import Candidate, Episode, Step


def record(
    out: str | Path,
    env: str,
    episodes: int,
    seed: int = 0,
    env_settings: Mapping[str, Any] | None = None,
    progress_bar: bool = False,
) -> EpisodeFolder:
    """Lets experts play all tasks in turn, and writes what they solve; an interrupted call can be repeated.

    Args:
        out: Folder to write.
        env: Id of the environment.
        episodes: Episodes to play in all, those of earlier calls included.
        seed: Seed of the instances.
        env_settings: Arguments of the environment.
        progress_bar: Shows a progress bar.

    Raises:
        ValueError: `out` holds other episodes.
    """
    settings = dict(env_settings or {})
    folder = EpisodeFolder(out, {"source": "experts", "env": env, "seed": seed, **settings})
    phone = InOrder(gym.make(env, disable_env_checker=True, **settings), seed)
    for number in tqdm(range(episodes), desc="experts", unit="episode", disable=not progress_bar):
        name = f"{number:06d}"
        if name in folder or name in folder.done:
            continue
        observation, info = phone.reset(seed=number)
        try:
            shown = play(phone, observation, info)
        except LookupError:
            folder.finish(name, Counter({f"{info['task']}: no expert, or one that gave up": 1}))
            continue
        if shown.info.get("fault") is not None:
            continue  # played again by the next call
        if shown.reward < 1.0:
            folder.finish(name, Counter({f"{info['task']}: not solved": 1}))
            continue
        folder.write(name, _episode(info, observation["goal"], shown))
    phone.close()
    return folder


def _episode(info: Mapping[str, Any], goal: str, shown: Demonstration) -> Episode:
    steps = [Step(observation_of(seen), [Candidate(text, [], [])], 0, text) for seen, text in shown.steps]
    params = dict(info["params"])
    return Episode(goal, steps, shown.reward, task=info["task"], params=params, answer=shown.info.get("answer"))
