"""Measures the updates of a 7B policy and its critic on one GPU, with trajectory trees and with separate sequences.

The model has the architecture of UI-TARS-1.5-7B and random weights. The episode has 16 screens of 1080 x 2400 pixels,
as large as the paper's pixel limit allows, and responses of 120 random tokens; their content does not affect the cost.

    tree       one pass for the episode (`update_policy`, `fit_critic`)
    separate   one sequence per candidate of every step (what published code does)
    state      one tree per state: candidates share their prompt, states share nothing (prefix grouping)

Weights, gradients and passes are in bfloat16, activations are checkpointed. `tree` is an episode's share of a
mini-batch of two; the other two are an episode's passes without the work done once per mini-batch. The cost of a
sequence is quadratic in its step, because screens and responses are equal in size. So `separate` and `state` are
measured at three steps and summed along the parabola through them, and `separate` costs k times one candidate. These
rows say `scaled`.

Everything runs once before it is timed. Seconds and gigabytes include no optimiser step, because one GPU cannot hold
AdamW's float32 states of a 7B model. A step of one layer is timed separately and scaled to all parameters, and the
memory of the states is computed.

`utilisation` is the arithmetic that the passes need, forward and backward, over the speed of matrix products in the
same run. Recomputation by checkpointing does not count, so 0.75 is the maximum.

    python -m benchmarks.seven_b --json seven_b.json          # a GPU of 80 GB; about ten minutes
    python -m benchmarks.seven_b --tiny                       # the same code with a tiny model, on any machine
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import platform
import shlex
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True")  # sizes vary between passes

import numpy as np  # noqa: E402  (after the allocator is set)
import torch  # noqa: E402
import transformers  # noqa: E402
from torch import Tensor, nn  # noqa: E402
from transformers import Qwen2_5_VLConfig, Qwen2_5_VLForConditionalGeneration  # noqa: E402

from benchmarks.memory import TEXT, VISION  # noqa: E402
from coach_gym.agents.models.chatml import stack_images  # noqa: E402
from coach_gym.agents.models.critic import Critic  # noqa: E402
from coach_gym.agents.models.policy import POCKET, Policy  # noqa: E402
from coach_gym.agents.models.tree import Tree, build_tree, log_probs, separate_tree  # noqa: E402
from coach_gym.agents.planning.flops import Size, forward_flops, size_of_tree  # noqa: E402
from coach_gym.agents.training.objective.losses import clipped_value_loss, ppo_clip  # noqa: E402
from coach_gym.agents.training.objective.updates import (  # noqa: E402
    CriticSample,
    PolicySample,
    minimize_policy_loss,
    minimize_value_loss,
)
from coach_gym.dialects import UITars  # noqa: E402
from coach_gym.episode import Candidate, Episode, Observation, Step  # noqa: E402

GOAL = "Create a note called groceries in Markor, and write milk, bread and six eggs into it, one a line."
OLD_LOG_PROB = -12.0  # about that of one token among 152,064
SPELLED = 300  # the tokenizer's first ids are control tokens and bytes
EPISODES = 2  # per mini-batch: from the second on, gradients coexist with activations
Row = dict[str, Any]


@dataclass(frozen=True)
class Setup:
    """The model and its input.

    Attributes:
        name: Name of the model in results.
        text: Configuration of the text model.
        vision: Configuration of the vision tower.
        screen: Width and height of a screenshot.
        max_pixels: Number of pixels to which it is scaled down.
        steps: Length T of the episode.
        response: Tokens R of a response.
        candidates: Values of k.
        products: (rows, inner, columns) of the matrix products that set the ceiling.
    """

    name: str
    text: dict[str, Any]
    vision: dict[str, Any]
    screen: tuple[int, int]
    max_pixels: int
    steps: int
    response: int
    candidates: tuple[int, ...]
    products: tuple[tuple[int, int, int], ...]


SEVEN_B = Setup(
    "UI-TARS-1.5-7B's architecture, random weights", TEXT, VISION, (1080, 2400), 1_270_180, 16, 120, (1, 2, 4, 8),
    ((8192, 3584, 18_944), (8192, 18_944, 3584), (8192, 3584, 3584), (2048, 3584, 152_064)),
)  # fmt: skip
TINY = Setup(
    "a tiny model, random weights",
    dict(
        vocab_size=8000, hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, rope_parameters=dict(rope_type="default", rope_theta=1e6, mrope_section=[2, 3, 3]),
        initializer_range=0.1,  # with less, a small model hardly reacts to its input
    ),
    dict(
        depth=2, hidden_size=32, intermediate_size=64, num_heads=2, out_hidden_size=64, fullatt_block_indexes=[1],
        initializer_range=0.1,
    ),
    (270, 600), 60 * 28 * 28, 5, 12, (1, 2), ((512, 64, 128),),
)  # fmt: skip


def build(setup: Setup, device: torch.device) -> Policy:
    """Builds the model on its device, with random weights and the pocket policy's tokenizer."""
    pocket = Qwen2_5_VLConfig.from_pretrained(POCKET)
    control = ("image_token_id", "video_token_id", "vision_start_token_id", "vision_end_token_id")
    ends = {name: getattr(pocket.text_config, name) for name in ("bos_token_id", "eos_token_id")}
    config = Qwen2_5_VLConfig(
        text_config={**setup.text, **ends}, vision_config=setup.vision, tie_word_embeddings=False,
        **{name: getattr(pocket, name) for name in control},
    )  # fmt: skip
    torch.manual_seed(0)
    with device:
        model = Qwen2_5_VLForConditionalGeneration._from_config(config, dtype=torch.bfloat16)
    model.gradient_checkpointing_enable({"use_reentrant": False})
    model.train()  # checkpointed activations need it
    dialect = UITars(min_pixels=28 * 28, max_pixels=setup.max_pixels)
    policy = Policy.around(model, POCKET, dialect)
    policy.max_prompt_length = 1 << 20
    return policy


