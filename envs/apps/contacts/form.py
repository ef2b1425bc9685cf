"""The form for a new contact, or for changing one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from typing import Any

from coach_gym.envs.apps.contacts.edition import ContactsScreen, Edition
from coach_gym.envs.phone.app import Choice, Confirm, Dialog
from coach_gym.envs.phone.providers import contacts
from coach_gym.envs.phone.providers.contacts import EMAIL_TYPES, PHONE_TYPES, Contact
from coach_gym.envs.phone.toolkit import theme
from coach_gym.envs.phone.toolkit.view import PHONE, TextInput, View
from coach_gym.envs.phone.toolkit.widgets import Button, Column, Icon, ListItem, ListView, Row, Scaffold, TextField

MORE = {
    "Job title": "title", "Website": "website", "Birthday": "birthday", "Notes": "note", "Address": "address",
    "Nickname": "nickname",
}  # fmt: skip
"""What the form asks for below "More fields", and where `Contact` has it."""


@dataclass
class Labelled:
    """A number or an address being typed, and its label."""

    input: TextInput
    label: str

    @property
    def text(self) -> str:
        """What was typed, without spaces around it."""
        return self.input.text.strip()


class ContactForm(ContactsScreen):
    """Fields for what can be known of a person. Nothing is stored before Save.

    Args:
        edition: Which fields there are.
        contact: Whom to change, or what a new contact starts with.
        saved: Called with the id of a new contact once it is stored.
    """

    activity = "com.google.android.apps.contacts.editor.ContactEditorActivity"

    def __init__(
        self, edition: Edition, contact: Contact | None = None, saved: Callable[[int], Any] | None = None
    ) -> None:
        super().__init__()
        self.before = known = contact or Contact()
        self.saved = saved
        self.first, self.last, self.company = TextInput(known.first), TextInput(known.last), TextInput(known.company)
        numbers = known.phones or [("", "Mobile")]
        self.phones = [Labelled(TextInput(number, allowed=PHONE), label) for number, label in numbers]
        addresses = known.emails or [("", edition.email_label)]
        self.emails = [Labelled(TextInput(address), label) for address, label in addresses]
        self.birthday = known.birthday
        self.texts = {field: TextInput(getattr(known, field)) for field in MORE.values() if field != "birthday"}
        self.more = any(getattr(known, field) for field in MORE.values())

    def build(self) -> View:
        """Shows a field for everything that the edition asks for."""
        title = "Edit contact" if self.before.id else "Create contact"
        fields: list[View] = [
            TextField(self.first, "First name"),
            TextField(self.last, "Last name"),
            TextField(self.company, "Company"),
            *self._phones(),
            *self._emails(),
        ]
        if self.more:
            fields += [self._more_field(name, field) for name, field in MORE.items()]
        else:
            fields.append(Button("More fields", partial(setattr, self, "more", True), kind="text"))
        save = Button("Save", self._save, "toolbar_button")
        return Scaffold(title, ListView(fields, gap=8, pad=(16, 8, 16, 8)), self._close, [save])

    def _phones(self) -> list[View]:
        views: list[View] = []
        for entry in self.phones:
            views += [TextField(entry.input, "Phone"), self._label(entry, "Phone", list(PHONE_TYPES))]
        if self.phones[-1].input.text:
            views.append(Button("Add phone", partial(self._add, self.phones, "Mobile"), kind="text"))
        return views

    def _emails(self) -> list[View]:
        views: list[View] = []
        for entry in self.emails:
            views.append(TextField(entry.input, "Email"))
            if self.edition.labels_emails:
                views.append(self._label(entry, "Email", list(EMAIL_TYPES)))
        if self.emails[-1].input.text:
            add = partial(self._add, self.emails, self.edition.email_label)
            views.append(Button("Add email", add, kind="text"))
        return views

    def _label(self, entry: Labelled, what: str, labels: list[str]) -> View:
        """Makes a closed drop-down list that shows the label of a number or an address."""
        return View(
            "android.widget.Spinner", text=entry.label, desc=f"{entry.label} {what}", size=14, color=theme.SECONDARY,
            on_tap=partial(self._ask_label, entry, f"{what} label", labels), pad=(12, 10, 12, 10),
            min_height=theme.TOUCH, border=theme.DIVIDER, radius=6, max_lines=1,
        )  # fmt: skip

    def _more_field(self, name: str, field: str) -> View:
        if field == "birthday":
            icon = Icon("cake_variant_outline")
            return ListItem(name, birthday_text(self.birthday), self._ask_birthday, leading=icon)
        return TextField(self.texts[field], name)

    def _ask_label(self, entry: Labelled, title: str, labels: list[str]) -> None:
        self.push(Choice(title, labels, partial(setattr, entry, "label"), entry.label))

    def _add(self, entries: list[Labelled], label: str) -> None:
        entries.append(Labelled(TextInput(allowed=entries[0].input.allowed), label))
        self.focus(entries[-1].input)

    def _ask_birthday(self) -> None:
        self.push(BirthdayDialog(partial(setattr, self, "birthday")))

    def _typed(self) -> Contact:
        """Returns the contact as the form has it; what the form does not ask for stays as it is."""
        typed: dict[str, Any] = {field: input.text.strip() for field, input in self.texts.items()}
        return replace(
            self.before,
            first=self.first.text.strip(),
            last=self.last.text.strip(),
            company=self.company.text.strip(),
            phones=[(entry.text, entry.label) for entry in self.phones if entry.text],
            emails=[(entry.text, entry.label) for entry in self.emails if entry.text],
            birthday=self.birthday,
            **typed,
        )

    def _save(self) -> None:
        """Stores what was typed; an empty form is left without a trace, as on a real phone."""
        contact = self._typed()
        self.pop()
        if not contact.name:
            return
        if contact.id:
            contacts.update(self.book, contact)
        else:
            id = contacts.insert(self.book, contact)
            if self.saved is not None:
                self.saved(id)
        self.notify("Contact saved")

    def _close(self) -> None:
        if not self.on_back():
            self.pop()

    def on_back(self) -> bool:
        """Asks first if something was typed."""
        changed = self._typed() != self.before
        if changed:
            self.push(Confirm("Discard changes?", "Your changes have not been saved.", "Discard", self.pop))
        return changed


def birthday_text(day: date | None) -> str:
    """Returns a birthday as it is shown, such as October 24, 1996."""
    return f"{day:%B} {day.day}, {day.year}" if day else ""


class BirthdayDialog(Dialog):
    """A date typed into three fields, since birthdays are long ago."""

    def __init__(self, then: Callable[[date], None]) -> None:
        super().__init__("Birthday")
        self.month, self.day, self.year, self.then = TextInput(), TextInput(), TextInput(), then

    def content(self) -> Sequence[View]:
        """Returns the three fields."""
        fields = (("Month", self.month), ("Day", self.day), ("Year", self.year))
        return [Row([Column([TextField(field, name)], width=88) for name, field in fields], 6, (16, 4, 16, 8))]

    def buttons(self) -> Sequence[View]:
        """Returns "Cancel" and "Set"."""
        return [self.button("Cancel"), Button("Set", self._set, kind="text")]

    def _set(self) -> None:
        try:
            day = date(*(int(field.text) for field in (self.year, self.month, self.day)))
        except ValueError:
            self.notify("This is not a date")
            return
        self.pop()
        self.then(day)
