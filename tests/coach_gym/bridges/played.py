"""Plays the same actions through every interface, for comparison. Packages that not all environments have are imported
where they are needed."""

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

SIZE = (280, 616)  # multiples of 28: the coordinates of a Qwen2.5-VL are the pixels of the screen


@dataclass(frozen=True)
class Script:
    """What is played.

    Attributes:
        id: Id of the environment.
        seed: Seed of the instance.
        actions: Texts of the actions, of which the last ends the episode.
    """

    id: str
    seed: int
    actions: list[str]


@dataclass(frozen=True)
class Played:
    """An episode as a player sees it.

    Attributes:
        goal: What the task asks for.
        screens: Screens, the first before any action, (height, width, 3) uint8. Where a model plays, it is not shown
            the one after its last action.
        ends: Whether the episode was over after each action.
        reward: Sum of the rewards.
        texts: Texts of the screens, if the interface has them as they are.
        success: Whether the task was solved, if the interface says it besides the reward.
    """

    goal: str
    screens: list[np.ndarray]
    ends: list[bool]
    reward: float
    texts: list[str] | None = None
    success: bool | None = None


def assert_same(reference, other):
    """Two plays of the same actions are the same episode, as far as the other shows it."""
    assert (other.goal, other.ends, other.reward) == (reference.goal, reference.ends, reference.reward)
    assert other.texts in (None, reference.texts) and other.success in (None, reference.success)
    shown = reference.screens[: len(other.screens)]
    assert len(shown) == len(other.screens) >= len(other.ends)
    for number, (ours, theirs) in enumerate(zip(shown, other.screens, strict=True)):
        assert np.array_equal(ours, theirs), f"screen {number} differs"


def expert_actions(id, seed, task=None):
    """What the expert of a task does."""
    env = gym.make(id, screen_size=SIZE)
    actions = play(env, *env.reset(seed=seed, options={"task": task})).actions
    env.close()
    return actions


def through_gymnasium(script, folder=None):
    env = gym.make(script.id, screen_size=SIZE)
    observation, _ = env.reset(seed=script.seed)
    seen, ends, total = [observation], [], 0.0
    for action in script.actions:
        observation, reward, terminated, truncated, info = env.step(action)
        seen.append(observation)
        ends.append(terminated or truncated)
        total += reward
    env.close()
    return _played(seen, ends, total, info["is_success"])


def through_vector(script, folder):
    """Two environments, the second with another seed, must not disturb each other."""
    envs = gym.make_vec(script.id, num_envs=2, vectorization_mode="vector_entry_point", screen_size=SIZE)
    observations, _ = envs.reset(seed=[script.seed, script.seed + 1])
    seen, ends, total = [_first(observations)], [], 0.0
    for action in script.actions:
        observations, rewards, terminated, truncated, infos = envs.step((action, "wait()"))
        seen.append(_first(observations))
        ends.append(bool(terminated[0] or truncated[0]))
        total += float(rewards[0])
    envs.close()
    return _played(seen, ends, total, bool(infos["is_success"][0]))


def through_mcp(script, folder):
    from mcp import Client

    from coach_gym.bridges.mcp_server import make_server

    async def played():
        hands = Hands(PhoneDevice(*SIZE), threading.RLock(), {"screen_size": SIZE}, folder)
        async with Client(make_server(hands)) as client:
            return await play_mcp(client, script)

    return asyncio.run(played())


async def play_mcp(client, script):
    """Plays on a phone behind MCP, with one tool call an action."""
    suite, _, family = script.id.removesuffix("-v0").partition("/")
    shown = [shown_by(await client.call_tool("choose_task", {"suite": suite, "family": family, "seed": script.seed}))]
    for action in script.actions:
        shown.append(shown_by(await client.call_tool(*tool_call(action))))
    tasks = [state["task"] for state, _, _ in shown]
    return Played(
        tasks[0]["goal"], [screen for _, screen, _ in shown], [task["over"] for task in tasks[1:]],
        tasks[-1]["reward"], [text for _, _, text in shown], tasks[-1]["success"],
    )  # fmt: skip


