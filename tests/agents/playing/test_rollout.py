"""Seeds in, episodes out, on any vector environment."""

import gc
import weakref

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv
from gymnasium.wrappers.vector import RecordEpisodeStatistics
from stable_baselines3.common.vec_env import DummyVecEnv

from coach_gym.agents.playing.rollout import Rollout, as_vector_env, sub_info
from coach_gym.envs.vector import AndroidVectorEnv
from tests.agents.trivial_env import LETTERS, ButtonEnv


def play(envs, seeds, answer=None):
    """Plays with the right answers, or with `answer`; returns the finished attempts in the order of their seeds."""
    rollout, finished, rounds = Rollout(envs, seeds), [], 0
    while waiting := rollout.waiting:
        transition = rollout.step([answer or LETTERS[attempt.episode.goal] for attempt in waiting])
        finished += transition.finished
        rounds += 1
    return sorted(finished, key=lambda attempt: attempt.number), rounds


@pytest.mark.parametrize("kind", [SyncVectorEnv, AndroidVectorEnv])
def test_one_episode_for_each_seed_on_fewer_environments(kind):
    envs = kind([ButtonEnv, lambda: ButtonEnv(steps=3)])
    finished, _ = play(envs, range(100, 107))
    assert [attempt.number for attempt in finished] == list(range(7))
    alone = ButtonEnv()
    for attempt in finished:
        observation, info = alone.reset(seed=100 + attempt.number)
        assert attempt.episode.goal == observation["goal"]
        assert attempt.episode.task == info["task"]
        assert attempt.episode.params == info["params"]
        assert attempt.length == (1 if attempt.index == 0 else 3)
        assert attempt.reward == attempt.episode.outcome == 1.0
    envs.close()


@pytest.mark.parametrize("kind", [SyncVectorEnv, AndroidVectorEnv])
def test_same_seeds_same_episodes(kind):
    envs = kind([ButtonEnv] * 3)
    one, two = play(envs, [7, 7, 8, 9])[0], play(envs, [7, 7, 8, 9])[0]
    assert [a.episode.goal for a in one] == [a.episode.goal for a in two]
    assert one[0].episode.goal == one[1].episode.goal
    envs.close()


def test_a_seed_is_drawn_when_its_episode_starts():
    drawn = []
    seeds = (drawn.append(seed) or seed for seed in range(100, 200))
    rollout = Rollout(SyncVectorEnv([ButtonEnv] * 2), seeds, until=3)
    assert drawn == [100, 101]
    rollout.step([LETTERS[attempt.episode.goal] for attempt in rollout.waiting])
    assert drawn == [100, 101, 102], "the seed after the last may depend on what is learned first"
    rollout.step([LETTERS[attempt.episode.goal] for attempt in rollout.waiting])
    assert not rollout.waiting and drawn == [100, 101, 102]
    rollout.begin_until(4)
    assert drawn == [100, 101, 102, 103]


def test_more_environments_than_seeds():
    finished, rounds = play(SyncVectorEnv([ButtonEnv] * 4), [1, 2])
    assert len(finished) == 2 and rounds == 1


def test_environments_that_are_done_are_left_alone():
    """In event-driven use, an environment without an episode is neither stepped nor reset."""
    made = []

    def make(steps):
        made.append(ButtonEnv(steps=steps))
        return made[-1]

    envs = AndroidVectorEnv([lambda: make(1), lambda: make(5)])
    play(envs, [3, 4])
    assert sum((env.resets for env in made), []) == [3, 4]
    envs.close()


def test_an_interrupted_rollout_does_not_disturb_the_next():
    envs = AndroidVectorEnv([ButtonEnv] * 2)
    rollout = Rollout(envs, [1, 2])
    envs.send(["a", "a"])  # an interruption between send and recv
    del rollout
    assert len(play(envs, [1, 2, 3])[0]) == 3
    envs.close()


@pytest.mark.parametrize("kind", [SyncVectorEnv, AndroidVectorEnv])
def test_a_fault_is_no_verdict(kind):
    envs = kind([lambda: ButtonEnv(faulty=[11, 13])] * 2)
    finished, _ = play(envs, [10, 11, 12, 13])
    assert [attempt.episode.fault for attempt in finished] == [None, "the screen went dark"] * 2
    assert [attempt.episode.outcome for attempt in finished] == [1.0, None] * 2
    assert [attempt.episode.learnable for attempt in finished] == [True, False] * 2
    envs.close()


