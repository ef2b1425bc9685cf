"""What a command checks of an environment before its work begins."""

from collections.abc import Mapping
from importlib import import_module
from inspect import Parameter, signature
from typing import Any

import gymnasium as gym
from gymnasium.envs.registration import load_env_creator

from coach_gym.checks import require_known
from coach_gym.envs.devices.reachable import require_reachable


def check_environment(env: str, settings: Mapping[str, Any], vector: bool = False) -> None:
    """Checks that an environment takes its settings, and that its device is there.

    Args:
        env: Id of the environment, with or without the module that registers it.
        settings: Its arguments.
        vector: Whether `gym.make_vec` takes them, not `gym.make`.

    Raises:
        ImportError: There is no such module before the id.
        TypeError: It has no such argument, or the device is no text.
        ValueError: There is no such kind of device.
        DeviceError: The device is not there.
        gymnasium.error.Error: There is no such environment.
    """
    module, _, name = env.rpartition(":")
    if module:
        import_module(module)  # which registers it
    spec = gym.spec(name)
    entry = spec.vector_entry_point if vector and spec.vector_entry_point else spec.entry_point
    maker: Any = load_env_creator(entry) if isinstance(entry, str) else entry
    arguments = signature(maker).parameters
    if Parameter.VAR_KEYWORD not in {each.kind for each in arguments.values()}:  # otherwise it checks them itself
        known = [*arguments, *signature(gym.make_vec if vector else gym.make).parameters]
        require_known(maker.__name__, known, settings)
    for part in (settings, settings.get("world"), settings.get("lab")):
        if isinstance(part, Mapping) and "device" in part:
            require_reachable(part["device"])
