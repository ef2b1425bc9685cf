"""AndroidLab's compressed XML, its mended judges and its metrics, each by itself."""

import numpy as np
import pytest

from coach_gym.envs.devices.phone import PhoneDevice
from coach_gym.envs.suites.official_lab import compressed
from coach_gym.envs.suites.official_lab.checkout import Definition
from coach_gym.envs.suites.official_lab.fixed import FIXES, fix
from coach_gym.envs.suites.official_lab.metrics import Run, reasonable_operations, report, sub_goals
from coach_gym.ui import Node, to_dump, to_xml

TITLE = compressed.TITLE


def node(cls="View", bounds=(0, 0, 100, 100), children=(), **more):
    return Node(cls=f"android.widget.{cls}", bounds=bounds, children=list(children), package="org.app", **more)


def keys(*children):
    """The descriptions of elements side by side in a window, without their tags."""
    tree = compressed.tree(to_dump(node(bounds=(0, 0, 1000, 1000), children=children)))
    return [key.partition("] ")[2] for key in (tree or {TITLE: {}})[TITLE]]


# compressed XML; the expected lines are what upstream's tool says of the same dumps


def test_an_element_is_described_by_class_actions_state_and_words():
    switch = node("Switch", text="On", desc="Wi-Fi", clickable=True, checkable=True, checked=True, focusable=True)
    tab = node("FrameLayout", (0, 100, 100, 200), desc="Clock", focusable=True, selected=True)
    secret = node("EditText", (0, 200, 100, 300), text="••", password=True, long_clickable=True, clickable=True)
    box = node("CheckBox", (0, 300, 100, 400), text="Two\nlines", checkable=True)
    assert keys(switch, tab, secret, box) == [
        "Switch ;click check ; checked ;;On Wi-Fi ",
        ";focusable ; selected ; selected, ;Clock ",
        "EditText ;click long-click ; password ; you can input password, ;•• ",
        "CheckBox ;check ; unchecked ;;Twolines ",
    ]


def test_layout_is_dropped_and_its_children_take_its_place():
    inner = [node("TextView", (0, 0, 10, 10), text="a"), node("TextView", (0, 20, 10, 30), text="b")]
    assert keys(node("LinearLayout", (0, 0, 100, 100), [node("View", (0, 0, 100, 100), inner)])) == [
        "TextView ;; ;;a ", "TextView ;; ;;b ",
    ]  # fmt: skip


def test_what_lies_outside_its_parent_is_dropped():
    card = node("LinearLayout", (0, 0, 100, 100), [node("TextView", (50, 50, 150, 60), text="out")], clickable=True)
    tree = compressed.tree(to_xml(node(bounds=(0, 0, 1000, 1000), children=[card])))
    assert "out" not in str(tree)


def test_what_a_later_sibling_covers_is_taken_apart():
    rows = [node("TextView", (0, y, 100, y + 10), text=f"row {y}") for y in (0, 40, 80)]
    scrolling = node("ListView", (0, 0, 100, 100), rows, scrollable=True)
    button = node("Button", (60, 75, 95, 95), desc="Add", clickable=True)
    assert keys(scrolling, button) == ["TextView ;; ;;row 0 ", "TextView ;; ;;row 40 ", "Button ;click ; ;;Add "]


def test_attributes_that_a_dump_has_besides_the_usual_stay():
    tree = compressed.tree(to_xml(node(children=[node("EditText", text="x", hint="Name", clickable=True)])))
    assert list(next(iter(tree[TITLE].values()))) == ["visible-to-user", "bounds", "hint"]


def test_a_dump_is_of_the_window_in_front_and_shows_hints():
    device = PhoneDevice(270, 600)
    device.phone.launch("com.google.android.contacts")
    device.phone.tap(*_center(device, "Create contact"))
    text = compressed.as_text(to_dump(device.ui()))
    assert "EditText ;click ; ;;First name " in text
    assert "Delete" not in text and "systemui" not in to_dump(device.ui())  # neither keyboard nor bars


def _center(device, desc):
    left, top, right, bottom = next(node for node in device.ui().walk() if node.desc == desc).bounds
    return (left + right) // 2, (top + bottom) // 2


def test_text_form_is_indented_by_depth():
    row = node("LinearLayout", (0, 0, 90, 20), [node("TextView", (1, 1, 9, 9), text="a")], clickable=True)
    lines = compressed.as_text(to_dump(node(children=[row]))).splitlines()
    assert [line.partition("] ")[2] or line for line in lines] == [
        f"{TITLE}: ", ";click ; ;;: ", "        bounds: [0,0][90,20]",
        "TextView ;; ;;a : ", "            bounds: [1,1][9,9]",
    ]  # fmt: skip
    assert lines[1].startswith("    [n") and lines[3].startswith("        [n")


