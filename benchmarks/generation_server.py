"""What a generation server draws for several trainers at once, and what it costs to be one of many.

Each trainer is a thread with its own client of one server (`coach-gym serve`, the pocket policy's architecture). As
event-driven collection does, it asks for one state's k candidates, waits, and asks for the next state of the episode.
The engine draws for all of them in one batch; the table says what that brings over a single trainer. All share this
machine's CPU: it is the pocket model's number, not that of a model of billions of weights.

    python -m benchmarks.generation_server --trainers 1 2 4 8 --seeds 0 1 2 --json server.json

It needs the environment of the vLLM tests: `make .venv-vllm/installed`, and `.venv-vllm/bin/python` for `python`.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from pathlib import Path
from statistics import mean, stdev

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("VLLM_CPU_KVCACHE_SPACE", "1")

import numpy as np  # noqa: E402  (after the number of threads is set)

from coach_gym.agents.generation.vllm.client import ServedGenerator  # noqa: E402
from coach_gym.agents.models.policy import Policy, Prompt  # noqa: E402
from coach_gym.episode import Candidate, Observation, Step  # noqa: E402

SCREEN = (600, 270, 3)
RESPONSE = 24  # tokens; responses are cut there


def episode(policy: Policy, steps: int, seed: int) -> list[Prompt]:
    """The prompts of an episode with the whole history, over screens of noise."""
    random, history, prompts = np.random.default_rng(seed), [], []
    for _ in range(steps):
        seen = Observation(random.integers(0, 256, SCREEN, dtype=np.uint8))
        prompts.append(policy.prompt(f"Task {seed}", history, seen))
        answer = Candidate("wait()", [*policy.chat.encode_text("wait()"), policy.eos], [])
        history.append(Step(seen, [answer], 0, "wait()"))
    return prompts


def play(generator: ServedGenerator, prompts: Sequence[Prompt], k: int) -> int:
    """Asks for one state after the other, and returns the number of tokens drawn."""
    drawn = [generator.sample([prompt], k, max_new_tokens=RESPONSE) for prompt in prompts]
    return sum(len(candidate.token_ids) for (row,) in drawn for candidate in row)


def measure(policy: Policy, url: str, trainers: int, steps: int, k: int, seed: int) -> tuple[float, float]:
    """Requests and tokens a second, of all trainers together, each of which plays one episode."""
    clients = [ServedGenerator(copy(policy), url) for _ in range(trainers)]
    episodes = [episode(policy, steps, 1000 * seed + 10 * trainers + number) for number in range(trainers)]
    for client in clients:
        client.sample(episodes[0][:1], max_new_tokens=1)  # weights are there
    with ThreadPoolExecutor(trainers) as threads:
        started = time.perf_counter()
        tokens = sum(threads.map(lambda client, prompts: play(client, prompts, k), clients, episodes))
        seconds = time.perf_counter() - started
    return trainers * steps / seconds, tokens / seconds


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trainers", type=int, nargs="+", default=[1, 2, 4, 8])
    parser.add_argument("--steps", type=int, default=8, help="of an episode")
    parser.add_argument("--k", type=int, default=4, help="candidates of a state")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    command = [sys.executable, "-m", "coach_gym", "serve", "--policy", "pocket", "--port", "0"]
    command += ["--gpu_memory_utilization", "0.1"]  # of a CPU's memory, despite its name
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        url = next(line for line in server.stdout if line.startswith("http://")).split()[0]
        policy = Policy.load("pocket")
        measure(policy, url, 1, 2, options.k, seed=99)  # the first batches are slower
        headline = {}
        print(f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores, pocket model, k = {options.k}")
        for trainers in options.trainers:
            seen = [measure(policy, url, trainers, options.steps, options.k, seed) for seed in options.seeds]
            requests, tokens = zip(*seen, strict=True)
            spread = stdev(tokens) if len(tokens) > 1 else 0.0
            print(f"{trainers} trainers: {mean(requests):6.1f} requests/s, {mean(tokens):6.0f} ± {spread:.0f} tokens/s")
            headline |= {f"requests_per_s_{trainers}": mean(requests), f"tokens_per_s_{trainers}": mean(tokens)}
        server.terminate()
    if options.json:
        options.json.write_text(json.dumps({"command": " ".join(sys.argv), "headline": headline}, indent=2) + "\n")


if __name__ == "__main__":
    main()
