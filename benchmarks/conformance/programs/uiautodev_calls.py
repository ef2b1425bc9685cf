"""Asks uiautodev's server everything it knows about an Android phone, and prints the outcomes as JSON.

Its application is called in this process, as its own tests do. Each row is a request, its outcome and why it failed.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from typing import Any

import adbutils
from fastapi.testclient import TestClient
from uiautodev.app import app

CONTACTS = "com.google.android.contacts"
INSTALLED = "code.name.monkey.retromusic"
Check = Callable[[Any], bool]


def calls() -> Iterator[tuple[str, str, dict[str, Any] | None, Check]]:
    """Yields method, path behind the phone's serial, body, and what must hold of the answer."""
    done: Check = lambda answer: answer.status_code == 200  # noqa: E731
    for command in ("home", "wakeUp", "volumeUp", "volumeDown", "volumeMute", "appSwitch", "back"):
        yield "POST", f"command/{command}", None, done
    yield "POST", "command/appLaunch", {"package": CONTACTS, "stop": True}, done
    yield "GET", "command/currentApp", None, lambda answer: answer.json()["package"] == CONTACTS
    yield "POST", "command/getWindowSize", None, lambda answer: answer.json() == {"width": 1080, "height": 2400}
    yield "GET", "screenshot/0", None, lambda answer: answer.content[:2] == b"\xff\xd8"
    yield "GET", "hierarchy", None, lambda answer: answer.json()["name"] == "hierarchy"
    yield "GET", "hierarchy?format=xml", None, lambda answer: "Create contact" in answer.text
    yield "POST", "command/dump", None, lambda answer: "Create contact" in answer.json()["value"]
    find = {"by": "text", "value": "Create contact", "timeout": 5}
    yield "POST", "command/findElements", find, done
    yield "POST", "command/tap", {"x": 0.5, "y": 0.5, "isPercent": True}, done
    yield "POST", "command/sendKeys", {"text": "Ada"}, done
    yield "POST", "command/clearText", None, done
    yield "POST", "command/appList", None, lambda answer: any(app["packageName"] == INSTALLED for app in answer.json())
    yield "POST", "command/appTerminate", {"package": CONTACTS}, done
    yield "GET", f"backupApp?packageName={CONTACTS}", None, done


def ask_all() -> None:
    """Makes every request through both drivers."""
    serial = adbutils.adb.device_list()[0].serial
    rows = []
    with TestClient(app) as client:

        def ask(name: str, method: str, path: str, body: dict[str, Any] | None, check: Check) -> None:
            try:
                answer = client.request(method, path, json=body)
                good, why = check(answer), f"{answer.status_code}: {answer.text[:150]}"
            except Exception as error:  # what the server raises is the outcome
                good, why = False, f"{type(error).__name__}: {error}"[:150]
            rows.append((name, "passed" if good else "failed", "" if good else why))

        ask("list", "GET", "/api/android/list", None, lambda answer: answer.json()[0]["serial"] == serial)
        for driver in ("android", "android_adb"):
            for method, path, body, check in calls():
                ask(f"{driver} {path}", method, f"/api/{driver}/{serial}/{path}", body, check)
        shell = {"command": "echo ok"}
        ask("shell", "POST", f"/api/android/{serial}/shell", shell, lambda answer: answer.json()["output"] == "ok")
        ask(
            "current_activity", "GET", f"/api/android/{serial}/current_activity", None, lambda answer: bool(answer.text)
        )
    json.dump(rows, sys.stdout)


if __name__ == "__main__":
    ask_all()
