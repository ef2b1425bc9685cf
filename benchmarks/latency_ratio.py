"""Makes devices as slow as the paper's, in proportion to this machine's inference."""

from __future__ import annotations

import time
from functools import partial

from benchmarks.demo import SCREEN, SETTINGS, SUITE, TASKS
from coach_gym.agents.generation.transformers import TransformersGenerator
from coach_gym.agents.models.policy import Policy
from coach_gym.agents.playing.rollout import Attempt, Rollout
from coach_gym.envs.android import AndroidEnv
from coach_gym.envs.latency import Latency
from coach_gym.envs.virtual_time import VirtualClock, VirtualTimeEnv
from coach_gym.episode import Step

DEVICE_TO_INFERENCE = 1.7
"""Device time of a roll-out over the time of loading and inference; from Figure 1 of the paper's introduction."""

make_env = partial(AndroidEnv, "android_world", suite=SUITE, tasks=TASKS, screen_size=SCREEN)
"""Makes an environment of the demo's tasks."""


def slow_envs(devices: int, latency: Latency, seed: int = 0) -> VirtualTimeEnv:
    """Makes environments of the demo's tasks on slow devices, with their own virtual clock."""
    return VirtualTimeEnv([make_env] * devices, latency, VirtualClock(), seed)


def calibrated(devices: int, ratio: float = DEVICE_TO_INFERENCE, rollouts: int = 6, seed: int = 0) -> Latency:
    """Returns the default latency, scaled to a ratio of device time to inference time in roll-outs like the paper's.

    In these, one device per episode is reset, and all act in lockstep with one response per state.

    Args:
        devices: Number of devices that play side by side.
        ratio: Device time over inference time.
        rollouts: Number of roll-outs to measure.
        seed: Seed of the latencies.
    """
    envs = slow_envs(devices, Latency(), seed)
    policy = Policy.load("pocket")
    policy.max_prompt_length = SETTINGS["max_prompt_length"]
    generator = TransformersGenerator(policy)
    begun, inference = envs.clock.now, 0.0
    for first in range(50_000, 50_000 + rollouts * devices, devices):
        rollout = Rollout(envs, range(first, first + devices))
        while waiting := rollout.waiting:
            started = time.thread_time()
            actions = respond(policy, generator, waiting)
            inference += time.thread_time() - started
            rollout.step(actions)
    envs.close()
    return Latency().scaled(ratio * inference / (envs.clock.now - begun - inference))


def respond(policy: Policy, generator: TransformersGenerator, waiting: list[Attempt]) -> list[str]:
    """Samples a response for each state, appends the steps that execute them, and returns their actions."""
    prompts = [policy.prompt(a.episode.goal, a.episode.steps, a.observation) for a in waiting]
    drawn = generator.sample(prompts, max_new_tokens=SETTINGS["max_new_tokens"])
    for attempt, candidates in zip(waiting, drawn, strict=True):
        action = policy.parse(candidates[0].text, policy.frame(attempt.observation))
        attempt.episode.steps.append(Step(attempt.observation, candidates, 0, action))
    return [attempt.episode.steps[-1].action for attempt in waiting]
