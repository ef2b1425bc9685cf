"""What the questions about notes accept."""

import pytest

from coach_gym.envs.apps.joplin import data
from coach_gym.envs.apps.joplin import world_tasks as notes


@pytest.mark.parametrize("family", notes.TASKS)
def test_answers_about_notes_need_them_all_left_alone(device, family, begin):
    task = begin(family, 4)
    params = task.params
    if family is notes.NotesIsTodo:
        answer = str(next(note[3] for note in params["notes"] if note[1] == params["title"]))
    elif family is notes.NotesTodoItemCount:
        answer = str(sum(note[3] for note in params["notes"] if note[0] == params["notebook"]))
    else:
        answer = str(params["count"]) if family is notes.NotesMeetingAttendeeCount else params["quantity"]
    assert task.evaluate(device, answer) == 1 and task.evaluate(device, f"{answer} or so") == 0
    with device.database(data.DATABASE) as db:
        data.update(db, data.notes(db)[0].id, device.now, title="Other")
    assert task.evaluate(device, answer) == 0
