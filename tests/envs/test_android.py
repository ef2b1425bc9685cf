"""AndroidEnv over a fake device: what ends an episode, what counts as success, what a fault does."""

import pickle
import threading
import time
import traceback
from functools import partial

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from coach_gym.envs.android import AndroidEnv
from coach_gym.envs.devices.phone import PhoneDevice
from coach_gym.envs.errors import TaskError
from coach_gym.envs.suites.play import play
from coach_gym.envs.suites.suite import Suite
from coach_gym.envs.tasks.screen import EXPERTS, Screen
from coach_gym.envs.vector import AndroidVectorEnv
from tests.envs.fake_device import SIZE, SUITE, DeviceLost, FakeDevice


@pytest.fixture
def devices():
    return []


@pytest.fixture
def env(devices):
    def start():
        devices.append(FakeDevice())
        return devices[-1]

    env = AndroidEnv(device=start, screen_size=SIZE, suite=SUITE)
    yield env
    env.close()


SAVE_ADA = {"task": "SaveName", "params": {"name": "Ada"}}


@pytest.mark.parametrize("verdict", [float("nan"), float("inf"), np.float32("nan")])
@pytest.mark.parametrize("must_finish", [True, False])
def test_a_verdict_that_is_no_finite_number_is_none(env, devices, monkeypatch, verdict, must_finish):
    monkeypatch.setattr(SUITE.families["SaveName"], "evaluate", lambda self, device, answer: verdict)
    env.must_finish, env.max_steps = must_finish, 1
    env.reset(options=SAVE_ADA)
    _, reward, terminated, truncated, info = env.step("finished()" if must_finish else "press_back()")
    assert (reward, terminated, truncated) == (0.0, must_finish, not must_finish)
    assert info["fault"] == f"the verdict of SaveName is {verdict}, which is no finite number"
    assert "fault" not in env.reset(options=SAVE_ADA)[1] and len(devices) == 1, "the device is not to blame"


def test_no_device_starts_before_reset(env, devices):
    assert not devices
    env.reset(seed=0)
    assert len(devices) == 1


def test_follows_the_gymnasium_api(devices):
    gym.register("Fake-v0", AndroidEnv, nondeterministic=True)
    env = gym.make("Fake-v0", device=FakeDevice, screen_size=SIZE, suite=SUITE, render_mode="rgb_array")
    check_env(env.unwrapped)
    assert env.observation_space.contains(env.reset(seed=1)[0])


def test_reset_describes_the_instance(env):
    observation, info = env.reset(options=SAVE_ADA)
    assert observation["goal"] == "Save the name Ada."
    assert observation["last_action_error"] == ""
    assert observation["screenshot"].shape == (120, 60, 3)
    assert '<Button text="Save"' in observation["ui"]
    assert info == {
        "task": "SaveName", "params": {"name": "Ada"}, "device": "fake", "suite": "fake",
        "split": None, "difficulty": "easy", "budget": 6,
    }  # fmt: skip


def test_success_needs_both_the_state_and_the_word(env):
    observation, info = env.reset(options=SAVE_ADA)
    assert play(env, observation, info).reward == 1.0
    env.reset(options=SAVE_ADA)
    env.step("type(content='Ada')")
    env.step("click(start_box='(5,50)')")
    for _ in range(4):
        _, reward, terminated, truncated, info = env.step("wait()")
    assert (reward, terminated, truncated) == (0.0, False, True)
    assert info["is_success"] is False


def test_finishing_without_the_state_is_no_success(env):
    env.reset(options=SAVE_ADA)
    _, reward, terminated, truncated, info = env.step("finished()")
    assert (reward, terminated, truncated, info["is_success"]) == (0.0, True, False, False)


def test_a_query_is_answered_by_finishing(env):
    env.reset(options={"task": "TellLength", "params": {"name": 2.5}})
    assert env.step("finished(content='2.5')")[1] == 1.0


def test_finishing_on_the_last_step_terminates(env):
    env.reset(options=SAVE_ADA)
    env.max_steps = 1
    assert env.step("finished()")[2:4] == (True, False)


