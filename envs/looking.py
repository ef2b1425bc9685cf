"""Looks at a device's screen: checked, limited in time, and made once more if they fail."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import Any, TypeVar

import numpy as np

from coach_gym.envs.devices.device import Device
from coach_gym.envs.errors import DeviceError
from coach_gym.ui import Node

LOOK_TIMEOUT = 30.0  # seconds, as adb's own limit; a healthy device answers within one

Answer = TypeVar("Answer")
_log = logging.getLogger(__name__)


def look(device: Device, shape: tuple[int, ...], seconds: float | None) -> tuple[np.ndarray, Node]:
    """Returns the picture and the accessibility tree of a device's screen, each asked for at most twice.

    Args:
        device: The device.
        shape: What the picture's shape must be: height, width, 3.
        seconds: How long an answer may take; None to wait in this thread for as long as it takes.

    Raises:
        Exception: What the device raised the second time; `DeviceError` if it gave no answer, no picture or no tree.
    """
    picture = asked_again(lambda: _within(seconds, partial(_picture, device, shape)))
    return picture, asked_again(lambda: _within(seconds, partial(_tree, device)))


def asked_again(read: Callable[[], Answer]) -> Answer:
    """Returns what a device shows; one that fails once is asked again, because looking changes nothing."""
    try:
        return read()
    except Exception as error:
        _log.info("a device failed to be read and is asked again: %s: %s", type(error).__name__, error)
        return read()


def _within(seconds: float | None, read: Callable[[], Answer]) -> Answer:
    """Returns what a device shows, unless that takes too long; an answer that comes later is dropped.

    Nothing ends a wait inside a driver from outside, so it waits in a thread of its own, which ends when it does.
    """
    if seconds is None:
        return read()
    answer: Future[Answer] = Future()

    def wait() -> None:
        try:
            answer.set_result(read())
        except BaseException as error:  # also a SystemExit raised by a device's library
            answer.set_exception(error)

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    thread.join(seconds)
    if not answer.done():
        raise DeviceError(f"a look at the screen got no answer in {seconds:g} s")
    return answer.result()


def _picture(device: Device, shape: tuple[int, ...]) -> np.ndarray:
    """Returns the screen of a device.

    Raises:
        DeviceError: It is of another shape or type.
    """
    picture: Any = device.screenshot()
    if not isinstance(picture, np.ndarray) or picture.shape != shape or picture.dtype != np.uint8:
        kind = f"{picture.shape} of {picture.dtype}" if isinstance(picture, np.ndarray) else type(picture).__name__
        raise DeviceError(f"the screenshot is {kind} and not {shape} of uint8, as was agreed")
    return picture


def _tree(device: Device) -> Node:
    """Returns the accessibility tree of a device's screen.

    Raises:
        DeviceError: It is none.
    """
    tree: Any = device.ui()
    if not isinstance(tree, Node):
        raise DeviceError(f"the accessibility tree is of type {type(tree).__name__} and not a Node")
    return tree
