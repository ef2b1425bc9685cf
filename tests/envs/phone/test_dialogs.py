"""Dialogs and pickers: what they call, and with what, when they are answered one way or the other."""

from datetime import date, time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coach_gym.envs.phone.app import App, Choice, Confirm, Dialog, Menu, Prompt, Screen
from coach_gym.envs.phone.screens.pickers import DatePicker, HalfDayPicker, TimePicker
from coach_gym.envs.phone.toolkit.widgets import Button, Column
from tests.envs.phone.sampler import PACKAGE, Blank, showing


@pytest.fixture
def answers():
    return []


def closed(hands):
    return len(hands.phone.stack) == 1


# dialogs


@pytest.mark.parametrize(("answer", "called"), [("Delete", [True]), ("Keep", [])])
def test_a_question_calls_back_on_yes_alone(answers, answer, called):
    hands = showing(Confirm("Delete it?", "For good.", "Delete", lambda: answers.append(True), no="Keep"))
    assert hands.shows("Delete it?") and hands.shows("For good.")
    hands.tap(answer)
    assert answers == called and closed(hands)


@pytest.mark.parametrize("leave", [lambda hands: hands.back(), lambda hands: hands.phone.tap(5, 300)])
def test_back_and_a_touch_beside_it_leave_a_dialog(answers, leave):
    hands = showing(Confirm("Delete it?", "", "Delete", lambda: answers.append(True)))
    leave(hands)
    assert closed(hands) and not answers


def test_a_touch_on_a_dialogs_card_does_nothing(answers):
    hands = showing(Confirm("Delete it?", "For good.", "Delete", lambda: answers.append(True)))
    hands.tap("For good.")
    assert not closed(hands) and not answers


def test_what_is_behind_a_dialog_is_neither_read_nor_touched(answers):
    class Behind(Screen):
        def build(self):
            return Column([Button("Behind", lambda: answers.append(True))])

    hands = showing(Behind())
    at = hands.find("Behind").center
    hands.phone.push(hands.phone.apps[PACKAGE], Confirm("?", "", "Yes", print))
    assert not hands.shows("Behind")
    hands.phone.tap(*at)
    assert not answers


@pytest.mark.parametrize("finish", [lambda hands: hands.tap("Save"), lambda hands: hands.phone.key("ENTER")])
def test_a_prompt_gives_what_was_typed(answers, finish):
    hands = showing(Prompt("Name", answers.append, "Bo", "Your name", "Save"))
    hands.tap("Your name")
    hands.type("b")
    finish(hands)
    assert answers == ["Bob"] and closed(hands)


def test_a_cancelled_prompt_gives_nothing(answers):
    hands = showing(Prompt("Name", answers.append, "Bob"))
    hands.tap("Cancel")
    assert not answers and closed(hands)


def test_a_question_by_a_screen_selects_what_it_proposes(answers):
    hands = showing(Blank())
    hands.phone.top.ask("Rename", answers.append, "old", "Name")
    hands.type("new")
    hands.tap("OK")
    assert answers == ["new"]


def test_a_choice_marks_one_and_gives_another(answers):
    hands = showing(Choice("Ring with", ["Beep", "Buzz", "Chime"], answers.append, current="Buzz"))
    assert [e.checked for e in hands.elements if e.checkable] == [False, True, False]
    hands.tap("Chime")
    assert answers == ["Chime"] and closed(hands)


def test_a_long_choice_scrolls(answers):
    hands = showing(Choice("Which", [f"Option {n}" for n in range(30)], answers.append))
    assert not hands.shows("Option 29")
    for _ in range(12):
        hands.phone.swipe((135, 380), (135, 200))
    hands.tap("Option 29")
    assert answers == ["Option 29"]


def test_a_menu_closes_before_it_calls():
    depths = []
    hands = showing(Menu([("First", lambda: depths.append(len(hands.phone.stack))), ("Second", print)]))
    hands.tap("First")
    assert depths == [1]


@pytest.mark.parametrize("placement", ["top", "center", "bottom"])
def test_menus_appear_where_they_are_placed(placement):
    hands = showing(Menu([("Only", print)], placement))
    middle = hands.find("Only").center[1] / 600
    assert {"top": middle < 0.3, "center": 0.3 < middle < 0.7, "bottom": middle > 0.7}[placement]


