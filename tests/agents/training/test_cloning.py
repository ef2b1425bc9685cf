"""Filtered cloning imitates the episodes that solved their task, and nothing else."""

from collections.abc import Sequence

import numpy as np
import pytest
import torch

from coach_gym.agents import FilteredCloningAgent
from coach_gym.agents.models.tree import separate_log_probs
from coach_gym.agents.training import updating
from coach_gym.episode import Episode, Step
from tests.agents import tiny
from tests.agents.warm_start import letter, warm_policy


def make(**arguments) -> FilteredCloningAgent:
    return FilteredCloningAgent(warm_policy(), None, 1e-3, **{"max_new_tokens": 3, "seed": 0, **arguments})


def episode(agent: FilteredCloningAgent, letters: Sequence[str], outcome: float, seed: int = 0) -> Episode:
    rng = np.random.default_rng(seed)
    steps = [Step(tiny.observation(rng), [letter(agent.policy, text)], 0, text) for text in letters]
    return Episode("red", steps, outcome=outcome)


@torch.no_grad()
def likelihood(agent: FilteredCloningAgent, one: Episode) -> torch.Tensor:
    return torch.cat(sum(separate_log_probs(agent.policy, one), []))


def weights(agent: FilteredCloningAgent) -> torch.Tensor:
    return torch.cat([parameter.detach().flatten().clone() for parameter in agent.policy.model.parameters()])


def test_the_loss_is_the_mean_over_the_tokens_of_all_successes():
    agent = make()
    solved = [episode(agent, "ab", 1.0), episode(agent, "c", 1.0, seed=1)]
    expected = -torch.cat([likelihood(agent, one) for one in solved]).mean()
    agent.train([[one] for one in [*solved, episode(agent, "b", 0.0, seed=2)]])
    assert agent.logger.name_to_value["train/imitation_loss"] == pytest.approx(expected.item(), abs=1e-5)
    assert agent.logger.name_to_value["train/imitated"] == 2


def test_only_what_solved_its_task_becomes_likelier():
    agent = make()
    solved, partly = episode(agent, "ab", 1.0), episode(agent, "cc", 0.9)
    before = likelihood(agent, solved).sum()
    agent.train([[solved], [partly]])
    assert likelihood(agent, solved).sum() > before
    other = make()
    other.train([[solved]])
    torch.testing.assert_close(weights(agent), weights(other), rtol=0, atol=0)


def test_without_any_success_nothing_changes():
    agent = make()
    before = weights(agent)
    agent.train([[episode(agent, "ab", 0.0)]])
    assert torch.equal(weights(agent), before)


def test_the_latest_successes_are_imitated_again():
    agent = make(replay=2)
    counts = []
    for seed in range(4):
        agent.train([[episode(agent, "a", float(seed < 3), seed)]])
        counts.append(agent.logger.name_to_value["train/imitated"])
    assert counts == [1, 2, 3, 2]


def test_successes_without_room_are_packed_again_and_teach_the_same(monkeypatch):
    def trained(room: int) -> tuple[FilteredCloningAgent, torch.Tensor]:
        monkeypatch.setattr(updating, "KEPT_BYTES", room)
        agent = make(replay=3)
        for seed in range(4):
            agent.train([[episode(agent, "ab", 1.0, seed)]])
        return agent, weights(agent)

    rich, plenty = trained(1 << 31)
    assert [success.tree is not None for success in rich.successes] == [True, True, False]  # the last was not repeated
    poor, little = trained(rich.successes[0].tree.nbytes)
    assert [success.tree is not None for success in poor.successes].count(True) <= 1
    assert torch.equal(plenty, little)


def test_every_epoch_takes_every_success():
    agent = make(n_epochs=3, mini_batch_size=1)
    taken = agent.mini_batches(["one", "other"], agent.n_epochs)
    assert sorted(sum(taken, [])) == ["one"] * 3 + ["other"] * 3
    steps = []
    agent.optimizers["policy.optimizer"].register_step_post_hook(lambda *_: steps.append(1))
    agent.train([[episode(agent, "a", 1.0, seed)] for seed in range(2)])
    assert len(steps) == 6
