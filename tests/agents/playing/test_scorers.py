"""The process reward model judges all candidates of a state: for the choice of the best, and in place of Q."""

import numpy as np
import pytest
import torch

from coach_gym.agents import CoachAgent, FilteredCloningAgent, evaluate
from coach_gym.agents.models.reward_models import Verdict
from coach_gym.agents.playing.rollout import Attempt
from coach_gym.agents.playing.scorers import VerdictScorer
from coach_gym.envs.vector import AndroidVectorEnv
from coach_gym.episode import Candidate, Episode, Step
from tests.agents import tiny
from tests.agents.trivial_env import LETTERS, ButtonEnv
from tests.agents.warm_start import warm_policy

BACK, HOME, CUT = "Action: press_back()", "Action: press_home()", "Action: press_back("


class Judge:
    """Knows the right letter, or likes what it is told to like; keeps what it was asked."""

    def __init__(self, says=None):
        self.says = says
        self.asked = []

    def judge(self, questions):
        self.asked += questions
        return [self._verdict(goal, steps[-1][1]) for goal, steps in questions]

    def score(self, goal, steps):
        return self.judge([(goal, steps[: t + 1]) for t in range(len(steps))])

    def _verdict(self, goal, action):
        if self.says is not None:
            return self.says.get(action)
        return Verdict.of(float(action[:1] == LETTERS[goal]), "compared the letters")


def situation(goal="red", steps=()):
    observation = tiny.observation(np.random.default_rng(0))
    return Attempt(0, 0, Episode(goal, [Step(observation, [], 0, action) for action in steps]), observation)


def candidates(*texts):
    return [Candidate(text, [], []) for text in texts]


def coach(judge, **settings):
    settings = {"max_new_tokens": 3, "malformed_is_worthless": False, "seed": 0, "k": 8, "batch_size": 40} | settings
    envs = AndroidVectorEnv([ButtonEnv] * 4)
    return CoachAgent(warm_policy(), envs, reward_model=judge, scorer="reward_model", **settings)


def played(agent):
    return [episode for group in agent.collect_rollouts() for episode in group]


def right(episode):
    """Which candidates of the episode's only state press the right letter."""
    return [candidate.text[:1] == LETTERS[episode.goal] for candidate in episode.steps[0].candidates]


# ---- what is asked --------------------------------------------------------------------------------------------------


def test_equal_responses_share_a_question_and_what_is_no_action_needs_none():
    policy = tiny.policy()
    frame = policy.frame(situation().observation)
    judge = Judge({policy.parse(BACK, frame): 1.0, policy.parse(HOME, frame): 0.0})
    scorer = VerdictScorer(policy, judge.judge)
    drawn = [candidates(BACK, HOME, BACK, CUT), candidates(HOME, HOME, BACK, HOME)]
    states = [situation(steps=["before"]), situation("blue")]
    assert scorer(states, [], drawn) == [[0.5, -1, 0.5, -1], [-1, -1, 0.25, -1]]
    assert [[each.q for each in row] for row in drawn] == [[1, 0, 1, 0], [0, 0, 1, 0]]
    assert [goal for goal, _ in judge.asked] == ["red", "red", "blue", "blue"]
    assert [action for _, action in judge.asked[0][1]] == ["before", policy.parse(BACK, frame)]
    drawn[0] += candidates(HOME)
    scorer(states, [], drawn)
    assert len(judge.asked) == 4, "no response is asked about twice"


def test_an_unknown_verdict_is_neither_good_nor_bad():
    policy = tiny.policy()
    scorer = VerdictScorer(policy, lambda questions: [None, 1.0, 0.0])
    drawn = [candidates("Action: wait()", BACK, HOME)]
    assert scorer([situation()], [], drawn) == [[0.5 / 3, 1 / 3, -1.0]]
    assert [candidate.q for candidate in drawn[0]] == [None, 1.0, 0.0]


def test_draws_vote_and_count_as_much_as_the_judge_is_sure():
    sure, unsure = Verdict.of(1.0, "a"), Verdict.of(1.0, "b")
    unsure.probability = 0.7
    drawn = [candidates("Action: wait()", BACK, HOME, "Action: wait()")]
    scorer = VerdictScorer(tiny.policy(), lambda questions: [unsure, sure, 0.0])
    assert scorer([situation()], [], drawn) == [[0.35, 0.25, -1.0, 0.35]]
    assert [each.q for each in drawn[0]] == [0.7, 1.0, 0.0, 0.7]
    assert [getattr(each.q, "reasoning", None) for each in drawn[0]] == ["b", "a", None, "b"]


def test_of_several_equally_good_candidates_the_commonest_is_executed(monkeypatch):
    policy = tiny.policy()
    player = CoachAgent(policy, None, reward_model=Judge({}), scorer="reward_model").best_of(4)
    drawn = candidates("Action: wait()", BACK, HOME, HOME)
    monkeypatch.setattr(player, "score", lambda *_: [[0.0, 1.0, 1.0, 1.0]])
    monkeypatch.setattr(player.generator, "sample", lambda *arguments, **options: [drawn])
    monkeypatch.setattr(player, "_required", lambda drawn, *_: drawn)
    ((best, *_),) = player.draw([situation()])
    assert best is drawn[2]


