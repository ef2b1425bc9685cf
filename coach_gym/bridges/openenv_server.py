"""Our environments as an OpenEnv server: whatever trains on OpenEnv environments can train on phones.

Every session, a WebSocket connection, has a phone of its own. An action is text, as in Gymnasium; a screen is a PNG
file in base64.
"""

from __future__ import annotations

import html
from functools import partial
from typing import Any
from uuid import uuid4

from fastapi import FastAPI
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import Action, EnvironmentMetadata, Observation, State
from openenv.core.env_server.web_interface import create_web_interface_app
from pydantic import Field

import coach_gym
from coach_gym.bridges.guard import guard
from coach_gym.bridges.sessions import SPLITS, TaskList, metadata, png, verdict, within
from coach_gym.envs.tasks.words import Split
from coach_gym.ui import parse_ui

NAME = "coach_gym"
SHORTCUTS = 16
"""Elements that the page of the server offers to touch."""


class PhoneAction(Action):
    """What an agent says, such as `click(start_box='(270,600)')`, optionally after a thought."""

    text: str = Field(description="An action, such as open_app(app_name='Contacts')")


class PhoneObservation(Observation):
    """What an agent sees, and how its episode stands.

    `reward` is None if there is no verdict: the device failed, and `metadata["fault"]` says how, or no rule decides.
    `metadata` is Gymnasium's `info`, and `truncated`; its `is_success` is None without a verdict, too.
    """

    goal: str = Field(description="What the task asks for")
    screenshot: str = Field(description="The screen, a PNG file in base64")
    ui: str = Field(description="Text of the screen, one XML element a line")
    last_action_error: str = Field(description="Why the last action did nothing; empty if it did something")


class PhoneState(State):
    """The episode under way; `task` is empty before the first reset."""

    task: str = ""
    goal: str = ""
    budget: int = 0


class PhoneEnvironment(Environment[PhoneAction, PhoneObservation, PhoneState]):
    """An environment of ours in a session of an OpenEnv server.

    Args:
        id: Id of the environment, such as `"AndroidWorld-v0"`.
        settings: Its arguments, such as `screen_size`, `ui=False` or `unseen="words"`.

    Raises:
        gymnasium.error.Error: There is no such environment.
        ValueError: An argument is wrong.
    """

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, id: str = "AndroidWorld-v0", **settings: Any) -> None:
        super().__init__()
        self._id = id
        self._tasks = TaskList(id, settings)
        self._split: Split | None = settings.get("split")
        self._env = self._tasks.env(self._split)
        self._state = PhoneState()

    def reset(
        self, seed: int | None = None, episode_id: str | None = None, split: Split | None = None,
        index: int | None = None, **options: Any,
    ) -> PhoneObservation:  # fmt: skip
        """Starts an episode.

        Args:
            seed: Draws the task instance, as in Gymnasium.
            episode_id: Name of the episode; None for a random one.
            split: Split to draw from, `"train"`, `"validation"` or `"test"`; None for the one in the settings, if any.
            index: A task of the task API, instead of a drawn one.
            options: As in Gymnasium: `task`, `params`, `params_seed`.

        Raises:
            UsageError: An unknown split, option or task.
            IndexError: The split has no such task.
        """
        split = split or self._tasks.settings.get("split")
        if split != self._split:
            replaced, self._env, self._split = self._env, self._tasks.env(split), split
            replaced.close()
        if index is not None:
            seed, chosen = self._env.instance(within(index, self._tasks.count(split)))
            options = {**options, **chosen}
        observation, info = self._env.env.reset(seed=seed, options=options)
        self._state = PhoneState(
            episode_id=episode_id or str(uuid4()), task=info["task"], goal=observation["goal"], budget=info["budget"]
        )
        return _shown(observation, info, done="fault" in info)

    def step(self, action: PhoneAction, timeout_s: float | None = None, **kwargs: Any) -> PhoneObservation:
        """Carries out an action. `timeout_s` is ignored: devices have time limits of their own.

        Raises:
            gymnasium.error.ResetNeeded: The episode is over, or none was begun.
        """
        observation, reward, terminated, truncated, info = self._env.env.step(action.text)
        self._state.step_count += 1
        done = terminated or truncated
        return _shown(observation, info, done, verdict(reward, done, info), truncated)

    @property
    def state(self) -> PhoneState:
        """The episode under way."""
        return self._state

    def close(self) -> None:
        """Releases the device."""
        self._env.close()

    def get_metadata(self) -> EnvironmentMetadata:
        """Describes the environment."""
        described = f"Tasks on an Android phone ({self._id}); results on the embedded phone are no benchmark scores."
        return EnvironmentMetadata(name=NAME, description=described, version=coach_gym.__version__)

    def list_splits(self) -> list[str]:
        """Returns the names of the splits."""
        return list(SPLITS)

    def num_tasks(self, split: str) -> int:
        """Returns how many tasks a split lists."""
        return self._tasks.count(split)

    def get_task(self, split: str, index: int) -> dict[str, Any]:
        """Returns what a task asks for. `reset` with the same split and index begins it.

        Raises:
            IndexError: The split has no such task.
        """
        return self._tasks.task(split, index)

    def list_tasks(self, split: str) -> list[dict[str, Any]]:
        """Returns all tasks of a split: every family once, in order, then all again with other instances."""
        return self.get_task_range(split)

    def get_task_range(self, split: str, start: int | None = None, stop: int | None = None) -> list[dict[str, Any]]:
        """Returns the tasks of a slice."""
        return self._tasks.tasks(split, start, stop)

    def render_web(self, observation: dict[str, Any]) -> str | None:
        """Draws an observation on the server's page. All text is escaped."""
        said = html.escape(observation["goal"])
        if observation["last_action_error"]:
            said += f"<br><b>{html.escape(observation['last_action_error'])}</b>"
        source = f"data:image/png;base64,{observation['screenshot']}"
        return f'<p>{said}</p><img alt="The screen" style="max-height: 70vh" src="{source}">'

    def web_actions(self, observation: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
        """Offers to touch what is on the screen."""
        touched = [each for each in parse_ui(observation["ui"]) if each.clickable and each.label][:SHORTCUTS]
        texts = {each.label: f"click(start_box='({each.center[0]},{each.center[1]})')" for each in touched}
        texts |= {"Back": "press_back()", "Home": "press_home()", "Finished": "finished()"}
        return [(label, {"text": text}) for label, text in texts.items()]


def make_app(id: str, sessions: int, **settings: Any) -> FastAPI:
    """Returns the server of an environment; its page is at `/web`.

    Args:
        id: Id of the environment.
        sessions: Most sessions at a time, each with a phone of its own; further ones are refused.
        settings: Arguments of the environment.
    """
    app: FastAPI = create_web_interface_app(
        partial(PhoneEnvironment, id, **settings), PhoneAction, PhoneObservation, NAME, sessions, state_cls=PhoneState
    )
    guard(app)
    return app


def _shown(
    observation: dict[str, Any], info: dict[str, Any], done: bool, reward: float | None = None, truncated: bool = False
) -> PhoneObservation:
    return PhoneObservation(
        goal=observation["goal"],
        screenshot=png(observation["screenshot"]),
        ui=observation["ui"],
        last_action_error=observation["last_action_error"],
        done=done,
        reward=reward,
        metadata=metadata(info, truncated),
    )
