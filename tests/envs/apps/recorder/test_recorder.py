"""Audio Recorder by touch: what is recorded is a sound file as long as the phone's clock says."""

from datetime import timedelta

import pytest

from coach_gym.envs.apps.recorder.app import MICROPHONE
from coach_gym.envs.apps.recorder.data import PACKAGE, RECORDS, SETTINGS
from coach_gym.envs.phone import preferences
from coach_gym.envs.phone.media import audio
from tests.envs.hands import SCREENS, Hands


@pytest.fixture(params=SCREENS, ids=str)
def recorder(request):
    return Hands(PACKAGE, request.param)


def wait(hands, seconds):
    hands.phone.elapse(timedelta(seconds=seconds))


def field(hands):
    return next(element for element in hands.elements if element.id == "input_name")


def seconds_of(hands, name):
    return audio.sound(hands.storage.read(f"{RECORDS}/{name}")).seconds


def test_a_recording_is_saved_when_it_stops_and_lasts_as_long_as_it_took(recorder):
    recorder.tap("Start recording")
    wait(recorder, 30)
    assert recorder.shows("00:31") and recorder.storage.listdir(RECORDS) == []
    recorder.tap("Stop recording")
    assert recorder.storage.listdir(RECORDS) == ["Record-1.m4a"]
    assert seconds_of(recorder, "Record-1.m4a") == pytest.approx(31, abs=0.1)


def test_a_pause_is_not_in_the_recording(recorder):
    recorder.tap("Start recording", "Pause recording")
    wait(recorder, 60)
    assert recorder.shows("Paused") and recorder.shows("00:01")
    recorder.tap("Resume recording", "Stop recording")
    assert seconds_of(recorder, "Record-1.m4a") == pytest.approx(2, abs=0.1)


def test_the_name_is_asked_for_and_typed_over_the_one_proposed(recorder):
    recorder.tap("Start recording", "Stop recording")
    recorder.type("My talk")
    recorder.tap("Save")
    assert recorder.storage.listdir(RECORDS) == ["My talk.m4a"]
    recorder.tap("Start recording", "Stop recording", "Cancel")
    assert recorder.storage.listdir(RECORDS) == ["My talk.m4a", "Record-2.m4a"]


@pytest.mark.parametrize("name", ["", "a/b", "Record-1"])
def test_an_impossible_name_leaves_the_proposed_one(name):
    recorder = Hands(PACKAGE)
    recorder.tap("Start recording", "Stop recording", "Save", "Start recording", "Stop recording")
    recorder.select_text(field(recorder))
    recorder.type(name or " ")
    recorder.tap("Save")
    assert recorder.storage.listdir(RECORDS) == ["Record-1.m4a", "Record-2.m4a"]


def test_a_recording_can_be_thrown_away_after_a_question(recorder):
    recorder.tap("Start recording", "Delete recording")
    assert recorder.shows("Delete this record?")
    recorder.tap("No")
    assert recorder.shows("Paused") and recorder.shows("Resume recording")
    recorder.tap("Delete recording", "Yes")
    assert recorder.shows("Start recording") and recorder.storage.listdir(RECORDS) == []


def test_without_the_permission_it_is_asked_for(recorder):
    recorder.phone.permissions.remove((PACKAGE, MICROPHONE))
    recorder.tap("Start recording")
    assert recorder.shows("Allow Audio Recorder to record audio?")
    recorder.tap("Don’t allow")
    assert recorder.shows("Start recording")


def test_records_are_listed_played_renamed_and_deleted(recorder):
    for name in ("first", "second"):
        recorder.tap("Start recording")
        wait(recorder, 9)
        recorder.tap("Stop recording")
        recorder.type(name)
        recorder.tap("Save")
    recorder.tap("Records")
    listed = [e.label for e in recorder.elements if e.clickable and " • " in e.label]
    assert [label.split(", ")[0] for label in listed] == ["second", "first"]
    recorder.tap("first")
    wait(recorder, 2)
    assert "00:03 / 00:10" in recorder.find("first").label
    wait(recorder, 20)
    assert "/" not in recorder.find("first").label, "it has ended"
    recorder.tap("Options of first", "Rename")
    recorder.type("third")
    recorder.tap("Save", "Options of second", "Delete", "Yes")
    assert not recorder.shows("second")
    assert recorder.storage.listdir(RECORDS) == ["second.m4a.del", "third.m4a"]


