"""The picture of the method in the docs: a real state, its candidates, and what the critic thinks of each.

    python -m benchmarks.figures.method docs/images/method.png

The shipped policy plays on the embedded phone, at temperature 1.2 so that its candidates differ. The state is the one
whose candidates differ most, of those in which the critic was right: it liked the executed candidate best, and the
episode succeeded.
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import gymnasium as gym
import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch

from benchmarks.figures.style import Theme, plt, save
from coach_gym.actions import ActionError, format_action, parse_action
from coach_gym.agents import CoachAgent
from coach_gym.dialects import Dialect, Frame
from coach_gym.episode import Candidate, Episode, Step
from coach_gym.recording import load_episodes

TASKS = ("ContactsFavorite", "ContactsDeleteContact", "TasksCompleteTask", "RecipeDeleteSingleRecipe")
STEPS = 120


def play() -> list[Episode]:
    """Plays episodes with four candidates in every state, scored by the critic; nothing is learned.

    The candidates' texts become actions in pixels of the screen.
    """
    envs = gym.make_vec(
        "coach_gym:AndroidWorld-v0", num_envs=4, vectorization_mode="vector_entry_point", tasks=TASKS,
        screen_size=(270, 600), split="train",
    )  # fmt: skip
    with TemporaryDirectory() as folder:
        agent = CoachAgent(
            "pocket", envs, 0.0, critic_learning_rate=0.0, max_new_tokens=48, max_prompt_length=3072, batch_size=12,
            mini_batch_size=12, reward_model=None, outcome_correction=0.0, self_imitation=None, negative_weight=1.0,
            temperature=1.2, tensorboard_log=folder, keep_episodes=1.0, collection="rounds", seed=0,
        )  # fmt: skip
        agent.learn(STEPS)
        envs.close()
        episodes = list(load_episodes(folder))
    for step in (step for episode in episodes for step in episode.steps):
        frame = agent.policy.frame(step.observation)
        for candidate in step.candidates:
            candidate.text = _on_screen(candidate.text, agent.policy.dialect, frame)
    return episodes


def _on_screen(text: str, dialect: Dialect, frame: Frame) -> str:
    try:
        return format_action(dialect.parse(text, frame)[1])
    except ActionError:
        return f"no action: {text}"


def telling(episodes: list[Episode]) -> tuple[Episode, int]:
    """Returns the episode and the step whose candidates touch the most places, and among those differ most in Q."""
    solved = [episode for episode in episodes if episode.success]
    states = [(episode, t) for episode in solved for t in range(len(episode.steps) - 1) if _agree(episode.steps[t])]
    return max(states, key=lambda state: _tells(state[0].steps[state[1]].candidates))


def _agree(step: Step) -> bool:
    """Whether the executed candidate is the best by Q."""
    return step.candidates[step.executed].q == max(each.q or 0.0 for each in step.candidates)


def _tells(candidates: list[Candidate]) -> tuple[int, float]:
    places = {_place(each) for each in candidates} - {None}
    return len(places), float(np.ptp([each.q or 0.0 for each in candidates]))


def _place(candidate: Candidate) -> tuple[int, int] | None:
    try:
        return parse_action(candidate.text)[1].start
    except ActionError:
        return None


def draw(episode: Episode, t: int, theme: Theme) -> Figure:
    """Draws the state, the candidates, and the state after it."""
    step, following = episode.steps[t], episode.steps[t + 1]
    figure, (now, scores, then) = plt.subplots(1, 3, figsize=(10, 5), width_ratios=[1, 2.1, 1])
    figure.suptitle(f"Task: {episode.goal}", x=0.02, ha="left")
    _screen(now, step.observation.screenshot, "A costly state", theme)
    _screen(then, following.observation.screenshot, f"After {step.executed + 1}", theme)
    _marks(now, step.candidates, theme)
    _bars(scores, step.candidates, step.executed, theme)
    return figure


def _screen(axes: Any, screenshot: np.ndarray, title: str, theme: Theme) -> None:
    axes.imshow(screenshot)
    axes.set(xticks=[], yticks=[], title=title)
    axes.grid(False)
    for spine in axes.spines.values():
        spine.set(visible=True, color=theme.line)


def _marks(axes: Any, candidates: list[Candidate], theme: Theme) -> None:
    """Numbers beside the places that are touched, so that these can be seen; one disc for those of the same place."""
    places: dict[tuple[int, int], list[int]] = {}
    for number, candidate in enumerate(candidates):
        if (place := _place(candidate)) is not None:
            places.setdefault(place, []).append(number)
    below = 0  # where the next disc may begin, so that none hides another
    for (x, y), numbers in sorted(places.items(), key=lambda each: each[0][1]):
        color = _color(candidates[numbers[0]], theme)
        beside, level = x - 60 if x > 135 else x + 60, max(y - 8, below)
        below = level + 42
        arrow = FancyArrowPatch((beside, level), (x, y), color=color, lw=1.6, arrowstyle="-|>", mutation_scale=9)
        axes.add_patch(arrow)
        label = ", ".join(str(number + 1) for number in numbers)
        axes.text(beside, level, label, color=theme.paper, ha="center", va="center", size=8, weight="bold", zorder=5,
                  bbox={"boxstyle": "round,pad=0.4", "facecolor": color, "edgecolor": theme.paper})  # fmt: skip


def _bars(axes: Any, candidates: list[Candidate], executed: int, theme: Theme) -> None:
    """Q of each candidate as a bar that begins at the mean of all; the text above it."""
    q = np.array([each.q or 0.0 for each in candidates])
    rows = np.arange(len(q))
    axes.barh(rows, q - q.mean(), left=q.mean(), height=0.32, color=[_color(each, theme) for each in candidates])
    axes.vlines(np.full(len(q), q.mean()), rows - 0.22, rows + 0.22, color=theme.pale, linewidth=1)
    reach = 1.35 * max(abs(q - q.mean()).max(), 1e-3)
    axes.set(xlim=(q.mean() - reach, q.mean() + reach), ylim=(len(q) - 0.4, -0.75), yticks=[])
    axes.set_xlabel("Q, from their mean")
    axes.set_title(f"{len(q)} candidates, and what the critic expects of each")
    axes.grid(False)
    beside = axes.get_yaxis_transform()
    for row, candidate in zip(rows, candidates, strict=True):
        what = " ".join(candidate.text.split())
        note = "  executed" if row == executed else ""
        axes.text(0, row - 0.3, f"{row + 1}  {what[:58]}{note}", transform=beside, size=9,
                  weight="medium" if row == executed else "normal")  # fmt: skip
        axes.text(1, row - 0.3, f"Q {candidate.q:.2f}   A {candidate.advantage:+.2f}", transform=beside,
                  ha="right", size=9, color=_color(candidate, theme))  # fmt: skip


def _color(candidate: Candidate, theme: Theme) -> str:
    return theme.better if (candidate.advantage or 0.0) >= 0 else theme.worse


if __name__ == "__main__":
    picture = Path(sys.argv[1])
    save(partial(draw, *telling(play())), picture)