@pytest.mark.parametrize("kind", [SyncVectorEnv, AndroidVectorEnv])
@pytest.mark.parametrize("reward", [float("nan"), float("inf"), float("-inf")])
def test_a_reward_that_is_no_finite_number_is_a_fault(kind, reward):
    class Odd(ButtonEnv):
        def step(self, action):
            observation, _, *rest, info = super().step(action)
            return observation, reward, *rest, {}

    finished, _ = play(kind([Odd] * 2), range(3))
    assert [attempt.episode.outcome for attempt in finished] == [None] * 3
    assert all(f"reward is {reward}, which is no finite number" in attempt.episode.fault for attempt in finished)


def test_failure_is_a_verdict():
    (attempt,), _ = play(SyncVectorEnv([ButtonEnv]), [0], answer="nonsense")
    assert attempt.episode.outcome == 0.0 and attempt.episode.learnable


def test_a_judge_that_fails_leaves_the_outcome_unknown():
    class Unjudged(ButtonEnv):
        def step(self, action):
            *rest, info = super().step(action)
            return *rest, {**info, "is_success": None}

    (attempt,), _ = play(SyncVectorEnv([Unjudged]), [0])
    assert attempt.episode.outcome is None and not attempt.episode.learnable


def test_transition_speaks_of_all_sub_environments():
    rollout = Rollout(SyncVectorEnv([ButtonEnv] * 3), [1, 2])
    transition = rollout.step([LETTERS[rollout.waiting[0].episode.goal], "wrong"])
    assert transition.rewards.tolist() == [1.0, 0.0, 0.0]
    assert transition.dones.tolist() == [True, True, False]
    assert [info.get("is_success") for info in transition.infos] == [True, False, None]


def test_screens_do_not_share_memory_with_the_environment():
    envs = SyncVectorEnv([ButtonEnv], copy=False)
    observation = Rollout(envs, [1]).waiting[0].observation
    before = observation.screenshot.copy()
    envs._observations["screenshot"][:] = 0
    np.testing.assert_array_equal(observation.screenshot, before)


def test_sub_info_undoes_gymnasiums_batching():
    envs = SyncVectorEnv([ButtonEnv] * 2)
    infos: dict = {}
    mine = [{"a": 1, "text": "x", "nested": {"list": [1, 2]}}, {"a": None, "b": 0.5}]
    for index, info in enumerate([mine[0], {"b": 0.5}]):
        infos = envs._add_info(infos, info, index)
    assert sub_info(infos, 0) == mine[0]
    assert sub_info(infos, 1) == {"b": 0.5}


@pytest.mark.parametrize("wrap", [lambda envs: envs, RecordEpisodeStatistics])
@pytest.mark.parametrize("kind", [SyncVectorEnv, AndroidVectorEnv])
def test_closed_environments_are_refused(kind, wrap):
    envs = wrap(kind([ButtonEnv]))
    play(envs, [1])
    envs.close()
    with pytest.raises(gym.error.ClosedEnvironmentError, match="closed; make new ones"):
        Rollout(envs, [1])


def test_single_environments_become_vectors():
    envs = as_vector_env(ButtonEnv())
    assert envs.num_envs == 1
    assert as_vector_env(envs) is envs


@pytest.mark.parametrize(
    ("env", "said"),
    [
        (lambda: gym.make("CartPole-v1"), "'goal' and 'screenshot'"),
        (lambda: SyncVectorEnv([ButtonEnv], autoreset_mode=AutoresetMode.SAME_STEP), "AutoresetMode.NEXT_STEP"),
        (lambda: AsyncVectorEnv([ButtonEnv], shared_memory=False), "vector_entry_point"),
        (lambda: DummyVecEnv([ButtonEnv]), "gym.make_vec returns, also in place of Stable-Baselines3's DummyVecEnv"),
    ],
)
def test_environments_that_cannot_be_used(env, said):
    with pytest.raises(ValueError, match=said):
        as_vector_env(env())


def test_processes_of_gymnasiums_play_with_shared_memory():
    envs = AsyncVectorEnv([ButtonEnv] * 2)
    try:
        rollout = Rollout(as_vector_env(envs), range(3))
        finished = []
        while rollout.waiting:
            finished += rollout.step(["a"] * len(rollout.waiting)).finished
        goals = [ButtonEnv().reset(seed=seed)[0]["goal"] for seed in range(3)]
        assert [attempt.episode.goal for attempt in sorted(finished, key=lambda each: each.number)] == goals
    finally:
        envs.close()


def test_environments_that_nobody_holds_any_more_are_freed():
    envs = AndroidVectorEnv([ButtonEnv])
    freed = weakref.ref(envs)
    rollout = Rollout(envs, [1])
    assert rollout.undisturbed
    del envs, rollout
    gc.collect()
    assert freed() is None
