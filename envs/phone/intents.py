"""Intents: how one app asks another to show something, and what broadcasts carry."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

ACTION = "android.intent.action."
MAIN, VIEW, EDIT, INSERT, INSERT_OR_EDIT, GET_CONTENT, OPEN_DOCUMENT, WEB_SEARCH, SEND, SENDTO, DIAL, CALL = (
    ACTION + name
    for name in (
        "MAIN", "VIEW", "EDIT", "INSERT", "INSERT_OR_EDIT", "GET_CONTENT", "OPEN_DOCUMENT", "WEB_SEARCH", "SEND",
        "SENDTO", "DIAL", "CALL",
    )
)  # fmt: skip
CATEGORY = "android.intent.category."
HOME, LAUNCHER, DEFAULT = f"{CATEGORY}HOME", f"{CATEGORY}LAUNCHER", f"{CATEGORY}DEFAULT"
EXTRA_TEXT = "android.intent.extra.TEXT"

OK, CANCELED = -1, 0
"""Result codes of broadcasts: those of `android.app.Activity`."""

Answer = tuple[int, str | None]
"""What a broadcast comes back with: the result code and the result data."""


@dataclass(frozen=True)
class Intent:
    """A request to an app.

    Attributes:
        action: A name such as `android.intent.action.VIEW`; empty if only a component is given.
        data: A URI such as `sms:5551234`.
        type: MIME type of the data.
        package: The app that is meant; empty for any.
        activity: Full class name in that package; empty if not given.
        categories: Names such as `android.intent.category.HOME`.
        extras: Further values by name.
        flags: The bits of Android's flags; what apps do does not depend on them.
    """

    action: str = ""
    data: str = ""
    type: str = ""
    package: str = ""
    activity: str = ""
    categories: tuple[str, ...] = ()
    extras: Mapping[str, object] = field(default_factory=dict)
    flags: int = 0

    @property
    def path(self) -> str:
        """The data without its scheme: the number of `tel:1234`, the path of `file:///sdcard/a.png`."""
        rest = self.data.partition(":")[2]
        return rest[2:] if rest.startswith("//") else rest

    def extra(self, name: str) -> str:
        """Returns an extra as text; empty if it is missing."""
        return str(self.extras.get(name, ""))
