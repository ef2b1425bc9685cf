"""Measured Q on an environment whose Q is known."""

import copy
import math
from dataclasses import replace

import numpy as np
import pytest

from coach_gym.agents.playing.forks import measure_q, play_on, play_states
from coach_gym.episode import Candidate, Step

GAMMA = 0.5


class Corridor:
    """Three steps of "on" lead to reward 1; "off" ends it with 0, "break" with a fault."""

    def __init__(self):
        self.place = 0
        self.forks = 0

    def fork(self):
        self.forks += 1
        twin = copy.copy(self)
        twin.forks = 0
        return twin

    def reset(self, *, seed=None):
        self.place = 0
        return self._seen(), {"task": "Corridor"}

    def step(self, action):
        if action == "break":
            return self._seen(), 0.0, False, True, {"fault": "broken"}
        self.place += action == "on"
        over = action == "off" or self.place == 3
        return self._seen(), float(self.place == 3 and over), over, False, {"is_success": self.place == 3}

    def _seen(self):
        return {"goal": "walk", "screenshot": np.full((1, 1, 3), self.place, np.uint8)}


class Walker:
    """Draws the candidates it is told; when episodes are continued, it always goes on."""

    k = 4

    def __init__(self, *candidates):
        self.candidates = [Candidate(text, [], []) for text in candidates]

    def draw(self, situations):
        return [self.candidates for _ in self.checked(situations)]

    def respond(self, situations, deterministic):
        return [[Candidate("on", [], [])] for _ in self.checked(situations)]

    def checked(self, situations):
        for each in situations:
            told = len(each.episode.steps)
            assert told == each.observation.screenshot[0, 0, 0], "the episode does not tell how the state was reached"
        return situations

    def step(self, observation, candidates):
        return Step(observation, candidates, 0, candidates[0].text)


@pytest.mark.parametrize("batch_size", [1, 2, 64])
def test_q_is_the_discounted_outcome_of_what_follows(batch_size):
    walker = Walker("on", "off", "on", "break")
    episode, states = play_states(walker, Corridor(), seed=0)
    assert (episode.outcome, len(states)) == (1.0, 3)
    measured = measure_q(walker, states, GAMMA, batch_size=batch_size)
    for place, q in enumerate(measured):
        left = GAMMA ** (2 - place)
        assert q[:3].tolist() == [left, 0.0, left]
        assert math.isnan(q[3]), "a fault was taken for a verdict"


def test_a_state_is_played_on_as_often_as_asked_and_stays_as_it_was():
    class Undecided(Walker):
        def respond(self, situations, deterministic):
            texts = ("on", "off", "break")
            return [[Candidate(texts[n % 3], [], [])] for n, _ in enumerate(self.checked(situations))]

    _, states = play_states(Walker("on"), Corridor(), seed=0)
    played = play_on(Undecided(), states[1], 3)
    actions = [[step.action for step in episode.steps] for episode in played]
    assert actions == [["on"] * 3, ["on", "off"], ["on", "break"]]
    assert [episode.outcome for episode in played] == [1.0, 0.0, None]
    assert states[1].env.place == len(states[1].episode.steps) == 1


def test_candidates_of_one_text_share_a_measurement_and_states_stay_as_they_were():
    walker = Walker("on", "on", "off", "on")
    _, states = play_states(walker, Corridor(), seed=0)
    measure_q(walker, states, GAMMA, repeats=3)
    assert [state.env.forks for state in states] == [5, 5, 5]  # two texts, three times, less the episode itself
    assert [state.env.place for state in states] == [0, 1, 2]
    assert [len(state.episode.steps) for state in states] == [0, 1, 2]


def test_all_steps_on_forks_are_reported():
    walker = Walker("on", "off", "break", "off")
    _, states = play_states(walker, Corridor(), seed=0)
    steps = []
    again = [replace(state, outcome=math.nan) for state in states]
    measure_q(walker, again, GAMMA, batch_size=2, progress=steps.append)
    assert sum(steps) == (3 + 1 + 1) + (2 + 1 + 1) + (1 + 1 + 1)


def test_an_independent_measurement_leaves_the_episode_itself_out():
    _, states = play_states(Walker("on", "off", "on", "on"), Corridor(), seed=0)
    again = [replace(state, outcome=math.nan) for state in states]
    measured = measure_q(Walker("on"), again, GAMMA)
    assert [state.env.forks for state in states] == [2, 2, 2]
    assert [q.tolist() for q in measured] == [q.tolist() for q in measure_q(Walker("on"), states, GAMMA)]


def test_the_return_of_the_episode_itself_counts():
    _, states = play_states(Walker("on"), Corridor(), seed=0)
    known = [replace(state, outcome=0.5, steps_left=3) for state in states]
    assert [q.item() for q in measure_q(Walker("on"), known, GAMMA)] == [0.5 * GAMMA**2] * 3
    mixed = measure_q(Walker("on"), known[:1], GAMMA, repeats=2)[0].item()
    assert mixed == (0.5 * GAMMA**2 + GAMMA**2) / 2


class Wrong(Corridor):
    """Has the same as Corridor for an answer, but for one value where the corridor ends, or in its first step."""

    def __init__(self, name, value, place=3):
        super().__init__()
        self.name, self.value, self.where = name, value, place

    def step(self, action):
        seen, reward, terminated, truncated, info = super().step(action)
        if self.place == self.where and self.name == "reward":
            reward = self.value
        elif self.place == self.where and terminated:
            info["is_success"] = self.value
        return seen, reward, terminated, truncated, info


@pytest.mark.parametrize("env", [
    Wrong("reward", math.nan), Wrong("reward", math.inf), Wrong("reward", "1"), Wrong("reward", math.nan, place=1),
    Wrong("is_success", None), Wrong("is_success", math.nan), Wrong("is_success", "no"),
])  # fmt: skip
def test_what_is_no_verdict_is_not_taken_for_one(env):
    walker = Walker("on", "off")
    episode, states = play_states(walker, env, seed=0)
    assert episode.outcome is None
    first, *_ = measure_q(walker, states, GAMMA)
    assert math.isnan(first[0]) and first[1] == 0
