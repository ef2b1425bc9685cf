"""The memory of one GPU while a policy and its critic train, computed and not measured.

Bytes per GPU for P parameters, N GPUs, h and v hidden sizes of text model and vision tower, I and J their intermediate
sizes, n tokens and m patches of one pass over an episode's tree:

    states       for policy and critic, which has no language head, each 16 P / N: weights, gradients, two moments in
                 float32. Moments of 8 bits take 2.03 bytes in place of 8: each 256 have a scale in float32. With
                 adapters 2 P / N of frozen weights, which policy and critic share in one process, and 16 bytes (10.03)
                 per parameter of adapters. With CPU offload they are on the host
    sampler      2 P: a whole bfloat16 copy that generates responses; none with vLLM or servers, nor in one process with
                 adapters, which samples from the weights that it trains
    judge        2 P: a frozen bfloat16 model in the trainer; none with vLLM or servers
    gathered     bfloat16: what is outside the layers and two of them; nothing in one process without offload
    activations  kept for the backward pass: 2 h n layers of the text model; masks, 2 (k - 1) R for every token that a
                 step's branches see; 2 v blocks + 3 x patch for every patch, and 6.5 v more for each block whose
                 output enters the text model early, unless only adapters are trained
    working      the largest of three that never coincide. A recomputed layer: n (26 h + 12 I + 6 kv), with queries of
                 size Q that are normalised (Qwen3-VL) n (15 Q - 7 h) more, and copies of the prompts' keys and values,
                 repeated for every head of the queries: 4 q for every token that a step's branches see. If nothing is
                 gathered, adapters take n (24 h + 4 I) more for their inputs in float32. Otherwise there are, without
                 adapters, the gradients of the language head and of the layer, the latter also in float32, in which
                 processes average it: 6 bytes per parameter. The logits: 12 bytes x vocabulary x scored tokens, two
                 copies in float32 and a gradient, and the gradient of the language head. A recomputed vision block,
                 m (40 v + 12 J), without the text's activations; with adapters the pictures as they enter the tower,
                 m (20 v + 8 patch)
    host         12 bytes (6.03) per trained parameter / N: the copy of weights and moments to which a failed update
                 returns; and the states with CPU offload
    engines      vLLM in the same process: 2 P of weights, and 4 kv layers bytes per token of its cache, for policy and
                 judge each. They sleep while the models train, so the peak is the larger of both phases

n = T (S + R) + opening + branches, where a screenshot with its turn has S tokens and a response R. Branches have
T (k - 1) R tokens, of which `max_branch_tokens` go into one pass. The factors of `working` are fitted to
measured peaks of small models on a CPU. Fragmentation and library buffers come on top; a tenth is a usual allowance.
"""

from dataclasses import dataclass
from typing import Literal

from coach_gym.agents.models.tree import MAX_BRANCH_TOKENS
from coach_gym.agents.planning.shape import Shape
from coach_gym.agents.training.optimizers import OptimizerName

GB = 1e9
OPENING = 1000  # tokens before the first screenshot
TEXT_H, TEXT_I, TEXT_KV = 26.0, 12.0, 6.0
NORMED_Q, NORMED_H = 15.0, -7.0
VISION_H, VISION_I = 40.0, 12.0
DEEP = 6.5
PIXELS, FROZEN_H = 8.0, 20.0
LORA_H, LORA_I = 24.0, 4.0
MOMENTS = {"adamw": 8.0, "adamw8bit": 2 + 8 / 256}
"""Bytes of a parameter's moments, by optimizer."""
Place = Literal["process", "vllm", "server"]


