"""What the checks of tasks on pictures let pass."""

import pytest

from coach_gym.envs.apps.gallery import world_tasks as gallery
from coach_gym.envs.apps.markor.app import NOTEBOOK
from coach_gym.envs.tasks.words import ParamRng


@pytest.fixture
def receipt(begin):
    """The task to save a copy of a receipt, and its file name."""
    task = begin(gallery.SaveCopyOfReceiptTaskEval)
    return task, task.params["file_name"]


def test_a_copy_has_the_same_name_and_content(device, receipt):
    task, name = receipt
    data = device.read(f"{gallery.DCIM}/{name}")
    device.write(f"{gallery.DOWNLOAD}/{name}", data[:-9])
    assert task.evaluate(device, None) == 0.0
    device.write(f"{gallery.DOWNLOAD}/{name}", data)
    assert task.evaluate(device, None) == 1.0
    device.write(f"{gallery.DOWNLOAD}/another.jpg", data)
    assert task.evaluate(device, None) == 0.0


def test_the_original_has_to_stay(device, receipt):
    task, name = receipt
    device.write(f"{gallery.DOWNLOAD}/{name}", device.read(f"{gallery.DCIM}/{name}"))
    device.remove(f"{gallery.DCIM}/{name}")
    assert task.evaluate(device, None) == 0.0


@pytest.mark.parametrize("change, score", [
    (lambda text: text, 1.0),
    (lambda text: text.replace(", ", ",") + "\n", 1.0),
    (lambda text: text.replace("\n", "\n\n"), 1.0),
    (lambda text: text.partition("\n")[2], 0.0),
    (lambda text: text.replace("$", ""), 0.0),
    (lambda text: "\n".join(reversed(text.splitlines())), 0.0),
])  # fmt: skip
def test_spaces_do_not_count_in_a_transcribed_receipt_and_all_else_does(device, change, score, begin):
    task = begin(gallery.MarkorTranscribeReceipt)
    device.write(f"{NOTEBOOK}/receipt.md", change(task.params["text"]).encode())
    assert task.evaluate(device, None) == score


@pytest.mark.parametrize("family", [gallery.ExpenseAddMultipleFromGallery, gallery.RecipeAddMultipleRecipesFromImage])
def test_pictures_say_all_that_has_to_be_typed(family):
    """Every text and amount of what is new stands in the picture that the goal names, and only there."""
    for seed in range(20):
        params = family.sample(ParamRng(seed))
        wanted = next(name for name in params["pictures"] if name in family.template)
        text = "\n".join(params["pictures"][wanted])
        for row in params["new"]:
            assert all(field in text for field in row if isinstance(field, str))
            assert not any(row[0] in "\n".join(lines) for name, lines in params["pictures"].items() if name != wanted)
            assert family is gallery.RecipeAddMultipleRecipesFromImage or f"${row[1] / 100:.2f}" in text


@pytest.mark.parametrize("family", gallery.TASKS)
def test_the_check_does_not_raise_on_an_emptied_phone(device, family, begin, empty_storage):
    task = begin(family)
    empty_storage()
    assert task.evaluate(device, None) == 0.0
