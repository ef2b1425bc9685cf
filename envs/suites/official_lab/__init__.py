"""AndroidLab as its authors publish it: the 138 tasks and judges of the user's checkout, run by our controller.

    suite = official_lab.suite("~/Android-Lab", judges="fixed")
    env = gym.make("AndroidLab-v0", suite=suite)

With `gym.make("AndroidLab-v0", suite="official")` the checkout is the one that COACH_ANDROID_LAB names.
"""

from __future__ import annotations

import os
from typing import Literal

from coach_gym.envs.profiles import ANDROID_LAB
from coach_gym.envs.suites.official_lab import checkout
from coach_gym.envs.suites.official_lab.answers import same_answer
from coach_gym.envs.suites.official_lab.fixed import fix
from coach_gym.envs.suites.official_lab.task import AnswerJudge, family
from coach_gym.envs.suites.suite import Suite

Judges = Literal["upstream", "fixed"]


def suite(
    path: str | os.PathLike[str] | None = None,
    judges: Judges = "upstream",
    answer_judge: AnswerJudge | None = same_answer,
) -> Suite:
    """Returns the official suite.

    Args:
        path: The checkout's folder; None for the one that the environment variable COACH_ANDROID_LAB names.
        judges: `"upstream"` for the judges as published; `"fixed"` to mend those that contradict their task.
        answer_judge: Says whether an answer is right, from the question, the answer and upstream's standard
            answer. The default compares the words. To have a language model judge, as the benchmark's authors
            do, pass a function that asks it; when it raises, the episode ends as a fault, without a verdict. None
            leaves episodes with an answer without a verdict, to the agent's outcome verifier.

    Raises:
        UsageError: There is no checkout there, or it cannot be loaded.
    """
    if judges not in ("upstream", "fixed"):
        raise ValueError(f"judges={judges!r} is unknown; choose 'upstream' or 'fixed'")
    definitions = checkout.load(checkout.find(path))
    if judges == "fixed":
        definitions = tuple(map(fix, definitions))
    families = {definition.id: family(definition, answer_judge) for definition in definitions}
    return Suite("android_lab", "official", families, ANDROID_LAB)
