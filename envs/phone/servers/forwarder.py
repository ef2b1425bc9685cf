"""android_env's accessibility forwarder app, which sends what the screen shows to a gRPC server outside the phone.

Broadcasts set the server and switch it on. It runs while it is among the phone's enabled accessibility services, and
its messages get out unless the phone is in airplane mode.
"""

from __future__ import annotations

import threading
from contextlib import AbstractContextManager

import grpc
from android_env.proto.a11y.a11y_pb2 import EventRequest
from android_env.proto.a11y.a11y_pb2_grpc import A11yServiceStub
from android_env.proto.a11y.android_accessibility_forest_pb2 import AndroidAccessibilityForest

from coach_gym.envs.phone.epoch import to_millis
from coach_gym.envs.phone.intents import Intent
from coach_gym.envs.phone.phone import Phone
from coach_gym.envs.phone.servers.accessibility import forest
from coach_gym.ui import Node

PACKAGE = "com.google.androidenv.accessibilityforwarder"
PERIOD = 0.1  # seconds between forests, even of a screen that does not change
TIMEOUT = 1.0  # seconds per message

_ACTION = "accessibility_forwarder.intent.action."
_THIS_MACHINE = ("10.0.2.2", "127.0.0.1", "localhost")  # the first is an emulator's name for its host


class Forwarder:
    """The forwarder app of one phone.

    Args:
        phone: The phone.
        lock: Held by whoever works the phone; one thread may take it twice.
    """

    def __init__(self, phone: Phone, lock: AbstractContextManager) -> None:
        self._phone, self._lock = phone, lock
        self._trees = False
        self._target: tuple[str, int] | None = None
        self._seen: Node | None = None
        self._foreground = ""
        self._forest = AndroidAccessibilityForest()
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    def broadcast(self, intent: Intent) -> None:
        """Handles a broadcast if it is meant for this app.

        Args:
            intent: With an action such as `accessibility_forwarder.intent.action.SET_GRPC`, whose extras are `host` and
                `port`. Only this machine can be reached.
        """
        match intent.action.partition(_ACTION)[2]:
            case "ENABLE_ACCESSIBILITY_TREE_LOGS":
                self._trees = True
            case "DISABLE_ACCESSIBILITY_TREE_LOGS":
                self._trees = False
            case "SET_GRPC":
                self._aim(intent.extra("host") or "10.0.2.2", int(intent.extra("port") or 0))

    def stop(self) -> None:
        """Stops sending."""
        self._stopped.set()
        if self._thread is not None:
            self._thread.join()

    def _aim(self, host: str, port: int) -> None:
        self._target = (host, port) if host in _THIS_MACHINE and 0 < port < 1 << 16 else None
        if self._target and self._thread is None:
            self._thread = threading.Thread(target=self._run, name="accessibility-forwarder", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        while not self._stopped.is_set():
            target = self._target
            if target is None:
                self._stopped.wait(PERIOD)
                continue
            with grpc.insecure_channel(f"127.0.0.1:{target[1]}", [("grpc.enable_http_proxy", 0)]) as channel:
                stub = A11yServiceStub(channel)
                while self._target == target and not self._stopped.wait(PERIOD):
                    if not self._send(stub):
                        break

    def _send(self, stub: A11yServiceStub) -> bool:
        """Sends the latest event and forest. Returns False if nobody listens."""
        with self._lock:
            if not self._awake():
                return True
            event = self._look()
        try:
            if event is not None:
                stub.SendEvent(EventRequest(event=event), timeout=TIMEOUT)
            if self._trees:
                stub.SendForest(self._forest, timeout=TIMEOUT)
        except grpc.RpcError:
            return False
        return True

    def _awake(self) -> bool:
        settings = self._phone.storage.settings
        enabled = PACKAGE in settings.get(("secure", "enabled_accessibility_services"), "")
        return enabled and settings.get(("global", "airplane_mode_on")) != "1"

    def _look(self) -> dict[str, str] | None:
        """Looks at the screen. Returns the accessibility event of its change, or None."""
        root = self._phone.ui()
        if root == self._seen:
            return None
        kind = "TYPE_WINDOW_CONTENT_CHANGED" if root.package == self._foreground else "TYPE_WINDOW_STATE_CHANGED"
        self._seen, self._foreground, self._forest = root, root.package, forest(root)
        millis = to_millis(self._phone.now)
        return {"event_type": kind, "event_package_name": root.package, "event_timestamp_ms": str(millis)}
