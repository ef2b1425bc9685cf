"""Episodes for verifiers: a taskset whose tasks are seeds, and an environment in which the phone plays the user.

    $ eval coach-gym-verifiers -n 100 -m my-model --client.base-url http://127.0.0.1:8000/v1

verifiers finds plugins by the name of a top-level module, which is `coach_gym_verifiers`.
"""

from __future__ import annotations

import asyncio
import base64
import io
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx
import verifiers.v1 as vf
from pydantic import Field
from verifiers.v1.dialects.chat import message_to_wire

from coach_gym.bridges.talk import Shown, Talk
from coach_gym.dialects import ImageSlot
from coach_gym.dialects.names import dialect_named

PLUGIN = "coach-gym-verifiers"


class AndroidTasksetConfig(vf.TasksetConfig):
    """Which episodes there are."""

    env: str = "AndroidWorld-v0"
    """Id of the environment."""
    settings: dict[str, Any] = Field(default_factory=dict)
    """Arguments of the environment, such as `screen_size`."""
    seeds: int = Field(100, ge=1)
    """Number of tasks: seeds `first_seed`, `first_seed + 1`, …"""
    first_seed: int = 0
    dialect: str = "UITars"
    """Name of the dialect that says how the model writes actions and what its coordinates mean."""
    dialect_settings: dict[str, Any] = Field(default_factory=dict)
    """Arguments of the dialect, such as `max_pixels`."""


class AndroidTaskData(vf.TaskData):
    """What names an episode."""

    env: str
    seed: int


class AndroidTask(vf.Task[AndroidTaskData]):
    """An episode. The environment judges it, not the task."""


class AndroidTaskset(vf.Taskset[AndroidTask, AndroidTasksetConfig]):
    """One task for each seed."""

    def load(self) -> Iterator[AndroidTask]:
        """Yields the tasks; no device is needed for that."""
        config = self.config
        for seed in range(config.first_seed, config.first_seed + config.seeds):
            data = AndroidTaskData(name=f"{config.env}#{seed}", env=config.env, seed=seed)
            yield AndroidTask(data, config.task)


class OneAnswer(vf.Harness[vf.HarnessConfig]):
    """Asks the model for one answer a turn. It runs no program, so it needs no sandbox."""

    APPENDS_SYSTEM_PROMPT = True
    SUPPORTS_RESUME = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(
        self, ctx: Any, trace: Any, runtime: Any, endpoint: str, secret: str, mcp_urls: Any, data: vf.TaskData
    ) -> vf.ProgramResult:
        """Sends the conversation so far. An answer that verifiers refuses, at a limit, is none."""
        messages = [message_to_wire(message) for message in data.prompt or []]
        if data.system_prompt is not None:
            messages.insert(0, {"role": "system", "content": data.system_prompt})
        async with httpx.AsyncClient(timeout=None) as client:
            reply = await client.post(
                f"{endpoint.rstrip('/')}/chat/completions",
                headers={"Authorization": f"Bearer {secret}"},
                json={"model": ctx.model, "messages": messages},
            )
        return vf.ProgramResult(0 if reply.is_success else 1, "", "" if reply.is_success else reply.text)


class AndroidEnvironmentConfig(vf.EnvConfig):
    """Who plays."""

    player: vf.AgentConfig = vf.AgentConfig(runtime={"type": "subprocess"})


@dataclass
class _Seat:
    """An environment, and the one thread that may touch it."""

    talk: Talk
    thread: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1))

    async def do(self, call: Any, *args: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self.thread, call, *args)

    async def close(self) -> None:
        await self.do(self.talk.env.close)
        self.thread.shutdown()


class AndroidEnvironment(vf.Env[AndroidEnvironmentConfig]):
    """Plays an episode with the model: a screen is the user's turn, an answer is an action.

    As many devices are open as episodes were ever played side by side (`max_concurrent`); they close with the run. The
    reward `verdict` is that of Gymnasium; an episode that a limit of verifiers cuts off has reward 0. Without a
    verdict there is no reward: the episode fails with `NoVerdict`.
    """

    async def start(self) -> None:
        """Prepares for the first episode. Devices start when they are needed."""
        self._idle: list[_Seat] = []

    async def stop(self) -> None:
        """Closes the devices."""
        for seat in self._idle:
            await seat.close()

    async def run(self, task: AndroidTask, agents: vf.Agents) -> None:
        """Plays the episode of a task.

        Raises:
            NoVerdict: The device failed, or no rule judges the episode.
        """
        async with self._seat() as seat, agents.player.interaction(task) as interaction:
            talk = seat.talk
            opening = await seat.do(talk.begin, task.data.seed)
            messages = [_message(role, Shown(parts, [])) for role, parts in opening]
            while not talk.over:
                segment = await interaction.turn([*messages, _message("user", await seat.do(talk.look))])
                if segment.terminated:
                    break
                await seat.do(talk.answer, segment.last_reply)
                messages = []
            talk.require_verdict()
            interaction.trace.record_reward("verdict", talk.reward)
            interaction.trace.record_metric("steps", float(talk.steps))

    @asynccontextmanager
    async def _seat(self) -> AsyncIterator[_Seat]:
        seat = self._idle.pop() if self._idle else _Seat(self._talk())
        try:
            yield seat
        finally:
            self._idle.append(seat)

    def _talk(self) -> Talk:
        config: AndroidTasksetConfig = self.taskset.config
        return Talk(config.env, dialect_named(config.dialect)(**config.dialect_settings), **config.settings)


def _message(role: str, shown: Shown) -> dict[str, Any]:
    pictures = iter(shown.pictures)
    content = [
        {"type": "image_url", "image_url": {"url": _url(next(pictures))}}
        if isinstance(part, ImageSlot)
        else {"type": "text", "text": part}
        for part in shown.parts
    ]
    return {"role": role, "content": content}


def _url(picture: Any) -> str:
    stream = io.BytesIO()
    picture.save(stream, "PNG")
    return f"data:image/png;base64,{base64.b64encode(stream.getvalue()).decode('ascii')}"