def record(policy: Policy, setup: Setup) -> Episode:
    """Makes an episode of noise, with as many candidates as the largest k."""
    generator = np.random.default_rng(0)
    width, height = setup.screen
    steps = []
    for _ in range(setup.steps):
        shape = max(setup.candidates), setup.response - 1
        drawn = generator.integers(SPELLED, setup.text["vocab_size"], shape).tolist()
        candidates = [Candidate("", [*ids, policy.eos], [OLD_LOG_PROB] * setup.response) for ids in drawn]
        screenshot = generator.integers(0, 256, (height, width, 3), dtype=np.uint8)
        steps.append(Step(Observation(screenshot), candidates, 0, "wait()"))
    return Episode(GOAL, steps, outcome=1.0)


def with_candidates(episode: Episode, k: int) -> Episode:
    """Returns the episode with the first k candidates of every step."""
    return replace(episode, steps=[replace(step, candidates=step.candidates[:k]) for step in episode.steps])


def state_tree(policy: Policy, episode: Episode, step: int) -> Tree:
    """Returns the prompt of one step with the responses of that step only."""
    past = with_candidates(episode, 1).steps[:step]
    trunk = build_tree(policy, replace(episode, steps=[*past, episode.steps[step]])).trunks[-1]
    return Tree([replace(trunk, spans=trunk.spans[-1:])])


def sequences(policy: Policy, episode: Episode) -> list[Tree]:
    """Returns, for every step, its prompt with the executed response only."""
    return [Tree([trunk]) for trunk in separate_tree(policy, episode, "executed").trunks]


# --- the updates


def policy_sample(tree: Tree) -> PolicySample:
    """Makes a sample to learn from, with arbitrary non-zero advantages."""
    tokens = sum(span.length for trunk in tree.trunks for step in trunk.spans for span in step)
    old = torch.full((tokens,), OLD_LOG_PROB)
    return PolicySample(tree, old, torch.linspace(0.5, 1.5, tokens), torch.ones(tokens))


def to_device(sample: Any, device: torch.device) -> Any:
    """Moves the tensors of a sample to the device."""
    tensors = {name: value.to(device) for name, value in vars(sample).items() if isinstance(value, Tensor)}
    return replace(sample, **tensors)


