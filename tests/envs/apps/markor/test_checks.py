"""What the checks of tasks on notes let pass."""

import pytest

from coach_gym.envs.apps.expense.app import DATABASE as LEDGER
from coach_gym.envs.apps.markor import from_notes_tasks as from_notes
from coach_gym.envs.apps.markor import world_tasks as markor
from coach_gym.envs.apps.markor.lab_tasks import MarkorNoteByAge
from coach_gym.envs.tasks.words import ParamRng

NOTES = {"a.md": "One line.", "b.txt": "Another line.", "c.md": "A third."}


def note(name):
    return f"{markor.NOTEBOOK}/{name}"


def test_deleting_more_than_asked_fails(device, begin):
    task = begin(markor.MarkorDeleteNote, name="a.md", files=NOTES)
    device.remove(note("a.md"))
    assert task.evaluate(device, None) == 1.0
    device.remove(note("b.txt"))
    assert task.evaluate(device, None) == 0.0


def test_changing_another_note_fails(device, begin):
    task = begin(markor.MarkorCreateNote, name="d.md", text="Hello.", files=NOTES)
    device.write(note("d.md"), b"Hello.\n")
    assert task.evaluate(device, None) == 1.0
    device.write(note("a.md"), b"One line!")
    assert task.evaluate(device, None) == 0.0


@pytest.mark.parametrize("text", ["hello.", "Hello", "Hello. ", " Hello.", ""])
def test_the_text_of_a_note_counts_to_the_letter(device, text, begin):
    task = begin(markor.MarkorCreateNote, name="d.md", text="Hello.", files=NOTES)
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
def test_where_a_line_was_added(device, where, text, score, begin):
    task = begin(markor.MarkorEditNote, name="a.md", where=where, text="New.", files=NOTES)
    device.write(note("a.md"), text.encode())
    assert task.evaluate(device, None) == score


@pytest.mark.parametrize(
    ("text", "score"),
    [("Another line.\n\nOne line.", 1.0), ("Another line.\nOne line.", 0.0), ("One line.\n\nAnother line.", 0.0)],
)
def test_merged_notes_are_in_order_and_apart(device, text, score, begin):
    files = {**NOTES, "c.md": "End."}
    task = begin(markor.MarkorMergeNotes, name="d.md", first="b.txt", second="a.md", third="c.md", files=files)
    device.write(note("d.md"), f"{text}\n\nEnd.\n".encode())
    assert task.evaluate(device, None) == score


@pytest.mark.parametrize("gone", sorted(NOTES))
def test_only_the_newest_note_may_go(device, gone, begin):
    task = begin(markor.MarkorDeleteNewestNote, files=NOTES, ages={"a.md": 900, "b.txt": 12, "c.md": 13})
    device.remove(note(gone))
    assert task.evaluate(device, None) == float(gone == "b.txt")


def test_a_note_and_its_message_are_both_needed(device, begin):
    params = {"name": "d.md", "text": "Hello.", "number": "+12025550100", "messages": []}
    task = begin(markor.MarkorCreateNoteAndSms, files=NOTES, **params)
    device.write(note("d.md"), b"Hello.")
    assert task.evaluate(device, None) == 0.0
    device.phone.apps["com.simplemobiletools.smsmessenger"].send("+12025550100", "Hello.")
    assert task.evaluate(device, None) == 1.0
    device.remove(note("d.md"))
    assert task.evaluate(device, None) == 0.0


@pytest.mark.parametrize("answer", ["One line.", "one line", " 'One  line.' "])
def test_what_a_note_says_may_be_quoted(device, answer, begin):
    task = begin(markor.MarkorNoteLine, name="a.md", files=NOTES)
    assert task.evaluate(device, answer) == 1.0
    device.write(note("a.md"), b"Changed.")
    assert task.evaluate(device, answer) == 0.0


@pytest.mark.parametrize(("age", "right"), [("newest", "b.txt"), ("oldest", "a.md")])
def test_notes_are_told_apart_by_age(device, age, right, begin):
    ages = {"a.md": 900, "b.txt": 12, "c.md": 13}
    task = begin(MarkorNoteByAge, age=age, files=NOTES, ages=ages)
    assert [name for name in NOTES if task.evaluate(device, name)] == [right]
    assert task.evaluate(device, right.partition(".")[0]) == 1.0


def test_only_expenses_with_the_mark_count(device, begin):
    task = begin(from_notes.ExpenseAddMultipleFromMarkor, 6)
    marked = [line for line in task.params["lines"] if line.endswith(task.params["mark"])]
    assert [line.split(" | ")[0] for line in marked] == [entry[0] for entry in task.params["new"]]
    with device.database(LEDGER) as db:
        for name, cents, category, note in task.params["new"]:
            assert task.evaluate(device, None) == 0
            db.execute(
                "INSERT INTO expense(name, amount, category, note, created_date, modified_date) VALUES (?,?,?,?,0,0)",
                (name, cents, category, note),
            )
    assert task.evaluate(device, None) == 1


@pytest.mark.parametrize("family", markor.TASKS)
def test_heldout_instances_share_no_name_with_training(family):
    def names(split):
        drawn = [family.sample(ParamRng(seed, split)) for seed in range(40)]
        return {path.rpartition("/")[2] for params in drawn for path in params["files"]}

    assert names("train") and not names("train") & names("heldout")
