"""The learning signal, from an answer to the weights: breaking any link of the chain fails a test.

The tests catch verdicts that reach another episode, an inverted judge, returns that are off by a step, an advantage of
the wrong sign, a critic that does not learn, and points that are off by a few pixels.
"""

from collections.abc import Sequence

import numpy as np
import pytest
import torch
from gymnasium.vector import SyncVectorEnv
from hypothesis import given
from hypothesis import strategies as st

from coach_gym.agents import CoachAgent, FilteredCloningAgent, GRPOAgent, PPOAgent, RLOOAgent
from coach_gym.agents.models.reward_models import format_judgment, parse_judgment
from coach_gym.agents.models.tree import log_probs
from coach_gym.agents.training.online import OnlineAgent
from coach_gym.envs.latency import Latency
from coach_gym.envs.virtual_time import VirtualClock, VirtualTimeEnv
from coach_gym.episode import Candidate, Episode, Observation, Step
from tests.agents import tiny
from tests.agents.trivial_env import LETTERS, ButtonEnv
from tests.agents.warm_start import letter, warm_policy

METHODS = {
    CoachAgent: {"k": 4, "critic_learning_rate": 5e-3, "critic_warmup_ratio": 0.0, "critic_epochs": 8},
    PPOAgent: {"critic_learning_rate": 1e-3, "critic_warmup_ratio": 0.0},
    GRPOAgent: {},
    RLOOAgent: {},
    FilteredCloningAgent: {},
}


def make(method=CoachAgent, envs=None, learning_rate=1e-3, **arguments) -> OnlineAgent:
    arguments = {"batch_size": 16, "max_new_tokens": 3, "seed": 0, **arguments}
    if method is CoachAgent:
        arguments.setdefault("malformed_is_worthless", False)  # the environment reads letters
    return method(warm_policy(), envs, learning_rate, **arguments)


def reds() -> SyncVectorEnv:
    """One task: the right answer is a."""
    return SyncVectorEnv([lambda: ButtonEnv(colours=["red"])] * 8)


def answered(policy, letters: Sequence[str], goal: str = "red") -> Episode:
    """Returns an episode with one step per answer, without a verdict."""
    rng = np.random.default_rng(0)
    steps = [Step(tiny.observation(rng), [letter(policy, text)], 0, text) for text in letters]
    return Episode(goal, steps, outcome=0.0)


class LikesA:
    """A judge that likes the answer a."""

    def score(self, goal, steps):
        return [float(text[:1] == "a") for _, text in steps]


# ---- from the environment to the return ----------------------------------------------------------------------------


@pytest.mark.parametrize("collection", ["events", "rounds"])
def test_every_episode_has_the_verdict_on_its_own_answers(collection):
    """Devices of different speeds finish in a different order than they began."""
    envs = VirtualTimeEnv([lambda: ButtonEnv(steps=2)] * 5, Latency(), VirtualClock(), seed=3)
    agent = make(envs=envs, collection=collection, batch_size=20, k=2)
    episodes = [episode for group in agent.collect_rollouts() for episode in group]
    solved = [all(step.action[:1] == LETTERS[episode.goal] for step in episode.steps) for episode in episodes]
    assert [episode.outcome for episode in episodes] == [float(each) for each in solved]
    assert 0 < sum(solved) < len(solved), "both kinds are among them"
    agent.assign_returns(episodes)
    for episode in episodes:
        assert episode.steps[-1].return_ == episode.outcome
        assert episode.steps[0].return_ == pytest.approx(episode.outcome * 0.95 ** (episode.length - 1))


def test_a_verdict_reaches_the_return_of_its_step_and_of_those_before():
    agent = make(reward_model=LikesA(), gamma=0.5, process_reward_weight=2.0)
    episode = answered(agent.policy, ["b", "a", "c"])
    agent.assign_returns([episode])
    assert [step.process_reward for step in episode.steps] == [0.0, 1.0, 0.0]
    assert [step.return_ for step in episode.steps] == [1.0, 2.0, 0.0]


def test_ppo_discounts_the_outcome_from_the_last_step_back():
    agent = make(PPOAgent, gamma=0.5, normalize_advantage=False, clip_range_vf=10.0)
    episode = answered(agent.policy, ["a", "b", "a"])
    episode.outcome = 1.0
    samples = []
    agent.update_policy = samples.extend
    agent.train([[episode]])
    (sample,) = samples
    lengths = [len(step.candidates[0].token_ids) for step in episode.steps]
    by_step = [part[0].item() for part in sample.advantages.split(lengths)]
    assert by_step == pytest.approx([0.25, 0.5, 1.0]), "a critic without knowledge takes nothing off"