def test_no_two_elements_share_a_tag():
    rows = [node("TextView", (0, y, 9, y + 1), text="same") for y in range(3000)]
    tree = compressed.tree(to_dump(node(bounds=(0, 0, 10, 3000), children=rows)))
    assert len(tree[TITLE]) == 3000


def test_what_upstreams_json_does_to_words_is_kept():
    xml = to_dump(node(children=[node("TextView", text="f: {}, g")]))
    (key,) = compressed.tree(xml)[TITLE]
    assert key.endswith(";f g ") and ";f: {}, g " in compressed.as_text(xml)


@pytest.mark.parametrize("xml", ["", "<hierarchy", "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>"])
def test_broken_dumps_are_refused(xml):
    with pytest.raises(ValueError):
        compressed.tree(xml)


def test_an_empty_window_has_no_tree():
    assert compressed.tree(to_dump(node())) is None


# mended judges


class Upstream:
    """As much of upstream's base class as the mended judges use."""

    def __init__(self, _):
        self.truth = None

    def save_answer(self, answer):
        self.truth = answer

    def check_answer(self, line):
        return self.truth is not None and line["parsed_action"]["kwargs"]["message"] == self.truth

    def judge(self, tree, line):
        raise AssertionError("replaced")


def screen(*words, **nested):
    """A tree of elements with these words; keywords give elements with others inside."""
    level = {f"[n{i:04x}] TextView ;; ;;{word} ": {} for i, word in enumerate(words)}
    return {TITLE: level | {f"[m] {above.replace('_', ' ')} ;;": inner for above, inner in nested.items()}}


def row(*described):
    return {f"[r{i}] {words} ": {} for i, words in enumerate(described)}


def judged(task, tree, answer=None, command=None):
    action = {"action": "Tap"} if answer is None else {"action": "finish", "kwargs": {"message": answer}}
    line = {"parsed_action": action} | ({"command": {"adb shell x": command}} if command is not None else {})
    result = fix(Definition(task, "", "", "", None, Upstream, 1)).judge(None).judge(tree, line)
    return result.get("complete") if result["judge_page"] else None


@pytest.mark.parametrize(
    ("task", "right", "wrong"),
    [
        ("setting_0", "1", ["0", "ERROR", ""]),
        ("setting_3", "0", ["1", "ERROR"]),
        ("setting_9", "volume_ring_speaker=0", ["volume_ring_speaker=10", "ERROR"]),
        ("setting_10", "volume_alarm_speaker=7", ["volume_alarm_speaker=17", "ERROR"]),
    ],
)
def test_a_command_that_failed_proves_nothing(task, right, wrong):
    assert judged(task, screen(), command=right) is True
    assert [judged(task, screen(), command=output) for output in wrong] == [False] * len(wrong)
    assert judged(task, screen()) is None


def _alarm(time, on):
    return row(f"TextView ;click ; ;;{time}", f"Switch ;click check ; {'checked' if on else 'unchecked'} ;;")


ALARMS = [("7:30\u200aAM", True), ("2:00\u200aPM", False), ("4:00\u200aPM", False)]
OFF = [(time, False) for time, _ in ALARMS]


def _list(alarms):
    cards = {f"[c{i}] ;click": _alarm(*alarm) for i, alarm in enumerate(alarms)}
    return {TITLE: {"[b] ImageButton ;click ; ;;Add alarm ": {}, **cards}}


@pytest.mark.parametrize(
    ("task", "done", "not_done"),
    [
        ("contacts_2", screen("John Smith", "Call Mobile 1 (234) 567-8", "Email Work 123456@gmail.com"),
         screen("John Smith", "Call Mobile 1 (234) 567-8", "Email Work 123456@qq.com")),
        ("contacts_5", screen("work • label", "Add contacts", "AAA", "ABC"),
         screen("work • label", "Add contacts", "AAA")),
        ("contacts_7", screen("AAA", "October 24, 1996"), screen("AAA", "October 23, 1996")),
        ("calendar_4", screen("any title", "Sat, Jun 01", "Monthly"), screen("any title", "Sat, Jun 01", "Weekly")),
        ("calendar_7", screen("meeting", "May 13", "5 minutes before", "10 minutes before"),
         screen("meeting", "May 13", "15 minutes before", "10 minutes before")),
        ("calendar_8", screen("work", "Today 5:00 PM", "computer"),
         screen("work", "Today 5:00 PM", "30 minutes before")),
        ("calendar_9", screen("work", "Today 5:00 PM", "Daily"), screen("work", "Today 5:00 PM", "Weekly")),
        ("calendar_12", screen("Today", "Hello"), screen("Today", "this day")),
        ("calendar_14", screen("exam", "All day"), screen("exam", "9:00 AM")),
        ("cantook_8", screen("Info", "Hamlet", "100.0%", "Mark as unread"),
         screen("Info", "Hamlet", "0.0%", "Mark as read")),
        ("cantook_9", screen("Info", "Oliver Twist", "Mark as read"), screen("Info", "Oliver Twist", "Mark as unread")),
        ("clock_7", _list(OFF), _list(ALARMS)),
        ("clock_8", _list(ALARMS[:2]), _list(ALARMS)),
        ("clock_9", _list(ALARMS), _list([*ALARMS[:2], ("4:00\u200aPM", True)])),
    ],
)  # fmt: skip
def test_a_mended_judge_tells_done_from_nearly_done(task, done, not_done):
    assert judged(task, done) is True
    assert judged(task, not_done) is False
    assert judged(task, screen("something else")) is None


