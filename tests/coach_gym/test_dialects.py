"""Dialects: frames, prompts, templates, and the official forms of answers."""

import inspect
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import smart_resize as reference_resize

from coach_gym.actions import DIRECTIONS, Action, ActionError
from coach_gym.dialects import IMAGE, Dialect, Frame, Part, QwenMobileUse, UITars, smart_resize
from coach_gym.dialects.names import DIALECTS
from coach_gym.episode import Observation

SAVE = '<Button text="Save &amp; close" id="save" bounds="[210,40][260,70]" clickable="1"/>'
PHONE = Frame((1080, 2400), (1092, 2408))


def seen(ui: str = SAVE, error: str = "") -> Observation:
    return Observation(np.zeros((4, 4, 3), np.uint8), ui, error)


def text_of(parts: list[Part]) -> str:
    return "".join(part for part in parts if isinstance(part, str))


# Frames


@given(st.integers(1, 4000), st.integers(1, 4000), st.integers(1, 60), st.integers(0, 4000), st.sampled_from([28, 32]))
def test_smart_resize_agrees_with_the_processors(height: int, width: int, least: int, more: int, factor: int) -> None:
    bounds = {"min_pixels": least * 784, "max_pixels": (least + more) * 784}
    try:
        expected = reference_resize(height, width, factor, **bounds)
    except ValueError:
        with pytest.raises(ValueError, match="more elongated than 200:1"):
            smart_resize(height, width, factor, **bounds)
        return
    assert smart_resize(height, width, factor, **bounds) == expected


def test_a_phones_screen_in_ui_tars_frame() -> None:
    assert UITars(max_pixels=16384 * 784).frame(1080, 2400) == QwenMobileUse().frame(1080, 2400) == PHONE
    assert UITars(max_pixels=100 * 784).frame(270, 600).model == (168, 392)
    assert QwenMobileUse().frame(1080, 2400, factor=32).model == (1088, 2400)


def test_ui_tars_sees_images_of_the_papers_size() -> None:
    columns, rows = UITars().frame(1080, 2400).model
    assert columns * rows // 28**2 == 1620 and columns * rows <= UITars().max_pixels == 1_270_180
    assert UITars().min_pixels == 256


@pytest.mark.parametrize("dialect", [UITars(scale=1000, max_pixels=16384 * 784), QwenMobileUse(scale=1000)])
def test_coordinates_may_end_elsewhere_than_the_image(dialect: UITars | QwenMobileUse) -> None:
    """UI-TARS on Qwen2-VL and Qwen3-VL give coordinates in thousandths of the screen."""
    frame = dialect.frame(1080, 2400)
    assert frame.image == PHONE.image == PHONE.model and frame.model == (1000, 1000)
    assert frame.to_screen(500, 500) == (540, 1200) and frame.to_screen(546, 103) == (590, 247)
    assert frame.to_screen(1000, 1000) == (1079, 2399) and frame.to_model(540, 1200) == (500, 500)
    written = dialect.format(Action("click", (540, 1200)), "Save", frame)
    assert "500" in written and dialect.parse(written, frame) == ("Save", Action("click", (540, 1200)))


sides = st.integers(1, 3000)


@given(st.builds(Frame, st.tuples(sides, sides), st.tuples(sides, sides)), st.floats(0, 1), st.floats(0, 1))
def test_frames_lose_at_most_half_a_pixel_each_way(frame: Frame, right: float, down: float) -> None:
    there_and_back = (
        (frame.screen, frame.model, frame.to_model, frame.to_screen),
        (frame.model, frame.screen, frame.to_screen, frame.to_model),
    )
    for (width, height), other, there, back in there_and_back:
        x, y = round(right * (width - 1)), round(down * (height - 1))
        mapped = there(x, y)
        for axis, value, size in ((0, x, width), (1, y, height)):
            exact = min(value * other[axis] / size, other[axis] - 1)
            assert abs(mapped[axis] - exact) <= 0.5
            if other[axis] >= size:
                assert abs(back(*mapped)[axis] - value) <= 1


@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6))
def test_points_outside_the_image_give_the_nearest_edge(x: float, y: float) -> None:
    left, top = PHONE.to_screen(x, y)
    assert 0 <= left < 1080 and 0 <= top < 2400
    assert PHONE.to_screen(5000, -5000) == (1079, 0)


# UI-TARS


