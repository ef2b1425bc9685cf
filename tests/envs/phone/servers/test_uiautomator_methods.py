"""uiautomator's methods by name, as they come over the wire: what they do, and how wrong calls fail."""

import base64
import io
import json
import threading
from datetime import timedelta

import pytest
from PIL import Image

from coach_gym.envs.phone.app import Screen
from coach_gym.envs.phone.servers.uiautomator import finder
from coach_gym.envs.phone.servers.uiautomator.automator import UiAutomator
from coach_gym.envs.phone.servers.uiautomator.errors import NotFound, RpcError
from coach_gym.envs.phone.servers.uiautomator.server import UiAutomatorServer
from coach_gym.envs.phone.toolkit.view import TextInput, View
from coach_gym.envs.phone.toolkit.widgets import Button, Column, ListItem, ListView, Text, TextField
from coach_gym.ui import node_from_xml
from tests.envs.phone.sampler import showing


class Board(Screen):
    """Records what fingers do on it."""

    def __init__(self):
        super().__init__()
        self.seen, self.field = [], TextInput()

    def build(self):
        see = self.seen.append
        return Column(
            [
                Button("Tap", lambda: see("tap"), id="tap"),
                Text("Hold", on_tap=lambda: see("short"), on_long=lambda: see("long"), height=40),
                TextField(self.field, "Field", id="field"),
                View(text="Canvas", on_drag=lambda start, end: see((start, end)), height=120),
                View(text="Strip", on_swipe=see, height=60),
                ListView([ListItem(f"Row {n}", "even" if n % 2 == 0 else "odd") for n in range(20)]),
            ]
        )


@pytest.fixture
def board():
    hands = showing(Board())
    return hands.phone.top


@pytest.fixture
def call(board):
    automator = UiAutomator(board.phone, threading.RLock())
    return lambda name, *params: automator.call(name, list(params))


def selector(**criteria):
    return {"childOrSibling": [], "childOrSiblingSelector": [], **criteria}


TAP, HOLD, CANVAS, STRIP = (selector(text=text) for text in ("Tap", "Hold", "Canvas", "Strip"))
FIELD = selector(className="android.widget.EditText")
LIST = selector(scrollable=True)
ROW = {"className": "android.widget.LinearLayout"}


# fingers


@pytest.mark.parametrize("corner", ["", "tl", "br", "topleft", "bottomright"])
def test_an_object_is_touched_in_the_middle_or_at_a_corner(board, call, corner):
    assert call("click", TAP, corner) and board.seen == ["tap"]


def test_a_touch_at_a_place_lasts_as_long_as_it_is_told(board, call):
    bounds = call("objInfo", HOLD)["bounds"]
    x, y = (bounds["left"] + bounds["right"]) / 2, (bounds["top"] + bounds["bottom"]) / 2
    assert call("click", x, y) and call("click", x, y, 800) and call("longClick", HOLD)
    assert board.seen == ["short", "long", "long"]


@pytest.mark.parametrize("direction", ["left", "right", "up", "down"])
def test_an_object_is_swiped_towards_a_side(board, call, direction):
    assert call("swipe", STRIP, direction, 20) and board.seen == [direction]


def test_a_swipe_over_a_share_of_an_object(board, call):
    assert call("swipe", CANVAS, "right", 0.5, 20)
    ((start, end),) = board.seen
    assert start == pytest.approx((0.5, 0.5), abs=0.02) and end == pytest.approx((0.75, 0.5), abs=0.02)


def test_lines_go_through_all_points(board, call):
    bounds = call("objInfo", CANVAS)["bounds"]
    left, top = bounds["left"], bounds["top"]
    assert call("swipePoints", [left + 10, top + 10, left + 60, top + 10, left + 60, top + 60], 10)
    assert len(board.seen) == 2 and board.seen[0][1] == board.seen[1][0]
    assert call("drag", left + 5, top + 5, left + 50, top + 5, 1) and len(board.seen) == 3
    assert call("dragTo", CANVAS, left + 5, top + 5, 10) and call("dragTo", CANVAS, TAP, 10)
    assert len(board.seen) == 5 and board.seen[4][1][1] < 0, "the tap button lies above the canvas"


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("pinchIn", (50, 10)),
        ("pinchOut", (50, 10)),
        ("gesture", ({"x": 1, "y": 2}, {"x": 9, "y": 9}, {"x": 3, "y": 2}, {"x": 8, "y": 9}, 10)),
    ],
)
def test_two_fingers_pass_without_effect(board, call, name, arguments):
    before = board.phone.now
    assert call(name, CANVAS, *arguments)
    assert not board.seen and board.phone.now > before


