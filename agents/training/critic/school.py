"""The critic's school: a critic is fitted to measured returns until it gets worse on episodes that it was not taught.

lessons.collect(policy, generator, envs, "runs/school/lessons", episodes=1000)
critic, reports = teach(policy, "runs/school/lessons")
critic.save("runs/school/critic")                          # CoachAgent(..., critic="runs/school/critic")
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor
from torch.optim import AdamW
from tqdm import tqdm

from coach_gym.agents.distributed import processes
from coach_gym.agents.distributed.parallel import in_step, recompute_activations, shard_critic
from coach_gym.agents.models.critic import Critic
from coach_gym.agents.models.devices import pass_device
from coach_gym.agents.models.policy import Policy
from coach_gym.agents.models.tree import build_tree
from coach_gym.agents.training.objective.updates import CriticSample, minimize_value_loss
from coach_gym.episode import Episode
from coach_gym.recording.archive import read_episode

Lesson = Callable[[], Episode]
"""Reads an episode whose candidates have the returns that a critic learns; those of some may be unknown."""

HELD_OUT = 5
"""Of so many episodes, one is held out; all are of different instances."""


@dataclass(frozen=True)
class Report:
    """How a critic does on the lessons that were held out.

    Attributes:
        epoch: Passes over the other lessons so far.
        loss: What is minimised there.
        explained_variance: Share of the variance of all known returns that Q explains; nan if they do not vary.
        within: Correlation of Q with the returns within states, both less their mean over a state's candidates; nan if
            either does not vary. This is what an advantage needs.
    """

    epoch: int
    loss: float
    explained_variance: float
    within: float


def teach(
    policy: Policy,
    lessons: str | Path | tuple[Sequence[Lesson], Sequence[Lesson]],
    critic: Critic | None = None,
    learning_rate: float = 3e-4,
    mini_batch_size: int = 8,
    contrast: float = 2.0,
    max_epochs: int = 30,
    patience: int = 3,
    seed: int = 0,
    bfloat16: bool = False,
    checkpoint_activations: bool = False,
    progress_bar: bool = False,
) -> tuple[Critic, list[Report]]:
    """Fits a critic to lessons, and returns it as it was when it did best on held-out ones.

    The loss of a mini-batch is that of Equation 2 without clipping, half a squared error, plus `contrast` times the
    squared error in the differences within a state. One thread repeats a fit bit for bit. The processes of
    `torch.distributed` shard the critic and share every mini-batch.

    Args:
        policy: Renders and tokenises the prompts.
        lessons: The directory that `lessons.collect` wrote; or the lessons to teach and those to hold out, such as
            `coach_gym.agents.data.critic.from_labels` returns.
        critic: Where to start; None for a copy of the policy with a value head that starts at zero.
        learning_rate: AdamW's learning rate.
        mini_batch_size: Episodes per optimizer step.
        contrast: Weight of the second error.
        max_epochs: Passes at most.
        patience: Passes without a better result on held-out lessons after which the fit ends.
        seed: Seed of the mini-batches.
        bfloat16: Makes passes in bfloat16, with weights and optimizer states in float32; needs torchrun.
        checkpoint_activations: Keeps one activation per layer for the backward pass and recomputes the others.
        progress_bar: Shows a progress bar.

    Returns:
        The critic, which is sharded if there are several processes, and reports before the first pass and after each.

    Raises:
        ValueError: There are too few lessons, or `bfloat16` was requested without processes.
    """
    taught, held = lessons if isinstance(lessons, tuple) else _in_folder(Path(lessons))
    if not held or not taught:
        raise ValueError(
            f"there are {len(taught)} lessons to teach and {len(held)} to hold out; collect more, at least {HELD_OUT}"
        )
    if bfloat16 and not dist.is_initialized():
        raise ValueError("bfloat16=True needs torch.distributed; start coach-gym critic with torchrun, even on one GPU")
    critic = critic or Critic.from_policy(policy)
    if checkpoint_activations:
        recompute_activations(critic.backbone)
    shard_critic(critic, policy, bfloat16)
    optimizer, rng = AdamW(critic.parameters(), lr=learning_rate), np.random.default_rng(seed)
    reports = [examine(critic, policy, held, contrast)]
    best, weights = reports[0], _copied(critic)
    for epoch in range(1, max_epochs + 1):
        batches = _batches(taught, mini_batch_size, rng)
        for batch in tqdm(batches, desc=f"epoch {epoch}", unit="batch", disable=not progress_bar):
            samples = list(_samples(policy, critic, _share(batch)))
            minimize_value_loss(critic, optimizer, critic.response_q_values, [samples], math.inf, contrast=contrast)
        reports.append(examine(critic, policy, held, contrast, epoch))
        if reports[-1].loss < best.loss:
            best, weights = reports[-1], _copied(critic)
        elif epoch - best.epoch >= patience:
            break
    critic.load_state_dict(weights)
    return critic, reports


def _in_folder(folder: Path) -> tuple[list[Lesson], list[Lesson]]:
    """Returns the lessons to teach and those to hold out."""
    lessons = [(int(path.stem), partial(read_episode, path)) for path in sorted(folder.glob("*.npz"))]
    held: list[Lesson] = [lesson for number, lesson in lessons if number % HELD_OUT == 0]
    return [lesson for number, lesson in lessons if number % HELD_OUT], held


@torch.no_grad()
def examine(critic: Critic, policy: Policy, lessons: Sequence[Lesson], contrast: float = 2.0, epoch: int = 0) -> Report:
    """Compares a critic's Q with the measured returns of some lessons.

    Args:
        critic: The critic.
        policy: Renders and tokenises the prompts.
        lessons: The lessons.
        contrast: Weight of the error in differences within a state, as in `teach`.
        epoch: Passes so far, for the report.
    """
    losses, known, values, centred, centred_values = [], [], [], [], []
    with in_step(critic, critic.response_q_values):
        for sample in _samples(policy, critic, _share(lessons)):
            q = critic.response_q_values(sample.tree)
            errors = (q - sample.returns)[sample.known] ** 2
            losses.append(0.5 * errors + contrast * sample.contrast(q))
            known.append(sample.returns[sample.known])
            values.append(q[sample.known])
            for ours, theirs in zip(_states(sample, q), _states(sample, sample.returns), strict=True):
                centred_values.append(ours - ours.mean())
                centred.append(theirs - theirs.mean())
    target, q = processes.concatenate(known), processes.concatenate(values)
    variance = target.var(correction=0)
    explained = 1 - ((target - q) ** 2).mean() / variance if variance > 0 else torch.tensor(math.nan)
    within = math.nan
    if processes.any_of(bool(centred)):
        within = _correlation(processes.concatenate(centred_values), processes.concatenate(centred))
    return Report(epoch, processes.concatenate(losses).mean().item(), explained.item(), within)


def _batches(lessons: Sequence[Lesson], size: int, rng: np.random.Generator) -> list[list[Lesson]]:
    shuffled = [lessons[index] for index in rng.permutation(len(lessons))]
    return [shuffled[first : first + size] for first in range(0, len(shuffled), size)]


def _share(lessons: Sequence[Lesson]) -> Sequence[Lesson]:
    """Returns this process's part, which may be empty."""
    return lessons[processes.rank() :: processes.size()]


def _copied(critic: Critic) -> dict[str, Tensor]:
    return {name: weight.clone() for name, weight in critic.state_dict().items()}


def _samples(policy: Policy, critic: Critic, lessons: Sequence[Lesson]) -> Iterator[CriticSample]:
    """Reads lessons one by one, because their pixels would fill the memory."""
    device = pass_device(critic)
    for read in lessons:
        episode = read()
        told = [candidate.return_ for step in episode.steps for candidate in step.candidates]
        returns = torch.tensor([math.nan if value is None else value for value in told], device=device)
        yield CriticSample(build_tree(policy, episode), returns, ~returns.isnan())


def _states(sample: CriticSample, values: Tensor) -> Iterator[Tensor]:
    """Yields the values of every state's known candidates, where there are several."""
    for rows in sample.tree.by_step(zip(values, sample.known, strict=True)):
        known = [value for value, is_known in rows if is_known]
        if len(known) > 1:
            yield torch.stack(known)


def _correlation(a: Tensor, b: Tensor) -> float:
    norm = a.norm() * b.norm()
    return float(a @ b / norm) if norm > 0 else math.nan
