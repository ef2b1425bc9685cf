import pytest
import torch

from coach_gym.agents.training.objective.losses import clip_diagnostics, clipped_value_loss, ppo_clip
from tests.agents.training.objective.oracle import VERL


def test_ppo_clip_is_verls():
    loss = ppo_clip(VERL["log_probs"], VERL["old_log_probs"], VERL["advantages"], clip_range=0.2)
    torch.testing.assert_close(loss.mean(), VERL["policy_loss"])


def test_clipped_value_loss_is_verls():
    loss = clipped_value_loss(VERL["values"], VERL["old_values"], VERL["returns"], clip_range=0.5)
    torch.testing.assert_close(loss.mean(), VERL["value_loss"])


@pytest.mark.parametrize(
    ("ratio", "advantage", "loss", "gradient"),
    [
        (1.0, 1.0, -1.0, -1.0),
        (1.5, 1.0, -1.2, 0.0),  # good action, already likelier by more than the clip range: let it be
        (0.5, 1.0, -0.5, -0.5),  # good action that became less likely: pull it back
        (0.5, -1.0, 0.8, 0.0),  # bad action, already less likely
        (1.5, -1.0, 1.5, 1.5),  # bad action that became likelier: push it down
    ],
)
def test_ppo_clip_by_hand(ratio, advantage, loss, gradient):
    log_probs = torch.tensor([ratio]).log().requires_grad_()
    value = ppo_clip(log_probs, torch.zeros(1), torch.tensor([advantage]), clip_range=0.2)
    value.sum().backward()
    assert value.item() == pytest.approx(loss)
    assert log_probs.grad is not None
    assert log_probs.grad.item() == pytest.approx(gradient)


def test_ppo_clip_on_policy_is_the_policy_gradient():
    log_probs = torch.randn(7, requires_grad=True)
    advantages = torch.randn(7)
    ppo_clip(log_probs, log_probs.detach(), advantages, 0.2).sum().backward()
    torch.testing.assert_close(log_probs.grad, -advantages)


@pytest.mark.parametrize(
    ("value", "target", "loss", "gradient"),
    [
        (0.3, 1.0, 0.5 * 0.7**2, -0.7),  # within the clip range: plain squared error
        (0.9, 1.0, 0.5 * 0.5**2, 0.0),  # moved 0.9 towards the target, 0.5 is allowed: no further
        (0.9, 0.0, 0.5 * 0.9**2, 0.9),  # moved away from the target: the full error counts
    ],
)
def test_clipped_value_loss_by_hand(value, target, loss, gradient):
    values = torch.tensor([value], requires_grad=True)
    result = clipped_value_loss(values, torch.zeros(1), torch.tensor([target]), clip_range=0.5)
    result.sum().backward()
    assert result.item() == pytest.approx(loss)
    assert values.grad is not None
    assert values.grad.item() == pytest.approx(gradient)


def test_diagnostics():
    old = torch.randn(1000)
    assert clip_diagnostics(old, old, 0.2) == (0.0, 0.0)
    kl, clipped = clip_diagnostics(old + torch.tensor([0.5, 0.1]).repeat(500), old, 0.2)
    assert kl == pytest.approx(((0.5**2 + 0.1**2) / 4), rel=0.25)  # k3 is half the squared log-ratio, nearly
    assert clipped == 0.5
