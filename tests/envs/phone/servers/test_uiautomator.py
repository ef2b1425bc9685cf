"""The uiautomator2 server: its HTTP and JSON-RPC, with the client's own classes where they can be had without adb."""

import base64
import inspect
import io
import json
import pathlib
import re
import socket
import threading

import pytest
import uiautomator2
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from coach_gym.envs.phone.input.ime import ADB_IME, OK, U2_IME, broadcast
from coach_gym.envs.phone.servers.uiautomator.automator import UiAutomator
from coach_gym.envs.phone.servers.uiautomator.server import UiAutomatorServer
from coach_gym.envs.profiles import world_phone
from tests.envs.hands import Hands

CONTACTS = "com.google.android.contacts"
SETTINGS = "com.android.settings"


class Client(uiautomator2.Device):
    """The real client, with a socket pair for a device."""

    def __init__(self, phone):
        self.phone, self.lock = phone, threading.RLock()
        self.automator = UiAutomator(phone, self.lock)
        self._dev, self._device_server_port, self._debug = self, 9008, False
        self.settings["wait_timeout"] = 0.2

    serial = "embedded"

    def create_connection(self, network, port):
        ours, theirs = socket.socketpair()

        def serve():
            with theirs:
                UiAutomatorServer(self.automator).serve(theirs)

        threading.Thread(target=serve, daemon=True).start()
        return ours

    def window_size(self):
        return self.phone.width, self.phone.height

    def shell(self, command, timeout=60):
        return uiautomator2.ShellResponse("", 0)


@pytest.fixture
def client():
    return Client(world_phone(270, 600))


def names(client, **selector):
    return [element["text"] or element["contentDescription"] for element in client(**selector).info_list()]


def test_the_device_says_what_it_is(client):
    assert client.info["displayWidth"] == 270 and client.info["sdkInt"] == 33
    assert client.info["currentPackageName"] == client.phone.launcher.package
    assert client.orientation == "natural"


def test_the_screenshot_is_what_is_on_the_screen(client):
    picture = client.screenshot()
    assert picture.size == (270, 600)
    assert picture.convert("RGB").getpixel((5, 300)) == pytest.approx(client.phone.screenshot()[300, 5], abs=6)


def test_a_screen_that_is_off_is_black_and_feels_nothing(client):
    client.screen_off()
    client(text="Contacts").click()
    assert max(client.screenshot().getextrema()[0]) < 8 and not client.info["screenOn"]
    client.screen_on()
    client(text="Contacts").click()
    assert client.phone.foreground == CONTACTS
    client.press("power")
    client.press("home")
    assert not client.info["screenOn"] and client.phone.foreground == CONTACTS
    client.press("power")
    assert client.info["screenOn"]


def test_the_dump_answers_xpath(client):
    assert client.xpath('//android.widget.TextView[@text="Contacts"]').exists
    client.xpath("Contacts").click()
    client.xpath('//*[@content-desc="Create contact"]').click()
    client.xpath("//android.widget.EditText").all()[0].click()
    assert client.phone.focus is not None


def test_the_dump_can_be_cut_in_depth_and_to_the_active_window(client):
    assert client.dump_hierarchy(max_depth=1).count("<node") == 1
    assert "Overview" in client.dump_hierarchy() and "Overview" not in client.dump_hierarchy(root_in_active=True)


def test_what_is_not_there_is_not_found(client):
    assert not client(text="nowhere").exists and client(text="nowhere").wait_gone(0.1)
    for touch in (lambda o: o.click(timeout=0.1), lambda o: o.info, lambda o: o.pinch_in()):
        with pytest.raises(uiautomator2.UiObjectNotFoundError):
            touch(client(text="nowhere"))


def test_something_that_appears_is_waited_for(client):
    def launch():
        with client.lock:
            client.phone.launch(SETTINGS)

    later = threading.Timer(0.3, launch)
    later.start()
    assert client(text="Network & internet").wait(timeout=20)
    later.join()


