"""`coach-gym plan`: says what a training will take of each GPU and how long an iteration is, before it starts.

coach-gym plan --model ByteDance-Seed/UI-TARS-1.5-7B --gpus 8 --gpu-memory 80 --k 4 --turns 25 --cpu-offload
coach-gym plan --model 3B --gpus 1 --gpu-memory 24 --lora-rank 16 --judge server --generation process
"""

from __future__ import annotations

import argparse
import json
import math
import re
from pathlib import Path
from typing import Any

from coach_gym.checks import require_not_negative, require_positive, require_whole
from coach_gym.cli.refusals import path, refusing
from coach_gym.hub import require_model

PARTS = ("states", "sampler", "judge", "gathered", "activations", "working", "engines")
OVERHEAD = 0.1
"""Share of the memory that fragmentation and libraries take."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options of the command."""
    add, shown = parser.add_argument, " (default: %(default)s)"
    places = ("process", "vllm", "server")
    add("--model", default="7B", help="directory, hub id or config.json; or 3B, 7B, 72B for Qwen2.5-VL" + shown)
    add("--gpus", type=int, default=8, help="one process each" + shown)
    add("--gpu-memory", type=float, default=80, help="GB of a GPU" + shown)
    add("--agent", choices=("coach", "ppo", "grpo", "rloo", "cloning"), default="coach", help="method" + shown)
    add("--k", type=int, default=4, help="candidates per state" + shown)
    add("--turns", type=int, default=25, help="steps of an episode" + shown)
    add("--batch-size", type=int, default=32, help="episodes of a roll-out" + shown)
    add("--num-envs", type=int, default=32, help="devices" + shown)
    add("--screen", default="1080x2400", help="size of the devices' screens" + shown)
    add("--max-pixels", type=int, default=1_270_180, help="to which screenshots are scaled down" + shown)
    add("--response", type=int, default=120, help="tokens of a response" + shown)
    add("--max-branch-tokens", type=int, default=8192, help="tokens of candidates in one pass" + shown)
    add("--lora-rank", type=int, default=0, help="train adapters of this rank" + shown)
    add("--optimizer", choices=("adamw", "adamw8bit"), default="adamw", help="bits of the moments" + shown)
    add("--cpu-offload", action="store_true", help="keep weights, gradients and moments on the host (cpu_offload=True)")
    add("--generation", choices=places, default="vllm", help="where responses are drawn" + shown)
    add("--judge", choices=(*places, "none"), default="vllm", help="where steps are judged" + shown)
    add("--cache", type=int, default=100_000, help="tokens of the cache of vLLM in a trainer's process" + shown)
    add("--tflops", type=float, default=350, help="10^12 operations a GPU reaches in a second" + shown)
    add("--bandwidth", type=float, default=2000, help="GB a GPU reads in a second" + shown)
    add("--step-seconds", type=float, default=5, help="seconds of a device's step" + shown)
    add("--json", type=path, help="write the numbers to this file")
    parser.set_defaults(run=plan)


def plan(json: Path | None, **options: Any) -> None:
    """Prints the table; the options are those of the command line."""
    with refusing():
        numbers = compute(**options)
    print(table(numbers))
    if json is not None:
        _write(json, numbers)


