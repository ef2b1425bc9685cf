"""Joplin's experts count to-dos over several pages, and read numbers and quantities in the text of notes."""

import pytest

from coach_gym.envs.apps.joplin import expert
from coach_gym.envs.apps.joplin.world_tasks import (
    ATTENDANCE,
    QUANTITIES,
    NotesMeetingAttendeeCount,
    NotesRecipeIngredientCount,
    NotesTodoItemCount,
)
from tests.envs.expert_at_work import work

FILLER = [["Work", f"Note {number:02d}", "A line.\nAnother line.", number % 3 == 0, False] for number in range(30)]


@pytest.mark.parametrize("count", [0, 1, 17])
def test_to_dos_of_a_notebook_are_counted_done_or_not(device, count):
    todos = [["Home", f"To do {number:02d}", "", True, number % 2 == 0] for number in range(count)]
    notes = [*FILLER, *todos, ["Home", "A note", "- [ ] no to-do", False, False]]
    task = NotesTodoItemCount({"notebook": "Home", "other": "Work", "notes": notes})
    task.setup(device)
    answer = work(device, expert.count_todos, task.params)
    assert answer == str(count) and task.evaluate(device, answer) == 1
    assert task.evaluate(device, str(count + 1)) == 0 and task.evaluate(device, f"{count} to-dos") == 0


@pytest.mark.parametrize("line", ATTENDANCE)
@pytest.mark.parametrize("lines", [0, 25])
def test_attendance_is_read_however_it_is_worded_and_wherever_it_stands(device, line, lines):
    body = "\n".join(["Minutes", *["- Point 1 of 3 was discussed."] * lines, f"- {line.format(n=42)}"])
    params = {
        "title": "Sprint",
        "count": 42,
        "other": "",
        "notes": [*FILLER, ["Meetings", "Sprint", body, False, False]],
    }
    task = NotesMeetingAttendeeCount(params)
    task.setup(device)
    answer = work(device, expert.attendees, task.params)
    assert answer == "42"
    assert [task.evaluate(device, each) for each in (answer, "42.", "about 42", "4", None)] == [1, 1, 0, 0, 0]


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_a_quantity_is_read_with_its_unit(device, quantity):
    body = f"Ingredients:\n- 9 cups rice\n- {quantity} olive oil\n- 7 g oil\n\nInstructions:\n1. Boil"
    params = {"title": "Soup", "other": "", "ingredient": "olive oil", "quantity": quantity}
    task = NotesRecipeIngredientCount({**params, "notes": [*FILLER, ["Recipes", "Soup", body, False, False]]})
    task.setup(device)
    answer = work(device, expert.quantity, task.params)
    assert answer == quantity and task.evaluate(device, answer) == 1
    for wrong in (quantity.split()[0], f"{quantity} olive oil", "9 cups", "7 g"):
        assert task.evaluate(device, wrong) == 0
