"""Many steps on phones, and many steps of training: memory, threads and open files stay as they are."""

import os
import random
import threading
from functools import partial
from statistics import mean

import pytest

from coach_gym.actions import format_action
from coach_gym.agents import CheckpointCallback, CoachAgent
from coach_gym.envs.android import AndroidEnv
from coach_gym.envs.vector import AndroidVectorEnv
from tests.agents import tiny
from tests.agents.trivial_env import ButtonEnv
from tests.envs.test_monkey import SCREEN, pick
from tests.reliability.fuzz import LONG, resident

PLAYED, TRAINED = (20_000, 20_000) if LONG else (320, 120)  # steps
LEARNED = 1_200  # steps of the pocket agent
SAMPLES = 40
MEGABYTES = 25.0  # of growth from the second quarter to the last, where the interpreter still fills its caches
ENVS = 4


class Gauge:
    """Memory, threads and open files of this process at evenly spaced moments of so many steps."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.megabytes: list[float] = []
        self.threads: list[int] = []
        self.files: list[int] = []

    def note(self, steps: int) -> None:
        """Samples if it is time."""
        if steps * SAMPLES >= len(self.megabytes) * self.total:
            self.megabytes.append(resident())
            self.threads.append(threading.active_count())
            self.files.append(len(os.listdir("/proc/self/fd")))
            words = f"{steps:>6} steps {self.megabytes[-1]:>8.1f} MB {self.threads[-1]:>4} threads"
            print(f"{words} {self.files[-1]:>4} files", flush=True)

    def require_flat(self) -> None:
        """Checks that the last quarter is like the second one."""
        quarter = len(self.megabytes) // 4
        before, after = self.megabytes[quarter : 2 * quarter], self.megabytes[-quarter:]
        assert mean(after) - mean(before) < MEGABYTES, self.megabytes
        for counts in (self.threads, self.files):
            assert max(counts[-quarter:]) <= max(counts[quarter : 2 * quarter]), counts


def test_phones_take_no_more_memory_the_longer_they_are_played_with():
    names = ["android_world", "android_lab"] * (ENVS // 2)
    envs = AndroidVectorEnv([partial(AndroidEnv, name, screen_size=SCREEN, max_steps=40) for name in names])
    rng, gauge, steps = random.Random(1), Gauge(PLAYED), 0
    observations, _ = envs.reset(seed=1)
    while steps < PLAYED:
        seen = [{"ui": observations["ui"][each]} for each in range(ENVS)]
        observations, *_, infos = envs.step([format_action(pick(rng, each)) for each in seen])
        assert "fault" not in infos, infos["fault"]
        steps += ENVS
        gauge.note(steps)
    envs.close()
    gauge.require_flat()


def test_a_training_takes_no_more_memory_the_longer_it_lasts(tmp_path):
    envs = AndroidVectorEnv([partial(ButtonEnv, steps=5)] * ENVS)
    agent = CoachAgent(
        tiny.policy(), envs, 1e-4, batch_size=32, max_new_tokens=3, critic_learning_rate=1e-3, seed=0,
        malformed_is_worthless=False, tensorboard_log=str(tmp_path),
    )  # fmt: skip
    require_flat(agent, TRAINED)
    envs.close()


@pytest.mark.skipif(not LONG, reason="torch takes its working memory in the first updates")
@pytest.mark.parametrize("collection", ["events", "rounds"])
def test_a_training_of_the_pocket_agent_does_neither(collection, tmp_path):
    """An update for every four steps, with checkpoints, and every episode kept."""
    names = ["android_world", "android_lab"]
    envs = AndroidVectorEnv([partial(AndroidEnv, name, screen_size=(270, 600), max_steps=2) for name in names])
    agent = CoachAgent(
        "pocket", envs, 1e-6, k=2, critic="pocket", reward_model="pocket", batch_size=2, max_new_tokens=6,
        max_prompt_length=1024, collection=collection, keep_episodes=1.0, tensorboard_log=str(tmp_path), seed=5,
    )  # fmt: skip
    require_flat(agent, LEARNED, CheckpointCallback(200, tmp_path / "checkpoints"))
    envs.close()


def require_flat(agent, steps, *callbacks):
    gauge = Gauge(steps)

    def note(*_):
        gauge.note(agent.num_timesteps)
        return True

    agent.learn(steps, [note, *callbacks])
    gauge.require_flat()
