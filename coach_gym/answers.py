"""What an environment's reset or step has returned: whether it is what Gymnasium asks for."""

import math
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any

from gymnasium import spaces

from coach_gym.checks import is_finite
from coach_gym.spaces import misfit


def wrong_reset(answer: Any, space: spaces.Space[Any]) -> str | None:
    """Returns what is wrong with what `reset` has returned; None if nothing is."""
    if not isinstance(answer, tuple | list) or len(answer) != 2:
        return f"reset returned {_kind(answer)}, not an observation and an info"
    observation, info = answer
    return misfit(observation, space) or _wrong_info(info)


def wrong_step(answer: Any, space: spaces.Space[Any]) -> str | None:
    """Returns what is wrong with what `step` has returned; None if nothing is."""
    if not isinstance(answer, tuple | list) or len(answer) != 5:
        return f"step returned {_kind(answer)}, not an observation, reward, terminated, truncated and an info"
    observation, reward, terminated, truncated, info = answer
    if wrong := misfit(observation, space):
        return wrong
    if wrong := wrong_reward(reward):
        return wrong
    for name, value in (("terminated", terminated), ("truncated", truncated)):
        if not isinstance(_plain(value), Integral):
            return f"{name}={value!r:.60} is of type {type(value).__name__}, not a bool"
    return _wrong_info(info)


def wrong_reward(reward: Any) -> str | None:
    """Returns what is wrong with the reward of a step; None if nothing is."""
    if not isinstance(_plain(reward), Real):
        return f"the reward {reward!r:.60} is of type {type(reward).__name__}, not a number"
    return None if is_finite(reward) else f"the reward is {reward!r:.60}, which is no finite number"


def wrong_params(info: Mapping[str, Any]) -> str | None:
    """Returns what is wrong with the parameters in the info of a reset; None if nothing is."""
    params = info.get("params", {})
    return None if isinstance(params, Mapping) else f"info['params']={params!r:.60} is no dict"


def wrong_verdict(info: Mapping[str, Any]) -> str | None:
    """Returns what is wrong with the verdict in the info of a last step; None if nothing is, also without any."""
    verdict = info.get("is_success")
    value = _plain(verdict)
    if verdict is None or (isinstance(value, Real) and not math.isnan(value)):
        return None
    return f"info['is_success']={verdict!r:.60} is no verdict, which is True, False or None"


def has_verdict(info: Mapping[str, Any]) -> bool:
    """Whether an episode that is over has a verdict: no device has failed, and a rule or a judge has decided."""
    return "fault" not in info and info.get("is_success", False) is not None and wrong_verdict(info) is None


def _wrong_info(info: Any) -> str | None:
    return None if isinstance(info, dict) else f"the info is of type {type(info).__name__}, not a dict"


def _plain(value: Any) -> Any:
    """Returns the number in NumPy's and PyTorch's scalars."""
    return value.item() if getattr(value, "shape", None) == () else value


def _kind(answer: Any) -> str:
    return f"{len(answer)} values" if isinstance(answer, tuple | list) else f"a {type(answer).__name__}"
