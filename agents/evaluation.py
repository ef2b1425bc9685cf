"""Measuring an agent: its success on episodes whose seeds training never draws."""

import warnings
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol, overload, runtime_checkable

import gymnasium as gym
import numpy as np
from gymnasium.vector import VectorEnv

from coach_gym.agents.models.policy import Policy
from coach_gym.agents.playing.claims import claimed
from coach_gym.agents.playing.rollout import Attempt, Rollout, as_vector_env
from coach_gym.checks import require_switch, require_whole
from coach_gym.episode import Candidate, Episode, Step
from coach_gym.recording.keeper import EpisodeKeeper
from coach_gym.recording.notebook import success_html
from coach_gym.recording.origin import Origin, environment_of

StepCallback = Callable[[dict[str, Any], dict[str, Any]], None]


class Predictor(Protocol):
    """Anything that acts. States are None or a sequence with one entry per observation of the batch."""

    def predict(
        self, observation: Any, state: Any = None, episode_start: Any = None, deterministic: bool = False
    ) -> tuple[Any, Any]:
        """Returns actions for a batch of observations, and the states to pass next time."""
        ...


@runtime_checkable
class HasPolicy(Protocol):
    """Acts by the responses of a policy, as all agents of this package do."""

    policy: Policy


@dataclass(frozen=True)
class Result:
    """One evaluated episode.

    Attributes:
        task: Name of the task family.
        params: Parameters of the task instance.
        seed: Seed of the episode.
        reward: Sum of rewards.
        length: Number of steps.
        success: Whether the task was solved; None without a verdict.
        fault: What broke; None if nothing did.
    """

    task: str
    params: dict[str, Any]
    seed: int
    reward: float
    length: int
    success: bool | None
    fault: str | None


@dataclass(frozen=True)
class Evaluation:
    """Results of an evaluation. Episodes without a verdict say nothing about the agent and count nowhere.

    Attributes:
        results: One result per episode, in the order of their seeds.
    """

    results: list[Result]

    @property
    def judged(self) -> list[Result]:
        """The episodes with a verdict, in which neither the device nor the judge failed."""
        return [result for result in self.results if result.success is not None]

    @property
    def success_rate(self) -> float:
        """Share of judged episodes that were solved; nan if there are none."""
        return _mean([result.success for result in self.judged])

    @property
    def mean_reward(self) -> float:
        """Mean reward of the judged episodes; nan if there are none."""
        return _mean([result.reward for result in self.judged])

    @property
    def mean_length(self) -> float:
        """Mean number of steps of the judged episodes; nan if there are none."""
        return _mean([result.length for result in self.judged])

    @property
    def success_per_task(self) -> dict[str, tuple[int, int]]:
        """Numbers of solved and of judged episodes by task family."""
        counts: dict[str, list[bool]] = defaultdict(list)
        for result in self.judged:
            counts[result.task].append(bool(result.success))
        return {task: (sum(solved), len(solved)) for task, solved in sorted(counts.items())}

    def __str__(self) -> str:
        """Solved and judged episodes, in all and by task family."""
        solved = sum(bool(result.success) for result in self.judged)
        families = [(task, *each) for task, each in self.success_per_task.items() if task]  # environments may name none
        rows = [("success", solved, len(self.judged)), *families]
        width = max(len(name) for name, *_ in rows)
        table = "\n".join(f"{name:{width}} {good:4d} of {of:4d}" for name, good, of in rows)
        unjudged = len(self.results) - len(self.judged)
        return table + (f"\nand {unjudged} episodes without a verdict" if unjudged else "")

    def _repr_html_(self) -> str:
        return success_html(self.success_per_task, self.success_rate, len(self.results) - len(self.judged))


