"""What notebooks show is a picture, and no text of a screen becomes markup."""

import base64
import io
import re

import numpy as np
from PIL import Image

from coach_gym.agents.evaluation import Evaluation, Result
from coach_gym.envs.android import AndroidEnv
from coach_gym.episode import Candidate, Episode, Observation, Step
from tests.envs.fake_device import SIZE, SUITE, FakeDevice

HOSTILE = "<script>alert(1)</script>"
PIXELS = np.random.default_rng(0).integers(0, 256, (12, 8, 3), dtype=np.uint8)


def opened(data):
    return np.asarray(Image.open(io.BytesIO(data)))


def test_an_observation_of_an_environment_is_shown_with_its_screen_and_escaped_text():
    env = AndroidEnv(device=FakeDevice, screen_size=SIZE, suite=SUITE)
    observation, _ = env.reset(options={"task": "SaveName", "params": {"name": HOSTILE}})
    shown = observation._repr_html_()
    assert HOSTILE not in shown and "&lt;script&gt;" in shown and "&lt;Button" in shown
    (data,) = re.findall('src="data:image/png;base64,([^"]+)"', shown)
    assert np.array_equal(opened(base64.b64decode(data)), observation["screenshot"])
    assert env.observation_space.contains(observation)


def test_an_observation_and_an_episode_are_pictures():
    seen = Observation(PIXELS)
    assert np.array_equal(opened(seen._repr_png_()), PIXELS)
    episode = Episode("Go", [Step(seen, [Candidate("x", [1], [0.0])], 0, "wait()")], 1.0)
    assert opened(episode._repr_png_()).shape[0] > 480
    assert Episode("Go")._repr_png_() is None


def test_an_evaluation_is_a_table_of_families():
    verdicts = [("A", True), ("A", False), (HOSTILE, True), ("A", None)]
    shown = Evaluation([Result(task, {}, 0, 0.0, 1, each, None) for task, each in verdicts])._repr_html_()
    assert "<tr><td>A</td><td>1</td><td>2</td></tr>" in shown
    assert "success 66.7%, 1 episodes without a verdict" in shown and HOSTILE not in shown