class Updates:
    """Passes of the policy's update and of the critic's fit on the same backbone, without changing weights.

    Args:
        policy: Result of `build`. The critic only adds a value head, so one GPU need not hold two models.
    """

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.critic = Critic(policy.model.model)

    def policy_tree(self, tree: Tree) -> None:
        """Runs `update_policy` with a mini-batch of `EPISODES`."""
        samples = [to_device(policy_sample(tree), self.policy.device) for _ in range(EPISODES)]
        minimize_policy_loss(self.policy, Idle(self.policy.model), [samples])

    def critic_tree(self, tree: Tree) -> None:
        """Runs `fit_critic` with a mini-batch of `EPISODES`."""
        steps = sum(len(trunk.spans) for trunk in tree.trunks)
        sample = CriticSample(tree, torch.linspace(0.0, 1.0, steps), torch.ones(steps, dtype=torch.bool))
        samples = [to_device(sample, self.policy.device) for _ in range(EPISODES)]
        minimize_value_loss(self.critic, Idle(self.critic), self._q, [samples])

    def policy_part(self, tree: Tree) -> None:
        """Computes the policy's loss and gradients on less than an episode."""
        sample = to_device(policy_sample(tree), self.policy.device)
        new = torch.cat([response for step in log_probs(self.policy, tree) for response in step])
        ppo_clip(new - sample.old_log_probs, sample.advantages, 0.2).mean().backward()

    def critic_part(self, tree: Tree) -> None:
        """Computes the critic's loss and gradients on less than an episode."""
        q = self._q(tree)
        clipped_value_loss(q, torch.zeros_like(q), torch.ones_like(q), 0.5).mean().backward()

    def vision(self, images: dict[str, Tensor]) -> None:
        """Runs the vision tower alone, on the screenshots of each of `EPISODES`."""
        tower = self.policy.model.model.visual
        for _ in range(EPISODES):
            features = tower(images["pixel_values"], grid_thw=images["image_grid_thw"]).pooler_output
            features.float().mean().backward()

    def clear(self) -> None:
        """Drops all gradients."""
        self.policy.model.zero_grad(set_to_none=True)
        self.critic.zero_grad(set_to_none=True)

    def _q(self, tree: Tree) -> Tensor:
        return torch.cat(self.critic.q_values(tree))


class Idle(torch.optim.Optimizer):
    """An optimiser that changes nothing, because AdamW's step is timed separately."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__(model.parameters(), {})

    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        """Does nothing."""


# --- measuring


def timed(run: Callable[[], object], device: torch.device) -> tuple[float, float | None]:
    """Measures the seconds of a call and the device's peak memory in GB, None on a CPU."""
    if device.type != "cuda":
        started = time.perf_counter()
        run()
        return time.perf_counter() - started, None
    torch.cuda.reset_peak_memory_stats()
    torch.cuda.synchronize()
    started = time.perf_counter()
    run()
    torch.cuda.synchronize()
    return time.perf_counter() - started, torch.cuda.max_memory_allocated() / 1e9


def ceiling(setup: Setup, device: torch.device) -> dict[str, float]:
    """Measures TFLOP/s of bfloat16 matrix products, by shape."""
    reached = {}
    for rows, inner, columns in setup.products:
        left = torch.randn(rows, inner, device=device, dtype=torch.bfloat16)
        right = torch.randn(columns, inner, device=device, dtype=torch.bfloat16)

        def products(times: int, left: Tensor = left, right: Tensor = right) -> None:
            for _ in range(times):
                nn.functional.linear(left, right)

        timed(lambda: products(5), device)
        seconds = min(timed(lambda: products(20), device)[0] for _ in range(5))
        reached[f"{rows}x{inner}x{columns}"] = 20 * 2 * rows * inner * columns / seconds / 1e12
    return reached


def adamw_seconds(layer: nn.Module, device: torch.device) -> float:
    """Measures the seconds of a step of AdamW on one layer, with float32 weights, gradients and states."""
    weights = [nn.Parameter(torch.zeros(p.shape, device=device)) for p in layer.parameters()]
    for weight in weights:
        weight.grad = torch.zeros_like(weight)
    optimizer = torch.optim.AdamW(weights, lr=1e-6)
    optimizer.step()  # creates the states
    return min(timed(optimizer.step, device)[0] for _ in range(3))


