"""Dialects read what published models have written, and write what they would; quoted from the models' own pages."""

import json

import numpy as np
import pytest

from coach_gym.actions import Action, ActionError
from coach_gym.dialects import (
    DIALECTS,
    IMAGE,
    MARKED,
    AgentCpmGui,
    Dialect,
    GuiOwl,
    OSGenesis,
    Qwen3MobileUse,
    QwenMobileUse,
    SetOfMarks,
    UIGenie,
    UITars,
    pictures,
)
from coach_gym.dialects.marks import GREEN, draw_marks
from coach_gym.episode import Observation

WIDTH, HEIGHT = 1080, 2400
UI = "\n".join(
    [
        '<ScrollView text="" id="list" bounds="[0,300][1080,2000]" scrollable="1"/>',
        '<Button text="Get started" bounds="[400,2100][680,2200]" clickable="1"/>',
        '<EditText text="Ana" hint="Name" bounds="[100,400][980,520]" focused="1"/>',
        '<Switch text="Wi-Fi" bounds="[0,600][1080,700]" clickable="1" checked="1"/>',
        '<TextView text="off the screen" bounds="[0,0][0,0]"/>',
    ]
)
SCREEN = Observation(np.full((HEIGHT, WIDTH, 3), 128, np.uint8), UI)


def read(dialect: Dialect, answer: str) -> tuple[str, Action]:
    return dialect.parse(answer, dialect.frame(WIDTH, HEIGHT).showing(UI))


def prompt(dialect: Dialect, previous: list[str] | None = None, error: str = "") -> str:
    seen = Observation(SCREEN.screenshot, UI, error)
    frame = dialect.frame(WIDTH, HEIGHT).showing(UI)
    parts = [part for _, turn in dialect.opening("Turn it on", frame) for part in turn]
    parts += dialect.observation("Turn it on", seen, len(previous or []), frame, previous or [])
    return "".join(part if isinstance(part, str) else f"<{part.value}>" for part in parts)


# UI-TARS 1.5: pixels of the resized image, in both of its published forms


@pytest.mark.parametrize(
    ("call", "action"),
    [
        ("click(start_box='<|box_start|>(378,840)<|box_end|>')", Action("click", (540, 1200))),
        ("click(point='<point>378 840</point>')", Action("click", (540, 1200))),
        ("long_press(point='<point>378 840</point>')", Action("long_press", (540, 1200))),
        (
            "drag(start_point='<point>378 840</point>', end_point='<point>378 420</point>')",
            Action("drag", (540, 1200), (540, 600)),
        ),
        (
            "scroll(point='<point>378 840</point>', direction='down')",
            Action("scroll", (540, 1200), direction="down"),
        ),
        ("type(content='Seattle\\n')", Action("type", content="Seattle\n")),
        ("open_app(app_name='Clock')", Action("open_app", content="Clock")),
        ("press_home()", Action("press_home")),
        ("press_back()", Action("press_back")),
        ("finished(content='The task is done.')", Action("finished", content="The task is done.")),
    ],
)
def test_ui_tars(call: str, action: Action) -> None:
    assert read(UITars(), f"Thought: I will do it.\nAction: {call}") == ("I will do it.", action)
    assert read(UITars(), UITars().format(action, "I will do it.", UITars().frame(WIDTH, HEIGHT)))[1] == action


# Qwen2.5-VL and Qwen3-VL


def test_qwen_2_5_counts_pixels_and_qwen_3_counts_to_999() -> None:
    # README of the cookbook: `{"name": "mobile_use", "arguments": {"action": "click", "coordinate": [935, 406]}}`
    answer = (
        '<tool_call>\n{"name": "mobile_use", "arguments": {"action": "click", "coordinate": [935, 406]}}\n</tool_call>'
    )
    assert read(QwenMobileUse(), answer) == ("", Action("click", (925, 405)))
    assert read(Qwen3MobileUse(), answer) == ("", Action("click", (1011, 975)))
    assert Qwen3MobileUse().frame(WIDTH, HEIGHT).image == (1088, 2400)