@pytest.mark.parametrize("text", ["plain", "ünïcödé 中文 العربية 😀👩‍👩‍👧", "'; reboot; '$(x)`\\\"", "a" * 500])
def test_any_text_arrives(client, text):
    client.phone.launch(CONTACTS)
    client(description="Create contact").click()
    field = client(className="android.widget.EditText", instance=1)
    field.set_text(text)
    assert field.get_text() == text
    field.clear_text()
    assert field.get_text() == "Last name"
    field.click()
    client.clipboard = text
    client.jsonrpc.pasteClipboard()
    assert client.clipboard == text and field.get_text() == text
    client.jsonrpc.clearInputText()
    assert field.get_text() == "Last name"


def test_only_fields_take_text(client):
    assert client(text="Contacts").set_text("x") is False


def test_keys_by_name_and_code(client):
    client.phone.launch(SETTINGS)
    assert client.press("home") and client.phone.foreground == client.phone.launcher.package
    assert client.press("recent") and client.press(4) and client.press("volume_up")
    assert client.press("no such key") is False


def test_gestures_reach_the_phone(client):
    client.swipe_ext("up")
    assert client(resourceIdMatches=".*search_box").exists
    client.press("back")
    width, height = client.window_size()
    client.swipe(0.5, 0.9, 0.5, 0.3, 0.1)
    assert client(resourceIdMatches=".*search_box").exists
    client.press("home")
    client.touch.down(100, 500).move(100, 300).up(100, 200)
    assert client(resourceIdMatches=".*search_box").exists


def test_a_long_click_holds(client):
    client.phone.launch(CONTACTS)
    field = client(className="android.widget.EditText")
    field.set_text("some")
    field.long_click()
    assert client(text="Paste").exists


def test_objects_are_dragged_pinched_and_swiped(client):
    client.phone.launch(SETTINGS)
    scrolled = client(text="Connected devices").bounds()
    assert client(text="Connected devices").drag_to(text="Settings") is True
    assert client(text="Connected devices").bounds() < scrolled
    assert client(text="Connected devices").drag_to(100, 400) is True
    assert client(text="Connected devices").bounds() == scrolled
    client.press("home")
    assert client(text="Contacts").pinch_in() and client(text="Contacts").pinch_out()
    assert client().gesture((0.1, 0.1), (0.9, 0.9), (0.5, 0.5), (0.5, 0.5)) is True
    client(text="Contacts").swipe("left")
    assert client.swipe_points([(10, 10), (20, 300), (200, 300)]) is True
    assert client.phone.shade == 1


def test_lists_scroll_to_what_is_wanted():
    client = Client(world_phone(270, 460))
    client.phone.launch(SETTINGS)
    listed = client(scrollable=True)
    assert not client(text="System").exists
    assert listed.scroll.to(text="System") and client(text="System").exists
    assert not listed.scroll.to(text="nowhere")
    assert listed.scroll.toBeginning() and client(text="Network & internet").exists
    assert listed.scroll.backward() is False and listed.scroll.forward() is True
    assert listed.fling.toEnd() and client(text="System").exists
    assert listed.fling.forward() is False and listed.fling.backward() is True


def test_children_and_neighbours_are_found_and_named(client):
    client.phone.launch(SETTINGS)
    rows = client(scrollable=True).child(className="android.widget.LinearLayout")
    assert rows[1].child(className="android.widget.TextView").get_text() == "Connected devices"
    row = client(scrollable=True).child_by_text("Connected devices", className="android.widget.LinearLayout")
    assert row.info["clickable"] and row.exists
    row.click()
    assert client(text="Bluetooth").exists
    with pytest.raises(uiautomator2.UiObjectNotFoundError):
        client(scrollable=True).child_by_text("nowhere", className="android.widget.LinearLayout")
    with pytest.raises(uiautomator2.UiObjectNotFoundError):
        client.jsonrpc.objInfo("no such name")


def test_neighbours_are_found_by_where_they_are(client):
    client.phone.launch(SETTINGS)
    below = client(text="Network & internet").down(text="Connected devices")
    assert below.get_text() == "Connected devices"
    assert client(text="Network & internet").up(text="Connected devices") is None


def test_the_shade_opens(client):
    client.open_notification()
    assert client(description="Bluetooth").exists
    client.open_quick_settings()
    assert client(description="Display brightness").exists


