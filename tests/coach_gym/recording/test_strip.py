"""Pictures of episodes."""

import numpy as np
import pytest

from coach_gym.episode import Candidate, Episode, Observation, Step
from coach_gym.recording.strip import draw_action, episode_strip, strip

GREY = np.full((600, 270, 3), 128, np.uint8)


def marked(image):
    """Returns the box in which the picture differs from the grey screenshot, or None."""
    rows, columns = np.nonzero((np.asarray(image) != 128).any(axis=2))
    return (columns.min(), rows.min(), columns.max(), rows.max()) if rows.size else None


@pytest.mark.parametrize("x", [5, 100, 265])
@pytest.mark.parametrize("y", [5, 300, 595])
def test_a_click_has_a_finger_beside_it_that_points_at_it(x, y):
    image = draw_action(GREY, f"click(start_box='({x},{y})')")
    left, top, right, bottom = marked(image)
    outside = max(left - x, x - right, top - y, y - bottom)
    assert 4 <= outside <= 12, "beside what is pressed, and near it"
    assert right - left > 25 and bottom - top > 25, "and not cut off at the edge"


def test_a_long_press_is_larger_than_a_click():
    click = marked(draw_action(GREY, "click(start_box='(100,300)')"))
    long_press = marked(draw_action(GREY, "long_press(start_box='(100,300)')"))
    assert long_press[2] - long_press[0] > click[2] - click[0]


def test_a_drag_is_an_arrow_to_its_end():
    left, _, right, _ = marked(draw_action(GREY, "drag(start_box='(50,300)', end_box='(200,300)')"))
    assert abs(left - 46) <= 1 and abs(right - 200) <= 1


@pytest.mark.parametrize(("direction", "side"), [("down", 1), ("up", 3), ("left", 2), ("right", 0)])
def test_a_scroll_shows_where_the_finger_goes(direction, side):
    extent = marked(draw_action(GREY, f"scroll(start_box='(135,300)', direction='{direction}')"))
    reach = [135 - extent[0], 300 - extent[1], extent[2] - 135, extent[3] - 300]
    assert reach[side] == max(reach) > 100


def test_coordinates_scale_with_the_picture():
    image = draw_action(GREY, "click(start_box='(200,400)')", height=300)
    left, top, right, bottom = marked(image)
    assert image.size == (135, 300)
    assert 0 < 100 - right < 8 and 0 < 200 - bottom < 8, "the finger lies where there is more room"


@pytest.mark.parametrize("text", ["press_back()", "I would tap Save", "", "click(start_box='(1e9,1e9)')"])
def test_what_touches_nothing_draws_nothing(text):
    assert marked(draw_action(GREY, text)) is None


def episode(length, **kwargs):
    candidate = Candidate("", [], [])
    return Episode("Grüße 👋", [Step(Observation(GREY), [candidate], 0, "wait()") for _ in range(length)], **kwargs)


def test_an_episode_fills_rows():
    one, eight, nine = (episode_strip(episode(n), height=200, per_row=8) for n in (1, 8, 9))
    assert one.width < eight.width == nine.width and one.height == eight.height < nine.height


@pytest.mark.parametrize("kwargs", [{"outcome": 1.0, "answer": "x" * 999}, {"fault": "dead"}, {}])
def test_however_an_episode_ended_it_is_shown(kwargs):
    assert episode_strip(episode(2, **kwargs)).height > 480


def test_texts_of_any_length_fit():
    wide = strip([GREY] * 2, ["type(content='" + "w" * 5000 + "')", "x y " * 3000], title="w" * 3000, footer="f " * 999)
    plain = strip([GREY] * 2, ["wait()"] * 2, title="w" * 3000, footer="f")
    assert wide.width == plain.width and 0 < wide.height - plain.height < 60


def test_the_thought_is_written_below_the_action():
    with_thought, without = (strip([GREY], [text]) for text in ("Thought: I see\nAction: wait()", "wait()"))
    assert with_thought.height == without.height + 16


def test_the_last_screen_may_follow_the_last_action():
    assert strip([GREY] * 3, ["wait()"] * 2).width == strip([GREY] * 3, ["wait()"] * 3).width


def test_an_episode_that_did_not_say_it_was_finished_shows_its_last_screen():
    cut_off, finished = episode(2, last=Observation(GREY)), episode(2, last=Observation(GREY))
    finished.steps[-1].action = "finished(content='3')"
    unknown = episode(2)
    assert episode_strip(finished).width == episode_strip(unknown).width < episode_strip(cut_off).width


def test_paper_is_light_or_dark():
    light, dark = (episode_strip(episode(1), dark=dark) for dark in (False, True))
    assert light.size == dark.size
    assert light.convert("L").getpixel((0, 0)) > 200 and dark.convert("L").getpixel((0, 0)) < 60


def test_screenshots_and_actions_go_together():
    with pytest.raises(ValueError, match="no screenshots"):
        strip([], [])
    with pytest.raises(ValueError, match="2 actions do not belong to 1 screenshots"):
        strip([GREY], ["wait()", "wait()"])


@pytest.mark.parametrize(
    "action",
    [
        "click(start_box='(135,541)')", "long_press(start_box='(135,541)')", "open_app(app_name='Pro Expense')",
        "type(content='Jade Fischer')", "press_back()", "finished()", "finished(content='12:30')",
    ],
)  # fmt: skip
def test_an_action_takes_one_line_below_a_small_screenshot(action):
    assert strip([GREY], [action], height=320).size == strip([GREY], ["wait()"], height=320).size


@pytest.mark.parametrize(
    "action",
    [
        "scroll(start_box='(135,300)', direction='down')", "scroll(start_box='(135,300)', end_box='(135,100)')",
        "drag(start_box='(135,300)', end_box='(135,100)')",
    ],
)  # fmt: skip
def test_a_moving_finger_takes_two_lines_at_most(action):
    assert strip([GREY], [action], height=320).height - strip([GREY], ["wait()"], height=320).height <= 16
