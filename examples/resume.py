"""A training is interrupted, and goes on from its latest checkpoint.

    python examples/resume.py
"""

from pathlib import Path

import gymnasium as gym

import coach_gym  # noqa: F401  (registers the environments)
from coach_gym.agents import CheckpointCallback, CoachAgent


def make_envs():
    return gym.make_vec(
        "AndroidWorld-v0", num_envs=2, vectorization_mode="vector_entry_point",
        screen_size=(270, 600), tasks=["SystemWifiTurnOn"], max_steps=3,
    )  # fmt: skip


def main():
    envs = make_envs()
    agent = CoachAgent("pocket", envs, batch_size=2, max_new_tokens=48, max_prompt_length=3072)
    agent.learn(total_timesteps=6, callback=CheckpointCallback(None, "checkpoints", save_steps=4, keep=2))
    envs.close()

    latest = max(Path("checkpoints").glob("rl_model_*_steps"), key=lambda path: int(path.name.split("_")[-2]))
    envs = make_envs()
    agent = CoachAgent.load(latest, env=envs)
    print("goes on from", latest, "at step", agent.num_timesteps)
    agent.learn(total_timesteps=6, reset_num_timesteps=False)
    print("steps:", agent.num_timesteps)
    envs.close()


if __name__ == "__main__":
    main()
