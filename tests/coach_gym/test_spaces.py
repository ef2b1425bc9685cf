"""The Unicode space, alone and inside an environment."""

import pickle

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector.utils import batch_space, create_empty_array
from stable_baselines3.common.vec_env import DummyVecEnv

from coach_gym.spaces import Unicode


@pytest.mark.parametrize("text", ["", "plain", 'it\'s "quoted"\n', "Grüße 👋🏽", "\u200a\x00", "\ud800"])
def test_every_string_belongs(text: str) -> None:
    assert text in Unicode(20)


@pytest.mark.parametrize("other", ["a" * 21, b"bytes", 3, None, ["a"]])
def test_nothing_else_belongs(other: object) -> None:
    assert other not in Unicode(20)


def test_samples_belong_and_are_valid_unicode() -> None:
    space = Unicode(300, seed=1)
    samples = [space.sample() for _ in range(200)]
    assert all(sample in space and sample.encode() is not None for sample in samples)
    assert max(map(len, samples)) > 100 and any(not sample.isascii() for sample in samples)
    assert all(len(Unicode(3).sample()) <= 3 for _ in range(50))


def test_a_seed_fixes_the_samples() -> None:
    assert [Unicode(50, seed=7).sample()] * 2 == [Unicode(50, seed=7).sample() for _ in range(2)]


def test_masks_are_refused_with_a_reason() -> None:
    with pytest.raises(ValueError, match="no list of characters"):
        Unicode(5).sample(mask=(3, None))


def test_it_behaves_as_a_space() -> None:
    space = Unicode(9)
    assert space == Unicode(9) and space != Unicode(8) and space != gym.spaces.Text(9)
    assert repr(space) == "Unicode(9)" and not space.is_np_flattenable
    assert pickle.loads(pickle.dumps(space)) == space
    assert space.from_jsonable(space.to_jsonable(["é\n"])) == ["é\n"]
    assert batch_space(space, 2).contains(("a", "😀"))
    assert create_empty_array(space, 2) == ("", "")


class Echo(gym.Env):
    """Echoes its action."""

    action_space = Unicode(32)
    observation_space = gym.spaces.Dict({"said": Unicode(32), "pixels": gym.spaces.Box(0, 255, (2, 2, 3), np.uint8)})

    def _observation(self, said: str) -> dict:
        return {"said": said, "pixels": np.zeros((2, 2, 3), np.uint8)}

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return self._observation("héllo ☕"), {}

    def step(self, action):
        return self._observation(action), 0.0, False, False, {}


def test_an_environment_with_it_passes_gymnasiums_check() -> None:
    check_env(Echo(), skip_render_check=True)


def test_texts_of_any_script_survive_the_shared_memory_of_processes() -> None:
    envs = gym.vector.AsyncVectorEnv([Echo, Echo])
    try:
        observations, _ = envs.reset(seed=0)
        assert observations["said"] == ("héllo ☕", "héllo ☕")
        said = ("", 'it\'s "quoted"\n 👋🏽\x00')
        seen = [envs.step(texts)[0]["said"] for texts in (said, said[::-1])]
        assert seen == [said, said[::-1]]  # what was returned first has not changed since
    finally:
        envs.close()


def test_stable_baselines3_keeps_texts_whole() -> None:
    envs = DummyVecEnv([Echo, Echo])
    assert envs.reset()["said"].tolist() == ["héllo ☕"] * 2
