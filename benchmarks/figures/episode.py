"""The picture of an episode in README: the shipped policy solves a task on the embedded phone, greedily.

    python -m benchmarks.figures.episode docs/images/episode.png
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import gymnasium as gym

from coach_gym.agents import CoachAgent, evaluate
from coach_gym.episode import Episode
from coach_gym.recording import load_episodes
from coach_gym.recording.strip import episode_strip

TASKS = ("ContactsFavorite", "TasksCompleteTask", "RecipeDeleteSingleRecipe")
EPISODES = 12


def solved() -> Episode:
    """Returns an episode that the shipped policy solves, on an instance that it was not trained on.

    Raises:
        StopIteration: It solves none.
    """
    envs = gym.make_vec(
        "coach_gym:AndroidWorld-v0", num_envs=4, vectorization_mode="vector_entry_point", tasks=TASKS, split="test",
        screen_size=(270, 600),
    )  # fmt: skip
    with TemporaryDirectory() as folder:
        evaluate(CoachAgent("pocket", envs), envs, EPISODES, keep=folder)
        envs.close()
        return next(episode for episode in load_episodes(folder) if episode.success)


def draw(episode: Episode, path: Path) -> None:
    """Draws an episode on light paper, and on dark paper beside it."""
    episode_strip(episode).save(path, optimize=True)
    episode_strip(episode, dark=True).save(path.with_stem(f"{path.stem}_dark"), optimize=True)


if __name__ == "__main__":
    draw(solved(), Path(sys.argv[1]))
