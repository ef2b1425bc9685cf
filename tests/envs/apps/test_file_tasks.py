"""The checks of tasks on files and notes: what they let pass and what they do not."""

import pytest

from coach_gym.envs.apps.files import world_tasks as files
from coach_gym.envs.apps.files.lab_tasks import FilesCountFiles, FilesFileSize
from coach_gym.envs.apps.markor import world_tasks as markor
from coach_gym.envs.apps.markor.lab_tasks import MarkorNoteByAge
from coach_gym.envs.devices.phone import PhoneDevice
from coach_gym.envs.tasks.file_tree import read_tree
from coach_gym.envs.tasks.words import ParamRng

NOTES = {"a.md": "One line.", "b.txt": "Another line.", "c.md": "A third."}


@pytest.fixture(scope="module")
def phone():
    return PhoneDevice(270, 600)


@pytest.fixture
def device(phone):
    phone.reset_state()
    return phone


def begun(family, device, **params):
    task = family(params)
    task.setup(device)
    assert task.evaluate(device, None) == 0.0
    return task


def note(name):
    return f"{markor.NOTEBOOK}/{name}"


def test_a_tree_has_empty_folders_and_no_trailing_blanks(device):
    device.write("/sdcard/Download/x/y.txt", b" a \n\n")
    assert read_tree(device, "/sdcard/Download") == {"x/": b"", "x/y.txt": b" a"}


def test_deleting_more_than_asked_fails(device):
    task = begun(markor.MarkorDeleteNote, device, name="a.md", files=NOTES)
    device.remove(note("a.md"))
    assert task.evaluate(device, None) == 1.0
    device.remove(note("b.txt"))
    assert task.evaluate(device, None) == 0.0


def test_changing_another_note_fails(device):
    task = begun(markor.MarkorCreateNote, device, name="d.md", text="Hello.", files=NOTES)
    device.write(note("d.md"), b"Hello.\n")
    assert task.evaluate(device, None) == 1.0
    device.write(note("a.md"), b"One line!")
    assert task.evaluate(device, None) == 0.0


@pytest.mark.parametrize("text", ["hello.", "Hello", "Hello. ", " Hello.", ""])
def test_the_text_of_a_note_counts_to_the_letter(device, text):
    task = begun(markor.MarkorCreateNote, device, name="d.md", text="Hello.", files=NOTES)
    device.write(note("d.md"), text.encode())
    assert task.evaluate(device, None) == float(text == "Hello. ")


@pytest.mark.parametrize(
    ("where", "text", "score"),
    [
        ("at the top", "New.\nOne line.", 1.0),
        ("at the top", "New.\n\nOne line.", 1.0),
        ("at the top", "New.One line.", 0.0),
        ("at the top", "One line.\nNew.", 0.0),
        ("at the bottom", "One line.\nNew.\n", 1.0),
        ("at the bottom", "New.", 0.0),
        ("in place of the old text", "New.", 1.0),
        ("in place of the old text", "New.\nOne line.", 0.0),
    ],
)
def test_where_a_line_was_added(device, where, text, score):
    task = begun(markor.MarkorEditNote, device, name="a.md", where=where, text="New.", files=NOTES)
    device.write(note("a.md"), text.encode())
    assert task.evaluate(device, None) == score


@pytest.mark.parametrize(
    ("text", "score"),
    [("Another line.\n\nOne line.", 1.0), ("Another line.\nOne line.", 0.0), ("One line.\n\nAnother line.", 0.0)],
)
def test_merged_notes_are_in_order_and_apart(device, text, score):
    files = {**NOTES, "c.md": "End."}
    task = begun(markor.MarkorMergeNotes, device, name="d.md", first="b.txt", second="a.md", third="c.md", files=files)
    device.write(note("d.md"), f"{text}\n\nEnd.\n".encode())
    assert task.evaluate(device, None) == score


