"""Measures the throughput of a generation server that several trainers share.

Each trainer is a thread with its own client of one server (`coach-gym serve`, the pocket policy's architecture). Like
event-driven collection, it requests the k candidates of a state, waits, and requests those of the next state. The
engine generates for all trainers in one batch; the table shows the gain over a single trainer. All share this machine's
CPU, so the numbers are those of the pocket model, not of a model with billions of weights.

    python -m benchmarks.generation_server --trainers 1 2 4 8 --seeds 0 1 2 --json server.json

This needs the environment of the vLLM tests: run `make .venv-vllm/installed`, and use `.venv-vllm/bin/python`.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shlex
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
RESPONSE = 24  # tokens, where responses are cut off


def episode(policy: Policy, steps: int, seed: int) -> list[Prompt]:
    """Makes the prompts of an episode with the full history, over screens of noise."""
    random, history, prompts = np.random.default_rng(seed), [], []
    for _ in range(steps):
        seen = Observation(random.integers(0, 256, SCREEN, dtype=np.uint8))
        prompts.append(policy.prompt(f"Task {seed}", history, seen))
        answer = Candidate("wait()", [*policy.chat.encode_text("wait()"), policy.eos], [])
        history.append(Step(seen, [answer], 0, "wait()"))
    return prompts


def play(generator: ServedGenerator, prompts: Sequence[Prompt], k: int) -> int:
    """Requests one state after the other, and returns the number of generated tokens."""
    drawn = [generator.sample([prompt], k, max_new_tokens=RESPONSE) for prompt in prompts]
    return sum(len(candidate.token_ids) for (row,) in drawn for candidate in row)


def measure(policy: Policy, url: str, trainers: int, steps: int, k: int, seed: int) -> tuple[float, float]:
    """Measures requests and tokens per second over all trainers, each of which plays an episode."""
    clients = [ServedGenerator(copy(policy), url) for _ in range(trainers)]
    episodes = [episode(policy, steps, 1000 * seed + 10 * trainers + number) for number in range(trainers)]
    for client in clients:
        client.sample(episodes[0][:1], max_new_tokens=1)  # afterwards the weights have arrived
    with ThreadPoolExecutor(trainers) as threads:
        started = time.perf_counter()
        tokens = sum(threads.map(lambda client, prompts: play(client, prompts, k), clients, episodes))
        seconds = time.perf_counter() - started
    return trainers * steps / seconds, tokens / seconds


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trainers", type=int, nargs="+", default=[1, 2, 4, 8])
    parser.add_argument("--steps", type=int, default=8, help="steps of an episode")
    parser.add_argument("--k", type=int, default=4, help="candidates per state")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--json", type=Path, help="write the results to this file")
    options = parser.parse_args()
    command = [sys.executable, "-m", "coach_gym", "serve", "--policy", "pocket", "--port", "0"]
    command += ["--gpu_memory_utilization", "0.1"]  # despite its name, of the CPU's memory
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
    rerun = f"python -m benchmarks.generation_server {shlex.join(sys.argv[1:])}"
    print(f"rerun: {rerun}")
    if options.json:
        options.json.write_text(json.dumps({"command": rerun, "headline": headline}, indent=2) + "\n")


if __name__ == "__main__":
    main()
