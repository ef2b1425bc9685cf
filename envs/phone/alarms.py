"""What Android's alarm service knows: when apps are to be woken."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class Wakeup:
    """A moment at which an app is to be woken.

    Attributes:
        at: The moment on the phone's clock.
        action: The action of the intent that wakes it.
        told: Whether it is an alarm clock's, which Android shows to the user.
    """

    at: datetime
    action: str
    told: bool = False


def formatted(at: datetime, half_days: bool) -> str:
    """Returns the moment of an alarm clock as Android's settings have it: Mon 07:30, or Mon 7:30 AM."""
    return at.strftime("%a %-I:%M %p" if half_days else "%a %H:%M")
