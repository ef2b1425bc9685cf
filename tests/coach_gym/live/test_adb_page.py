"""The page of a device behind adb: the embedded phone's own adb server, through the real adb and uiautomator2."""

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from coach_gym.actions import Action
from coach_gym.cli.phone import serve
from coach_gym.envs.devices.adb_device import AdbDevice
from coach_gym.envs.phone.servers.server import PhoneServer
from coach_gym.live.hands import Hands, Refused
from coach_gym.live.serving import serving
from tests.coach_gym.viewer.served import chromium
from tests.envs.served_phone import SIZE, adb_server, served_phone

TASK = "AndroidWorld/SystemBrightnessMax-v0"
WORDS = "O'Neil; $(reboot) %s"


@dataclass
class Bench:
    """A phone behind adb, and the address of its page."""

    server: PhoneServer
    hands: Hands
    address: str

    def vanish(self) -> None:
        self.server.close()

    def come_back(self) -> None:
        """Starts the phone again, in the same state and at the same ports."""
        self.server = PhoneServer(self.server.phone, self.server.adb_port, self.server.console_port)
        self.server.start()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as browser:
        yield browser


@pytest.fixture
def bench(tmp_path, monkeypatch) -> Iterator[Bench]:
    with ExitStack() as stack:
        port = stack.enter_context(adb_server())
        monkeypatch.setenv("ANDROID_ADB_SERVER_PORT", str(port))
        bench = Bench(stack.enter_context(served_phone()), None, "")
        stack.callback(lambda: bench.server.close())
        serial = bench.server.address
        device = AdbDevice(serial, pause=0.0)
        stack.callback(device.close)
        bench.hands = Hands(device, threading.RLock(), {"screen_size": SIZE, "device": serial}, tmp_path / "person")
        bench.address = stack.enter_context(serving(bench.hands))
        yield bench


@contextmanager
def opened(browser: Any, address: str) -> Iterator[Any]:
    """Yields the page with the tree shown; at its end, no script of it may have failed."""
    page, problems = browser.new_page(viewport={"width": 1200, "height": 900}), []
    page.on("pageerror", lambda problem: problems.append(str(problem)))
    page.goto(address)
    page.wait_for_selector("#screen[data-mark]")
    page.check("#tree")
    yield page
    page.close()
    assert problems == []


def where(page: Any, label: str) -> tuple[float, float]:
    """Waits for an element on the phone, and returns the place of its centre in the window."""
    page.wait_for_function("label => elements.some((each) => each.label === label)", arg=label)
    left, top, right, bottom = page.evaluate("label => elements.find((each) => each.label === label).bounds", label)
    box = page.locator("#screen").bounding_box()
    scale = box["width"] / SIZE[0]
    return box["x"] + (left + right) / 2 * scale, box["y"] + (top + bottom) / 2 * scale


def test_a_person_works_a_device_behind_adb(bench, browser):
    with opened(browser, bench.address) as page:
        assert page.inner_text("#device") == f"{bench.server.address} (embedded phone), 270 × 600"
        page.mouse.click(*where(page, "Contacts"))
        page.mouse.click(*where(page, "Create contact"))
        page.mouse.click(*where(page, "First name"))
        page.wait_for_function(
            "() => elements.some((each) => each.label === 'First name' && each.flags.includes('focused'))"
        )
        page.keyboard.type(WORDS)
        page.keyboard.press("Backspace")
        page.mouse.click(*where(page, "Company"))  # at once: it must not overtake the text
        page.keyboard.type("Acme")
        value = "label => elements.find((each) => each.label === label)?.value"
        page.wait_for_function(f"() => ({value})('Company') === 'Acme'")
        assert page.evaluate(value, "First name") == WORDS[:-1]
        page.mouse.move(*where(page, "Company"))
        page.wait_for_selector("#element >> text=Acme")
        page.click("[data-key=overview]")
        page.mouse.click(*where(page, "Clear all"))
        page.click("[data-act=press_home]")
        x, y = where(page, "Search apps")
        page.mouse.move(x, y - 100)
        page.mouse.down()
        page.mouse.move(x, y - 300, steps=4)
        page.mouse.up()
        page.wait_for_function("() => !document.body.classList.contains('working')")
        assert page.inner_text("#problem") == ""


def test_a_device_that_vanishes_is_said_to_and_comes_back(bench, browser):
    with opened(browser, bench.address) as page:
        where(page, "Contacts")
        bench.vanish()
        page.wait_for_selector("#rate >> text=not reachable")
        assert bench.server.address in page.inner_text("#problem")
        page.click("[data-act=press_home]")
        page.wait_for_function("() => !document.body.classList.contains('working')", timeout=60_000)
        bench.come_back()
        page.wait_for_function("() => !lost && at('problem').textContent === ''", timeout=60_000)
        page.mouse.click(*where(page, "Contacts"))
        where(page, "Create contact")


def test_two_pages_show_one_device_and_one_task(bench, browser):
    with opened(browser, bench.address) as one, opened(browser, bench.address) as other:
        one.fill("#task", TASK)
        one.click("#choosing button")
        other.wait_for_selector("#goal >> text=brightness", timeout=60_000)
        other.click("[data-act=press_back]")
        one.wait_for_selector("#progress >> text=step 1 of")
        one.click("#leave")
        other.wait_for_selector("#chosen", state="hidden")
        one.mouse.click(*where(one, "Contacts"))
        where(other, "Create contact")


def test_a_task_on_a_device_that_is_gone_is_refused(bench):
    bench.vanish()
    with pytest.raises(Refused, match="the device of the task failed"):
        bench.hands.choose(TASK, 0)
    assert bench.hands.told()["task"] is None
    bench.come_back()
    bench.hands.choose(TASK, 0)
    bench.hands.act(Action("finished"))
    assert bench.hands.told()["task"]["success"] is False


def test_a_wrong_serial_is_answered_with_those_there_are(bench, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("coach_gym.envs.devices.adb.CONNECT_TIMEOUT", 0.5)
    with pytest.raises(SystemExit) as ended:
        serve(5555, 8554, *SIZE, 1, "android_world", 0, "192.0.2.1:5555", tmp_path)
    assert f"adb lists {bench.server.address} (device)" in str(ended.value)
