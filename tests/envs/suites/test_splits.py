"""Training, validation and test: nothing is in two of them."""

import json
import subprocess
import sys
from itertools import combinations

import gymnasium as gym
import pytest

import coach_gym  # noqa: F401  (registers the ids)
from coach_gym.agents.pocket.demonstrations import FAMILIES as DEMONSTRATED
from coach_gym.envs.apps.camera import world_tasks as camera
from coach_gym.envs.apps.clock.data import ALARMS
from coach_gym.envs.errors import UsageError
from coach_gym.envs.profiles import ANDROID_WORLD
from coach_gym.envs.suites import apart, official_world
from coach_gym.envs.suites.load import BUILTIN
from coach_gym.envs.suites.official_world.task import OfficialTask
from coach_gym.envs.suites.splits import SELECTIONS, Selection, is_shared_out, owner
from coach_gym.envs.suites.suite import Suite
from coach_gym.envs.tasks.task import Task
from coach_gym.envs.tasks.words import FIRST_NAMES, ParamRng
from coach_gym.envs.tuning import require_validation
from tests.envs.fake_device import FakeDevice

SMALL = {"screen_size": (270, 600)}
SEEDS = range(4)


@pytest.fixture(scope="module", params=BUILTIN)
def suite(request):
    return BUILTIN[request.param]()


def splits_of(suite):
    """Returns the suite's splits by selection, as far as it has them."""
    found = {}
    for selection in SELECTIONS:
        try:
            found[selection] = suite.of(selection.split, selection.unseen)
        except UsageError:
            continue
    return found


def instances(suite, seeds=SEEDS):
    return {
        (name, json.dumps(suite.instance(name, params_seed=seed).params, sort_keys=True))
        for name in suite.families
        for seed in seeds
    }


def test_no_instance_is_in_two_splits(suite):
    drawn = {selection: instances(part) for selection, part in splits_of(suite).items()}
    assert len(drawn) >= 8 and all(drawn.values())
    for a, b in combinations(drawn, 2):
        assert a.split == b.split or drawn[a].isdisjoint(drawn[b]), (a, b)


def test_an_instance_of_one_split_cannot_be_drawn_for_another(suite):
    """The rule itself, without luck of the draw: the owner of an instance depends on nothing but the instance."""
    for family in suite.of("validation").families.values():
        for selection in (Selection("train"), Selection("validation"), Selection("test")):
            params = selection.draw(family, 9)
            assert owner(family, params) == owner(family, json.loads(json.dumps(params))) == selection.split


def test_there_is_one_training_set_whatever_is_unseen(suite):
    sets = [suite.of("train", unseen) for unseen in ("instances", "words", "families", "apps")]
    assert len({tuple(each.families) for each in sets}) == 1
    assert len({frozenset(instances(each, range(3))) for each in sets}) == 1


def test_training_and_what_is_unseen_make_the_whole_suite_once(suite):
    parts = splits_of(suite)
    unseen = [name for each, part in parts.items() if each.unseen in ("families", "apps") for name in part.families]
    assert sorted([*unseen, *suite.of("train").families]) == sorted(suite.families)


def test_unseen_instances_and_words_are_of_training_families(suite):
    training = suite.of("train").families.keys()
    for selection, part in splits_of(suite).items():
        assert (part.families.keys() <= training) == (selection.unseen in ("instances", "words"))
    assert suite.of("validation").families.keys() == suite.of("test").families.keys()


def test_no_training_family_goes_through_an_app_that_is_kept_apart(suite):
    kept = {app for apps in apart.APPS.values() for app in apps}
    assert not [f.name for f in suite.of("train").families.values() if kept & set(f.apps)]
    for selection, part in splits_of(suite).items():
        if selection.unseen == "apps" and selection.split != "train":
            assert all(set(f.apps) & set(apart.APPS[selection.split]) for f in part.families.values())


def test_about_a_tenth_and_a_fifth_of_the_families_are_kept_apart(suite):
    known, validation, test = (len(suite.of(split, "families").families) for split in ("train", "validation", "test"))
    total = known + validation + test
    assert 0.08 <= validation / total <= 0.13 and 0.1 <= test / total <= 0.22


