"""The rule by which a response counts as a demonstration's action."""

import pytest

from coach_gym.actions import parse_action
from coach_gym.agents.data.matching import matches


def same(action, shown, width=100):
    return matches(parse_action(action)[1], parse_action(shown)[1], width)


@pytest.mark.parametrize(
    ("action", "shown", "expected"),
    [
        ("click(start_box='(60,50)')", "click(start_box='(50,50)')", True),
        ("click(start_box='(64,50)')", "click(start_box='(50,50)')", True),  # 14 % of 100 pixels
        ("click(start_box='(65,50)')", "click(start_box='(50,50)')", False),
        ("click(start_box='(60,60)')", "click(start_box='(50,50)')", False),  # 14.1 pixels away
        ("long_press(start_box='(50,50)')", "click(start_box='(50,50)')", False),
        ("type(content='New  york')", "type(content=' new York ')", True),
        ("type(content='New York!')", "type(content='New York')", False),
        ("open_app(app_name='notes')", "open_app(app_name='Notes')", True),
        ("finished(content='all done')", "finished()", True),
        ("finished(content='8')", "finished(content='7')", False),
        ("finished()", "finished(content='7')", False),
        ("press_back()", "press_back()", True),
        ("press_back()", "press_home()", False),
        ("scroll(start_box='(9,9)', direction='down')", "scroll(start_box='(50,50)', direction='down')", True),
        ("scroll(start_box='(9,90)', end_box='(12,20)')", "scroll(start_box='(50,50)', direction='down')", True),
        ("scroll(start_box='(9,20)', end_box='(12,90)')", "scroll(start_box='(50,50)', direction='down')", False),
        ("scroll(start_box='(90,9)', end_box='(20,12)')", "scroll(start_box='(50,50)', direction='right')", True),
        ("drag(start_box='(9,9)', end_box='(90,90)')", "drag(start_box='(9,9)', end_box='(80,90)')", True),
        ("drag(start_box='(9,9)', end_box='(90,90)')", "drag(start_box='(9,9)', end_box='(60,90)')", False),
    ],
)
def test_kind_words_and_places_decide(action, shown, expected):
    assert same(action, shown) is expected


def test_the_distance_grows_with_the_screen():
    assert same("click(start_box='(200,0)')", "click(start_box='(50,0)')", width=1080)
    assert not same("click(start_box='(202,0)')", "click(start_box='(50,0)')", width=1080)
