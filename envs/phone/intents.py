"""Intents: how one app asks another to show something, and how `am start` asks any of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from coach_gym.envs.phone.phone import Phone

ACTION = "android.intent.action."
MAIN, VIEW, INSERT, SEND, SENDTO, DIAL, CALL = (
    ACTION + name for name in ("MAIN", "VIEW", "INSERT", "SEND", "SENDTO", "DIAL", "CALL")
)
HOME = "android.intent.category.HOME"


@dataclass(frozen=True)
class Intent:
    """What is asked for.

    Attributes:
        action: such as ``android.intent.action.VIEW``; empty if only a component is named.
        data: a URI, such as ``sms:5551234``.
        type: the MIME type of what it is about.
        package: of the app that is meant; empty if any will do.
        activity: full class name in that package; empty if not given.
        extras: further values by name.
    """

    action: str = ""
    data: str = ""
    type: str = ""
    package: str = ""
    activity: str = ""
    categories: tuple[str, ...] = ()
    extras: Mapping[str, object] = field(default_factory=dict)

    @property
    def path(self) -> str:
        """The data without its scheme: the number of `tel:1234`, the path of `file:///sdcard/a.png`."""
        rest = self.data.partition(":")[2]
        return rest[2:] if rest.startswith("//") else rest

    def extra(self, name: str) -> str:
        """An extra as text; empty if there is none."""
        return str(self.extras.get(name, ""))


def start(phone: Phone, intent: Intent) -> str | None:
    """Shows what an intent asks for, in the first app that has a use for it.

    Returns:
        The package of that app, or None if there is none.
    """
    if intent.action == MAIN and HOME in intent.categories and not intent.package:
        phone.go_home()
        return phone.launcher.package
    if intent.package:
        if intent.package == phone.launcher.package:
            phone.go_home()
        elif intent.package not in phone.apps:
            return None
        elif not phone.apps[intent.package].open(intent):
            phone.launch(intent.package)
        return intent.package
    return next((app.package for app in phone.apps.values() if app.open(intent)), None)
