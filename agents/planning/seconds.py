"""The seconds of an iteration, computed from the arithmetic of its passes and the bytes that decoding reads.

    devices    T x seconds of a step and a reset, as often as an environment plays an episode
    generate   every prompt once (its prefix is kept), and decoding: each token of a response reads the weights and the
               keys and values of the candidates in progress; steps of all devices of a GPU are decoded together
    judge      likewise, with a prompt per step
    critic     forward passes, with a backward pass for fits; recomputed activations count as a forward pass
    update     likewise for the policy
    offload    weights to the GPU, gradients back, for every optimizer step

Devices play while others are served, so a roll-out takes the longer of the two. What is assumed about the hardware is
an argument.
"""

from dataclasses import dataclass
from typing import Any

from coach_gym.agents.planning.flops import Size, forward_flops
from coach_gym.agents.planning.memory import Run
from coach_gym.agents.planning.shape import Shape


@dataclass(frozen=True)
class Hardware:
    """What is assumed about GPUs and devices; the defaults fit an H100 and an emulator.

    Attributes:
        tflops: 10^12 operations per second that passes reach in bfloat16.
        bandwidth: GB per second that decoding reads.
        bus: GB per second between host and GPU.
        step: Seconds of a device's step.
        reset: Seconds of a device's reset.
        num_envs: Number of devices.
    """

    tflops: float = 350.0
    bandwidth: float = 2000.0
    bus: float = 20.0
    step: float = 5.0
    reset: float = 40.0
    num_envs: int = 32


def seconds(model: Any, shape: Shape, run: Run, hardware: Hardware) -> dict[str, float]:
    """Computes the seconds of one iteration, by the names in this module's formulas, and their sum.

    Args:
        model: The policy's model, which may be on the meta device.
        shape: Its architecture.
        run: The training.
        hardware: Speeds.
    """
    episodes = run.batch_size / run.gpus
    at_once = max(1.0, min(run.batch_size, hardware.num_envs) / run.gpus)
    rounds = episodes / at_once
    speed = 1e12 * hardware.tflops
    trunk = _operations(model, shape, run, run.trunk, 0)
    tree = _operations(model, shape, run, run.passes * (run.trunk + run.branches), run.turns * run.k * run.response)
    times = 3 if run.lora_rank else 4  # forward, recomputed, and one or two products per product in the backward pass
    one_prompt = _operations(model, shape, run, run.screen + 500, 0, turns=1)
    parts = {
        "devices": rounds * (run.turns * hardware.step + hardware.reset),
        "generate": episodes * trunk / speed + rounds * run.turns * _decoding(shape, run, hardware, at_once * run.k),
        "judge": 0.0,
        "critic": episodes * (times + 1) * tree / speed if run.critic else 0.0,
        "update": episodes * times * tree / speed,
        "offload": 0.0,
    }
    if run.judge is not None:
        verdicts = rounds * run.turns * _decoding(shape, run, hardware, at_once, run.judge_response)
        parts["judge"] = episodes * run.turns * one_prompt / speed + verdicts
    if run.cpu_offload:
        models = 2 if run.critic else 1
        moved = run.lora_rank * shape.inputs * 8 + 2 * shape.total if run.lora_rank else 8 * shape.total
        parts["offload"] = models * moved / run.gpus / 1e9 / hardware.bus
    played = max(parts["devices"], parts["generate"] + parts["judge"])
    return {**parts, "iteration": played + parts["critic"] + parts["update"] + parts["offload"]}


def _operations(model: Any, shape: Shape, run: Run, tokens: int, scored: int, turns: int | None = None) -> float:
    """Operations of a forward pass over an episode, or over some of its screenshots."""
    turns = run.turns if turns is None else turns
    side = max(1, round((shape.merged * run.screen) ** 0.5))
    pairs = tokens * run.trunk // 2 if turns > 1 else tokens * tokens // 2
    size = Size(tokens, pairs, scored, [(1, side, side)] * turns)
    return sum(forward_flops(model, size).values())


def _decoding(shape: Shape, run: Run, hardware: Hardware, rows: float, response: int | None = None) -> float:
    """Seconds in which some rows are decoded together to their end."""
    read = 2 * shape.total + rows / run.k * 4 * shape.kv * shape.layers * run.trunk / 2
    return (response or run.response) * read / (1e9 * hardware.bandwidth)
