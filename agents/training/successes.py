"""Successes that an agent imitates again in later iterations, and that its checkpoints hold.

Packed to be learned from, pictures are floats: nine steps of the pocket model take 5 MB, and larger pictures more in
proportion. As checkpoints store them, they take a thirtieth of that, and can be packed again when their turn comes.
"""

from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path

from coach_gym.agents.data.retelling import retell
from coach_gym.agents.models.policy import Policy
from coach_gym.agents.models.tree import Tree
from coach_gym.data.folder import EpisodeFolder
from coach_gym.episode import Episode
from coach_gym.recording.archive import pack_episode, read_episode


@dataclass
class Success:
    """An episode that solved its task.

    Attributes:
        file: What the policy was asked and what was executed, as checkpoints store it (`recording/archive.py`).
        tree: The same, packed to be learned from; None if it is to be packed when it is needed.
    """

    file: bytes
    tree: Tree | None = None

    def episode(self) -> Episode:
        """Returns the episode, with its executed responses alone."""
        return read_episode(BytesIO(self.file))


def remembered(episode: Episode) -> Success:
    """Returns a success that can be saved."""
    steps = [
        replace(step, candidates=[step.candidates[step.executed]], executed=0, env=None) for step in episode.steps
    ]
    return Success(pack_episode(replace(episode, steps=steps, params=dict(episode.params), last=None)))


def successes_in(folder: str | Path, policy: Policy) -> list[Success]:
    """Reads the successful episodes of a folder, as `coach-gym data` writes it, in a policy's words.

    Experts' responses have no tokens, and another policy's have others.

    Raises:
        ValueError: There are none.
    """
    episodes = EpisodeFolder(folder)
    solved = [name for name in episodes.names if episodes.heading(name).success]
    if not solved:
        raise ValueError(
            f"rehearsal={str(folder)!r}: none of its {len(episodes.names)} episodes is solved; choose tasks that the "
            f"policy can solve, or pass rehearsal=None"
        )
    return [remembered(retell(policy, episodes.read(name))) for name in solved]
