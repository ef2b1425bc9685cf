"""Event-driven collection: the order of actions, deferred work, and episodes that span updates."""

from collections.abc import Sequence
from contextlib import nullcontext
from itertools import count
from typing import Any

import pytest
import torch
from gymnasium.vector import SyncVectorEnv
from gymnasium.wrappers.vector import RecordEpisodeStatistics
from hypothesis import given, settings
from hypothesis import strategies as st

from coach_gym.agents import CoachAgent, GRPOAgent
from coach_gym.agents.evaluation import evaluate
from coach_gym.agents.models.tree import separate_log_probs
from coach_gym.agents.playing.collector import JUDGED_AT_ONCE, Collector
from coach_gym.agents.playing.rollout import Attempt
from coach_gym.agents.training.callbacks import BaseCallback
from coach_gym.envs.latency import Latency
from coach_gym.envs.vector import AndroidVectorEnv
from coach_gym.envs.virtual_time import VirtualClock, VirtualTimeEnv
from coach_gym.episode import Candidate, Step
from tests.agents.trivial_env import LETTERS, ButtonEnv
from tests.agents.warm_start import warm_policy

FOREVER = 1e9


class Devices(VirtualTimeEnv):
    """Slow devices, some of them slower.

    Args:
        num_envs: how many.
        make_env: builds what runs on them.
        slower: seconds that a device's steps take longer.
        seed: of the latencies.
        latency: of all.
    """

    def __init__(
        self,
        num_envs: int,
        make_env: Any = ButtonEnv,
        slower: dict[int, float] | None = None,
        seed: int = 0,
        latency: Latency | None = None,
    ) -> None:
        self.slower = slower or {}
        super().__init__([make_env] * num_envs, latency or Latency(), VirtualClock(), seed)

    def send(self, actions: Sequence[str], env_ids: Any = None) -> None:
        super().send(actions, env_ids)
        for env_id in self._ids(env_ids):
            moment, transition = self._held[env_id]
            self._held[env_id] = moment + self.slower.get(env_id, 0.0), transition


class Script:
    """A player without a model, and its collector; it answers correctly and records what it is asked."""

    def __init__(
        self,
        env: Any,
        batch_size: int,
        k: int = 1,
        max_staleness: int = 0,
        judges_steps: bool = False,
        in_rounds: bool = False,
    ) -> None:
        self.env, self.k = env, k
        self.judge = self.judge_steps if judges_steps else None
        self.num_batches = 0
        self.log: list[tuple[str, int]] = []
        self.collector = Collector(
            env, self, count(1000), 0, batch_size, in_rounds, max_staleness, timed=lambda part: nullcontext()
        )

    def draw(self, situations: Sequence[Attempt], on_first: Any = None) -> list[list[Candidate]]:
        answers = [LETTERS.get(each.episode.goal, "") for each in situations]  # the goal of a failed reset is empty
        drawn = [[Candidate(answer, [0], [0.0]) for _ in range(self.k)] for answer in answers]
        for number in reversed(range(len(drawn))) if on_first else ():  # one may be done before another
            on_first(number, drawn[number][0])
        self.log.append(("draw", len(getattr(self.env, "pending", ()))))
        return drawn

    def step(self, observation: Any, candidates: list[Candidate]) -> Step:
        return Step(observation, candidates, 0, candidates[0].text, version=self.num_batches)

    def judge_steps(self, steps: Sequence[Any]) -> None:
        self.log.append(("judge", len(steps)))
        for episode, t in steps:
            assert not episode.steps[t].judged
            episode.steps[t].judged = True

    def collect(self) -> list[Attempt]:
        attempts = self.collector.collect(lambda transition: True)
        assert attempts is not None
        self.num_batches += 1
        return attempts


def coach(envs: Any, method: Any = CoachAgent, **arguments: Any) -> Any:
    return method(warm_policy(), envs, 1e-3, **{"batch_size": 8, "max_new_tokens": 3, "seed": 0, **arguments})


class Recorded(ButtonEnv):
    """Writes the actions of every episode to `heard`, by its seed."""

    def __init__(self, steps: int, heard: dict[int | None, list[str]]) -> None:
        super().__init__(steps)
        self.heard = heard

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[dict, dict]:
        self.actions = self.heard[seed] = []
        return super().reset(seed=seed)

    def step(self, action: str) -> tuple[dict, float, bool, bool, dict]:
        self.actions.append(action)
        return super().step(action)


def episodes_of(agent: Any) -> list[Any]:
    return [episode for group in agent.collect_rollouts() for episode in group]