def test_a_snapshot_restores_a_running_recording(recorder):
    recorder.tap("Start recording")
    saved = recorder.phone.snapshot()
    recorder.tap("Stop recording")
    recorder.phone.restore(saved)
    assert recorder.shows("Stop recording") and recorder.storage.listdir(RECORDS) == []


def recorded(hands, *names):
    for name in names:
        hands.tap("Start recording", "Stop recording")
        hands.type(name)
        hands.tap("Save")


def test_numbers_are_not_given_twice_and_pass_over_files_that_are_there(recorder):
    for _ in range(2):
        recorder.tap("Start recording", "Stop recording", "Save")
    recorder.storage.remove(f"{RECORDS}/Record-1.m4a")
    recorder.storage.write(f"{RECORDS}/Record-3.m4a", b"")
    recorder.tap("Start recording", "Stop recording")
    assert field(recorder).value == "Record-4"
    assert preferences.load(recorder.storage, SETTINGS)["record_counter"] == 4


def test_touching_what_plays_stops_it():
    recorder = Hands(PACKAGE)
    recorder.tap("Start recording")
    wait(recorder, 60)
    recorder.tap("Stop recording", "Save", "Records", "Record-1")
    assert " / " in recorder.find("Record-1").label
    recorder.tap("Record-1")
    assert " / " not in recorder.find("Record-1").label


def test_deleting_a_record_asks_first_and_the_trash_gives_it_back():
    recorder = Hands(PACKAGE)
    recorded(recorder, "one", "two")
    recorder.tap("Records", "Options of one", "Delete", "No")
    assert recorder.storage.listdir(RECORDS) == ["one.m4a", "two.m4a"]
    recorder.tap("Options of one", "Delete", "Yes", "Options of two", "Delete", "Yes")
    assert recorder.shows("No records") and recorder.storage.listdir(RECORDS) == ["one.m4a.del", "two.m4a.del"]
    recorder.back()
    recorder.tap("Settings", "Trash", "Restore one", "Yes", "Delete two")
    assert recorder.shows("Delete record two forever?")
    recorder.tap("Yes")
    assert recorder.shows("Empty") and recorder.storage.listdir(RECORDS) == ["one.m4a"]


def test_the_whole_trash_can_be_emptied():
    recorder = Hands(PACKAGE)
    recorded(recorder, "one", "two", "three")
    recorder.tap("Records")
    recorder.hold("one")
    recorder.tap("two", "Delete", "Yes")
    recorder.back()
    recorder.tap("Settings", "Trash", "Delete all", "Yes")
    assert recorder.storage.listdir(RECORDS) == ["three.m4a"]


def test_the_last_record_is_shown_and_renamed_on_the_first_screen():
    recorder = Hands(PACKAGE)
    recorded(recorder, "one")
    recorder.tap("one")
    assert recorder.shows("New name") and not recorder.shows("Don't ask again")
    recorder.type("two")
    recorder.tap("Save", "Start recording", "Stop recording", "Save", "More options", "Delete", "Yes")
    assert recorder.storage.listdir(RECORDS) == ["Record-2.m4a.del", "two.m4a"]
    assert not recorder.shows("Record-2")


def test_the_question_for_a_name_can_be_switched_off():
    recorder = Hands(PACKAGE)
    recorder.tap("Start recording", "Stop recording", "Don't ask again", "Save", "Start recording", "Stop recording")
    assert recorder.shows("Start recording") and not recorder.shows("New name")
    assert preferences.load(recorder.storage, SETTINGS)["is_ask_rename_after_stop_recording"] is False
    recorder.tap("Settings", "Show rename dialog after recording is completed")
    recorder.back()
    recorder.tap("Start recording", "Stop recording")
    assert recorder.shows("New name")


def test_the_dialog_has_the_names_that_programs_look_for():
    recorder = Hands(PACKAGE)
    recorder.tap("Start recording", "Stop recording")
    names = {"dialog_title", "input_name", "check_box", "dialog_negative_btn", "dialog_positive_btn"}
    assert names <= {element.id for element in recorder.elements}


