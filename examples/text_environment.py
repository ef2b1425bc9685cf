"""An environment of your own whose actions are texts, and an agent that learns in it.

Any Gymnasium environment works whose action is a text and whose observation has the four keys below: a web page, a
desktop, a game. Here three coloured buttons are shown, and the goal names one.

    python examples/text_environment.py
"""

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from coach_gym.agents import CoachAgent
from coach_gym.spaces import Unicode

COLOURS = {"red": (220, 40, 40), "green": (40, 180, 60), "blue": (40, 60, 220)}
WIDTH, HEIGHT = 84, 56
Observation = dict[str, Any]


class Buttons(gym.Env[Observation, str]):
    """Three buttons in a random order; a click on the one that the goal names is worth 1."""

    observation_space = spaces.Dict(
        {
            "goal": Unicode(100),
            "screenshot": spaces.Box(0, 255, (HEIGHT, WIDTH, 3), np.uint8),
            "ui": Unicode(1000),  # the screen as text; may stay empty
            "last_action_error": Unicode(1000),
        }
    )
    action_space = Unicode(1000)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Observation, dict]:
        super().reset(seed=seed)
        self.order = [str(colour) for colour in self.np_random.permutation(list(COLOURS))]
        self.goal = str(self.np_random.choice(list(COLOURS)))
        return self._see(), {"task": "Press", "params": {"colour": self.goal}}  # success is logged by task

    def step(self, action: str) -> tuple[Observation, float, bool, bool, dict]:
        if action not in ("left", "middle", "right"):
            return self._see(f"{action[:20]!r} is none of left, middle, right"), 0.0, False, True, {"is_success": False}
        success = self.order[["left", "middle", "right"].index(action)] == self.goal
        return self._see(), float(success), True, False, {"is_success": success}

    def _see(self, error: str = "") -> Observation:
        screen = np.full((HEIGHT, WIDTH, 3), 255, np.uint8)
        for column, colour in enumerate(self.order):
            screen[10:46, 28 * column + 4 : 28 * column + 24] = COLOURS[colour]
        return {"goal": f"Press {self.goal}.", "screenshot": screen, "ui": "", "last_action_error": error}


gym.register("ThreeButtons-v0", entry_point=Buttons)


def main():
    envs = gym.make_vec("ThreeButtons-v0", num_envs=4, vectorization_mode="sync")
    agent = CoachAgent(
        "pocket", envs, batch_size=8, max_new_tokens=8,
        malformed_is_worthless=False,  # answers here are not actions of a phone, and that is right
        reward_model=None,  # the judge that comes with the pocket model knows only phones
    )  # fmt: skip
    agent.learn(total_timesteps=16)
    print("steps:", agent.num_timesteps)
    envs.close()


if __name__ == "__main__":
    main()
