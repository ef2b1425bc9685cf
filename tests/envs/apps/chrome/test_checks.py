"""What the checks of tasks on web pages let pass."""

import pytest

from coach_gym.envs.apps.chrome import sight_tasks
from coach_gym.envs.apps.chrome import world_tasks as browser
from coach_gym.envs.tasks.words import ParamRng
from tests.envs.hands import Hands


@pytest.mark.parametrize("family", browser.TASKS)
def test_a_page_counts_only_in_front_and_only_when_it_says_so(device, family, begin):
    task = begin(family, 5)
    device.phone.launch(browser.PACKAGE)
    assert task.evaluate(device, "Success!") == 0
    device.write(f"{browser.DOWNLOADS}/{task.params['name']}", b"<p>Success!</p>")
    device.phone.top.go_to(f"file://{browser.DOWNLOADS}/{task.params['name']}")
    device.phone.changed()
    assert task.evaluate(device, None) == 1, "that is what such a page says, whoever wrote it"
    device.phone.key("HOME")
    assert task.evaluate(device, None) == 0


@pytest.mark.parametrize("family", [*browser.TASKS, *sight_tasks.TASKS])
def test_what_is_typed_in_the_address_bar_is_not_what_the_page_says(device, family):
    task = family(family.sample(ParamRng(5)))
    task.setup(device)
    hands = Hands(browser.PACKAGE, phone=device.phone)
    device.phone.top.go_to(f"file://{browser.DOWNLOADS}/{task.params['name']}")
    hands.select_text("Search or type URL")
    success = f"Receipt: {task.params['receipts'][task.right]}" if family in sight_tasks.TASKS else "Success!"
    hands.type(success)
    assert success in hands.ui and task.evaluate(device, None) == 0


def test_what_is_typed_in_a_field_of_the_page_is_not_what_the_page_says(device, begin):
    task = begin(browser.BrowserMultiply)
    hands = Hands(browser.PACKAGE, phone=device.phone)
    device.phone.top.go_to(f"file://{browser.DOWNLOADS}/{task.params['name']}")
    device.phone.changed()
    for _ in task.params["numbers"]:
        hands.tap(next(element for element in hands.elements if element.cls == "Button").label)
    hands.tap("Product of all numbers")
    hands.type("Success!")
    assert "Success!" in hands.ui and task.evaluate(device, None) == 0


@pytest.mark.parametrize("seed", range(5))
def test_mazes_have_a_way_from_the_first_cell_to_the_last(seed):
    grid = browser.maze(ParamRng(seed), 5)
    reached, todo = {(0, 0)}, [(0, 0)]
    while todo:
        row, column = todo.pop()
        for cell in ((row + 1, column), (row, column + 1)):
            if max(cell) < 5 and grid[cell[0]][cell[1]] != "#" and cell not in reached:
                reached.add(cell)
                todo.append(cell)
    assert (4, 4) in reached and grid[4][4] == "G" and grid[0][0] == "."
