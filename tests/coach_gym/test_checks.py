"""Bad numbers are refused before any work begins."""

import gymnasium as gym
import numpy as np
import pytest

import coach_gym  # noqa: F401
from coach_gym.agents import (
    CheckpointCallback,
    CoachAgent,
    EvalCallback,
    GRPOAgent,
    StopTrainingOnRewardThreshold,
    WatchCallback,
)
from coach_gym.agents.data.label import Labelling
from coach_gym.agents.evaluation import evaluate
from coach_gym.agents.generation.transformers import TransformersGenerator
from coach_gym.agents.generation.vllm.client import ServedGenerator
from coach_gym.agents.generation.vllm.server import GenerationServer
from coach_gym.agents.judging.chat import ChatClient
from coach_gym.agents.judging.models import ServedModel
from coach_gym.agents.judging.steps import ServedPRM
from coach_gym.agents.judging.verifiers import ModelVerifier
from coach_gym.agents.models.policy import Policy
from coach_gym.agents.models.reward_models import GenerativePRM
from coach_gym.agents.playing.player import PolicyPlayer
from coach_gym.agents.training.critic.lessons import Plan
from coach_gym.agents.training.logs.recorder import EpisodeRecorder
from coach_gym.agents.training.schedules import value_of
from coach_gym.checks import require_finite, require_seconds, require_whole
from coach_gym.envs.devices.adb import Adb
from coach_gym.envs.devices.adb_device import AdbDevice
from coach_gym.envs.devices.emulator import Emulator, Ports
from coach_gym.envs.devices.phone import PhoneDevice
from coach_gym.envs.errors import UsageError
from coach_gym.envs.phone.phone import Phone
from coach_gym.envs.phone.servers.server import PhoneServer
from coach_gym.evaluation.players import RandomPlayer
from coach_gym.recording.store import EpisodeStore
from tests.agents import tiny
from tests.agents.trivial_env import ButtonEnv

NAN, INFINITE = float("nan"), float("inf")
HUGE = 10**400  # no float
NO_COUNTS = [NAN, INFINITE, -INFINITE, 1.5, -1, True, "5", None, [1], HUGE]
NO_TIMES = [NAN, INFINITE, -1, 0, True, "5", None, HUGE]


@pytest.mark.parametrize("value", NO_COUNTS)
def test_no_count(value):
    agent = GRPOAgent(tiny.policy(), ButtonEnv(), batch_size=2, group_size=2, max_new_tokens=2)
    makers = [
        lambda: require_whole(0, count=value), lambda: CheckpointCallback(value, "never"), lambda: agent.learn(value),
        lambda: EvalCallback(ButtonEnv(), n_eval_episodes=value), lambda: evaluate(agent, ButtonEnv(), value),
        lambda: evaluate(agent, ButtonEnv(), 1, seed=value),
        lambda: gym.make_vec("AndroidWorld-v0", num_envs=value, vectorization_mode="vector_entry_point"),
        lambda: gym.make("AndroidWorld-v0", screen_size=(value, 10)),
        lambda: gym.make("AndroidWorld-v0", screen_size=(10, value)),
    ]  # fmt: skip
    if value is not None:
        makers += [lambda: agent.learn(1, log_interval=value), lambda: gym.make("AndroidWorld-v0", max_steps=value)]
    for make in makers:
        with pytest.raises((TypeError, ValueError), match="pass|too small|too large|number|pixel"):
            make()
    assert agent.num_timesteps == 0


@pytest.mark.parametrize("value", NO_TIMES)
def test_no_time(value):
    with pytest.raises((TypeError, ValueError), match="number of seconds"):
        require_seconds(limit=value)
    for name in ("step_timeout", "reset_timeout"):
        with pytest.raises((TypeError, ValueError), match=f"{name}=.*number of seconds"):
            gym.make_vec("AndroidWorld-v0", num_envs=1, vectorization_mode="vector_entry_point", **{name: value})


@pytest.mark.parametrize("value", [NAN, INFINITE, -1, 0, True, "5", HUGE, -HUGE])
def test_times_of_what_waits(value):
    for make in (
        lambda: CheckpointCallback(None, "never", save_minutes=value),
        lambda: ServedGenerator(tiny.policy(), "http://127.0.0.1:9", value),
        lambda: Emulator("name", Ports.numbered(0), boot_timeout=value),
        lambda: AdbDevice("127.0.0.1:9", settle=value if value != 0 else -1),
        lambda: EpisodeRecorder(share=value if value != 0 else 2),
    ):
        with pytest.raises((TypeError, ValueError), match="(save_minutes|patience|boot_timeout|settle|share)=.*pass"):
            make()


