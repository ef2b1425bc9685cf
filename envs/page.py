"""The page that `render_mode="human"` shows an environment on."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from coach_gym.live.watching import Shown


class Page:
    """A page in the browser, opened with the first screen, on the loopback interface alone."""

    def __init__(self) -> None:
        self.address = ""
        self._shown: list[Shown] = []
        self._serving: ExitStack | None = None

    def show(self, goal: str, task: str, steps: int, action: str, screenshot: np.ndarray) -> None:
        """Shows a state of an episode, and prints the page's address if it opens it.

        Raises:
            ModuleNotFoundError: The web server is not installed.
        """
        try:
            from coach_gym.live.watching import Shown, watching
        except ModuleNotFoundError as missing:
            raise ModuleNotFoundError(
                f"render_mode='human' needs {missing.name}: pip install 'coach-gym[view]'"
            ) from missing
        self._shown = [Shown(0, goal, task, steps, action, screenshot)]
        if self._serving is None:
            self._serving = ExitStack()
            self.address = self._serving.enter_context(watching(lambda: self._shown))
            print(f"Watch the device: {self.address}", flush=True)

    def close(self) -> None:
        """Closes the page."""
        if self._serving is not None:
            self._serving.close()
        self.address, self._serving = "", None
