"""Built-in tasks read back from a phone: what a family writes as parameters, its counterpart finds on the phone."""

import random
from types import SimpleNamespace

import pytest

from benchmarks import android_world_counterparts as counterparts
from benchmarks.android_world_counterparts import INCOMPARABLE, STATE, counterpart
from coach_gym.envs.android import AndroidEnv
from coach_gym.envs.apps.osmand import data as osmand_data
from coach_gym.envs.apps.osmand.world_tasks import MapTask
from coach_gym.envs.suites.load import load_suite
from coach_gym.envs.suites.play import play

FAMILIES = load_suite("android_world").families
READ = {
    name: [read for kind, read in STATE.items() if issubclass(family, kind)]
    for name, family in FAMILIES.items()
    if name not in INCOMPARABLE and not issubclass(family, MapTask)  # upstream empties the map first
}


@pytest.fixture(scope="module")
def env():
    return AndroidEnv("android_world", screen_size=(270, 600))


@pytest.fixture(autouse=True)
def same_words(monkeypatch):
    """The fake official tasks have the parameters of built-in ones, which need no translation."""
    monkeypatch.setattr(counterparts, "ADAPTED", {})
    monkeypatch.setattr(counterparts, "ASKED", dict.fromkeys(FAMILIES, asked))


def asked(params):
    """What upstream's goal says of time."""
    return {key: params[key] for key in ("from", "to") if key in params}


def begin(env, name, seed):
    """Begins an instance, whose verdicts are compared with those of the counterpart."""
    observation, info = env.reset(seed=seed, options={"task": name})
    task, device = env.unwrapped._task, env.unwrapped._device
    on_the_phone = {key for read in READ[name] for key in read(device)}
    told = {key: value for key, value in task.params.items() if key not in on_the_phone} | asked(task.params)
    twin, judge, verdicts = counterpart(SimpleNamespace(name=name, params=told), device), task.evaluate, []

    def both(device, answer):
        verdicts.append((judge(device, answer), twin.evaluate(device, answer)))
        return verdicts[-1][0]

    task.evaluate = both
    return task, observation, info, verdicts


@pytest.mark.parametrize("name", [name for name, readers in READ.items() if readers])
def test_the_counterpart_judges_as_the_task_does(env, name):
    task, observation, info, verdicts = begin(env, name, seed=1)
    play(env, observation, info)
    assert verdicts[-1] == (1.0, 1.0)
    task, observation, info, verdicts = begin(env, name, seed=1)
    try:
        if wrong := task.near_miss(random.Random(0)):
            play(env, observation, info, params=wrong)
    except LookupError:  # what the expert was told need not be on the phone
        pass
    if not verdicts:
        env.step("finished()")
    assert verdicts[-1] == (0.0, 0.0)


def test_what_asks_for_something_else_has_no_counterpart(env):
    device = env.unwrapped._device
    for name in (*INCOMPARABLE, "NoSuchTask"):
        assert counterpart(SimpleNamespace(name=name, params={}), device) is None
    assert counterpart(SimpleNamespace(name="OpenAppTaskEval", params={"app_name": "dialer"}), device) is None


@pytest.mark.parametrize(
    ("rows", "found"), [([("a", 1), ("b", 2)], {}), ([("a", 1), ("b", 2), ("a", 1)], {"twice": ["a", 1]})]
)
def test_a_row_that_occurs_twice_is_found(rows, found):
    assert counterparts._twice(rows) == found


@pytest.mark.parametrize("place", list(osmand_data.PLACES)[:5])
def test_a_place_is_known_by_name_and_by_coordinates(place):
    latitude, longitude = osmand_data.PLACES[place]
    for said in (f"{place}, {osmand_data.COUNTRY}", f"{latitude}, {longitude}"):
        assert counterparts._place({"location": said}) == {"place": place}
    assert counterparts._place({"location": "Atlantis"}) == {"place": "Atlantis"}
