"""Successes in other words: what belongs to the instance changes, everywhere alike, and nothing else does."""

import random
import re

import gymnasium as gym
import numpy as np
import pytest

from coach_gym.actions import format_action, parse_action
from coach_gym.agents import CoachAgent, FilteredCloningAgent
from coach_gym.agents.models.policy import Policy
from coach_gym.agents.pocket.build import build_policy
from coach_gym.agents.pocket.demonstrations import demonstrate
from coach_gym.agents.training import rewording, updating
from coach_gym.agents.training.remembered import Success, pack
from coach_gym.agents.training.rewording import reworded, words_of
from coach_gym.episode import Candidate, Episode, Observation, Step
from tests.agents.training.test_cloning import episode, make, warm_policy

FAMILIES = ("ContactsPhoneNumberOf", "MarkorCreateNote", "RecipeServingsOf", "SmsSendToContact")
SEED = 1 << 20


@pytest.fixture(scope="module")
def policy() -> Policy:
    return build_policy()


@pytest.fixture(scope="module")
def solved(policy: Policy) -> list[Episode]:
    env = gym.make("coach_gym:AndroidWorld-v0", split="train", screen_size=(270, 600))
    episodes = []
    for shown in demonstrate(policy, "AndroidWorld-v0", FAMILIES, [SEED], (270, 600), slips=0.0):
        _, info = env.reset(seed=SEED, options={"task": shown.task})
        steps = [step_of(policy, seen, text) for seen, text, _ in shown.steps]
        episodes.append(Episode(shown.goal, steps, 1.0, task=shown.task, params=dict(info["params"])))
    env.close()
    return episodes


def step_of(policy: Policy, seen: Observation, text: str) -> Step:
    thought, action = policy.dialect.parse(text, policy.frame(seen))
    candidate = Candidate(text, [*policy.chat.encode_text(text), policy.eos], [])
    return Step(seen, [candidate], 0, format_action(action, thought))


def responses(one: Episode) -> list[str]:
    return [step.candidates[0].text for step in one.steps]


def told(one: Episode) -> str:
    return "\n".join([one.goal, *(step.observation.ui for step in one.steps), *responses(one)])


def other(policy: Policy, solved: list[Episode], one: Episode, seed: int = 0) -> Episode:
    return reworded(policy, one, words_of(solved), random.Random(seed))


def test_without_other_words_the_tokens_are_the_same(policy, solved, monkeypatch):
    monkeypatch.setattr(rewording, "_own", lambda episode: [])
    for one in solved:
        same = other(policy, solved, one)
        assert told(same) == told(one)
        assert [step.candidates[0].token_ids for step in same.steps] == [
            step.candidates[0].token_ids for step in one.steps
        ]


def test_what_belongs_to_the_instance_changes_everywhere_alike_and_nothing_else_does(policy, solved):
    for one in solved:
        changed = other(policy, solved, one)
        parts = [re.findall(r"[^\W\d_]{2,}|[0-9]+|.|\n", told(each)) for each in (one, changed)]
        pairs = {(a, b) for a, b in zip(*parts, strict=True) if a != b}
        before, after = [a for a, _ in pairs], [b for _, b in pairs]
        assert len(pairs) > 5 and len(set(before)) == len(set(after)) == len(pairs)
        assert all(b.isdigit() and len(b) == len(a) for a, b in pairs if a.isdigit())
        instance = str(one.params)
        assert all(part in instance for part in before)
        assert not {"txt", "md", "Markor", "servings", "type", "message", "number"} & set(before)
        assert [step.observation.screenshot.shape for step in changed.steps] == [
            step.observation.screenshot.shape for step in one.steps
        ]


def test_touches_stay_where_they_were_and_what_is_typed_or_answered_can_be_read(policy, solved):
    for one in solved:
        changed = other(policy, solved, one)
        for old, new in zip(one.steps, changed.steps, strict=True):
            was, action = (parse_action(step.action)[1] for step in (old, new))
            assert (action.kind, action.start, action.end) == (was.kind, was.start, was.end)
            if action.kind in ("type", "finished") and action.content:
                assert action.content != was.content
                assert action.content in changed.goal + new.observation.ui


