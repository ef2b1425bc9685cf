"""Demonstrations in AndroidControl's format, and a policy whose responses a test writes."""

from collections import Counter

from coach_gym.agents.models.policy import Policy
from coach_gym.data.android_control import convert
from tests.agents import tiny
from tests.coach_gym.data.published import SCREEN, demonstration, write_shard

assert SCREEN == tiny.SCREEN  # so that the tiny policy's coordinates are pixels
CLICK = {"action_type": "click", "x": 35, "y": 70}


def episodes(folder, number=4, actions=(CLICK,)):
    """Writes a folder of successful demonstrations with these actions and `finished()`."""
    folder.mkdir(parents=True, exist_ok=True)
    shown = [demonstration(i, list(actions), f"Save note {i}") for i in range(number)]
    write_shard(folder / "android_control-00000-of-00020", shown)
    return convert(folder, folder / "episodes").path


class Scripted:
    """A generator that gives the same responses to every prompt.

    Attributes:
        calls: Numbers of prompts in every call.
        fails_at: The call that raises.
    """

    def __init__(self, policy: Policy, *texts: str) -> None:
        self.policy = policy
        self.texts = texts
        self.calls: list[int] = []
        self.fails_at = -1

    def sample(self, prompts, k=1, temperature=1.0, max_new_tokens=512, greedy=False, on_first=None):
        if len(self.calls) == self.fails_at:
            raise KeyboardInterrupt
        self.calls.append(len(prompts))
        tokens = [self.policy.chat.encode_text(text) for text in self.texts]
        return [[self.policy.candidate([*ids, self.policy.eos], [0.0] * (len(ids) + 1)) for ids in tokens[:k]]
                for _ in prompts]  # fmt: skip

    def sleep(self):
        pass


def tally(labels):
    return Counter((label.step, label.response, label.good) for label in labels)