@pytest.mark.parametrize(
    ("answer", "now", "later"),
    [("While using the app", 1, 2), ("Only this time", 1, 1), ("Don’t allow", 0, 0)],
)
def test_a_permission_is_asked_for_until_it_is_granted_for_good(answers, answer, now, later):
    hands = showing(Blank())

    def ask():
        hands.phone.top.allowed("record audio", lambda: answers.append(True))

    ask()
    assert hands.shows("Allow Sampler to record audio?")
    hands.tap(answer)
    assert len(answers) == now and not hands.shows(answer)
    ask()
    assert len(answers) == later


def test_a_dialog_may_have_neither_title_nor_buttons():
    class Bare(Dialog):
        def content(self):
            return [Button("Inside", self.pop)]

    hands = showing(Bare())
    hands.tap("Inside")
    assert closed(hands)


def test_screens_without_what_they_need_say_so():
    class Half(App):
        label = "Half"

    with pytest.raises(RuntimeError, match="Half has no main screen"):
        Half(None).main()
    with pytest.raises(RuntimeError, match="Screen has no build"):
        Screen().build()


# pickers


def test_a_day_is_picked_in_another_month(answers):
    hands = showing(DatePicker(date(2023, 12, 31), answers.append))
    assert hands.shows("December 2023") and hands.shows("Sun, Dec 31")
    hands.tap("Next month", "29 January 2024", "OK")
    assert answers == [date(2024, 1, 29)]


@pytest.mark.parametrize(("day", "days"), [(date(2024, 2, 10), 29), (date(2023, 2, 10), 28), (date(2023, 10, 1), 31)])
def test_months_have_their_days(day, days):
    hands = showing(DatePicker(day, print))
    shown = [e.desc or e.label for e in hands.elements if f"{day:%B %Y}" in (e.desc or e.label)]
    assert len([text for text in shown if text[0].isdigit()]) == days


def test_a_cancelled_picker_gives_nothing(answers):
    for picker in (DatePicker(date(2023, 1, 1), answers.append), TimePicker(time(1, 2), answers.append)):
        hands = showing(picker)
        hands.tap("Cancel")
        assert closed(hands)
    assert not answers


def test_a_time_is_touched_hour_first(answers):
    hands = showing(TimePicker(time(8, 0), answers.append))
    hands.tap("17 hours", "45 minutes", "OK")
    assert answers == [time(17, 45)]


def test_a_part_can_be_touched_again(answers):
    hands = showing(TimePicker(time(8, 0), answers.append))
    hands.tap("17 hours", "17 hours", "9 hours", "OK")
    assert answers == [time(9, 0)]


@pytest.mark.parametrize(
    ("hour", "minute", "expected"),
    [("7", "5", time(7, 5)), ("24", "60", time(8, 30)), ("", "59", time(8, 59)), ("x", "", time(8, 30))],
)
def test_a_time_is_typed_and_nonsense_ignored(answers, hour, minute, expected):
    hands = showing(TimePicker(time(8, 30), answers.append))
    hands.tap("Switch to text input", "Hour")
    hands.type(hour)
    hands.tap("Minute")
    hands.type(minute)
    hands.back()
    hands.tap("OK")
    assert answers == [expected]


def test_twelve_hours_with_their_halves(answers):
    hands = showing(HalfDayPicker(time(0, 15), answers.append))
    assert hands.shows("12") and hands.find("AM").checked
    hands.tap("PM", "3 hours", "30 minutes", "OK")
    assert answers == [time(15, 30)]


@settings(max_examples=25, deadline=None)
@given(st.times().map(lambda at: at.replace(second=0, microsecond=0, fold=0)), st.sampled_from(["AM", "PM"]))
def test_the_half_of_the_day_keeps_hour_and_minute(at, half):
    answers = []
    hands = showing(HalfDayPicker(at, answers.append))
    hands.tap(half, "OK")
    assert answers[0].hour % 12 == at.hour % 12 and answers[0].minute == at.minute
    assert (answers[0].hour >= 12) == (half == "PM")


@pytest.mark.parametrize(
    ("typed", "start", "expected"),
    [("12", time(1, 0), time(0, 0)), ("12", time(13, 0), time(12, 0)), ("13", time(13, 0), time(13, 0))],
)
def test_twelve_is_the_first_hour_of_a_half(answers, typed, start, expected):
    hands = showing(HalfDayPicker(start, answers.append))
    hands.tap("Switch to text input", "Hour")
    hands.type(typed)
    hands.back()
    hands.tap("OK")
    assert answers == [expected]