def test_every_time_the_words_are_others(policy, solved):
    goals = {other(policy, solved, solved[1], seed).goal for seed in range(5)}
    assert len(goals) == 5 and solved[1].goal not in goals


def test_numbers_in_a_thought_stay_as_they_may_be_coordinates(policy, solved):
    text = "Thought: > Alice 56 125\nAction: click(start_box='(56,125)')"
    seen = Observation(np.zeros((600, 270, 3), np.uint8))
    one = Episode("Open Alice 56", [step_of(policy, seen, text)], 1.0, params={"name": "Alice", "row": "56"})
    changed = other(policy, solved, one)
    assert re.fullmatch(r"Open (?!Alice)\w+ (?!56)[0-9]{2}", changed.goal)
    assert re.fullmatch(
        r"Thought: > (?!Alice)\w+ 56 125\nAction: click\(start_box='\(56,125\)'\)", changed.steps[0].candidates[0].text
    )


def test_a_response_that_is_no_action_changes_its_words(policy, solved):
    step = Step(Observation(np.zeros((600, 270, 3), np.uint8)), [Candidate("Alice 7 Anna", [], [])], 0, "Alice 7")
    one = Episode("Call Alice 7", [step], 1.0, params={"name": "Alice", "row": "7", "other": "Anna"})
    changed = other(policy, solved, one).steps[0].candidates[0]
    assert re.fullmatch(r"(?!Alice)\w+ 7 (?!Anna)\w+", changed.text)
    assert changed.token_ids == [*policy.chat.encode_text(changed.text), policy.eos]


def cloning(**arguments) -> FilteredCloningAgent:
    return make(replay=8, mini_batch_size=4, **arguments)


def coach(**arguments) -> CoachAgent:
    return CoachAgent(warm_policy(), None, 1e-3, mini_batch_size=4, self_imitation=8, seed=0, **arguments)


def imitated_goals(monkeypatch, agent: FilteredCloningAgent | CoachAgent) -> list[str]:
    goals: list[str] = []
    pack = updating.build_tree

    def packing(policy, one, *rest):
        goals.append(one.goal)
        return pack(policy, one, *rest)

    monkeypatch.setattr(updating, "build_tree", packing)
    for seed in range(6):
        one = episode(agent, "ab", 1.0, seed)
        one.goal, one.params = "Find Amelia", {"name": "Amelia", "others": ["Bruno", "Celine"]}
        agent.imitate([one])
    return goals


@pytest.mark.parametrize("agent", [cloning, coach])
def test_an_agent_imitates_a_success_as_it_was_and_then_in_other_words(agent, monkeypatch):
    goals = imitated_goals(monkeypatch, agent(reword=1.0))
    assert len(goals) == 6 + (0 + 1 + 2 + 3 + 4 + 5)  # each once in its own iteration, and once in every later one
    assert goals.count("Find Amelia") >= 6 and len(set(goals)) > 10


@pytest.mark.parametrize("agent", [cloning, coach])
def test_an_iteration_imitates_no_more_of_the_earlier_successes_than_asked(agent, monkeypatch):
    assert len(imitated_goals(monkeypatch, agent(reword=1.0, max_replayed=2))) == 6 + (0 + 1 + 2 + 2 + 2 + 2)


@pytest.mark.parametrize("agent", [cloning, coach])
def test_the_earlier_successes_take_turns(agent):
    trained = agent(max_replayed=2)
    trained.successes.extend(Success(pack(episode(trained, "ab", 1.0, seed))) for seed in range(4))
    drawn = [{id(each) for each in trained._turn(trained.successes, trained.max_replayed)} for _ in range(20)]
    assert {len(turn) for turn in drawn} == {2}
    assert set.union(*drawn) == set(map(id, trained.successes))


@pytest.mark.parametrize("make", [cloning, coach])
def test_without_rewording_replays_are_the_same_and_draw_no_randomness(make, monkeypatch):
    assert set(imitated_goals(monkeypatch, agent := make())) == {"Find Amelia"}
    state = str(agent.rng.bit_generator.state)
    agent._packed([])
    assert str(agent.rng.bit_generator.state) == state
