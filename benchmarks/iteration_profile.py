"""Profiles an iteration of CoachAgent, by phase and by part of the models.

The iteration is the second one of a run at the base point of `benchmarks.scaling`. Seconds are processor time of the
agent's thread, counted towards the innermost part at work. In a backward pass, the moments when the gradient reaches
the text model's output and input separate the parts. The phone computes in threads of its own.

`speed` is the arithmetic that a phase needs, forward and backward, over its time. Its ceiling is the speed of matrix
products with a thousand rows in the same process.

    python -m benchmarks.iteration_profile --seeds 0 1 --json profile.json

The last table is computed, not measured: the arithmetic of a forward pass of UI-TARS-1.5-7B's architecture over the
tree of one episode, with the screens and responses of `benchmarks.memory`.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from statistics import mean
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import torch  # noqa: E402  (after the number of threads is set)
from torch import Tensor, nn  # noqa: E402
from transformers import Qwen2_5_VLConfig, Qwen2_5_VLForConditionalGeneration  # noqa: E402
from transformers.utils import logging  # noqa: E402

from benchmarks.memory import TEXT, VISION  # noqa: E402
from benchmarks.scaling import BASE, DEVICE, Clocked, build, in_process  # noqa: E402
from coach_gym.agents.models.chatml import ChatML  # noqa: E402
from coach_gym.agents.models.policy import Policy  # noqa: E402
from coach_gym.agents.models.tree import build_tree  # noqa: E402
from coach_gym.agents.planning.flops import Size, forward_flops, size_of_tree  # noqa: E402
from coach_gym.agents.planning.memory import OPENING  # noqa: E402
from coach_gym.agents.training.objective import updates  # noqa: E402
from coach_gym.envs.latency import Latency  # noqa: E402

PARTS = ("vision tower", "text layers", "heads", "optimiser", "screens", "tokenising", "rest")
PHASES = ("generate", "judge", "critic", "update", "rest")
Row = dict[str, Any]


class Stopwatch:
    """Counts the thread's processor time towards the phase and the innermost part at work.

    Attributes:
        seconds: Seconds by phase and part.
        passes: Passes of the text model by phase.
    """

    def __init__(self) -> None:
        self.seconds: dict[tuple[str, str], float] = defaultdict(float)
        self.passes: dict[str, int] = defaultdict(int)
        self.phase = "rest"
        self._parts = ["rest"]
        self._since = time.thread_time()

    def book(self) -> None:
        """Counts the time since the last call."""
        now = time.thread_time()
        self.seconds[self.phase, self._parts[-1]] += now - self._since
        self._since = now

    def enter(self, part: str) -> None:
        """Begins a part."""
        self.book()
        self._parts.append(part)

    def leave(self) -> None:
        """Ends the innermost part."""
        self.book()
        self._parts.pop()

    def turn(self, part: str) -> None:
        """Ends the innermost part and begins another."""
        self.leave()
        self.enter(part)

    @contextmanager
    def during(self, phase: str) -> Iterator[None]:
        """Times a phase; the surrounding phase continues afterwards."""
        self.book()
        self.phase, around = phase, self.phase
        yield
        self.book()
        self.phase = around

    def clear(self) -> None:
        """Resets all counts."""
        self.book()
        self.seconds.clear()
        self.passes.clear()

    def wrapped(self, function: Callable[..., Any], part: str) -> Callable[..., Any]:
        """Wraps a function so that its time counts towards a part."""

        @wraps(function)
        def timed(*arguments: Any, **keywords: Any) -> Any:
            self.enter(part)
            try:
                return function(*arguments, **keywords)
            finally:
                self.leave()

        return timed

    def watch(self, backbone: Any, head: nn.Module) -> None:
        """Times a model's parts, forward and backward."""
        for module, part in ((backbone.visual, "vision tower"), (head, "heads")):
            module.register_forward_pre_hook(lambda *_, part=part: self.enter(part))
            module.register_forward_hook(lambda *_: self.leave())
        backbone.language_model.layers[0].register_forward_pre_hook(self._text_begins)
        backbone.language_model.norm.register_forward_hook(self._text_ends)

    def _text_begins(self, _: nn.Module, arguments: tuple[Tensor, ...]) -> None:
        self.passes[self.phase] += 1
        self._on_gradient(arguments[0], "vision tower")
        self.enter("text layers")

    def _text_ends(self, _: nn.Module, __: Any, output: Tensor) -> None:
        self.leave()
        self._on_gradient(output, "text layers")

    def _on_gradient(self, tensor: Tensor, part: str) -> None:
        if tensor.requires_grad:
            tensor.register_hook(lambda _: self.turn(part))