def along_parabola(steps: Sequence[int], values: Sequence[float], total: int) -> float:
    """Sums a quadratic over steps 0 to total - 1, given three of its values."""
    return float(np.polyval(np.polyfit(steps, values, 2), np.arange(total)).sum())


@torch.no_grad()
def disagreement(policy: Policy, episode: Episode) -> dict[str, float]:
    """Compares log-probabilities of the tree with those of a sequence, on the last step's second candidate.

    Returns:
        `max` and `mean` of the absolute difference, and the standard deviation `spread` of the values compared.
    """
    by_tree = log_probs(policy, build_tree(policy, episode))[-1][1]
    alone = log_probs(policy, Tree(separate_tree(policy, episode).trunks[-1:]))[0][0]
    difference = (by_tree - alone).abs()
    return {"max": difference.max().item(), "mean": difference.mean().item(), "spread": alone.std().item()}


class Benchmark:
    """Measures cell by cell, and saves the results after each.

    Args:
        setup: What to measure.
        device: Where to measure it.
        results: Receives rows and everything else to report.
        save: Writes `results` to the file.
    """

    def __init__(self, setup: Setup, device: torch.device, results: dict[str, Any], save: Callable[[], None]) -> None:
        self.setup, self.device, self.results, self.save = setup, device, results, save
        self.started = time.perf_counter()

    def run(self) -> None:
        """Measures everything, the most important first."""
        self.results["ceiling_tflops"] = ceiling(self.setup, self.device)
        self.results["headline"]["ceiling_tflops"] = max(self.results["ceiling_tflops"].values())
        self.say(f"matrix products: {self.results['ceiling_tflops']}")
        policy = build(self.setup, self.device)
        self.updates, self.whole = Updates(policy), record(policy, self.setup)
        self.results["parameters"] = sum(parameter.numel() for parameter in policy.model.parameters())
        self.warm_up()
        for k in self.setup.candidates:
            self.policy_tree(k)
        self.policy_sequences()
        self.critic()
        self.vision()
        for k in self.setup.candidates:
            self.policy_states(k)
        self.attempt("agreement", lambda: disagreement(policy, with_candidates(self.whole, 2)))
        self.updates.clear()
        self.attempt("adamw", self.adamw)

    def say(self, line: str) -> None:
        """Prints a line of progress and saves the results."""
        print(f"[{time.perf_counter() - self.started:5.0f} s] {line}", flush=True)
        self.save()

    @property
    def policy(self) -> Policy:
        """Returns what is measured."""
        return self.updates.policy

    def warm_up(self) -> None:
        """Loads kernels and allocates gradients before anything is timed."""
        first = state_tree(self.policy, self.whole, 0)
        self.updates.policy_part(first)
        self.updates.critic_part(first)
        self.say("warm")

    def policy_tree(self, k: int) -> None:
        """Adds a row."""
        tree = build_tree(self.policy, with_candidates(self.whole, k))
        self.row("policy", "tree", k, size_of_tree(tree, scored=True), lambda: self.updates.policy_tree(tree))

    def policy_sequences(self) -> None:
        """Adds a row per k, from the same measurements."""
        trees = sequences(self.policy, self.whole)
        self.scaled_row("policy", "separate", self.setup.candidates, trees, self.updates.policy_part)

    def policy_states(self, k: int) -> None:
        """Adds a row."""
        episode = with_candidates(self.whole, k)
        trees = [state_tree(self.policy, episode, step) for step in range(self.setup.steps)]
        self.scaled_row("policy", "state", [k], trees, self.updates.policy_part)

    def critic(self) -> None:
        """Adds two rows: the critic is fitted to executed responses, one per state whatever k."""
        tree = build_tree(self.policy, self.whole, "executed")
        self.row("critic", "tree", 1, size_of_tree(tree, scored=False), lambda: self.updates.critic_tree(tree))
        self.scaled_row("critic", "separate", [1], sequences(self.policy, self.whole), self.updates.critic_part)

    def vision(self) -> None:
        """Adds a row: the share of the screenshots in a pass over the tree."""
        images = stack_images([self.policy.encode_observation(GOAL, [], s.observation).images[0] for s in
                               self.whole.steps], self.device)  # fmt: skip
        size = Size(grids=[tuple(grid) for grid in images["image_grid_thw"].tolist()])
        self.row("vision tower", "once", 1, size, lambda: self.updates.vision(images))

    def row(self, update: str, way: str, k: int, size: Size, run: Callable[[], None]) -> None:
        """Measures the passes of `EPISODES`, and records an episode's share."""
        try:
            run()
            seconds, peak = timed(run, self.device)
        except RuntimeError as error:  # most likely out of memory: the other rows are still useful
            self.failed(update, way, [k], error)
        else:
            self.add(update, way, k, size, seconds / EPISODES, peak, [seconds])

    def scaled_row(
        self, update: str, way: str, candidates: Sequence[int], trees: list[Tree], run: Callable[[Tree], None]
    ) -> None:
        """Measures the first, middle and last step and sums over all; adds a row for each of `candidates`."""
        steps = [0, len(trees) // 2, len(trees) - 1]
        try:  # gradients add up, as in an update
            for step in steps:
                run(trees[step])
            measured = [timed(partial(run, trees[step]), self.device) for step in steps]
        except RuntimeError as error:
            self.failed(update, way, candidates, error)
            return
        seconds, peaks = zip(*measured, strict=True)
        sizes = [size_of_tree(tree, scored=update == "policy") for tree in trees]
        for k in candidates:
            times = k if way == "separate" else 1
            size, total = sum(times * sizes, Size()), times * along_parabola(steps, seconds, len(trees))
            self.add(update, way, k, size, total, peaks[-1], seconds, scaled_from_steps=steps)

    def failed(self, update: str, way: str, candidates: Sequence[int], error: RuntimeError) -> None:
        """Records an error in place of a measurement, and frees the memory."""
        error.__traceback__ = None  # it holds the activations
        self.updates.clear()
        gc.collect()
        torch.cuda.empty_cache()
        reason = f"{type(error).__name__}: {str(error).splitlines()[0]}"
        for k in candidates:
            self.results["rows"].append({"update": update, "way": way, "T": self.setup.steps, "k": k, "failed": reason})
        self.say(f"{update} {way} k={list(candidates)}: {reason}")

    def add(
        self, update: str, way: str, k: int, size: Size, seconds: float, peak: float | None,
        measured: Sequence[float], **more: Any,
    ) -> None:  # fmt: skip
        """Records a measurement."""
        flops = forward_flops(self.policy.model, size)
        per_second = 3 * sum(flops.values()) / seconds / 1e12  # a backward pass needs twice the products
        row = {
            "update": update, "way": way, "T": self.setup.steps, "k": k, "seconds": seconds, "tokens": size.tokens,
            "tokens_per_s": size.tokens / seconds, "peak_gb": peak, "tflops": per_second,
            "utilisation": per_second / self.results["headline"]["ceiling_tflops"],
            "forward_tflop": {name: value / 1e12 for name, value in flops.items()},
            "measured_seconds": list(measured), "scaled": bool(more), **more,
        }  # fmt: skip
        self.results["rows"].append(row)
        self.results["headline"].update(headline(self.results["rows"]))
        self.say(line(row))

    def attempt(self, name: str, measure: Callable[[], dict[str, float]]) -> None:
        """Records a measurement of its own kind."""
        try:
            self.results[name] = measure()
        except RuntimeError as error:
            self.failed(name, "once", [1], error)
        else:
            self.say(f"{name}: {self.results[name]}")

    def adamw(self) -> dict[str, float]:
        """Adds what AdamW costs for policy and critic each: seconds scaled from one layer, memory computed."""
        layer = self.policy.model.model.language_model.layers[0]
        share = sum(p.numel() for p in layer.parameters()) / self.results["parameters"]
        seconds = adamw_seconds(layer, self.device)
        states = 16 * self.results["parameters"] / 1e9
        return {"layer_seconds": seconds, "scaled_seconds": seconds / share, "computed_float32_states_gb": states}


# --- the report


def headline(rows: list[Row]) -> dict[str, float]:
    """Returns the headline numbers of the rows so far."""
    found = {(row["update"], row["way"], row["k"]): row for row in rows if "seconds" in row}
    numbers: dict[str, float] = {}
    for (update, way, k), row in found.items():
        if way != "tree":
            continue
        name = f"policy_update_k{k}" if update == "policy" else "critic_fit"
        numbers |= {f"{name}_seconds": row["seconds"], f"{name}_tokens_per_s": row["tokens_per_s"]}
        numbers |= {f"{name}_utilisation": row["utilisation"]}
        if row["peak_gb"] is not None:
            numbers[f"{name}_peak_gb"] = row["peak_gb"]
        for other, word in (("separate", "speedup"), ("state", "speedup_over_state")):
            if slow := found.get((update, other, k)):
                numbers[f"{name}_{word}"] = slow["seconds"] / row["seconds"]
    return numbers


COLUMNS = "update        way        k   seconds    tokens  tokens/s  peak GB  utilisation"


def line(row: Row) -> str:
    """Formats a row of the table."""
    if "failed" in row:
        return f"{row['update']:14}{row['way']:9}{row['k']:3}  {row['failed'][:80]}"
    peak = "-" if row["peak_gb"] is None else f"{row['peak_gb']:.1f}"
    numbers = f"{row['seconds']:10.2f}{row['tokens']:10}{row['tokens_per_s']:10.0f}{peak:>9}{row['utilisation']:13.2f}"
    return f"{row['update']:14}{row['way']:9}{row['k']:3}{numbers}{'  scaled' if row['scaled'] else ''}"


def pick_device(tiny: bool) -> torch.device:
    """Returns the GPU, or the CPU for the tiny model.

    Raises:
        SystemExit: There is no GPU for the 7B model.
    """
    if tiny:
        return torch.device("cpu")
    if not torch.cuda.is_available():
        raise SystemExit(
            f"PyTorch {torch.__version__} finds no CUDA device, and a model of 8.3e9 parameters is not for a CPU; run "
            "this where there is a GPU of 80 GB or more and a PyTorch built for CUDA, or pass --tiny to try the code"
        )
    torch.cuda.set_device(0)
    return torch.device("cuda", 0)


def machine(device: torch.device) -> dict[str, str]:
    """Describes the machine."""
    versions = {"torch": torch.__version__, "transformers": transformers.__version__}
    if device.type == "cuda":
        memory = torch.cuda.get_device_properties(device).total_memory / 1e9
        return {"device": f"{torch.cuda.get_device_name(device)}, {memory:.0f} GB", **versions}
    return {"device": f"CPU, {platform.machine()}, {torch.get_num_threads()} threads", **versions}


def main() -> None:
    """Runs the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--layers", type=int, help="decoder layers, at most 28; fewer for a smaller GPU")
    parser.add_argument("--max-pixels", type=int, help="most pixels of a screenshot; 12845056 is the model's own limit")
    parser.add_argument("--candidates", type=int, nargs="+", help="values of k; by default 1 2 4 8")
    parser.add_argument("--tiny", action="store_true", help="use a tiny model and small screens, on the CPU")
    parser.add_argument("--json", type=Path, help="write the results to this file, after every measurement")
    options = parser.parse_args()
    device = pick_device(options.tiny)
    setup = TINY if options.tiny else SEVEN_B
    if options.layers:
        text = {**setup.text, "num_hidden_layers": options.layers}
        setup = replace(setup, name=f"{setup.name}, {options.layers} decoder layers only", text=text)
    setup = replace(setup, candidates=tuple(options.candidates or setup.candidates))
    setup = replace(setup, max_pixels=options.max_pixels or setup.max_pixels)
    command = shlex.join(["python", "-m", "benchmarks.seven_b", *sys.argv[1:]])
    results: dict[str, Any] = {
        "benchmark": "seven_b", "model": setup.name, "headline": {}, "command": command, "machine": machine(device),
        "setup": asdict(setup), "rows": [],
    }  # fmt: skip

    def save() -> None:
        if options.json:
            options.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")

    print(f"{setup.name}, on {results['machine']['device']}")
    Benchmark(setup, device, results, save).run()
    print("", COLUMNS, *map(line, results["rows"]), f"rerun: {command}", sep="\n")


if __name__ == "__main__":
    main()
