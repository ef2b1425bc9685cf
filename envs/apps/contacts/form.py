"""The form for a new contact, or for changing one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from coach_gym.envs.phone.app import Choice, Confirm, Screen
from coach_gym.envs.phone.providers import contacts
from coach_gym.envs.phone.toolkit import theme
from coach_gym.envs.phone.toolkit.view import TextInput, View
from coach_gym.envs.phone.toolkit.widgets import Button, ListView, Scaffold, TextField


@dataclass
class PhoneEntry:
    """A number being typed, and its label."""

    number: TextInput
    label: str = "Mobile"


class ContactForm(Screen):
    """Fields for all that can be known of a person. Nothing is stored before Save.

    Args:
        contact: whom to change; None for a new contact.
        phone: a number to start a new contact with.
    """

    activity = "com.google.android.apps.contacts.editor.ContactEditorActivity"

    def __init__(self, contact: contacts.Contact | None = None, phone: str = "") -> None:
        super().__init__()
        self.before = contact or contacts.Contact(phones=[(phone, "Mobile")] if phone else [])
        known = self.before
        self.first, self.last, self.company = TextInput(known.first), TextInput(known.last), TextInput(known.company)
        self.phones = [PhoneEntry(TextInput(number), label) for number, label in known.phones or [("", "Mobile")]]
        self.emails = [TextInput(address) for address in known.emails or [""]]
        self.title, self.note = TextInput(known.title), TextInput(known.note)
        self.more = bool(known.title or known.note)

    def build(self) -> View:
        title = "Edit contact" if self.before.id else "Create contact"
        fields: list[View] = [
            TextField(self.first, "First name"),
            TextField(self.last, "Last name"),
            TextField(self.company, "Company"),
            *self._phones(),
            *[TextField(address, "Email") for address in self.emails],
        ]
        if self.emails[-1].text:
            fields.append(Button("Add email", self._add_email, kind="text"))
        if self.more:
            fields += [TextField(self.title, "Job title"), TextField(self.note, "Notes")]
        else:
            fields.append(Button("More fields", self._show_more, kind="text"))
        save = Button("Save", self._save, "toolbar_button")
        return Scaffold(title, ListView(fields, gap=8, pad=(16, 8, 16, 8)), self._close, [save])

    def _phones(self) -> list[View]:
        views: list[View] = []
        for index, entry in enumerate(self.phones):
            labels = spinner(entry.label, f"{entry.label} Phone", partial(self._ask_label, index))
            views += [TextField(entry.number, "Phone"), labels]
        if self.phones[-1].number.text:
            views.append(Button("Add phone", self._add_phone, kind="text"))
        return views

    def _ask_label(self, index: int) -> None:
        current = self.phones[index].label
        self.push(Choice("Phone label", list(contacts.PHONE_TYPES), partial(self._set_label, index), current))

    def _set_label(self, index: int, label: str) -> None:
        self.phones[index].label = label

    def _add_phone(self) -> None:
        self.phones.append(PhoneEntry(TextInput()))
        self.focus(self.phones[-1].number)

    def _add_email(self) -> None:
        self.emails.append(TextInput())
        self.focus(self.emails[-1])

    def _show_more(self) -> None:
        self.more = True

    def _typed(self) -> contacts.Contact:
        """The contact as the form says it."""
        return contacts.Contact(
            first=self.first.text.strip(),
            last=self.last.text.strip(),
            company=self.company.text.strip(),
            phones=[(e.number.text.strip(), e.label) for e in self.phones if e.number.text.strip()],
            emails=[address.text.strip() for address in self.emails if address.text.strip()],
            title=self.title.text.strip(),
            note=self.note.text.strip(),
            starred=self.before.starred,
            labels=self.before.labels,
            id=self.before.id,
        )

    def _save(self) -> None:
        """Stores what was typed; an empty form is left without a trace, as on a real phone."""
        contact = self._typed()
        book = self.phone.storage.database(contacts.PATH)
        self.pop()
        if not contact.name:
            return
        if contact.id:
            contacts.update(book, contact)
        else:
            contacts.insert(book, contact)
        self.notify("Contact saved")

    def _close(self) -> None:
        if not self.on_back():
            self.pop()

    def on_back(self) -> bool:
        changed = self._typed() != self.before
        if changed:
            self.push(self._discarding())
        return changed

    def _discarding(self) -> Confirm:
        return Confirm("Discard changes?", "Your changes have not been saved.", "Discard", self.pop)


def spinner(label: str, desc: str, on_tap: partial) -> View:
    """A closed drop-down list that shows a label."""
    return View(
        "android.widget.Spinner", text=label, desc=desc, on_tap=on_tap, size=14, color=theme.SECONDARY,
        pad=(12, 10, 12, 10), min_height=theme.TOUCH, border=theme.DIVIDER, radius=6, max_lines=1,
    )  # fmt: skip
