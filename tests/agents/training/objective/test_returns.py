import pytest

from coach_gym.agents.training.objective.returns import discounted_outcome, process_outcome_returns


def test_returns_by_hand():
    # w_p = 0.2, w_o = 1, gamma = 0.5; rewards 1, 0, 1, success:
    # R_2 = .2 * 1 + 1;  R_1 = .2 * (0 + .5 * 1) + 1;  R_0 = .2 * (1 + .5 * 0 + .25 * 1) + 1
    assert process_outcome_returns([1, 0, 1], 1.0, gamma=0.5) == pytest.approx([1.25, 1.1, 1.2])


def test_returns_as_the_paper_prints_them():
    # gamma^(T - tau): the last step weighs 1, the one before 0.5, the first 0.25, whatever t is
    returns = process_outcome_returns([1, 0, 1], 1.0, gamma=0.5, discount="paper")
    assert returns == pytest.approx([0.2 * 1.25 + 1, 0.2 * 1 + 1, 0.2 * 1 + 1])


def test_both_discounts_agree_without_discounting():
    rewards = [0.0, 1.0, 1.0, 0.0]
    forward = process_outcome_returns(rewards, 0.0, gamma=1.0)
    assert forward == process_outcome_returns(rewards, 0.0, gamma=1.0, discount="paper")


def test_weights_and_failure():
    assert process_outcome_returns([1.0], 0.0, process_weight=0.3) == pytest.approx([0.3])
    assert process_outcome_returns([0.0], 1.0, outcome_weight=2.0) == [2.0]
    assert process_outcome_returns([0.0, 0.0], 0.0) == [0.0, 0.0]


def test_the_outcome_is_not_discounted():
    assert process_outcome_returns([0.0] * 20, 1.0, gamma=0.1) == [1.0] * 20


@pytest.mark.parametrize("discount", ["forward", "paper"])
def test_an_unknown_verdict_masks_its_own_step_only(discount):
    """For earlier steps it counts as the mean of the known ones, here 0.5; later steps do not depend on it."""
    returns = process_outcome_returns([1, None, 1, 0, 0], 1.0, gamma=0.5, discount=discount)
    filled = process_outcome_returns([1, 0.5, 1, 0, 0], 1.0, gamma=0.5, discount=discount)
    assert returns == [filled[0], None, *filled[2:]]


def test_without_any_verdict_no_return_is_known():
    assert process_outcome_returns([None, None], 1.0) == [None, None]


def test_defaults_are_the_papers():
    # Table of hyper-parameters: gamma .95, w_p .2, w_o 1
    assert process_outcome_returns([1, 1], 1.0) == pytest.approx([0.2 * 1.95 + 1, 1.2])


def test_the_outcome_is_discounted_on_request():
    returns = process_outcome_returns([1.0, 0.0], 1.0, 0.5, process_weight=0.2, discount_outcome=True)
    assert returns == pytest.approx([0.2 + 0.5, 1.0])


def test_discounted_outcome():
    assert discounted_outcome(3, 1.0, 0.5) == [0.25, 0.5, 1.0]
    assert discounted_outcome(2, 0.0) == [0.0, 0.0]
    assert discounted_outcome(2, 1.0) == pytest.approx([0.95, 1.0])


def test_no_steps_no_returns():
    assert process_outcome_returns([], 1.0) == discounted_outcome(0, 1.0) == []