def test_gymnasiums_own_vector_environments_hear_nothing_but_the_episodes_actions():
    heard: dict[int | None, list[str]] = {}
    envs = SyncVectorEnv([lambda steps=steps: Recorded(steps, heard) for steps in (1, 2, 3)])
    player = Script(envs, batch_size=6)
    played = [attempt.episode for _ in range(3) for attempt in player.collect()]
    assert len({episode.length for episode in played}) == 3  # so that some begin while others are under way
    assert {episode.seed: [step.action for step in episode.steps] for episode in played} == {
        episode.seed: heard[episode.seed] for episode in played
    }
    assert all(episode.outcome == 1.0 for episode in played)


# ---- the same as in rounds ----------------------------------------------------------------------------------------


def test_the_same_instances_in_the_same_order_as_in_rounds():
    batches = {}
    for collection in ("events", "rounds"):
        agent = coach(Devices(3, lambda: ButtonEnv(steps=2)), collection=collection)
        batches[collection] = [[episode.params for episode in episodes_of(agent)] for _ in range(3)]
    assert batches["events"] == batches["rounds"]
    assert [len(batch) for batch in batches["events"]] == [8] * 3


def test_every_step_has_k_candidates_with_the_policys_log_probabilities():
    agent = coach(Devices(3, lambda: ButtonEnv(steps=2)), k=3)
    for episode in episodes_of(agent):
        with torch.no_grad():
            scored = separate_log_probs(agent.policy, episode)
        for step, tensors in zip(episode.steps, scored, strict=True):
            assert len(step.candidates) == 3 and step.executed == 0 and step.action == step.candidates[0].text
            for candidate, tensor in zip(step.candidates, tensors, strict=True):
                torch.testing.assert_close(torch.tensor(candidate.logprobs), tensor, atol=1e-4, rtol=1e-4)


class Judge:
    """Likes a, gives no verdict on c, and can judge single steps."""

    def judge(self, questions):
        return [{"a": 1.0, "c": None}.get(steps[-1][1][:1], 0.0) for _, steps in questions]

    def score(self, goal, steps):
        return self.judge([(goal, steps[: t + 1]) for t in range(len(steps))])


def test_steps_judged_during_the_rollout_are_judged_as_whole_episodes_are():
    agent = coach(Devices(3, lambda: ButtonEnv(steps=2)), reward_model=Judge())
    episodes = episodes_of(agent)
    assert all(step.judged for episode in episodes for step in episode.steps)
    for episode in episodes:
        said = [(step.observation, step.candidates[0].text) for step in episode.steps]
        assert [step.process_reward for step in episode.steps] == Judge().score(episode.goal, said)


def test_groups_stay_together():
    agent = coach(Devices(3), GRPOAgent, group_size=4, max_staleness=1)
    for _ in range(2):
        groups = agent.collect_rollouts()
        assert [len(group) for group in groups] == [4, 4]
        assert all(len({episode.goal for episode in group}) == 1 for group in groups)


# ---- no waiting ---------------------------------------------------------------------------------------------------


def test_the_executed_action_goes_out_first_and_the_others_are_drawn_while_the_device_is_busy():
    agent = Script(Devices(3, lambda: ButtonEnv(steps=3), latency=Latency(variation=0, stalls=0)), batch_size=3, k=4)
    agent.collector.rollout.begin_until(3)
    agent.collector.rollout.receive(3)
    attempts = agent.collect()
    assert agent.log[0] == ("draw", 3), "all three devices were busy before drawing ended"
    assert all(devices > 0 for _, devices in agent.log)
    assert [[step.action for step in attempt.episode.steps] for attempt in attempts] == [
        [LETTERS[attempt.episode.goal]] * 3 for attempt in attempts
    ]
    assert all(len(step.candidates) == 4 for attempt in attempts for step in attempt.episode.steps)


def test_steps_are_judged_while_devices_are_busy():
    agent = Script(Devices(2, lambda: ButtonEnv(steps=3)), batch_size=2, judges_steps=True)
    agent.collect()
    last_draw = max(index for index, (what, _) in enumerate(agent.log) if what == "draw")
    assert sum(size for what, size in agent.log[:last_draw] if what == "judge") >= 4
    assert sum(size for what, size in agent.log if what == "judge") == 6
    assert all(size <= JUDGED_AT_ONCE for what, size in agent.log[:last_draw] if what == "judge")


def test_what_is_left_when_no_device_waits_is_judged_at_once():
    instant = Devices(12, lambda: ButtonEnv(steps=1), latency=Latency().scaled(0.0))
    agent = Script(instant, batch_size=12, judges_steps=True)
    agent.collect()
    assert agent.log[-1][0] == "judge" and agent.log[-1][1] > JUDGED_AT_ONCE


