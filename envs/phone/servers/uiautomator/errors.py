"""Errors that clients of uiautomator are told."""

from __future__ import annotations

from typing import Any


class RpcError(Exception):
    """A call that failed, with JSON-RPC's code."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class NotFound(RpcError):
    """No node on the screen fits the selector."""

    def __init__(self, what: Any) -> None:
        super().__init__(-32001, f"androidx.test.uiautomator.UiObjectNotFoundException: {str(what)[:500]}")
