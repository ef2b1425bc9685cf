"""The Contacts app of AndroidLab's phone: a later version of Google's, with labels, birthdays and websites."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from functools import partial

from coach_gym.envs.apps.contacts import app as usual
from coach_gym.envs.apps.contacts.form import ContactForm, spinner
from coach_gym.envs.apps.contacts.lab_data import EMAIL_TYPES, MIMETYPES, Person, get, members, pretty, save
from coach_gym.envs.apps.google_messages import app as lab_messages
from coach_gym.envs.phone.app import App, Choice, Dialog, Prompt, Screen
from coach_gym.envs.phone.providers import contacts
from coach_gym.envs.phone.providers.contacts import Contact
from coach_gym.envs.phone.toolkit import theme
from coach_gym.envs.phone.toolkit.view import TextInput, View
from coach_gym.envs.phone.toolkit.widgets import (
    Avatar,
    BottomNavigation,
    Button,
    CheckItem,
    Column,
    Header,
    Icon,
    IconButton,
    ListItem,
    ListView,
    Row,
    Scaffold,
    Text,
    TextField,
)

PLACES = (*usual.PLACES, ("label_outline", "Organize"))
PEOPLE = (
    Person(Contact("AAA", company="Tsinghua University", phones=[("33445566", "Mobile")]), friend="ABC"),
    Person(Contact("ABC", phones=[("22331144", "Mobile")]), birthday=date(1996, 10, 24)),
    Person(Contact("Li", phones=[("55667788", "Mobile")], emails=["22334455@gmail.com"]), ["Work"]),
)


class LabContacts(usual.Contacts):
    def install(self) -> None:
        super().install()
        self.book.executescript(MIMETYPES)
        for person in PEOPLE:
            save(self.book, person)

    def main(self) -> Screen:
        return LabPeople()


class LabPeople(usual.People):
    """Everybody, the favourites, or the labels."""

    def build(self) -> View:
        if self.place == "Organize":
            return Scaffold("Organize", ListView(self._labels()), bottom=self._places())
        return super().build()

    def _places(self) -> View:
        return BottomNavigation(PLACES, self.place, self._go)

    def _row(self, id: int, name: str) -> View:
        chosen = id in self.chosen
        tap = partial(self._toggle, id) if self.chosen else partial(self._open, id)
        return _name_row(name, tap, partial(self._toggle, id), chosen)

    def _labels(self) -> list[View]:
        titles = contacts.groups(self.book)
        rows = [ListItem(title, on_tap=partial(self._show, title), leading=Icon("label_outline")) for title in titles]
        create = ListItem("Create label", on_tap=self._ask_label, leading=Icon("plus"))
        return [Header("Labels"), *rows, create]

    def _ask_label(self) -> None:
        self.push(Prompt("Create label", self._create_label, hint="Label name", yes="Save"))

    def _create_label(self, title: str) -> None:
        if title.strip():
            contacts.create_group(self.book, title.strip())
            self._show(title.strip())

    def _show(self, title: str) -> None:
        self.push(LabelPage(title))

    def _open(self, id: int) -> None:
        self.push(LabPerson(id))

    def _create(self) -> None:
        form = LabForm(Person(Contact()))
        self.push(form)
        self.focus(form.first)


def _name_row(name: str, on_tap: partial, on_long: partial | None = None, selected: bool = False) -> View:
    """A person in a list: an element that is called what it shows."""
    return View(
        "android.view.ViewGroup", [Avatar(name), Text(name, 15, important=False)], axis="h", gap=14, align="center",
        text=name, desc=name, on_tap=on_tap, on_long=on_long, selected=selected, pad=(16, 8, 16, 8),
        min_height=theme.ROW_HEIGHT, bg="#d3e3fd" if selected else None,
    )  # fmt: skip


class LabelPage(usual.ContactsScreen):
    """The people with one label."""

    def __init__(self, title: str) -> None:
        super().__init__()
        self.title = title

    def build(self) -> View:
        rows = [_name_row(name, partial(self._open, id)) for id, name in members(self.book, self.title)]
        add = IconButton("account_plus_outline", "Add contacts", self._add)
        return Scaffold(f"{self.title} • label", ListView(rows, focusable=True), self.pop, [add])

    def _open(self, id: int) -> None:
        self.push(LabPerson(id))

    def _add(self) -> None:
        self.push(ChooseMembers(self.title))


class ChooseMembers(usual.ContactsScreen):
    """Check marks for those who shall get a label."""

    def __init__(self, title: str) -> None:
        super().__init__()
        self.title = title
        self.chosen: list[int] = []

    def build(self) -> View:
        known = {id for id, _ in members(self.book, self.title)}
        rows = [self._row(id, name) for id, name in contacts.listing(self.book) if id not in known]
        return Scaffold("Choose contacts", ListView(rows), self.pop, [Button("Add", self._done)])

    def _row(self, id: int, name: str) -> View:
        return CheckItem(name, id in self.chosen, partial(self._toggle, id))

    def _toggle(self, id: int) -> None:
        self.chosen = [other for other in self.chosen if other != id] + [id] * (id not in self.chosen)

    def _done(self) -> None:
        for id in self.chosen:
            person = get(self.book, id)
            if person is not None:
                person.contact.labels.append(self.title)
                save(self.book, person)
        self.pop()


class LabPerson(usual.Person):
    """All that is known of one person; what can be touched says what a touch does."""

    def _heading(self, contact: Contact) -> View:
        photo = View("android.widget.ImageView", [Avatar(contact.name)], desc="Contact photo", width=40, height=40)
        lines = [Text(contact.name, 24, align="center", id="large_title")]
        if contact.company and contact.company != contact.name:
            lines.append(Text(contact.company, 14, theme.SECONDARY, align="center", id="organization_name"))
        return Column([Row([photo], justify="center"), *lines, self._shortcuts(contact)], 8, 16)

    def _rows(self, contact: Contact) -> list[View]:
        person = get(self.book, self.id) or Person(contact)
        rows = [self._number(number, label) for number, label in contact.phones]
        emails = zip(contact.emails, person.email_labels, strict=True)
        rows += [self._copied(address, label, f"Email {label} {address}") for address, label in emails]
        born = f"{person.birthday:%B} {person.birthday.day}, {person.birthday.year}" if person.birthday else ""
        facts = (
            (born, "Birthday"), (person.website, "Website"), (person.friend, "Friend"), (contact.note, "Notes"),
            (", ".join(contact.labels), "Labels"),
        )  # fmt: skip
        return rows + [ListItem(text, what, important=True) for text, what in facts if text]

    def _number(self, number: str, label: str) -> View:
        text = pretty(number)
        return ListItem(text, label, partial(self._call, number), desc=f"Call {label} {text}")

    def _copied(self, text: str, label: str, desc: str) -> View:
        return ListItem(text, label, partial(self._copy, text), desc=desc)

    def _edit(self) -> None:
        person = get(self.book, self.id)
        if person is not None:
            self.push(LabForm(person))

    def _name(self) -> str:
        contact = contacts.get(self.book, self.id)
        return contact.name if contact else ""

    def _text(self, number: str) -> None:
        lab_messages.write_to(self.phone, number, self._name())


class LabForm(ContactForm):
    """The form with labelled addresses, and below "More fields" a website and a birthday."""

    def __init__(self, person: Person) -> None:
        super().__init__(person.contact)
        self.person = person
        self.email_labels = list(person.email_labels) or ["Home"]
        self.website = TextInput(person.website)
        self.birthday = person.birthday
        self.more = self.more or bool(person.website or person.birthday)

    def build(self) -> View:
        title = "Edit contact" if self.before.id else "Create contact"
        fields: list[View] = [
            TextField(self.first, "First name"), TextField(self.last, "Last name"), TextField(self.company, "Company"),
            *self._phones(), *self._emails(),
        ]  # fmt: skip
        fields += self._more_fields() if self.more else [Button("More fields", self._show_more, kind="text")]
        save = Button("Save", self._save, "toolbar_button")
        return Scaffold(title, ListView(fields, gap=8, pad=(16, 8, 16, 8)), self._close, [save])

    def _emails(self) -> list[View]:
        views: list[View] = []
        for index, (address, label) in enumerate(zip(self.emails, self.email_labels, strict=True)):
            views += [
                TextField(address, "Email"), spinner(label, f"{label} Email", partial(self._ask_email_label, index))
            ]
        return [*views, Button("Add email", self._add_email, kind="text")] if self.emails[-1].text else views

    def _more_fields(self) -> list[View]:
        born = f"{self.birthday:%B} {self.birthday.day}, {self.birthday.year}" if self.birthday else ""
        return [
            TextField(self.title, "Job title"), TextField(self.website, "Website"),
            ListItem("Birthday", born, self._ask_birthday, leading=Icon("cake_variant_outline")),
            TextField(self.note, "Notes"),
        ]  # fmt: skip

    def _add_email(self) -> None:
        self.email_labels.append("Home")
        super()._add_email()

    def _ask_email_label(self, index: int) -> None:
        current = self.email_labels[index]
        self.push(Choice("Email label", list(EMAIL_TYPES), partial(self._set_email_label, index), current))

    def _set_email_label(self, index: int, label: str) -> None:
        self.email_labels[index] = label

    def _ask_birthday(self) -> None:
        self.push(BirthdayDialog(self._set_birthday))

    def _set_birthday(self, day: date) -> None:
        self.birthday = day

    def _whole(self) -> Person:
        """The person as the form says it."""
        labels = [
            label for address, label in zip(self.emails, self.email_labels, strict=True) if address.text.strip()
        ]
        return Person(self._typed(), labels, self.birthday, self.website.text.strip(), self.person.friend)

    def _save(self) -> None:
        """Stores what was typed and shows the person's page; an empty form is left without a trace."""
        person = self._whole()
        self.pop()
        if not person.contact.name:
            return
        id = save(self.phone.storage.database(contacts.PATH), person)
        if not person.contact.id:
            self.phone.push(self.app, LabPerson(id))
        self.notify("Contact saved")

    def on_back(self) -> bool:
        if self._whole() != self.person and self._typed() == self.before:
            self.push(self._discarding())
            return True
        return super().on_back()


class BirthdayDialog(Dialog):
    """A date in three fields, as it is long ago."""

    def __init__(self, then: Callable[[date], None]) -> None:
        super().__init__("Birthday")
        self.month, self.day, self.year, self.then = TextInput(), TextInput(), TextInput(), then

    def content(self) -> Sequence[View]:
        fields = (("Month", self.month), ("Day", self.day), ("Year", self.year))
        return [Row([Column([TextField(field, name)], width=88) for name, field in fields], 6, (16, 4, 16, 8))]

    def buttons(self) -> Sequence[View]:
        return [self.button("Cancel"), Button("Set", self._set, kind="text")]

    def _set(self) -> None:
        try:
            day = date(*(int(field.text) for field in (self.year, self.month, self.day)))
        except ValueError:
            self.notify("This is not a date")
            return
        self.pop()
        self.then(day)


APP: type[App] = LabContacts
