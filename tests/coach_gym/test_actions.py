"""The action language: official examples, round trips, and messages that tell the agent what to correct."""

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from coach_gym.actions import DIRECTIONS, KINDS, MAX_LENGTH, Action, ActionError, format_action, parse_action
from coach_gym.ui import ILLEGAL_IN_XML

points = st.tuples(st.integers(-99_999, 99_999), st.integers(-99_999, 99_999))
contents = st.text(st.one_of(st.characters(exclude_categories=["Cs"]), st.sampled_from("'\"\\\n\r\t()=,")))
contents = contents.filter(lambda text: not ILLEGAL_IN_XML.search(text))
actions = st.one_of(
    st.builds(Action, st.sampled_from(["click", "long_press"]), points),
    st.builds(Action, st.just("scroll"), points, direction=st.sampled_from(DIRECTIONS)),
    st.builds(Action, st.sampled_from(["scroll", "drag"]), points, points),
    st.builds(Action, st.sampled_from(["type", "open_app", "finished"]), content=contents),
    st.builds(Action, st.sampled_from(["press_back", "press_home", "press_enter", "wait"])),
)


@given(actions, st.text())
@example(Action("type", content="first\nAction: click(start_box='(1,2)')"), "")
@example(Action("type", content="C:\\new folder\\' , \" 👋🏽"), "Thought: twice\nAction: wait()")
@example(Action("finished", content="')"), "x")
def test_what_is_written_is_read_back(action: Action, thought: str) -> None:
    said = thought.strip()
    assert parse_action(format_action(action)) == ("", action)
    assert parse_action(format_action(action, said)) == (said, action)


@pytest.mark.parametrize(
    ("call", "action"),
    [
        ("click(start_box='(540,1200)')", Action("click", (540, 1200))),
        ("click(start_box='<|box_start|>(540,1200)<|box_end|>')", Action("click", (540, 1200))),
        ("click(point='<point>540 1200</point>')", Action("click", (540, 1200))),
        ("click(start_box='[500, 1100, 580, 1300]')", Action("click", (540, 1200))),
        ('click(start_box="(540, 1200)")', Action("click", (540, 1200))),
        ("click(start_box=(540,1200))", Action("click", (540, 1200))),
        ("click(start_box='540 1200')", Action("click", (540, 1200))),
        ("click(start_box='(540,1200')", Action("click", (540, 1200))),
        ("click ( start_box = '(-3,1200.4)' , )", Action("click", (-3, 1200))),
        ("long_press(point='<point>7 8</point>')", Action("long_press", (7, 8))),
        ("scroll(point='<point>7 8</point>', direction='down')", Action("scroll", (7, 8), direction="down")),
        ("scroll(start_box='(7,8)', end_box='(9,10)')", Action("scroll", (7, 8), (9, 10))),
        (
            "drag(start_point='<point>1 2</point>', end_point='<point>3 4</point>')",
            Action("drag", (1, 2), (3, 4)),
        ),
        ("open_app(app_name='Simple Calendar Pro')", Action("open_app", content="Simple Calendar Pro")),
        ("type(content='milk\\neggs\\n')", Action("type", content="milk\neggs\n")),
        ("type(content='')", Action("type")),
        ('type(content="it\'s")', Action("type", content="it's")),
        ("type(content='it\\'s \\\\ \\d')", Action("type", content="it's \\ \\d")),
        ("type(content='It's \"here\", isn't it')", Action("type", content="It's \"here\", isn't it")),
        ("type(content='two\nlines')", Action("type", content="two\nlines")),
        ("press_back()", Action("press_back")),
        ("press_home()", Action("press_home")),
        ("press_enter()", Action("press_enter")),
        ("wait()", Action("wait")),
        ("finished()", Action("finished")),
        ("finished(content='42')", Action("finished", content="42")),
    ],
)
def test_every_form_of_the_grammar(call: str, action: Action) -> None:
    assert parse_action(call) == ("", action)
    assert parse_action(f"Thought: Go on.\nAction: {call}\n") == ("Go on.", action)


