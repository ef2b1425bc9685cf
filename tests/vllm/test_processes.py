"""Several trainers with an engine each: weights come from shards, and engines sleep during updates."""

from unittest import mock

import pytest
import torch
from gymnasium.vector import SyncVectorEnv

from coach_gym.agents import CoachAgent
from coach_gym.agents.distributed import processes
from coach_gym.agents.generation.vllm.engine import LocalEngine
from coach_gym.agents.models.reward_models import GenerativePRM
from tests.agents import tiny
from tests.agents.distributed.test_parallel import together
from tests.agents.trivial_env import ButtonEnv


def train(cpu_offload, method=CoachAgent):
    envs = SyncVectorEnv([lambda: ButtonEnv(steps=1 + processes.rank())] * 2)  # one process draws twice as often
    agent = method(
        tiny.policy(hidden=128), envs, 1e-3, batch_size=4, max_new_tokens=3, generation="vllm", seed=0,
        malformed_is_worthless=False, critic_learning_rate=1e-3, critic_warmup_ratio=0.0,
        cpu_offload=cpu_offload,
    )  # fmt: skip
    agent.critic.value_head.weight.data.copy_(torch.linspace(-1, 1, 128))  # at zero, there is nothing to learn yet
    events = []
    load, sleep = LocalEngine.load, LocalEngine.sleep
    noting = {
        "load": lambda engine, weights, version: events.append(version) or load(engine, weights, version),
        "sleep": lambda engine: events.append("sleep") or sleep(engine),
    }
    with mock.patch.multiple(LocalEngine, **noting):
        agent.learn(9)
    assert agent.generator.policy is agent.policy, "there is no other copy in the trainer"
    judge = GenerativePRM.load("pocket", generation="vllm")
    verdicts = None
    if processes.rank() == 1:  # engines start together, and draw alone
        episode = tiny.episode(judge.policy, steps=1)
        verdicts = judge.score(episode.goal, [(step.observation, step.candidates[0].text) for step in episode.steps])
    return events, agent.n_updates, verdicts


@pytest.mark.parametrize("cpu_offload", [False, True])
def test_each_process_draws_with_an_engine_of_its_own(cpu_offload, tmp_path):
    (events, updates, _), (others, _, verdicts) = together(2, tmp_path, train, cpu_offload, timeout=300)
    assert events == others, "the same weights arrive everywhere"
    assert updates >= 2 and events[1::2] == ["sleep"] * updates
    assert len(set(events[::2])) == updates + 1, "after every update, and at the start"
    assert len(verdicts) == 1
