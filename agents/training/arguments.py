"""Constructor arguments of agents: shown in full, checked before anything is loaded, and kept for saving.

The constructors of the methods pass the settings that they share on to their base classes as
`**shared: Unpack[...]`. mypy and editors expand that by themselves; `checked_arguments` does the same for `help()`.
"""

import inspect
import sys
from collections.abc import Callable, Mapping
from functools import wraps
from inspect import Parameter, Signature
from numbers import Integral, Real
from pathlib import Path
from types import UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin

from coach_gym.agents.distributed import processes
from coach_gym.agents.models import training_settings
from coach_gym.agents.models.policy import SHIPPED
from coach_gym.checks import LARGEST, LARGEST_NUMBER, WrongType, float_or_infinite, is_finite, require_known

Constructor = TypeVar("Constructor", bound=Callable[..., None])

_WORDS = {int: "a whole number", float: "a number", bool: "True or False", str: "text", type(None): "None"}


def checked_arguments(base: type | None = None) -> Callable[[Constructor], Constructor]:
    """Decorates the constructor of an agent.

    Names and types of all arguments are checked before the constructor runs, its signature lists what `**shared`
    stands for, and `self.arguments` keeps the arguments of the outermost constructor, defaults included. Defaults are
    those in the directory of the policy, if it has any (`training_settings.py`), else those of the signature.

    Args:
        base: The class whose constructor takes the `**shared` arguments.
    """

    def decorate(init: Constructor) -> Constructor:
        signature = _expanded(inspect.signature(init), base)

        @wraps(init)
        def checked(self: Any, *args: Any, **kwargs: Any) -> None:
            require_known(type(self).__name__, [name for name in signature.parameters if name != "self"], kwargs)
            bound = signature.bind(self, *args, **kwargs)
            _, *given = bound.arguments.items()
            for name, value in given:
                _check_type(name, value, signature.parameters[name])
            taken = {} if "arguments" in vars(self) else _of_the_model(type(self), dict(given), signature)
            bound.arguments |= taken
            bound.apply_defaults()
            _, *everything = bound.arguments.items()
            vars(self).setdefault("arguments", dict(everything))
            try:
                init(self, *args, **kwargs, **taken)
            except ValueError as error:
                if taken:
                    error.add_note(f"{_listed(taken)} come with the policy; pass others to replace them")
                raise
            if taken and processes.rank() == 0:
                print(f"{type(self).__name__} takes what comes with the policy: {_listed(taken)}")

        shown: Any = checked
        shown.__signature__ = signature
        return shown

    return decorate


def _expanded(signature: Signature, base: type | None) -> Signature:
    """Replaces `**shared` by the keyword arguments of the base class's constructor."""
    if base is None:
        return signature
    own = [each for each in signature.parameters.values() if each.kind is not Parameter.VAR_KEYWORD]
    names = {each.name for each in own}
    inherited = [each for each in inspect.signature(base).parameters.values() if each.kind is Parameter.KEYWORD_ONLY]
    return signature.replace(parameters=own + [each for each in inherited if each.name not in names])


def _of_the_model(agent: type, given: Mapping[str, Any], signature: Signature) -> dict[str, Any]:
    """Returns the hyper-parameters in the policy's directory that the agent has and that are not given.

    A roll-out that is given, and smaller than the mini-batches in the file, is one mini-batch.
    """
    policy = given["policy"]
    if not isinstance(policy, str | Path):
        return {}
    directory = Path(SHIPPED.get(policy, policy) if isinstance(policy, str) else policy)
    stored = training_settings.read_training_settings(directory)
    for each in reversed(agent.__mro__):
        stored |= stored.get(each.__name__, {})
    taken = {name: value for name, value in stored.items() if name in signature.parameters and name not in given}
    for name, value in taken.items():
        try:
            _check_type(name, value, signature.parameters[name])
        except (TypeError, ValueError) as error:
            raise ValueError(f"{directory / training_settings.NAME}: {error}") from error
    if "batch_size" in given and (taken.get("mini_batch_size") or 0) > max(0, given["batch_size"]):
        del taken["mini_batch_size"]
    return taken


def _listed(arguments: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in arguments.items())


def _check_type(name: str, value: Any, parameter: Parameter) -> None:
    if _fits(value, parameter.annotation):
        return
    default = "" if parameter.default is Parameter.empty else f", for example {parameter.default!r}, the default"
    wanted = f"pass {_describe(parameter.annotation)}{default}"
    kinds = _members(parameter.annotation)
    if isinstance(value, Integral) and abs(int(value)) > LARGEST:
        raise ValueError(f"{name} has {int(value).bit_length()} bits, which is too large; {wanted}")
    if isinstance(value, Real) and not isinstance(value, Integral) and float in kinds:
        wrong = f"too large, the largest is {LARGEST_NUMBER:g}" if is_finite(value) else "not finite"
        raise ValueError(f"{name}={value} is {wrong}; {wanted}")
    if isinstance(value, str) and any(get_origin(kind) is Literal for kind in kinds):
        raise ValueError(f"{name}={value!r} is unknown; {wanted}")
    raise WrongType(f"{name}={value!r} is of type {type(value).__name__}; {wanted}")


