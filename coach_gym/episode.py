"""What a roll-out leaves behind: episodes of steps, each with the candidates that were drawn in its state."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass
class Candidate:
    """One response drawn from the policy.

    Attributes:
        text: The response as the model wrote it, in its own dialect.
        token_ids: Its tokens, with the end-of-turn token if that was drawn.
        logprobs: Log-probability of each token under the distribution it was drawn from, same length.
    """

    text: str
    token_ids: list[int]
    logprobs: list[float]


@dataclass
class Observation:
    """What the agent sees in one state.

    Attributes:
        screenshot: Pixels, (height, width, 3) uint8.
        ui: Compact screen text, as :func:`coach_gym.ui.compress` writes it.
        last_action_error: Why the last action did nothing, ``""`` if it was carried out.
    """

    screenshot: np.ndarray
    ui: str = ""
    last_action_error: str = ""


@dataclass
class Step:
    """One state, the k candidates drawn in it, and what became of the one that was executed.

    Attributes:
        observation: The state.
        candidates: The k responses, independent draws of one policy.
        executed: Index of the candidate that went to the environment.
        action: The text that the environment was given.
        process_reward: The process reward model's verdict on the executed candidate, None if unknown.
        return_: Return from this state on, None until it is computed.
        version: Updates that the policy had seen when the candidates were drawn.
        judged: Whether the process reward model was asked.
    """

    observation: Observation
    candidates: list[Candidate]
    executed: int
    action: str
    process_reward: float | None = None
    return_: float | None = None
    version: int = 0
    judged: bool = False


@dataclass
class Episode:
    """One attempt at a goal.

    Attributes:
        goal: The instruction.
        steps: Its states in order.
        outcome: The task's verdict, 0 to 1, None if there is none.
        fault: What broke in the environment, None if nothing did.
        task: Name of the task family.
        params: Parameters of the task instance.
        answer: What the agent answered when it finished, None if it did not.
    """

    goal: str
    steps: list[Step] = field(default_factory=list)
    outcome: float | None = None
    fault: str | None = None
    task: str = ""
    params: dict[str, Any] = field(default_factory=dict)
    answer: str | None = None

    @property
    def length(self) -> int:
        """Number of steps."""
        return len(self.steps)

    @property
    def success(self) -> bool:
        """Whether the task was fully solved."""
        return self.outcome is not None and self.outcome >= 1.0

    @property
    def learnable(self) -> bool:
        """Whether the episode says anything about the agent: nothing broke and the outcome is known."""
        return self.fault is None and self.outcome is not None