@pytest.mark.parametrize(
    ("text", "thought"),
    [
        ("Thought: One.\nTwo.\nAction: wait()", "One.\nTwo."),
        ("Action: click(start_box='(1,2)')\nAction: wait()", "Action: click(start_box='(1,2)')"),
        ("Thought: on one line. Action: wait()", "on one line."),
        ("I (think) it is done. Action: wait()", "I (think) it is done."),
        ("no label\nAction:wait()", "no label"),
        ("  wait()  ", ""),
    ],
)
def test_the_thought_is_all_before_the_last_action(text: str, thought: str) -> None:
    assert parse_action(text) == (thought, Action("wait"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "holds no action"),
        ("I will press back.", "holds no action"),
        ("Action: ", "expected the name of an action"),
        ("tap(start_box='(1,2)')", "no action 'tap'; the actions are click, long_press"),
        ("click()", r"click needs start_box; write click\(start_box='\(x,y\)'\)"),
        ("click(start_box='(1,2)', button='left')", "click takes no 'button'"),
        ("click(start_box='(1,2)', point='(1,2)')", "start_box twice"),
        ("click(1,2)", "expected an argument's name"),
        ("click(start_box='(1,2)') click(start_box='(1,2)')", "one action a step"),
        ("type(content='a')\n\nclick(start_box='(1,2)')", "one action a step"),
        ("click(start_box='(1)')", "write a point"),
        ("click(start_box='(1,2,3)')", "write a point"),
        ("click(start_box='(nan,inf)')", r"'\(nan,inf\)'; write a point"),
        ("click(start_box='(1e3,2)')", "write a point"),
        ("click(start_box='(--1,2)')", "write a point"),
        ("click(start_box='(١,٢)')", "write a point"),
        ("click(start_box='(1000000,2)')", "far outside any screen"),
        (f"click(start_box='({'9' * 90},2)')", "far outside any screen"),
        (f"click(start_box='({'9' * 9000},2)')", "write a point"),
        ("scroll(start_box='(1,2)')", "either a direction"),
        ("scroll(start_box='(1,2)', direction='up', end_box='(3,4)')", "either a direction"),
        ("scroll(start_box='(1,2)', direction='sideways')", "'sideways' is none of up, down, left, right"),
        ("scroll(direction='down')", "scroll needs start_box"),
        ("drag(start_box='(1,2)')", "drag needs end_box"),
        ("type()", "type needs content"),
        ("open_app(content='Clock')", "open_app needs app_name"),
        ("type(content='a\x00b')", "control character"),
        ("type(content='\ud800')", "control character"),
        ("type(content='open", "expected a value in quotes"),
        ("press_back", "holds no action"),
        ("press_back(", r"name or \)"),
        ("press_back(now)", "expected ="),
        ("wait()" + " " * MAX_LENGTH, "at most 32768 are read"),
    ],
)
def test_what_is_wrong_is_said(text: str, message: str) -> None:
    with pytest.raises(ActionError, match=message) as caught:
        parse_action(text)
    assert len(str(caught.value)) < 300
    str(caught.value).encode()  # a message never contains half a character


@pytest.mark.parametrize(
    "text",
    [
        "click(start_box=" * 2000,
        "type(content='" + "\\" * 32_000,
        "type(content='" + "' " * 16_000,
        "type(content='" + "')" * 16_000,
        "(" * 32_000,
        "click(start_box='" + "(1," * 10_000,
        "click(start_box='" + " " * 32_000 + "')",
        "Action:" * 4_600,
        "\nAction:" * 4_000,
        "a(" + "b='c'," * 5_000,
        "type(content='" + "a" * 32_000,
        'Action: type(content="' + "\"'" * 16_000,
    ],
)
def test_hostile_texts_are_read_fast(text: str) -> None:
    start = time.perf_counter()
    with pytest.raises(ActionError):
        parse_action(text)
    assert time.perf_counter() - start < 0.1


def test_coordinates_go_through_the_frame_before_they_are_rounded() -> None:
    _, action = parse_action("click(start_box='(0.5, 0.25)')", lambda x, y: (round(x * 1000), round(y * 1000)))
    assert action == Action("click", (500, 250))


@pytest.mark.parametrize("kind", KINDS)
def test_no_action_takes_the_fields_of_all(kind: str) -> None:
    with pytest.raises(ActionError):
        Action(kind, (1, 2), (3, 4), "up", "x")


def test_every_kind_is_written_in_the_papers_form() -> None:
    written = {
        "long_press(start_box='(1,2)')": Action("long_press", (1, 2)),
        "scroll(start_box='(1,2)', direction='up')": Action("scroll", (1, 2), direction="up"),
        "drag(start_box='(1,2)', end_box='(3,4)')": Action("drag", (1, 2), (3, 4)),
        "type(content='a\\'b\\n')": Action("type", content="a'b\n"),
        "open_app(app_name='Clock')": Action("open_app", content="Clock"),
        "finished()": Action("finished"),
        "finished(content='7')": Action("finished", content="7"),
        "press_enter()": Action("press_enter"),
    }
    assert {format_action(action): action for action in written.values()} == written
    assert format_action(Action("wait"), "Not yet.") == "Thought: Not yet.\nAction: wait()"


@pytest.mark.parametrize("kind", ["press_back", "wait"])
def test_an_action_without_text_takes_none(kind: str) -> None:
    with pytest.raises(ActionError, match="takes no content"):
        Action(kind, content="x")
