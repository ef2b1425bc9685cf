"""Our environments as a server of the Open Reward Standard (ORS): an episode is a session with one tool, `act`.

Every session has a phone of its own. What the tool returns is the screen as a PNG image, its elements as text, and the
reward.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar, TypeVar

from fastapi import FastAPI
from ors import Environment, ImageBlock, Server, Split, TextBlock, ToolOutput, tool
from pydantic import BaseModel, Field

from coach_gym.bridges.guard import guard
from coach_gym.bridges.sessions import SPLITS, TaskList, metadata, png, verdict, within

NAME = "coach_gym"
Result = TypeVar("Result")


class Act(BaseModel):
    """What the tool takes."""

    action: str = Field(
        description="One of click(start_box='(x,y)'), long_press(start_box='(x,y)'), type(content='...'), "
        "scroll(start_box='(x,y)', direction='down'), drag(start_box='(x,y)', end_box='(x,y)'), "
        "open_app(app_name='...'), press_back(), press_home(), press_enter(), wait() or, when the task is done or its "
        "question answered, finished(content='...'). Coordinates are pixels of the screenshot."
    )


class PhoneEpisode(Environment):
    """An episode. Its task is `{"split": …, "index": …}`, as the server lists them, or `{"seed": …}`, as in Gymnasium.

    The reward is None if there is no verdict: the device failed, and `metadata["fault"]` says how, or no rule decides.

    Attributes:
        tasks: The tasks that the server lists.
    """

    tasks: ClassVar[TaskList]

    def __init__(self, task_spec: Mapping[str, Any], secrets: dict[str, str]) -> None:
        super().__init__(task_spec, secrets)
        self._thread = ThreadPoolExecutor(1)  # a device is used by one thread, and must not block the server
        self._env = self.tasks.env(task_spec.get("split"))

    @classmethod
    def name(cls) -> str:
        """Returns the name of the environment in the server."""
        return NAME

    @classmethod
    def list_splits(cls) -> Sequence[Split]:
        """Returns the splits."""
        return [Split(name=split, type=split) for split in SPLITS]

    @classmethod
    def list_tasks(cls, split: str) -> list[dict[str, Any]]:
        """Returns all tasks of a split."""
        return cls.tasks.tasks(split)

    @classmethod
    async def num_tasks(cls, split: str) -> int:
        """Returns how many tasks a split lists."""
        return cls.tasks.count(split)

    @classmethod
    async def get_task(cls, split: str, index: int) -> dict[str, Any]:
        """Returns a task of a split."""
        return cls.tasks.task(split, index)

    async def setup(self) -> None:
        """Starts the episode."""
        self._seen = await self._do(self._begin)

    async def teardown(self) -> None:
        """Releases the device."""
        await self._do(self._env.close)
        self._thread.shutdown()

    def get_prompt(self) -> list[TextBlock | ImageBlock]:
        """Returns the goal and the first screen."""
        return [TextBlock(text=self._seen["goal"]), *_blocks(self._seen)]

    @tool
    async def act(self, params: Act) -> ToolOutput:
        """Does one thing on the phone and shows the next screen. Call it until the task is done."""
        self._seen, reward, terminated, truncated, info = await self._do(lambda: self._env.env.step(params.action))
        done = terminated or truncated
        return ToolOutput(
            blocks=_blocks(self._seen), metadata=metadata(info, truncated), reward=verdict(reward, done, info),
            finished=done,
        )  # fmt: skip

    def _begin(self) -> dict[str, Any]:
        if "seed" in self.task_spec:
            return self._env.env.reset(seed=self.task_spec["seed"])[0]
        index = within(self.task_spec["index"], self.tasks.count(self.task_spec["split"]))
        return self._env.reset(seed=index)[0]

    async def _do(self, call: Callable[[], Result]) -> Result:
        return await asyncio.get_running_loop().run_in_executor(self._thread, call)


def make_app(id: str, **settings: Any) -> FastAPI:
    """Returns the server of an environment.

    Args:
        id: Id of the environment.
        settings: Arguments of the environment.
    """
    served = type("Served", (PhoneEpisode,), {"tasks": TaskList(id, settings)})
    app: FastAPI = Server([served]).app
    guard(app)
    return app


def _blocks(observation: dict[str, Any]) -> list[TextBlock | ImageBlock]:
    shown = [ImageBlock(data=png(observation["screenshot"]), mimeType="image/png"), TextBlock(text=observation["ui"])]
    failed = observation["last_action_error"]
    return [*shown, TextBlock(text=f"The last action did nothing: {failed}")] if failed else shown