def test_the_lists_name_families_and_apps_that_there_are():
    families = {name: family for make in BUILTIN.values() for name, family in make().families.items()}
    named = [name for names in apart.FAMILIES.values() for name in names]
    assert len(named) == len(set(named)) and set(named) <= families.keys()
    assert {app for apps in apart.APPS.values() for app in apps} <= {app for f in families.values() for app in f.apps}


def test_the_families_that_the_pocket_model_has_seen_are_trainings():
    training = {name for make in BUILTIN.values() for name in make().of("train").families}
    assert {name for names in DEMONSTRATED.values() for name in names} <= training


def test_unseen_words_are_in_every_instance_and_training_words_in_none(suite):
    for split in ("validation", "test"):
        part = suite.of(split, "words")
        for name, family in part.families.items():
            params = part.instance(name, params_seed=1).params
            seeds = (1 + (draw << 31) for draw in range(10_000))
            drawn = next(rng.drawn for seed in seeds if family.sample(rng := ParamRng(seed, split)) == params)
            assert any(word.casefold() in json.dumps(params).casefold() for word in drawn)


def test_the_same_seed_draws_the_same_instance_in_another_process():
    code = (
        "import json; from coach_gym.envs.suites.load import BUILTIN\n"
        "suite = BUILTIN['android_lab']().of('test', 'words')\n"
        "print(json.dumps([suite.instance(name, params_seed=5).params for name in suite.families]))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    part = BUILTIN["android_lab"]().of("test", "words")
    assert json.loads(run.stdout) == [part.instance(name, params_seed=5).params for name in part.families]


FROZEN = {
    "ContactsAddContact": {"name": "Maria Ferrari"},
    "MarkorCreateNote": {"name": "rustic_arrow.md"},
    "ZoomJoinMeeting": {"name": "Liam"},
    "GalleryReadClock": {"name": "IMG_3136.png"},
}


@pytest.mark.parametrize("name", FROZEN)
def test_without_a_split_seeds_draw_what_they_always_did(name):
    suite = next(made for make in BUILTIN.values() if name in (made := make()).families)
    params = suite.instance(name, params_seed=3).params
    assert {key: params[key] for key in FROZEN[name]} == FROZEN[name]


def test_most_training_instances_are_those_without_a_split():
    whole = BUILTIN["android_world"]()
    training = whole.of("train")
    same = [training.instance(name).params == whole.instance(name).params for name in training.families]
    assert 0.6 < sum(same) / len(same) < 1.0


# Families with few instances, or whose instances cannot be told apart


def test_a_family_of_one_instance_is_trainings():
    assert not is_shared_out(camera.CameraTakePhoto)
    suite = BUILTIN["android_world"]().only(["CameraTakePhoto"])
    assert suite.of("train").instance("CameraTakePhoto").params == {}
    with pytest.raises(UsageError, match="no instances of CameraTakePhoto: CameraTakePhoto is in \\(split='train'\\)"):
        suite.of("test", tasks=["CameraTakePhoto"])


class Ring(Task):
    apps = ("Clock",)
    template = "Set an alarm for {hour}:{minute:02d}, named {name}."
    budget = 12
    databases = (ALARMS,)

    @classmethod
    def sample(cls, rng):
        return {"hour": rng.randrange(24), "minute": rng.randrange(60), "name": FIRST_NAMES.draw(rng)}

    def evaluate(self, device, answer):
        return 0.0


class Unsure(Ring):
    """Says of itself that different parameters may make the same instance."""

    params_tell_all = False


class Dated(Ring):
    @classmethod
    def sample(cls, rng):
        return {"hour": {rng.randrange(24)}}


def mine(*families, **kept):
    return Suite("mine", "mine", {family.name: family for family in families}, ANDROID_WORLD, apart=kept)


def test_families_of_a_suite_of_ones_own_are_trainings_unless_it_says_otherwise():
    assert list(mine(Ring).of("train").families) == list(mine(Ring).of("test", "words").families) == ["Ring"]
    suite = mine(Ring, Unsure, Ring=("families", "test"))
    assert list(suite.of("train").families) == ["Unsure"]
    assert list(suite.of("test", "families").families) == ["Ring"]
    assert suite.of("test", "families").instance("Ring", params_seed=1).params == Ring.sample(ParamRng(1))


def test_a_suite_says_which_splits_it_has():
    with pytest.raises(UsageError, match=r"has no split='validation', unseen='words'; it has \(split='train'\)$"):
        mine(Unsure).of("validation", "words")


def test_parameters_that_are_not_json_cannot_be_split():
    with pytest.raises(UsageError, match="the parameters of Dated must be JSON values"):
        mine(Dated).of("test")
    assert mine(Dated).of(None).instance("Dated").params


# Environments


def test_an_environment_draws_its_split_alone_and_says_so():
    env = gym.make("AndroidWorld-v0", device=FakeDevice, screen_size=(60, 120), split="validation", unseen="families")
    infos = [env.unwrapped._draw_task({}).name for _ in range(40)]
    assert set(infos) <= set(apart.FAMILIES["validation"]) and len(set(infos)) > 5


def test_a_vector_environment_passes_its_split_on():
    envs = gym.make_vec(
        "AndroidWorld-v0", num_envs=2, vectorization_mode="vector_entry_point", split="test", unseen="words", **SMALL
    )
    _, infos = envs.reset(seed=0)
    assert list(infos["split"]) == ["test"] * 2 and list(infos["unseen"]) == ["words"] * 2
    assert envs.selection == Selection("test", "words")
    envs.close()


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"split": "all"}, "split='all' is unknown; choose one of ('train', 'validation', 'test'), or None"),
        ({"split": "test", "unseen": "colors"}, "unseen='colors' is unknown; choose one of ('instances', 'words',"),
        ({"unseen": "words"}, "unseen='words' is about validation and test; pass split='test' with it"),
        ({"split": "train", "tasks": ["VlcCreatePlaylist"]}, "VlcCreatePlaylist is in (split='test', unseen='apps')"),
        ({"split": "test", "tasks": ["TasksAddTask", "Tusk"]}, "no task 'Tusk'"),
        ({"benchmark": "android_sight", "split": "validation", "unseen": "apps"}, "it has (split='train'), "),
    ],
)
def test_what_a_split_has_not_is_refused_with_a_way_out(arguments, reason):
    with pytest.raises(ValueError) as raised:
        gym.make("AndroidWorld-v0", **arguments)
    assert reason in str(raised.value)


