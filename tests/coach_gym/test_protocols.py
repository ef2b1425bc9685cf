"""The event-driven protocol: who speaks it, and that it is all an environment needs."""

from collections.abc import Sequence

import pytest
from gymnasium.vector import SyncVectorEnv
from gymnasium.wrappers.vector import RecordEpisodeStatistics

from coach_gym.agents.playing.rollout import Rollout, settle
from coach_gym.envs.vector import AndroidVectorEnv
from coach_gym.protocols import Arrival, EventDriven
from tests.agents.trivial_env import LETTERS, ButtonEnv


class Own(SyncVectorEnv):
    """A user's environment: it names no base class of ours, and answers one call at a time, the latest first."""

    def __init__(self, number: int) -> None:
        super().__init__([lambda: ButtonEnv(steps=2)] * number)
        self.results: list[Arrival] = []

    @property
    def pending(self) -> tuple[int, ...]:
        return tuple(arrival.env_id for arrival in self.results)

    def send(self, actions: Sequence[str], env_ids: Sequence[int]) -> None:
        for action, env_id in zip(actions, env_ids, strict=True):
            observation, reward, terminated, truncated, info = self.envs[env_id].step(action)
            self.results.append(Arrival(env_id, observation, info, reward, terminated, truncated))

    def send_reset(self, env_ids: Sequence[int], seeds: Sequence[int | None]) -> None:
        for env_id, seed in zip(env_ids, seeds, strict=True):
            self.results.append(Arrival(env_id, *self.envs[env_id].reset(seed=seed)))

    def recv(self, min_ready: int) -> list[Arrival]:
        return [self.results.pop() for _ in range(max(1, min_ready))]


def test_who_is_event_driven():
    envs = AndroidVectorEnv([ButtonEnv])
    assert isinstance(envs, EventDriven) and isinstance(Own(1), EventDriven)
    assert not isinstance(SyncVectorEnv([ButtonEnv]), EventDriven)
    assert not isinstance(RecordEpisodeStatistics(envs), EventDriven), "a wrapper hides it"
    envs.close()


@pytest.mark.parametrize("kind", [Own, lambda n: AndroidVectorEnv([lambda: ButtonEnv(steps=2)] * n)])
def test_episodes_on_whatever_speaks_it(kind):
    envs = kind(3)
    rollout, finished = Rollout(envs, range(7)), []
    while rollout.waiting or rollout.busy:
        if waiting := rollout.waiting[:1]:
            rollout.send(waiting, [LETTERS[waiting[0].episode.goal]])
        finished += rollout.receive(1).finished
    assert sorted(attempt.number for attempt in finished) == list(range(7))
    assert all(attempt.length == 2 and attempt.episode.outcome == 1.0 for attempt in finished)
    envs.close()


def test_settling_waits_for_everything_under_way():
    envs = Own(4)
    envs.send_reset([0, 1, 2], [5, 6, 7])
    settle(envs)
    assert envs.pending == ()
    settle(SyncVectorEnv([ButtonEnv]))
    settle(None)


@pytest.mark.parametrize(("ended", "over"), [((False, False), False), ((True, False), True), ((False, True), True)])
def test_an_arrival_is_over_when_the_episode_is(ended, over):
    assert Arrival(0, {}, {}, 1.0, *ended).over == over
    assert not Arrival(0, {}, {}).over
