"""The real uiautomator2 client, over the real adb, on served phones."""

import io
import threading
from urllib.request import urlopen

import pytest
import uiautomator2
from PIL import Image

from coach_gym.envs.phone.servers.server import PhoneServer
from coach_gym.envs.profiles import world_phone
from tests.envs.adb_server import adb_server

CONTACTS = "com.google.android.contacts"
SETTINGS = "com.android.settings"
LAUNCHER = "com.google.android.apps.nexuslauncher"
TEXTS = ["plain", "two words", "'; reboot; '", "naïve 中文 العربية 😀", '$(id) `id` "x" \\ %s']


@pytest.fixture(scope="module")
def adb(tmp_path_factory):
    with adb_server(tmp_path_factory.mktemp("home")) as server:
        yield server


@pytest.fixture(scope="module")
def served():
    with PhoneServer(world_phone(270, 600)) as server:
        server.fresh = server.phone.snapshot()
        yield server


@pytest.fixture
def d(adb, served):
    """The connected client, with its phone in the initial state."""
    with served.lock:
        jar = served.phone.storage.read("/data/local/tmp/u2.jar")
        served.phone.restore(served.fresh)
        if jar is not None:  # pushed once
            served.phone.storage.write("/data/local/tmp/u2.jar", jar)
    client = uiautomator2.connect(adb.connect(served))
    client.settings["wait_timeout"] = 5
    return client


def first_name(d):
    """Opens a new contact, with the cursor in an empty field."""
    d.app_start(CONTACTS, wait=True)
    d(description="Create contact").click()
    field = d(className="android.widget.EditText", instance=0)
    field.click()
    return field


def test_connecting_starts_the_server_from_its_pushed_jar(d, served):
    assert served.phone.storage.size("/data/local/tmp/u2.jar") > 100_000
    assert d.info["currentPackageName"] == LAUNCHER
    d.reset_uiautomator()
    assert d.info["sdkInt"] == 33


def test_the_device_introduces_itself(d, served):
    assert d.device_info["sdk"] == 33 and d.device_info["version"] == 13
    assert d.window_size() == (270, 600)
    assert d.wlan_ip and d.serial == served.address
    assert d.orientation == "natural"


def test_pictures_through_both_routes(d):
    assert d.screenshot().size == (270, 600)
    png = d.shell("screencap -p /sdcard/x.png") and d.adb_device.sync.read_bytes("/sdcard/x.png")
    assert Image.open(io.BytesIO(png)).size == (270, 600)
    assert d(text="Contacts").screenshot().width < 270


def test_apps_start_stop_and_are_listed(d):
    d.app_start(SETTINGS, wait=True)
    assert d.app_current()["package"] == SETTINGS and SETTINGS in d.app_list_running()
    assert d.app_wait(SETTINGS, front=True) > 0
    assert {SETTINGS, CONTACTS} <= set(d.app_list())
    d.app_stop(SETTINGS)
    assert d.app_current()["package"] == LAUNCHER and SETTINGS not in d.app_list_running()
    with pytest.raises(uiautomator2.AppNotFoundError):
        d.app_info("not.there")


def test_a_session_notices_that_its_app_has_ended(d):
    session = d.session(CONTACTS)
    assert session(description="Create contact").exists
    d.app_stop(CONTACTS)
    with pytest.raises(uiautomator2.exceptions.SessionBrokenError):
        bool(session(description="Create contact").exists)


@pytest.mark.parametrize("text", TEXTS)
def test_any_text_arrives_by_the_clipboard(d, text):
    field = first_name(d)
    d.send_keys(text)
    assert field.get_text() == text
    d.clear_text()
    assert field.get_text() == "First name"  # Android reports the hint of an empty field as its text


def test_any_text_arrives_by_the_clients_input_method(d):
    field = first_name(d)
    d.set_input_ime(True)
    assert d.current_ime() == "com.github.uiautomator/.AdbKeyboard"
    for text in TEXTS:
        field.click()
        d.send_keys(text, clear=True)
        assert field.get_text() == text
    d.hide_keyboard()
    d.set_input_ime(False)


