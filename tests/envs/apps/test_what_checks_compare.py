"""Checks of families about records: a change to what they compare fails, a change to anything else does not.

Each family is solved by its expert. Then one column of one record is changed behind the app's back.
"""

import pytest

from coach_gym.envs.apps.bluecoins import lab_expert as bluecoins_expert
from coach_gym.envs.apps.bluecoins import lab_tasks as bluecoins
from coach_gym.envs.apps.cantook import lab_expert as cantook_expert
from coach_gym.envs.apps.cantook import lab_tasks as cantook
from coach_gym.envs.apps.expense import expert as expense_expert
from coach_gym.envs.apps.expense import world_tasks as expense
from coach_gym.envs.apps.joplin import expert as joplin_expert
from coach_gym.envs.apps.joplin import world_tasks as joplin
from coach_gym.envs.apps.messages import expert as messages_expert
from coach_gym.envs.apps.messages import world_tasks as messages
from coach_gym.envs.apps.recipes import expert as recipes_expert
from coach_gym.envs.apps.recipes import world_tasks as recipes
from coach_gym.envs.apps.tasks import expert as tasks_expert
from coach_gym.envs.apps.tasks import world_tasks as tasks
from coach_gym.envs.phone.providers import telephony
from coach_gym.envs.tasks.words import ParamRng
from tests.envs.expert_at_work import work

TEXT, NUMBER = "coalesce({0}, '') || 'x'", "{0} + 1"