def test_a_finger_goes_down_moves_and_comes_up_or_is_taken_back(board, call):
    left, top = call("objInfo", CANVAS)["bounds"]["left"], call("objInfo", CANVAS)["bounds"]["top"]
    events = [(0, 10, 10), (2, 60, 10), (3, 60, 10), (0, 20, 20), (2, 60, 60), (1, 60, 60)]
    for action, x, y in events:
        assert call("injectInputEvent", action, left + x, top + y)
    assert len(board.seen) == 1


def test_a_screen_that_is_off_feels_no_finger_and_few_keys(board, call):
    assert call("sleep") and not call("isScreenOn")
    assert not call("click", TAP, "") and not board.seen
    call("pressKey", "home")
    assert board.phone.foreground != board.phone.launcher.package
    call("pressKey", "power")
    assert call("isScreenOn") and call("click", TAP, "")
    picture = Image.open(io.BytesIO(base64.b64decode(call("takeScreenshot", 0.5))))
    assert picture.size == (135, 300)


@pytest.mark.parametrize(("key", "known"), [("home", True), ("volume_up", True), ("nonsense", False)])
def test_keys_by_name(call, key, known):
    assert call("pressKey", key) == known


def test_an_empty_field_reads_as_its_hint(call):
    assert call("getText", FIELD) == "Field" and call("count", selector(text="Field")) == 1
    screen = node_from_xml(call("dumpWindowHierarchy", False))
    (field,) = (node for node in screen.walk() if node.hint)
    assert (field.text, field.hint) == ("", "Field"), "agents see an empty field"
    call("setText", FIELD, "typed")
    assert call("getText", FIELD) == "typed"


# the device


def test_turning_and_waiting(board, call):
    assert call("setOrientation", "left")
    assert call("deviceInfo")["displayRotation"] == 1 and board.phone.screenshot().shape[:2] == (270, 600)
    with pytest.raises(RpcError, match="unknown orientation 'sideways'"):
        call("setOrientation", "sideways")
    assert call("setOrientation", "n") and board.phone.rotation == 0
    assert call("freezeRotation", True) and call("waitForIdle", 500)
    assert board.phone.storage.settings["system", "accelerometer_rotation"] == "0"
    assert call("openQuickSettings") and board.phone.shade == 2
    assert call("openNotification") and board.phone.shade == 1


def test_the_last_message_outlives_its_time_on_the_screen(board, call):
    assert call("getLastToast") is None
    board.phone.snackbar("Saved")
    call("waitForIdle")
    board.phone.elapse(timedelta(minutes=1))
    assert call("getLastToast") == "Saved"
    call("clearLastToast")
    assert call("getLastToast") is None
    call("makeToast", "Mine", 2000)
    assert board.phone.message[0] == "Mine" and call("getLastToast") == "Mine"


def test_the_screen_is_dumped_to_a_depth(call):
    deep, flat = call("dumpWindowHierarchy", False), call("dumpWindowHierarchy", False, 1)
    assert "Row 1" in deep and "Row 1" not in flat and "Home" in deep
    assert "Home" not in call("dumpWindowHierarchy", False, 50, True), "bars are left out"
    assert call("getLastTraversedText") is None is call("clearLastTraversedText")


# text


def test_text_of_fields(board, call):
    assert call("setText", FIELD, "one\ntwo") and board.field.text == "one two"
    assert call("getText", FIELD) == "one two"
    assert call("clearTextField", FIELD) and board.field.text == ""
    assert not call("setText", TAP, "x") and call("getText", TAP) == "Tap"
    call("setClipboard", None, "clip")
    call("click", FIELD, "")
    assert call("pasteClipboard") and board.field.text == "clip" == call("getClipboard")
    assert call("clearInputText") and board.field.text == ""


# objects


def test_objects_are_counted_and_described(call):
    assert call("exist", TAP) and not call("exist", selector(text="No"))
    rows = selector(textStartsWith="Row")
    assert call("count", rows) == len(call("objInfoOfAllInstances", rows)) > 2
    info = call("objInfo", TAP)
    assert info["resourceName"].endswith(":id/tap") and info["clickable"] and not info["longClickable"]


def test_children_are_named_by_what_is_in_them(call):
    name = call("childByText", LIST, ROW, "Row 2")
    assert isinstance(name, str) and call("exist", name)
    assert "Row 2" in json.dumps(call("objInfo", call("getUiObject", selector(text="Row 2"))))
    assert call("objInfo", call("childByInstance", LIST, ROW, 2))["bounds"] == call("objInfo", name)["bounds"]


def test_children_out_of_sight_are_scrolled_to(call):
    with pytest.raises(NotFound):
        call("childByText", LIST, ROW, "Row 19")
    assert call("exist", call("childByText", LIST, ROW, "Row 19", True))
    with pytest.raises(NotFound):
        call("childByDescription", LIST, ROW, "nothing", True)


def test_names_that_nobody_gave_mean_nothing(call, monkeypatch):
    with pytest.raises(NotFound, match="object 77"):
        call("objInfo", "77")
    monkeypatch.setattr(finder, "MOST_NAMES", 2)
    names = [call("getUiObject", TAP) for _ in range(3)]
    with pytest.raises(NotFound):
        call("objInfo", names[0])
    assert call("exist", names[2])


