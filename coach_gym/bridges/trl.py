"""Episodes for TRL: the class that `GRPOTrainer(environment_factory=...)` makes one of for every roll-out.

    rows = Dataset.from_list(task_rows("AndroidWorld-v0", seeds=range(1000)))
    GRPOTrainer(model, args=args, train_dataset=rows, environment_factory=partial(TRLEnvironment, "AndroidWorld-v0"))
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from typing import Any

import gymnasium as gym

from coach_gym.bridges.talk import Shown, Talk
from coach_gym.dialects import Dialect, ImageSlot

OVER = "The episode is over."
"""What the tool says to a model that has finished, or has used up its steps."""

Content = list[dict[str, Any]]
"""A message in TRL's parts: `{"type": "text", "text": …}` and `{"type": "image", "image": …}`."""


class TRLEnvironment:
    """An Android device as TRL's `EnvironmentFactory` wants it: TRL calls `reset`, then the tool `act`, then
    `get_reward`.

    Its public methods are the model's tools, so there is only one. Roll-outs of a group must play one task instance:
    take the rows of the data set from `task_rows`.

    A device's fault is never a reward: `get_reward` then returns None, and TRL gives that roll-out no advantage and
    leaves it out of its group's baseline. TRL reports what a tool raises to the model and goes on; an error that is not
    a device's is therefore raised again by `get_reward`, which stops training.

    Args:
        env: Id of the environment, or one with text actions.
        dialect: How the model writes actions and what its coordinates mean, or a dialect's name. The default shows the
            goal, the screenshot, and the elements of the screen with their centres.
        **kwargs: Arguments of the environment.
    """

    def __init__(
        self, env: str | gym.Env = "AndroidWorld-v0", dialect: Dialect | str | None = None, **kwargs: Any
    ) -> None:
        self._talk = Talk(env, dialect, **kwargs)
        self._broken: Exception | None = None
        weakref.finalize(self, self._talk.env.close)  # TRL has no call that ends an environment

    def reset(self, **row: Any) -> Content:
        """Starts the episode of a row of `task_rows` and returns its first screen.

        Raises:
            ValueError: The row has no seed, or was made for other arguments of the environment.
        """
        if row.get("seed") is None:
            raise ValueError("a row without a seed would give every roll-out of a group another task; use task_rows()")
        self._broken = None
        self._talk.begin(row["seed"])
        if row.get("goal") != self._talk.goal:
            raise ValueError(
                f"seed {row['seed']} is {self._talk.goal!r:.80} here, but the row says {row.get('goal')!r:.80}; give "
                f"task_rows() and the environment the same arguments"
            )
        return _content(self._talk.look())

    def act(self, action: str) -> Content | str:
        """Does one thing on the phone and returns the next screen. Call it once a turn, until the task is done.

        Args:
            action: One of click(start_box='(x,y)'), long_press(start_box='(x,y)'), type(content='...'),
                scroll(start_box='(x,y)', direction='down'), drag(start_box='(x,y)', end_box='(x,y)'),
                open_app(app_name='...'), press_back(), press_home(), press_enter(), wait() or, when the task is done
                or its question answered, finished(content='...').
        """
        if self._talk.over:
            return OVER
        try:
            self._talk.answer(action if isinstance(action, str) else repr(action))
        except Exception as error:
            self._broken = error
            raise
        return OVER if self._talk.over else _content(self._talk.look())

    def get_reward(self) -> float | None:
        """Returns the reward of the episode; None if it has none. One that the model left unfinished has reward 0.

        Raises:
            Exception: What `act` raised that no device's fault explains.
        """
        if self._broken is not None:
            raise self._broken
        return None if self._talk.fault is not None or self._talk.unruled else self._talk.reward


def task_rows(
    env: str | gym.Env = "AndroidWorld-v0",
    seeds: Iterable[int] = range(100),
    dialect: Dialect | str | None = None,
    **kwargs: Any,
) -> list[dict[str, Any]]:
    """Returns the rows of a training set: `prompt` (the messages before the first screen), `seed` and `goal`.

    Args:
        env: Id of the environment, or one with text actions.
        seeds: One for each row; the same seed is the same task with the same parameters.
        dialect: As for `TRLEnvironment`.
        **kwargs: Arguments of the environment.
    """
    talk = Talk(env, dialect, **kwargs)
    try:
        return [_row(talk, seed) for seed in seeds]
    finally:
        talk.env.close()


def _row(talk: Talk, seed: int) -> dict[str, Any]:
    opening = [{"role": role, "content": "".join(map(str, parts))} for role, parts in talk.begin(seed)]
    # TRL appends what `reset` returns to the last message
    return {"prompt": [*opening, {"role": "user", "content": ""}], "seed": seed, "goal": talk.goal}


def _content(shown: Shown) -> Content:
    images = iter(shown.pictures)
    return [
        {"type": "image", "image": next(images)} if isinstance(part, ImageSlot) else {"type": "text", "text": part}
        for part in shown.parts
    ]
