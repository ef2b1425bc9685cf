"""Computes, without measuring, the memory of one GPU while a 7B policy and its critic train on several.

    python -m benchmarks.memory [--gpus 1 4 8] [--steps 16] [--k 1 4 8] [--json FILE]

GB (10^9 bytes) per GPU for P parameters, N GPUs, h and v hidden sizes of text model and vision tower, I intermediate
size, n tokens of one pass over an episode's tree:

    states       16 P / N for each of policy and critic: weights, gradients, two moments, float32
    sampler      2 P: the complete bfloat16 copy that generates responses
    gathered     bfloat16: what is outside the layers with its gradient (4 bytes per parameter), and two layers likewise
    activations  kept for the backward pass: 2 h n layers of the text model; 2 v blocks + 6 x 1176 for every patch
    working      the larger of two that never coincide: a recomputed layer, n (26 h + 10 I + 6 kv), with its copies of
                 the prompts' keys and values, (4 h + 6 (k - 1) R) for every token that a step's branches see; and the
                 logits, 12 bytes x vocabulary x scored tokens: two copies in float32 and a gradient
    vLLM         in the same process: 2 P of weights, and 4 kv layers bytes per token of its cache

n = T (S + R) + opening + branches, where a screenshot with its turn has S tokens of 4 patches each and a response R.
Branches have T (k - 1) R tokens, of which `build_tree` allows `MAX_BRANCH_TOKENS` per pass. The bytes of `working` are
fitted to PyTorch's memory tracker on a small model. Fragmentation and library buffers come on top; a tenth is a usual
allowance.
"""

import argparse
import json
from dataclasses import dataclass
from pathlib import Path

import torch
from transformers import Qwen2_5_VLConfig, Qwen2_5_VLForConditionalGeneration

from coach_gym.agents.models.tree import MAX_BRANCH_TOKENS

GB = 1e9
OPENING = 1000  # tokens before the first screenshot
TEXT = dict(
    vocab_size=152_064, hidden_size=3584, intermediate_size=18_944, num_hidden_layers=28, num_attention_heads=28,
    num_key_value_heads=4, rms_norm_eps=1e-6, max_position_embeddings=128_000, max_window_layers=28,
    rope_parameters=dict(rope_type="default", rope_theta=1e6, mrope_section=[16, 24, 24]),
)  # fmt: skip
VISION = dict(
    depth=32, hidden_size=1280, intermediate_size=3420, num_heads=16, out_hidden_size=3584, patch_size=14,
    spatial_merge_size=2, temporal_patch_size=2, window_size=112, fullatt_block_indexes=[7, 15, 23, 31],
    tokens_per_second=2,
)  # fmt: skip


@dataclass(frozen=True)
class Sizes:
    """Numbers of parameters: in total, of a decoder layer, and outside decoder layers and vision blocks."""

    total: int
    layer: int
    outside: int


def count() -> Sizes:
    """Counts the parameters of UI-TARS-1.5-7B's architecture, without allocating them."""
    with torch.device("meta"):
        model = Qwen2_5_VLForConditionalGeneration(
            Qwen2_5_VLConfig(text_config=TEXT, vision_config=VISION, tie_word_embeddings=False)
        )

    def number(module: torch.nn.Module) -> int:
        return sum(parameter.numel() for parameter in module.parameters())

    layers, blocks = model.model.language_model.layers, model.model.visual.blocks
    return Sizes(number(model), number(layers[0]), number(model) - number(layers) - number(blocks))


def memory(sizes: Sizes, gpus: int, steps: int, k: int, screen: int, response: int, cache: int) -> dict[str, float]:
    """Computes GB of one GPU, by the names in this module's formulas.

    Args:
        sizes: Result of `count`.
        gpus: N.
        steps: Length T of an episode.
        k: Candidates per state.
        screen: S, tokens of a screenshot and its turn.
        response: R, tokens of a response.
        cache: Tokens in vLLM's cache; 0 without vLLM in this process.
    """
    hidden, inner, layers = TEXT["hidden_size"], TEXT["intermediate_size"], TEXT["num_hidden_layers"]
    kv = TEXT["num_key_value_heads"] * hidden // TEXT["num_attention_heads"]
    trunk, patches = steps * (screen + response) + OPENING, 4 * steps * screen
    branch = (k - 1) * response  # tokens of a step's branches
    branches = min(steps * branch, MAX_BRANCH_TOKENS)
    stepped = branches / branch if k > 1 else steps  # steps whose branches are in the pass
    tokens, scored = trunk + branches, stepped * k * response
    seen = stepped * (trunk / 2 + branch) if k > 1 else 0
    per_patch = 2 * VISION["hidden_size"] * VISION["depth"] + 6 * 1176
    layer = tokens * (26 * hidden + 10 * inner + 6 * kv) + seen * (4 * hidden + 6 * branch)
    parts = {
        "states": 2 * 16 * sizes.total / gpus,
        "sampler": 2 * sizes.total,
        "gathered": 4 * (sizes.outside + 2 * sizes.layer),
        "activations": 2 * hidden * tokens * layers + patches * per_patch,
        "working": max(layer, 12 * TEXT["vocab_size"] * scored),
        "vLLM": (2 * sizes.total + 4 * kv * layers * cache) if cache else 0,
    }
    gigabytes = {name: value / GB for name, value in parts.items()}
    return {**gigabytes, "sum": sum(gigabytes.values())}


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gpus", type=int, nargs="+", default=[1, 4, 8])
    parser.add_argument("--steps", type=int, nargs="+", default=[8, 16])
    parser.add_argument("--k", type=int, nargs="+", default=[1, 4, 8])
    parser.add_argument("--screen", type=int, default=1631, help="tokens of a screenshot and its turn")
    parser.add_argument("--response", type=int, default=120, help="tokens of a response")
    parser.add_argument("--cache", type=int, default=0, help="tokens of vLLM's cache in the same process; 0 for none")
    parser.add_argument("--json", type=Path, help="write the results to this file")
    options = parser.parse_args()
    sizes = count()
    print(f"{sizes.total / 1e9:.2f}e9 parameters; GB per GPU, computed")
    rows = [
        {"gpus": n, "T": t, "k": k, **memory(sizes, n, t, k, options.screen, options.response, options.cache)}
        for n in options.gpus for t in options.steps for k in options.k
    ]  # fmt: skip
    print("| " + " | ".join(rows[0]) + " |", "|" + "---|" * len(rows[0]), sep="\n")
    for row in rows:
        print("| " + " | ".join(f"{v:.1f}" if isinstance(v, float) else str(v) for v in row.values()) + " |")
    if options.json:
        headline = {f"gb_{row['gpus']}_T{row['T']}_k{row['k']}": row["sum"] for row in rows}
        options.json.write_text(json.dumps({"measured": False, "headline": headline, "rows": rows}, indent=2) + "\n")


if __name__ == "__main__":
    main()
