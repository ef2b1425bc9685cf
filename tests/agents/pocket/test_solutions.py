"""The truth about steps, on the embedded phone."""

import math

import pytest

from coach_gym.agents.playing.forks import State
from coach_gym.agents.playing.rollout import observation_of
from coach_gym.agents.pocket.solutions import Solutions, good_candidates
from coach_gym.envs.android import AndroidEnv
from coach_gym.envs.suites.play import play
from coach_gym.episode import Candidate, Episode, Step

HOME, NONSENSE = "press_home()", "I do not know"


class Reader:
    """Reads responses that are actions already."""

    def frame(self, observation):
        return None

    def parse(self, text, frame):
        return text


def played(family, further, change=lambda actions: actions):
    """The expert's episode, perhaps changed, with further candidates in every state."""
    env = AndroidEnv(screen_size=(270, 600), tasks=(family,))
    seen, info = env.reset(seed=3)
    actions = change(play(env.fork(), seen, info).actions)
    episode, states, reward = Episode(seen["goal"], task=family, params=dict(info["params"])), [], 0.0
    for action in actions:
        observation = observation_of(seen)
        candidates = [Candidate(text, [], []) for text in (action, *further)]
        states.append(State(env.fork(), episode, observation, candidates))
        episode.steps.append(Step(observation, candidates, 0, action))
        seen, reward, *_ = env.step(action)
    episode.outcome = float(reward)
    return episode, states


@pytest.mark.parametrize("family", ["ContactsFavorite", "TasksAddTask"])
def test_the_experts_steps_are_good_and_detours_are_not(family):
    episode, states = played(family, [HOME, NONSENSE, "finished(content='')"])
    assert episode.success
    *before, last = good_candidates(Reader(), episode, states)
    assert all(verdicts == [1, 0, 0, 0] for verdicts in before)
    assert last == [1, 0, 0, 1]


def test_without_an_expert_the_policys_own_success_tells():
    episode, states = played("ContactsFavorite", [HOME, NONSENSE])
    failed = Episode(episode.goal, [], outcome=0.0, task=episode.task)
    assert Solutions.found([failed]) is None
    wasteful = Episode(episode.goal, [episode.steps[0], Step(states[1].observation, [], 0, HOME), *episode.steps])
    wasteful.outcome = 1.0
    solutions = Solutions.found([failed, wasteful, episode])
    assert not solutions.expert and solutions.shortest(states[0].env, states[0].observation).steps == len(states)
    assert good_candidates(Reader(), episode, states, solutions) == [[1, 0, 0]] * len(states)


def test_a_wasted_step_is_bad_and_the_way_back_from_it_good():
    episode, states = played("ContactsFavorite", [], lambda actions: [actions[0], HOME, *actions])
    assert episode.success
    verdicts = [first for (first,) in good_candidates(Reader(), episode, states)]
    assert verdicts == [1, 0] + [1] * (len(states) - 2)


def test_after_a_step_that_cannot_be_undone_nothing_is_known():
    def forget_the_photo(actions):
        return ["finished(content='')"]

    episode, states = played("CameraTakePhoto", [], forget_the_photo)
    assert good_candidates(Reader(), episode, states) == [[0.0]]
    env = states[0].env.fork()
    env.step("finished(content='')")
    solutions = Solutions.of(episode, states[0].env, states[0].observation)
    assert solutions.shortest(states[0].env, states[0].observation).steps == len(solutions.ways[0])


def test_a_state_without_known_solution_has_no_verdict():
    """With one step left in the budget, a task that takes more cannot be solved any more."""
    env = AndroidEnv(screen_size=(270, 600), tasks=("TasksAddTask",))
    seen, info = env.reset(seed=3)
    start = env.fork()
    late = env.fork()
    for _ in range(info["budget"] - 1):
        late.step(HOME)
    episode = Episode(seen["goal"], task="TasksAddTask", params=dict(info["params"]))
    observation = observation_of(seen)
    candidates = [Candidate(HOME, [], [])]
    states = [State(start, episode, observation, candidates), State(late, episode, observation, candidates)]
    episode.steps = [Step(observation, candidates, 0, HOME)] * 2
    first, second = good_candidates(Reader(), episode, states)
    assert first == [0] and math.isnan(second[0])
