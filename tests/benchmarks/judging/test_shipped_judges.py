"""The shipped critic and process reward model are no coins.

In states of experts' episodes on held-out instances, some touches of other elements stand beside the expert's answer.
Which of them are good is found on forks, so no sampling is involved and the figures of given weights are fixed.
"""

import math
import random

import pytest

from benchmarks.demo import SCREEN, TASKS
from benchmarks.judging.measure import FIRST_SEED, load_agent
from benchmarks.judging.metrics import contrast_report, contrast_tally, judge_report, judge_tally, total
from coach_gym.actions import Action, format_action
from coach_gym.agents.models.reward_models import GenerativePRM
from coach_gym.agents.playing.forks import State
from coach_gym.agents.playing.rollout import Attempt, observation_of
from coach_gym.agents.playing.scorers import VerdictScorer, sureness
from coach_gym.agents.pocket.demonstrations import answer
from coach_gym.agents.pocket.solutions import good_candidates
from coach_gym.envs.android import AndroidEnv
from coach_gym.envs.suites.play import play
from coach_gym.episode import Candidate, Episode, Step
from coach_gym.ui import parse_ui

FLOORS = {"critic_auc": 0.7, "prm_balanced": 0.7, "judge_auc": 0.85}
"""Far above a coin's 0.5, with some 90 pairs and 100 verdicts; shipped models should stay far above these."""
FAMILIES = TASKS
TOUCHES = 2  # beside the expert's answer


@pytest.fixture(scope="module")
def agent():
    return load_agent("pocket")


def episode_with_touches(policy, family, rng):
    env = AndroidEnv(screen_size=SCREEN, tasks=(family,))
    seen, info = env.reset(seed=FIRST_SEED)
    actions = play(env.fork(), seen, info).actions
    episode, states, reward = Episode(seen["goal"], task=family, params=dict(info["params"])), [], 0.0
    for action in actions:
        observation = observation_of(seen)
        elements = [e for e in parse_ui(observation.ui) if e.clickable and e.enabled]
        touched = rng.sample(elements, min(TOUCHES, len(elements)))
        texts = [action, *(format_action(Action("click", element.center)) for element in touched)]
        written = [answer(policy, text, observation, seen["goal"]) for text in texts]
        candidates = [Candidate(t, [*policy.chat.encode_text(t), policy.chat.turn_end], []) for t in written]
        states.append(State(env.fork(), episode, observation, candidates))
        executed = policy.parse(written[0], policy.frame(observation))
        episode.steps.append(Step(observation, candidates, 0, executed))
        seen, reward, *_ = env.step(action)
    episode.outcome = float(reward)
    return episode, states


@pytest.fixture(scope="module")
def played(agent):
    """Episodes and which of their candidates are good."""
    rng, found = random.Random(0), []
    for family in FAMILIES:
        episode, states = episode_with_touches(agent.policy, family, rng)
        found.append((episode, good_candidates(agent.policy, episode, states)))
    return found


def test_the_experts_answers_are_good(played):
    assert all(verdicts[0] == 1 for _, good in played for verdicts in good)
    assert sum(verdicts.count(0) for _, good in played for verdicts in good) > 30


def test_the_critic_is_no_coin(agent, played):
    rng, tallies, shuffled = random.Random(0), [], []
    for episode, good in played:
        (q,) = agent.ask_critic(agent.critic.q_values, [agent.tree(episode)])
        for step, values, verdicts in zip(episode.steps, q, good, strict=True):
            texts = [candidate.text for candidate in step.candidates]
            tallies.append(contrast_tally(values.tolist(), verdicts, texts))
            shuffled.append(contrast_tally(rng.sample(values.tolist(), len(values)), verdicts, texts))
    found, coin = contrast_report(total(tallies)), contrast_report(total(shuffled))
    assert found["auc"] > FLOORS["critic_auc"] > coin["auc"], (found, coin)


@pytest.mark.parametrize("name", ["pocket-judge", "pocket-judge-demo"])
def test_a_judge_that_forks_taught_is_surest_of_what_is_good(name, agent, played):
    scorer, tallies = VerdictScorer(agent.policy, GenerativePRM.load(name).judge), []
    for episode, good in played:
        pasts = [Episode(episode.goal, episode.steps[:t]) for t in range(episode.length)]
        situations = [Attempt(0, 0, past, step.observation) for past, step in zip(pasts, episode.steps, strict=True)]
        asked = [[Candidate(each.text, [], []) for each in step.candidates] for step in episode.steps]
        scorer.judge(situations, asked)
        for candidates, verdicts in zip(asked, good, strict=True):
            sure = [sureness(each) for each in candidates]
            tallies.append(contrast_tally(sure, verdicts, [each.text for each in candidates]))
    found = contrast_report(total(tallies))
    assert found["auc"] > FLOORS["judge_auc"], found


def test_the_process_reward_model_is_no_coin(agent, played):
    questions, truth = [], []
    for episode, good in played:
        said = [(step.observation, step.action) for step in episode.steps]
        for t, (step, verdicts) in enumerate(zip(episode.steps, good, strict=True)):
            for number in (0, 1):  # the expert's answer and a touch
                if number < len(verdicts) and not math.isnan(verdicts[number]):
                    frame = agent.policy.frame(step.observation)
                    action = agent.policy.parse(step.candidates[number].text, frame)
                    questions.append((episode.goal, [*said[:t], (step.observation, action)]))
                    truth.append(verdicts[number] > 0.5)
    verdicts = agent.prm.judge(questions)
    found = judge_report(total([judge_tally(*pair) for pair in zip(truth, verdicts, strict=True)]))
    yes = judge_report(total([judge_tally(good, 1.0) for good in truth]))
    assert found["balanced"] > FLOORS["prm_balanced"] > yes["balanced"], (found, yes)
    assert verdicts.count(None) <= 0.05 * len(verdicts)