class Watched(Clocked):
    """The agent of the scaling benchmark, with a stopwatch on its phases."""

    stopwatch: Stopwatch

    @contextmanager
    def timed(self, part: str) -> Iterator[None]:
        """Times a phase."""
        with self.stopwatch.during(part if part in PHASES else "rest"):
            yield


def measure(seed: int) -> Row:
    """Measures the second iteration of a run.

    Returns:
        `seconds` by phase and part, `passes` of the text model by phase, `thread_seconds` in total, `phone_seconds` of
        the other threads, and the speed of phases and of plain matrix products in `gigaflops_per_second`.
    """
    torch.set_num_threads(1)
    logging.disable_progress_bar()
    agent, envs = build(BASE, seed, Latency().scaled(0.02), Watched)
    agent.stopwatch = stopwatch = Stopwatch()
    stopwatch.watch(agent.policy.model.model, agent.policy.model.lm_head)
    stopwatch.watch(agent.prm.policy.model.model, agent.prm.policy.model.lm_head)
    stopwatch.watch(agent.critic.backbone, agent.critic.value_head)
    for optimizer in agent.optimizers.values():
        optimizer.step = stopwatch.wrapped(optimizer.step, "optimiser")
    patches = [(Tensor, "backward", "heads"), (updates, "clip_gradients", "optimiser"),
               (ChatML, "encode_image", "screens"), (ChatML, "encode_text", "tokenising"),
               (Policy, "log_probs", "heads")]  # fmt: skip
    for owner, name, part in patches:  # never undone: the process ends after this
        setattr(owner, name, stopwatch.wrapped(getattr(owner, name), part))
    agent.learn(1)
    stopwatch.clear()
    process, thread = time.process_time(), time.thread_time()
    agent.learn(1, reset_num_timesteps=False)
    stopwatch.book()
    thread, process = time.thread_time() - thread, time.process_time() - process
    envs.close()
    seconds = {phase: {part: stopwatch.seconds[phase, part] for part in PARTS} for phase in PHASES}
    speeds = {phase: flops / 1e9 / sum(seconds[phase].values()) for phase, flops in arithmetic(agent).items()}
    return {
        "seed": seed, "seconds": seconds, "passes": dict(stopwatch.passes), "thread_seconds": thread,
        "phone_seconds": process - thread,
        "gigaflops_per_second": {**speeds, "matrix products": ceiling()},
    }  # fmt: skip


def arithmetic(agent: Clocked) -> dict[str, float]:
    """Counts the arithmetic of two phases; the second pass over executed responses is left out."""
    trees = [build_tree(agent.policy, episode) for episode in agent.played]
    size = sum((size_of_tree(tree, scored=True) for tree in trees), Size())
    forward = sum(forward_flops(agent.policy.model, size).values())
    return {"generate": forward, "update": 3 * forward}  # backward is twice forward


def ceiling() -> float:
    """Measures GFLOP/s of products of matrices with 1,024 rows and columns."""
    one, other = torch.randn(1024, 1024), torch.randn(1024, 1024)
    best = float("inf")
    for _ in range(10):
        begun = time.thread_time()
        one @ other
        best = min(best, time.thread_time() - begun)
    return 2 * 1024**3 / best / 1e9


