"""Several processes compute what one does, also with trees that take different numbers of passes."""

from functools import partial

import pytest
import torch

from coach_gym.agents.distributed import processes
from coach_gym.agents.distributed.parallel import gather_state
from coach_gym.agents.models.tree import build_tree, separate_tree
from coach_gym.agents.training.objective.advantages import acloo
from coach_gym.agents.training.objective.updates import CriticSample
from tests.agents.distributed import test_parallel

WAYS = {"chunks": partial(build_tree, max_branch_tokens=6), "separate": separate_tree, "tree": build_tree}


def update(way, share):
    """Returns the weights after the critic's fit and the policy's step on this process's share of the episodes."""
    agent, build = test_parallel.make("coach", learning_rate=5.0, max_prompt_length=150), WAYS[way]
    for name, model in agent.learner.models.items():
        agent.optimizers[f"{name}.optimizer"] = torch.optim.SGD(model.parameters())
    agent.critic.value_head.weight.data.copy_(torch.linspace(-1, 1, 32))
    groups = test_parallel.episodes(agent)
    agent.distribute()
    mine = share[processes.rank()] if processes.size() > 1 else range(len(groups))
    episodes = [episode for index in mine for episode in groups[index]]
    targets = [torch.linspace(0, 1, episode.length) for episode in episodes]
    known = [torch.ones(episode.length, dtype=torch.bool) for episode in episodes]
    trees = [build(agent.policy, episode, "executed") for episode in episodes]
    agent.fit_critic(agent.critic.response_q_values, [*map(CriticSample, trees, targets, known)])
    trees = [build(agent.policy, episode) for episode in episodes]
    scores = [torch.stack(q) for q in agent.ask_critic(agent.critic.q_values, trees)]
    batch = zip(episodes, trees, scores, strict=True)
    agent.update_policy([agent.policy_sample(episode, tree, acloo(q)) for episode, tree, q in batch])
    return test_parallel.weights(gather_state(agent.get_parameters()))


@pytest.mark.parametrize("way", ["chunks", "separate"])
def test_processes_take_as_many_passes_as_they_like(way, tmp_path):
    expected = update("tree", None)
    before = test_parallel.weights(test_parallel.make("coach").get_parameters())
    assert max((expected[name] - before[name]).abs().max() for name in before if "policy" in name) > 2e-3
    weights, _ = test_parallel.together(2, tmp_path, update, way, [[0], [1, 2]])
    torch.testing.assert_close(weights, expected, rtol=0, atol=5e-6)
