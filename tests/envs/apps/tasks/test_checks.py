"""What the checks of to-do families let pass."""

import pytest

from coach_gym.envs.apps.tasks import data
from coach_gym.envs.apps.tasks.world_tasks import TasksAddTask, TasksCompleteTask, TasksDeleteTask
from coach_gym.envs.tasks.words import ParamRng


def todo(device, statement, *values):
    with device.database(data.DATABASE) as db:
        db.execute(statement, values)


def test_a_task_is_done_whenever_it_was_done_and_others_stay(device, begin):
    task = begin(TasksCompleteTask)
    title = task.params["title"]
    todo(device, "UPDATE tasks SET completed = 5 WHERE title = ?", title)
    assert task.evaluate(device, None) == 1
    todo(device, "UPDATE tasks SET notes = 'x' WHERE title != ?", title)
    assert task.evaluate(device, None) == 0


def test_a_deleted_task_is_gone_or_marked_as_deleted(device, begin):
    task = begin(TasksDeleteTask)
    todo(device, "UPDATE tasks SET completed = 5 WHERE title = ?", task.params["title"])
    assert task.evaluate(device, None) == 0
    todo(device, "UPDATE tasks SET deleted = 5 WHERE title = ?", task.params["title"])
    assert task.evaluate(device, None) == 1
    todo(device, "DELETE FROM tasks WHERE deleted > 0")
    assert task.evaluate(device, None) == 1


@pytest.mark.parametrize("extra", [*TasksAddTask.DUE, *TasksAddTask.PRIORITY])
def test_a_new_task_has_just_what_was_asked_for(device, extra):
    task = TasksAddTask({**TasksAddTask.sample(ParamRng(3)), "extra": extra})
    task.setup(device)
    *_, (title, importance, due, *_) = task.expected()
    todo(device, "INSERT INTO tasks(title, importance, dueDate) VALUES (?,?,?)", title, importance, due)
    assert task.evaluate(device, None) == 1
    todo(device, "UPDATE tasks SET dueDate = ? WHERE title = ?", due + 86_400_000, title)
    assert task.evaluate(device, None) == 0
