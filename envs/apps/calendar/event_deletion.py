"""The question of what to delete of an event in Simple Calendar Pro."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from coach_gym.envs.apps.calendar import data as calendar_data
from coach_gym.envs.apps.calendar.data import Event
from coach_gym.envs.phone.app import Choice, Confirm, Screen

WAYS = {
    "Only this occurrence": calendar_data.delete_occurrence,
    "This and all future occurrences": calendar_data.delete_from,
    "All occurrences": calendar_data.delete,
}


def ask_to_delete(screen: Screen, events: Sequence[Event], then: Callable[[], Any]) -> None:
    """Asks whether to delete events, and which occurrences of repeated ones; then deletes them and calls `then`."""
    if any(event.interval for event in events):
        screen.push(Choice("Delete repeating event", list(WAYS), partial(_delete, screen, events, then)))
        return
    title = "Delete this event?" if len(events) == 1 else f"Delete {len(events)} events?"
    screen.push(Confirm(title, "", "Yes", partial(_delete, screen, events, then, "All occurrences"), no="No"))


def _delete(screen: Any, events: Sequence[Event], then: Callable[[], Any], way: str) -> None:
    for event in events:
        delete = WAYS[way] if event.interval else calendar_data.delete
        moved = delete is calendar_data.delete_from
        delete(screen.app.db, event.shifted(screen.phone.on_clock) if moved else event)
    then()