@pytest.mark.parametrize(
    "call",
    [
        "click(start_box='<|box_start|>(546,1204)<|box_end|>')",
        "click(start_box='(546,1204)')",
        "click(point='<point>546 1204</point>')",
        "click(start_box='[500,1104,592,1304]')",
    ],
)
def test_ui_tars_points_are_pixels_of_the_resized_image(call: str) -> None:
    answer = f"Thought: I tap on Save.\nAction: {call}"
    assert UITars().parse(answer, PHONE) == ("I tap on Save.", Action("click", (540, 1200)))


points = st.tuples(st.integers(0, 1079), st.integers(0, 2399))
shared = st.one_of(
    st.builds(Action, st.sampled_from(["click", "long_press"]), points),
    st.builds(Action, st.just("scroll"), points, points),
    st.builds(Action, st.sampled_from(["type", "open_app", "finished"]), content=st.text("ab'\"\\\n{}<>|_tool")),
    st.builds(Action, st.sampled_from(["press_back", "press_home", "press_enter", "wait"])),
)
drags = st.builds(Action, st.just("drag"), points, points)
scrolls = st.builds(Action, st.just("scroll"), points, direction=st.sampled_from(DIRECTIONS))


@given(st.one_of(shared, drags, scrolls), st.sampled_from(["", "Save", "1 < 2\nthen"]), st.booleans())
def test_ui_tars_reads_what_it_writes(action: Action, thought: str, ui_text: bool) -> None:
    dialect = UITars(ui_text=ui_text)
    assert dialect.parse(dialect.format(action, thought, PHONE), PHONE) == (thought, action)


def test_the_pocket_models_answer() -> None:
    written = UITars(ui_text=True).format(Action("click", (77, 12)), "Save", Frame((270, 600), (270, 600)))
    assert written == "Thought: Save\nAction: click(start_box='(77,12)')"
    official = UITars().format(Action("click", (540, 1200)), "Save", PHONE)
    assert official == "Thought: Save\nAction: click(start_box='<|box_start|>(546,1204)<|box_end|>')"


def test_the_pocket_models_prompt_is_the_goal_and_the_screen() -> None:
    ui = "\n".join(
        [
            SAVE,
            '<Switch text="Wi-Fi" bounds="[0,100][270,120]" clickable="1" checked="1"/>',
            '<CheckBox text="" id="done" bounds="[0,120][20,140]" clickable="1" checked="0"/>',
            '<EditText text="Ana&#10;Lee" hint="First name" bounds="[0,140][270,160]" focused="1"/>',
            '<TextView text="Tab" bounds="[0,160][270,180]" selected="1"/>',
            '<Button text="Grey" bounds="[0,180][270,200]" enabled="0"/>',
            '<ScrollView text="" bounds="[0,0][270,600]" scrollable="1"/>',
        ]
    )
    dialect = UITars(ui_text=True)
    frame = Frame((270, 600), (540, 600))
    assert dialect.opening("Save it", frame) == [("user", ["Save it"])]
    image, screen = dialect.observation("Save it", seen(ui, "click needs start_box"), 0, frame, [])
    assert image is IMAGE and isinstance(screen, str)
    assert screen.splitlines() == [
        "Save & close 470 55",
        "Wi-Fi 270 110 on",
        "done 20 130 off",
        "First name 270 150 * =Ana Lee",
        "Tab 270 170 *",
        "ScrollView 270 300",
        "!",
    ]


@pytest.mark.parametrize(("name", "marked"), [
    ("Ada Quill", True), ("ada quill", True), ("Ada", True), ("Quill Ada", False), ("Ad", False), ("Edit", False),
    ("report_2.txt", True), ("report_2", True), ("report", False), ("*", False), ("1", False), ("", False),
])  # fmt: skip
def test_the_pocket_model_is_told_what_the_goal_names(name: str, marked: bool) -> None:
    screen = seen(f'<Button text="{name}" id="row" bounds="[0,100][270,120]" clickable="1"/>')
    dialect, frame = UITars(ui_text=True), Frame((270, 600), (270, 600))
    _, text = dialect.observation("Send report_2.txt to Ada Quill.", screen, 0, frame, [])
    assert text == f"{'> ' if marked else ''}{name or 'row'} 135 110"