@dataclass(frozen=True)
class Run:
    """What is trained, and on what.

    Attributes:
        gpus: N, one process each.
        turns: T, steps of an episode.
        k: Candidates per state.
        screen: S, tokens of a screenshot and its turn.
        response: R, tokens of a response.
        batch_size: Episodes of a roll-out.
        critic: Whether there is a critic, of the policy's architecture.
        lora_rank: Rank of the adapters; 0 trains all weights.
        optimizer: The agents' setting of this name.
        cpu_offload: Whether weights, gradients and moments are on the host.
        generation: What draws responses: transformers in the trainer's process, vLLM in the same process, or a server.
        judge: What draws verdicts, likewise; None for no judge.
        judge_response: Tokens of a verdict.
        cache: Tokens of the cache of an engine in the trainer's process.
        max_branch_tokens: Tokens of candidates in one pass.
    """

    gpus: int = 8
    turns: int = 25
    k: int = 4
    screen: int = 1631
    response: int = 120
    batch_size: int = 8
    critic: bool = True
    lora_rank: int = 0
    optimizer: OptimizerName = "adamw"
    cpu_offload: bool = False
    generation: Place = "vllm"
    judge: Place | None = "vllm"
    judge_response: int = 200
    cache: int = 100_000
    max_branch_tokens: int = MAX_BRANCH_TOKENS

    @property
    def trunk(self) -> int:
        """Tokens of an episode without its branches."""
        return self.turns * (self.screen + self.response) + OPENING

    @property
    def branches(self) -> int:
        """Tokens of the branches in one pass."""
        return min(self.turns * (self.k - 1) * self.response, self.max_branch_tokens)

    @property
    def passes(self) -> int:
        """Passes that an episode's branches need."""
        return max(1, -(-self.turns * (self.k - 1) * self.response // self.max_branch_tokens))

    @property
    def gathers(self) -> bool:
        """Whether passes fetch their weights, layer by layer, from other processes or from the host."""
        return self.gpus > 1 or self.cpu_offload

    @property
    def stepped(self) -> float:
        """Steps whose branches are in one pass."""
        return self.branches / ((self.k - 1) * self.response) if self.k > 1 else self.turns


def working_bytes(shape: Shape, run: Run, patches: int | None = None) -> tuple[float, float]:
    """Computes bytes of the activations that are kept, and of the largest that are not.

    Args:
        shape: The policy's architecture.
        run: The training.
        patches: Patches of an episode; None for those of `run.turns` screenshots.
    """
    tokens, branch = run.trunk + run.branches, (run.k - 1) * run.response
    patches = shape.merged * run.turns * run.screen if patches is None else patches
    seen = run.stepped * (run.trunk / 2 + branch) if run.k > 1 else 0
    text = 2 * shape.hidden * tokens * shape.layers + 2 * branch * seen
    of_blocks = shape.vision_hidden * (2.0 * shape.vision_depth + DEEP * shape.vision_deep)
    tower = 0.0 if run.lora_rank else patches * (of_blocks + 3 * shape.patch)
    layer = tokens * (TEXT_H * shape.hidden + TEXT_I * shape.inner + TEXT_KV * shape.kv)
    layer += tokens * (NORMED_Q * shape.normed + NORMED_H * shape.hidden) if shape.normed else 0
    layer += seen * 4 * shape.repeated
    head_gradient = 2 * shape.vocabulary * shape.hidden
    logits = 12 * shape.vocabulary * run.stepped * run.k * run.response
    if run.lora_rank:
        layer += 0 if run.gathers else tokens * (LORA_H * shape.hidden + LORA_I * shape.inner)
        block = patches * (PIXELS * shape.patch + FROZEN_H * shape.vision_hidden)
    else:
        layer += head_gradient + 6 * shape.layer if run.gathers else 0
        logits += head_gradient
        block = patches * (VISION_H * shape.vision_hidden + VISION_I * shape.vision_inner)
    return text + tower, max(layer, logits, block - text)


def memory(shape: Shape, run: Run) -> dict[str, float]:
    """Computes GB of one GPU, by the names in this module's formulas, with the peak of each phase and of both.

    Args:
        shape: The policy's architecture, which critic and judge share.
        run: The training.
    """
    kept, working = working_bytes(shape, run)
    models = 2 if run.critic else 1
    weights = models * shape.total - (shape.head if run.critic else 0)
    adapters = run.lora_rank * shape.inputs
    moments = MOMENTS[run.optimizer]
    if run.lora_rank:
        states = (2 * (shape.total if run.gpus == 1 else weights) + models * (8 + moments) * adapters) / run.gpus
    else:
        states = (8 + moments) * weights / run.gpus
    sampler = run.generation == "process" and not (run.lora_rank and run.gpus == 1)
    engine = 2 * shape.total + 4 * shape.kv * shape.layers * run.cache
    parts = {
        "states": 0.0 if run.cpu_offload else states,
        "sampler": 2 * shape.total if sampler else 0,
        "judge": 2 * shape.total if run.judge == "process" else 0,
        "gathered": 2 * (shape.outside + 2 * shape.layer) if run.gathers else 0,
        "activations": kept,
        "working": working,
        "engines": engine * sum(place == "vllm" for place in (run.generation, run.judge)),
    }
    gigabytes = {name: value / GB for name, value in parts.items()}
    resting = gigabytes["states"] + gigabytes["sampler"] + gigabytes["judge"]
    learning = resting + gigabytes["gathered"] + gigabytes["activations"] + gigabytes["working"]
    playing = resting + gigabytes["engines"]
    trained = models * adapters if run.lora_rank else weights
    host = ((4 + moments) * trained / run.gpus + (states if run.cpu_offload else 0.0)) / GB
    return {**gigabytes, "playing": playing, "learning": learning, "peak": max(playing, learning), "host": host}