def test_qwen_3_says_what_it_does_in_words() -> None:
    answer = (
        "Thought: The search box is at the top.\nAction: Tap the search box.\n<tool_call>\n"
        '{"name": "mobile_use", "arguments": {"action": "click", "coordinate": [500, 100]}}\n</tool_call>'
    )
    dialect = Qwen3MobileUse()
    assert read(dialect, answer) == ("The search box is at the top.", Action("click", (541, 240)))
    assert "Step 1: Tap the search box.; " in prompt(dialect, [answer]) and "999x999" in prompt(dialect)
    written = dialect.format(Action("press_back"), "Wrong page", dialect.frame(WIDTH, HEIGHT))
    assert written.startswith("Thought: Wrong page\nAction: Press Back.\n<tool_call>\n")
    assert read(dialect, written) == ("Wrong page", Action("press_back"))


# UI-Genie: recorded answers of UI-Genie-7B on AndroidControl


def genie(**arguments: object) -> str:
    return f"<tool_call>\n{json.dumps({'name': 'mobile_use', 'arguments': arguments})}\n</tool_call>"


def test_ui_genie() -> None:
    dialect = UIGenie()
    swipe = genie(action="swipe", direction="up", action_desc="Swipe up to view the save option")
    assert read(dialect, swipe) == (
        "Swipe up to view the save option",
        Action("scroll", (540, 1200), direction="down"),
    )
    click = genie(action="click", coordinate=[252, 396], action_desc="click on the first suggested result")
    assert dialect.frame(WIDTH, HEIGHT).model == (504, 1148)
    assert read(dialect, click) == ("click on the first suggested result", Action("click", (540, 828)))
    done = genie(action="terminate", status="success", action_desc="task has completed")
    assert read(dialect, done) == ("task has completed", Action("finished"))
    back = genie(action="system_button", button="Back", action_desc="Go back to the previous page.")
    assert read(dialect, back)[1] == Action("press_back")
    assert "Step 1: click on the first suggested result; Step 2: Go back" in prompt(dialect, [click, back])
    frame = dialect.frame(WIDTH, HEIGHT)
    for answer in (swipe, click, done, back):
        thought, action = read(dialect, answer)
        assert dialect.format(action, thought, frame) == answer
    dragged = dialect.format(Action("drag", (900, 1200), (100, 1190)), "", frame)
    assert json.loads(dragged.split("\n")[1])["arguments"] == {"action": "swipe", "direction": "left"}
    with pytest.raises(ActionError, match="'sideways' is none of"):
        read(dialect, genie(action="swipe", direction="sideways"))


# GUI-Owl: the form that Mobile-Agent-v3's runner takes apart


def test_gui_owl() -> None:
    answer = (
        "<thinking>\nThe settings are open, so Wi-Fi comes next.\n</thinking>\n<tool_call>\n"
        '{"name": "mobile_use", "arguments": {"action": "click", "coordinate": [546, 1204]}}\n</tool_call>\n'
        '<conclusion>\nI opened "Wi-Fi" in the settings.\n</conclusion>'
    )
    dialect = GuiOwl()
    assert read(dialect, answer) == ("The settings are open, so Wi-Fi comes next.", Action("click", (540, 1200)))
    assert read(dialect, answer.replace("thinking>", "think>"))[0] == "The settings are open, so Wi-Fi comes next."
    assert "Step 1: I opened Wi-Fi in the settings.; " in prompt(dialect, [answer])
    tapped = answer.replace('"click"', '"tap"')
    assert read(dialect, tapped)[1] == Action("click", (540, 1200))
    said = '<tool_call>\n{"name": "mobile_use", "arguments": {"action": "answer", "text": "7"}}\n</tool_call>\n'
    assert read(dialect, said) == ("", Action("finished", content="7"))
    written = dialect.format(Action("click", (540, 1200)), "Go on", dialect.frame(WIDTH, HEIGHT))
    assert written.endswith("</tool_call>\n<conclusion>\nClick the element.\n</conclusion>")
    assert read(dialect, written) == ("Go on", Action("click", (540, 1200)))


