"""Cutting, copying and pasting the text of the field with the cursor."""

from __future__ import annotations

from coach_gym.envs.phone.app import Host


def cut(phone: Host) -> None:
    """Moves the text of the focused field to the clipboard."""
    copy(phone)
    if phone.focus is not None:
        phone.focus.set("")


def copy(phone: Host) -> None:
    """Copies the text of the focused field to the clipboard."""
    if phone.focus is not None:
        phone.clipboard = phone.focus.text


def paste(phone: Host) -> None:
    """Inserts the clipboard's text at the cursor, or in place of the selection."""
    if phone.focus is not None:
        phone.focus.insert(phone.clipboard)
