"""An app outside the package, as docs/how_to/add_an_app.md has it: made in a temporary folder, solved, trained on."""

import re
from pathlib import Path

import gymnasium as gym
import pytest

import coach_gym  # noqa: F401  (registers the ids)
from coach_gym.agents import CoachAgent
from coach_gym.envs.errors import UsageError
from coach_gym.envs.profiles import ANDROID_WORLD, Profile
from coach_gym.envs.suites.load import load_suite
from coach_gym.envs.suites.play import play
from coach_gym.envs.suites.suite import Suite
from tests.agents import tiny

PAGE = Path(__file__).parents[2] / "docs" / "how_to" / "add_an_app.md"
SMALL = {"screen_size": (270, 600)}
MINE = {"apps": ["shopping_list"], "tasks": ["BuyItem"], **SMALL}


@pytest.fixture(scope="module", autouse=True)
def folder(tmp_path_factory):
    """The page's files, in a folder on the path."""
    root = tmp_path_factory.mktemp("outside")
    blocks = re.findall(r"```python\n# (shopping_list/\w+\.py)\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert [path for path, _ in blocks] == [f"shopping_list/{name}.py" for name in ("app", "tasks", "expert")]
    for path, text in (*blocks, ("shopping_list/__init__.py", "")):
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(root))
        yield root


@pytest.mark.parametrize("split", ["train", "validation"])
@pytest.mark.parametrize("seed", range(3))
def test_the_expert_solves_the_task(split, seed):
    env = gym.make("AndroidWorld-v0", split=split, **MINE)
    observation, info = env.reset(seed=seed)
    assert observation["goal"] == f"Add {info['params']['item']} to the shopping list."
    assert info["suite"] == "builtin+shopping_list"
    shown = play(env, observation, info)
    assert shown.reward == 1.0 and shown.info["is_success"]


def test_doing_nothing_or_adding_another_item_fails():
    env = gym.make("AndroidWorld-v0", **MINE)
    env.reset(seed=0)
    assert env.step("finished()")[1] == 0.0
    observation, info = env.reset(seed=0)
    assert play(env, observation, info, {"item": "something else"}).reward == 0.0


def test_the_apps_tasks_come_after_the_suites_own():
    env = gym.make("AndroidLab-v0", apps=["shopping_list"], **SMALL)
    families = list(env.get_wrapper_attr("suite").families)
    assert families == [*load_suite("android_lab").families, "BuyItem"]
    env.reset(seed=0, options={"task": "BuyItem"})
    labels = [app.label for app in env.unwrapped._device.phone.apps.values()]
    assert labels[-1] == "Shopping" and "Calendar" in labels


WITH_WORLDS, ALONE = ANDROID_WORLD.with_apps(["shopping_list"]), Profile("shop", ("shopping_list.app",))


@pytest.mark.parametrize("profile", [WITH_WORLDS, ALONE], ids=["more", "own"])
def test_a_suite_of_ones_own_on_a_phone_of_ones_own(profile):
    from shopping_list.tasks import BuyItem

    env = gym.make("AndroidWorld-v0", suite=Suite("groceries", "mine", {"BuyItem": BuyItem}, profile), **SMALL)
    observation, info = env.reset(seed=0)
    assert info["suite"] == "mine" and play(env, observation, info).reward == 1.0


def test_a_task_named_like_another_is_refused():
    suite = load_suite("android_world").with_apps(["shopping_list"])
    with pytest.raises(UsageError, match="names that this suite has already: BuyItem"):
        suite.with_apps(["shopping_list"])


@pytest.mark.parametrize("name", ["nowhere", "os", "os.path", "nowhere.at.all", "..x", ".", "", "a b"])
def test_an_app_that_is_not_there_is_told(name):
    with pytest.raises(UsageError, match=rf"apps has '{name}', but there is no module {name}\.app.*sys\.path"):
        gym.make("AndroidWorld-v0", apps=[name])


def test_an_app_without_a_name_is_refused():
    with pytest.raises(TypeError, match="apps has 5 of type int; pass a list of names"):
        gym.make("AndroidWorld-v0", apps=[5])


def test_an_app_that_imports_what_is_missing_says_what(tmp_path, monkeypatch):
    (tmp_path / "half_an_app").mkdir()
    (tmp_path / "half_an_app/__init__.py").write_text("import not_installed_here")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="not_installed_here"):
        gym.make("AndroidWorld-v0", apps=["half_an_app"])


OTHER_BLOCKS = re.findall(r"```python\n((?!# shopping_list).*?)```", PAGE.read_text(), re.DOTALL)


@pytest.mark.parametrize("code", OTHER_BLOCKS, ids=range(len(OTHER_BLOCKS)))
def test_the_pages_other_blocks_run_when_pasted_alone(code):
    small = code.replace("num_envs=4", "num_envs=2").replace("1_000", "4")
    exec(small.replace('"pocket", envs', '"pocket", envs, batch_size=2, mini_batch_size=2'), {})


def test_an_agent_trains_on_it():
    envs = gym.make_vec("AndroidWorld-v0", num_envs=2, vectorization_mode="vector_entry_point", max_steps=2, **MINE)
    policy = tiny.policy(max_prompt_length=2048)
    agent = CoachAgent(policy, envs, 1e-4, batch_size=4, max_new_tokens=4, seed=0)
    agent.learn(8)
    assert agent.num_timesteps >= 8
    envs.close()
