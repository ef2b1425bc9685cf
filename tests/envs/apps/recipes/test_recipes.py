"""Broccoli by touch: what a user does is what stands in the cook book's database."""

import numpy as np
import pytest

from coach_gym.envs.apps.recipes.app import DATABASE, FIELDS, PACKAGE
from coach_gym.envs.phone.phone import Phone
from coach_gym.envs.profiles import world_phone
from coach_gym.ui import compress, parse_ui
from tests.envs.hands import Hands
from tests.envs.records import add_record, changed, records


@pytest.fixture(params=[(270, 600), (540, 1200), (1080, 2400), (800, 1280)], ids=str)
def phone(request) -> Phone:
    phone = world_phone(*request.param)
    db = phone.storage.database(DATABASE)
    for title, description in (("Waffles", "Sweet"), ("apple pie", "Classic"), ("Bean Chili", "Hot")):
        db.execute("INSERT INTO recipes(title, description, ingredients) VALUES (?, ?, 'salt')", (title, description))
    phone.launch(PACKAGE)
    return phone


def elements(phone):
    return parse_ui(compress(phone.ui()))


def labels(phone):
    return [e.label for e in elements(phone)]


def tap(phone, label):
    found = [e for e in elements(phone) if label in (e.label, e.hint)]
    assert found, f"{label!r} is not among {labels(phone)}"
    phone.tap(*found[-1].center)


def titles(phone):
    return [row[0] for row in phone.storage.database(DATABASE).execute("SELECT title FROM recipes ORDER BY recipeId")]


def test_the_book_is_sorted_by_title_or_by_age(phone):
    rows = [label for label in labels(phone) if ", " in label]
    assert rows == ["apple pie, Classic", "Bean Chili, Hot", "Waffles, Sweet"]
    tap(phone, "Sort")
    tap(phone, "Newest first")
    assert [label for label in labels(phone) if ", " in label][0] == "Bean Chili, Hot"


def test_search_narrows_the_list_and_back_widens_it(phone):
    tap(phone, "Search")
    phone.type("BEAN")
    assert [label for label in labels(phone) if ", " in label] == ["Bean Chili, Hot"]
    phone.key("BACK")
    phone.key("BACK")
    assert len([label for label in labels(phone) if ", " in label]) == 3


def test_search_looks_into_the_recipes(phone):
    phone.storage.database(DATABASE).execute("UPDATE recipes SET directions = 'Add garlic.' WHERE title = 'Waffles'")
    tap(phone, "Search")
    phone.type("garlic")
    assert [label for label in labels(phone) if ", " in label] == ["Waffles, Sweet"]


def test_adding_a_recipe(phone):
    tap(phone, "New recipe")
    tap(phone, "Title")
    phone.type("Toast")
    tap(phone, "Save")
    assert titles(phone)[-1] == "Toast" and "Toast" in labels(phone)


def test_a_recipe_without_title_is_not_saved(phone):
    tap(phone, "New recipe")
    tap(phone, "Save")
    assert len(titles(phone)) == 3 and "A recipe needs a title" in labels(phone)


def test_editing_changes_one_field(phone):
    tap(phone, "Waffles, Sweet")
    tap(phone, "Edit")
    field = next(e for e in elements(phone) if e.hint == "Description")
    Hands(None, phone=phone).select_text(field)
    phone.type("Crisp")
    tap(phone, "Save")
    row = phone.storage.database(DATABASE).execute(
        "SELECT title, description, ingredients FROM recipes WHERE title = 'Waffles'"
    )
    assert row.fetchall() == [("Waffles", "Crisp", "salt")]


@pytest.mark.parametrize("full", [True, False], ids=["full record", "bare record"])
@pytest.mark.parametrize("hint, column", [(hint, column) for column, (hint, _) in FIELDS.items()])
def test_an_edit_changes_one_column_of_one_recipe(hint, column, full):
    phone = world_phone(1080, 2400)
    db = phone.storage.database(DATABASE)
    for title in ("Soup", "Stew"):
        add_record(db, "recipes", full, title=title, favorite=1)
    phone.launch(PACKAGE)
    before = records(db, "recipes")
    tap(phone, next(label for label in labels(phone) if label.startswith("Stew")))
    tap(phone, "Edit")
    Hands(None, phone=phone).select_text(next(e for e in elements(phone) if e.hint == hint))
    phone.type("New")
    tap(phone, "Save")
    assert changed(before, records(db, "recipes")) == [{}, {column: "New"}]


def test_leaving_a_form_with_text_asks_first(phone):
    tap(phone, "New recipe")
    phone.key("BACK")
    assert len(phone.stack) == 1, "an empty form is left at once"
    tap(phone, "New recipe")
    tap(phone, "Title")
    phone.type("Toast")
    phone.key("BACK")
    phone.key("BACK")
    assert "Discard changes?" in labels(phone)
    tap(phone, "Discard")
    assert len(phone.stack) == 1 and len(titles(phone)) == 3


def test_deleting_asks_first(phone):
    for answer, left in (("Cancel", 3), ("Delete", 2)):
        tap(phone, "Bean Chili, Hot")
        tap(phone, "More options")
        tap(phone, "Delete")
        tap(phone, answer)
        assert len(titles(phone)) == left
        if answer == "Cancel":
            phone.key("BACK")
    assert "Bean Chili" not in titles(phone) and len(phone.stack) == 1


def test_a_snapshot_of_an_open_dialog_is_exact(phone):
    tap(phone, "Waffles, Sweet")
    tap(phone, "More options")
    tap(phone, "Delete")
    saved, frame = phone.snapshot(), phone.screenshot()
    for _ in range(2):
        tap(phone, "Delete")
        assert "Waffles" not in titles(phone)
        phone.restore(saved)
        assert "Waffles" in titles(phone) and np.array_equal(phone.screenshot(), frame)