def _fits(value: Any, kind: Any) -> bool:
    """Whether a value is of a kind, given as an annotation; of containers and functions only the outside counts."""
    if kind in (Any, Parameter.empty):
        return True
    if get_origin(kind) in (Union, UnionType):
        return any(_fits(value, each) for each in get_args(kind))
    if get_origin(kind) is Literal:
        return value in get_args(kind)
    if kind is float:
        is_number = isinstance(value, Real) and not isinstance(value, bool)
        return is_number and abs(float_or_infinite(value)) <= LARGEST_NUMBER
    if kind is int:
        return isinstance(value, Integral) and not isinstance(value, bool) and abs(int(value)) <= LARGEST
    if get_origin(kind) is Callable:
        return callable(value)
    return isinstance(value, get_origin(kind) or kind)


def _members(kind: Any) -> tuple[Any, ...]:
    return get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)


def _describe(kind: Any) -> str:
    """An annotation in words."""
    words = []
    for each in _members(kind):
        if get_origin(each) is Literal:
            words += [repr(value) for value in get_args(each)]
        elif get_origin(each) is Callable:
            words.append("a function")
        else:
            words.append(_WORDS.get(each, getattr(get_origin(each) or each, "__name__", str(each))))
    return " or ".join(words)


def require_at_least(least: int, **arguments: int | None) -> None:
    """Checks that integers are numbers of something, of at least `least`; None is allowed.

    Raises:
        ValueError: An argument is smaller than `least`, or larger than any number of things in memory.
    """
    for name, value in arguments.items():
        if value is not None and value < least:
            raise ValueError(f"{name}={value} is too small; pass {least} or more")
        if value is not None and value > sys.maxsize:
            raise ValueError(f"{name}={value} is too large; pass {sys.maxsize} or less")


def require_positive(**arguments: float) -> None:
    """Checks that numbers are greater than zero.

    Raises:
        ValueError: An argument is zero or negative.
    """
    for name, value in arguments.items():
        if value <= 0:
            raise ValueError(f"{name}={value} must be positive; pass a number greater than 0")


def require_not_negative(**arguments: float) -> None:
    """Checks that numbers are not less than zero.

    Raises:
        ValueError: An argument is negative.
    """
    for name, value in arguments.items():
        if value < 0:
            raise ValueError(f"{name}={value} must not be negative; pass 0 or more")


def require_share(**arguments: float) -> None:
    """Checks that numbers lie between 0 and 1.

    Raises:
        ValueError: An argument lies outside.
    """
    for name, value in arguments.items():
        if not 0 <= value <= 1:
            raise ValueError(f"{name}={value} must lie between 0 and 1; pass a number in that range")


def require_rehearsal(rehearsal: str | Path | None, max_rehearsed: int | None, imitates: bool = True) -> None:
    """Checks that what is rehearsed can be imitated, and is chosen only where there is something to rehearse.

    Raises:
        ValueError: The number is below 1, there is no folder to choose from, or the agent imitates nothing.
    """
    require_at_least(1, max_rehearsed=max_rehearsed)
    if rehearsal is None and max_rehearsed is not None:
        raise ValueError(
            f"max_rehearsed={max_rehearsed} is a number of successes to rehearse, and rehearsal=None has none; pass a "
            f"folder of episodes, or max_rehearsed=None"
        )
    if rehearsal is not None and not imitates:
        raise ValueError(
            f"rehearsal={str(rehearsal)!r} is imitated with the agent's own successes, and self_imitation=None "
            f"imitates none; pass self_imitation=0 for those of each roll-out alone, or rehearsal=None"
        )


def require_successes(reword: float, max_replayed: int | None, **kept: int | None) -> None:
    """Checks that earlier successes are chosen or put in other words only where some are kept.

    Raises:
        ValueError: The share put in other words lies outside of 0 and 1, the number is below 1, or none are kept.
    """
    require_share(reword=reword)
    require_at_least(1, max_replayed=max_replayed)
    for name, number in kept.items():
        if max_replayed is not None and not number:
            raise ValueError(
                f"max_replayed={max_replayed} is a number of earlier successes, and {name}={number} keeps none; pass "
                f"{name}=400, or max_replayed=None"
            )
        if reword and not number:
            raise ValueError(
                f"reword={reword} puts earlier successes in other words, and {name}={number} keeps none; pass "
                f"{name}=400, or reword=0.0"
            )