def test_ppo_of_tokens_takes_off_what_was_expected_before_each_token():
    agent = make(PPOAgent, gamma=0.5, normalize_advantage=False, value_level="token")
    torch.nn.init.normal_(agent.critic.value_head.weight)
    episode = answered(agent.policy, ["a", "b"])
    episode.outcome = 1.0
    expected = agent.critic.token_values(agent.tree(episode)).detach()
    lengths = torch.tensor([len(step.candidates[0].token_ids) for step in episode.steps])
    returns = torch.tensor([0.5, 1.0]).repeat_interleave(lengths)
    assert len(expected) == len(returns) > 2 and expected.unique().numel() > 2
    fitted, learned = [], []
    agent.fit_critic = lambda estimate, samples: fitted.extend(samples)
    agent.update_policy = learned.extend
    agent.train([[episode]])
    torch.testing.assert_close(fitted[0].returns, returns)
    torch.testing.assert_close(learned[0].advantages, returns - expected)
    of_step = learned[0].advantages.split(lengths.tolist())[1].mean().item()
    assert episode.steps[1].candidates[0].advantage == pytest.approx(of_step)


def test_ppo_of_tokens_trains():
    agent = make(PPOAgent, reds(), value_level="token", critic_learning_rate=1e-3, critic_warmup_ratio=0.0)
    before = agent.critic.value_head.weight.clone()
    agent.learn(16)
    assert agent.n_updates == 1 and not torch.equal(agent.critic.value_head.weight, before)


def test_good_is_one_and_bad_is_zero():
    assert parse_judgment(format_judgment(True)) == 1.0 and parse_judgment(format_judgment(False)) == 0.0


# ---- from the return to the critic ---------------------------------------------------------------------------------


def q_after_fit(outcomes: dict[str, float], **arguments) -> dict[str, float]:
    """Returns Q of each answer after a fit to one-step episodes with the given outcomes."""
    agent = make(critic_learning_rate=5e-3, critic_warmup_ratio=0.0, critic_epochs=20, **arguments)
    episodes = [answered(agent.policy, [text]) for text in outcomes]
    for episode, outcome in zip(episodes, outcomes.values(), strict=True):
        episode.outcome = outcome
    agent.assign_returns(episodes)
    agent.fit_critic(agent.critic.response_q_values, agent.critic_samples(episodes))
    trees = [agent.tree(episode, candidates="executed") for episode in episodes]
    return {text: float(q) for text, (q,) in zip(outcomes, agent.ask_critic(agent.critic.q_values, trees), strict=True)}


def test_the_critic_learns_which_answers_were_rewarded():
    q = q_after_fit({"a": 1.0, "b": 0.0, "c": 0.0})
    assert q["a"] > q["b"] + 0.2 and q["a"] > q["c"] + 0.2
    q = q_after_fit({"a": 0.0, "b": 1.0, "c": 0.0})
    assert q["b"] > q["a"] + 0.2 and q["b"] > q["c"] + 0.2


def test_the_critic_learns_what_the_judge_likes():
    q = q_after_fit({"b": 0.0, "a": 0.0}, reward_model=LikesA(), process_reward_weight=1.0)
    assert q["a"] > q["b"] + 0.2


def test_the_critic_is_given_the_return_of_every_step_that_has_one():
    agent = make()
    episode = answered(agent.policy, ["a", "b", "c"])
    for step, return_ in zip(episode.steps, [0.25, None, 1.0], strict=True):
        step.return_ = return_
    (sample,) = agent.critic_samples([episode])
    assert sample.known.tolist() == [True, False, True]
    assert sample.returns[sample.known].tolist() == [0.25, 1.0]
    (trunk,) = sample.tree.trunks
    packed = [trunk.input_ids[0, span.start : span.stop].tolist() for (span,) in trunk.spans]
    assert packed == [step.candidates[0].token_ids for step in episode.steps]


def test_training_moves_the_critic_towards_the_returns():
    agent = make(CoachAgent, reds(), **METHODS[CoachAgent])
    groups = agent.collect_rollouts()
    episodes = [episode for group in groups for episode in group]
    returns = torch.tensor([float(episode.outcome) for episode in episodes])

    def error() -> float:
        trees = [agent.tree(episode, candidates="executed") for episode in episodes]
        estimates = torch.stack([step for (step,) in agent.ask_critic(agent.critic.q_values, trees)])
        return float((estimates[:, 0] - returns).square().mean())

    before = error()
    agent.train(groups)
    assert error() < 0.7 * before


# ---- from the critic to the policy ---------------------------------------------------------------------------------


def log_prob_of_letters(agent: OnlineAgent) -> dict[str, float]:
    """Returns the log-probability of each answer in the state where a is right."""
    observation = ButtonEnv(colours=["red"]).reset(seed=0)[0]
    screen = Observation(observation["screenshot"])
    candidates = [letter(agent.policy, text) for text in LETTERS.values()]
    with torch.no_grad():
        scored = log_probs(agent.policy, agent.tree(Episode("red", [Step(screen, candidates, 0, "")])))[0]
    return {text: float(tokens.sum()) for text, tokens in zip(LETTERS.values(), scored, strict=True)}


@pytest.mark.parametrize("method", METHODS)
def test_one_update_makes_the_rewarded_answer_likelier(method):
    agent = make(method, reds(), **METHODS[method])
    before = log_prob_of_letters(agent)
    agent.learn(16)
    after = log_prob_of_letters(agent)
    assert agent.n_updates == 1
    gains = {text: after[text] - before[text] for text in before}
    assert gains["a"] > 0.05 and gains["a"] > max(gains["b"], gains["c"]) + 0.05, gains


