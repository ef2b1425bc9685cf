"""Examples for supervised fine-tuning: what a model reads, and the tokens that it learns to write."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.data import Dataset

from coach_gym.agents.data.labels import HELD_OUT, LabelFolder
from coach_gym.agents.data.retelling import retell
from coach_gym.agents.models.chatml import ImageInput, Segment, stack_images
from coach_gym.agents.models.mrope import rope_index
from coach_gym.agents.models.policy import Policy
from coach_gym.agents.models.reward_models import GenerativePRM, format_judgment
from coach_gym.data.folder import EpisodeFolder
from coach_gym.episode import Episode

IGNORED = -100
"""Label of tokens that are given, as in PyTorch's cross-entropy."""


@dataclass
class Example:
    """A sequence of tokens.

    Attributes:
        input_ids: All tokens.
        labels: The same for tokens to be learned, and `IGNORED` for those that are given.
        images: The images among them, in order.
    """

    input_ids: list[int] = field(default_factory=list)
    labels: list[int] = field(default_factory=list)
    images: list[ImageInput] = field(default_factory=list)

    def add(self, segment: Segment, learned: bool = False) -> None:
        """Appends tokens."""
        self.input_ids += segment.input_ids
        self.labels += segment.input_ids if learned else [IGNORED] * len(segment)
        self.images += segment.images


class VerdictExamples(Dataset):
    """One example per label: the process reward model's prompt, and the reason and verdict that it should write.

    Args:
        prm: Writes the prompts.
        labels: The labels.
        held_out: Whether to take those that are held out, or the others.
    """

    def __init__(self, prm: GenerativePRM, labels: LabelFolder, held_out: bool) -> None:
        self.prm = prm
        self.folder = labels
        self.labels = [label for label in labels.labels if label.held_out is held_out]

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, index: int) -> list[Example]:
        label, chat = self.labels[index], self.prm.policy.chat
        episode = self.folder.episode(label)
        example = Example()
        example.add(self.prm.prompt(*question(episode, label.step, label.action)))
        verdict = chat.encode_text(format_judgment(label.good, label.reason))
        example.add(Segment([*verdict, chat.turn_end]), learned=True)
        return [example]


def question(episode: Episode, step: int, action: str) -> tuple[str, list[tuple[Any, str]]]:
    """Returns the question whether an action would be good at a step of a demonstration, as judges take it."""
    done = [(each.observation, each.action) for each in episode.steps[:step]]
    return episode.goal, [*done, (episode.steps[step].observation, action)]


class DemonstrationExamples(Dataset):
    """Demonstrations in a policy's dialect, of which it learns all responses.

    An episode is one example, or several where prompts drop their oldest steps to stay within `max_prompt_length` and
    the dialect's `max_turns`.
    Episodes that did not reach their goal are left out.

    Args:
        policy: Writes the prompts.
        folders: Folders of episodes.
        held_out: Whether to take the episodes that are held out, one in ten, or the others.
    """

    def __init__(self, policy: Policy, folders: Sequence[str | Path], held_out: bool) -> None:
        self.policy = policy
        sources = [EpisodeFolder(folder) for folder in folders]
        self.episodes = [
            (source, name) for number, source in enumerate(sources) for name in source.names
            if (zlib.crc32(f"{number}/{name}".encode()) % HELD_OUT == 0) is held_out and source.heading(name).success
        ]  # fmt: skip

    def __len__(self) -> int:
        return len(self.episodes)

    def __getitem__(self, index: int) -> list[Example]:
        source, name = self.episodes[index]
        return list(self._examples(retell(self.policy, source.read(name))))

    def _examples(self, episode: Episode) -> Iterator[Example]:
        history = self.policy.history(episode.goal, episode.steps)
        starts = enumerate(self.policy.starts(history))
        for start, group in groupby(starts, key=lambda pair: pair[1]):
            steps = [step for step, _ in group]
            example = Example()
            example.add(history.prompt(start, steps[0]))
            for step in steps:
                if step > steps[0]:
                    example.add(history.observations[step])
                tokens = episode.steps[step].candidates[0].token_ids
                example.add(Segment(tokens), learned=True)
                example.add(Segment(history.responses[step].input_ids[len(tokens) :]))
            yield example


class Collator:
    """Pads examples to a batch of tensors.

    Args:
        policy: Its tokens and images.
    """

    def __init__(self, policy: Policy) -> None:
        self.chat = policy.chat
        self.pad: int = policy.tokenizer.pad_token_id

    def __call__(self, items: Sequence[Sequence[Example]]) -> dict[str, Tensor]:
        """Returns the arguments of the model's `forward`, and `labels`.

        `input_ids`, `attention_mask` and `labels` are (N, L), `position_ids` (3, N, L). Of the logits, `logits_to_keep`
        asks only for the columns before tokens that are learned: those of all would take gigabytes.
        """
        rows = [example for item in items for example in item]
        length = max(len(row.input_ids) for row in rows)
        batch = {
            "input_ids": torch.full((len(rows), length), self.pad),
            "attention_mask": torch.zeros(len(rows), length, dtype=torch.long),
            "labels": torch.full((len(rows), length), IGNORED),
            "position_ids": torch.zeros(3, len(rows), length, dtype=torch.long),
        }
        for number, row in enumerate(rows):
            end = len(row.input_ids)
            batch["input_ids"][number, :end] = torch.tensor(row.input_ids)
            batch["attention_mask"][number, :end] = 1
            batch["labels"][number, :end] = torch.tensor(row.labels)
            grids = [image.grid for image in row.images]
            positions, _ = rope_index(row.input_ids, grids, self.chat.image_pad, self.chat.merge_size)
            batch["position_ids"][:, number, :end] = positions
        batch["logits_to_keep"] = learned_columns(batch["labels"])
        return batch | stack_images([image for row in rows for image in row.images], torch.device("cpu"))


def learned_columns(labels: Tensor) -> Tensor:
    """Returns the columns of a batch, (n,), after which some row has a token to learn; `labels` are (N, L)."""
    return (labels[:, 1:] != IGNORED).any(0).nonzero()[:, 0]


def token_loss(outputs: Any, labels: Tensor, num_items_in_batch: Tensor | int | None = None) -> Tensor:
    """Computes the mean cross-entropy of the tokens to be learned (paper, equation of the PRM's loss).

    Args:
        outputs: Their `logits` are those of `learned_columns`, (N, n, vocabulary).
        labels: Labels, (N, L).
        num_items_in_batch: Number of tokens to be learned in the whole batch, of which this is a part; None if it is
            the whole.
    """
    targets = labels[:, learned_columns(labels) + 1]
    number = (targets != IGNORED).sum() if num_items_in_batch is None else num_items_in_batch
    logits = outputs.logits.float().flatten(0, 1)
    losses = nn.functional.cross_entropy(logits, targets.flatten(), ignore_index=IGNORED, reduction="sum")
    return losses / number
