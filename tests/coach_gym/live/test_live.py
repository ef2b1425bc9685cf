"""A phone in the browser: what a person does reaches it, what it shows reaches the person, and nobody else gets in."""

import io
import json
import os
import shutil
import sys
import threading
import urllib.error
import urllib.request

import gymnasium as gym
import numpy as np
import pytest
from PIL import Image

from coach_gym.actions import Action, parse_action
from coach_gym.envs.devices.phone import PhoneDevice
from coach_gym.live.hands import Hands, Refused
from coach_gym.live.serving import serving
from coach_gym.recording.store import load_episodes
from coach_gym.viewer.what_if import what_if

SIZE = (270, 600)
HOSTILE = "<img src=x onerror=window.hacked=1>"
PASTE = """({ text, picture }) => {
  const clipboardData = new DataTransfer();
  if (text) clipboardData.setData("text/plain", text);
  if (picture) clipboardData.items.add(new File(["1"], "picture.png", { type: "image/png" }));
  document.getElementById("screen").dispatchEvent(new ClipboardEvent("paste", { clipboardData }));
}"""
TASK = "AndroidWorld/SystemBrightnessMax-v0"


@pytest.fixture
def hands(tmp_path):
    return Hands(PhoneDevice(*SIZE), threading.RLock(), {"screen_size": SIZE}, tmp_path / "person")


@pytest.fixture
def address(hands):
    with serving(hands) as address:
        yield address


def ask(address, path, body=None, **headers):
    data = None if body is None else json.dumps(body).encode()
    headers = {"X-Coach-Gym": "1", **{name.replace("_", "-"): value for name, value in headers.items()}}
    return urllib.request.urlopen(urllib.request.Request(address + path, data, headers), timeout=30)


def refused(address, path, body=None, **headers):
    with pytest.raises(urllib.error.HTTPError) as error:
        ask(address, path, body, **headers)
    return error.value.code


