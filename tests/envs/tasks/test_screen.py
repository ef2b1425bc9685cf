"""What scripted experts work with."""

import numpy as np
import pytest

from coach_gym.actions import parse_action
from coach_gym.envs.android import AndroidEnv
from coach_gym.envs.suites.play import play
from coach_gym.envs.tasks.screen import EXPERTS, Screen, expert, finishing
from coach_gym.ui import Node, compress
from tests.envs.fake_device import SIZE, SUITE, FakeDevice


def node(cls, bounds, children=(), **attributes):
    return Node(f"android.widget.{cls}", bounds, children=list(children), **attributes)


def show(screen, *nodes):
    screen.update({"ui": compress(node("FrameLayout", (0, 0, 100, 400), nodes))})
    return screen


@pytest.fixture
def screen():
    return show(
        Screen(),
        node("TextView", (0, 0, 100, 20), text="Bluetooth"),
        node("EditText", (0, 20, 100, 40), hint="First name", clickable=True, text="Ann"),
        node("EditText", (0, 40, 100, 60), hint="Last name", clickable=True, focused=True),
        node("LinearLayout", (0, 60, 100, 80), [node("TextView", (0, 60, 50, 70), text="Bluetooth"),
             node("TextView", (0, 70, 50, 80), text="Not connected"),
             node("Switch", (50, 60, 100, 80), checkable=True)], clickable=True),
        node("Button", (0, 80, 50, 100), text="Save as", clickable=True),
        node("Button", (50, 80, 100, 100), text="Save", id="org.app:id/save_button", clickable=True),
        node("RecyclerView", (0, 100, 100, 300), scrollable=True, id="org.app:id/list"),
        node("HorizontalScrollView", (0, 300, 100, 320), scrollable=True),
    )  # fmt: skip


def call(text):
    thought, action = parse_action(text)
    return thought, action.kind, action.start, action.content or action.direction


def test_a_label_is_found_whole_before_in_part(screen):
    assert screen.find("Bluetooth").center == (50, 10)
    assert [element.center[1] for element in screen.find_all("Bluetooth")] == [10, 70]
    assert screen.find("Not connected").checkable
    assert screen.find("save_button").label == "Save" and screen.find("First name").value == "Ann"


def test_a_label_is_not_found_inside_a_word(screen):
    assert not screen.has("Sav") and not screen.has("connected")
    assert screen.find("Save").center == (75, 90)


def test_what_is_missing_is_named_with_what_is_there(screen):
    with pytest.raises(LookupError, match="'Delete' is not on the screen.*'Save as', 'Save'"):
        screen.tap("Delete")


def test_a_touch_goes_to_what_can_be_touched(screen):
    assert call(screen.tap("Bluetooth")) == ("Bluetooth", "click", (50, 70), None)
    assert call(screen.long_press("Save")) == ("Save", "long_press", (75, 90), None)
    assert call(screen.tap(lambda element: element.id == "save_button"))[2] == (75, 90)
    assert parse_action(screen.drag("Save", (1, 2)))[1].end == (1, 2)


def test_fill_touches_the_field_unless_it_has_the_focus(screen):
    assert [call(text)[1:] for text in screen.fill("First name", "Bo")] == [
        ("click", (50, 30), None), ("type", None, "Bo"),
    ]  # fmt: skip
    assert [call(text)[1] for text in screen.fill("Last name", "Ek")] == ["type"]


def test_refill_selects_what_is_there_first(screen):
    assert [call(text)[1] for text in screen.refill("First name", "Bo")] == ["long_press", "type"]
    assert [call(text)[1] for text in screen.refill("Last name", "Ek")] == ["type"]


def test_toggle_leaves_alone_what_is_as_wanted(screen):
    assert list(screen.toggle("Bluetooth", False)) == []
    assert [call(text)[2] for text in screen.toggle("Bluetooth", True)] == [(50, 70)]


def test_actions_without_target(screen):
    texts = [screen.back(), screen.home(), screen.enter(), screen.wait(), screen.finish("42"), *screen.open("Clock")]
    assert [call(text)[1:] for text in texts] == [
        ("press_back", None, None), ("press_home", None, None), ("press_enter", None, None), ("wait", None, None),
        ("finished", None, "42"), ("open_app", None, "Clock"),
    ]  # fmt: skip


def test_scroll_takes_the_largest_area_or_the_one_given(screen):
    assert call(screen.scroll("down")) == ("", "scroll", (50, 200), "down")
    assert call(screen.scroll("left", within=lambda e: e.cls == "HorizontalScrollView"))[2] == (50, 310)
    with pytest.raises(LookupError, match="nothing on the screen scrolls"):
        show(Screen()).scroll("down")


