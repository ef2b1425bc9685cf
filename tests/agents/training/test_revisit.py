"""States of earlier episodes are visited again: fresh candidates are drawn there and learned from, without a device."""

import numpy as np
import pytest
import torch

from coach_gym.agents import CoachAgent, evaluate
from coach_gym.agents.models.critic import Critic
from coach_gym.agents.training.remembered import Visited, pack
from tests.agents import tiny
from tests.agents.playing.test_scorers import Judge, coach
from tests.agents.training.test_cloning import weights
from tests.agents.training.test_coach import BACK, HOME, one_state

GIVEN = {"k": 3, "batch_size": 2, "max_new_tokens": 4, "critic_learning_rate": 0.0, "seed": 0}


def make(**options):
    """Returns an agent whose critic has opinions and keeps them."""
    critic = Critic.from_policy(tiny.policy())
    torch.nn.init.normal_(critic.value_head.weight, generator=torch.Generator().manual_seed(0))
    options = {"malformed_is_worthless": False, "critic": critic, **GIVEN, **options}
    return CoachAgent(tiny.policy(), None, **{"learning_rate": 1e-3} | options)


def two_episodes(policy):
    solved, failed = one_state(policy, BACK, HOME, HOME), one_state(policy, HOME, BACK, BACK)
    failed.goal, failed.outcome = "blue", 0.0
    return [solved, failed]


@pytest.mark.parametrize("options", [{}, {"baseline": "none"}, {"distinct": True}, {"rollout_temperature": 1.5}])
def test_it_teaches_what_fresh_candidates_of_a_roll_out_teach(options):
    """`resample`, with a critic that is not fitted, makes the same draws in the same states."""
    resampling, visiting = make(resample=True, **options), make(revisit=2, **options)
    before = weights(visiting)
    torch.manual_seed(1)
    resampling.train([[episode] for episode in two_episodes(resampling.policy)])
    torch.manual_seed(1)
    visiting.visit_again(two_episodes(visiting.policy))
    torch.testing.assert_close(weights(visiting), weights(resampling), rtol=0, atol=1e-6)
    assert not torch.equal(weights(visiting), before)


def test_the_latest_episodes_are_visited_solved_or_not_as_many_as_asked():
    agent = make(revisit=3, max_revisited=2, revisit_k=5)
    visits, draw = [], agent.draw_candidates

    def drawn(episodes, k):
        visits.append(([each.goal for each in episodes], k))
        return draw(episodes, k)

    agent.draw_candidates = drawn
    solved, failed = two_episodes(agent.policy)
    for _ in range(20):
        agent.visit_again([solved, failed])
    assert [each.episode().goal for each in agent.visited] == ["blue", "red", "blue"]
    assert {(len(goals), k) for goals, k in visits} == {(2, 5)}
    assert {goal for goals, _ in visits for goal in goals} == {"red", "blue"}


def test_every_step_has_draws_of_the_policy_as_it_is_by_then():
    """So that no ratio has moved when a step begins, and nothing is clipped."""
    agent = make(revisit=8, learning_rate=1e-2)
    log, updates = agent.log_training, []
    agent.log_training = lambda **values: updates.append(values) or log(**values)
    agent.visit_again(two_episodes(agent.policy) * 4)
    made = [values for values in updates if "approx_kl" in values]
    assert len(made) == 4, "a step for each batch_size of the eight episodes"
    assert all(abs(values["approx_kl"]) < 1e-9 and values["clip_fraction"] == 0 for values in made)
    assert any(values["grad_norm"] > 0 for values in made)


def test_a_roll_outs_own_log_stays_and_visits_have_one_of_theirs():
    agent, plain = make(revisit=2), make()
    for name in ("train", "revisit"):
        assert f"{name}/q_spread" not in agent.logger.name_to_value
    for each in (agent, plain):
        each.train([[episode] for episode in two_episodes(each.policy)])
    log = agent.logger.name_to_value
    assert {"train/q_spread", "revisit/q_spread", "train/grad_norm", "revisit/grad_norm"} <= log.keys()
    ours, theirs = ({k: v for k, v in each.items() if k.startswith("train/") and np.isscalar(v)}
                    for each in (log, plain.logger.name_to_value))  # fmt: skip
    assert ours == pytest.approx(theirs, nan_ok=True)


def test_a_visit_that_fails_does_not_name_what_is_logged_later():
    agent = make(revisit=2)
    agent.draw_candidates = lambda episodes, k: 1 / 0
    with pytest.raises(ZeroDivisionError):
        agent.visit_again(two_episodes(agent.policy))
    agent.log_training(loss=1.0)
    assert "train/loss" in agent.logger.name_to_value


def test_a_judge_is_asked_about_what_it_has_not_seen_there():
    judge = Judge()
    agent = coach(judge, revisit=4, batch_size=4)
    agent.train([[episode] for group in agent.collect_rollouts() for episode in group])
    first = [(goal, steps[-1][1]) for goal, steps in judge.asked]
    for _ in range(3):
        judge.asked.clear()
        seen = [dict(each.verdicts[0]) for each in agent.visited]
        agent.visit_again([])
        new = [len(each.verdicts[0].keys() - known) for each, known in zip(agent.visited, seen, strict=True)]
        assert len(judge.asked) == sum(new) < len(first)
    for each in agent.visited:
        assert len(each.verdicts[0]) > 1


def test_the_same_device_steps_teach_more():
    def after(**options):
        agent = coach(Judge(), learning_rate=3e-4, mini_batch_size=10, k=4, **options)
        agent.learn(120)
        return agent.num_timesteps, evaluate(agent, agent.env, 80, deterministic=False).success_rate

    steps, success = after()
    with_visits, more = after(revisit=120, max_revisited=120)
    assert with_visits == steps and more > success + 0.15


def test_checkpoints_hold_them_and_a_failed_update_forgets_its_own(tmp_path):
    agent = coach(Judge(), revisit=60, learning_rate=1e-3)
    agent.learn(40)
    before = [each.file for each in agent.visited]
    agent.save(tmp_path / "agent")
    loaded = CoachAgent.load(tmp_path / "agent", env=agent.env, reward_model=Judge())
    assert [each.file for each in loaded.visited] == before and len(before) == 40
    train = agent.train
    agent.train = lambda groups: train(groups) or 1 / 0
    with pytest.raises(ZeroDivisionError):
        agent.learn(40, reset_num_timesteps=False)
    assert [each.file for each in agent.visited] == before


def test_an_episode_is_remembered_without_its_other_candidates():
    episode = two_episodes(tiny.policy())[0]
    (step,) = Visited(pack(episode)).episode().steps
    assert [each.text for each in step.candidates] == [BACK]
    np.testing.assert_array_equal(step.observation.screenshot, episode.steps[0].observation.screenshot)
