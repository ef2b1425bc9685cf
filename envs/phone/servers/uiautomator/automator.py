"""uiautomator's methods by name."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from coach_gym.envs.phone.patterns import TooSlow
from coach_gym.envs.phone.phone import Phone
from coach_gym.envs.phone.servers.uiautomator.device import Device
from coach_gym.envs.phone.servers.uiautomator.errors import RpcError
from coach_gym.envs.phone.servers.uiautomator.finder import Finder
from coach_gym.envs.phone.servers.uiautomator.gestures import Gestures
from coach_gym.envs.phone.servers.uiautomator.lists import Lists
from coach_gym.envs.phone.servers.uiautomator.objects import Objects
from coach_gym.envs.phone.servers.uiautomator.text import Texts

_PATIENT = ("waitForExists", "waitUntilGone")  # let others work the phone meanwhile


class UiAutomator:
    """Calls methods by name, with arguments that came over the wire.

    Args:
        phone: The phone.
        lock: Held by whoever works the phone; one thread may take it twice.

    Attributes:
        methods: What clients can call, by the protocol's names.
    """

    def __init__(self, phone: Phone, lock: AbstractContextManager) -> None:
        self._lock, self._device, finder = lock, Device(phone), Finder(phone)
        lists = Lists(phone, finder)
        parts = (self._device, Gestures(phone, finder), Texts(phone, finder), lists, Objects(finder, lists, lock))
        self.methods: dict[str, Callable[..., Any]] = {
            name: getattr(part, name) for part in parts for name in vars(type(part)) if "_" not in name
        }

    def call(self, name: str, params: Any) -> Any:
        """Returns what a method returns, as plain data for JSON.

        Args:
            name: The method.
            params: A list of arguments, or arguments by name; None for none.

        Raises:
            RpcError: There is no such method, its arguments are wrong, or it failed.
        """
        method = self.methods.get(name)
        if method is None:
            raise RpcError(-32601, f"method not found: {name[:60]}")
        args, kwargs = (params, {}) if isinstance(params, list) else ([], params or {})
        try:
            inspect.signature(method).bind(*args, **kwargs)
            if name in _PATIENT:
                return method(*args, **kwargs)
            with self._lock:
                self._device.notice_message()
                result = method(*args, **kwargs)
                self._device.notice_message()
                return result
        except (TypeError, ValueError, KeyError, OverflowError, AttributeError, TooSlow) as error:
            logging.debug("uiautomator: %s%r", name, params, exc_info=True)
            raise RpcError(-32602, f"invalid arguments of {name}: {error!r}"[:500]) from error
