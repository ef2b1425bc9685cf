"""The smallest environment that our agents can learn: the goal names one of three buttons."""

from collections.abc import Collection, Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from coach_gym.spaces import Unicode

COLOURS = {"red": (220, 40, 40), "green": (40, 200, 60), "blue": (40, 60, 220)}
LETTERS = dict(zip(COLOURS, "abc", strict=True))
WIDTH, HEIGHT = 84, 56


class ButtonEnv(gym.Env[dict[str, Any], str]):
    """Three buttons a, b, c, coloured red, green, blue; the goal names a colour, the agent answers with a letter.

    Args:
        steps: right answers needed, one after another; a wrong one ends the episode.
        colours: what goals may name.
        faulty: seeds whose episodes end with a fault in their first step; empty for all of them.
    """

    metadata = {"render_modes": []}

    def __init__(
        self, steps: int = 1, colours: Sequence[str] = tuple(COLOURS), faulty: Collection[int] | None = None
    ) -> None:
        self.steps = steps
        self.colours = list(colours)
        self.faulty = faulty
        self.observation_space = spaces.Dict(
            {
                "goal": Unicode(100),
                "screenshot": spaces.Box(0, 255, (HEIGHT, WIDTH, 3), np.uint8),
                "ui": Unicode(1000),
                "last_action_error": Unicode(1000),
            }
        )
        self.action_space = Unicode(10_000)
        self.resets: list[int | None] = []

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[dict, dict]:
        super().reset(seed=seed)
        self.resets.append(seed)
        self.colour = str(self.np_random.choice(self.colours))
        self.done = 0
        self.fault = self.faulty is not None and (not self.faulty or seed in self.faulty)
        return self._observation(), {"task": f"Press{self.colour.title()}", "params": {"colour": self.colour}}

    def step(self, action: str) -> tuple[dict, float, bool, bool, dict]:
        if self.fault:
            return self._observation(), 0.0, False, True, {"fault": "the screen went dark", "is_success": False}
        right = action[:1] == LETTERS[self.colour]
        self.done += right
        success = self.done == self.steps
        over = success or not right
        return self._observation(), float(success), over, False, {"is_success": success} if over else {}

    def _observation(self) -> dict[str, Any]:
        screen = np.full((HEIGHT, WIDTH, 3), 255, np.uint8)
        for column, colour in enumerate(COLOURS.values()):
            screen[10:46, 28 * column + 4 : 28 * column + 24] = colour
        return {"goal": self.colour, "screenshot": screen, "ui": "", "last_action_error": ""}