@pytest.mark.parametrize("value", [NAN, INFINITE, 1.5, -1, True, "5", HUGE])
def test_whole_numbers_of_what_is_made_by_hand(value, tmp_path):
    policy = tiny.policy()
    served = ServedModel(ChatClient("model", "http://127.0.0.1:9"))
    for make in (
        lambda: EpisodeStore(tmp_path, value), lambda: RandomPlayer(value), lambda: ServedPRM(served, None, value),
        lambda: ModelVerifier(served, None, False, value), lambda: GenerativePRM(policy, None, value),
        lambda: TransformersGenerator(policy, value), lambda: TransformersGenerator(policy, 1, value),
        lambda: Policy(policy.model, policy.tokenizer, policy.image_processor, None, value),
        lambda: WatchCallback(value), lambda: Phone(value, 200), lambda: PhoneDevice(90, value),
        lambda: PhoneServer(Phone(90, 200), value), lambda: Adb("serial", value),
        lambda: GenerationServer(policy, port=value),
    ):  # fmt: skip
        with pytest.raises((TypeError, ValueError), match="pass|ports have the numbers"):
            make()


@pytest.mark.parametrize("name", ["learning_rate", "batch_size", "gamma", "k", "seed", "stats_window_size"])
def test_numbers_beyond_all_floats(name):
    for value in (HUGE, -HUGE):
        with pytest.raises((TypeError, ValueError), match=f"{name} has 1329 bits, which is too large; pass"):
            CoachAgent(tiny.policy(), None, **{name: value})


@pytest.mark.parametrize("value", [NAN, INFINITE, "5", None, True, HUGE])
def test_no_number(value):
    for make in (lambda: require_finite(it=value), lambda: StopTrainingOnRewardThreshold(value)):
        with pytest.raises((TypeError, ValueError), match="pass a number"):
            make()


@pytest.mark.parametrize("value", ["False", "false", NAN, None, 1, np.zeros(1, bool)])
def test_no_switch(value):
    for name in ("ui", "must_finish", "forkable"):
        with pytest.raises(TypeError, match=f"{name}=.*; pass True or False"):
            gym.make("AndroidWorld-v0", **{name: value})
    for name in ("deterministic", "render"):
        for make in (
            lambda name=name: EvalCallback(ButtonEnv(), **{name: value}),
            lambda name=name: evaluate(RandomPlayer(), ButtonEnv(), 1, **{name: value}),
        ):
            with pytest.raises(TypeError, match=f"{name}=.*; pass True or False"):
                make()


@pytest.mark.parametrize("value", [NAN, INFINITE, "5", True, -1, 1e-40, HUGE])
def test_no_temperature(value):
    policy = tiny.policy()
    for make in (
        lambda: PolicyPlayer(policy, TransformersGenerator(policy), value, 4), lambda: Labelling(temperature=value),
        lambda: Plan(hot_temperature=value),
    ):  # fmt: skip
        with pytest.raises((TypeError, ValueError), match="temperature=.*; pass"):
            make()


@pytest.mark.parametrize("rate", [NAN, -1.0, INFINITE, 1e300, "1e-3", None])
def test_no_learning_rate(rate):
    with pytest.raises(ValueError, match="learning rate at remaining progress 0.5 is .*return a number from 0 to"):
        value_of(lambda remaining: rate, 0.5)


@pytest.mark.parametrize(("options", "told"), [
    ({"params": 5}, "params.*int"), ({"params": "x"}, "params.*str"), ({"params": [1]}, "params.*list"),
    ({"task": 5}, "task.*int"), ({"task": ["a"]}, "task.*list"), ({"params_seed": "x"}, "params_seed.*str"),
    ({"params_seed": 1.5}, "params_seed.*float"), ({"params_seed": -1}, "negative"), (5, "options=5"),
    ({"params_seed": NAN}, "params_seed.*float"), ({"params_seed": True}, "params_seed.*bool"),
    ({"task": "ContactsAddContact", "params": {"name": 5}}, "name=5.*pass text"),
    ({"task": "ContactsAddContact", "params": {"name": "\ud800"}}, "half a character"),
    ({"task": "ContactsAddContact", "params": {"name": "a" * 1_000_000}}, "goal has .* characters"),
    ({"task": "BrowserDraw", "params": {"palette": "red"}}, "palette='red'.*pass a list"),
    ({"task": "TurnOnWifiAndOpenApp", "params": {"others": [1]}}, r"others=\[1\].*pass a dict"),
    ({"task": "BrowserDraw", "params": {"palette": None}}, "BrowserDraw cannot begin .*TypeError.*'palette': None"),
    ({"task": "RetroPlaylistDuration", "params": {"files": None}}, "cannot begin with these params.*'files': None"),
    ({"task": "OsmAndTrack", "params": {"markers": ["x"]}}, "cannot begin with these params.*KeyError: 'x'"),
])  # fmt: skip
def test_wrong_options(options, told):
    env = gym.make("AndroidWorld-v0", screen_size=(90, 200)).unwrapped
    if isinstance(options, dict) and "task" in options and "params" in options:
        drawn = env.suite.selection.draw(env.suite.family(options["task"]), 0)
        options = {**options, "params": {**drawn, **options["params"]}}
    env.reset(seed=0)
    phone = env._device
    with pytest.raises(UsageError, match=told):
        env.reset(seed=0, options=options)
    assert "fault" not in env.reset(seed=0)[1] and env._device is phone
    env.close()
