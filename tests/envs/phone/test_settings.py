"""Whatever clients write into Android's settings, the phone is drawn and answers."""

import pytest

from coach_gym.envs.apps.settings import lab_pages, pages
from coach_gym.envs.phone.settings import font_scale, is_valid, whole
from coach_gym.envs.phone.shell import run
from coach_gym.envs.profiles import lab_phone

HOSTILE = ("abc", "nan", "-inf", "-1", "1e9", "1e-9", "", "9" * 30, "\U0001f4a9", "0x10", "1_000", "null", None)
REPORTS = "; ".join(f"dumpsys {name}" for name in ("window", "input", "audio", "battery", "power", "display"))


@pytest.fixture(scope="module")
def lab():
    return lab_phone(270, 600)


def spoil(phone, value):
    for key in list(phone.storage.settings):
        if value is None:
            del phone.storage.settings[key]
        elif key[1] not in ("user_rotation", "accelerometer_rotation"):
            phone.storage.settings[key] = value


def draw(phone, modules):
    """Draws the shade, every page of the Settings app and a report of every service."""
    app = phone.apps["com.android.settings"]
    phone.shade = 2
    phone.changed()
    assert phone.screenshot().any()
    for module in modules:
        for page in vars(module).values():
            if isinstance(page, type) and issubclass(page, pages.Page) and page is not pages.Page:
                try:
                    made = page()
                except TypeError:  # it is of something, such as an app
                    continue
                phone.launch(app.package)
                phone.push(app, made)
                assert phone.ui().children
    run(phone, f"{REPORTS}; cmd media_session volume --stream 3 --get")


@pytest.mark.parametrize("value", HOSTILE)
def test_the_phone_is_drawn(phone, lab, value):
    spoil(phone, value)
    draw(phone, [pages])
    twin = lab.fork()
    spoil(twin, value)
    draw(twin, [pages, lab_pages])


REFUSED = [("font_scale", value) for value in ("abc", "nan", "0.2", "5.1", "", "1_0")] + [
    ("accelerometer_rotation", "2"), ("user_rotation", "4"), ("screen_off_timeout", "-1"), ("time_12_24", "13"),
    ("dtmf_tone", "true"),
]  # fmt: skip


@pytest.mark.parametrize("name, value", REFUSED)
def test_what_android_refuses(phone, name, value):
    before = dict(phone.storage.settings)
    put = run(phone, f"settings put system {name} '{value}'")
    assert put.code == 255 and f"Invalid value: {value} for setting: {name}" in put.stderr.decode()
    insert = run(phone, f"content insert --uri content://settings/system --bind name:s:{name} --bind value:s:'{value}'")
    assert insert.code and (value == "" or b"Invalid value" in insert.stderr)
    assert dict(phone.storage.settings) == before


def test_what_android_takes(phone):
    for name, value in {"font_scale": "1.3", "screen_off_timeout": "60000", "my_own": "\U0001f4a9"}.items():
        said = run(phone, f"settings put system {name} '{value}' && settings get system {name}").stdout
        assert said.decode() == f"{value}\n"
    assert is_valid("secure", "font_scale", "abc") and font_scale(phone.storage.settings) == 1.3


def test_numbers_are_read_as_android_reads_them():
    settings = {("system", "a"): "7", ("system", "b"): "x", ("system", "c"): "-5", ("system", "d"): "999"}
    assert [whole(settings, "system", name, 3, 10) for name in "abcde"] == [7, 3, 0, 10, 3]
