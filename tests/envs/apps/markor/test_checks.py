"""What the checks of tasks on notes let pass."""

import random

import pytest

from coach_gym.envs.apps.expense.app import DATABASE as LEDGER
from coach_gym.envs.apps.markor import from_notes_tasks as from_notes
from coach_gym.envs.apps.markor import world_tasks as markor
from coach_gym.envs.apps.markor.lab_tasks import MarkorCountNotes, MarkorNoteByAge
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
def test_instances_share_no_name_with_other_splits(family):
    def names(split):
        drawn = [family.sample(ParamRng(seed, split)) for seed in range(40)]
        return {path.rpartition("/")[2] for params in drawn for path in params["files"]}

    train, validation, test = (names(split) for split in ("train", "validation", "test"))
    assert train and not (train & validation or train & test or validation & test)


@pytest.mark.parametrize("made, score", [("Lamp/", 1.0), ("lamp/", 0.0), ("Lamp", 0.0), ("Lamp/a.md", 0.0), ("", 0.0)])
def test_a_folder_is_made_empty_and_of_that_name(device, begin, made, score):
    task = begin(markor.MarkorCreateFolder, name="Lamp", files=NOTES)
    if made.endswith("/"):
        device.phone.storage.mkdir(note(made.rstrip("/")))
    elif made:
        device.write(note(made), b"")
    assert task.evaluate(device, None) == score


MOVED = {"Ideas/a.md": "One.", "Ideas/b.md": "Two.", "Work/c.md": "Three."}


@pytest.mark.parametrize("target, keeps_old, score", [
    ("Work", False, 1.0), ("Work", True, 0.0), ("Travel", False, 0.0), ("work", False, 0.0),
])  # fmt: skip
def test_a_note_is_moved_and_not_copied(device, begin, target, keeps_old, score):
    task = begin(markor.MarkorMoveNote, name="a.md", source="Ideas", target="Work", files=MOVED)
    device.write(note(f"{target}/a.md"), b"One.")
    if not keeps_old:
        device.remove(note("Ideas/a.md"))
    assert task.evaluate(device, None) == score


@pytest.mark.parametrize("family, text, score", [
    (markor.MarkorRenameNote, "One line.", 1.0), (markor.MarkorRenameNote, "New.", 0.0),
    (markor.MarkorChangeNoteContent, "New.", 1.0), (markor.MarkorChangeNoteContent, "One line.", 0.0),
    (markor.MarkorAddNoteHeader, "New.\n\nOne line.", 1.0), (markor.MarkorAddNoteHeader, "New.\nOne line.", 0.0),
    (markor.MarkorAddNoteHeader, "One line.\n\nNew.", 0.0),
])  # fmt: skip
def test_a_renamed_note_has_its_text_and_leaves_no_other_behind(device, begin, family, text, score):
    task = begin(family, name="a.md", new_name="z.md", text="New.", files=NOTES)
    device.write(note("z.md"), text.encode())
    assert task.evaluate(device, None) == 0.0, "the old name is still there"
    device.remove(note("a.md"))
    assert task.evaluate(device, None) == score


@pytest.mark.parametrize("left, score", [([], 1.0), (["a.md"], 0.0), (["New/"], 0.0)])
def test_an_emptied_notebook_is_empty(device, begin, left, score):
    task = begin(markor.MarkorDeleteAllNotes, files=NOTES)
    for name in NOTES:
        if name not in left:
            device.remove(note(name))
    if "New/" in left:
        device.phone.storage.mkdir(note("New"))
    assert task.evaluate(device, None) == score


def test_a_pasted_note_has_the_text_of_the_clipboard(device, begin):
    task = begin(markor.MarkorCreateNoteFromClipboard, name="d.md", text="Copied.", files=NOTES)
    assert device.phone.clipboard == "Copied."
    device.write(note("d.md"), b"Copied.")
    assert task.evaluate(device, None) == 1.0


@pytest.mark.parametrize("answer, score", [("2", 1.0), ("3", 0.0), ("two", 0.0), ("2 notes", 0.0), (None, 0.0)])
def test_notes_of_a_folder_are_counted(device, begin, answer, score):
    files = {"Ideas/a.md": "", "Ideas/b.md": "", "Work/c.md": ""}
    task = begin(MarkorCountNotes, folder="Ideas", other="Work", files=files)
    assert task.evaluate(device, answer) == score


@pytest.mark.parametrize("family", [*markor.TASKS, MarkorCountNotes, MarkorNoteByAge])
@pytest.mark.parametrize("seed", range(3))
def test_a_near_miss_asks_for_something_else(device, begin, family, seed):
    task = begin(family, seed)
    params = task.near_miss(random.Random(seed))
    if params is None:  # stopping early is the near miss
        assert task.kind == "operation"
        return
    other = family(params)
    assert other.goal != task.goal
    if task.kind == "operation" and family is not markor.MarkorCreateNoteAndSms:
        assert other.expected(dict(task.before)) != task.expected(dict(task.before))


def cards(device, task):
    return device.read(note(task.params["note"])).decode().split("\n\n")


@pytest.mark.parametrize("family", [
    from_notes.RecipeAddMultipleRecipesFromMarkor, from_notes.RecipeAddMultipleRecipesFromMarkor2,
])  # fmt: skip
@pytest.mark.parametrize("seed", range(3))
def test_recipes_of_a_note_are_all_or_those_of_the_time_asked_for(device, begin, family, seed):
    task = begin(family, seed)
    titles = [recipe[0] for recipe in task.params["new"]]
    wanted = [card for card in cards(device, task) if task.params.get("time", "") in card.splitlines()[3]]
    assert [card.splitlines()[0] for card in wanted] == [f"Title: {title}" for title in titles] and len(titles) == 2
    assert not any(title in device.read(note(task.params["other"])).decode() for title in titles)
