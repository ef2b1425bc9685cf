"""An app of your own, with its task and a script that solves it: the folder `shopping_list` beside this file.

    python examples/custom_app.py
"""

import gymnasium as gym

import coach_gym  # noqa: F401  (registers the environments)
from coach_gym.envs.suites.play import play
from coach_gym.recording.strip import strip


def main():
    env = gym.make("AndroidWorld-v0", apps=["shopping_list"], tasks=["BuyItem"], screen_size=(270, 600))
    observation, info = env.reset(seed=0)
    shown = play(env, observation, info)
    assert shown.reward == 1.0
    strip(shown.screens, shown.actions, observation["goal"]).save("shopping_list.png")
    print("solved in", len(shown.steps), "steps; see shopping_list.png")


if __name__ == "__main__":
    main()