@pytest.mark.parametrize("text", TEXTS)
def test_any_text_is_set_and_copied(d, text):
    field = first_name(d)
    field.set_text(text)
    assert field.get_text() == text
    d.clipboard = text
    assert d.clipboard == text


def test_touches_and_gestures(d):
    d.swipe_ext("up")
    assert d(text="Search apps").exists or d(resourceIdMatches=".*search_box").exists
    d.press("home")
    x, y = d(text="Contacts").center()
    d.click(x, y)
    assert d.app_current()["package"] == CONTACTS
    d.press("back")
    d.swipe(0.5, 0.8, 0.5, 0.3)
    assert d(resourceIdMatches=".*search_box").exists
    d.long_click(0.5, 0.5)
    d.double_click(0.5, 0.02)
    d.drag(0.5, 0.5, 0.5, 0.6)
    d().pinch_in()
    d.touch.down(10, 10).up(10, 10)


def test_lists_xpath_and_children(d):
    d.app_start(SETTINGS, wait=True)
    assert d(scrollable=True).scroll.to(text="System")
    d.xpath("//*[@text='System']").click()
    assert not d(text="Connected devices").exists
    d.press("back")
    row = d(scrollable=True).child_by_text(
        "Connected devices", allow_scroll_search=True, className="android.widget.LinearLayout"
    )
    row.click()
    assert d.xpath("Bluetooth").wait(timeout=5)
    found = d.xpath("//android.widget.TextView").all()
    assert found and all(element.bounds for element in found)


def test_shade_toasts_keys_and_screen(d):
    d.open_notification()
    assert d(description="Bluetooth").exists
    d.press("back")
    d.open_quick_settings()
    assert d(description="Display brightness").exists
    d.press("home")
    d.toast.show("saved", 2)
    assert d.toast.get_message(wait_timeout=2) == "saved"
    d.screen_off()
    assert not d.info["screenOn"] and not d.adb_device.is_screen_on()
    d.keyevent("wakeup")
    assert d.info["screenOn"] and d.adb_device.is_screen_on()
    d.freeze_rotation()
    assert d.shell("settings get system accelerometer_rotation").output.strip() == "0"


def test_shell_and_files(d, tmp_path):
    assert d.shell("echo 'ä 中'; sh -c 'exit 3'") == ("ä 中\n", 3)
    source = tmp_path / "a.txt"
    source.write_bytes(bytes(range(256)) * 1000)
    d.push(str(source), "/sdcard/Download/a b.txt")
    d.pull("/sdcard/Download/a b.txt", str(tmp_path / "back"))
    assert (tmp_path / "back").read_bytes() == source.read_bytes()
    assert "a b.txt" in d.shell(["ls", "/sdcard/Download"]).output


def test_the_server_is_reached_through_a_forwarded_port_too(d):
    port = d.adb_device.forward_port(9008)
    with urlopen(f"http://127.0.0.1:{port}/ping", timeout=20) as answer:
        assert answer.read() == b"pong"


def test_an_address_opens_or_is_refused_without_harm(d):
    d.open_url("content://contacts/people/")
    d.open_url("nonsense://x'; reboot; '")
    assert d.info["screenOn"]


def test_eight_phones_at_once(adb):
    servers = [PhoneServer(world_phone(270, 600)).start() for _ in range(8)]
    wrong = []

    def work(number, server):
        try:
            client = uiautomator2.connect(adb.connect(server))
            field = first_name(client)
            for turn in range(3):
                text = f"phone {number} turn {turn} 中"
                client.clear_text()
                client.send_keys(text)
                assert field.get_text() == text
                assert client.screenshot().size == (270, 600)
            client.press("home")
            assert server.phone.foreground == LAUNCHER
        except BaseException as error:
            wrong.append((number, repr(error)))

    threads = [threading.Thread(target=work, args=item) for item in enumerate(servers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=300)
    for server in servers:
        server.close()
    assert not wrong
