"""Plays the same actions through every interface, for comparison."""

import asyncio
import base64
import io
import json
import threading
from dataclasses import dataclass

import gymnasium as gym
import numpy as np
from PIL import Image

import coach_gym  # noqa: F401
from coach_gym.actions import parse_action
from coach_gym.envs.devices.phone import PhoneDevice
from coach_gym.envs.suites.play import play
from coach_gym.live.hands import Hands

SIZE = (270, 600)


@dataclass(frozen=True)
class Played:
    """An episode as a player sees it.

    Attributes:
        id: Id of the environment.
        seed: Seed of the instance.
        actions: Texts of the actions, of which the last ends the episode.
        goal: What the task asks for.
        screens: Screens, the first before any action, (height, width, 3) uint8.
        texts: Texts of these screens.
        overs: Whether the episode was over after each action.
        reward: Reward of the last action.
        success: Whether the task was solved.
    """

    id: str
    seed: int
    actions: list[str]
    goal: str
    screens: list[np.ndarray]
    texts: list[str]
    overs: list[bool]
    reward: float | None
    success: bool | None


def expert_actions(id, seed, task=None):
    """What the expert of a task does."""
    env = gym.make(id, screen_size=SIZE)
    actions = play(env, *env.reset(seed=seed, options={"task": task})).actions
    env.close()
    return actions


def through_gymnasium(id, seed, actions, task=None):
    env = gym.make(id, screen_size=SIZE)
    observation, _ = env.reset(seed=seed, options={"task": task})
    seen, overs = [observation], []
    for action in actions:
        observation, reward, terminated, truncated, info = env.step(action)
        seen.append(observation)
        overs.append(terminated or truncated)
    env.close()
    return _played(id, seed, actions, seen, overs, reward, info["is_success"])


def through_vector(id, seed, actions):
    """Two environments, the second with another seed, must not disturb each other."""
    envs = gym.make_vec(id, num_envs=2, vectorization_mode="vector_entry_point", screen_size=SIZE)
    observations, _ = envs.reset(seed=[seed, seed + 1])
    seen, overs = [_first(observations)], []
    for action in actions:
        observations, rewards, terminated, truncated, infos = envs.step((action, "wait()"))
        seen.append(_first(observations))
        overs.append(bool(terminated[0] or truncated[0]))
    envs.close()
    return _played(id, seed, actions, seen, overs, float(rewards[0]), bool(infos["is_success"][0]))


def through_mcp(id, seed, actions, folder):
    from mcp import Client

    from coach_gym.bridges.mcp_server import make_server

    async def played():
        hands = Hands(PhoneDevice(*SIZE), threading.RLock(), {"screen_size": SIZE}, folder)
        async with Client(make_server(hands)) as client:
            return await play_mcp(client, id, seed, actions)

    return asyncio.run(played())


async def play_mcp(client, id, seed, actions):
    """Plays on a phone behind MCP, with one tool call an action."""
    suite, _, family = id.removesuffix("-v0").partition("/")
    shown = [shown_by(await client.call_tool("choose_task", {"suite": suite, "family": family, "seed": seed}))]
    for action in actions:
        shown.append(shown_by(await client.call_tool(*tool_call(action))))
    tasks = [state["task"] for state, _, _ in shown]
    return Played(
        id, seed, actions, tasks[0]["goal"], [screen for _, screen, _ in shown], [text for _, _, text in shown],
        [task["over"] for task in tasks[1:]], tasks[-1]["reward"], tasks[-1]["success"],
    )  # fmt: skip


def through_openenv(address, id, seed, actions, task):
    """Plays in a session of the server of an environment."""
    from openenv.core import GenericEnvClient

    with GenericEnvClient(base_url=address).sync() as session:
        seen, overs = [session.reset(seed=seed, task=task)], []
        for action in actions:
            seen.append(session.step({"text": action}))
            overs.append(seen[-1].done)
    observations = [
        {**each.observation, "screenshot": pixels_of(base64.b64decode(each.observation["screenshot"]))} for each in seen
    ]
    return _played(id, seed, actions, observations, overs, seen[-1].reward, seen[-1].metadata["is_success"])


def tool_call(text):
    """The tool call that carries out an action."""
    _, action = parse_action(text)
    start = dict(zip("xy", action.start or (), strict=False))
    end = dict(zip(("to_x", "to_y"), action.end or (), strict=False))
    match action.kind:
        case "click":
            return "touch", start
        case "long_press":
            return "long_touch", start
        case "drag":
            return "swipe", start | end
        case "scroll":
            return ("swipe", start | end) if end else ("scroll", {**start, "direction": action.direction})
        case "type":
            assert action.start is None
            return "type_text", {"text": action.content}
        case "open_app":
            return "open_app", {"name": action.content}
        case "finished":
            return "finish_task", {"answer": action.content}
        case "wait":
            return "wait", {}
    return "press_key", {"key": action.kind.removeprefix("press_")}


def shown_by(result):
    """State, screen and screen text that a tool returned."""
    assert not result.is_error, result.content
    state, image, text = result.content
    assert image.mime_type == "image/png"
    return json.loads(state.text), pixels_of(base64.b64decode(image.data)), inside(text.text)


def inside(document):
    """The screen text in an XML document."""
    return document.removeprefix("<screen>\n").removesuffix("\n</screen>")


def pixels_of(png):
    return np.array(Image.open(io.BytesIO(png)).convert("RGB"))


def _first(observations):
    return {name: observations[name][0] for name in ("goal", "screenshot", "ui")}


def _played(id, seed, actions, seen, overs, reward, success):
    return Played(
        id, seed, actions, seen[0]["goal"], [each["screenshot"].copy() for each in seen], [each["ui"] for each in seen],
        overs, reward, success,
    )  # fmt: skip


def assert_same(one, other):
    """Two plays of the same actions are the same episode."""
    assert (one.id, one.seed, one.actions, one.goal) == (other.id, other.seed, other.actions, other.goal)
    assert one.texts == other.texts
    assert len(one.screens) == len(other.screens)
    for number, (ours, theirs) in enumerate(zip(one.screens, other.screens, strict=True)):
        assert np.array_equal(ours, theirs), f"screen {number} differs"
    assert (one.overs, one.reward, one.success) == (other.overs, other.reward, other.success)
