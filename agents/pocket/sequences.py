"""Weighted token sequences with screenshots, their batches and their loss."""

from __future__ import annotations

import random
from collections.abc import Iterator
from collections.abc import Sequence as Collection
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from coach_gym.agents.models.mrope import rope_index

PATCH, MERGE, FRAMES = 14, 2, 2
MEAN, STD = (0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711)
"""Mean and standard deviation of the image processor's normalisation, which are CLIP's."""


@dataclass
class Sequence:
    """Tokens with weights in the loss.

    Attributes:
        ids: Token ids.
        weights: Weight of each token in the loss; 0 for tokens that are given.
        screenshots: Screenshots in the model's frame, (T, H, W, 3) uint8; None without any.
        task: Task family of a demonstration.
    """

    ids: list[int] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)
    screenshots: np.ndarray | None = None
    task: str = ""

    def add(self, ids: list[int], weight: float = 0.0) -> None:
        """Appends tokens with the same weight."""
        self.ids += ids
        self.weights += [weight] * len(ids)

    def grids(self) -> list[tuple[int, int, int]]:
        """Returns the patch grids of the screenshots."""
        if self.screenshots is None:
            return []
        count, height, width, _ = self.screenshots.shape
        return [(1, height // PATCH, width // PATCH)] * count


@dataclass
class Batch:
    """Sequences padded to one length; causal attention keeps the padding harmless.

    Attributes:
        ids: Token ids, (N, L).
        weights: Weights in the loss, (N, L).
        position_ids: Rotary positions, (3, N, L).
        screenshots: Screenshots of all rows, in order.
        grids: Their patch grids.
    """

    ids: Tensor
    weights: Tensor
    position_ids: Tensor
    screenshots: list[Tensor]
    grids: list[tuple[int, int, int]]


def batches(sequences: list[Sequence], tokens: int, image_token: int, rng: random.Random) -> Iterator[Batch]:
    """Yields batches of about `tokens` tokens in random order, each of sequences of similar length."""
    waiting = sorted(sequences, key=lambda sequence: len(sequence.ids))
    groups = []
    while waiting:
        count = max(1, tokens // len(waiting[-1].ids))
        groups.append(waiting[-count:])
        del waiting[-count:]
    rng.shuffle(groups)
    for group in groups:
        yield collate(group, image_token)


def collate(group: Collection[Sequence], image_token: int) -> Batch:
    """Pads sequences to one batch."""
    length = max(len(sequence.ids) for sequence in group)
    ids = torch.zeros(len(group), length, dtype=torch.long)
    weights = torch.zeros(len(group), length)
    positions = torch.zeros(3, len(group), length, dtype=torch.long)
    for row, sequence in enumerate(group):
        end = len(sequence.ids)
        ids[row, :end] = torch.tensor(sequence.ids)
        weights[row, :end] = torch.tensor(sequence.weights)
        positions[:, row, :end], _ = rope_index(sequence.ids, sequence.grids(), image_token, MERGE)
    shown = [torch.from_numpy(s.screenshots) for s in group if s.screenshots is not None]
    return Batch(ids, weights, positions, shown, [grid for sequence in group for grid in sequence.grids()])


def patches(screenshots: Tensor) -> Tensor:
    """Computes the patches that `Qwen2VLImageProcessor` makes of pictures that need no resizing.

    Args:
        screenshots: Pictures, (N, H, W, 3) uint8.

    Returns:
        Patches, (N * H/14 * W/14, 3 * 2 * 14 * 14) float32; each picture counts as two equal frames.
    """
    count, height, width, _ = screenshots.shape
    pixels = (screenshots.float() / 255 - torch.tensor(MEAN)) / torch.tensor(STD)
    blocks = pixels.permute(0, 3, 1, 2).reshape(
        count, 3, height // PATCH // MERGE, MERGE, PATCH, width // PATCH // MERGE, MERGE, PATCH)
    blocks = blocks.permute(0, 2, 5, 3, 6, 1, 4, 7)  # picture, row, column, row and column in it, channel, y, x
    return blocks[..., None, :, :].expand(*blocks.shape[:6], FRAMES, PATCH, PATCH).reshape(
        -1, 3 * FRAMES * PATCH * PATCH)


def hidden_states(model: Any, batch: Batch) -> Tensor:
    """Returns the last hidden states of a `Qwen2_5_VLModel`, (N, L, hidden)."""
    device = model.device
    ids = batch.ids.to(device)
    embedded = model.language_model.embed_tokens(ids)
    if batch.screenshots:
        pixels = torch.cat([patches(shown) for shown in batch.screenshots]).to(device)
        seen = model.visual(pixels, grid_thw=torch.tensor(batch.grids, device=device)).pooler_output
        mask = (ids == model.config.image_token_id)[..., None]
        embedded = embedded.masked_scatter(mask, seen.to(embedded.dtype))
    return model.language_model(
        inputs_embeds=embedded, position_ids=batch.position_ids.to(device), attention_mask=None, use_cache=False
    ).last_hidden_state


def token_loss(model: Any, batch: Batch) -> tuple[Tensor, Tensor, Tensor]:
    """Computes the weighted cross-entropy of a `Qwen2_5_VLForConditionalGeneration`.

    Returns:
        The loss; whether each of the M tokens with a weight was predicted correctly, (M,) bool; their weights, (M,).
    """
    counted = batch.weights[:, 1:] > 0
    weights, targets = batch.weights[:, 1:][counted].to(model.device), batch.ids[:, 1:][counted].to(model.device)
    hidden = hidden_states(model.model, batch)[:, :-1][counted.to(model.device)]
    logits = model.lm_head(hidden).float()
    losses = nn.functional.cross_entropy(logits, targets, reduction="none")
    return (losses * weights).sum() / weights.sum(), logits.argmax(-1) == targets, weights
