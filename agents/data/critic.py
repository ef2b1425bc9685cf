"""What a critic can be pre-trained on besides forks: labels, and the outcomes of roll-outs.

critic, reports = teach(policy, from_labels(policy, LabelFolder("runs/labels")), Critic.load("runs/prm"))
"""

import zlib
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from coach_gym.agents.data.labels import HELD_OUT, Label, LabelFolder
from coach_gym.agents.data.retelling import retell, write
from coach_gym.agents.models.policy import Policy
from coach_gym.agents.training.critic.school import Lesson
from coach_gym.agents.training.objective.returns import discounted_outcome
from coach_gym.data.folder import EpisodeFolder
from coach_gym.episode import Episode

Lessons = tuple[list[Lesson], list[Lesson]]
"""Lessons to teach, and lessons to hold out."""


def from_labels(policy: Policy, labels: LabelFolder) -> Lessons:
    """Returns the lessons of labels: the return of a good response is 1, and that of a bad one 0 (paper, appendix B).

    Args:
        policy: Its dialect and tokens write the responses.
        labels: The labels; the held-out episodes are those of the process reward model.
    """
    taught, held = (
        [partial(_labelled, policy, labels, group) for group in labels.by_episode(held_out)]
        for held_out in (False, True)
    )
    return [*taught], [*held]


def _labelled(policy: Policy, folder: LabelFolder, labels: Sequence[Label]) -> Episode:
    episode = retell(policy, folder.episode(labels[0]))
    del episode.steps[max(label.step for label in labels) + 1 :]
    for label in labels:
        step = episode.steps[label.step]
        response = write(policy, label.action, step.observation)
        same = [candidate for candidate in step.candidates if candidate.text == response.text]
        if not same:
            step.candidates.append(response)
        for candidate in same or [response]:
            candidate.return_ = float(label.good)
    return episode


def from_rollouts(policy: Policy, folders: Sequence[str | Path], gamma: float = 0.95) -> Lessons:
    """Returns the lessons of roll-outs: the discounted outcome of every executed response.

    Args:
        policy: Its dialect and tokens write the responses.
        folders: Folders of episodes, solved and unsolved ones. One episode in ten is held out.
        gamma: Discount factor.
    """
    taught: list[Lesson] = []
    held: list[Lesson] = []
    for key, folder, name in _learnable(folders):
        lesson = partial(_played, policy, folder, name, gamma)
        (taught if zlib.crc32(key.encode()) % HELD_OUT else held).append(lesson)
    return taught, held


def _learnable(folders: Sequence[str | Path]) -> Iterator[tuple[str, EpisodeFolder, str]]:
    for number, path in enumerate(folders):
        folder = EpisodeFolder(path)
        for name in folder.names:
            if folder.heading(name).learnable:
                yield f"{number}/{name}", folder, name


def _played(policy: Policy, folder: EpisodeFolder, name: str, gamma: float) -> Episode:
    episode = retell(policy, folder.read(name))
    returns = discounted_outcome(episode.length, episode.outcome or 0.0, gamma)
    for step, return_ in zip(episode.steps, returns, strict=True):
        step.candidates[0].return_ = step.return_ = return_
    return episode