def test_ui_tars_asks_with_instructions_and_then_shows_screens() -> None:
    (system, _), (user, parts) = UITars(language="German").opening("Save {language} it", PHONE)
    prompt = text_of(parts)
    assert (system, user) == ("system", "user")
    assert prompt.endswith("Save {language} it") and "thought in German" in prompt
    for name in "click long_press type scroll drag open_app press_home press_back press_enter wait finished".split():
        assert f"\n{name}(" in prompt
    assert UITars().observation("g", seen(), 3, PHONE, ["wait()"]) == [IMAGE]
    assert "no 'x'" in text_of(UITars().observation("g", seen(error="no 'x'"), 3, PHONE, ["x"]))


# Templates


def test_a_template_replaces_the_users_text_alone(tmp_path: Path) -> None:
    file = tmp_path / "official.txt"
    file.write_text('## Task in {language}: {"json": {}} {unknown}\n{instruction}', "utf-8")
    opening = UITars(template=file).opening("naïve 👋", PHONE)
    assert opening[0] == UITars().opening("", PHONE)[0]
    assert opening[1:] == [("user", ['## Task in English: {"json": {}} {unknown}\nnaïve 👋'])]


def test_a_template_with_roles_replaces_each(tmp_path: Path) -> None:
    file = tmp_path / "both.txt"
    file.write_text("<|system|>\nA {width} x {height} screen.\n<|user|>\nQ: {goal}\nDone: {progress}\n", "utf-8")
    dialect = QwenMobileUse(template=file)
    assert dialect.opening("g", PHONE) == [("system", ["A 1092 x 2408 screen."])]
    assert dialect.observation("{progress}", seen(), 0, PHONE, []) == ["Q: {progress}\nDone: ", IMAGE]
    assert UITars(ui_text=True, template=file).opening("g", PHONE)[0][0] == "system"


def test_a_template_needs_a_place_for_the_goal(tmp_path: Path) -> None:
    file = tmp_path / "aimless.txt"
    file.write_text("Operate the phone.", "utf-8")
    with pytest.raises(ValueError, match="has no {goal}"):
        UITars(template=file)


def test_a_template_must_begin_with_a_role_if_it_has_any(tmp_path: Path) -> None:
    file = tmp_path / "stray.txt"
    file.write_text("stray\n<|user|>\n{goal}", "utf-8")
    with pytest.raises(ValueError, match="'stray' before it"):
        UITars(template=file)


# Qwen2.5-VL


def call(**arguments) -> str:
    return f"<tool_call>\n{json.dumps({'name': 'mobile_use', 'arguments': arguments})}\n</tool_call>"


@pytest.mark.parametrize(
    ("arguments", "action"),
    [
        ({"action": "click", "coordinate": [546, 1204]}, Action("click", (540, 1200))),
        ({"action": "click", "coordinate": [546.0, 1204.2]}, Action("click", (540, 1200))),
        ({"action": "long_press", "coordinate": [0, 0], "time": 2}, Action("long_press", (0, 0))),
        (
            {"action": "swipe", "coordinate": [546, 1204], "coordinate2": [546, 602]},
            Action("scroll", (540, 1200), (540, 600)),
        ),
        ({"action": "type", "text": "a'b\n"}, Action("type", content="a'b\n")),
        ({"action": "open", "text": "Clock"}, Action("open_app", content="Clock")),
        ({"action": "system_button", "button": "Back"}, Action("press_back")),
        ({"action": "system_button", "button": "Home"}, Action("press_home")),
        ({"action": "system_button", "button": "Enter"}, Action("press_enter")),
        ({"action": "key", "text": "KEYCODE_ENTER"}, Action("press_enter")),
        ({"action": "wait", "time": 2}, Action("wait")),
        ({"action": "answer", "text": "42"}, Action("finished", content="42")),
        ({"action": "terminate", "status": "failure"}, Action("finished")),
    ],
)
def test_every_call_of_mobile_use(arguments: dict, action: Action) -> None:
    assert QwenMobileUse().parse(f"I go on.\n{call(**arguments)}", PHONE) == ("I go on.", action)
    inline = call(**arguments).replace("\n", "").removesuffix("</tool_call>")
    assert QwenMobileUse().parse(f"I go on. {inline}", PHONE) == ("I go on.", action)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("click(start_box='(1,2)')", "holds no <tool_call>"),
        ("<tool_call>", "not valid JSON"),
        ("<tool_call>" + "[" * 30_000, "not valid JSON"),
        ("<tool_call>" + "9" * 30_000, "JSON|mobile_use"),
        ("x" * 40_000, "at most 32768 are read"),
        ("<tool_call>[]", "must be"),
        ('<tool_call>{"name": "browser", "arguments": {}}', "must be"),
        ('<tool_call>{"name": "mobile_use", "arguments": 3}', "must be"),
        (call(), "no action None"),
        (call(action=["click"]), r"no action \['click'\]"),
        (call(action="click"), r"coordinate is None, not the \[x, y\]"),
        (call(action="click", coordinate=[1]), r"coordinate is \[1\]"),
        (call(action="click", coordinate=[float("nan"), 1]), "coordinate is"),
        (call(action="click", coordinate=[float("inf"), 1]), "coordinate is"),
        (call(action="click", coordinate=[10**400, 1]), "coordinate is"),
        (call(action="click", coordinate=["1", "2"]), "coordinate is"),
        (call(action="swipe", coordinate=[1, 2]), "coordinate2 is None"),
        (call(action="type"), "type needs text, a string; it is None"),
        (call(action="type", text={"a": 1}), "type needs text"),
        (call(action="type", text="\ud800"), "control character"),
        (call(action="system_button", button="Menu"), "no key 'Menu' here"),
        (call(action="key", text="volume_up"), "no key 'volume_up' here"),
    ],
)
def test_what_is_wrong_with_a_tool_call_is_said(text: str, message: str) -> None:
    with pytest.raises(ActionError, match=message) as caught:
        QwenMobileUse().parse(text, PHONE)
    assert len(str(caught.value)) < 300


