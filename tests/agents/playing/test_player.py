"""A player turns states into prompts, prompts into responses, and responses into steps."""

import numpy as np
import pytest

from coach_gym.agents.generation.transformers import TransformersGenerator
from coach_gym.agents.playing.player import PolicyPlayer
from coach_gym.agents.playing.rollout import Attempt
from coach_gym.episode import Candidate, Episode, Observation
from tests.agents import tiny
from tests.agents.trivial_env import ButtonEnv


@pytest.fixture(scope="module")
def player() -> PolicyPlayer:
    policy = tiny.policy()
    return PolicyPlayer(policy, TransformersGenerator(policy), temperature=1.0, max_new_tokens=4)


def attempt(player: PolicyPlayer, steps: int = 2, seed: int = 0) -> Attempt:
    episode = tiny.episode(player.policy, steps=steps, k=1, seed=seed)
    return Attempt(0, 0, episode, tiny.observation(np.random.default_rng(seed)))


def test_a_prompt_shows_the_whole_episode_and_the_current_screen(player: PolicyPlayer) -> None:
    mine, other = attempt(player, 2), attempt(player, 3, seed=1)
    prompts = player.prompts([mine, other])
    assert [len(prompt.images) for prompt in prompts] == [3, 4]
    expected = player.policy.prompt(mine.episode.goal, mine.episode.steps, mine.observation)
    assert prompts[0].input_ids == expected.input_ids


@pytest.mark.parametrize("k", [1, 3])
def test_k_candidates_are_drawn_and_the_first_of_each_is_reported(player: PolicyPlayer, k: int) -> None:
    player.k = k
    reported: dict[int, Candidate] = {}
    drawn = player.draw([attempt(player), attempt(player, 1, seed=2)], reported.__setitem__)
    assert [len(row) for row in drawn] == [k, k]
    assert {number: row[0] for number, row in enumerate(drawn)} == reported
    assert all(len(candidate.token_ids) <= 4 for row in drawn for candidate in row)


def test_a_step_executes_the_first_candidate_and_notes_the_version(player: PolicyPlayer) -> None:
    player.version = 7
    observation = tiny.observation(np.random.default_rng(0))
    candidates = [Candidate("Thought: Back.\nAction: press_back()", [0], [0.0]), Candidate("nonsense", [0], [0.0])]
    step = player.step(observation, candidates)
    assert (step.action, step.executed, step.version) == ("Thought: Back.\nAction: press_back()", 0, 7)
    assert player.step(observation, candidates[::-1]).action == "nonsense"


def test_histories_of_a_batch_are_kept_apart(player: PolicyPlayer) -> None:
    seen = [ButtonEnv().reset(seed=seed)[0] for seed in (0, 1)]
    batch = {"goal": ("red", "blue"), "screenshot": np.stack([each["screenshot"] for each in seen])}
    actions, state = player.predict(batch, deterministic=True)
    assert [episode.goal for episode in state] == ["red", "blue"] and len(actions) == 2
    _, following = player.predict(batch, state, episode_start=[False, True])
    assert [len(episode.steps) for episode in following] == [2, 1]
    alone, _ = player.predict({"goal": "red", "screenshot": seen[0]["screenshot"]}, deterministic=True)
    assert alone == actions[0], "a batch of one is answered as in a batch of two"


def test_an_observation_without_text_is_enough(player: PolicyPlayer) -> None:
    screen = np.zeros((56, 84, 3), np.uint8)
    _, (episode,) = player.predict({"goal": "red", "screenshot": screen})
    assert isinstance(episode, Episode)
    assert episode.steps[0].observation.ui == "" == Observation(screen).last_action_error


@pytest.mark.parametrize(("spoil", "told"), [
    (lambda drawn: None, "returned 'NoneType' for 2 prompts"),
    (lambda drawn: drawn[:1], r"returned \[2\] for 2 prompts; it must give each 2 candidates"),
    (lambda drawn: [row[:1] for row in drawn], r"returned \[1, 1\] for 2 prompts"),
    (lambda drawn: [[], []], r"returned \[0, 0\] for 2 prompts"),
    (lambda drawn: [[Candidate("", [], [])] * 2] * 2, "0 tokens with 0 log-probabilities"),
    (lambda drawn: [[Candidate("a", [1, 2], [0.0])] * 2] * 2, "2 tokens with 1 log-probabilities"),
    (lambda drawn: [[Candidate("a", [1, 10**6], [0.0] * 2)] * 2] * 2, "tokens 1 to 1000000, .*vocabulary has"),
    (lambda drawn: [[Candidate("a", [-1], [0.0])] * 2] * 2, "tokens -1 to -1"),
])  # fmt: skip
def test_what_a_generator_of_the_users_must_return(player: PolicyPlayer, spoil, told) -> None:
    class Spoilt(TransformersGenerator):
        def sample(self, *args, **kwargs):
            return spoil(super().sample(*args, **kwargs))

    own = PolicyPlayer(player.policy, Spoilt(player.policy), 1.0, 4)
    own.k = 2
    with pytest.raises(ValueError, match=told):
        own.draw([attempt(own), attempt(own, 1, seed=2)])


def test_a_generator_tells_the_first_candidate_of_every_prompt(player: PolicyPlayer) -> None:
    class Silent(TransformersGenerator):
        def sample(self, *args, on_first=None, **kwargs):
            return super().sample(*args, **kwargs)

    own = PolicyPlayer(player.policy, Silent(player.policy), 1.0, 4)
    assert own.respond([attempt(own)], deterministic=True)
    own.draw([attempt(own)])
    with pytest.raises(ValueError, match="called on_first for 0 of 1 prompts"):
        own.draw([attempt(own)], lambda number, first: None)
