"""Which answers count as the same as the right one."""

import pytest

from coach_gym.envs.tasks.answers import about, same_items, same_number


@pytest.mark.parametrize("answer, right", [
    ("Gym, Haircut", True), ("haircut,gym.", True), ("Gym\nHaircut", True), ("'Gym', 'Haircut'", True),
    ("Gym", False), ("Gym, Gym, Haircut", False), ("Gym, Haircut, Nap", False), ("Gym Haircut", False), (None, False),
])  # fmt: skip
def test_a_list_is_right_in_any_order_but_only_whole_and_once(answer, right):
    assert same_items(answer, ["Gym", "Haircut"]) == right


@pytest.mark.parametrize("answer, right", [
    ("3", True), (" 3. ", True), ("03", False), ("three", False), ("3 tasks", False), ("", False), (None, False),
])  # fmt: skip
def test_a_number_is_just_its_digits(answer, right):
    assert same_number(answer, 3) == right


@pytest.mark.parametrize("answer, right", [
    ("1000", True), ("1010", True), ("990", True), ("1,000", True), ("1000.0", True), ("1011", False), ("989", False),
    ("about 1000", False), ("1e3", False), ("nan", False), ("", False), (None, False), ("1" * 5000, False),
])  # fmt: skip
def test_a_measured_number_may_be_off_by_the_tolerance(answer, right):
    assert about(answer, 1000, 10) == right