def test_either_spelling_of_the_title_will_do():
    assert judged("calendar_10", screen("this day")) and judged("calendar_10", screen("this_day"))


def test_all_day_must_be_switched_on():
    switch = {"x": row("TextView ;; ;;All day", "Switch ;check ; unchecked ;;")}
    assert judged("calendar_14", {TITLE: {**screen("exam")[TITLE], **switch}}) is False


def test_the_browser_must_be_the_chosen_one():
    def page(chosen):
        rows = {
            f"[{name}] ;click check ; {'checked' if name == chosen else 'unchecked'} ;;": row(f"TextView ;; ;;{name}")
            for name in ("Chrome", "Firefox")
        }
        return {TITLE: {"[t] TextView ;; ;;Default browser app ": {}, **rows}}

    assert judged("setting_19", page("Firefox")) is True
    assert judged("setting_19", page("Chrome")) is False


def test_the_storage_that_was_seen_is_the_answer():
    task = fix(Definition("setting_6", "", "", "", None, Upstream, 1)).judge(None)
    apps = row("TextView ;; ;;Apps", "TextView ;; ;;11 GB")
    page = {TITLE: {"[t] TextView ;; ;;Storage ": {}, "[r] ;click ; ;;": apps}}
    assert task.judge(page, {"parsed_action": {"action": "Tap"}}) == {"judge_page": False}
    for answer, right in (("11 GB", True), ("12 GB", False)):
        finish = {"parsed_action": {"action": "finish", "kwargs": {"message": answer}}}
        assert task.judge(screen("Home"), finish)["complete"] is right


def test_other_judges_stay_upstreams():
    definition = Definition("zoom_1", "", "", "", None, Upstream, 1)
    assert "zoom_1" not in FIXES and fix(definition) is definition


# metrics


def test_sub_goals_are_counted_without_the_verdict():
    assert sub_goals({"judge_page": True, "1": True, "2": False, "3": False, "complete": False}) == 1 / 3
    assert sub_goals({"1": False, "complete": True}) == 1.0
    assert sub_goals({"judge_page": True, "complete": False}) == 0.0


def _screens(*values):
    return [np.full((4, 5, 3), value, np.uint8) for value in values]


@pytest.mark.parametrize(
    ("values", "ratio"),
    [
        ((1,), 1.0), ((1, 1), 1.0), ((1, 2, 3, 4), 1.0),
        ((1, 1, 2, 3), 1 - 1 / 3), ((1, 2, 3, 3), 1.0),  # the last pair is not looked at
        ((1, 1, 1, 1), 1 - 2 / 3), ((255, 255, 255, 255), 1.0),  # white counts for nothing
        ((), 1.0),
    ],
)  # fmt: skip
def test_operations_without_effect_are_counted_as_upstream_counts_them(values, ratio):
    assert reasonable_operations(_screens(*values)) == pytest.approx(ratio)


def test_screens_that_differ_in_a_thousandth_are_the_same():
    before, after, last = np.zeros((3, 100, 100, 3), np.uint8)
    after[0, :9] = 7  # 27 of 30,000 values
    assert reasonable_operations([before, after, last]) == 0.5
    after[0, :11] = 7
    assert reasonable_operations([before, after, last]) == 1.0


def test_the_report_divides_by_all_tasks_and_redundancy_by_the_completed():
    runs = [Run({"1": True, "complete": True}, 4, 8, 0.5), Run({"1": True, "2": False, "complete": False}, 9, 3, 1.0)]
    assert report(runs, total=4) == {"SR": 25.0, "Sub-SR": 37.5, "RRR": 200.0, "ROR": 37.5}
    assert report([]) == {"SR": 0.0, "Sub-SR": 0.0, "RRR": 0.0, "ROR": 0.0}