@pytest.mark.parametrize("gone", sorted(NOTES))
def test_only_the_newest_note_may_go(device, gone):
    task = begun(markor.MarkorDeleteNewestNote, device, files=NOTES, ages={"a.md": 900, "b.txt": 12, "c.md": 13})
    device.remove(note(gone))
    assert task.evaluate(device, None) == float(gone == "b.txt")


def test_a_note_and_its_message_are_both_needed(device):
    params = {"name": "d.md", "text": "Hello.", "number": "+12025550100", "messages": []}
    task = begun(markor.MarkorCreateNoteAndSms, device, files=NOTES, **params)
    device.write(note("d.md"), b"Hello.")
    assert task.evaluate(device, None) == 0.0
    device.phone.apps["com.simplemobiletools.smsmessenger"].send("+12025550100", "Hello.")
    assert task.evaluate(device, None) == 1.0
    device.remove(note("d.md"))
    assert task.evaluate(device, None) == 0.0


def test_moving_is_not_copying(device):
    task = begun(files.FilesMoveFile, device, name="x.mp3", folder="Music", target="Movies", files={"Music/x.mp3": 9})
    storage = device.phone.storage
    storage.copy(f"{files.SHARED}/Music/x.mp3", f"{files.SHARED}/Movies/x.mp3")
    assert task.evaluate(device, None) == 0.0
    device.remove("/sdcard/Music/x.mp3")
    assert task.evaluate(device, None) == 1.0


def test_a_file_is_no_folder(device):
    task = begun(files.FilesCreateFolder, device, name="Lamp", folder="Music", files={})
    device.write("/sdcard/Music/Lamp", b"")
    assert task.evaluate(device, None) == 0.0
    device.remove("/sdcard/Music/Lamp")
    device.phone.storage.mkdir(f"{files.SHARED}/Music/Lamp")
    assert task.evaluate(device, None) == 1.0


@pytest.mark.parametrize("answer", ["One line.", "one line", " 'One  line.' "])
def test_what_a_note_says_may_be_quoted(device, answer):
    task = begun(markor.MarkorNoteLine, device, name="a.md", files=NOTES)
    assert task.evaluate(device, answer) == 1.0
    device.write(note("a.md"), b"Changed.")
    assert task.evaluate(device, answer) == 0.0


@pytest.mark.parametrize(
    ("answer", "score"), [("2.50 kB", 1.0), ("2.5kB", 1.0), ("2 kB", 0.0), ("2.5", 0.0), ("25 kB", 0.0)]
)
def test_sizes_may_be_written_shorter(device, answer, score):
    task = begun(FilesFileSize, device, name="x.mp3", folder="Music", files={"Music/x.mp3": 2500})
    assert task.evaluate(device, answer) == score


@pytest.mark.parametrize(("answer", "score"), [("2", 1.0), ("2.", 1.0), ("3", 0.0), ("2 3", 0.0), ("12", 0.0)])
def test_counts(device, answer, score):
    files = {"Music/x.mp3": 1, "Music/y.mp3": 1, "Movies/z.mp4": 1}
    task = begun(FilesCountFiles, device, folder="Music", other="Movies", files=files)
    assert task.evaluate(device, answer) == score


@pytest.mark.parametrize(("age", "right"), [("newest", "b.txt"), ("oldest", "a.md")])
def test_notes_are_told_apart_by_age(device, age, right):
    ages = {"a.md": 900, "b.txt": 12, "c.md": 13}
    task = begun(MarkorNoteByAge, device, age=age, files=NOTES, ages=ages)
    assert [name for name in NOTES if task.evaluate(device, name)] == [right]
    assert task.evaluate(device, right.partition(".")[0]) == 1.0


@pytest.mark.parametrize("family", [*files.TASKS, *markor.TASKS])
def test_heldout_instances_share_no_name_with_training(family):
    def names(split):
        drawn = [family.sample(ParamRng(seed, split)) for seed in range(40)]
        return {path.rpartition("/")[2] for params in drawn for path in params["files"]}

    assert names("train") and not names("train") & names("heldout")