@pytest.mark.parametrize(
    "name, file", [("a:b", "a_b.m4a"), ("x" * 60, "x" * 50 + ".m4a"), ("record-1", "Record-1.m4a")]
)
def test_a_name_is_made_fit(name, file):
    recorder = Hands(PACKAGE)
    recorded(recorder, name)
    assert recorder.storage.listdir(RECORDS) == [file]


def test_the_format_and_the_form_of_names_can_be_chosen():
    recorder = Hands(PACKAGE)
    recorder.tap("Settings", "Wav")
    recorder.tap(next(e.label for e in recorder.elements if e.label.startswith("Naming")))
    recorder.tap(next(e.label for e in recorder.elements if "2023-10" in e.label))
    assert recorder.shows("Wav, 44.1kHz, Stereo") and not recorder.shows("128 kbps")
    recorder.back()
    recorder.tap("Start recording")
    wait(recorder, 9)
    recorder.tap("Stop recording", "Save")
    (file,) = recorder.storage.listdir(RECORDS)
    assert file.startswith("2023-10-15 ") and file.endswith(".wav")
    assert seconds_of(recorder, file) == pytest.approx(10, abs=0.1)
    recorder.tap("Settings", "Reset")
    assert recorder.shows("M4a, 44.1kHz, 128 kbps, Stereo")


def test_records_are_sorted():
    recorder = Hands(PACKAGE)
    recorder.tap("Start recording")
    wait(recorder, 30)
    recorder.tap("Stop recording")
    recorder.type("b")
    recorder.tap("Save")
    recorded(recorder, "c", "a")
    recorder.tap("Records")
    orders = {"By date (newest)": "acb", "By date (oldest)": "bca", "By name (A-Z)": "abc", "By name (Z-A)": "cba"}
    for order, names in orders.items():
        recorder.tap("Sort", order)
        assert recorder.rows == list(names) and recorder.shows(order)
    recorder.tap("Sort", "By duration (longest)")
    assert recorder.rows[0] == "b"


def test_a_record_is_copied_and_tells_about_itself():
    recorder = Hands(PACKAGE)
    recorded(recorder, "one")
    recorder.tap("Records", "Options of one", "Save as…", "Yes")
    assert recorder.storage.listdir("/storage/emulated/0/Download") == ["one.m4a"]
    recorder.tap("Options of one", "Information")
    assert recorder.shows("M4a") and recorder.shows(f"{RECORDS}/one.m4a")
    recorder.storage.remove(f"{RECORDS}/one.m4a")
    recorder.phone.changed()
    assert recorder.shows("This record was deleted")


def test_a_renamed_record_keeps_its_sound_and_its_time():
    recorder = Hands(PACKAGE)
    recorded(recorder, "one")
    path, new = f"{RECORDS}/one.m4a", f"{RECORDS}/two.m4a"
    before = recorder.storage.read(path), recorder.storage.modified(path)
    wait(recorder, 600)
    recorder.tap("Records", "Options of one", "Rename")
    recorder.type("two")
    recorder.tap("Save")
    assert (recorder.storage.read(new), recorder.storage.modified(new)) == before


def test_a_file_that_is_no_sound_is_listed_without_a_length():
    recorder = Hands(PACKAGE)
    recorder.storage.write(f"{RECORDS}/broken.m4a", b"no sound")
    recorder.tap("Records")
    assert "00:00 • 8 B" in recorder.find("broken").label


@pytest.mark.parametrize("answer, asked_again", [("While using the app", False), ("Only this time", True)])
def test_a_permission_may_be_given_for_once(answer, asked_again):
    recorder = Hands(PACKAGE)
    recorder.phone.permissions.remove((PACKAGE, MICROPHONE))
    recorder.tap("Start recording", answer, "Stop recording", "Save", "Start recording")
    assert recorder.shows("Allow Audio Recorder to record audio?") == asked_again


def test_a_clock_that_is_set_back_makes_no_recording_shorter_than_a_second():
    recorder = Hands(PACKAGE)
    recorder.tap("Start recording")
    recorder.phone.now -= timedelta(days=1)
    recorder.phone.changed()
    assert recorder.shows("00:00")
    recorder.tap("Stop recording")
    assert seconds_of(recorder, "Record-1.m4a") == pytest.approx(1, abs=0.1)
