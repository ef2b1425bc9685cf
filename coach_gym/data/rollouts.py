"""Episodes that a policy plays, solved or not."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium as gym
import torch
from tqdm import tqdm

from coach_gym.agents.generation.generator import Generator
from coach_gym.agents.models.policy import Policy
from coach_gym.agents.playing.collector import Collector
from coach_gym.agents.playing.player import PolicyPlayer
from coach_gym.data.folder import EpisodeFolder
from coach_gym.envs.make import open_fleets
from coach_gym.envs.suites.in_order import InOrder
from coach_gym.envs.vector import AndroidVectorEnv


def record(
    out: str | Path,
    policy: Policy,
    generator: Generator,
    env: str,
    episodes: int,
    num_envs: int = 8,
    seed: int = 0,
    temperature: float = 1.0,
    max_new_tokens: int = 512,
    env_settings: Mapping[str, Any] | None = None,
    policy_name: str = "",
    progress_bar: bool = False,
) -> EpisodeFolder:
    """Lets a policy play all tasks in turn; an interrupted call can be repeated.

    Solved and unsolved episodes are written. Those that a fault has left without a verdict are played again by the next
    call.

    Args:
        out: Folder to write.
        policy: Plays.
        generator: Draws its responses.
        env: Id of the environment.
        episodes: Episodes to play in all, those of earlier calls included.
        num_envs: Devices.
        seed: Seed of the instances and draws.
        temperature: Sampling temperature.
        max_new_tokens: Length at which a response is cut off.
        env_settings: Arguments of the environment; `device` may be a TOML file that describes a fleet.
        policy_name: Name of the policy, so that episodes of two policies are not mixed.
        progress_bar: Shows a progress bar.

    Raises:
        ValueError: `out` holds other episodes, or several environments would share one real device.
    """
    settings = dict(env_settings or {})
    told = {"source": "rollouts", "policy": policy_name, "env": env, "seed": seed, "temperature": temperature}
    folder = EpisodeFolder(out, {**told, **settings})
    close_fleets = open_fleets([settings], "thread", num_envs)
    make = partial(gym.make, env, disable_env_checker=True, **settings)
    envs = AndroidVectorEnv([lambda: InOrder(make(), seed)] * num_envs, on_close=close_fleets)
    player = PolicyPlayer(policy, generator, temperature, max_new_tokens)
    missing = [number for number in range(episodes) if f"{number:06d}" not in folder]
    with tqdm(total=episodes, initial=episodes - len(missing), unit="episode", disable=not progress_bar) as bar:
        for first in range(0, len(missing), 2 * num_envs):
            numbers = missing[first : first + 2 * num_envs]
            torch.manual_seed(seed + numbers[0])
            _play(folder, player, envs, numbers)
            bar.update(len(numbers))
    envs.close()
    return folder


def _play(folder: EpisodeFolder, player: PolicyPlayer, envs: AndroidVectorEnv, numbers: list[int]) -> None:
    """Plays the episodes with some numbers, which `InOrder` takes as the seeds of resets."""
    collector = Collector(
        envs, player, numbers, 0, len(numbers), in_rounds=True, max_staleness=0, timed=lambda part: nullcontext()
    )
    for attempt in collector.collect(lambda transition: True) or []:
        if attempt.episode.learnable:
            folder.write(f"{numbers[attempt.number]:06d}", attempt.episode)