def test_where_no_rule_decides_there_is_no_verdict(env, monkeypatch):
    monkeypatch.setattr(SUITE.families["SaveName"], "evaluate", lambda self, device, answer: None)
    env.reset(options=SAVE_ADA)
    _, reward, terminated, truncated, info = env.step("finished()")
    assert (reward, terminated, truncated, info["is_success"]) == (0.0, True, False, None) and "fault" not in info


def test_a_task_ends_the_episode_with_an_action_that_the_device_refuses(env, monkeypatch):
    env.reset(options=SAVE_ADA)
    monkeypatch.setattr(type(env._task), "watch", lambda task, device, screen, action: action.kind == "open_app")
    observation, reward, terminated, _, info = env.step("open_app(app_name='Nothing')")
    assert (reward, terminated, info["is_success"]) == (0.0, True, False)
    assert observation["last_action_error"] == "no app 'Nothing'"


def test_an_episode_that_a_wrapper_cuts_has_no_success(env):
    _, info = env.reset(options=SAVE_ADA)
    assert "is_success" not in info
    cut = gym.wrappers.TimeLimit(env, 2)
    cut.reset(options=SAVE_ADA)
    cut.step("wait()")
    _, _, terminated, truncated, info = cut.step("wait()")
    assert (terminated, truncated, info["is_success"]) == (False, True, False)


def test_no_step_promises_a_failure_where_unfinished_episodes_are_judged_or_no_rule_may_decide(monkeypatch):
    lenient = AndroidEnv(device=FakeDevice, screen_size=SIZE, suite=SUITE, must_finish=False)
    lenient.reset(options=SAVE_ADA)
    assert "is_success" not in lenient.step("wait()")[4]
    monkeypatch.setattr(SUITE.family("SaveName"), "always_ruled", False)
    unruled = AndroidEnv(device=FakeDevice, screen_size=SIZE, suite=SUITE)
    unruled.reset(options=SAVE_ADA)
    assert "is_success" not in unruled.step("wait()")[4]


class Mistaken(SUITE.family("SaveName")):
    """Its author has mistyped a name."""

    def evaluate(self, device, answer):
        return saved(device)  # noqa: F821


@pytest.mark.parametrize("vector", [False, True])
def test_a_mistake_in_a_task_of_ones_own_is_raised_with_its_traceback(vector):
    suite = Suite("fake", "mine", {"Mistaken": Mistaken})
    make = partial(AndroidEnv, device=FakeDevice, screen_size=SIZE, suite=suite)
    env = AndroidVectorEnv([make]) if vector else make()
    env.reset(seed=0)
    with pytest.raises(TaskError, match=r"Mistaken.*NameError: name 'saved'") as raised:
        env.step(["finished()"] if vector else "finished()")
    frames = traceback.extract_tb(raised.value.__cause__.__traceback__)
    assert (frames[-1].filename, frames[-1].line) == (__file__, "return saved(device)  # noqa: F821")
    env.reset(seed=0)  # it goes on
    assert "fault" not in env.step(["wait()"] if vector else "wait()")[4]
    env.close()


def test_a_mistake_in_a_task_can_be_a_fault():
    suite = Suite("fake", "mine", {"Mistaken": Mistaken})
    env = AndroidEnv(device=FakeDevice, screen_size=SIZE, suite=suite, task_errors="fault")
    env.reset(seed=0)
    assert env.step("finished()")[4]["fault"] == "NameError: name 'saved' is not defined"


def test_an_environment_pickles_until_its_device_is_open(env):
    fresh = AndroidEnv(device=FakeDevice, screen_size=SIZE, suite=SUITE)
    again = pickle.loads(pickle.dumps(fresh))
    assert again.reset(seed=3)[0]["goal"] == fresh.reset(seed=3)[0]["goal"]
    with pytest.raises(TypeError, match=r"holds the open device 'fake'.*close\(\) it first"):
        pickle.dumps(fresh)
    fresh.close()
    assert pickle.loads(pickle.dumps(fresh)).max_steps is None


