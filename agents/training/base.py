"""What every agent can do: act, live in an environment, hand out its parameters; Stable-Baselines3's surface.

The half of `OnlineAgent` that has no learning in it, in a file of its own for length.
"""

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from gymnasium.vector import VectorEnv
from torch import nn
from torch.optim import Optimizer

from coach_gym.agents.distributed import processes
from coach_gym.agents.distributed.parallel import gather_state, is_sharded
from coach_gym.agents.generation import Generator
from coach_gym.agents.models.critic import Critic
from coach_gym.agents.models.policy import Policy
from coach_gym.agents.playing.collector import Collector
from coach_gym.agents.playing.rollout import as_vector_env, observation_of, sub_observation
from coach_gym.agents.training import checkpoint
from coach_gym.episode import Candidate, Episode, Observation, Step

Env = gym.Env | VectorEnv | str


class Agent:
    """A policy that acts, and what a training adds to it.

    Attributes:
        policy: what acts.
        critic: the critic, None for a method without one.
        optimizers: by the names of `get_parameters`.
        generator: draws the policy's responses.
        env: the vector environment that is trained on.
        n_updates: iterations that ended in an update.
    """

    policy: Policy
    critic: Critic | None = None
    optimizers: dict[str, Optimizer]
    generator: Generator
    env: VectorEnv | None
    temperature: float
    max_new_tokens: int
    batch_size: int
    collection: str
    max_staleness: int
    n_updates: int
    _collector: Collector | None

    # ---- acting -----------------------------------------------------------------------------------------------

    def predict(
        self,
        observation: Mapping[str, Any],
        state: Sequence[Episode | None] | None = None,
        episode_start: Any = None,
        deterministic: bool = False,
    ) -> tuple[Any, tuple[Episode, ...]]:
        """The next action, or one for each observation of a batch.

        Args:
            observation: of one environment, or batched by a vector environment.
            state: what the last call returned: the history of each episode. None at the beginning.
            episode_start: where an episode has just begun and its history is to be dropped; a bool for each
                observation, or one for all.
            deterministic: takes the likeliest response instead of drawing one.

        Returns:
            The action text, or a tuple of them for a batch; and the state for the next call.
        """
        single = isinstance(observation["goal"], str)
        observations = [observation] if single else [
            sub_observation(dict(observation), index) for index in range(len(observation["goal"]))
        ]  # fmt: skip
        known = state or [None] * len(observations)
        starts = np.broadcast_to(False if episode_start is None else episode_start, len(observations))
        episodes = [
            Episode(str(seen["goal"])) if past is None or start else past
            for seen, past, start in zip(observations, known, starts, strict=True)
        ]
        seen = [observation_of(dict(each)) for each in observations]
        prompts = [self.policy.prompt(e.goal, e.steps, o) for e, o in zip(episodes, seen, strict=True)]
        drawn = self.generator.sample(prompts, 1, self.temperature, self.max_new_tokens, greedy=deterministic)
        following = tuple(
            Episode(episode.goal, [*episode.steps, self.step(each, candidates)])
            for episode, each, candidates in zip(episodes, seen, drawn, strict=True)
        )
        actions = tuple(episode.steps[-1].action for episode in following)
        return (actions[0] if single else actions), following

    def step(self, observation: Observation, candidates: list[Candidate]) -> Step:
        """The step that carries out the first of some candidates."""
        action = self.policy.parse(candidates[0].text, self.policy.frame(observation))
        return Step(observation, candidates, executed=0, action=action, version=self.n_updates)

    # ---- environment, randomness ------------------------------------------------------------------------------

    def get_env(self) -> VectorEnv | None:
        """The vector environment that is trained on."""
        return self.env

    def set_env(self, env: Env, force_reset: bool = True) -> None:
        """Replaces the environment.

        Args:
            env: as in the constructor; this process' own.
            force_reset: for the signature's sake: every roll-out begins with a reset.

        Raises:
            ValueError: It does not fit the agent; the message has the remedy.
        """
        share = self.batch_size // processes.size()
        envs = as_vector_env(gym.make_vec(env, num_envs=share) if isinstance(env, str) else env)
        self._check_collection(envs)
        self.env = envs
        self._collector = None
        if self.env.num_envs > share:
            warnings.warn(
                f"of a roll-out of batch_size={self.batch_size} episodes this process plays {share} and keeps only as "
                f"many of num_envs={self.env.num_envs} environments busy; "
                f"pass batch_size={self.env.num_envs * processes.size()} or a multiple of it",
                stacklevel=2,
            )

    def _check_collection(self, envs: VectorEnv) -> None:
        """Whether devices can be served one by one, if that is asked for."""
        if self.collection == "rounds" or hasattr(envs, "send_reset"):
            return
        name, inner = type(envs).__name__, type(envs.unwrapped).__name__
        if self.max_staleness:
            raise ValueError(
                f"max_staleness={self.max_staleness} lets devices play ahead one by one, which {name} cannot; pass an "
                f"environment of vectorization_mode='vector_entry_point', unwrapped, or max_staleness=0"
            )
        if hasattr(envs.unwrapped, "send_reset"):
            warnings.warn(
                f"{name} hides how {inner} serves devices one by one, so they wait for one another; pass the "
                f"environment unwrapped, or collection='rounds' if that is meant",
                stacklevel=4,
            )

    def set_random_seed(self, seed: int | None = None) -> None:
        """Seeds sampling, mini-batches and the draw of task instances; None for a random one."""
        self.seed = seed
        self.rng = np.random.default_rng(seed)
        self.task_entropy = int(self.rng.integers(1 << 63))
        if seed is not None:
            torch.manual_seed(seed)

    # ---- parameters, saving -----------------------------------------------------------------------------------

    @property
    def models(self) -> dict[str, nn.Module]:
        """What is trained: the policy's model, and the critic if there is one."""
        critic: dict[str, nn.Module] = {} if self.critic is None else {"critic": self.critic}
        return {"policy": self.policy.model, **critic}

    @property
    def _parts(self) -> dict[str, nn.Module | Optimizer]:
        return {**self.models, **self.optimizers}

    def get_parameters(self) -> dict[str, dict[str, Any]]:
        """State dicts of the policy, the critic if there is one, and their optimizers.

        Of several processes the first gets them, on its CPU.
        """
        return {name: gather_state(part.state_dict()) for name, part in self._parts.items()}

    def set_parameters(
        self,
        load_path_or_dict: str | Path | dict[str, dict[str, Any]],
        exact_match: bool = True,
        device: str | torch.device = "auto",
    ) -> None:
        """Loads what `get_parameters` returned, or the parameters of a saved agent.

        Args:
            load_path_or_dict: those of `get_parameters`, or a directory that `save` wrote.
            exact_match: requires every part, and every weight of it.
            device: for the signature's sake: weights stay where they are.

        Raises:
            ValueError: Parts are missing or unknown, or `learn` has spread the agent over processes.
        """
        if is_sharded(self.policy.model):
            raise ValueError("the agent's weights are spread over processes; set them before learn() does that")
        given = load_path_or_dict if isinstance(load_path_or_dict, dict) else (
            checkpoint.read_parameters(Path(load_path_or_dict))
        )  # fmt: skip
        parts = self._parts
        unknown, missing = sorted(given.keys() - parts.keys()), sorted(parts.keys() - given.keys())
        if unknown or (exact_match and missing):
            raise ValueError(
                f"parameters of {unknown} are unknown and those of {missing} are missing; this "
                f"{type(self).__name__} has {sorted(parts)} (exact_match=False loads a subset)"
            )
        for name, state in given.items():
            part = parts[name]
            if isinstance(part, nn.Module):
                part.load_state_dict(state, strict=exact_match)
            else:
                part.load_state_dict(state)
