"""A pool of training tasks as a file."""

import dataclasses
import json

import gymnasium as gym
import pytest

from coach_gym.__main__ import main
from coach_gym.envs.errors import UsageError
from coach_gym.envs.suites.load import load_suite
from coach_gym.envs.suites.pool import BENCHMARKS, benchmark_instances, make_pool, overlap, read_pool, write_pool
from coach_gym.envs.suites.splits import is_shared_out, owner

SMALL = {"screen_size": (270, 600), "disable_env_checker": True}


@pytest.fixture(scope="module")
def pool():
    return make_pool(number=240)


def test_a_pool_holds_different_training_instances_of_both_benchmarks(pool):
    assert len({json.dumps([task.env, task.task, task.params], sort_keys=True) for task in pool}) == 240
    for env, benchmark in BENCHMARKS.items():
        suite = load_suite(benchmark).of("train")
        of_env = [task for task in pool if task.env == env]
        assert len(of_env) == 120 and len({task.task for task in of_env}) > 20
        for task in of_env:
            family = suite.family(task.task)
            assert task.task not in suite.apart and (owner(family, task.params) == "train" or not is_shared_out(family))


def test_what_is_written_is_read_and_makes_the_same_tasks(pool, tmp_path):
    write_pool(tmp_path / "pool.jsonl", pool)
    read = read_pool(tmp_path / "pool.jsonl")
    assert [task.goal for task in read] == [task.goal for task in pool]
    for task in read:
        instance = load_suite(BENCHMARKS[task.env]).instance(task.task, task.params)
        assert instance.goal == task.goal, "the parameters survive JSON"
    for line in ('{"env": "AndroidWorld-v0"}', '{"env": "AndroidWorld-v0", "task": "X", "params": 5, "goal": "g"}'):
        (tmp_path / "bad.jsonl").write_text(line + "\n")
        with pytest.raises(UsageError, match="line 1 of .*bad.jsonl is no task"):
            read_pool(tmp_path / "bad.jsonl")


@pytest.mark.parametrize("name", ["AndroidWorld-v0", "AndroidWorldAndLab-v0"])
def test_a_pool_that_is_none_is_refused(name, tmp_path):
    (tmp_path / "picture").write_bytes(b"\xff")
    for wrong in (5, [5], ["a"], tmp_path, tmp_path / "nowhere", tmp_path / "picture"):
        with pytest.raises((TypeError, UsageError), match="(pool=5|pool has|the pool .*be read).*; pass a file"):
            gym.make(name, pool=wrong, **SMALL)


def test_a_pool_that_repeats_a_test_is_caught(pool):
    tested = benchmark_instances("AndroidWorld-v0")
    found = overlap(pool, tested)
    clean = [task for task in pool if task not in found]
    same = dataclasses.replace(tested[3])
    shouted = f"You should use X to complete the following task:  {same.goal.upper()}!"
    reworded = dataclasses.replace(clean[0], goal=shouted)
    assert overlap([*clean, same, reworded], tested) == [same, reworded]
    assert not overlap(make_pool(["AndroidWorld-v0"], 80, without=tested), tested)


def test_an_environment_draws_from_the_pool_alone(pool):
    few = [task for task in pool if task.env == "AndroidWorld-v0"][:5]
    env = gym.make("AndroidWorld-v0", pool=[*few, pool[1]], **SMALL)
    goals = [env.reset(seed=seed)[0]["goal"] for seed in range(12)]
    assert set(goals) <= {task.goal for task in few} and len(set(goals)) > 2
    assert goals[4] == env.reset(seed=4)[0]["goal"]
    with pytest.raises(ValueError, match="pass one of them"):
        gym.make("AndroidWorld-v0", pool=few, split="train", **SMALL)
    with pytest.raises(ValueError, match="none of the 5 tasks of this pool is one of android_lab's"):
        gym.make("AndroidLab-v0", pool=few, **SMALL)


def test_the_command_draws_filters_and_drops_tests(tmp_path, capsys):
    whole, easy = tmp_path / "pool.jsonl", tmp_path / "easy.jsonl"
    main(["tasks", "--number", "150", "--out", str(whole)])
    assert "150 tasks" in capsys.readouterr().out
    read = read_pool(whole)
    assert len(read) == 150
    assert not overlap(read, [task for env in BENCHMARKS for task in benchmark_instances(env)])
    main(["tasks", "--from", str(whole), "--env", "AndroidLab-v0", "--kind", "query", "--out", str(easy)])
    found = read_pool(easy)
    assert found == [task for task in read if task.env == "AndroidLab-v0" and task.kind == "query"] and found


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--family", "ContactsAddContct"], "no family 'ContactsAddContct'; did you mean 'ContactsAddContact'"),
        (["--app", "Zzz"], "there is no app 'Zzz'; there are "),
        (["--number", "0"], "number=0 is too small; pass 1 or more"),
        (["--number", "1", "--family", "VlcCreatePlaylist"], "none of the 1 tasks is left by the options; pass others"),
    ],
)
def test_a_pool_that_would_be_empty_is_refused(options, told, tmp_path):
    with pytest.raises(SystemExit, match=told):
        main(["tasks", "--out", str(tmp_path / "pool.jsonl"), *options])
    assert not (tmp_path / "pool.jsonl").exists()