def test_a_step_after_the_end_asks_for_reset(env):
    with pytest.raises(gym.error.ResetNeeded):
        env.step("wait()")
    env.reset()
    env.step("finished()")
    with pytest.raises(gym.error.ResetNeeded):
        env.step("wait()")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("I would tap Save.", "no action"),
        ("click(start_box='(60,50)')", "(60, 50) lies outside the screen, which is 60 wide and 120 high"),
        ("drag(start_box='(5,50)', end_box='(5,-1)')", "outside the screen"),
        ("open_app(app_name='Chess')", "no app 'Chess'"),
        (None, "an action is text, not NoneType"),
        ("\ud800" * 9, "no action"),
    ],
)
def test_what_is_no_action_does_nothing_and_says_why(env, devices, text, reason):
    before, _ = env.reset(options=SAVE_ADA)
    devices[0].calls.clear()
    observation, reward, terminated, truncated, info = env.step(text)
    assert reason in observation["last_action_error"]
    assert (reward, terminated, truncated) == (0.0, False, False) and "fault" not in info
    assert observation["ui"] == before["ui"] and np.array_equal(observation["screenshot"], before["screenshot"])
    assert env.step("wait()")[0]["last_action_error"] == ""


def test_observations_belong_to_the_caller(env):
    first, _ = env.reset(options=SAVE_ADA)
    second = env.step("not an action")[0]
    first["screenshot"][:] = 7
    assert not (second["screenshot"] == 7).any()


def test_seed_fixes_task_parameters_and_screens(env):
    def run(seed):
        shown = [env.reset(seed=seed)] + [env.reset() for _ in range(5)]
        return [(info["task"], dict(info["params"]), observation["ui"]) for observation, info in shown]

    assert run(3) == run(3) != run(4)
    assert {task for task, _, _ in run(3)} == {"SaveName", "TellLength"}


def test_options_do_not_shift_later_episodes(env):
    env.reset(seed=3)
    plain = dict(env.reset()[1])
    env.reset(seed=3, options={**SAVE_ADA, "params_seed": 9})
    assert dict(env.reset()[1]) == plain


def test_params_seed_fixes_the_instance(env):
    options = {"task": "SaveName", "params_seed": 9}
    assert env.reset(seed=1, options=options)[1]["params"] == env.reset(seed=2, options=options)[1]["params"]


def test_info_says_which_split_an_instance_is_of():
    def told(**arguments):
        info = AndroidEnv(device=FakeDevice, screen_size=SIZE, suite=SUITE, tasks=["SaveName"], **arguments).reset()[1]
        return info["split"], info.get("unseen")

    assert (told(), told(split="train")) == ((None, None), ("train", None))
    assert told(split="test", unseen="words") == ("test", "words")


@pytest.mark.parametrize("must_finish", [True, False])
def test_a_spent_budget_is_judged_if_the_agent_need_not_finish(must_finish):
    env = AndroidEnv(device=FakeDevice, screen_size=SIZE, suite=SUITE, must_finish=must_finish)
    observation, info = env.reset(options=SAVE_ADA)
    screen = Screen()
    screen.update(observation)
    for action in EXPERTS["SaveName"](screen, info["params"]):
        if not action.startswith("finished"):
            screen.update(env.step(action)[0])
    truncated = False
    while not truncated:
        _, reward, terminated, truncated, info = env.step("wait()")
    assert (reward, terminated, truncated) == (0.0 if must_finish else 1.0, False, True)
    assert info["is_success"] is not must_finish


def test_closing_tears_the_last_task_down(env, devices, monkeypatch):
    torn_down = []
    monkeypatch.setattr(SUITE.families["SaveName"], "teardown", lambda task, device: torn_down.append(device))
    env.reset(options=SAVE_ADA)
    env.close()
    assert torn_down == devices


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"tusk": "SaveName"}, "options ['tusk'] are unknown; reset() takes task, params, params_seed"),
        ({"task": "SaveNames"}, "no task 'SaveNames' among the 2 tasks"),
        ({"task": "SaveName", "params": {"nome": "Ada"}}, "params of SaveName lack ['name']"),
    ],
)
def test_reset_refuses_wrong_options(env, options, reason):
    with pytest.raises(ValueError) as raised:
        env.reset(options=options)
    assert reason in str(raised.value)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"device": "nokia"}, "device='nokia' is unknown"),
        ({"screen_size": (0, 10)}, "at least one pixel"),
        ({"suite": "official"}, "upstream android_world package"),
        ({"suite": "mine"}, "choose 'builtin'"),
        ({"suite": SUITE, "tasks": ["Nope"]}, "no task 'Nope'"),
        ({"suite": SUITE, "tasks": []}, "no tasks"),
        ({"suite": SUITE, "split": "heldout"}, "split='heldout' is unknown"),
        ({"suite": SUITE, "max_steps": 0}, "max_steps=0"),
        ({"suite": SUITE, "render_mode": "ansi"}, "render_mode='ansi'"),
        ({"benchmark": "ios_world"}, "benchmark 'ios_world' is unknown"),
    ],
)
def test_constructor_refuses_wrong_arguments(arguments, reason, monkeypatch):
    monkeypatch.delenv("COACH_ANDROID_WORLD", raising=False)
    with pytest.raises(ValueError) as raised:
        AndroidEnv(**arguments)
    assert reason in str(raised.value)


