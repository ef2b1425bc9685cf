"""Registers the button environment for use by id: `trivial_env_id:Buttons-v0`."""

import gymnasium as gym

from tests.agents.trivial_env import ButtonEnv

gym.register("Buttons-v0", entry_point=ButtonEnv)
