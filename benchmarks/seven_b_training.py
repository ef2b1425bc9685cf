"""Measures whole iterations of CoachAgent with a 7B model on one GPU: where the time goes, and what candidates cost.

Model, screens and responses are those of `benchmarks.seven_b`: the architecture of UI-TARS-1.5-7B with random weights,
which draw noise. So every response has its full length, no episode ends early, and nothing can be learned. Policy and
critic train adapters (LoRA) on the same weights, transformers draws the responses, and a few embedded phones answer at
once. There is no process reward model.

The first iteration of each k is reported too: it loads kernels.

    python -m benchmarks.seven_b_training --json seven_b_training.json      # a GPU of 80 GB; over ten minutes
    python -m benchmarks.seven_b_training --tiny                            # the same code, on any machine
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True")  # sizes vary between passes

import gymnasium as gym  # noqa: E402  (after the allocator is set)
import torch  # noqa: E402
from transformers.utils import logging  # noqa: E402

from benchmarks.seven_b import SEVEN_B, TINY, Setup, build, machine, pick_device  # noqa: E402
from coach_gym.agents import CoachAgent  # noqa: E402

PARTS = ("generate", "critic", "update", "rest")
COLUMNS = "k  iteration   seconds  " + "".join(f"{part:>10}" for part in PARTS) + "   peak GB"
RANK = 16  # of the adapters
Row = dict[str, Any]


class Timed(CoachAgent):
    """CoachAgent that adds up the seconds of its parts, with the GPU's work finished at their ends."""

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        super().__init__(*arguments, **keywords)
        self.parts: dict[str, float] = defaultdict(float)

    @contextmanager
    def timed(self, part: str) -> Iterator[None]:
        """Times a part."""
        begun = now(self.device)
        yield
        self.parts[part] += now(self.device) - begun


def now(device: torch.device) -> float:
    """Returns the time, after waiting for the GPU."""
    if device.type == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter()


def make_agent(setup: Setup, device: torch.device, episodes: int, steps: int) -> Timed:
    """Makes the agent; only its `k` changes between measurements.

    The critic's value head is random, as one of zeros would leave nothing to update, and noise counts as an action.
    """
    envs = gym.make_vec(
        "AndroidWorld-v0", num_envs=episodes, vectorization_mode="vector_entry_point",
        suite="builtin", screen_size=setup.screen, max_steps=steps, split="train",
    )  # fmt: skip
    agent = Timed(
        build(setup, device), envs, 1e-5, critic_warmup_ratio=0.0, k=max(setup.candidates), lora_rank=RANK,
        bfloat16=device.type == "cuda", checkpoint_activations=True, batch_size=episodes, mini_batch_size=episodes,
        max_new_tokens=setup.response, max_prompt_length=1 << 15, malformed_is_worthless=False, seed=0,
    )  # fmt: skip
    torch.nn.init.normal_(agent.critic.value_head.weight, std=0.02)
    return agent


def measure(agent: Timed, k: int, iteration: int) -> Row:
    """Runs an iteration."""
    if agent.device.type == "cuda":
        torch.cuda.reset_peak_memory_stats()
    agent.parts.clear()
    begun, steps = now(agent.device), agent.num_timesteps
    agent.learn(1, reset_num_timesteps=False)
    seconds = now(agent.device) - begun
    parts = {part: agent.parts[part] for part in PARTS[:-1]}
    return {
        "k": k, "iteration": iteration, "seconds": seconds, "steps": agent.num_timesteps - steps,
        "parts": {**parts, "rest": seconds - sum(parts.values())},
        "peak_gb": torch.cuda.max_memory_allocated() / 1e9 if agent.device.type == "cuda" else None,
    }  # fmt: skip


def headline(rows: list[Row]) -> dict[str, float]:
    """Returns the seconds of the latest iteration with each k, and those of drawing."""
    latest = {row["k"]: row for row in rows}
    whole = {f"k{k}_seconds": row["seconds"] for k, row in latest.items()}
    return {**whole, **{f"k{k}_generate_seconds": row["parts"]["generate"] for k, row in latest.items()}}


def line(row: Row) -> str:
    """Formats a row of the table."""
    parts = "".join(f"{row['parts'][part]:10.2f}" for part in PARTS)
    peak = "-" if row["peak_gb"] is None else f"{row['peak_gb']:.1f}"
    return f"{row['k']}{row['iteration']:11}{row['seconds']:10.1f}  {parts}{peak:>10}"


def main() -> None:
    """Runs the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--candidates", type=int, nargs="+", default=[4, 1], help="values of k, in this order")
    parser.add_argument("--iterations", type=int, default=2, help="iterations with each k")
    parser.add_argument("--episodes", type=int, default=4, help="episodes of an iteration, and phones")
    parser.add_argument("--steps", type=int, default=6, help="steps of an episode")
    parser.add_argument("--tiny", action="store_true", help="use a tiny model and small screens, on the CPU")
    parser.add_argument("--json", type=Path, help="write the results to this file, after every iteration")
    options = parser.parse_args()
    logging.disable_progress_bar()
    device, setup = pick_device(options.tiny), TINY if options.tiny else SEVEN_B
    command = shlex.join(["python", "-m", "benchmarks.seven_b_training", *sys.argv[1:]])
    results: dict[str, Any] = {
        "benchmark": "seven_b_training", "model": setup.name, "headline": {}, "device": "embedded phone",
        "command": command, "machine": machine(device), "episodes": options.episodes, "steps": options.steps,
        "response": setup.response, "lora_rank": RANK, "rows": [],
    }  # fmt: skip
    print(f"{setup.name}, on {results['machine']['device']}", COLUMNS, sep="\n", flush=True)
    agent = make_agent(setup, device, options.episodes, options.steps)
    for k in options.candidates:
        agent.k = agent.n_candidates = k
        for iteration in range(options.iterations):
            results["rows"].append(measure(agent, k, iteration))
            results["headline"] = headline(results["rows"])
            print(line(results["rows"][-1]), flush=True)
            if options.json:
                options.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    print(f"rerun: {command}")


if __name__ == "__main__":
    main()