def test_batches_take_less_time_than_in_rounds():
    """No device waits for the slowest, and the next batch is reset ahead of time."""
    seconds = {}
    for collection in ("events", "rounds"):
        agent = Script(Devices(6, lambda: ButtonEnv(steps=6)), batch_size=12, in_rounds=collection == "rounds")
        for _ in range(4):
            agent.collect()
        seconds[collection] = agent.env.clock.now
    assert seconds["events"] < 0.75 * seconds["rounds"]


@pytest.mark.parametrize("max_staleness", [0, 1, 2])
def test_a_slow_device_holds_up_others_only_at_the_bound(max_staleness):
    agent = Script(Devices(4, slower={0: FOREVER}), batch_size=4, max_staleness=max_staleness)
    agent.collect()
    assert agent.env.clock.now > FOREVER
    assert sorted(agent.collector.finished) == list(range(4, 4 + 4 * max_staleness))


# ---- staleness ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("max_staleness", [0, 1, 2])
def test_staleness_is_bounded_and_measured(max_staleness):
    agent = coach(
        Devices(4, lambda: ButtonEnv(steps=2), slower={0: 300.0}), k=2, max_staleness=max_staleness, batch_size=4
    )
    ages, logged = [], []
    train = agent.train

    def spy(groups):
        mine = [agent.n_updates - step.version for (episode,) in groups for step in episode.steps]
        ages.extend(mine)
        logged.append((agent.logger.name_to_value["rollout/staleness"], sum(mine) / len(mine)))
        train(groups)

    agent.train = spy
    agent.learn(40)
    assert max(ages) <= max_staleness and (max(ages) > 0) == (max_staleness > 0)
    assert all(value == pytest.approx(mean) for value, mean in logged)


def test_episodes_that_straddle_an_update_keep_the_log_probabilities_they_were_sampled_with():
    envs = Devices(3, lambda: ButtonEnv(steps=4), latency=Latency(reset=(0.1, 0.2)))
    agent = coach(envs, k=2, max_staleness=1, batch_size=3)
    agent.learning_rate = 1e-2
    weights, straddled, train = {}, 0, agent.train

    def spy(groups):
        nonlocal straddled
        weights[agent.n_updates] = {name: tensor.clone() for name, tensor in agent.policy.model.state_dict().items()}
        for (episode,) in groups:
            versions = [step.version for step in episode.steps]
            straddled += len(set(versions)) > 1
            assert versions == sorted(versions)
            for t, version in enumerate(versions):
                agent.policy.model.load_state_dict(weights[version])
                with torch.no_grad():
                    scored = separate_log_probs(agent.policy, episode)[t]
                for candidate, tensor in zip(episode.steps[t].candidates, scored, strict=True):
                    torch.testing.assert_close(torch.tensor(candidate.logprobs), tensor, atol=1e-3, rtol=1e-3)
        agent.policy.model.load_state_dict(weights[agent.n_updates])
        train(groups)

    agent.train = spy
    agent.learn(50)
    assert straddled


# ---- what goes wrong ----------------------------------------------------------------------------------------------


class Breaking(ButtonEnv):
    """Raises in the second step of some episodes, and in the reset of others."""

    def reset(self, *, seed=None, options=None):
        self.seed_, self.taken = seed, 0
        if seed == 1002:
            raise OSError("no boot")
        return super().reset(seed=seed, options=options)

    def step(self, action):
        self.taken += 1
        if self.seed_ == 1001 and self.taken == 2:
            raise ConnectionError("adb gone")
        return super().step(action)


@pytest.mark.parametrize("kind", [Devices, lambda n, make: AndroidVectorEnv([make] * n)])
def test_a_device_that_dies_costs_one_episode(kind):
    envs = kind(2, lambda: Breaking(steps=3))
    agent = Script(envs, batch_size=4, k=2)
    attempts = agent.collect() + agent.collect()
    faults = [attempt.episode.fault for attempt in attempts]
    assert faults == [None, "ConnectionError: adb gone", "OSError: no boot", *[None] * 5]
    assert [attempt.length for attempt in attempts] == [3, 2, 1, *[3] * 5]
    envs.close()


def test_a_callback_stops_and_training_goes_on_later():
    agent = coach(Devices(3, lambda: ButtonEnv(steps=2)), max_staleness=1)
    agent.learn(100, callback=lambda *_: agent.num_timesteps < 5)
    assert agent.n_updates == 0
    agent.learn(8)
    assert agent.n_updates >= 1 and agent.num_timesteps >= 8


