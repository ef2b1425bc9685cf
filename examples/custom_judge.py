"""A judge of your own decides which episodes have succeeded, for tasks that no rule checks.

This one reads the screens: an episode is solved if the agent has seen the Wi-Fi switch on before it finished.

    python examples/custom_judge.py
"""

from collections.abc import Sequence

import gymnasium as gym

import coach_gym  # noqa: F401  (registers the environments)
from coach_gym.agents import CoachAgent
from coach_gym.episode import Episode
from coach_gym.ui import parse_ui


class SeesWifiOn:
    """Judges episodes that are over."""

    def verify(self, episodes: Sequence[Episode]) -> list[float | None]:
        """Returns 0 to 1 for every episode, or None if it does not know: such an episode is not learned from."""
        return [self._verdict(episode) for episode in episodes]

    def _verdict(self, episode: Episode) -> float | None:
        if not any(step.observation.ui for step in episode.steps):
            return None  # nothing to read; an unknown is not a failure
        last = parse_ui(episode.steps[-1].observation.ui)
        return float(any("Wi" in each.label and each.checked for each in last))


def main():
    envs = gym.make_vec(
        "AndroidWorld-v0", num_envs=2, vectorization_mode="vector_entry_point",
        screen_size=(270, 600), tasks=["SystemWifiTurnOn"], max_steps=6,
    )  # fmt: skip
    agent = CoachAgent(
        "pocket", envs, outcome_verifier=SeesWifiOn(), batch_size=2, max_new_tokens=48, max_prompt_length=3072,
    )  # fmt: skip
    agent.learn(total_timesteps=8)
    print("steps:", agent.num_timesteps)
    envs.close()


if __name__ == "__main__":
    main()
