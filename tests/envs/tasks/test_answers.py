"""Which answers count as the same as the right one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coach_gym.envs.tasks.answers import about, plain, same_items, same_number, same_time


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


@pytest.mark.parametrize("answer, right", [
    ("07:30", True), ("7:30", True), ("7:30 am", True), ("7:30am", True), ("7:30 A.M.", True), (" 7:30. ", True),
    ("07:31", False), ("7:30 pm", False), ("19:30", False), ("730", False), ("at 7:30", False), ("", False),
    (None, False),
])  # fmt: skip
def test_a_time_may_be_written_in_several_ways(answer, right):
    assert same_time(answer, "07:30") == right


@pytest.mark.parametrize("hour, written", [
    (0, "12:05 am"), (1, "1:05 am"), (12, "12:05 pm"), (13, "1:05 PM"), (23, "11:05 p.m."),
])  # fmt: skip
def test_noon_and_midnight_are_twelve(hour, written):
    assert same_time(written, f"{hour:02d}:05")


@pytest.mark.parametrize("text, told", [
    (" Gym ", "gym"), ("'Gym'", "gym"), ('"Gym".', "gym"), ("The  Gym", "the gym"), ("a\tb\nc", "a b c"), ("", ""),
    ("GROSSE STRASSE", "grosse strasse"), ("7:30\u200aAM", "7:30 am"),
])  # fmt: skip
def test_plain_texts(text, told):
    assert plain(text) == told


ITEMS = st.lists(st.text("abcdef", min_size=1, max_size=5), min_size=1, max_size=5)


@given(ITEMS, st.randoms(use_true_random=False))
def test_order_case_and_separators_of_a_list_do_not_matter(items, random):
    shuffled = random.sample(items, len(items))
    assert same_items(random.choice([",", ", ", "\n", " ,\n "]).join(shuffled).upper(), items)


@given(ITEMS, ITEMS)
def test_two_lists_are_equal_only_if_their_items_are(given_items, wanted):
    assert same_items(", ".join(given_items), wanted) == (sorted(given_items) == sorted(wanted))


@given(st.text(max_size=20))
def test_any_answer_is_judged(text):
    judged = (same_items(text, ["x"]), same_number(text, 1), about(text, 1, 1), same_time(text, "01:00"))
    assert all(isinstance(verdict, bool) for verdict in judged)


@given(st.integers(0, 10**8), st.integers(0, 1000), st.integers(-2000, 2000))
def test_a_number_counts_up_to_the_tolerance(expected, tolerance, off):
    written = expected + off
    if written >= 0:
        assert about(f"{written:,}", expected, tolerance) == (abs(off) <= tolerance)
