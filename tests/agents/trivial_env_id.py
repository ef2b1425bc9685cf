"""Registers the button environment, for those who take ids: `trivial_env_id:Buttons-v0`."""

import gymnasium as gym

from tests.agents.trivial_env import ButtonEnv

gym.register("Buttons-v0", entry_point=ButtonEnv)
