"""Compares event-driven collection with lockstep and with a serial loop, on slow devices.

The pocket policy plays the demo's tasks in batches of four episodes per device. Every method samples four responses in
every state and has the pocket process reward model judge every executed action; nothing is learned in between. All play
the same instances on devices with the same heavy-tailed latencies (`coach_gym.envs.latency`). The measure is the time
for the same episodes, because steps per second would favour methods whose episodes happen to be long.

- `serial`: like TRL's tool loop. One pass samples for all states, then environments step and reset one after the other.
- `lockstep, autoreset`: like Gymnasium's AsyncVectorEnv. All environments step together, and those whose episode has
  ended are reset in the next step; everyone waits for the slowest.
- `lockstep, reset together`: all environments are reset together, then step together until all episodes have ended.
- `event-driven`: ours. With staleness 1, devices play ahead into the next batch.

Time is virtual: waits for devices are skipped, computing is measured in processor time. `--check` also plays a few
episodes in real time with scaled latency, in processes that sleep (Gymnasium's AsyncVectorEnv) and in our environment,
and repeats them on the virtual clock.

    python -m benchmarks.collection --seeds 0 1 2 --check --json benchmarks/results/collection.json
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shlex
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import islice, product
from pathlib import Path
from statistics import mean, stdev
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np  # noqa: E402  (after the number of threads is set)
import torch  # noqa: E402
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, VectorEnv  # noqa: E402
from transformers.utils import logging  # noqa: E402

from benchmarks.demo import DEVICE, SETTINGS  # noqa: E402
from benchmarks.latency_ratio import make_env, slow_envs  # noqa: E402
from coach_gym.agents import CoachAgent  # noqa: E402
from coach_gym.agents.playing.rollout import Attempt, Rollout, observation_of, sub_observation  # noqa: E402
from coach_gym.envs.latency import Latency, SlowEnv  # noqa: E402
from coach_gym.envs.vector import AndroidVectorEnv  # noqa: E402
from coach_gym.episode import Episode  # noqa: E402

DEVICES = (8, 32)
BATCHES = 2
"""Number of batches to play."""
EPISODES = 4
"""Episodes of a batch per device."""
CHECK_SCALE = 0.2
CHECK_EPISODES = 16


def make_agent(envs: VectorEnv | None, seed: int, **arguments: Any) -> CoachAgent:
    """Makes the demo's agent."""
    settings = {**SETTINGS, "mini_batch_size": None, "self_imitation": None, **arguments}
    return CoachAgent("pocket", envs, k=4, seed=seed, **settings)


# ---- methods of collection: each plays some batches and returns their steps ------------------------------------------


def collect(agent: CoachAgent, batches: int) -> int:
    """Collects with our collector, event-driven or in rounds."""
    for _ in range(batches):
        groups = agent.collect_rollouts()
        assert groups is not None
        agent.assign_returns([episode for group in groups for episode in group])  # judges what has not been judged yet
    return agent.num_timesteps


def play_in_waves(agent: CoachAgent, batches: int, wave: Callable[[CoachAgent, list[int]], list[Attempt]]) -> int:
    """Plays as many episodes at a time as there are devices; the next ones begin when all have ended."""
    assert agent.env is not None
    seeds, steps = agent.task_seeds(0), 0
    for _ in range(batches):
        played: list[Attempt] = []
        while len(played) < agent.batch_size:
            played += wave(agent, list(islice(seeds, agent.env.num_envs)))
        agent.assign_returns([attempt.episode for attempt in played if attempt.episode.learnable])
        steps += sum(attempt.length for attempt in played)
    return steps


def step_together(agent: CoachAgent, seeds: list[int]) -> list[Attempt]:
    """Steps all environments together, waiting for the slowest."""
    assert agent.env is not None
    rollout, finished = Rollout(agent.env, seeds), []
    while waiting := rollout.waiting:
        finished += rollout.step(respond(agent, waiting)).finished
    return finished


def step_in_turn(agent: CoachAgent, seeds: list[int]) -> list[Attempt]:
    """Resets and steps environments one after the other."""
    assert agent.env is not None
    rollout, finished = Rollout(agent.env, seeds, until=0), []
    for number in range(len(seeds)):
        rollout.begin_until(number + 1)
        rollout.receive()
    while waiting := rollout.waiting:
        for attempt, action in zip(waiting, respond(agent, waiting), strict=True):
            rollout.send([attempt], [action])
            finished += rollout.receive().finished
    return finished


