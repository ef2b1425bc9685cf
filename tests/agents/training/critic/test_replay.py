"""A critic that learns ahead of the policy, and again from recent episodes."""

import pytest
import torch

from coach_gym.agents import CoachAgent, PPOAgent
from coach_gym.agents.models.tree import build_tree
from coach_gym.agents.training.critic.replay import Replay
from coach_gym.agents.training.objective.updates import CriticSample
from coach_gym.envs.vector import AndroidVectorEnv
from tests.agents import tiny
from tests.agents.trivial_env import ButtonEnv
from tests.agents.warm_start import answers_to, letter, warm_policy


def make(kind=CoachAgent, **settings):
    torch.manual_seed(0)
    options = {"k": 2, "malformed_is_worthless": False} if kind is CoachAgent else {}
    return kind(
        warm_policy(), AndroidVectorEnv([ButtonEnv] * 2), 1e-3, batch_size=4, max_new_tokens=3, seed=0,
        critic_warmup_ratio=0.0, critic_learning_rate=1e-3, **options, **settings,
    )  # fmt: skip


def weights(module):
    return torch.cat([p.detach().flatten().clone() for p in module.parameters()])


@pytest.mark.parametrize("kind", [CoachAgent, PPOAgent])
def test_the_policy_waits_until_the_critic_has_seen_enough_episodes(kind):
    agent = make(kind, critic_warmup_episodes=6)  # rounded up to two roll-outs of four
    changes = []
    for _ in range(3):
        before = weights(agent.policy.model), weights(agent.critic)
        agent.learn(1, reset_num_timesteps=False)
        after = weights(agent.policy.model), weights(agent.critic)
        changes.append(tuple(not torch.equal(*pair) for pair in zip(before, after, strict=True)))
    (waited, fitted), (waited_again, _), (moved, _) = changes
    assert (waited, waited_again, moved) == (False, False, True) and fitted


def test_a_critic_that_explains_enough_ends_the_wait(monkeypatch):
    monkeypatch.setattr("coach_gym.agents.actor_critic.explained_variance", lambda samples: 0.4)
    agent = make(critic_warmup_episodes=100, critic_warmup_explained=0.3)
    moved = []
    for _ in range(2):
        before = weights(agent.policy.model)
        agent.learn(1, reset_num_timesteps=False)
        moved.append(not torch.equal(before, weights(agent.policy.model)))
    assert moved == [False, True]
    agent = make(critic_warmup_episodes=100, critic_warmup_explained=0.5)
    before = weights(agent.policy.model)
    agent.learn(9, reset_num_timesteps=False)
    assert torch.equal(before, weights(agent.policy.model))
    with pytest.raises(ValueError, match="may never be reached; pass critic_warmup_episodes"):
        make(critic_warmup_explained=0.5)


def test_a_ready_critic_is_saved_as_such_and_is_not_after_an_update_that_failed(monkeypatch, tmp_path):
    monkeypatch.setattr("coach_gym.agents.actor_critic.explained_variance", lambda samples: 0.4)
    agent = make(critic_warmup_episodes=100, critic_warmup_explained=0.3)
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr("coach_gym.agents.training.online.require_finite", interrupted)
        agent.learn(1)
    assert agent.policy_waits
    agent.learn(1)
    assert not agent.policy_waits
    agent.save(tmp_path / "agent")
    assert not CoachAgent.load(tmp_path / "agent").policy_waits


def interrupted(*_):
    raise KeyboardInterrupt


def test_processes_share_the_room_for_earlier_episodes(monkeypatch):
    agent = make(critic_replay=6, self_imitation=100, revisit=10)
    monkeypatch.setattr("coach_gym.agents.distributed.processes.share", lambda total: total // 2)
    agent.distribute()
    assert (agent.successes.maxlen, agent.visited.maxlen) == (50, 5)
    agent.learn(12)
    (replay,) = agent.replays.values()
    assert len(replay.draw(9)[0]) == 3


def test_fits_repeat_as_many_recent_episodes_as_are_new():
    agent = make(critic_replay=6)
    sizes, values = [], []
    fitted = agent.mini_batches
    agent.mini_batches = lambda items, epochs: sizes.append(len(items)) or fitted(items, epochs)
    agent.log_training = lambda **logged: values.append(logged)
    for _ in range(3):
        agent.learn(1, log_interval=None, reset_num_timesteps=False)
    assert sizes[::2] == [4, 8, 8], "the fits of the critic; those of the policy lie between them"
    ages = [logged["critic_staleness"] for logged in values if "critic_staleness" in logged]
    assert ages[:2] == [0.0, 0.5] and 0.5 <= ages[2] <= 1.0


def sample(policy, target):
    tree = build_tree(policy, answers_to("red", [letter(policy, "a")]))
    return CriticSample(tree, torch.tensor([target]), torch.tensor([True]), old_values=torch.tensor([9.0]))


def test_a_replay_forgets_the_oldest_and_the_old_estimates():
    policy = tiny.policy()
    replay = Replay(3, seed=0)
    assert replay.draw(2) == ([], [])
    replay.add([sample(policy, 0.0), sample(policy, 1.0)], 0)
    replay.add([sample(policy, 2.0), sample(policy, 3.0)], 1)
    drawn, fits = replay.draw(9)
    assert sorted(zip([each.returns.item() for each in drawn], fits, strict=True)) == [(1.0, 0), (2.0, 1), (3.0, 1)]
    assert all(each.old_values is None for each in drawn), "values are clipped around those before this update"
    assert len(replay.draw(2)[0]) == 2


def test_the_log_tells_how_the_critic_does():
    agent = make(critic_replay=4)
    seen = {}
    agent.log_training = seen.update
    agent.learn(1, log_interval=None)
    assert {"explained_variance", "q_contrast", "critic_staleness"} <= seen.keys()
    assert seen["q_contrast"] == 0.0 == seen["q_spread"] or 0.0 <= seen["q_contrast"] <= 1.0
