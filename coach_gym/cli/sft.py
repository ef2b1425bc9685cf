"""`coach-gym sft`: fine-tunes a process reward model on labels, or a policy on demonstrations.

coach-gym sft prm runs/labels --model ByteDance-Seed/UI-TARS-1.5-7B --out runs/prm
torchrun --nproc-per-node 8 -m coach_gym sft prm runs/labels --model ByteDance-Seed/UI-TARS-1.5-7B --out runs/prm
coach-gym sft policy runs/data/experts --model Qwen/Qwen2.5-VL-3B-Instruct --lora-rank 64 --out runs/policy

The same command continues what was interrupted.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from coach_gym.checks import require_whole
from coach_gym.cli.refusals import path, refusing
from coach_gym.files import require_folders
from coach_gym.hub import require_model


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options of the command."""
    parser.add_argument("task", choices=("prm", "policy"), help="what the model becomes")
    parser.add_argument("data", type=path, nargs="+", help="a folder of labels (prm), or folders of episodes (policy)")
    parser.add_argument("--model", default="pocket", help="'pocket', a directory or a hub id (default: %(default)s)")
    parser.add_argument("--template", type=path, help="text file that replaces the judge's prompt")
    parser.add_argument("--learning-rate", type=float, default=1e-5, help="at its peak (default: %(default)s)")
    parser.add_argument("--batch-size", type=int, default=32, help="over all processes (default: %(default)s)")
    parser.add_argument("--epochs", type=float, default=2.0, help="passes over the data (default: %(default)s)")
    parser.add_argument("--lora-rank", type=int, default=0, help="0 trains all weights (default: %(default)s)")
    parser.add_argument("--checkpoint-activations", action="store_true", help="saves memory and takes longer")
    parser.add_argument("--max-prompt-length", type=int, default=32_768, help="in tokens (default: %(default)s)")
    parser.add_argument("--save-every", type=int, default=100, help="steps between checkpoints (default: %(default)s)")
    parser.add_argument("--workers", type=int, default=4, help="processes that load data (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of the order of the examples (default: %(default)s)")
    parser.add_argument("--out", type=path, required=True, help="folder of the model; continued if it exists")
    parser.set_defaults(run=sft)


def sft(
    task: str,
    data: Sequence[Path],
    model: str,
    template: Path | None,
    learning_rate: float,
    batch_size: int,
    epochs: float,
    lora_rank: int,
    checkpoint_activations: bool,
    max_prompt_length: int,
    save_every: int,
    workers: int,
    seed: int,
    out: Path,
) -> None:
    """Fine-tunes a model; the options are those of the command line."""
    with refusing():
        require_model(model)

    import torch

    from coach_gym.agents.data.examples import DemonstrationExamples, VerdictExamples
    from coach_gym.agents.data.labels import LabelFolder
    from coach_gym.agents.data.sft import Settings, fine_tune, verdict_accuracy
    from coach_gym.agents.models.policy import Policy
    from coach_gym.agents.models.reward_models import GenerativePRM

    alone = os.environ.get("WORLD_SIZE", "1") == "1"
    about = f"{task} of {model} on {' '.join(str(each.resolve()) for each in data)}"
    with refusing():
        require_whole(1, max_prompt_length=max_prompt_length)
        require_folders(out=out)
        settings = Settings(
            learning_rate, batch_size=batch_size, epochs=epochs, lora_rank=lora_rank, save_every=save_every,
            checkpoint_activations=checkpoint_activations, workers=workers, seed=seed,
        )  # fmt: skip
        labels = [LabelFolder(data[0])] if task == "prm" else []
        if labels and len(data) > 1:
            raise ValueError("sft prm takes one folder of labels; coach-gym label takes several folders of episodes")
        policy = Policy.load(model, device="auto" if alone else "cpu", dtype=None if lora_rank else torch.float32)
        policy.max_prompt_length = max_prompt_length
        taught, held = (
            VerdictExamples(GenerativePRM(policy, template), labels[0], held_out) if labels
            else DemonstrationExamples(policy, data, held_out)
            for held_out in (False, True)
        )  # fmt: skip
    try:
        summary = fine_tune(policy, taught, out, settings, held if len(held) else None, about, progress_bar=True)
    except (ImportError, ValueError) as error:
        sys.exit(str(error))
    if int(os.environ.get("RANK", "0")) == 0:
        print(f"{summary}\nthe model is in {out}")
    if labels and alone:
        share, read, unreadable = verdict_accuracy(GenerativePRM(policy, template), labels[0])
        right = f"{share:.0%} of {read} right" if read else "none could be read"
        print(f"held-out verdicts: {right}, {unreadable} unreadable")
