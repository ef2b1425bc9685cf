"""The result of a roll-out: episodes of steps, each with the candidates sampled in its state."""

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from coach_gym.protocols import ForkableEnv


@dataclass
class Candidate:
    """A response sampled from the policy.

    Attributes:
        text: The response as the model wrote it, in its own dialect.
        token_ids: Its tokens, including the end-of-turn token if that was sampled.
        logprobs: Log-probability of each token under the distribution that it was sampled from.
        return_: Return measured without executing it in this episode, for example on a fork; None if unknown.
        q: The critic's estimate when the agent learned from it; None if no critic was asked.
        advantage: Its advantage in that update; None if there was none.
    """

    text: str
    token_ids: list[int]
    logprobs: list[float]
    return_: float | None = None
    q: float | None = None
    advantage: float | None = None


@dataclass
class Observation:
    """What the agent sees in a state.

    Attributes:
        screenshot: Pixels, (height, width, 3) uint8.
        ui: Compact screen text, as `coach_gym.ui.compress` writes it.
        last_action_error: Why the last action did nothing; `""` if it was carried out.
    """

    screenshot: np.ndarray
    ui: str = ""
    last_action_error: str = ""

    def _repr_png_(self) -> bytes:
        from coach_gym.recording.png import encode_png

        return encode_png(self.screenshot)


@dataclass
class Step:
    """A state, its k candidates, and what happened to the one that was executed.

    Attributes:
        observation: The state.
        candidates: The k responses, sampled from one policy.
        executed: Index of the candidate that the environment received.
        action: The text that the environment received.
        process_reward: Verdict of the process reward model on the executed candidate; None if unknown.
        return_: Return from this state on; None until it is computed.
        version: Number of updates the policy had received when the candidates were sampled.
        judged: Whether the process reward model has been asked.
        reasoning: Why it gave this verdict; `""` if it did not say.
        time: When the action was taken, in seconds since 1970.
        env: A fork of the environment in this state; None unless roll-outs keep forks.
    """

    observation: Observation
    candidates: list[Candidate]
    executed: int
    action: str
    process_reward: float | None = None
    return_: float | None = None
    version: int = 0
    judged: bool = False
    reasoning: str = ""
    time: float = field(default_factory=time.time, compare=False)
    env: ForkableEnv | None = None


@dataclass
class Episode:
    """An attempt at a goal.

    Attributes:
        goal: The instruction.
        steps: Its states in order.
        outcome: The task's verdict from 0 to 1; None if there is none.
        fault: What broke in the environment; None if nothing did.
        task: Name of the task family.
        params: Parameters of the task instance.
        answer: The agent's answer; None if it did not finish.
        seed: The seed that the environment was reset with; None if unknown.
        last: The state after the last step; None if unknown.
    """

    goal: str
    steps: list[Step] = field(default_factory=list)
    outcome: float | None = None
    fault: str | None = None
    task: str = ""
    params: dict[str, Any] = field(default_factory=dict)
    answer: str | None = None
    seed: int | None = None
    last: Observation | None = None

    @property
    def length(self) -> int:
        """The number of steps."""
        return len(self.steps)

    @property
    def success(self) -> bool:
        """Whether the task was solved completely."""
        return self.outcome is not None and self.outcome >= 1.0

    @property
    def learnable(self) -> bool:
        """Whether the agent may learn from this episode: nothing broke and the outcome is known."""
        return self.fault is None and self.outcome is not None

    def _repr_png_(self) -> bytes | None:
        from coach_gym.recording.notebook import png
        from coach_gym.recording.strip import episode_strip

        return png(episode_strip(self)) if self.steps else None