def through_openenv(script, folder):
    from openenv.core import GenericEnvClient

    from coach_gym.bridges.openenv_server import make_app
    from coach_gym.live.serving import listening

    with listening(lambda _: make_app(script.id, 1, screen_size=SIZE), 0) as address:
        with GenericEnvClient(base_url=address).sync() as session:
            results = [session.reset(seed=script.seed), *(session.step({"text": text}) for text in script.actions)]
    seen = [{**each.observation, "screenshot": _decoded(each.observation["screenshot"])} for each in results]
    ends, total = [each.done for each in results[1:]], sum(each.reward for each in results[1:])
    return _played(seen, ends, total, results[-1].metadata["is_success"])


def through_ors(script, folder):
    from ors.client import ORS, Task

    from coach_gym.bridges.ors_server import NAME, make_app
    from coach_gym.live.serving import listening

    with listening(lambda _: make_app(script.id, screen_size=SIZE), 0) as address:
        task = Task(environment_name=NAME, task_spec={"seed": script.seed})
        with ORS(base_url=address) as client, client.environment(NAME).session(task=task) as session:
            goal, *first = session.get_prompt()
            outputs = [session.call_tool("act", {"action": action}) for action in script.actions]
    shown = [first, *(output.blocks for output in outputs)]
    ends, total = [output.finished for output in outputs], sum(output.reward for output in outputs)
    screens, texts = [_decoded(image.data) for image, *_ in shown], [text.text for _, text, *_ in shown]
    return Played(goal.text, screens, ends, total, texts, outputs[-1].metadata["is_success"])


def through_trl(script, folder):
    from coach_gym.bridges.trl import OVER, TRLEnvironment, task_rows

    environment = TRLEnvironment(script.id, screen_size=SIZE)
    (row,) = task_rows(script.id, seeds=[script.seed], screen_size=SIZE)
    contents = [environment.reset(**row), *map(environment.act, script.actions)]
    ends = [content == OVER for content in contents[1:]]
    pictures = [part["image"] for content in contents if content != OVER for part in content if part["type"] == "image"]
    return Played(row["goal"], [np.asarray(each) for each in pictures], ends, environment.get_reward())


def through_verifiers(script, folder):
    """A scripted server plays the model; after the end it would say more."""
    from tests.bridges.chat_server import screens, serving, texts
    from tests.bridges.evaluations import evaluated

    goal = through_gymnasium(script).goal
    with serving({goal: [*script.actions, "wait()", "wait()"]}) as server:  # a conversation without the goal fails
        (episode,) = evaluated(server, folder, env=script.id, first_seed=script.seed)
    (trace,) = episode.traces
    assert episode.ok and goal in texts(server.asked[0])
    ends = [turn == trace.num_turns for turn in range(1, len(server.asked) + 1)]
    return Played(goal, screens(server.asked[-1]), ends, trace.reward)


def through_verl_agent(script, folder):
    """A group of two plays the same, in verl-agent's order of calls."""
    from coach_gym.bridges.verl_agent import AndroidEnvironmentManager

    manager = AndroidEnvironmentManager(script.id, groups=1, group_size=2, screen_size=SIZE)
    seen, _ = manager.reset([{"seed": script.seed}] * 2)
    screens, ends, total = [seen["image"]], [], np.zeros(2)
    for action in script.actions:
        seen, rewards, dones, infos = manager.step([action] * 2)
        screens.append(seen["image"])
        ends.append(bool(dones.all()))
        total += rewards
    manager.close()
    assert total[0] == total[1] and all(np.array_equal(*pair) for pair in screens)
    assert all(manager.talks[0].goal in text for text in seen["text"])
    return Played(manager.talks[0].goal, [pair[0] for pair in screens], ends, total[0], success=infos[0]["won"])


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


def _decoded(base64_png):
    return pixels_of(base64.b64decode(base64_png))


def _first(observations):
    return {name: observations[name][0] for name in ("goal", "screenshot", "ui")}


def _played(seen, ends, reward, success):
    screens, texts = [each["screenshot"].copy() for each in seen], [each["ui"] for each in seen]
    return Played(seen[0]["goal"], screens, ends, reward, texts, success)
