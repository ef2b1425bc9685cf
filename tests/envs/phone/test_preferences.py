"""SharedPreferences: what is written is what Android reads, and what is not changed stays as it was."""

import pytest

from coach_gym.envs.phone.preferences import from_xml, load, to_xml, update
from coach_gym.envs.phone.storage import Storage

PATH = "/data/data/an.app/shared_prefs/an.app_preferences.xml"
FULL = b"""<?xml version='1.0' encoding='utf-8' standalone='yes' ?>
<map>
    <string name="title">a &lt;b&gt; &amp; "c"
</string>
    <boolean name="on" value="true" />
    <boolean name="off" value="false" />
    <int name="count" value="-3" />
    <long name="since" value="7" />
    <long name="until" value="1697384040000" />
    <float name="scale" value="1.0" />
    <set name="names">
        <string>Ann</string>
        <string>Bob</string>
    </set>
</map>
"""


def test_a_file_of_all_kinds_is_written_as_it_was_read():
    assert to_xml(from_xml(FULL)) == FULL


def test_changing_one_value_leaves_the_lines_of_the_others_alone():
    storage = Storage()
    storage.write(PATH, FULL)
    update(storage, PATH, {"on": False})
    assert (storage.read(PATH) or b"") == FULL.replace(b'name="on" value="true"', b'name="on" value="false"')


def test_none_removes_a_value_and_a_missing_file_is_made():
    storage = Storage()
    assert load(storage, PATH) == {}
    update(storage, PATH, {"a": "x", "b": 2})
    update(storage, PATH, {"a": None})
    assert load(storage, PATH) == {"b": 2}


@pytest.mark.parametrize("value, kind", [
    (2**31 - 1, "int"), (2**31, "long"), (-(2**31), "int"), (-(2**31) - 1, "long"), (0.5, "float"), (True, "boolean"),
])  # fmt: skip
def test_numbers_get_the_kind_that_holds_them(value, kind):
    assert f"<{kind} ".encode() in to_xml({"value": value})
    assert from_xml(to_xml({"value": value})) == {"value": value}


@pytest.mark.parametrize(
    "damaged",
    [b"", b"garbage", FULL[:80], b"<map><int value='1' /></map>", b"<map><int name='a' value='x' /></map>",
     b"<map><long name='a' /></map>", b"<?xml version='1.0' encoding='none'?><map />"],
)  # fmt: skip
def test_a_damaged_file_has_no_values_and_is_written_anew(damaged):
    storage = Storage()
    storage.write(PATH, damaged)
    assert load(storage, PATH) == from_xml(damaged) == {}
    update(storage, PATH, {"a": "x"})
    assert load(storage, PATH) == {"a": "x"}
