"""Nobody plays on environments where another is at play, however they are wrapped."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from gymnasium.vector import SyncVectorEnv
from gymnasium.wrappers import TimeLimit
from gymnasium.wrappers.vector import RecordEpisodeStatistics

from coach_gym.agents import EvalCallback, GRPOAgent, evaluate
from coach_gym.envs.vector import AndroidVectorEnv
from tests.agents import tiny
from tests.agents.trivial_env import ButtonEnv


def agent(env):
    return GRPOAgent(tiny.policy(), env, batch_size=2, group_size=2, max_new_tokens=2, seed=0)


def single():
    env = ButtonEnv(steps=3)
    return env, env


def wrapped():
    env = ButtonEnv(steps=3)
    return TimeLimit(env, 5), env


def batched():
    env = ButtonEnv(steps=3)
    return SyncVectorEnv([lambda: env]), env


def wrapped_batch():
    envs = AndroidVectorEnv([lambda: ButtonEnv(steps=3)] * 2)
    return RecordEpisodeStatistics(envs), envs


KINDS = pytest.mark.parametrize("kind", [single, wrapped, batched, wrapped_batch])


@KINDS
def test_a_second_training_is_refused_and_the_first_goes_on(kind):
    mine, others = kind()
    first, second, refused = agent(mine), agent(others), []

    def intrude(*_):
        with pytest.raises(RuntimeError, match="another call of learn.*give each agent its own"):
            second.learn(1)
        refused.append(True)

    assert first.learn(2, callback=intrude).num_timesteps >= 2
    assert refused
    second.learn(1)
    mine.close()


@KINDS
def test_an_evaluation_in_the_midst_of_a_roll_out_is_an_error(kind):
    mine, others = kind()
    trained = agent(mine)
    with pytest.raises(RuntimeError, match="on_step has begun episodes.*an environment of its own"):
        trained.learn(2, callback=lambda *_: bool(evaluate(trained, others, 1)))
    mine.close()


@KINDS
def test_no_training_environment_is_for_evaluation(kind):
    mine, others = kind()
    with pytest.raises(ValueError, match="eval_env is the training environment"):
        agent(mine).learn(2, callback=EvalCallback(others, n_eval_episodes=1))
    mine.close()


def test_threads_do_not_evaluate_what_another_trains_on_nor_train_on_what_it_evaluates():
    envs = AndroidVectorEnv([lambda: ButtonEnv(steps=3)] * 2)
    one, two = agent(envs), agent(envs)
    with ThreadPoolExecutor(1) as thread:
        for play, intrude in (
            (lambda told: one.learn(2, callback=told), lambda: evaluate(two, envs, 1)),
            (lambda told: evaluate(one, envs, 1, callback=told), lambda: two.learn(2)),
            (lambda told: evaluate(one, envs, 1, callback=told), lambda: evaluate(two, envs, 1)),
        ):
            told = []
            play(lambda *_, told=told, intrude=intrude: told.append(thread.submit(intrude).exception()) is None)
            assert told
            assert all("another call of learn() or evaluate() is running" in str(error) for error in told)
    envs.close()