def test_given_parameters_could_break_the_promise_of_a_split():
    env = gym.make("AndroidWorld/SystemWifiTurnOn-v0", split="train", **SMALL)
    with pytest.raises(UsageError, match="could be those of another split than split='train'; pass params_seed"):
        env.reset(options={"params": {}})
    first, second = (env.reset(options={"params_seed": 4})[1]["params"] for _ in range(2))
    assert first == second


def test_settings_are_chosen_on_validation_only():
    def made(**split):
        return gym.make("AndroidWorld-v0", device=FakeDevice, screen_size=(60, 120), **split)

    def several(**split):
        return gym.make_vec("AndroidWorld-v0", num_envs=2, vectorization_mode="vector_entry_point", **SMALL, **split)

    require_validation(made(split="validation"), several(split="validation", unseen="apps"))
    for other in (made(), made(split="train"), made(split="test"), several(split="test"), gym.make("CartPole-v1")):
        with pytest.raises(UsageError, match="settings are chosen on validation only"):
            require_validation(made(split="validation"), other)


# Official suites


def test_the_official_suite_has_unseen_families_and_apps_by_name_alone(monkeypatch):
    names = ("MarkorEditNote", "NotesIsTodo", "TasksAddTask", "VlcCreatePlaylist")
    unnamed = {name: type(name, (OfficialTask,), {"name": name, "apps": (), "upstream": None}) for name in names}
    monkeypatch.setattr(official_world, "families", lambda checkout: unnamed)
    suite = official_world.suite()
    assert list(suite.of("train").families) == ["TasksAddTask"]
    assert list(suite.of("test", "families").families) == ["MarkorEditNote"]
    assert list(suite.of("validation", "apps").families) == ["NotesIsTodo"]
    assert list(suite.of("test", "apps").families) == ["VlcCreatePlaylist"]
    for unseen in ("instances", "words"):
        missing = rf"\(official\) has no split='test', unseen='{unseen}'; it has \(split='train'\), \(split='val"
        with pytest.raises(UsageError, match=missing):
            suite.of("test", unseen)
