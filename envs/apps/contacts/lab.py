"""Contacts on AndroidLab's phone: a later version, with labels, birthdays and websites.

AndroidLab's judges know its elements by their descriptions.
"""

from __future__ import annotations

from datetime import date
from functools import partial

from coach_gym.envs.apps.contacts import app as usual
from coach_gym.envs.apps.contacts.edition import ORGANIZE, Edition
from coach_gym.envs.apps.google_messages import app as messages
from coach_gym.envs.phone.providers.contacts import Contact, pretty
from coach_gym.envs.phone.toolkit import theme
from coach_gym.envs.phone.toolkit.view import View
from coach_gym.envs.phone.toolkit.widgets import Avatar, ListItem, Text

PEOPLE = (
    Contact("AAA", company="Tsinghua University", phones=[("33445566", "Mobile")], friend="ABC"),
    Contact("ABC", phones=[("22331144", "Mobile")], birthday=date(1996, 10, 24)),
    Contact("Li", phones=[("55667788", "Mobile")], emails=[("22334455@gmail.com", "Work")]),
)


def _person_row(name: str, on_tap: partial, on_long: partial | None, selected: bool) -> View:
    """Makes a row that is one element, called what it shows."""
    return View(
        "android.view.ViewGroup", [Avatar(name), Text(name, 15, important=False)], axis="h", gap=14, align="center",
        text=name, desc=name, on_tap=on_tap, on_long=on_long, selected=selected, pad=(16, 8, 16, 8),
        min_height=theme.ROW_HEIGHT, bg="#d3e3fd" if selected else None,
    )  # fmt: skip


def _number_row(number: str, label: str, on_tap: partial) -> View:
    text = pretty(number)
    return ListItem(text, label, on_tap, desc=f"Call {label} {text}")


def _email_row(address: str, label: str, on_tap: partial) -> View:
    return ListItem(address, label, on_tap, desc=f"Email {label} {address}")


def _photo(name: str) -> View:
    return View("android.widget.ImageView", [Avatar(name)], desc="Contact photo", width=40, height=40)


EDITION = Edition(
    places=(*usual.ANDROID_WORLD.places, ("label_outline", ORGANIZE)),
    person_row=_person_row,
    number_row=_number_row,
    email_row=_email_row,
    photo=_photo,
    write_to=messages.write_to,
    email_label="Home",
    labels_emails=True,
    shows_new=True,
    people=PEOPLE,
)

APP = partial(usual.Contacts, edition=EDITION)
