"""A plugin for pytest that runs the tests of clients of adb against a phone whose ports are in the environment.

It leaves out what cannot apply to the embedded phone, each with its reason, and tells pure-python-adb's tests, which
know only the default addresses, where the phone is.
"""

from __future__ import annotations

import json
import os

import adbutils
import pytest

LEFT_OUT = "COACH_CONFORMANCE_LEFT_OUT"
"""The variable with the reasons in JSON: by test, as `file.py::test`, and by fixture, as `@fixture`."""

OMITTED = "left out: "
"""How the messages begin with which tests are left out."""

ADDRESSES = "COACH_CONFORMANCE_ADDRESSES"
"""The variable with the addresses in JSON, by their names in a `conftest.py`."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Marks the tests that are left out, and sets the addresses."""
    reasons = json.loads(os.environ[LEFT_OUT])
    addresses = json.loads(os.environ[ADDRESSES])
    for module in config.pluginmanager.get_plugins():
        for name, value in addresses.items():
            if name in vars(type(module)) | getattr(module, "__dict__", {}):
                setattr(module, name, value)
    for item in items:
        test = f"{item.path.name}::{item.name.partition('[')[0]}"
        fixtures = getattr(item, "fixturenames", ())
        reason = reasons.get(test) or next((reasons[f"@{name}"] for name in fixtures if f"@{name}" in reasons), None)
        if reason is not None:
            item.add_marker(pytest.mark.skip(reason=f"{OMITTED}{reason}"))
        module = getattr(item, "module", None)
        if isinstance(getattr(module, "adb", None), adbutils.AdbClient):  # a client of adb's usual port
            module.adb = adbutils.AdbClient(port=addresses["adb_port"])
