"""Supervised fine-tuning of a process reward model or a policy, on transformers' Trainer, with the paper's settings.

    fine_tune(policy, VerdictExamples(prm, labels, False), "runs/prm", held_out=VerdictExamples(prm, labels, True))
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch.utils.data import Dataset
from transformers import PreTrainedModel, Trainer, TrainingArguments
from transformers.trainer_utils import get_last_checkpoint

from coach_gym.agents.data.examples import Collator, question, token_loss
from coach_gym.agents.data.labels import LabelFolder
from coach_gym.agents.models.lora import add_lora, has_lora, load_adapters
from coach_gym.agents.models.policy import Policy
from coach_gym.agents.models.reward_models import GenerativePRM
from coach_gym.checks import require_at_most, require_positive, require_whole
from coach_gym.files import read_object, write_whole

_SETTINGS, _CHECKPOINTS = "sft.json", "checkpoints"
_MOST_WORKERS = 1 << 10  # processes that load data
_LARGEST_SEED = (1 << 32) - 1  # of NumPy, which Trainer seeds


@dataclass(frozen=True)
class Settings:
    """How a model is fine-tuned. The defaults are the paper's (appendix, PRM training).

    Attributes:
        learning_rate: Peak of the learning rate, which then falls along a cosine.
        warmup_ratio: Share of the training during which it rises.
        batch_size: Examples per optimizer step, over all processes.
        epochs: Passes over the examples.
        weight_decay: Of AdamW.
        betas: Of AdamW.
        max_grad_norm: Norm to which larger gradients are scaled down.
        lora_rank: Rank of LoRA in the layers of the language model; 0 trains all weights.
        checkpoint_activations: Recomputes activations in the backward pass.
        save_every: Optimizer steps between checkpoints, of which the last two are kept.
        workers: Processes that load examples, for each process that trains.
        seed: Seed of the order of the examples.
    """

    learning_rate: float = 1e-5
    warmup_ratio: float = 0.1
    batch_size: int = 32
    epochs: float = 2.0
    weight_decay: float = 0.01
    betas: tuple[float, float] = (0.9, 0.95)
    max_grad_norm: float = 1.0
    lora_rank: int = 0
    checkpoint_activations: bool = False
    save_every: int = 100
    workers: int = 0
    seed: int = 0

    def __post_init__(self) -> None:
        require_whole(1, batch_size=self.batch_size, save_every=self.save_every)
        require_whole(0, lora_rank=self.lora_rank, workers=self.workers, seed=self.seed)
        require_at_most(_MOST_WORKERS, workers=self.workers)
        require_at_most(_LARGEST_SEED, seed=self.seed)
        require_positive(learning_rate=self.learning_rate, epochs=self.epochs, max_grad_norm=self.max_grad_norm)


@dataclass
class Summary:
    """What came of it.

    Attributes:
        examples: Examples trained on.
        steps: Optimizer steps.
        losses: Mean loss between reports, in order.
        held_out: Mean loss on held-out examples after every epoch.
    """

    examples: int
    steps: int
    losses: list[float]
    held_out: list[float]

    def __str__(self) -> str:
        falls = f"loss {self.losses[0]:.4f} at first and {self.losses[-1]:.4f} at last" if self.losses else "no loss"
        after = ", ".join(f"{loss:.4f}" for loss in self.held_out)
        return f"{self.examples} examples, {self.steps} steps, {falls}" + (f"; held out: {after}" if after else "")


def fine_tune(
    policy: Policy,
    examples: Dataset,
    out: str | Path,
    settings: Settings | None = None,
    held_out: Dataset | None = None,
    about: str = "",
    progress_bar: bool = False,
) -> Summary:
    """Fine-tunes a model and writes it as `Policy.save` does; an interrupted call can be repeated.

    In the processes of torchrun, the weights are sharded by FSDP2; with LoRA, every process keeps a copy.

    Args:
        policy: The model, changed in place; with LoRA, it keeps its adapters. Its weights should be float32 unless LoRA
            leaves them alone; passes are in bfloat16 on a GPU.
        examples: Examples, one or a few per item.
        out: Folder of the model, and of checkpoints in `checkpoints/`.
        settings: How.
        held_out: Examples on which the loss is reported after every epoch.
        about: What the examples are, so that another run is not continued by mistake.
        progress_bar: Shows a progress bar.

    Raises:
        ImportError: `accelerate` or `peft` is not installed.
        ValueError: There are no examples, the processes cannot share a batch, or `out` holds another run.
    """
    out, settings = Path(out), settings or Settings()
    processes = int(os.environ.get("WORLD_SIZE", "1"))
    number = len(examples)  # type: ignore[arg-type]
    if not number:
        raise ValueError(f"there are no examples to learn from: {about or 'the data'} is empty; pass other data")
    if settings.batch_size % processes:
        raise ValueError(f"batch_size={settings.batch_size} is not a multiple of the {processes} processes")
    _check_run(out, {**asdict(settings), "betas": list(settings.betas), "about": about, "examples": number})
    if settings.lora_rank:
        add_lora(policy.model, settings.lora_rank, 2.0 * settings.lora_rank)
    arguments = _arguments(out, settings, processes, progress_bar, held_out is not None)
    trainer = _Trainer(
        model=policy.model, args=arguments, train_dataset=examples, eval_dataset=held_out,
        data_collator=Collator(policy), compute_loss_func=token_loss,
    )  # fmt: skip
    trainer.train(resume_from_checkpoint=_last_checkpoint(out))
    _save(trainer, policy, out, settings)
    reports = trainer.state.log_history
    return Summary(
        number, trainer.state.global_step, [report["loss"] for report in reports if "loss" in report],
        [report["eval_loss"] for report in reports if "eval_loss" in report],
    )  # fmt: skip


class _Trainer(Trainer):
    """Transformers' Trainer, which resumes models whose weights have other names in files than in memory.

    `save_pretrained` writes a Qwen-VL under the names of its published files. Trainer reads these back without
    translation, finds none of them, and goes on from the weights that the model happens to have.
    """

    def _load_from_checkpoint(self, resume_from_checkpoint: str, model: Any = None) -> None:
        whole = self.model
        if self.is_fsdp_enabled:
            super()._load_from_checkpoint(resume_from_checkpoint, model)
            return
        assert isinstance(whole, PreTrainedModel)
        if has_lora(whole):
            load_adapters(whole, resume_from_checkpoint)
            return
        read = type(whole).from_pretrained(resume_from_checkpoint, dtype=whole.dtype)
        whole.load_state_dict(read.state_dict())


def _arguments(out: Path, settings: Settings, processes: int, progress_bar: bool, evaluates: bool) -> TrainingArguments:
    cuda = torch.cuda.is_available()
    shards = processes > 1 and not settings.lora_rank
    beta1, beta2 = settings.betas
    return TrainingArguments(
        output_dir=str(out / _CHECKPOINTS),
        learning_rate=settings.learning_rate, lr_scheduler_type="cosine", warmup_steps=settings.warmup_ratio,
        adam_beta1=beta1, adam_beta2=beta2, weight_decay=settings.weight_decay, max_grad_norm=settings.max_grad_norm,
        num_train_epochs=settings.epochs, per_device_train_batch_size=1, per_device_eval_batch_size=1,
        gradient_accumulation_steps=settings.batch_size // processes,
        bf16=cuda, use_cpu=not cuda, ddp_backend=None if processes == 1 else "nccl" if cuda else "gloo",
        fsdp=shards or None,  # type: ignore[arg-type]  # declared as text, documented as bool
        fsdp_config={"activation_checkpointing": settings.checkpoint_activations} if shards else None,
        activation_checkpointing=settings.checkpoint_activations and not shards,
        eval_strategy="epoch" if evaluates else "no",
        save_steps=settings.save_every, save_total_limit=2, logging_steps=1,
        prediction_loss_only=True, remove_unused_columns=False, dataloader_num_workers=settings.workers,
        seed=settings.seed, data_seed=settings.seed, report_to="tensorboard", disable_tqdm=not progress_bar,
    )  # fmt: skip


def _check_run(out: Path, told: dict[str, Any]) -> None:
    """Refuses to continue a run that was made in another way."""
    path = out / _SETTINGS
    if path.is_file():
        known = read_object(path)
        if other := {name: value for name, value in known.items() if told.get(name) != value}:
            raise ValueError(f"{out} holds a run with {other}; pass these, or another folder")
    out.mkdir(parents=True, exist_ok=True)
    write_whole(path, json.dumps(told, indent=2) + "\n", durable=True)


def _last_checkpoint(out: Path) -> str | None:
    folder = out / _CHECKPOINTS
    return get_last_checkpoint(str(folder)) if folder.is_dir() else None


def _save(trainer: Trainer, policy: Policy, out: Path, settings: Settings) -> None:
    """Writes the whole model; weights of LoRA are added to those of the model."""
    if trainer.is_fsdp_enabled:
        trainer.save_model(str(out))  # all processes take part
    elif trainer.is_world_process_zero():
        whole = policy.merged() if settings.lora_rank else policy
        whole.model.save_pretrained(out)
    if trainer.is_world_process_zero():
        policy.save_processor(out)


def verdict_accuracy(prm: GenerativePRM, labels: LabelFolder, most: int = 200) -> tuple[float, int, int]:
    """Returns how well a process reward model judges held-out labels.

    Args:
        prm: The model.
        labels: The labels.
        most: Held-out labels to ask about at most.

    Returns:
        The share of right verdicts among all that could be read, their number, and the number that could not be read.
    """
    right: list[bool] = []
    asked = [label for group in labels.by_episode(held_out=True) for label in group][:most]
    for label in asked:
        verdict = prm.judge([question(labels.episode(label), label.step, label.action)])[0]
        if verdict is not None:
            right.append((verdict == 1.0) is label.good)
    return (sum(right) / len(right) if right else float("nan")), len(right), len(asked) - len(right)