def evaluate(
    model: Predictor,
    env: gym.Env | VectorEnv,
    n_eval_episodes: int = 10,
    deterministic: bool = True,
    seed: int = 0,
    render: bool = False,
    callback: StepCallback | None = None,
    keep: str | Path | None = None,
    timesteps: int | None = None,
) -> Evaluation:
    """Plays `n_eval_episodes` episodes, one per seed from `seed` on.

    Sub-environments take the next episode as they become free. Every episode is played to its end and counts once, so
    short episodes are not favoured. Agents train on seeds from `batching.FIRST_TRAINING_SEED` (65,536) on. Smaller
    seeds may still draw an instance that was trained on, unless `env` has another split.

    Args:
        model: An agent, or anything else with `predict`.
        env: A single environment or a vector environment.
        n_eval_episodes: Number of episodes.
        deterministic: Whether the agent takes its most likely response instead of drawing one.
        seed: Seed of the first episode.
        render: Calls `env.render()` after every step.
        callback: Called with `locals()` and `globals()` for every active episode after each step; `attempt`, `info`,
            `reward` and `done` are that episode's.
        keep: Folder to write the episodes to, for `coach-gym view`; None for nowhere.
        timesteps: Environment steps of training so far, noted with these episodes.

    Returns:
        The results of all episodes.

    Raises:
        RuntimeError: Another thread trains or evaluates on the same environments.
    """
    require_whole(1, n_eval_episodes=n_eval_episodes)
    require_whole(0, seed=seed)
    require_switch(deterministic=deterministic, render=render)
    envs = as_vector_env(env)
    origin = origin_of(model, env, timesteps)
    results: dict[int, Result] = {}
    with claimed(envs, within=True), EpisodeKeeper(keep) as keeper:
        rollout = Rollout(envs, range(seed, seed + n_eval_episodes))
        while active := rollout.waiting:
            actions = predict_actions(model, active, deterministic)
            if keeper.keeps:
                for attempt, action in zip(active, actions, strict=True):
                    attempt.episode.steps.append(step_of(attempt, action))
            transition = rollout.step(actions)
            for attempt in transition.finished:
                keeper.keep(attempt.episode, origin)
                results[attempt.number] = _result(attempt, seed, transition.infos[attempt.index])
            if render:
                envs.render()
            if callback is not None:
                for attempt in active:
                    info, reward = transition.infos[attempt.index], transition.rewards[attempt.index]
                    done = bool(transition.dones[attempt.index])
                    callback(locals(), globals())
    return Evaluation([results[number] for number in sorted(results)])


def families_lost(
    before: Evaluation, after: Evaluation, fall: float = 0.1, n_least: int = 50
) -> dict[str, tuple[float, float]]:
    """Returns the task families that have become worse, with their success rates before and after.

    A mean over all families hides those that were unlearned while others improved.

    Args:
        before: Evaluation before the training.
        after: Evaluation of the same episodes after it.
        fall: A family is lost if its success rate falls by more than this.
        n_least: Judged episodes per family below which a fall is mostly chance.

    Raises:
        ValueError: A family has fewer than `n_least` judged episodes in one of the evaluations.
    """
    solved = [evaluation.success_per_task for evaluation in (before, after)]
    families = sorted(solved[0].keys() | solved[1].keys())
    few = {name: [counts.get(name, (0, 0))[1] for counts in solved] for name in families}
    few = {name: counts for name, counts in few.items() if min(counts) < n_least}
    if few:
        raise ValueError(
            f"these families have fewer than n_least={n_least} judged episodes before or after: {few}; evaluate more "
            f"episodes, with the same seeds in both"
        )
    rates = {name: tuple(counts[name][0] / counts[name][1] for counts in solved) for name in families}
    return {name: (first, last) for name, (first, last) in rates.items() if first - last > fall + 1e-9}


@overload
def evaluate_policy(
    model: Predictor,
    env: gym.Env | VectorEnv,
    n_eval_episodes: int = ...,
    deterministic: bool = ...,
    render: bool = ...,
    callback: StepCallback | None = ...,
    reward_threshold: float | None = ...,
    return_episode_rewards: Literal[False] = ...,
    warn: bool = ...,
) -> tuple[float, float]: ...


@overload
def evaluate_policy(
    model: Predictor,
    env: gym.Env | VectorEnv,
    n_eval_episodes: int = ...,
    deterministic: bool = ...,
    render: bool = ...,
    callback: StepCallback | None = ...,
    reward_threshold: float | None = ...,
    *,
    return_episode_rewards: Literal[True],
    warn: bool = ...,
) -> tuple[list[float], list[int]]: ...


