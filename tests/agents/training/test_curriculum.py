"""What is solved less is practised more."""

from collections import Counter
from itertools import islice

import pytest
from gymnasium.utils.seeding import np_random
from gymnasium.vector import SyncVectorEnv

from coach_gym.agents import CheckpointCallback, GRPOAgent
from coach_gym.agents.training.batching import training_seeds
from coach_gym.agents.training.curriculum import FLOOR, UNKNOWN, WINDOW, play_probability, updated_rates
from coach_gym.envs.errors import UsageError
from coach_gym.envs.vector import AndroidVectorEnv
from tests.agents.training.saving.test_save_load import assert_equal
from tests.agents.trivial_env import COLOURS, ButtonEnv
from tests.agents.warm_start import warm_policy

TASKS = [f"Press{colour.title()}" for colour in COLOURS]


class TellingEnv(ButtonEnv):
    """Tells which colour a seed draws."""

    def task_of(self, seed: int) -> str:
        return f"Press{np_random(seed)[0].choice(self.colours).title()}"


def buttons(env=TellingEnv) -> AndroidVectorEnv:
    return AndroidVectorEnv([lambda: env(steps=2)] * 4)


def make(envs=None, **arguments) -> GRPOAgent:
    settings = {
        "batch_size": 8, "group_size": 2, "max_new_tokens": 3, "seed": 0, "curriculum": 2.0, "collection": "rounds",
        **arguments,
    }  # fmt: skip
    return GRPOAgent(warm_policy(), envs or buttons(), 1e-3, **settings)


# ---- rates and chances ----------------------------------------------------------------------------------------------


def test_a_chance_is_in_proportion_to_a_power_of_the_failure_rate():
    rates = {"always": 1.0, "half": 0.5, "never": 0.0}
    chances = {power: [play_probability(rates, task, power) for task in rates] for power in (1, 2)}
    assert chances[1] == pytest.approx([FLOOR / (1 + FLOOR), (0.5 + FLOOR) / (1 + FLOOR), 1])
    assert chances[2] == pytest.approx([FLOOR / (1 + FLOOR), (0.25 + FLOOR) / (1 + FLOOR), 1])


def test_all_are_played_where_nothing_is_known_or_all_do_equally_well():
    assert play_probability({}, "new", 2) == 1
    assert play_probability({"a": 1.0, "b": 1.0}, "a", 2) == 1
    assert play_probability({"a": 1.0}, "new", 2) == 1, "a family that is new comes before one that is solved"
    assert play_probability({"a": UNKNOWN, "b": 0.0}, "new", 2) == play_probability({"a": UNKNOWN, "b": 0.0}, "a", 2)


def test_rates_follow_what_was_played():
    rates = updated_rates({}, [("a", True), ("a", True), ("b", False)])
    assert UNKNOWN < rates["a"] < 1 and 0 < rates["b"] < UNKNOWN
    assert updated_rates({}, [("a", 0.9)])["a"] == pytest.approx(UNKNOWN + 0.4 / WINDOW)
    assert updated_rates(rates, [("a", False)] * 100)["a"] == pytest.approx(0, abs=0.01)
    assert updated_rates(rates, [("a", True), ("a", False)] * 50)["a"] == pytest.approx(0.5, abs=0.05)
    assert rates == updated_rates({}, [("a", True), ("a", True), ("b", False)]), "the rates before are left alone"


# ---- seeds ----------------------------------------------------------------------------------------------------------


def test_seeds_are_drawn_in_proportion_to_their_chances():
    shares = Counter(
        seed % 4 for seed in islice(training_seeds(7, 0, 1, lambda seed: (1, 0.5, 0.1, 0)[seed % 4]), 3200)
    )
    assert shares[0] == pytest.approx(2000, abs=120)
    assert shares[1] == pytest.approx(1000, abs=100)
    assert shares[2] == pytest.approx(200, abs=50)
    assert shares[3] == 0


def test_a_seed_depends_on_its_number_and_not_on_those_before():
    def chance(seed):
        return 0.2 + 0.8 * (seed % 2)

    seeds = list(islice(training_seeds(7, 0, 2, chance), 40))
    assert list(islice(training_seeds(7, 20, 2, chance), 20)) == seeds[20:]
    assert seeds[::2] == seeds[1::2], "a group has one seed"
    certain = list(islice(training_seeds(7, 0, 2), 40))
    assert 0 < sum(a == b for a, b in zip(seeds, certain, strict=True)) < 40, "those that are kept are the same"


# ---- agents ---------------------------------------------------------------------------------------------------------


def test_an_agent_plays_what_it_fails_at():
    agent = make()
    agent.success_rates = {"PressRed": 1.0, "PressGreen": 1.0, "PressBlue": 0.0}
    played = Counter(episode.task for group in agent.collect_rollouts() for episode in group)
    assert played["PressBlue"] >= 6
    assert 0 < agent.success_rates["PressBlue"] < 1, "and notes how it did"
    assert agent.logger.name_to_value["success_rates/PressBlue"] == agent.success_rates["PressBlue"]


def test_it_plays_everything_without_a_curriculum():
    agent = make(curriculum=0.0)
    agent.success_rates = {"PressRed": 1.0, "PressGreen": 1.0, "PressBlue": 0.0}
    played = Counter(episode.task for _ in range(6) for group in agent.collect_rollouts() for episode in group)
    assert min(played[task] for task in TASKS) >= 6
    assert agent.success_rates["PressRed"] == 1.0


def test_a_resumed_training_practises_the_same(tmp_path):
    whole = make()
    whole.learn(60, callback=CheckpointCallback(1, tmp_path))
    checkpoints = sorted(tmp_path.iterdir(), key=lambda path: int(path.name.split("_")[2]))
    resumed = GRPOAgent.load(checkpoints[1], env=buttons())
    assert resumed.curriculum == 2.0 and set(resumed.success_rates) <= set(TASKS)
    assert resumed.success_rates != whole.success_rates
    resumed.learn(60 - resumed.num_timesteps, reset_num_timesteps=False)
    assert resumed.success_rates == whole.success_rates
    assert_equal(resumed.get_parameters(), whole.get_parameters(), atol=1e-7)


def test_an_update_that_fails_takes_back_what_its_roll_out_showed():
    agent = make()
    agent.learn(8)
    before = dict(agent.success_rates)
    agent.train = lambda groups: 1 / 0
    with pytest.raises(ZeroDivisionError):
        agent.learn(8, reset_num_timesteps=False)
    assert agent.success_rates == before


# ---- what is refused ------------------------------------------------------------------------------------------------


def test_environments_that_do_not_tell_tasks_are_refused():
    with pytest.raises(ValueError, match="curriculum=2.0 needs to know which task a seed draws, which SyncVectorEnv"):
        make(SyncVectorEnv([TellingEnv] * 4))
    with pytest.raises(UsageError, match="does not tell the task of a seed; give it `task_of"):
        make(buttons(ButtonEnv))


@pytest.mark.parametrize("wrong", [-1.0, float("nan"), float("inf")])
def test_powers_out_of_range_are_refused(wrong):
    with pytest.raises(ValueError, match="curriculum"):
        make(curriculum=wrong)
