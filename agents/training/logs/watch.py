"""The devices of a training in the browser, to watch."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

from coach_gym.agents.training.callbacks import BaseCallback
from coach_gym.checks import require_port

if TYPE_CHECKING:
    from coach_gym.live.watching import Shown


class WatchCallback(BaseCallback):
    """Shows all devices of the training on a page: screen, goal, steps and last action. Needs `coach-gym[view]`.

    The page asks for what it shows, so it costs nothing while nobody looks. It takes no commands, and is served on the
    loopback interface alone. With several processes, each has a page of its own devices.

    Args:
        port: Port of the page; 0 takes a free one.
        verbose: 1 prints the address.

    Attributes:
        address: Address of the page while the training runs.
    """

    def __init__(self, port: int = 0, verbose: int = 1) -> None:
        super().__init__(verbose)
        require_port(port=port)
        self.port = port
        self.address = ""
        self._serving = ExitStack()

    def _on_training_start(self) -> None:
        from coach_gym.live.watching import watching

        self.address = self._serving.enter_context(watching(self._look, self.port))
        if self.verbose >= 1:
            print(f"Watch the devices: {self.address}", flush=True)

    def _on_training_end(self) -> None:
        self._serving.close()
        self.address = ""

    def _look(self) -> list[Shown]:
        from coach_gym.live.watching import Shown

        return [
            Shown(
                attempt.index, attempt.episode.goal, attempt.episode.task, attempt.length,
                attempt.episode.steps[-1].action if attempt.episode.steps else "", attempt.observation.screenshot,
            )
            for attempt in self.model.in_progress
        ]  # fmt: skip
