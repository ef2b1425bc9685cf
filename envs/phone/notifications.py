"""What apps put into the notification shade."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass
class Notification:
    """An entry of the notification shade.

    Attributes:
        package: The app that posted it.
        title: Its first line.
        text: Its second line.
        when: When it was posted, by the phone's clock.
        then: Called after the app was opened by a touch on the entry.
        tag: Its name, if any: a later entry of the app with the same tag takes its place.
    """

    package: str
    title: str
    text: str
    when: datetime
    then: Callable[[], Any] | None = None
    tag: str | None = None