def compute(
    model: str = "7B",
    gpus: int = 8,
    gpu_memory: float = 80,
    agent: str = "coach",
    k: int = 4,
    turns: int = 25,
    batch_size: int = 32,
    num_envs: int = 32,
    screen: str = "1080x2400",
    max_pixels: int = 1_270_180,
    response: int = 120,
    max_branch_tokens: int = 8192,
    lora_rank: int = 0,
    optimizer: str = "adamw",
    cpu_offload: bool = False,
    generation: str = "vllm",
    judge: str = "vllm",
    cache: int = 100_000,
    tflops: float = 350,
    bandwidth: float = 2000,
    step_seconds: float = 5,
) -> dict[str, Any]:
    """Returns GB per GPU and seconds of an iteration, by the names in `coach_gym.agents.planning`.

    Raises:
        ValueError: A number is out of its range, or there is no such model.
    """
    require_whole(1, gpus=gpus, k=k, turns=turns, batch_size=batch_size, num_envs=num_envs, response=response)
    require_whole(1, max_pixels=max_pixels, max_branch_tokens=max_branch_tokens)
    require_whole(0, lora_rank=lora_rank, cache=cache)
    require_positive(gpu_memory=gpu_memory, tflops=tflops, bandwidth=bandwidth)
    require_not_negative(step_seconds=step_seconds)
    if not re.fullmatch(r"\d+B", model):
        require_model(model)
    from coach_gym.agents.planning.memory import Run, memory
    from coach_gym.agents.planning.seconds import Hardware, seconds
    from coach_gym.agents.planning.shape import config_of, empty_model, shape_of

    empty = empty_model(config_of(model))
    shape = shape_of(empty)
    tokens = _screen_tokens(screen, max_pixels, shape.side)
    run = Run(
        gpus=gpus, turns=turns, k=k if agent == "coach" else 1, screen=tokens, response=response,
        batch_size=batch_size, critic=agent in ("coach", "ppo"), lora_rank=lora_rank, cpu_offload=cpu_offload,
        optimizer=optimizer, generation=generation, judge=None if judge == "none" else judge,  # type: ignore[arg-type]
        cache=cache, max_branch_tokens=max_branch_tokens,
    )  # fmt: skip
    gigabytes = memory(shape, run)
    hardware = Hardware(tflops, bandwidth, step=step_seconds, num_envs=num_envs)
    return {
        "model": model, "parameters": shape.total, "screen_tokens": tokens, "gpus": gpus, "gpu_memory": gpu_memory,
        "engines": (generation, judge).count("vllm"), "cache": cache, "memory": gigabytes,
        "fits": gigabytes["peak"] <= (1 - OVERHEAD) * gpu_memory,
        "seconds": seconds(empty, shape, run, hardware),
    }  # fmt: skip


def table(numbers: dict[str, Any]) -> str:
    """Returns the numbers of `compute` as text."""
    memory, spent = numbers["memory"], numbers["seconds"]
    allowed = (1 - OVERHEAD) * numbers["gpu_memory"]
    lines = [
        f"{numbers['model']}: {numbers['parameters'] / 1e9:.2f}e9 parameters, {numbers['screen_tokens']} tokens a "
        f"screenshot, {numbers['gpus']} GPUs. Computed, not measured.",
        "", f"{'GB of a GPU':<24}",
        *(f"  {name:<22}{memory[name]:8.1f}" for name in PARTS),
        f"  {'peak while playing':<22}{memory['playing']:8.1f}",
        f"  {'peak while learning':<22}{memory['learning']:8.1f}",
        f"  {'GB of the host':<22}{memory['host'] * numbers['gpus']:8.1f}",
        *_assumed(numbers), "", "seconds of an iteration",
        *(f"  {name:<22}{value:8.1f}" for name, value in spent.items()), "",
    ]  # fmt: skip
    if numbers["fits"]:
        lines.append(f"It fits: {memory['peak']:.1f} GB, where {allowed:.1f} of {numbers['gpu_memory']:g} can be used.")
    else:
        lines.append(
            f"It does not fit: {memory['peak']:.1f} GB of {numbers['gpu_memory']:g}, where {allowed:.1f} can be used. "
            "Try --cpu-offload, --lora-rank 16, --optimizer adamw8bit, --judge server, --generation server, or less of "
            "--turns, --max-pixels or --max-branch-tokens."
        )
    return "\n".join(lines)


def _assumed(numbers: dict[str, Any]) -> list[str]:
    """What the memory of vLLM in the trainers' processes rests on."""
    engines = numbers["engines"]
    if not engines:
        return []
    share = math.ceil(100 * numbers["memory"]["engines"] / engines / numbers["gpu_memory"]) / 100
    return [
        f"  vLLM is assumed to sleep while the models learn, and each of {engines} engines to have "
        f"gpu_memory_utilization={share:.2f} and a max_model_len of {numbers['cache']} or less."
    ]


def _screen_tokens(screen: str, max_pixels: int, side: int) -> int:
    """Tokens of a screenshot and its turn, as the image processor scales it."""
    from coach_gym.dialects import smart_resize

    size = re.fullmatch(r"([1-9]\d*)x([1-9]\d*)", screen)
    if size is None:
        raise ValueError(f"screen={screen!r} is no width and height in pixels; pass them as in 1080x2400")
    width, height = map(int, size.groups())
    rows, columns = smart_resize(height, width, side, side * side, max_pixels)
    return rows * columns // side**2 + 11


def _write(path: Path, numbers: dict[str, Any]) -> None:
    path.write_text(json.dumps(numbers, indent=2) + "\n", "utf-8")
