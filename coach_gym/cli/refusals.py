"""What is wrong in what a user passed, told in a sentence instead of a traceback."""

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import gymnasium as gym

from coach_gym.checks import ServerError, WrongType
from coach_gym.envs.errors import DeviceError, TaskError


def path(word: str) -> Path:
    """Returns the path of an option, which argparse refuses if it is empty: it would be that of the current folder.

    Raises:
        argparse.ArgumentTypeError: It is.
    """
    if not word:
        raise argparse.ArgumentTypeError("the path is empty; pass . for the current folder")
    return Path(word)


@contextmanager
def refusing() -> Iterator[None]:
    """Ends the program with the message of an error in arguments, files, ids or addresses.

    A mistake in the code of the user's own task or app keeps its traceback, which says where it is.
    """
    try:
        yield
    except TaskError:
        raise
    except (ValueError, WrongType, OSError, ImportError, gym.error.Error, DeviceError, ServerError) as error:
        sys.exit(str(error))
