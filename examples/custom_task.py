"""A task of your own on the phone's own apps: a script solves it, and an agent tries.

    python examples/custom_task.py
"""

import gymnasium as gym

import coach_gym  # noqa: F401  (registers the environments)
from coach_gym.agents import CoachAgent, evaluate
from coach_gym.envs.suites.play import play
from coach_gym.envs.suites.suite import Suite
from coach_gym.envs.tasks.task import Task


class AirplaneMode(Task):
    apps = ("Settings",)
    template = "Turn airplane mode {state}."
    budget = 8  # steps, about twice what the script needs

    @classmethod
    def sample(cls, rng):
        """Everything random about an instance."""
        return {"state": rng.choice(["on", "off"])}

    def setup(self, device):
        """Prepares a phone that was just reset."""
        device.put_setting("global", "airplane_mode_on", "0" if self.params["state"] == "on" else "1")

    def evaluate(self, device, answer):
        """Reads success off the phone's state."""
        return float(device.get_setting("global", "airplane_mode_on") == ("1" if self.params["state"] == "on" else "0"))


def solve(screen, params):
    """Solves it by touch: one action per `yield`, after which `screen` shows the newest observation."""
    yield from screen.open("Settings")
    yield screen.tap("Network & internet")
    yield screen.tap("Airplane mode")
    yield screen.finish()


def main():
    suite = Suite("mine", "mine", {"AirplaneMode": AirplaneMode})
    settings = {"suite": suite, "screen_size": (270, 600)}

    env = gym.make("AndroidWorld-v0", **settings)
    observation, info = env.reset(seed=0)
    shown = play(env, observation, info, expert=solve)
    print(observation["goal"], info["params"], "-> reward", shown.reward)
    assert shown.reward == 1.0

    envs = gym.make_vec("AndroidWorld-v0", num_envs=2, vectorization_mode="vector_entry_point", **settings)
    agent = CoachAgent("pocket", envs, max_new_tokens=48, max_prompt_length=3072)
    print(evaluate(agent, envs, n_eval_episodes=2).success_per_task)
    envs.close()


if __name__ == "__main__":
    main()
