"""What the checks of the Contacts' families let pass, on the phone that each runs on."""

from dataclasses import replace
from datetime import date

import pytest

from coach_gym.envs.apps.contacts import address_book, lab_tasks
from coach_gym.envs.devices.phone import PhoneDevice
from coach_gym.envs.phone.providers import contacts
from coach_gym.envs.profiles import ANDROID_LAB
from coach_gym.envs.tasks.words import ParamRng


@pytest.fixture(scope="module", params=["AndroidWorld", "AndroidLab"])
def made_device(request):
    return PhoneDevice(270, 600) if request.param == "AndroidWorld" else PhoneDevice(270, 600, ANDROID_LAB)


CHANGES = {
    "name": lambda c: replace(c, first=f"{c.first}s"), "company": lambda c: replace(c, company="Elsewhere"),
    "title": lambda c: replace(c, title="Chief"), "note": lambda c: replace(c, note="x"),
    "star": lambda c: replace(c, starred=not c.starred), "labels": lambda c: replace(c, labels=["x"]),
    "number": lambda c: replace(c, phones=[("5", "Mobile")]), "email": lambda c: replace(c, emails=[("x@y.z", "Home")]),
    "website": lambda c: replace(c, website="x.y"), "birthday": lambda c: replace(c, birthday=date(2000, 1, 2)),
    "address": lambda c: replace(c, address="x"), "nickname": lambda c: replace(c, nickname="x"),
}  # fmt: skip
FAMILIES = (
    lab_tasks.ContactsAddColleague, lab_tasks.ContactsAddWithEmail, lab_tasks.ContactsChangeEmail,
    lab_tasks.ContactsAddNote, lab_tasks.ContactsSetLabel, lab_tasks.ContactsRemoveFavorite,
    lab_tasks.ContactsDeleteByNumber,
)  # fmt: skip


@pytest.mark.parametrize("family", FAMILIES)
def test_the_people_asked_for_are_right_and_every_other_change_is_wrong(device, begin, family):
    task = begin(family)
    with device.database(contacts.PATH) as db:
        contacts.replace_all(db, task.expected())
    assert task.evaluate(device, None) == 1
    for change in CHANGES.values():
        first, *others = task.expected()
        with device.database(contacts.PATH) as db:
            contacts.replace_all(db, [change(first), *others])
        assert task.evaluate(device, None) == 0
    with device.database(contacts.PATH) as db:
        contacts.replace_all(db, [*task.expected(), contacts.Contact("One", "More")])
    assert task.evaluate(device, None) == 0


def test_the_address_book_holds_whom_the_task_put_there_and_nobody_else(device):
    """AndroidLab's phone has people of its own."""
    task = lab_tasks.ContactsAddNote(lab_tasks.ContactsAddNote.sample(ParamRng(0)))
    task.setup(device)
    with device.database(contacts.PATH) as db:
        assert len(contacts.everybody(db)) == len(task.params["people"])


@pytest.mark.parametrize("written", ["+1 (201) 555-0123", "+12015550123", "1-201-555-0123"])
def test_a_number_is_its_digits(device, begin, written):
    task = begin(lab_tasks.ContactsAddColleague, number="+12015550123")
    new = task.expected()[-1]
    with device.database(contacts.PATH) as db:
        contacts.insert(db, replace(new, phones=[(written, "Work")]))
    assert task.evaluate(device, None) == 1


@pytest.mark.parametrize(("first", "last"), [("Ada Marie", "Stone"), ("Ada", "Marie Stone"), ("Ada Marie Stone", "")])
def test_it_does_not_matter_in_which_field_a_word_of_the_name_is(device, begin, first, last):
    task = begin(lab_tasks.ContactsAddWithEmail, name="Ada Marie Stone")
    new = task.expected()[-1]
    with device.database(contacts.PATH) as db:
        contacts.insert(db, replace(new, first=first, last=last))
    assert task.evaluate(device, None) == 1


def test_which_answers_tell_an_address(accepts):
    params = lab_tasks.ContactsEmailOf.sample(ParamRng(1))
    right = next(person for person in params["people"] if person["name"] == params["name"])
    other = next(person for person in params["people"] if person["name"] != params["name"])
    address = right["emails"][0]
    accepts(
        lab_tasks.ContactsEmailOf(params),
        right=(address, f"{address}.", address.upper()),
        wrong=(other["emails"][0], address.split("@")[0], f"{address}, {other['emails'][0]}"),
    )


def test_which_answers_tell_a_company(accepts):
    params = lab_tasks.ContactsCompanyOf.sample(ParamRng(2))
    company = next(person["company"] for person in params["people"] if person["name"] == params["name"])
    task = lab_tasks.ContactsCompanyOf(params)
    accepts(task, right=(company, company.lower(), f"{company}."), wrong=(company.split()[0], f"at {company}"))


@pytest.mark.parametrize("seed", range(20))
def test_the_number_of_colleagues_differs_from_that_of_the_other_company(seed):
    params = lab_tasks.ContactsCountAtCompany.sample(ParamRng(seed))
    companies = [person["company"] for person in params["people"]]
    assert companies.count(params["company"]) == params["count"] != companies.count(params["other"])


def test_a_question_does_not_count_if_the_address_book_was_changed(device, begin):
    task = begin(lab_tasks.ContactsCountAtCompany)
    answer = str(task.params["count"])
    assert task.evaluate(device, answer) == 1
    with device.database(contacts.PATH) as db:
        contacts.delete(db, contacts.everybody(db)[0].id)
    assert task.evaluate(device, answer) == 0


@pytest.mark.parametrize("seed", range(10))
def test_people_share_no_name_and_no_number(seed):
    people = address_book.people(ParamRng(seed), 8)
    assert len({name for name, _ in people}) == len({number for _, number in people}) == 8


def test_another_number_differs_in_its_last_digit():
    assert address_book.other_number("+12015550129") == "+12015550120"
