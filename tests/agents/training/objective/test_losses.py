import pytest
import torch

from coach_gym.agents.training.objective.losses import (
    approximate_kl,
    clipped_share,
    clipped_value_loss,
    log_ratios,
    ppo_clip,
)
from tests.agents.training.objective.oracle import VERL


def test_ppo_clip_is_verls():
    loss = ppo_clip(VERL["log_probs"] - VERL["old_log_probs"], VERL["advantages"], clip_range=0.2)
    torch.testing.assert_close(loss.mean(), VERL["policy_loss"])


def test_ratios_of_sequences_are_verls_gspo():
    lengths = VERL["lengths"].tolist()
    log_probs = VERL["log_probs"].clone().requires_grad_()
    firsts = torch.tensor([part[0] for part in VERL["advantages"].split(lengths)])
    ratios = log_ratios(log_probs, VERL["old_log_probs"], lengths, "sequence")
    losses = ppo_clip(ratios, firsts.repeat_interleave(VERL["lengths"]), clip_range=0.2).split(lengths)
    torch.testing.assert_close(torch.stack([loss.mean() for loss in losses]), VERL["gspo_losses"])
    sum(loss.mean() for loss in losses).backward()
    torch.testing.assert_close(log_probs.grad, VERL["gspo_gradients"])


def test_the_ratio_of_an_action_is_that_of_its_whole_response():
    """Equation 4 by hand: two tokens whose ratios are 1.1 and 1.05, and one whose ratio is 1.3."""
    log_probs = torch.tensor([1.1, 1.05, 1.3]).log().requires_grad_()
    ratios = log_ratios(log_probs, torch.zeros(3), [2, 1], "action")
    torch.testing.assert_close(ratios.exp(), torch.tensor([1.155, 1.155, 1.3]))
    losses = ppo_clip(ratios, torch.ones(3), clip_range=0.2)
    torch.testing.assert_close(losses, torch.tensor([-1.155, -1.155, -1.2]))
    losses.sum().backward()
    torch.testing.assert_close(log_probs.grad, torch.tensor([-1.155, -1.155, 0.0]))
    together = log_probs.detach().requires_grad_()
    (-together[:2].sum().exp()).backward()
    torch.testing.assert_close(log_probs.grad[:2], together.grad[:2])


@pytest.mark.parametrize(
    ("level", "clipped"),
    [("token", [True, True, False]), ("sequence", [False, False, False]), ("action", [False, False, False])],
)
def test_what_is_clipped_depends_on_the_level(level, clipped):
    """Two tokens move in opposite directions: each is beyond the clip range, and their response has not moved."""
    log_probs = torch.tensor([0.5, -0.5, 0.1])
    ratios = log_ratios(log_probs, torch.zeros(3), [2, 1], level)
    assert ((ratios.exp() - 1).abs() > 0.2).tolist() == clipped
    assert clipped_share(ratios, 0.2) == pytest.approx(sum(clipped) / 3)


@pytest.mark.parametrize("level", ["token", "sequence", "action"])
def test_on_policy_all_levels_are_the_policy_gradient(level):
    log_probs, advantages = torch.randn(7, requires_grad=True), torch.randn(2).repeat_interleave(torch.tensor([3, 4]))
    ppo_clip(log_ratios(log_probs, log_probs.detach(), [3, 4], level), advantages, 0.2).sum().backward()
    torch.testing.assert_close(log_probs.grad, -advantages)


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
    value = ppo_clip(log_probs, torch.tensor([advantage]), clip_range=0.2)
    value.sum().backward()
    assert value.item() == pytest.approx(loss)
    assert log_probs.grad is not None
    assert log_probs.grad.item() == pytest.approx(gradient)


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
    assert (approximate_kl(old, old), clipped_share(old - old, 0.2)) == (0.0, 0.0)
    moved = torch.tensor([0.5, 0.1]).repeat(500)
    kl, clipped = approximate_kl(old + moved, old), clipped_share(moved, 0.2)
    assert kl == pytest.approx(((0.5**2 + 0.1**2) / 4), rel=0.25)  # k3 is half the squared log-ratio, nearly
    assert clipped == 0.5
