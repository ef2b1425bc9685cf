"""Successes that an agent imitates again in later iterations, and that its checkpoints hold."""

from dataclasses import dataclass, replace
from io import BytesIO

from coach_gym.agents.models.tree import Tree
from coach_gym.episode import Episode
from coach_gym.recording.archive import pack_episode, read_episode


@dataclass
class Success:
    """An episode that solved its task.

    Attributes:
        file: What the policy was asked and what was executed, as checkpoints store it (`recording/archive.py`).
        tree: The same, packed to be learned from; None until it is needed, after a checkpoint was loaded.
    """

    file: bytes
    tree: Tree | None = None

    def episode(self) -> Episode:
        """Returns the episode, with its executed responses alone."""
        return read_episode(BytesIO(self.file))


def remembered(episode: Episode, tree: Tree) -> Success:
    """Returns a success that can be saved."""
    steps = [
        replace(step, candidates=[step.candidates[step.executed]], executed=0, env=None) for step in episode.steps
    ]
    return Success(pack_episode(replace(episode, steps=steps, params={}, last=None)), tree)
