"""What is wrong in what a user passed, told in a sentence instead of a traceback."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import gymnasium as gym

from coach_gym.checks import WrongType
from coach_gym.envs.errors import DeviceError


@contextmanager
def refusing() -> Iterator[None]:
    """Ends the program with the message of an error in arguments, files, ids or addresses.

    It is for what happens before the work begins: later, a traceback is worth more.
    """
    from coach_gym.agents.generation.vllm.client import GenerationServerError
    from coach_gym.agents.judging.chat import ChatServerError

    try:
        yield
    except (
        ValueError, WrongType, OSError, ImportError, gym.error.Error, DeviceError, ChatServerError,
        GenerationServerError,
    ) as error:  # fmt: skip
        sys.exit(str(error))