# AgentCPM-GUI: the examples of its README


@pytest.mark.parametrize(
    ("answer", "action"),
    [
        ('{"POINT":[480,320]}', Action("click", (518, 768))),
        ('{"POINT":[480,320],"duration":1000}', Action("long_press", (518, 768))),
        ('{"POINT":[500,200],"to":"down"}', Action("scroll", (540, 480), direction="up")),
        ('{"POINT":[500,500],"to":[500,200]}', Action("scroll", (540, 1200), (540, 480))),
        ('{"PRESS":"HOME"}', Action("press_home")),
        ('{"TYPE":"Hello, world!"}', Action("type", content="Hello, world!")),
        ('{"duration":500}', Action("wait")),
        ('{"STATUS":"finish"}', Action("finished")),
    ],
)
def test_agent_cpm_gui(answer: str, action: Action) -> None:
    dialect = AgentCpmGui()
    assert read(dialect, answer) == ("", action)
    written = dialect.format(action, "", dialect.frame(WIDTH, HEIGHT))
    assert read(dialect, written) == ("", action)
    if action.kind not in ("wait",):
        assert written == answer


def test_agent_cpm_gui_thinks_in_chinese_and_sees_1120_pixels() -> None:
    thought = (
        "任务目标是点击屏幕上的‘会员’按钮。当前界面显示了应用的推荐页面，顶部有一个导航栏。"
        "点击‘会员’按钮可以访问应用的会员相关内容。"
    )
    answer = f'{{"thought":"{thought}","POINT":[729,69]}}'
    dialect = AgentCpmGui()
    frame = dialect.frame(WIDTH, HEIGHT)
    assert frame.image == (504, 1120)
    assert read(dialect, answer) == (thought, Action("click", (787, 166)))
    assert dialect.format(Action("click", (787, 166)), thought, frame) == answer
    assert "<Question>Turn it on</Question>" in prompt(dialect) and '"required":["thought"]' in prompt(dialect)
    schema = json.loads(prompt(dialect).split("# Schema\n")[1].split("<Question>")[0].strip())
    assert set(schema["properties"]) == {"thought", "POINT", "to", "duration", "PRESS", "TYPE", "STATUS"}
    for wrong in ('{"POINT":[2000,1]}', '{"PRESS":"MENU"}', '{"STATUS":"continue"}', "[]", "click"):
        with pytest.raises(ActionError):
            read(dialect, wrong)
    with pytest.raises(ActionError, match="opens an app"):
        dialect.format(Action("open_app", content="Clock"), "", frame)


# OS-Genesis: an answer from its training data


def test_os_genesis() -> None:
    answer = (
        "Low-level thought: Click 'Get started' to open the setup screen for configuring audio recording settings.\n"
        'action: {"action_type":"click","x":539.5,"y":2148.0}'
    )
    dialect = OSGenesis()
    thought, action = read(dialect, answer)
    assert thought.startswith("Click 'Get started'") and action == Action("click", (540, 2148))
    assert read(dialect, dialect.format(action, thought, dialect.frame(WIDTH, HEIGHT))) == (thought, action)
    tree = json.loads(prompt(dialect).split("Accessibility tree: ")[1].split("\n")[0])
    assert tree["Get started"] == "(540.0, 2150.0)" and tree["Wi-Fi Is_Checked: True"] == "(540.0, 650.0)"
    typed = 'Low-level thought: Name it\naction: {"action_type":"type","text":"Bob","x":540,"y":460}'
    assert read(dialect, typed)[1] == Action("type", (540, 460), content="Bob\n")
    done = 'action: {"action_type":"status","goal_status":"successful"}'
    assert read(dialect, done)[1] == Action("finished")
    assert "Step 1: Low-level thought: Click 'Get started'" in prompt(dialect, [answer])


# Set-of-marks, as AndroidWorld's M3A


def som(action: str) -> str:
    return f"Reason: It is next.\nAction: {action}"