def respond(agent: CoachAgent, waiting: list[Attempt]) -> list[str]:
    """Samples all responses for some states in one pass, and returns the actions to execute."""
    prompts = [agent.policy.prompt(a.episode.goal, a.episode.steps, a.observation) for a in waiting]
    drawn = agent.generator.sample(prompts, agent.k, agent.temperature, agent.max_new_tokens)
    for attempt, candidates in zip(waiting, drawn, strict=True):
        attempt.episode.steps.append(agent.player.step(attempt.observation, candidates))
    return [attempt.episode.steps[-1].action for attempt in waiting]


Way = tuple[dict[str, Any], Callable[[CoachAgent, int], int]]
WAYS: dict[str, Way] = {
    "serial": ({}, partial(play_in_waves, wave=step_in_turn)),
    "lockstep, autoreset": ({"collection": "rounds"}, collect),
    "lockstep, reset together": ({}, partial(play_in_waves, wave=step_together)),
    "event-driven": ({}, collect),
    "event-driven, staleness 1": ({"max_staleness": 1}, collect),
}
LOCKSTEP = ("lockstep, autoreset", "lockstep, reset together")


def measure(way: str, devices: int, seed: int, latency: Latency | None = None) -> dict[str, Any]:
    """Measures a method on a virtual clock.

    Returns:
        Steps per second, and `waits`, the share of time in which devices are idle: mean, minimum, maximum.
    """
    arguments, play = WAYS[way]
    envs = slow_envs(devices, latency or Latency(), seed)
    agent = make_agent(envs, seed, batch_size=EPISODES * devices, **arguments)
    begun = envs.clock.now
    steps = play(agent, BATCHES)
    elapsed = envs.clock.now - begun
    idle = 1 - np.minimum(envs.busy / elapsed, 1.0)
    envs.close()
    return {
        "way": way, "devices": devices, "seed": seed, "steps": steps, "seconds": elapsed,
        "computing": elapsed - envs.clock.waited, "steps_per_s": steps / elapsed,
        "waits": [float(idle.mean()), float(idle.min()), float(idle.max())],
    }  # fmt: skip


# ---- the same in real time ----------------------------------------------------------------------------------------


def make_slow_env(seed: int, scale: float) -> SlowEnv:
    """Makes an environment that sleeps."""
    return SlowEnv(make_env(), Latency().scaled(scale), seed)


def check(devices: int, seed: int, scale: float = CHECK_SCALE, episodes: int = CHECK_EPISODES) -> dict[str, Any]:
    """Measures steps per second of AsyncVectorEnv and of our collector, in real time and on the virtual clock."""
    settings = {"batch_size": episodes, "mini_batch_size": None}
    makers = [partial(make_slow_env, seed + index, scale) for index in range(devices)]
    processes = AsyncVectorEnv(makers, shared_memory=False, context="spawn", autoreset_mode=AutoresetMode.NEXT_STEP)
    processes.reset()  # returns when all have started
    lockstep = play_async_vector_env(make_agent(None, seed, **settings), processes, episodes)
    processes.close()
    threads = AndroidVectorEnv(makers)
    agent = make_agent(threads, seed, **settings)
    begun = time.perf_counter()
    events = collect(agent, 1) / (time.perf_counter() - begun)
    threads.close()
    virtual = {}
    for way in ("lockstep, autoreset", "event-driven"):
        envs = slow_envs(devices, Latency().scaled(scale), seed)
        virtual[way] = collect(make_agent(envs, seed, **settings, **WAYS[way][0]), 1) / envs.clock.now
        envs.close()
    return {
        "devices": devices, "seed": seed, "scale": scale, "episodes": episodes,
        "real": {"lockstep, autoreset": lockstep, "event-driven": events}, "virtual": virtual,
    }  # fmt: skip


def play_async_vector_env(agent: CoachAgent, envs: AsyncVectorEnv, episodes: int) -> float:
    """Steps all environments until enough episodes have ended, and returns steps per second."""
    begun = time.perf_counter()
    observations, _ = envs.reset(seed=list(islice(agent.task_seeds(0), envs.num_envs)))
    playing = {index: _attempt(index, observations) for index in range(envs.num_envs)}
    finished: list[Episode] = []
    steps = 0
    while len(finished) < episodes:
        waiting = list(playing.values())
        actions = dict(zip(playing, respond(agent, waiting), strict=True))
        texts = tuple(actions.get(index, "") for index in range(envs.num_envs))
        observations, rewards, terminated, truncated, _ = envs.step(texts)
        steps += len(waiting)
        for index in range(envs.num_envs):
            if index not in playing:
                playing[index] = _attempt(index, observations)
            elif terminated[index] or truncated[index]:
                finished.append(playing.pop(index).episode)
                finished[-1].outcome = float(rewards[index])
            else:
                playing[index].observation = observation_of(sub_observation(observations, index))
    agent.assign_returns(finished)
    return steps / (time.perf_counter() - begun)