def test_a_device_of_another_size_is_an_error_with_its_remedy():
    env = AndroidEnv(device=FakeDevice, screen_size=(61, 120), suite=SUITE)
    with pytest.raises(ValueError, match=r"pass screen_size=\(60, 120\)"):
        env.reset()


@pytest.mark.parametrize("method", ["perform", "screenshot", "ui"])
def test_a_device_that_fails_in_a_step_truncates_without_verdict(env, devices, method):
    env.reset(options=SAVE_ADA)
    devices[0].breaks.add(method)
    observation, reward, terminated, truncated, info = env.step("type(content='Ada')")
    assert (reward, terminated, truncated) == (0.0, False, True)
    assert info["fault"] == f"DeviceLost: {method} got no answer"
    assert info["is_success"] is False
    assert env.observation_space.contains(observation)
    assert devices[0].closed
    env.reset(options=SAVE_ADA)
    assert len(devices) == 2 and "fault" not in env.step("wait()")[4]


def test_a_device_that_fails_in_the_evaluation_gives_no_verdict(env, devices):
    env.reset(options=SAVE_ADA)
    devices[0].breaks.add("read")
    _, reward, terminated, truncated, info = env.step("finished()")
    assert (reward, terminated, truncated) == (0.0, False, True) and "read" in info["fault"]


@pytest.mark.parametrize("action, asked", [("wait()", "screenshot"), ("wait()", "ui"), ("finished()", "read")])
def test_a_device_that_fails_once_in_a_read_is_asked_again(env, devices, monkeypatch, action, asked):
    env.reset(options=SAVE_ADA)
    devices[0].write("/sdcard/name.txt", b"Ada")
    read, failures = getattr(devices[0], asked), [DeviceLost("no answer")]

    def once(*words):
        if failures:
            raise failures.pop()
        return read(*words)

    monkeypatch.setattr(devices[0], asked, once)
    _, reward, terminated, _, info = env.step(action)
    assert "fault" not in info and not failures and (reward, terminated) == (float(terminated), asked == "read")


@pytest.mark.parametrize("asked", ["screenshot", "ui"])
def test_a_device_that_hangs_once_in_a_look_is_asked_again_and_twice_has_failed(env, devices, monkeypatch, asked):
    env.reset(options=SAVE_ADA)
    read, hangs, over = getattr(devices[0], asked), [1], threading.Event()

    def look():
        if hangs:
            hangs.pop()
            over.wait()
        return read()

    monkeypatch.setattr(devices[0], asked, look)
    env.look_timeout = 0.2
    assert "fault" not in env.step("wait()")[4] and not hangs
    hangs += [1, 1]
    _, reward, _, truncated, info = env.step("wait()")
    over.set()
    assert (reward, truncated) == (0.0, True)
    assert info["fault"] == "DeviceError: a look at the screen got no answer in 0.2 s"


def test_a_hung_look_that_answers_late_changes_nothing(env, devices, monkeypatch):
    env.reset(options=SAVE_ADA)
    read, over, looks = devices[0].screenshot, threading.Event(), []

    def black_and_late_at_first():
        looks.append(1)
        return np.zeros_like(read()) if len(looks) == 1 and over.wait() else read()

    monkeypatch.setattr(devices[0], "screenshot", black_and_late_at_first)
    env.look_timeout, before = 0.2, threading.active_count()
    assert env.step("wait()")[0]["screenshot"].any()
    over.set()
    while threading.active_count() > before:
        time.sleep(0.01)
    assert env.step("wait()")[0]["screenshot"].any() and len(looks) == 3