def test_toasts_are_remembered(client):
    assert client.last_toast is None
    client.toast.show("saved", 0.5)
    for _ in range(8):
        client.press("volume_up")
    assert client.phone.message is None and client.last_toast == "saved"
    client.clear_toast()
    assert client.last_toast is None


def test_watchers_of_the_client_press_buttons(client):
    client.watcher.when("Contacts").click()
    client.watcher.run()
    assert client.phone.foreground == CONTACTS


def test_the_rotation_can_be_frozen(client):
    client.freeze_rotation()
    assert client.phone.storage.settings["system", "accelerometer_rotation"] == "0"


def test_every_method_that_the_client_calls_exists():
    source = "".join(p.read_text() for p in pathlib.Path(inspect.getfile(uiautomator2)).parent.rglob("*.py"))
    called = set(re.findall(r"jsonrpc\.([a-zA-Z]+)\b(?=\()", source)) | {"scrollForward", "scrollBackward"}
    called -= {"getParent"}  # only in a comment
    assert len(called) > 40
    assert called <= set(UiAutomator(world_phone(90, 200), threading.RLock()).methods)


# input methods


def encoded(text):
    return base64.b64encode(text.encode()).decode()


@pytest.mark.parametrize(
    ("ime", "action", "extra"), [(U2_IME, "ADB_KEYBOARD_INPUT_TEXT", "text"), (ADB_IME, "ADB_INPUT_B64", "msg")]
)
def test_input_methods_type_what_a_broadcast_says(ime, action, extra):
    hands = Hands(CONTACTS)
    hands.tap("Create contact", "First name")
    if ime == U2_IME:  # heard only while it is chosen
        assert broadcast(hands.phone, action, {extra: encoded("x")}) == (0, "")
    hands.phone.storage.settings["secure", "default_input_method"] = ime
    assert broadcast(hands.phone, action, {extra: encoded("Zoë 中 😀")})[0] == OK
    assert hands.phone.focus.text == "Zoë 中 😀"
    assert broadcast(hands.phone, action, {extra: "not base64!"})[0] != OK
    clear = "ADB_KEYBOARD_CLEAR_TEXT" if ime == U2_IME else "ADB_CLEAR_TEXT"
    assert broadcast(hands.phone, clear, {})[0] == OK and hands.phone.focus.text == ""


def test_a_field_has_the_focus_also_while_its_keyboard_is_hidden():
    hands = Hands(CONTACTS)
    hands.tap("Create contact", "First name")
    automator = UiAutomator(hands.phone, threading.RLock())
    for shown in (True, False):
        hands.phone.keyboard_shown = shown
        hands.phone.changed()
        assert [each["text"] for each in automator.call("objInfoOfAllInstances", [{"focused": True}])] == ["First name"]


def test_the_input_method_hides_and_knows_the_clipboard():
    hands = Hands(CONTACTS)
    hands.phone.storage.settings["secure", "default_input_method"] = U2_IME
    hands.tap("Create contact", "First name")
    assert broadcast(hands.phone, "ADB_KEYBOARD_HIDE", {})[0] == OK and not hands.phone.keyboard_shown
    assert hands.shows("First name"), "hiding the keyboard leaves no screen"
    assert broadcast(hands.phone, "ADB_KEYBOARD_SET_TEXT", {"text": encoded("Zoë")})[0] == OK
    assert hands.phone.focus.text == "Zoë"
    hands.phone.clipboard = "é"
    assert broadcast(hands.phone, "ADB_KEYBOARD_GET_CLIPBOARD", {}) == (OK, encoded("é"))
    assert broadcast(hands.phone, "android.intent.action.BOOT_COMPLETED", {}) is None


# the wire


class Wire(io.BytesIO):
    """What one side sent, and what the other answered."""

    def __init__(self, sent):
        super().__init__(sent)
        self.answer = b""

    recv = io.BytesIO.read

    def sendall(self, data):
        self.answer += data


@pytest.fixture(scope="module")
def server():
    return UiAutomatorServer(UiAutomator(world_phone(90, 200), threading.RLock()))


def talk(server, sent):
    wire = Wire(sent)
    server.serve(wire)
    return wire.answer


def post(body, path="/jsonrpc/0"):
    return b"POST %s HTTP/1.1\r\nContent-Length: %d\r\n\r\n%s" % (path.encode(), len(body), body)