def _attempt(index: int, observations: dict[str, Any]) -> Attempt:
    observation = sub_observation(observations, index)
    return Attempt(index, index, Episode(str(observation["goal"])), observation_of(observation))


# ---- the tables ---------------------------------------------------------------------------------------------------


def main() -> None:
    """Measures all methods and prints the tables."""
    options = _arguments()
    torch.set_num_threads(1)
    logging.disable_progress_bar()
    checks = [check(8, options.seeds[0])] if options.check else []
    for each in checks:
        print_check(each)
    rows = []
    for seed, devices, way in product(options.seeds, options.devices, WAYS):
        rows.append(measure(way, devices, seed))
        print(rows[-1], file=sys.stderr, flush=True)
    print_table(rows)
    command = f"python -m benchmarks.collection {shlex.join(sys.argv[1:])}"
    print(f"\nrerun: {command}")
    if options.json:
        options.json.write_text(json.dumps(report(command, rows, checks), indent=1) + "\n", "utf-8")


def speedup(rows: list[dict[str, Any]], way: str, devices: int) -> tuple[float, float]:
    """Returns the better lockstep's time over a method's, for the same episodes: mean over seeds, and spread."""
    seconds = {(row["way"], row["seed"]): row["seconds"] for row in rows if row["devices"] == devices}
    seeds = sorted({seed for _, seed in seconds})
    values = [min(seconds[lockstep, seed] for lockstep in LOCKSTEP) / seconds[way, seed] for seed in seeds]
    return mean(values), _spread(values)


def _spread(values: Sequence[float]) -> float:
    return stdev(values) if len(values) > 1 else 0.0


def print_table(rows: list[dict[str, Any]]) -> None:
    """Prints a line per method and number of devices."""
    print(f"{'devices':>7s}  {'way (' + DEVICE + ')':32s}{'steps/s':>16s}{'over lockstep':>18s}{'devices wait':>14s}")
    for devices in sorted({row["devices"] for row in rows}):
        for way in WAYS:
            mine = [row for row in rows if row["way"] == way and row["devices"] == devices]
            rates = [row["steps_per_s"] for row in mine]
            ratio, spread = speedup(rows, way, devices)
            waits = mean(row["waits"][0] for row in mine)
            rate = f"{mean(rates):9.3f} ± {_spread(rates):.3f}"
            print(f"{devices:7d}  {way:32s}{rate:>16s}{ratio:11.2f} ± {spread:.2f}{waits:14.1%}")


def print_check(check: dict[str, Any]) -> None:
    """Prints real time next to the virtual clock."""
    print(f"\n{check['devices']} devices, latencies times {check['scale']:g}, {check['episodes']} episodes; steps/s:")
    for clock in ("real", "virtual"):
        lockstep, events = check[clock]["lockstep, autoreset"], check[clock]["event-driven"]
        print(f"{clock:>8s}: {lockstep:.2f} in lockstep, {events:.2f} event-driven, {events / lockstep:.2f}x")


def report(command: str, rows: list[dict[str, Any]], checks: list[dict[str, Any]]) -> dict[str, Any]:
    """Returns everything as JSON."""
    numbers = sorted({row["devices"] for row in rows})
    return {
        "benchmark": "collection",
        "headline": {f"speedup_{devices}": speedup(rows, "event-driven", devices)[0] for devices in numbers},
        "command": command,
        "model": "pocket policy and PRM, float32; 4 responses a state, every executed action judged",
        "device": f"{DEVICE}, latencies on a virtual clock",
        "machine": f"{platform.machine()}, Python {sys.version.split()[0]}, torch {torch.__version__}, 1 thread",
        "latency": vars(Latency()),
        "episodes_a_batch_and_device": EPISODES,
        "speedups_and_spreads": {way: {n: speedup(rows, way, n) for n in numbers} for way in WAYS},
        "rows": rows,
        "real_time": checks,
    }


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.collection", description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--devices", type=int, nargs="+", default=list(DEVICES))
    parser.add_argument("--check", action="store_true", help="also play in real time")
    parser.add_argument("--json", type=Path, help="write the results to this file")
    return parser.parse_args()


if __name__ == "__main__":
    main()