def test_looks_without_a_limit_stay_in_the_environments_thread():
    threads = set()

    class Affine(FakeDevice):
        def screenshot(self):
            threads.add(threading.get_ident())
            return super().screenshot()

    env = AndroidEnv(device=Affine, screen_size=SIZE, suite=SUITE, look_timeout=None)
    env.reset(options=SAVE_ADA)
    env.step("wait()")
    assert threads == {threading.get_ident()}
    assert AndroidEnv(screen_size=SIZE).look_timeout is None  # the embedded phone


@pytest.mark.parametrize("wrong", [0, -1.0, float("nan"), float("inf"), True, "3"])
def test_a_wrong_time_for_looks_is_refused(wrong):
    with pytest.raises((TypeError, ValueError), match="look_timeout"):
        AndroidEnv(screen_size=SIZE, look_timeout=wrong)


@pytest.mark.parametrize("asked, lie", [("screenshot", None), ("screenshot", np.zeros((2, 2, 3))), ("ui", "<a/>")])
def test_a_device_that_shows_nonsense_once_is_asked_again_and_twice_has_failed(env, devices, monkeypatch, asked, lie):
    env.reset(options=SAVE_ADA)
    read, lies = getattr(devices[0], asked), [lie]
    monkeypatch.setattr(devices[0], asked, lambda: lies.pop() if lies else read())
    assert "fault" not in env.step("wait()")[4] and not lies
    lies += [lie, lie]
    _, reward, _, truncated, info = env.step("wait()")
    assert (reward, truncated) == (0.0, True) and "DeviceError: the" in info["fault"]


def test_a_device_that_fails_in_reset_still_gives_an_observation(env, devices):
    env.reset(options=SAVE_ADA)
    devices[0].breaks |= {"reset_state", "close"}
    observation, info = env.reset(options=SAVE_ADA)
    assert env.observation_space.contains(observation) and "reset_state" in info["fault"]
    _, reward, terminated, truncated, info = env.step("finished()")
    assert (reward, terminated, truncated) == (0.0, False, True) and "reset_state" in info["fault"]
    assert "fault" not in env.reset(options=SAVE_ADA)[1]


def test_a_failed_device_is_not_asked_for_its_properties():
    class Silent(PhoneDevice):
        @property
        def now(self):
            raise DeviceLost("now got no answer")

        foreground = now

        def reset_state(self):
            raise DeviceLost("reset_state got no answer")

    env = AndroidEnv(device=partial(Silent, 270, 600), screen_size=(270, 600))
    assert env.reset(seed=0)[1]["fault"] == "DeviceLost: reset_state got no answer"


def test_a_device_that_does_not_start_shows_a_black_screen():
    def start():
        raise DeviceLost("no such host")

    env = AndroidEnv(device=start, screen_size=SIZE, suite=SUITE)
    observation, info = env.reset(seed=0)
    assert info["fault"] == "DeviceLost: no such host" and not observation["screenshot"].any()
    env.close()


def test_an_episode_is_torn_down_before_the_device_is_reset(env, devices):
    observation, info = env.reset(options=SAVE_ADA)
    play(env, observation, info)
    devices[0].calls.clear()
    env.reset(options=SAVE_ADA)
    assert devices[0].calls[:2] == ["remove", "reset_state"] and len(devices) == 1


def test_render_shows_the_last_screenshot():
    env = AndroidEnv(device=FakeDevice, screen_size=SIZE, suite=SUITE, render_mode="rgb_array")
    observation, _ = env.reset()
    assert np.array_equal(env.render(), observation["screenshot"])
    env.close()
    env.close()
    assert AndroidEnv(device=FakeDevice, screen_size=SIZE, suite=SUITE).render() is None


def test_pictures_only_means_no_text_and_the_same_verdict(env):
    blind = AndroidEnv(device=FakeDevice, screen_size=SIZE, suite=SUITE, ui=False)
    observation, info = env.reset(options=SAVE_ADA)
    actions = play(env, observation, info).actions
    seen = [blind.reset(options=SAVE_ADA)[0]]
    for action in actions:
        observation, reward, *_ = blind.step(action)
        seen.append(observation)
    assert reward == 1.0 and {observation["ui"] for observation in seen} == {""}
    assert all(blind.observation_space.contains(observation) for observation in seen)
