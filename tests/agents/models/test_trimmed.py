"""A pass whose last layer is trimmed computes what the whole pass computes."""

from typing import Any

import pytest
import torch

from coach_gym.agents.models import tree as trees
from coach_gym.agents.models.critic import Critic
from coach_gym.agents.models.tree import build_tree, log_probs
from coach_gym.agents.models.trimmed import can_trim
from tests.agents import tiny


@pytest.mark.parametrize("architecture", ["qwen2_vl", "qwen2_5_vl"])
@pytest.mark.parametrize("candidates", ["all", "executed"])
def test_values_and_gradients_are_those_of_the_whole(
    monkeypatch: pytest.MonkeyPatch, architecture: str, candidates: Any
) -> None:
    policy = tiny.policy(architecture=architecture)
    critic = Critic.from_policy(policy)
    torch.nn.init.normal_(critic.value_head.weight)
    tree = build_tree(policy, tiny.episode(policy, steps=3, k=3), candidates)

    def results() -> list[torch.Tensor]:
        outputs = [
            torch.cat(sum(log_probs(policy, tree), [])),
            critic.response_q_values(tree),
            critic.state_values(tree),
        ]
        gradients = []
        for output, model in zip(outputs, (policy.model, critic, critic), strict=True):
            model.zero_grad()
            output.sin().sum().backward()
            gradients += [p.grad.clone() for p in model.parameters() if p.grad is not None]
        return [*outputs, *gradients]

    assert can_trim(policy.model.model) and can_trim(critic.backbone)
    trimmed = results()
    monkeypatch.setattr(trees, "can_trim", lambda _: False)
    for ours, whole in zip(trimmed, results(), strict=True):
        torch.testing.assert_close(ours, whole, rtol=1e-3, atol=1e-5)


def test_other_models_are_computed_as_a_whole() -> None:
    assert not can_trim(tiny.policy(architecture="qwen3_vl").model.model)
    model = tiny.policy().model
    model.gradient_checkpointing_enable()
    assert can_trim(model.model) and not can_trim(model.train().model)