def print_table(rows: list[Row]) -> None:
    """Prints shares of the iteration by phase and part, means over seeds."""
    seconds = {phase: {part: mean(row["seconds"][phase][part] for row in rows) for part in PARTS} for phase in PHASES}
    whole = sum(sum(parts.values()) for parts in seconds.values())
    columns = {part: sum(parts[part] for parts in seconds.values()) for part in PARTS}
    print("| phase | " + " | ".join(PARTS) + " | all |", "|---" * (len(PARTS) + 2) + "|", sep="\n")
    for phase, parts in {**seconds, "all": columns}.items():
        shares = [f"{share / whole:.1%}" for share in (*parts.values(), sum(parts.values()))]
        print(f"| {phase} | " + " | ".join(shares) + " |")
    totals = [sum(sum(parts.values()) for parts in row["seconds"].values()) for row in rows]
    print(f"\nseconds of the agent's thread, by seed: {', '.join(f'{total:.2f}' for total in totals)}")
    print("of the phone's threads: " + ", ".join(f"{row['phone_seconds']:.2f}" for row in rows))
    for phase in PHASES[:-1]:
        passes = mean(row["passes"].get(phase, 0) for row in rows)
        each = 1e3 * sum(seconds[phase].values()) / passes
        print(f"{phase}: {passes:.0f} passes of a text model, {each:.1f} ms each")
    for phase in rows[0]["gigaflops_per_second"]:
        speeds = [row["gigaflops_per_second"][phase] for row in rows]
        print(f"{phase}: {', '.join(f'{speed:.1f}' for speed in speeds)} GFLOP/s")


def computed(steps: int, k: int, screen: int = 1631, response: int = 120) -> tuple[int, dict[str, float]]:
    """Counts the tokens of an episode's tree for a 7B policy, and the arithmetic of a forward pass by part.

    Args:
        steps: Length T of the episode.
        k: Candidates per state.
        screen: Tokens of a screenshot and its turn; 4 patches each.
        response: Tokens of a response.
    """
    with torch.device("meta"):
        model = Qwen2_5_VLForConditionalGeneration(
            Qwen2_5_VLConfig(text_config=TEXT, vision_config=VISION, tie_word_embeddings=False)
        )
    trunk, branches = OPENING + steps * (screen + response), steps * (k - 1) * response
    prompts = [OPENING + step * (screen + response) + screen for step in range(steps)]
    pairs = trunk * (trunk + 1) // 2 + (k - 1) * response * sum(prompt + (response + 1) // 2 for prompt in prompts)
    grids = [(1, 118, 54)] * steps  # 1,593 tokens: 1080 x 2400 within 1,270,180 pixels
    return trunk + branches, forward_flops(model, Size(trunk + branches, pairs, steps * k * response, grids))


def headline(rows: list[Row]) -> dict[str, float]:
    """Returns seconds of an iteration and GFLOP/s of its phases, means over seeds."""
    speeds = rows[0]["gigaflops_per_second"]
    return {
        "iteration_seconds": mean(row["thread_seconds"] for row in rows),
        **{
            f"gigaflops_{phase.replace(' ', '_')}": mean(row["gigaflops_per_second"][phase] for row in rows)
            for phase in speeds
        },
    }


def print_computed() -> None:
    """Prints the table of the 7B model."""
    print("\ncomputed, UI-TARS-1.5-7B's architecture, k = 4: TFLOP of a forward pass over one episode")
    for steps in (8, 16, 32):
        tokens, flops = computed(steps, 4)
        whole = sum(flops.values())
        shares = ", ".join(f"{part} {value / whole:.1%}" for part, value in flops.items())
        print(f"T={steps}: {tokens} tokens, {whole / 1e12:.0f} TFLOP: {shares}")


def main() -> None:
    """Runs the benchmark."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.iteration_profile", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1])
    parser.add_argument("--json", type=Path, help="write the results to this file")
    options = parser.parse_args()
    rows = [in_process(measure, seed) for seed in options.seeds]
    print_table(rows)
    print_computed()
    command = f"python -m benchmarks.iteration_profile --seeds {' '.join(map(str, options.seeds))}"
    print(f"rerun: {command}")
    if options.json:
        results = {
            "benchmark": "iteration_profile", "headline": headline(rows), "device": DEVICE, "command": command,
            "rows": rows,
        }  # fmt: skip
        options.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
