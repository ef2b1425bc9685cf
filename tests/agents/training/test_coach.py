"""What CoachAgent makes of the known returns of candidates, in the critic's targets and in the advantages."""

import pytest
import torch
from gymnasium.vector import SyncVectorEnv

from coach_gym.agents import CoachAgent, PPOAgent
from coach_gym.agents.generation import frozen
from coach_gym.agents.generation.vllm.generator import VllmGenerator
from coach_gym.agents.models.critic import Critic
from coach_gym.agents.models.policy import Policy
from coach_gym.agents.models.tree import separate_log_probs
from coach_gym.episode import Episode
from tests.agents import tiny
from tests.agents.trivial_env import ButtonEnv
from tests.agents.warm_start import answers_to, letter

BACK, HOME, CUT = "Action: press_back()", "Action: press_home()", "Action: press_back("
"""Two actions, and a response that is none."""


def one_state(policy: Policy, *texts: str) -> Episode:
    """Returns a successful episode of one step with these candidates, scored by the policy; the first is executed."""
    episode = answers_to("red", [letter(policy, text) for text in texts])
    episode.outcome = 1.0
    for candidate, log_probs in zip(episode.steps[0].candidates, score(policy, episode), strict=True):
        candidate.logprobs = log_probs.tolist()
    return episode


@torch.no_grad()
def score(policy: Policy, episode: Episode) -> list[torch.Tensor]:
    (scored,) = separate_log_probs(policy, episode)
    return scored


def rises(agent: CoachAgent, episode: Episode) -> list[float]:
    """Returns how much likelier each candidate becomes with an update of the policy."""
    agent.update_policy(agent.policy_samples([episode]))
    candidates = episode.steps[0].candidates
    return [
        float((after - torch.tensor(candidate.logprobs)).sum())
        for after, candidate in zip(score(agent.policy, episode), candidates, strict=True)
    ]


@pytest.mark.parametrize("worthless", [True, False])
def test_a_response_that_is_no_action_is_not_attractive(worthless, monkeypatch):
    """Though the critic likes it; without the rule the policy learns to give that response."""
    policy = tiny.policy()
    agent = CoachAgent(policy, None, 1e-3, k=2, batch_size=1, malformed_is_worthless=worthless)
    monkeypatch.setattr(agent.critic, "q_values", lambda tree: [torch.tensor([0.5, 1.4])])
    _, cut = rises(agent, one_state(policy, BACK, CUT))
    assert (cut < 0) == worthless


@pytest.mark.parametrize("baseline", ["leave_one_out", "value"])
@pytest.mark.parametrize("correction", [0.0, 1.0])
def test_nor_is_it_beside_an_action_of_which_the_critic_believes_less_than_nothing(baseline, correction, monkeypatch):
    policy = tiny.policy()
    settings = {"baseline": baseline, "outcome_correction": correction}
    agent = CoachAgent(policy, None, 1e-3, k=2, batch_size=1, **settings)
    monkeypatch.setattr(agent.critic, "q_values", lambda tree: [torch.tensor([1.4, -0.2])])
    monkeypatch.setattr(agent.critic, "state_values", lambda tree: torch.tensor([-0.1]))
    episode = one_state(policy, CUT, BACK)
    episode.outcome = 0.0
    agent.assign_returns([episode])
    assert agent.policy_samples([episode])[0].advantages.max() <= 0


def test_what_draws_sleeps_before_anything_is_learned(monkeypatch):
    """Also where candidates are drawn again in the middle of an update, and where a model in a vLLM judges."""
    told = []
    envs = SyncVectorEnv([lambda: ButtonEnv()] * 4)
    settings = {"batch_size": 4, "max_new_tokens": 2, "seed": 0, "malformed_is_worthless": False}
    agent = CoachAgent(tiny.policy(), envs, 1e-3, k=2, resample=True, revisit=4, **settings)

    class Judge(VllmGenerator):
        def __init__(self):
            """Needs no vLLM."""

        def sleep(self):
            told.append("judge sleeps")

    monkeypatch.setattr(frozen, "make_generator", lambda generation, policy: Judge())
    judge = frozen.frozen_generator(tiny.policy(), "vllm")
    sample = agent.generator.sample
    monkeypatch.setattr(
        agent.generator, "sample", lambda *args, **kwargs: told.append("draw") or sample(*args, **kwargs)
    )
    monkeypatch.setattr(agent.generator, "sleep", lambda: told.append("sleep"))
    monkeypatch.setattr(agent, "update_policy", lambda samples: told.append("learn"))
    agent.learn(4)
    assert told == ["draw", "sleep", "judge sleeps", "judge sleeps", "draw", "sleep", "learn", "draw", "sleep", "learn"]
    del judge  # nobody asks it any more


