"""A mistake in a user's own code ends `learn` with a traceback into their file; a judge in trouble does not."""

import traceback
from typing import Any

import gymnasium as gym
import pytest

from coach_gym.agents import BaseCallback, CoachAgent
from coach_gym.envs.suites.suite import Suite
from coach_gym.envs.tasks.task import Task
from tests.agents import tiny

MISTAKE = "return self.does_not_exist()  # a mistake"


class OfAUser:
    """What a user wrote, with the name of the method that has the mistake."""

    wrong = ""

    def may_fail(self, method: str) -> Any:
        if self.wrong == method:
            return self.does_not_exist()  # a mistake


class Wifi(OfAUser, Task):
    apps = ("Settings",)
    template = "Turn Wi-Fi {state}."
    budget = 2

    @classmethod
    def sample(cls, rng):
        cls.may_fail(cls, "sample")
        return {"state": rng.choice(["on", "off"])}

    def setup(self, device):
        self.may_fail("setup")

    def evaluate(self, device, answer):
        self.may_fail("evaluate")
        return 0.0


class Callback(OfAUser, BaseCallback):
    def _on_step(self):
        self.may_fail("callback")
        return True


class Judge(OfAUser):
    def verify(self, episodes):
        self.may_fail("judge")
        raise ConnectionError("HTTP 429")


def train(wrong: str, judge: Judge | str = "rules", **settings: Any) -> CoachAgent:
    """Trains with a mistake in one place of the user's code."""
    task = type("Mine", (Wifi,), {"wrong": wrong})
    envs = gym.make_vec(
        "coach_gym:AndroidWorld-v0", num_envs=2, vectorization_mode="vector_entry_point", screen_size=(112, 168),
        suite=Suite("mine", "mine", {"Mine": task}), must_finish=False, **settings,
    )  # fmt: skip
    policy = tiny.policy(max_prompt_length=2048)
    agent = CoachAgent(policy, envs, batch_size=2, max_new_tokens=4, seed=0, outcome_verifier=judge)
    callback = Callback()
    callback.wrong = wrong
    try:
        return agent.learn(4, callback)
    finally:
        envs.close()


@pytest.mark.parametrize("wrong", ["sample", "setup", "evaluate", "callback", "judge"])
def test_a_mistake_in_a_users_code_ends_training_with_a_traceback_into_their_file(wrong):
    judge = Judge()
    judge.wrong = wrong
    with pytest.raises(Exception, match="does_not_exist") as raised:
        train(wrong, judge if wrong == "judge" else "rules")
    told = "".join(traceback.format_exception(raised.value))
    assert MISTAKE in told and f'File "{__file__}"' in told


@pytest.mark.filterwarnings("ignore:no episode of this roll-out")
def test_a_judge_whose_server_is_busy_does_not():
    with pytest.warns(UserWarning, match="gave no verdict on 2 episodes: ConnectionError: HTTP 429"):
        assert train("", Judge()).num_timesteps >= 4


@pytest.mark.parametrize("wrong", ["setup", "evaluate"])
def test_an_option_makes_a_tasks_mistake_a_fault(wrong):
    agent = train(wrong, task_errors="fault")
    assert agent.num_timesteps >= 4 and agent.n_updates == 0