# ---- agents ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("collection", ["events", "rounds"])
def test_rollouts_execute_what_the_judge_likes_and_ask_once(collection):
    for execute in ("first", "best"):
        judge = Judge()
        agent = coach(judge, execute=execute, collection=collection, max_staleness=0)
        episodes = played(agent)
        agent.judge_rest(episodes)
        could = [any(right(episode)) if execute == "best" else right(episode)[0] for episode in episodes]
        assert [episode.success for episode in episodes] == could
        states = [step for episode in episodes for step in episode.steps]
        assert len(judge.asked) == sum(len({each.text for each in state.candidates}) for state in states)


def test_every_candidate_has_its_verdict_and_the_executed_one_its_reason():
    agent = coach(Judge())
    episodes = played(agent)
    agent.judge_rest(episodes)
    for episode in episodes:
        for step in episode.steps:
            assert [each.q for each in step.candidates] == right(episode)
            assert step.process_reward == step.candidates[step.executed].q and step.reasoning == "compared the letters"


@pytest.mark.parametrize("execute", ["first", "best"])
def test_verdicts_alone_teach_the_policy(execute):
    agent = coach(Judge(), execute=execute, learning_rate=1e-3, mini_batch_size=10)
    critic = [weight.clone() for weight in agent.critic.parameters()]
    before = evaluate(agent, agent.env, 60, deterministic=False).success_rate
    agent.learn(240)
    assert evaluate(agent, agent.env, 60, deterministic=False).success_rate > before + 0.2
    assert all(torch.equal(old, new) for old, new in zip(critic, agent.critic.parameters(), strict=True))


def test_a_judge_that_says_nothing_teaches_nothing():
    class Silent(Judge):
        def judge(self, questions):
            raise ConnectionError("gone")

    agent = coach(Silent(), learning_rate=1e-3)
    weights = [weight.clone() for weight in agent.policy.model.parameters()]
    with pytest.warns(UserWarning, match="process reward model"):
        agent.learn(40)
    assert all(torch.equal(old, new) for old, new in zip(weights, agent.policy.model.parameters(), strict=True))


@pytest.mark.parametrize("other", [
    {"resample": True}, {"baseline": "value"}, {"forks": "policy"}, {"critic_warmup_episodes": 8},
])  # fmt: skip
def test_what_needs_a_critic_is_refused(other):
    with pytest.raises(ValueError, match="without a critic"):
        CoachAgent(tiny.policy(), None, scorer="reward_model", **other)


def test_a_reward_model_that_judges_single_steps_is_needed():
    with pytest.raises(ValueError, match="needs a reward model that can judge single steps"):
        CoachAgent(tiny.policy(), None, scorer="reward_model")


@pytest.mark.parametrize("other", [{"scorer": "critic"}, {"execute": "first"}])
def test_more_draws_need_a_judge_that_chooses(other):
    settings = {"scorer": "reward_model", "execute": "best"} | other
    for more, told in (
        ({"max_k": 32}, "max_k=32, vary_answers=False"), ({"vary_answers": True}, "max_k=None, vary_answers=True")
    ):  # fmt: skip
        with pytest.raises(ValueError, match=f"{told} try more where a reward model that chooses likes none"):
            CoachAgent(tiny.policy(), None, k=16, **settings, **more)


def test_both_agents_draw_again_where_the_judge_likes_none():
    for max_k in (2, 16):
        settings = {"max_k": max_k, "malformed_is_worthless": False, "max_new_tokens": 3, "seed": 0, "batch_size": 40}
        cloning = FilteredCloningAgent(warm_policy(), AndroidVectorEnv([ButtonEnv] * 4), judge=Judge(), k=2, **settings)
        for agent in (cloning, coach(Judge(), execute="best", k=2, max_k=max_k)):
            episodes = played(agent)
            assert all(len(episode.steps[0].candidates) == 2 for episode in episodes)
            solved = sum(bool(episode.success) for episode in episodes)
            assert solved < 36 if max_k == 2 else solved > 36


# ---- filtered cloning -----------------------------------------------------------------------------------------------


def test_cloning_imitates_what_the_judge_lets_succeed():
    judge = Judge()
    envs = AndroidVectorEnv([ButtonEnv] * 4)
    settings = {"judge": judge, "k": 8, "malformed_is_worthless": False, "max_new_tokens": 3, "seed": 0}
    agent = FilteredCloningAgent(warm_policy(), envs, batch_size=40, **settings)
    episodes = played(agent)
    assert [episode.success for episode in episodes] == [any(right(episode)) for episode in episodes]
    assert any(any(right(episode)) and not all(right(episode)) for episode in episodes), "nothing to choose from"


@pytest.mark.parametrize(("arguments", "told"), [
    ({"k": 4}, "k=4 responses, max_k=None, vary_answers=False and judge=None"),
    ({"judge": Judge()}, "k=1 responses, max_k=None, vary_answers=False and judge="),
    ({"max_k": 4}, "k=1 responses, max_k=4, vary_answers=False and judge=None"),
    ({"judge": Judge(), "k": 4, "max_k": 3}, "max_k=3 is too small; pass 4"),
])  # fmt: skip
def test_a_choice_needs_a_judge_and_several_responses(arguments, told):
    with pytest.raises(ValueError, match=told):
        FilteredCloningAgent(tiny.policy(), None, **arguments)