def rpc(server, body):
    return json.loads(talk(server, post(body)).partition(b"\r\n\r\n")[2])


def test_ping(server):
    assert talk(server, b"GET /ping HTTP/1.1\r\n\r\n").endswith(b"\r\n\r\npong")


def test_a_connection_serves_many_requests_until_it_is_closed(server):
    answer = talk(server, b"GET /ping HTTP/1.1\r\n\r\n" * 3)
    assert answer.count(b"pong") == 3
    closing = b"GET /ping HTTP/1.1\r\nConnection: close\r\n\r\n"
    assert talk(server, closing * 3).count(b"pong") == 1
    assert talk(server, b"GET /ping HTTP/1.0\r\n\r\n" * 3).count(b"pong") == 1


def test_other_paths_are_not_found(server):
    assert talk(server, b"GET /etc/passwd HTTP/1.1\r\n\r\n").startswith(b"HTTP/1.1 404 ")


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", -32700),
        (b"{", -32700),
        (b"\xff\xfe", -32700),
        (b"[" * 100_000, -32700),
        (b"[]", -32600),
        (b"17", -32600),
        (b'{"method": 5}', -32600),
        (b'{"method": "deviceInfo", "id": {"a": 1}}', -32600),
        (b'{"method": "deviceInfo", "params": 5}', -32600),
        (b'{"method": "__init__", "params": []}', -32601),
        (b'{"method": "_phone", "params": []}', -32601),
        (b'{"method": "deviceInfo", "params": [1, 2]}', -32602),
        (b'{"method": "click", "params": [NaN, 3]}', -32602),
        (b'{"method": "click", "params": [Infinity, 3]}', -32602),
        (b'{"method": "click", "params": [[], {}]}', -32602),
        (b'{"method": "objInfo", "params": [{"text": 5}]}', -32602),
        (b'{"method": "objInfo", "params": [null]}', -32602),
        (b'{"method": "swipePoints", "params": [[1, 2, 3], 5]}', -32602),
        (b'{"method": "gesture", "params": [{}, {}, {}, {}, {}, 5]}', -32602),
        (b'{"method": "objInfo", "params": [{"text": "x"}]}', -32001),
    ],
)
def test_wrong_calls_get_json_rpcs_errors(server, body, code):
    assert rpc(server, body)["error"]["code"] == code


def test_the_answer_carries_the_calls_id(server):
    assert rpc(server, b'{"jsonrpc": "2.0", "id": "abc", "method": "isScreenOn", "params": []}') == {
        "jsonrpc": "2.0", "id": "abc", "result": True
    }  # fmt: skip


@pytest.mark.parametrize(
    "request_",
    [
        b"nonsense\r\n\r\n",
        b"GET /ping\r\n\r\n",
        b"GET /ping HTTP/2.0\r\n\r\n",
        b"POST /jsonrpc/0 HTTP/1.1\r\nContent-Length: -5\r\n\r\n",
        b"POST /jsonrpc/0 HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n",
        b"POST /jsonrpc/0 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"GET /ping HTTP/1.1\r\nno colon\r\n\r\n",
        b"GET /ping HTTP/1.1\r\n" + b"a: b\r\n" * 200 + b"\r\n",
        b"x" * 100_000,
    ],
)
def test_what_is_no_http_is_refused(server, request_):
    assert talk(server, request_).startswith(b"HTTP/1.1 400 ")


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_broken_off_and_changed_requests_never_take_it_down(server, data):
    whole = post(b'{"jsonrpc": "2.0", "id": 1, "method": "exist", "params": [{"text": "x"}]}') * 2
    at = data.draw(st.integers(0, len(whole)))
    talk(server, whole[:at] + data.draw(st.binary(max_size=20)) + whole[at + data.draw(st.integers(0, 20)) :])
    assert talk(server, b"GET /ping HTTP/1.1\r\n\r\n").endswith(b"pong")


def test_pictures_come_as_jpeg_in_base64(server):
    answer = rpc(server, b'{"id": 1, "method": "takeScreenshot", "params": [0.5, 80]}')
    picture = Image.open(io.BytesIO(base64.b64decode(answer["result"])))
    assert (picture.format, picture.size) == ("JPEG", (45, 100))