def test_an_evaluation_between_batches_disturbs_nothing():
    goals = []
    for disturbed in (False, True):
        agent = coach(Devices(3, lambda: ButtonEnv(steps=2)))
        batches = []
        for _ in range(3):
            batches.append([episode.goal for episode in episodes_of(agent)])
            if disturbed:
                assert len(evaluate(agent, agent.env, n_eval_episodes=4).results) == 4
        goals.append(batches)
    assert goals[0] == goals[1]


def test_environments_are_idle_after_training():
    envs = Devices(3, lambda: ButtonEnv(steps=2))
    agent = coach(envs, max_staleness=1)
    agent.learn(8)
    assert envs.pending == ()
    envs.reset(seed=0)
    agent.learn(8)
    assert len(episodes_of(agent)) == 8


@pytest.mark.parametrize("kind", [Devices, lambda n, make: AndroidVectorEnv([make] * n)])
def test_environments_are_idle_after_an_interruption(kind):
    def interrupted(*_):
        raise KeyboardInterrupt

    envs = kind(3, lambda: ButtonEnv(steps=2))
    agent = coach(envs, max_staleness=1)
    with pytest.raises(KeyboardInterrupt):
        agent.learn(100, callback=interrupted)
    envs.reset(seed=1)
    assert agent.learn(8).n_updates >= 1
    envs.close()


@pytest.mark.parametrize("collection", ["events", "rounds"])
def test_an_evaluation_in_the_midst_of_a_batch_is_an_error_and_before_it_is_none(collection):
    class Evaluating(BaseCallback):
        def __init__(self, hook):
            super().__init__()
            setattr(self, hook, lambda: evaluate(self.model, self.training_env, n_eval_episodes=2))

    agent = coach(Devices(3, lambda: ButtonEnv(steps=2)), collection=collection)
    assert agent.learn(30, callback=Evaluating("_on_rollout_start")).n_updates > 1
    with pytest.raises(RuntimeError, match="on_step has begun episodes.*an environment of its own"):
        agent.learn(30, callback=Evaluating("_on_step"))


@settings(max_examples=25, deadline=None)
@given(
    devices=st.integers(1, 5), batch_size=st.integers(1, 7), k=st.integers(1, 3), max_staleness=st.integers(0, 2),
    steps=st.integers(1, 4), judges_steps=st.booleans(), seed=st.integers(0, 1000),
    slower=st.dictionaries(st.integers(0, 4), st.floats(0, 500)), breaking=st.booleans(),
)  # fmt: skip
def test_whatever_the_schedule(devices, batch_size, k, max_staleness, steps, judges_steps, seed, slower, breaking):
    """Three batches end, each with its own episodes, complete, judged, and no staler than allowed."""
    make_env = Breaking if breaking else ButtonEnv
    envs = Devices(devices, lambda: make_env(steps=steps), slower, seed)
    agent = Script(envs, batch_size, k, max_staleness, judges_steps)
    for batch in range(3):
        attempts = agent.collect()
        assert [attempt.number for attempt in attempts] == list(range(batch * batch_size, (batch + 1) * batch_size))
        for attempt in attempts:
            fault = attempt.episode.fault
            assert (fault is not None) or (attempt.length == steps and attempt.episode.outcome == 1.0)
            assert (fault is None) or (breaking and 1000 + attempt.number in (1001, 1002))
            assert len(attempt.episode.steps) == attempt.length
            for step in attempt.episode.steps:
                assert len(step.candidates) == k and step.judged == judges_steps
                assert 0 <= batch - step.version <= max_staleness
    envs.close()


def test_environments_that_cannot_be_served_one_by_one(recwarn):
    hidden = RecordEpisodeStatistics(Devices(2))
    for envs in (hidden, SyncVectorEnv([ButtonEnv])):
        with pytest.raises(ValueError, match=f"max_staleness=2.*{type(envs).__name__} cannot.*unwrapped"):
            coach(envs, max_staleness=2)
    coach(SyncVectorEnv([ButtonEnv]))
    coach(hidden, collection="rounds")
    assert not [str(warning.message) for warning in recwarn if "one another" in str(warning.message)]
    with pytest.warns(UserWarning, match="RecordEpisodeStatistics hides that Devices .* wait .*'rounds'"):
        agent = coach(hidden)
    with pytest.raises(ValueError, match="max_staleness=1"):
        coach(Devices(2), max_staleness=1).set_env(hidden)
    assert len(episodes_of(agent)) == 8


def test_options_that_contradict_each_other():
    with pytest.raises(ValueError, match="max_staleness=1.*collection='events'"):
        coach(Devices(2), collection="rounds", max_staleness=1)
    with pytest.raises(ValueError, match="max_staleness=2.*choose one"):
        coach(Devices(2), recompute_log_probs=True, max_staleness=2)
    with pytest.raises(ValueError, match="collection='never'"):
        coach(Devices(2), collection="never")
