"""Cutting, copying, pasting and selecting the text of the field with the cursor."""

from __future__ import annotations

from coach_gym.envs.phone.app import Host
from coach_gym.envs.phone.system.host import SystemHost


def cut(phone: Host) -> None:
    """Moves what is selected in the focused field to the clipboard."""
    copy(phone)
    if phone.focus is not None and phone.focus.selected:
        phone.focus.delete()


def copy(phone: Host) -> None:
    """Copies what is selected in the focused field to the clipboard."""
    if phone.focus is not None and phone.focus.selected:
        phone.clipboard = phone.focus.selected


def paste(phone: Host) -> None:
    """Inserts the clipboard's text at the cursor, or in place of the selection."""
    if phone.focus is not None:
        phone.focus.insert(phone.clipboard)


def select_all(phone: SystemHost) -> None:
    """Selects the text of the focused field. The toolbar stays."""
    if phone.focus is not None:
        phone.focus.select_all()
        phone.editing = True
