"""Computes, without measuring, the memory of one GPU while a 7B policy and its critic train on several.

    python -m benchmarks.memory [--gpus 1 4 8] [--steps 25] [--k 1 4 8] [--cpu-offload] [--lora-rank 16] [--json FILE]

`coach_gym.agents.planning.memory` states the formulas; `coach-gym plan` prints one row and the seconds of an iteration.
"""

import argparse
import json
from pathlib import Path

from coach_gym.agents.planning.memory import Run, memory
from coach_gym.agents.planning.shape import ALIKE, QWEN2_5_VL, Shape, empty_model, published, shape_of
from coach_gym.agents.planning.shape import VISION as TOWER

TEXT = {**QWEN2_5_VL["7B"], **ALIKE}
VISION = {**TOWER, "intermediate_size": 3420, "out_hidden_size": 3584}


def count() -> Shape:
    """Counts the parameters of UI-TARS-1.5-7B's architecture, without allocating them."""
    return shape_of(empty_model(published("7B")))


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gpus", type=int, nargs="+", default=[1, 4, 8])
    parser.add_argument("--steps", type=int, nargs="+", default=[16, 25])
    parser.add_argument("--k", type=int, nargs="+", default=[1, 4, 8])
    parser.add_argument("--lora-rank", type=int, default=0)
    parser.add_argument("--cpu-offload", action="store_true")
    parser.add_argument("--json", type=Path, help="write the results to this file")
    options = parser.parse_args()
    shape = count()
    print(f"{shape.total / 1e9:.2f}e9 parameters; GB per GPU, computed")
    rows = [
        {"gpus": n, "T": t, "k": k, **memory(
            shape, Run(n, t, k, lora_rank=options.lora_rank, cpu_offload=options.cpu_offload)
        )}
        for n in options.gpus for t in options.steps for k in options.k
    ]  # fmt: skip
    print("| " + " | ".join(rows[0]) + " |", "|" + "---|" * len(rows[0]), sep="\n")
    for row in rows:
        print("| " + " | ".join(f"{v:.1f}" if isinstance(v, float) else str(v) for v in row.values()) + " |")
    if options.json:
        headline = {f"gb_{row['gpus']}_T{row['T']}_k{row['k']}": row["peak"] for row in rows}
        options.json.write_text(json.dumps({"measured": False, "headline": headline, "rows": rows}, indent=2) + "\n")


if __name__ == "__main__":
    main()