class Scroller:
    """A list of numbered rows of which three show."""

    def __init__(self, rows, first=0):
        self.rows, self.first, self.screen = rows, first, Screen()
        self.draw()

    def draw(self):
        rows = [node("TextView", (0, 10 * i, 100, 10 * i + 10), text=f"row {self.first + i}") for i in range(3)]
        show(self.screen, node("ListView", (0, 0, 100, 30), rows, scrollable=True))

    def follow(self, texts):
        """Carries out the scrolls that a generator asks for, and counts them."""
        count = 0
        for text in texts:
            step = {"down": 2, "up": -2}[parse_action(text)[1].direction]
            self.first = min(max(0, self.first + step), self.rows - 3)
            self.draw()
            count += 1
        return count


@pytest.mark.parametrize(("first", "wanted", "scrolls"), [(0, 1, 0), (0, 6, 2), (7, 2, 4)])
def test_scroll_to_goes_down_and_then_back_up(first, wanted, scrolls):
    scroller = Scroller(10, first)
    assert scroller.follow(scroller.screen.scroll_to(f"row {wanted}")) == scrolls
    assert scroller.screen.has(f"row {wanted}")


def test_scroll_to_gives_up_at_both_ends():
    scroller = Scroller(10, 5)
    with pytest.raises(LookupError, match="'row 99' was not found by scrolling"):
        scroller.follow(scroller.screen.scroll_to("row 99"))


@pytest.mark.parametrize(
    ("targets", "touched"), [((), []), (("Save", "First name"), [(75, 90), (50, 30)])], ids=["none", "two"]
)
def test_follow_touches_one_after_another(screen, targets, touched):
    assert [call(text)[1:3] for text in screen.follow(*targets)] == [("click", point) for point in touched]


def test_follow_scrolls_to_what_is_not_shown(screen):
    steps = screen.follow("Bluetooth", "Zebra")
    assert call(next(steps))[1] == "click"
    assert call(next(steps))[1] == "scroll"
    show(screen, node("Button", (0, 0, 100, 20), text="Zebra", clickable=True))
    assert [call(text)[1:3] for text in steps] == [("click", (50, 10))]


def test_sweep_looks_at_every_page_once():
    screen, seen = Screen(), []
    pages = [[node("RecyclerView", (0, 0, 100, 300), [node("TextView", (0, 0, 100, 20), text=text)], scrollable=True)]
             for text in ("one", "two", "two")]  # fmt: skip
    show(screen, *pages[0])
    steps = screen.sweep(lambda: seen.extend(e.label for e in screen.elements if e.label))
    for shown, action in zip(pages[1:], steps, strict=False):
        assert call(action)[1::2] == ("scroll", "down")
        show(screen, *shown)
    assert list(steps) == [] and seen == ["one", "two"]


def test_sweep_does_not_scroll_what_cannot_be_scrolled():
    seen = []
    screen = show(Screen(), node("TextView", (0, 0, 100, 20), text="all"))
    assert list(screen.sweep(lambda: seen.append(screen.elements[-1].label))) == [] and seen == ["all"]


def test_an_expert_finishes_once_and_with_its_answer(screen):
    def silent(s, p):
        yield s.tap("Save")

    def talking(s, p):
        yield s.finish(p["answer"])

    assert [call(text)[1] for text in finishing(silent)(screen, {})] == ["click", "finished"]
    assert [call(text)[1::2] for text in finishing(talking)(screen, {"answer": "7"})] == [("finished", "7")]
    assert [call(text)[1] for text in finishing(lambda s, p: iter(()))(screen, {})] == ["finished"]


def test_two_experts_for_one_family_are_refused():
    with pytest.raises(ValueError, match="SaveName has two experts"):
        expert("SaveName")(EXPERTS["SaveName"])


def test_play_records_what_the_expert_saw_and_did():
    env = AndroidEnv(device=FakeDevice, screen_size=SIZE, suite=SUITE)
    observation, info = env.reset(options={"task": "SaveName", "params": {"name": "Ada"}})
    shown = play(env, observation, info)
    assert shown.reward == 1.0 and shown.info["is_success"]
    assert [parse_action(text)[1].kind for text in shown.actions] == ["type", "click", "finished"]
    assert shown.steps[0][0] is observation and 'text="Ada"' in shown.steps[1][0]["ui"]


def test_play_can_tell_the_expert_something_else():
    env = AndroidEnv(device=FakeDevice, screen_size=SIZE, suite=SUITE)
    observation, info = env.reset(options={"task": "SaveName", "params": {"name": "Ada"}})
    assert play(env, observation, info, {"name": "Eve"}).reward == 0.0


def test_colours_are_those_of_the_screenshot_and_text_alone_will_do():
    screen = Screen()
    pixels = np.zeros((4, 3, 3), np.uint8)
    pixels[1, 2] = 200, 100, 50
    screen.update({"ui": "", "screenshot": pixels})
    assert screen.color(2, 1) == (200, 100, 50) and screen.color(1, 2) == (0, 0, 0)
    screen.update({"ui": ""})
    assert screen.color(2, 1) == (200, 100, 50), "the last one seen"