CASES = {  # family: its expert, table, changes that must fail, changes that must not
    expense.ExpenseAddSingle: (
        expense_expert.add, expense.DATABASE, "expense",
        {"name": TEXT, "amount": NUMBER, "category": NUMBER, "note": TEXT},
        {"created_date": NUMBER, "modified_date": NUMBER},
    ),
    expense.ExpenseDeleteMultiple: (
        expense_expert.delete, expense.DATABASE, "expense",
        {"name": TEXT, "amount": "-{0}", "category": NUMBER, "note": TEXT}, {"created_date": "0", "note": "NULL"},
    ),
    expense.ExpenseDeleteDuplicates: (
        expense_expert.delete_duplicate, expense.DATABASE, "expense", {"amount": NUMBER}, {"modified_date": "0"},
    ),
    expense.ExpenseChangeAmount: (
        expense_expert.change_amount, expense.DATABASE, "expense", {"name": TEXT, "amount": NUMBER}, {"note": "NULL"},
    ),
    recipes.RecipeAddSingleRecipe: (
        recipes_expert.add, recipes.DATABASE, "recipes", {column: TEXT for column in recipes.COLUMNS},
        {"imageName": TEXT, "source": TEXT, "favorite": "1"},
    ),
    recipes.RecipeDeleteMultipleRecipesWithConstraint: (
        recipes_expert.delete_all_with, recipes.DATABASE, "recipes", {"title": TEXT, "ingredients": TEXT},
        {"favorite": "1"},
    ),
    recipes.RecipeDeleteDuplicateRecipes: (
        recipes_expert.delete_duplicate, recipes.DATABASE, "recipes", {"directions": TEXT}, {"source": TEXT},
    ),
    tasks.TasksAddTask: (
        tasks_expert.add, tasks.DATABASE, "tasks",
        {"title": TEXT, "importance": NUMBER, "dueDate": "{0} + 86400000", "completed": "7", "notes": TEXT,
         "deleted": "7"},
        {"dueDate": "{0} + 1000", "created": NUMBER, "modified": NUMBER, "remoteId": "NULL", "recurrence": TEXT},
    ),
    tasks.TasksSetDueDate: (
        tasks_expert.set_due_date, tasks.DATABASE, "tasks", {"dueDate": "{0} - 86400000", "title": TEXT},
        {"modified": "0"},
    ),
    tasks.TasksRenameTask: (tasks_expert.rename, tasks.DATABASE, "tasks", {"title": TEXT}, {"notes": "''"}),
    bluecoins.BluecoinsAddTransaction: (
        bluecoins_expert.add_transaction, bluecoins.DATABASE, "TRANSACTIONSTABLE",
        {"itemName": TEXT, "amount": "{0} * 2", "date": "'2023-01-01 00:00:00'", "categoryID": NUMBER, "notes": TEXT},
        {"date": "substr({0}, 1, 10) || ' 23:59:59'", "transactionCurrency": "'USD'", "accountID": NUMBER},
    ),
    bluecoins.BluecoinsMoveTransaction: (
        bluecoins_expert.amend_item, bluecoins.DATABASE, "TRANSACTIONSTABLE", {"itemName": TEXT}, {"accountID": "9"},
    ),
    bluecoins.BluecoinsDeleteTransaction: (
        bluecoins_expert.delete_transaction, bluecoins.DATABASE, "TRANSACTIONSTABLE", {"amount": "{0} * 2"},
        {"transactionCurrency": "NULL"},
    ),
    cantook.CantookMarkAsRead: (
        cantook_expert.mark_as_read, cantook.DATABASE, "books", {"title": TEXT, "position": "{0} + 1"},
        {"opened": "1", "author": TEXT, "added": "0"},
    ),
    cantook.CantookDeleteBook: (
        cantook_expert.delete_book, cantook.DATABASE, "books", {"title": TEXT, "position": NUMBER}, {"category": TEXT},
    ),
    joplin.NotesIsTodo: (
        joplin_expert.is_todo, joplin.DATABASE, "notes",
        {"title": TEXT, "body": TEXT, "is_todo": "1 - {0}", "parent_id": "'nowhere'"},
        {"updated_time": NUMBER, "author": TEXT},
    ),
    messages.SimpleSmsSend: (
        messages_expert.send_to_number, telephony.PATH, "sms",
        {"address": "{0} || '7'", "body": TEXT, "type": "5"}, {"read": "1 - {0}", "date": NUMBER, "body": "{0} || ' '"},
    ),
    messages.SmsDeleteThread: (
        messages_expert.delete_thread, telephony.PATH, "sms", {"body": TEXT, "type": "2"}, {"seen": "1 - {0}"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("family", CASES, ids=lambda family: family.__name__)
def test_a_change_counts_if_it_is_to_what_was_asked_for(device, family):
    expert, path, table, fatal, harmless = CASES[family]
    task = family(family.sample(ParamRng(11)))
    task.setup(device)
    answer = work(device, expert, task.params)
    assert task.evaluate(device, answer) == 1
    solved = device.snapshot()
    for changes, score in ((fatal, 0), (harmless, 1)):
        for column, value in changes.items():
            with device.database(path) as db:
                last = db.execute(f"SELECT max(rowid) FROM {table}").fetchone()[0]
                db.execute(f"UPDATE {table} SET {column} = {value.format(column)} WHERE rowid = ?", (last,))
            assert task.evaluate(device, answer) == score, f"{column} = {value}"
            device.restore(solved)


@pytest.mark.parametrize("family", CASES, ids=lambda family: family.__name__)
def test_a_record_too_many_or_too_few_fails(device, family):
    expert, path, table, *_ = CASES[family]
    task = family(family.sample(ParamRng(12)))
    task.setup(device)
    answer = work(device, expert, task.params)
    solved = device.snapshot()
    with device.database(path) as db:
        names = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
        key = names[0]
        columns = ", ".join(f'"{name}"' for name in names[1:])
        copied = "'copy', " if family is joplin.NotesIsTodo else "NULL, "
        db.execute(f"INSERT INTO {table} SELECT {copied}{columns} FROM {table} ORDER BY rowid DESC LIMIT 1")
    assert task.evaluate(device, answer) == 0, "one record is there twice"
    device.restore(solved)
    assert task.evaluate(device, answer) == 1
    with device.database(path) as db:
        db.execute(f"DELETE FROM {table} WHERE {key} = (SELECT max({key}) FROM {table})")
    assert task.evaluate(device, answer) == 0, "one record is gone"


@pytest.mark.parametrize("family", CASES, ids=lambda family: family.__name__)
def test_nothing_done_and_an_empty_table_fail(device, family):
    _, path, table, *_ = CASES[family]
    task = family(family.sample(ParamRng(13)))
    task.setup(device)
    assert task.evaluate(device, None) == 0
    with device.database(path) as db:
        db.execute(f"DELETE FROM {table}")
    assert task.evaluate(device, None) == 0


@pytest.mark.parametrize("family", CASES, ids=lambda family: family.__name__)
def test_empty_cells_are_scored_and_raise_nothing(device, family):
    _, path, table, *_ = CASES[family]
    task = family(family.sample(ParamRng(14)))
    task.setup(device)
    with device.database(path) as db:
        optional = [name for _, name, _, required, _, key in db.execute(f"PRAGMA table_info({table})") if not
                    (required or key)]
        for name in optional:
            db.execute(f'UPDATE {table} SET "{name}" = NULL')
    assert task.evaluate(device, None) == 0