def evaluate_policy(
    model: Predictor,
    env: gym.Env | VectorEnv,
    n_eval_episodes: int = 10,
    deterministic: bool = True,
    render: bool = False,
    callback: StepCallback | None = None,
    reward_threshold: float | None = None,
    return_episode_rewards: bool = False,
    warn: bool = True,
) -> tuple[float, float] | tuple[list[float], list[int]]:
    """Evaluates an agent with Stable-Baselines3's signature.

    `evaluate` gives the same numbers with successes, tasks and faults.

    Args:
        model: An agent, or anything else with `predict`.
        env: A single environment or a vector environment.
        n_eval_episodes: Number of episodes.
        deterministic: Whether the agent takes its most likely response instead of drawing one.
        render: Calls `env.render()` after every step.
        callback: As in `evaluate`.
        reward_threshold: Bound that the mean reward must exceed.
        return_episode_rewards: Returns rewards and lengths of all judged episodes instead.
        warn: Warns about episodes without a verdict, which are left out.

    Returns:
        Mean and standard deviation of the episode reward, or the rewards and lengths of the judged episodes.

    Raises:
        ValueError: The mean reward does not exceed `reward_threshold`, or no episode has a verdict.
    """
    evaluation = evaluate(model, env, n_eval_episodes, deterministic, render=render, callback=callback)
    judged = evaluation.judged
    reasons = [result.fault or "the judge gave no verdict" for result in evaluation.results if result.success is None]
    if not judged:
        raise ValueError(f"all {n_eval_episodes} episodes ended without a verdict; the first one: {reasons[:1]}")
    if reasons and warn:
        warnings.warn(
            f"{len(reasons)} of {n_eval_episodes} episodes ended without a verdict and were left out; the first one: "
            f"{reasons[0]}",
            stacklevel=2,
        )
    rewards = [result.reward for result in judged]
    if reward_threshold is not None and evaluation.mean_reward <= reward_threshold:
        raise ValueError(f"the mean reward {evaluation.mean_reward:.2f} is not above {reward_threshold:.2f}")
    if return_episode_rewards:
        return rewards, [result.length for result in judged]
    return evaluation.mean_reward, float(np.std(rewards))


def predict_actions(model: Predictor, active: list[Attempt], deterministic: bool) -> list[str]:
    """Predicts for all active episodes in one batch; each keeps its own part of the model's state."""
    observation = {
        "goal": tuple(attempt.episode.goal for attempt in active),
        "screenshot": np.stack([attempt.observation.screenshot for attempt in active]),
        "ui": tuple(attempt.observation.ui for attempt in active),
        "last_action_error": tuple(attempt.observation.last_action_error for attempt in active),
    }
    starts = np.array([attempt.length == 0 for attempt in active])
    states = None if starts.all() else [attempt.memory for attempt in active]
    actions, states = model.predict(observation, states, episode_start=starts, deterministic=deterministic)
    for attempt, memory in zip(active, [None] * len(active) if states is None else states, strict=True):
        attempt.memory = memory
    return list(actions)


def step_of(attempt: Attempt, action: str) -> Step:
    """Returns the step that takes an action: that of the agent's own history if it has one, with its tokens."""
    if isinstance(attempt.memory, Episode):
        return attempt.memory.steps[-1]
    return Step(attempt.observation, [Candidate(action, [], [])], 0, action)


def origin_of(model: object, env: gym.Env | VectorEnv, timesteps: int | None = None) -> Origin:
    """Returns where the episodes of an evaluation come from."""
    name, environment = type(model).__name__, environment_of(env)
    if not isinstance(model, HasPolicy):
        return Origin("evaluation", timesteps, name, environment)
    policy = model.policy
    return Origin(
        "evaluation", timesteps, name, environment, dialect=policy.dialect, token_side=policy.chat.token_side
    )


def _result(attempt: Attempt, first_seed: int, info: dict[str, Any]) -> Result:
    episode = attempt.episode
    return Result(
        task=episode.task,
        params=episode.params,
        seed=first_seed + attempt.number,
        reward=attempt.reward,
        length=attempt.length,
        success=bool(info.get("is_success", episode.success)) if episode.learnable else None,
        fault=episode.fault,
    )


def _mean(values: list[Any]) -> float:
    return float(np.mean(values)) if values else float("nan")
