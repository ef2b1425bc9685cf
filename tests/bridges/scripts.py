"""What the scripted expert does in an episode, for tests that play it again through another interface."""

import gymnasium as gym

from coach_gym.envs.suites.play import play

SIZE = (280, 616)  # multiples of 28: the coordinates of a Qwen2.5-VL are the pixels of the screen
TASK = {"env": "AndroidWorld/SystemBluetoothTurnOn-v0", "screen_size": SIZE}


def played(seed):
    """Plays an episode with the expert; returns the actions, and what Gymnasium returned at every step."""
    with gym.make(TASK["env"], disable_env_checker=True, screen_size=SIZE) as env:
        actions = play(env, *env.reset(seed=seed)).actions
        observation, info = env.reset(seed=seed)
        return actions, [(observation, 0.0, False, False, info), *(env.step(action) for action in actions)]
