"""Fields for numbers, amounts, phone numbers and passwords take, show and tell what Android's do."""

import pytest

from coach_gym.envs.phone.shell import run
from coach_gym.envs.phone.toolkit.view import DECIMAL, DIGITS, PHONE, TextInput
from tests.envs.hands import Hands


@pytest.mark.parametrize(("allowed", "typed", "text"), [
    ("", "a1.\n", "a1.\n"), (DIGITS, "a1-2.3", "123"), (DECIMAL, "$1.2.3x", "12.3"), (DECIMAL, "-.", "."),
    (PHONE, "call +1 (20) 5-5*#,;N/x", " +1 (20) 5-5*#,;N/"),
])  # fmt: skip
def test_a_field_takes_only_what_is_allowed(allowed, typed, text):
    field = TextInput(allowed=allowed)
    field.insert(typed)
    assert (field.text, field.cursor) == (text, len(text))
    field.set(typed)
    assert field.text == text


def test_an_amount_has_a_single_point():
    field = TextInput("1.5", allowed=DECIMAL)
    field.insert(".2")
    assert field.text == "1.52"
    field.select_all()
    field.insert(".2")
    assert field.text == ".2"


FIELDS = {
    "Amount": ("com.arduia.expense", ["Add expense"], "a1b.2c", "1.2"),
    "Phone": ("com.google.android.contacts", ["Create contact"], "Ed+1%s5", "+1 5"),
    "Email": ("com.google.android.contacts", ["Create contact"], "Ed+1%s5", "Ed+1 5"),
}


@pytest.mark.parametrize("label", FIELDS)
def test_letters_typed_into_a_field_for_numbers_are_lost(label):
    package, way, typed, text = FIELDS[label]
    app = Hands(package)
    app.tap(*way, label)
    twin = app.phone.fork()
    for phone in (app.phone, twin):
        run(phone, f"input text {typed}")
        assert phone.focus.text == text


def test_a_password_is_typed_but_never_told():
    run((app := Hands(None)).phone, "settings put global wifi_on 1; am start -a android.settings.WIFI_SETTINGS")
    app.tap("Home 2.4G", "Password")
    run(app.phone, "input text secret-12")
    dump = run(app.phone, "uiautomator dump /dev/tty").stdout.decode()
    assert "secret" not in dump and "secret" not in app.ui
    (field,) = [line for line in dump.split("<node ") if 'password="true"' in line]
    assert f'text="{"•" * 9}"' in field
    app.tap("Connect")
    assert app.storage.settings["global", "wifi_network"] == "Home 2.4G"