def test_waiting_ends_when_it_comes_or_is_over(board):
    lock = threading.RLock()
    automator = UiAutomator(board.phone, lock)
    assert not automator.call("waitForExists", [selector(text="Late"), 60])
    assert automator.call("waitForExists", [TAP, 60]) and not automator.call("waitUntilGone", [TAP, 60])

    def later():
        with lock:
            board.pop()

    timer = threading.Timer(0.1, later)
    timer.start()
    assert automator.call("waitUntilGone", [TAP, 5000])
    timer.join()


# lists


def test_lists_scroll_step_by_step_and_to_their_ends(board, call):
    assert call("scrollForward", LIST, True) and call("scrollBackward", LIST, True)
    assert not call("scrollBackward", LIST, True)
    assert call("scrollToEnd", LIST, True, 50) and call("exist", selector(text="Row 19"))
    assert not call("scrollForward", LIST, True)
    assert call("scrollToBeginning", LIST, True, 50) and call("exist", selector(text="Row 0"))
    assert call("flingForward", LIST, True) and call("flingBackward", LIST, True)
    assert call("flingToEnd", LIST, True, 50) and call("flingToBeginning", LIST, True, 50)
    assert call("scrollTo", LIST, selector(text="Row 15")) and not call("scrollTo", LIST, selector(text="Row 99"))
    assert not call("scrollForward", LIST, False), "nothing moves sideways"


# calls that fail


WRONG = {
    "unknown": ("noSuchMethod", [], -32601),
    "inherited": ("__init__", [], -32601),
    "private": ("_touch", [], -32601),
    "internal": ("notice_message", [], -32601),
    "missing": ("click", [], -32602),
    "too many": ("isScreenOn", [1], -32602),
    "by unknown name": ("isScreenOn", {"x": 1}, -32602),
    "wrong type": ("click", ["x", "y", "z"], -32001),
    "not a selector": ("exist", [5], -32602),
    "unknown criterion": ("exist", [selector(colour="red")], -32602),
    "criterion of a wrong type": ("exist", [selector(text=5)], -32602),
    "no expression": ("exist", [selector(textMatches="(")], -32602),
    "odd points": ("swipePoints", [[1, 2, 3], 10], -32602),
    "no such direction": ("swipe", [TAP, "sideways", 10], -32602),
    "no such object": ("click", [selector(text="No"), ""], -32001),
}


@pytest.mark.parametrize(("name", "params", "code"), WRONG.values(), ids=WRONG)
def test_wrong_calls_fail_with_a_code(board, name, params, code):
    automator = UiAutomator(board.phone, threading.RLock())
    with pytest.raises(RpcError) as raised:
        automator.call(name, params)
    assert raised.value.code == code


# the server


def test_the_server_listens_where_it_is_told_while_it_runs(board):
    server = UiAutomatorServer(UiAutomator(board.phone, threading.RLock()))
    with server.running("app_process / com.wetest.uia2.Main"), server.running("app_process / Main -p 7912"):
        assert list(server.ports) == ["tcp:9008", "tcp:7912"]
        with server.running("app_process / com.wetest.uia2.Main"):
            pass
        assert "tcp:9008" in server.ports, "a second server leaves the first one's port alone"
    assert not server.ports


BODIES = {
    b"{": -32700,
    b"[]": -32600,
    b'{"method": 5}': -32600,
    b'{"method": "exist", "id": [1]}': -32600,
    b'{"method": "exist", "id": 1, "params": 5}': -32600,
    b'{"method": "nothing", "id": 1}': -32601,
}


@pytest.mark.parametrize(("body", "code"), BODIES.items())
def test_malformed_requests_have_json_rpcs_codes(board, body, code):
    server = UiAutomatorServer(UiAutomator(board.phone, threading.RLock()))
    status, kind, answer = server._respond("POST", "/jsonrpc/0", body)
    assert status == 200 and json.loads(answer)["error"]["code"] == code


def test_a_fault_of_ours_is_an_internal_error(board, monkeypatch):
    automator = UiAutomator(board.phone, threading.RLock())
    monkeypatch.setitem(automator.methods, "isScreenOn", lambda: 1 / 0)
    answer = UiAutomatorServer(automator)._respond("POST", "/jsonrpc/0", b'{"method": "isScreenOn", "id": 1}')[2]
    assert json.loads(answer)["error"]["code"] == -32603


@pytest.mark.parametrize(
    ("method", "path", "status"), [("GET", "/ping", 200), ("GET", "/x", 404), ("PUT", "/ping", 404)]
)
def test_other_addresses(board, method, path, status):
    server = UiAutomatorServer(UiAutomator(board.phone, threading.RLock()))
    assert server._respond(method, path, b"")[0] == status