@given(shared, st.sampled_from(["", "Save", "a <tool_call> I think"]))
def test_mobile_use_reads_what_it_writes(action: Action, thought: str) -> None:
    dialect = QwenMobileUse()
    assert dialect.parse(dialect.format(action, thought, PHONE), PHONE) == (thought, action)


@pytest.mark.parametrize(
    ("direction", "right", "down"), [("down", 0, -1), ("up", 0, 1), ("left", 1, 0), ("right", -1, 0)]
)
def test_mobile_use_writes_a_direction_as_the_fingers_swipe(direction: str, right: int, down: int) -> None:
    dialect = QwenMobileUse()
    written = dialect.format(Action("scroll", (540, 1200), direction=direction), "", PHONE)
    _, action = dialect.parse(written, PHONE)
    assert action.end is not None
    assert (np.sign(action.end[0] - 540), np.sign(action.end[1] - 1200)) == (right, down)


def test_mobile_use_repeats_the_task_and_the_steps() -> None:
    dialect = QwenMobileUse()
    [(role, parts)] = dialect.opening("Save it", PHONE)
    tool = text_of(parts)
    assert role == "system" and "The screen is 1092x2408 pixels" in tool and '"mobile_use"' in tool
    qwen3 = QwenMobileUse(scale=999)
    assert "The screen is 999x999 pixels" in text_of(qwen3.opening("Save it", qwen3.frame(1080, 2400, 32))[0][1])
    previous = [f"I open it.\n{call(action='wait')}", call(action="type", text="x")]
    said = dialect.observation("Save it", seen(error="too far"), 2, PHONE, previous)
    text = text_of(said)
    assert said == [text, IMAGE]
    assert "Save it" in text and "Step 1: I open it.; Step 2: " in text and '"text": "x"' in text
    assert "too far" in text


def test_the_described_tool_is_valid_json() -> None:
    [(_, parts)] = QwenMobileUse().opening("g", PHONE)
    function = json.loads(text_of(parts).split("<tools>\n")[1].split("\n</tools>")[0])["function"]
    assert function["name"] == "mobile_use"
    for action in function["parameters"]["properties"]["action"]["enum"]:
        assert f"`{action}`" in function["parameters"]["properties"]["action"]["description"]


def test_every_dialect_keeps_the_protocol() -> None:
    dialects: list[Dialect] = [UITars(), UITars(ui_text=True), QwenMobileUse()]
    for dialect in dialects:
        parts = dialect.observation("g", seen(), 0, dialect.frame(1080, 2400), [])
        assert parts.count(IMAGE) == 1


@pytest.mark.parametrize("wrong", [0, -1, 2.5, "x", True, float("nan"), 10**400])
@pytest.mark.parametrize("name", sorted(DIALECTS))
def test_numbers_that_a_dialect_cannot_be_made_with(name, wrong):
    for argument in inspect.signature(DIALECTS[name]).parameters.keys() & NUMBERS:
        with pytest.raises((TypeError, ValueError), match=argument):
            DIALECTS[name](**{argument: wrong})


NUMBERS = {"min_pixels", "max_pixels", "max_side", "max_turns", "scale"}