def test_a_roll_out_without_any_action_is_reported():
    policy = tiny.policy()
    agent = CoachAgent(policy, None, 1e-3, k=2, batch_size=1)
    with pytest.warns(UserWarning, match="malformed_is_worthless=False"):
        agent.policy_samples([one_state(policy, CUT, "a")])


def test_the_correction_turns_the_policy_from_a_failure_that_the_critic_likes(monkeypatch):
    """The executed action fails; with the paper's advantage it becomes likelier all the same."""
    of_weight = {}
    for weight in (0.0, 1.0):
        policy = tiny.policy()
        agent = CoachAgent(policy, None, 1e-3, k=2, batch_size=1, outcome_correction=weight)
        monkeypatch.setattr(agent.critic, "q_values", lambda tree: [torch.tensor([1.4, 0.5])])
        episode = one_state(policy, BACK, HOME)
        episode.outcome = 0.0
        agent.assign_returns([episode])
        of_weight[weight], _ = rises(agent, episode)
    assert of_weight[0.0] > 0 > of_weight[1.0]


def test_the_correction_uses_the_critic_before_its_fit():
    """Fitted to these very returns first, the critic would leave nothing to correct."""
    policy = tiny.policy()
    agent = CoachAgent(
        policy, None, 1e-3, k=2, batch_size=1, critic_learning_rate=3e-3, critic_warmup_ratio=0.0, critic_epochs=20,
        outcome_correction=1.0,
    )  # fmt: skip
    samples = []
    agent.update_policy = samples.extend
    agent.train([[one_state(policy, BACK, HOME)]])
    assert samples[0].advantages[0] == 2.0, "k (R - Q) with the Q of a critic that has learned nothing, 0"
    assert agent.critic.value_head.weight.any()


def test_a_correction_needs_the_candidates_of_the_rollout():
    with pytest.raises(ValueError, match=r"outcome_correction=0\.5 .* resample=True"):
        CoachAgent(tiny.policy(), None, outcome_correction=0.5, resample=True)


def test_known_returns_of_candidates():
    policy = tiny.policy()
    agent = CoachAgent(policy, None, batch_size=1)
    episode = one_state(policy, BACK, CUT, HOME, HOME)
    episode.steps[0].return_ = 0.9
    episode.steps[0].candidates[2].return_ = 0.3
    (known,) = agent.known_returns(episode)
    torch.testing.assert_close(known, torch.tensor([0.9, 0.0, 0.3, float("nan")]), equal_nan=True)
    agent.malformed_is_worthless = False
    (known,) = agent.known_returns(episode)
    assert known.isnan().tolist() == [False, True, False, True]


def test_an_executed_response_that_is_no_action_has_no_return():
    policy = tiny.policy()
    agent = CoachAgent(policy, None, batch_size=1)
    episode = one_state(policy, CUT, HOME)
    episode.steps[0].return_ = 0.9
    (sample,) = agent.critic_samples([episode])
    assert sample.returns.tolist() == [0.0]


def test_the_critic_sees_branches_only_if_something_is_known_about_them():
    policy = tiny.policy()
    agent = CoachAgent(policy, None, batch_size=1)
    for texts, targets in ((BACK, HOME), [True]), ((BACK, CUT), [True, True]):
        episode = one_state(policy, *texts)
        episode.steps[0].return_ = 0.9
        (sample,) = agent.critic_samples([episode])
        assert sample.known.tolist() == targets
        assert len(agent.critic.response_q_values(sample.tree)) == len(targets)


@pytest.mark.parametrize("options", [{}, {"max_branch_tokens": 3}, {"trajectory_trees": False}])
def test_the_critic_learns_that_a_response_is_worthless(options):
    """However the candidates are packed."""
    policy = tiny.policy()
    torch.manual_seed(0)
    agent = CoachAgent(
        policy, None, batch_size=1, critic=Critic.from_policy(policy), critic_learning_rate=3e-3,
        critic_warmup_ratio=0.0, critic_epochs=20, **options,
    )  # fmt: skip
    episode = one_state(policy, BACK, HOME, "?")
    episode.steps[0].return_ = 0.9
    agent.fit_critic(agent.critic.response_q_values, agent.critic_samples([episode]))
    with torch.no_grad():
        ((back, _, worthless),) = agent.critic.q_values(agent.tree(episode))
    assert back > worthless + 0.3


def test_the_critic_learns_from_measured_returns_of_other_candidates():
    """One action is executed in every state: without its fork the critic knows nothing about the other one."""
    policy = tiny.policy()

    def gap(measured: float | None) -> float:
        torch.manual_seed(0)
        agent = CoachAgent(
            policy, None, batch_size=1, critic=Critic.from_policy(policy), critic_learning_rate=3e-3,
            critic_warmup_ratio=0.0, critic_epochs=20, critic_contrast=4.0,
        )  # fmt: skip
        episode = one_state(policy, BACK, HOME)
        episode.steps[0].return_, episode.steps[0].candidates[1].return_ = 0.9, measured
        agent.fit_critic(agent.critic.response_q_values, agent.critic_samples([episode]))
        with torch.no_grad():
            ((back, home),) = agent.critic.q_values(agent.tree(episode))
        return float(back - home)

    assert gap(0.1) > 0.4 > abs(gap(None))


