"""Devices on a page: those of a training and that of an environment, to watch and not to touch."""

import io
import json
import re
import shutil
import urllib.error
import urllib.request

import gymnasium as gym
import numpy as np
import pytest
from PIL import Image

from coach_gym.agents import GRPOAgent, WatchCallback
from coach_gym.live.watching import Shown, watching
from tests.agents import tiny
from tests.agents.trivial_env import ButtonEnv

HOSTILE = "<img src=x onerror=window.hacked=1>"
ID = "AndroidWorld/SystemBrightnessMax-v0"


def ask(address, path, **headers):
    return urllib.request.urlopen(urllib.request.Request(address + path, headers=headers), timeout=30)


def devices(address, after=""):
    return json.load(ask(address, f"api/devices?after={after}"))


def picture(address, place):
    return np.asarray(Image.open(io.BytesIO(ask(address, f"screen/{place}").read())))


def shown(place, value, action=""):
    return Shown(place, f"goal {place} {HOSTILE}", "Task", 3, action, np.full((40, 20, 3), value, np.uint8))


def test_a_page_shows_what_there_is_and_waits_for_a_change():
    now = [shown(1, 50), shown(0, 9)]
    with watching(lambda: now) as address:
        told = devices(address)
        assert [each["place"] for each in told["devices"]] == [0, 1] and told["devices"][0]["steps"] == 3
        assert np.array_equal(picture(address, 1), now[0].screenshot)
        now[1] = shown(0, 10, "press_back()")
        changed = devices(address, told["mark"])
        assert changed["devices"][0]["action"] == "press_back()"
        assert changed["devices"][0]["screen"] != told["devices"][0]["screen"]
        assert changed["devices"][1] == told["devices"][1]
        with pytest.raises(urllib.error.HTTPError, match="404"):
            picture(address, 2)


def test_the_page_takes_no_commands_and_answers_no_other_name():
    with watching(lambda: []) as address:
        for path in ("api/devices", "api/act", "screen/0"):
            with pytest.raises(urllib.error.HTTPError, match="40[45]"):
                urllib.request.urlopen(urllib.request.Request(address + path, b"{}"), timeout=30)
        with pytest.raises(urllib.error.HTTPError, match="400"):
            ask(address, "api/devices", Host="evil.example")
        assert "default-src 'none'" in ask(address, "").headers["Content-Security-Policy"]


class Patient(ButtonEnv):
    """Ends after three steps, whatever is pressed."""

    def reset(self, *, seed=None, options=None):
        self.taken = 0
        return super().reset(seed=seed, options=options)

    def step(self, action):
        observation, *_ = super().step(action)
        self.taken += 1
        return observation, 0.0, self.taken == 3, False, {"is_success": False} if self.taken == 3 else {}


class Watched(WatchCallback):
    """Looks at its own page after every step, and counts who asks for what."""

    looks, told = 0, None

    def _look(self):
        self.looks += 1
        return super()._look()

    def _on_step(self):
        if self.num_timesteps == 2 * 4:
            assert self.looks == 0, "nobody has looked yet"
            self.told = devices(self.address)["devices"]
            self.screens = {each["place"]: picture(self.address, each["place"]) for each in self.told}
            self.seen = {attempt.index: attempt.observation.screenshot for attempt in self.model.in_progress}
        return True


def test_the_devices_of_a_training_are_shown_only_to_those_who_look(capsys):
    envs = gym.vector.SyncVectorEnv([Patient] * 4)
    agent = GRPOAgent(tiny.policy(), envs, batch_size=4, group_size=2, max_new_tokens=2, seed=0)
    watch = Watched()
    agent.learn(12, callback=watch)
    assert [each["place"] for each in watch.told] == [0, 1, 2, 3]
    assert {each["steps"] for each in watch.told} == {2} and all(each["goal"] for each in watch.told)
    assert all(isinstance(each["action"], str) for each in watch.told)
    assert all(np.array_equal(watch.screens[place], screen) for place, screen in watch.seen.items())
    (address,) = re.findall(r"http://127.0.0.1:\d+/", capsys.readouterr().out)
    with pytest.raises(urllib.error.URLError):
        ask(address, "")


def test_render_mode_human_shows_every_state_until_the_environment_is_closed(capsys):
    env = gym.make(f"coach_gym:{ID}", screen_size=(270, 600), render_mode="human")
    observation, _ = env.reset(seed=3)
    (address,) = re.findall(r"http://127.0.0.1:\d+/", capsys.readouterr().out)
    (told,) = devices(address)["devices"]
    assert (told["goal"], told["task"], told["steps"]) == (observation["goal"], "SystemBrightnessMax", 0)
    fork = env.unwrapped.fork()
    observation, *_ = env.step("open_app(app_name='Settings')")
    fork.step("press_home()")
    (told,) = devices(address)["devices"]
    assert (told["steps"], told["action"]) == (1, "open_app(app_name='Settings')")
    assert np.array_equal(picture(address, 0), observation["screenshot"]) and env.render() is None
    env.close()
    with pytest.raises(urllib.error.URLError):
        ask(address, "")


def test_the_page_in_a_real_browser():
    sync_api = pytest.importorskip("playwright.sync_api")
    path = next(filter(None, map(shutil.which, ("chromium", "google-chrome"))), None)
    now = [shown(0, 9, HOSTILE), shown(1, 50)]
    with sync_api.sync_playwright() as playwright, watching(lambda: now) as address:
        try:
            browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        except sync_api.Error:
            pytest.skip("no Chromium here: playwright install chromium")
        page = browser.new_page()
        page.goto(address)
        page.wait_for_selector("article >> nth=1")
        assert page.text_content("article >> nth=0 >> .action") == HOSTILE
        page.wait_for_function("() => document.querySelector('img').naturalWidth === 20")
        now[:] = [shown(0, 10, "press_back()")]
        page.wait_for_function("() => document.querySelector('.action').textContent === 'press_back()'")
        assert page.locator("article.idle").count() == 1 and page.evaluate("window.hacked") is None
        browser.close()