def test_touches_text_and_keys_reach_the_phone_and_its_screen_comes_back(hands, address):
    first = ask(address, "screen")
    assert np.array_equal(np.asarray(Image.open(io.BytesIO(first.read()))), hands.device.screenshot())
    told = json.load(ask(address, "api/act", {"kind": "open_app", "content": "Contacts"}))
    assert hands.device.foreground == "com.google.android.contacts" and told["task"] is None
    second = ask(address, f"screen?after={first.headers['X-Screen']}")
    assert second.headers["X-Screen"] != first.headers["X-Screen"]
    create = next(each for each in json.load(ask(address, "api/elements")) if each["label"] == "Create contact")
    left, top, right, bottom = create["bounds"]
    ask(address, "api/act", {"kind": "click", "start": [(left + right) // 2, (top + bottom) // 2]})
    assert any("First name" in each["label"] + str(each["value"]) for each in json.load(ask(address, "api/elements")))
    ask(address, "api/press", {"key": "overview"})
    assert hands.device.foreground != "com.google.android.contacts"
    ask(address, "api/reset", {})
    third = ask(address, "screen")
    assert third.headers["X-Screen"] == first.headers["X-Screen"]


def test_what_cannot_be_done_is_said(address):
    told = json.load(ask(address, "api/act", {"kind": "open_app", "content": HOSTILE}))
    assert "There is no app named" in told["error"]
    for path, body in (
        ("api/act", {"kind": "fly"}), ("api/act", {"kind": "click"}), ("api/act", {"kind": "click", "start": ["x", 1]}),
        ("api/press", {"key": "self-destruct"}), ("api/task", {"id": "NoSuch-v0", "seed": 0}),
    ):  # fmt: skip
        assert refused(address, path, body) == 400
    assert refused(address, "api/dance", {}) == 404


def test_other_sites_and_other_names_of_this_computer_get_nothing(address):
    assert refused(address, "api/state", Host="evil.example") == 400
    assert refused(address, "api/reset", {}, Origin="http://evil.example") == 403
    with pytest.raises(urllib.error.HTTPError) as error:
        urllib.request.urlopen(urllib.request.Request(address + "api/reset", b"{}"), timeout=30)
    assert error.value.code == 403
    policy = ask(address, "").headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "unsafe" not in policy


def test_a_person_solves_a_task_and_the_episode_is_kept_and_can_be_played_again(hands):
    for stranger in ("NoSuch-v0", "antigravity:NoSuch-v0"):
        with pytest.raises(Refused, match="NoSuch"):
            hands.choose(stranger, 0)
    assert "antigravity" not in sys.modules
    hands.choose(TASK, 3)
    goal = hands.told()["task"]["goal"]
    hands.act(Action("open_app", content="Settings"))
    with pytest.raises(Refused, match="leave the task first"):
        hands.press("power")
    hands.act(Action("finished"))
    told = hands.told()["task"]
    assert (told["steps"], told["over"], told["success"], told["fault"]) == (2, True, False, None)
    with pytest.raises(Refused, match="the episode is over"):
        hands.act(Action("press_back"))
    (episode,) = load_episodes(hands.out)
    assert (episode.goal, episode.seed, episode.outcome, episode.task) == (goal, 3, 0.0, "SystemBrightnessMax")
    assert [parse_action(step.action)[1].kind for step in episode.steps] == ["open_app", "finished"]
    (row,) = map(json.loads, (hands.out / "index.jsonl").read_text().splitlines())
    assert row["phase"] == "person" and np.array_equal(
        what_if(hands.out, row["id"], 0, 0).screenshot, episode.steps[1].observation.screenshot
    )
    hands.reset()
    assert hands.told()["task"]["steps"] == 0 and not hands.told()["task"]["over"]
    hands.leave()
    assert hands.told()["task"] is None


class NoVerdict(gym.Wrapper):
    """An environment of one's own, whose reward is no number."""

    def step(self, action):
        observation, _, terminated, truncated, info = self.env.step(action)
        return observation, float("nan"), terminated, truncated, info


def test_a_reward_that_is_no_finite_number_is_no_verdict(hands):
    gym.register("NoVerdict-v0", lambda **settings: NoVerdict(gym.make(TASK, **settings)))
    hands.choose("NoVerdict-v0", 3)
    hands.act(Action("finished"))
    told = hands.told()["task"]
    assert (told["over"], told["success"], told["reward"]) == (True, None, None)
    assert told["fault"] == "the reward is nan, which is no finite number"
    (episode,) = load_episodes(hands.out)
    assert (episode.outcome, episode.fault) == (None, told["fault"])


def test_the_page_in_a_real_browser(hands, address):
    sync_api = pytest.importorskip("playwright.sync_api")
    path = next(filter(None, map(shutil.which, ("chromium", "google-chrome"))), None)
    with sync_api.sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        except sync_api.Error as problem:
            pytest.skip(f"there is no browser: {str(problem).splitlines()[0]}")
        page = browser.new_page(viewport={"width": 1200, "height": 900})
        problems = []
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.goto(address)
        page.wait_for_selector("#screen[data-mark]")
        hands.act(Action("open_app", content="Contacts"))
        page.check("#tree")
        label = "Create contact"
        page.wait_for_function("label => elements.some((each) => each.label === label)", arg=label)
        left, top, right, bottom = page.evaluate("label => elements.find((each) => each.label === label).bounds", label)
        box = page.locator("#screen").bounding_box()
        scale = box["width"] / SIZE[0]
        page.mouse.move(box["x"] + (left + right) / 2 * scale, box["y"] + (top + bottom) / 2 * scale)
        page.wait_for_selector("#element >> text=Create contact")
        page.mouse.down()
        page.mouse.up()
        page.wait_for_function("() => elements.some((each) => each.cls === 'EditText')")
        left, top, right, bottom = page.evaluate("() => elements.find((each) => each.cls === 'EditText').bounds")
        hands.act(Action("click", ((left + right) // 2, (top + bottom) // 2)))
        page.fill("#text", HOSTILE)
        page.click("#typing button")
        page.wait_for_function("text => JSON.stringify(elements).includes(text)", arg=HOSTILE)
        if pictures := os.environ.get("PICTURES"):
            page.screenshot(path=f"{pictures}/phone.png")
        page.fill("#task", TASK)
        page.click("#choosing button")
        page.wait_for_selector("#goal >> text=brightness")
        page.focus("#screen")
        page.keyboard.press("Escape")
        page.wait_for_function("() => state.task.steps === 1")
        page.evaluate(PASTE, {"picture": True})
        assert page.text_content("#problem") == "Only text can be pasted."
        page.evaluate(PASTE, {"text": "Ada"})
        page.wait_for_function("() => state.task.steps === 2")
        page.click("#finishing button")
        page.wait_for_selector("#verdict >> text=not solved")
        hands.turn = 0  # as after a restart
        page.wait_for_function("() => state.turn === 0")
        page.set_viewport_size({"width": 390, "height": 844})
        assert page.evaluate("document.documentElement.scrollWidth") == 390, "a phone shows all of the page's width"
        assert not page.evaluate("Boolean(window.hacked)") and not problems
        browser.close()
    (kept,) = load_episodes(hands.out)
    assert [parse_action(step.action)[1].content for step in kept.steps] == ["", "Ada", ""]