@pytest.mark.parametrize(
    ("fields", "action"),
    [
        ('{"action_type": "click", "index": 1}', Action("click", (540, 2150))),
        ('{"action_type": "long_press", "index": 3}', Action("long_press", (540, 650))),
        ('{"action_type": "input_text", "text": "Bob", "index": 2}', Action("type", (540, 460), content="Bob\n")),
        ('{"action_type": "scroll", "direction": "down"}', Action("scroll", (540, 1200), direction="down")),
        ('{"action_type": "open_app", "app_name": "Clock"}', Action("open_app", content="Clock")),
        ('{"action_type": "navigate_back"}', Action("press_back")),
        ('{"action_type": "navigate_home"}', Action("press_home")),
        ('{"action_type": "keyboard_enter"}', Action("press_enter")),
        ('{"action_type": "wait"}', Action("wait")),
        ('{"action_type": "answer", "text": "42"}', Action("finished", content="42")),
        ('{"action_type": "status", "goal_status": "complete"}', Action("finished")),
    ],
)
def test_set_of_marks(fields: str, action: Action) -> None:
    dialect = SetOfMarks()
    assert read(dialect, som(fields)) == ("It is next.", action)
    assert dialect.format(action, "It is next.", dialect.frame(WIDTH, HEIGHT).showing(UI)) == som(fields)


def test_set_of_marks_refuses_numbers_that_no_element_has() -> None:
    for number in ("4", "-1", '"1"', "null", "1.5"):
        with pytest.raises(ActionError, match="marks go from 0 to 3"):
            read(SetOfMarks(), som(f'{{"action_type": "click", "index": {number}}}'))
    with pytest.raises(ActionError, match="no action_type 'double_tap'"):
        read(SetOfMarks(), som('{"action_type": "double_tap", "index": 1}'))
    with pytest.raises(ActionError, match="click needs start_box"):
        read(SetOfMarks(), som('{"action_type": "click"}'))


def test_the_marks_are_drawn_and_listed() -> None:
    text = prompt(SetOfMarks(), [som('{"action_type": "wait"}')], "no such element")
    assert 'UI element 1: {"index": 1, "text": "Get started", "class": "Button", "is_clickable": true}' in text
    assert '"text": "Ana", "hint": "Name"' in text and "Step 1: Reason: It is next." in text
    assert "no such element" in text and text.endswith("<image><marked>")
    frame = SetOfMarks().frame(WIDTH, HEIGHT)
    parts = SetOfMarks().observation("g", SCREEN, 0, frame, [])
    plain, marked = pictures(parts, SCREEN)
    assert parts[1:] == [IMAGE, MARKED] and (plain == 128).all()
    assert tuple(marked[2199, 679]) == tuple(marked[300, 500]) == GREEN
    assert (marked[301:320, 1:30] == 255).any() and (draw_marks(SCREEN.screenshot, "") == 128).all()


def test_a_smaller_element_is_meant_before_the_one_around_it() -> None:
    frame = SetOfMarks().frame(WIDTH, HEIGHT).showing(UI)
    assert '"index": 2' in SetOfMarks().format(Action("click", (200, 450)), "", frame)
    assert '"index": 0' in SetOfMarks().format(Action("click", (200, 1900)), "", frame)
    outside = SetOfMarks().format(Action("click", (5, 5)), "", frame)
    assert '"x": 5, "y": 5' in outside and read(SetOfMarks(), outside)[1] == Action("click", (5, 5))


# All of them


@pytest.mark.parametrize("name", DIALECTS)
def test_every_prompt_shows_the_task_and_the_screen_and_hostile_answers_are_refused(name: str) -> None:
    dialect = DIALECTS[name]()
    assert isinstance(dialect, Dialect)
    assert "Turn it on" in prompt(dialect) and "<image>" in prompt(dialect) and "{" + "goal}" not in prompt(dialect)
    assert "Turn it on" in prompt(dialect, ["x", "</tool_call>{"])
    for answer in ("", "Action:", "{" * 3000, "x" * 40_000, 'Action: {"action_type": []}', '{"POINT":{}}', "\x00"):
        with pytest.raises(ActionError) as caught:
            read(dialect, answer)
        assert len(str(caught.value)) < 400