def test_the_policy_prefers_what_the_critic_prefers():
    """Candidates that were never executed count as much as those that were."""
    agent = make(k=3)
    drawn = [letter(agent.policy, text) for text in "cab"]
    observation = Observation(ButtonEnv(colours=["red"]).reset(seed=0)[0]["screenshot"])
    with torch.no_grad():
        episode = Episode("red", [Step(observation, drawn, 0, "c")], outcome=0.0)
        for candidate, scored in zip(drawn, log_probs(agent.policy, agent.tree(episode))[0], strict=True):
            candidate.logprobs = scored.tolist()
    agent.critic.q_values = lambda tree: [torch.tensor([0.0, 1.0, 0.2])]
    (sample,) = agent.policy_samples([episode])
    firsts = np.cumsum([0, *(len(candidate.token_ids) for candidate in drawn[:2])])
    assert [sample.advantages[first].item() for first in firsts] == pytest.approx([-0.6, 0.9, -0.3])
    before = log_prob_of_letters(agent)
    agent.update_policy([sample])
    after = log_prob_of_letters(agent)
    assert after["a"] > before["a"] and after["c"] < before["c"]


def test_the_log_tells_in_how_many_states_there_is_nothing_to_compare():
    agent = make(k=3)
    episodes = [answered(agent.policy, "ab"), answered(agent.policy, "c")]
    for step, texts in zip([*episodes[0].steps, *episodes[1].steps], ["aaa", "aba", "bbb"], strict=True):
        step.candidates = [letter(agent.policy, text) for text in texts]
    agent.policy_samples(episodes)
    assert agent.logger.name_to_value["train/all_equal"] == pytest.approx(2 / 3)


def test_the_log_tells_the_entropy_of_a_response():
    """It is the mean of -log p over responses of any length, in all steps of all episodes."""
    agent = make(k=2, batch_size=2)
    episodes = [answered(agent.policy, "ab"), answered(agent.policy, "c")]
    surprises = []
    for number, step in enumerate(step for episode in episodes for step in episode.steps):
        step.candidates = [letter(agent.policy, text) for text in ("a", "abc")]
        for candidate in step.candidates:
            candidate.logprobs = [-0.5 * (number + 1)] * len(candidate.token_ids)
            surprises.append(-sum(candidate.logprobs))
    agent.update_policy(agent.policy_samples(episodes))
    assert agent.logger.name_to_value["train/entropy"] == pytest.approx(np.mean(surprises))


def test_grpo_compares_within_the_group():
    """The other groups' outcomes have no effect."""
    agent = make(GRPOAgent, group_size=2, batch_size=4)
    groups = [[answered(agent.policy, ["a"]) for _ in range(2)] for _ in range(2)]
    for group, outcomes in zip(groups, [(1.0, 0.0), (0.0, 0.0)], strict=True):
        for episode, outcome in zip(group, outcomes, strict=True):
            episode.outcome = outcome
    samples = []
    agent.update_policy = samples.extend
    agent.train(groups)
    signs = [float(sample.advantages[0].sign()) for sample in samples]
    assert signs == [1.0, -1.0, 0.0, 0.0]


def test_ppo_is_paid_for_the_steps_that_the_judge_likes():
    agent = make(PPOAgent, reward_model=LikesA(), process_reward_weight=0.5, outcome_reward_weight=2.0, gamma=0.5)
    episode = answered(agent.policy, "abaa")
    episode.outcome = 1.0
    samples = []
    agent.update_policy, agent.normalize_advantage = samples.extend, False
    agent.train([[episode]])
    firsts = np.cumsum([0, *(len(step.candidates[0].token_ids) for step in episode.steps[:-1])])
    returns = [0.9375, 0.875, 1.75, 2.5]
    assert [samples[0].advantages[first].item() for first in firsts] == pytest.approx(returns), "V starts at zero"


# ---- from the answer to the screen ---------------------------------------------------------------------------------


@given(right=st.floats(0.02, 0.98), down=st.floats(0.02, 0.98), width=st.integers(84, 500), height=st.integers(84, 900))
def test_a_point_is_executed_where_the_model_sees_it(right, down, width, height):
    """The model answers in pixels of the resized image; the action hits the same place of the screen."""
    policy = POLICY
    observation = Observation(np.zeros((height, width, 3), np.uint8))
    columns, rows = policy.frame(observation).image
    x, y = round(right * (columns - 1)), round(down * (rows - 1))
    agent = PLAYER
    answer = Candidate(f"Thought: Here.\nAction: click(start_box='({x},{y})')", [0], [0.0])
    action = agent.step(observation, [answer]).action
    column, row = map(int, action.split("start_box='(")[1].removesuffix(")')").split(","))
    assert abs(column - x * width / columns) <= 1 and abs(row - y * height / rows) <= 1


POLICY = tiny.policy()
PLAYER = GRPOAgent(POLICY, None).player