def test_the_states_value_is_a_baseline_that_is_fitted_to_the_same_returns():
    rates = {"critic_learning_rate": 5e-3, "critic_warmup_ratio": 0.0, "critic_epochs": 20}
    agent = CoachAgent(tiny.policy(), None, 1e-3, k=3, batch_size=1, baseline="value", **rates)
    episode = one_state(agent.policy, BACK, HOME, HOME)
    tree = agent.tree(episode)
    before = float(agent.ask_critic(agent.critic.state_values, [tree])[0])
    agent.train([[episode]])
    (value,) = agent.ask_critic(agent.critic.state_values, [tree])[0].tolist()
    assert abs(1 - value) < abs(1 - before) - 0.2, "the episode succeeded"
    q = torch.tensor([[0.4, 0.1, 0.1]])
    less = agent.advantages(episode, q, torch.tensor([value]))
    assert less.tolist() == [pytest.approx([0.4 - value, 0.1 - value, 0.1 - value])]


def test_the_executed_candidate_can_be_left_out(monkeypatch):
    agent = CoachAgent(tiny.policy(), None, 1e-3, k=2, batch_size=1, learn_from_executed=False)
    assert agent.n_candidates == 3
    episode = one_state(agent.policy, CUT, BACK, HOME)
    monkeypatch.setattr(agent.critic, "q_values", lambda tree: [torch.tensor([9.0, 1.0, 0.0])])
    (sample,) = agent.policy_samples([episode])
    assert sample.first == 1
    sizes = [len(candidate.token_ids) for candidate in episode.steps[0].candidates[1:]]
    assert [part[0].item() for part in sample.advantages.split(sizes)] == [1.0, -1.0]


@pytest.mark.parametrize("weight", [0.0, 0.25, 1.0])
def test_negative_advantages_count_as_much_as_is_asked(weight, monkeypatch):
    policy = tiny.policy()
    agent = CoachAgent(policy, None, k=2, batch_size=1, negative_weight=weight)
    monkeypatch.setattr(agent.critic, "q_values", lambda tree: [torch.tensor([1.4, 0.5])])
    (sample,) = agent.policy_samples([one_state(policy, BACK, HOME)])
    better, worse = sample.advantages.unique().tolist()[::-1]
    assert better == pytest.approx(0.9) and worse == pytest.approx(-0.9 * weight)


def test_self_imitation_repeats_the_latest_successes_and_makes_them_likelier():
    policy = tiny.policy()
    agent = CoachAgent(policy, None, 1e-3, k=2, batch_size=1, self_imitation=2, critic_learning_rate=0.0)
    solved, failed = one_state(policy, BACK, HOME), one_state(policy, HOME, BACK)
    failed.outcome = 0.0
    before = score(policy, solved)[0].sum()
    imitated, norms = [], []
    for episode in (solved, failed, solved, solved, solved):
        agent.train([[episode]])
        imitated.append(agent.logger.name_to_value["train/imitated"])
        norms.append([agent.logger.name_to_value[f"train/{name}"] for name in ("grad_norm", "imitation_grad_norm")])
    assert imitated == [1, 1, 2, 3, 3]
    assert all(policy != imitation for policy, imitation in norms), "two updates, logged apart"
    assert score(policy, solved)[0].sum() > before


def test_without_self_imitation_nothing_is_kept():
    agent = CoachAgent(policy := tiny.policy(), None, 1e-3, k=2, batch_size=1)
    agent.train([[one_state(policy, BACK, HOME)]])
    assert not agent.successes and "train/imitated" not in agent.logger.name_to_value


class Forgetful:
    """A judge that likes every step, and says nothing of the goals it has forgotten."""

    def score(self, goal, steps):
        return [None if goal == "blue" else 1.0 for _ in steps]


def test_ppo_takes_silence_for_no_blame():
    agent = PPOAgent(
        tiny.policy(), None, batch_size=2, reward_model=Forgetful(), normalize_advantage=False, gamma=1.0
    )  # fmt: skip
    episodes = [answers_to(goal, [letter(agent.policy, "a")]) for goal in ("red", "blue")]
    for episode in episodes:
        episode.outcome = 1.0
    agent.train([episodes])
    judged, silent = ([step.candidates[0].advantage for step in episode.steps] for episode in episodes)
    assert judged == pytest.approx([1.2], abs=1e-5) and silent == pytest.approx(judged)
