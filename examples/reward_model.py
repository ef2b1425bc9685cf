"""A process reward model of your own judges every step while the phone executes it.

    python examples/reward_model.py
"""

from collections.abc import Sequence

import gymnasium as gym

import coach_gym  # noqa: F401  (registers the environments)
from coach_gym.agents import CoachAgent
from coach_gym.episode import Observation


class NoRepeats:
    """Finds a step good unless it repeats the one before on the same screen."""

    def score(self, goal: str, steps: Sequence[tuple[Observation, str]]) -> list[float | None]:
        """Judges all steps of an episode: 1 (good), 0 (bad), or None if there is nothing to say."""
        repeated = [
            before.ui == now.ui and did == does for (before, did), (now, does) in zip(steps, steps[1:], strict=False)
        ]
        return [None] + [float(not each) for each in repeated]

    def judge(self, questions: Sequence[tuple[str, Sequence[tuple[Observation, str]]]]) -> list[float | None]:
        """Judges the last of the steps of each question. Optional: with it, steps are judged during the roll-out."""
        return [self.score(goal, steps)[-1] for goal, steps in questions]


def main():
    envs = gym.make_vec(
        "AndroidWorld-v0", num_envs=2, vectorization_mode="vector_entry_point",
        screen_size=(270, 600), tasks=["SystemWifiTurnOn"], max_steps=4,
    )  # fmt: skip
    agent = CoachAgent(
        "pocket", envs, reward_model=NoRepeats(), batch_size=2, max_new_tokens=48, max_prompt_length=3072,
    )  # fmt: skip
    agent.learn(total_timesteps=8)
    print("steps:", agent.num_timesteps)
    envs.close()


if __name__ == "__main__":
    main()
