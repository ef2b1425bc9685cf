"""Earlier episodes that an agent learns from again in later iterations, and that its checkpoints hold.

Packed to be learned from, pictures are floats: nine steps of the pocket model take 5 MB, and larger pictures more in
proportion. As checkpoints store them, they take a thirtieth of that, and can be packed again when their turn comes.
"""

from collections import defaultdict
from dataclasses import dataclass, field, replace
from io import BytesIO
from pathlib import Path

from coach_gym.agents.data.retelling import retell
from coach_gym.agents.models.policy import Policy
from coach_gym.agents.models.tree import Tree
from coach_gym.data.folder import EpisodeFolder
from coach_gym.episode import Episode
from coach_gym.recording.archive import pack_episode, read_episode


@dataclass
class Remembered:
    """An episode with its executed responses alone.

    Attributes:
        file: The episode, as checkpoints store it (`recording/archive.py`).
    """

    file: bytes

    def episode(self) -> Episode:
        """Returns the episode."""
        return read_episode(BytesIO(self.file))


@dataclass
class Success(Remembered):
    """An episode that solved its task, to be imitated again.

    Attributes:
        tree: The same, packed to be learned from; None if it is to be packed when it is needed.
    """

    tree: Tree | None = None


@dataclass
class Visited(Remembered):
    """An episode, solved or not, in whose states other responses are drawn.

    Attributes:
        verdicts: What a reward model has said of the responses drawn there so far, by step and text.
    """

    verdicts: defaultdict[int, dict[str, float]] = field(default_factory=lambda: defaultdict(dict))


def pack(episode: Episode) -> bytes:
    """Returns an episode with its executed responses alone, as checkpoints store it."""
    steps = [
        replace(step, candidates=[step.candidates[step.executed]], executed=0, env=None) for step in episode.steps
    ]
    return pack_episode(replace(episode, steps=steps, params=dict(episode.params), last=None))


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
    return [Success(pack(retell(policy, episodes.read(name)))) for name in solved]
