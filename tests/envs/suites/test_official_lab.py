"""The official AndroidLab suite on a checkout of our own making: loading, judging step by step, metrics, faults."""

import inspect
import logging
import random
import sys

import gymnasium as gym
import numpy as np
import pytest

import coach_gym  # noqa: F401
from coach_gym.actions import Action
from coach_gym.envs.android import AndroidEnv
from coach_gym.envs.devices.adb_device import AdbDevice
from coach_gym.envs.devices.phone import PhoneDevice
from coach_gym.envs.errors import UsageError
from coach_gym.envs.phone.servers.server import PhoneServer
from coach_gym.envs.profiles import ANDROID_LAB, Profile, lab_phone
from coach_gym.envs.suites import official_lab
from coach_gym.envs.suites.load import load_suite
from coach_gym.envs.suites.official_lab import checkout, queries
from coach_gym.envs.suites.official_lab.answers import same_answer
from coach_gym.envs.suites.official_lab.task import parsed_action
from coach_gym.ui import compress, parse_ui
from tests.envs.ports import free_port
from tests.envs.served_phone import adb_server
from tests.envs.suites import toy_lab
from tests.envs.test_monkey import STEPS, pick

SIZE = (270, 600)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return toy_lab.write(tmp_path_factory.mktemp("toy"))


def make(folder, **options):
    suite = official_lab.suite(folder, **options)
    return gym.make("AndroidLab-v0", suite=suite, screen_size=SIZE, disable_env_checker=True)


def start(env, task):
    observation, info = env.reset(seed=0, options={"task": task})
    return observation, info


def tap(observation, condition):
    x, y = next(element for element in parse_ui(observation["ui"]) if condition(element)).center
    return f"click(start_box='({x},{y})')"


def second_switch(observation):
    switches = [element for element in parse_ui(observation["ui"]) if element.id == "onoff"]
    x, y = switches[1].center
    return f"click(start_box='({x},{y})')"


# loading


def test_a_missing_checkout_is_told_with_its_remedy(monkeypatch, tmp_path):
    monkeypatch.delenv(checkout.VARIABLE, raising=False)
    with pytest.raises(UsageError, match="git clone .*Android-Lab.*checkout=.*COACH_ANDROID_LAB"):
        load_suite("android_lab", "official")
    assert "checkout" in inspect.signature(AndroidEnv).parameters
    with pytest.raises(UsageError, match="no folder evaluation/config"):
        official_lab.suite(tmp_path)
    with pytest.raises(ValueError, match="judges='mine'"):
        official_lab.suite(tmp_path, judges="mine")


def test_the_environment_variable_names_the_checkout(monkeypatch, folder):
    monkeypatch.setenv(checkout.VARIABLE, str(folder))
    env = gym.make("AndroidLab-v0", suite="official", tasks=["toy_3"], screen_size=SIZE, disable_env_checker=True)
    observation, info = env.reset(seed=0)
    assert observation["goal"] == "You should use clock to complete the following task: Open the clock"
    assert (info["suite"], info["task"], info["budget"]) == ("official", "toy_3", 25)


def test_an_argument_names_the_checkout(monkeypatch, folder):
    monkeypatch.delenv(checkout.VARIABLE, raising=False)
    env = gym.make("AndroidLab-v0", suite="official", checkout=str(folder), disable_env_checker=True)
    assert list(env.unwrapped.suite.families) == ["toy_1", "toy_2", "toy_3", "toy_4"]


def test_definitions_have_what_the_files_say(folder):
    one, two, three, _ = checkout.load(folder)
    assert (one.id, one.app, one.package, one.human_steps) == ("toy_1", "clock", "com.google.android.deskclock", 1)
    assert [task.answered for task in (one, two, three)] == [False, True, False]
    assert three.query == "adb shell settings list system | grep time_12"


def test_loading_leaves_no_trace(folder):
    before = dict(sys.modules)
    checkout.load.cache_clear()
    checkout.load(folder)
    new = {name for name in sys.modules if name.split(".")[0] in ("evaluation", "utils_mobile", "jsonlines")}
    assert new <= before.keys() and str(folder) not in sys.path
    assert not list(folder.rglob("__pycache__"))


def test_a_task_without_a_judge_is_told(tmp_path):
    toy_lab.write(tmp_path)
    config = tmp_path / "evaluation/config/toy.yaml"
    config.write_text(config.read_text().replace("toy_4", "toy_5"))
    with pytest.raises(UsageError, match="toy_5 but no judge"):
        checkout.load(tmp_path)


# episodes


def test_an_episode_begins_in_the_app_on_upstreams_day(folder):
    env = make(folder)
    start(env, "toy_1")
    device = env.unwrapped._device
    assert device.foreground == "com.google.android.deskclock" and f"{device.now:%F %H}" == "2024-05-10 12"


def test_the_judge_sees_the_screen_before_each_action_and_its_last_word_counts(folder):
    env = make(folder)
    observation, _ = start(env, "toy_1")
    observation, *_, info = env.step(second_switch(observation))
    assert dict(info["judged"]) == {"judge_page": True, "1": False, "2": True, "complete": False}
    *_, info = env.step("press_home()")
    assert info["judged"]["complete"] is True
    _, reward, terminated, _, info = env.step("finished(content='')")  # on the home screen, where no alarm is seen
    assert (reward, terminated, info["is_success"], info["judged_steps"]) == (1.0, True, True, 3)
    assert info["human_steps"] == 1


def test_undoing_takes_the_success_back(folder):
    env = make(folder)
    observation, _ = start(env, "toy_1")
    for _ in range(2):
        observation, *_ = env.step(second_switch(observation))
    assert env.step("finished(content='')")[1] == 0.0


def test_a_run_that_uses_up_its_budget_is_judged_too(folder):
    env = make(folder)
    observation, _ = start(env, "toy_1")
    env.step(second_switch(observation))
    for step in range(23):
        assert not env.step(f"click(start_box='(135,{300 + step % 4})')")[3]
    _, reward, terminated, truncated, info = env.step("press_home()")
    assert (reward, terminated, truncated, info["is_success"]) == (1.0, False, True, True)


def test_five_equal_actions_end_a_run_as_upstream_ends_it(folder):
    env = make(folder)
    start(env, "toy_1")
    ends = [env.step(action)[2] for action in ("press_home()", *["wait()"] * 5)]
    assert ends == [False] * 5 + [True]


def test_a_judge_that_stumbles_is_passed_over(folder):
    env = make(folder)
    start(env, "toy_4")
    _, reward, terminated, _, info = env.step("finished(content='x')")
    assert (reward, terminated, info["judged_steps"]) == (0.0, True, 0) and "fault" not in info


def test_a_phone_without_the_benchmarks_apps_is_told(folder, caplog):
    caplog.set_level(logging.CRITICAL)
    suite = official_lab.suite(folder)
    env = gym.make(
        "AndroidLab-v0", suite=suite, screen_size=SIZE, disable_env_checker=True,
        device=lambda: PhoneDevice(*SIZE, Profile("todo", ("coach_gym.envs.apps.tasks.app",))),
    )  # fmt: skip
    _, info = start(env, "toy_1")
    assert "profile=ANDROID_LAB" in info["fault"]


def test_the_judge_reads_what_the_device_answers_to_the_query(folder):
    env = make(folder)
    start(env, "toy_3")
    assert env.step("finished(content='')")[1] == 1.0


@pytest.mark.parametrize(("answer", "reward"), [("2", 1.0), ("two alarms", 1.0), ("three", 0.0), ("", 0.0)])
def test_answers_are_compared_with_the_standard_answer(folder, answer, reward):
    env = make(folder)
    start(env, "toy_2")
    assert env.step(f"finished(content='{answer}')")[1] == reward


def test_an_answer_judge_of_the_users_is_asked(folder):
    asked = []

    def judge(question, answer, standard):
        asked.append((question, answer, standard))
        return True

    env = make(folder, answer_judge=judge)
    start(env, "toy_2")
    assert env.step("finished(content='many')")[1] == 1.0
    goal = "You should use clock to complete the following task: How many alarms are on?"
    assert asked == [(goal, "many", "Two alarms")]


def test_an_answer_judge_that_fails_gives_a_fault_and_no_verdict(folder, caplog):
    def judge(*_):
        raise TimeoutError("the model does not answer")

    caplog.set_level(logging.CRITICAL)
    env = make(folder, answer_judge=judge)
    start(env, "toy_2")
    _, reward, terminated, truncated, info = env.step("finished(content='2')")
    assert (reward, terminated, truncated) == (0.0, False, True)
    assert info["fault"] == "TimeoutError: the model does not answer" and not info["is_success"]


def test_without_an_answer_judge_answers_are_left_to_an_outcome_verifier(folder):
    env = make(folder, answer_judge=None)
    start(env, "toy_2")
    _, reward, terminated, _, info = env.step("finished(content='2')")
    assert (reward, terminated, info["is_success"]) == (0.0, True, None) and "fault" not in info
    start(env, "toy_2")
    assert env.step("finished()")[4]["is_success"] is False  # without an answer there is nothing to judge


def test_actions_are_reported_in_upstreams_words():
    assert parsed_action(Action("click", (3, 4))) == {
        "operation": "do", "action": "Tap", "kwargs": {"element": (3, 4)},
    }  # fmt: skip
    assert parsed_action(Action("finished", content="yes")) == {
        "operation": "finish", "action": "finish", "kwargs": {"message": "yes"},
    }  # fmt: skip


# queries


@pytest.mark.parametrize(
    ("query", "output"),
    [
        ("adb shell settings get global airplane_mode_on", "0"),
        ("adb shell settings list system | grep volume_ring_speaker", "volume_ring_speaker=5"),
        ("adb shell 'getprop persist.sys.timezone'", "Asia/Shanghai"),
        ("adb shell getprop ro.build.version.release", "13"),
        ("adb shell pm list packages | grep 'com.booking'", "package:com.booking"),
        ("adb shell pm list packages | grep 'com.missing'", "ERROR"),
        ("adb shell no_such_command", "ERROR"),
    ],
)
def test_queries_answer_as_upstreams_controller_does(query, output):
    assert queries.ask(PhoneDevice(*SIZE, ANDROID_LAB), query) == output


def test_no_shell_of_the_host_sees_a_query(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    queries.ask(PhoneDevice(*SIZE, ANDROID_LAB), "adb shell getprop x; touch here | grep $(touch there)")
    assert not list(tmp_path.iterdir())


def test_the_suite_runs_on_a_device_behind_adb(folder):
    port = free_port()
    phone = lab_phone(*SIZE)
    with adb_server() as adb, PhoneServer(phone, port + 1, port, token="") as server:
        suite = official_lab.suite(folder)
        env = gym.make(
            "AndroidLab-v0", suite=suite, screen_size=SIZE, disable_env_checker=True,
            device=lambda: AdbDevice(server.address, server_port=adb, pause=0.0),
        )  # fmt: skip
        observation, _ = start(env, "toy_1")
        assert f"{phone.now:%F}" == "2024-05-10" and phone.foreground == "com.google.android.deskclock"
        env.step(second_switch(observation))
        assert env.step("finished(content='')")[1] == 1.0
        start(env, "toy_3")
        assert env.step("finished(content='')")[1] == 1.0
        env.close()


# answers


@pytest.mark.parametrize(
    ("question", "answer", "standard", "same"),
    [
        ("When is it?", "7:30 AM.", "7:30AM", True),
        ("When is it?", "7:30 PM", "7:30AM", False),
        ("What is the number?", "(223) 311-44", "22331144 or (223) 311-44", True),
        ("What is the number?", "22331144", "22331144 or (223) 311-44", True),
        ("What is the number?", "2233114", "22331144 or (223) 311-44", False),
        ("How many alarms?", "2", "Two alarms", True),
        ("How many alarms?", "12", "Two alarms", False),
        ("How much?", "11400 CNY", "11,400.00 CNY", True),
        ("How much?", "11400", "11,400.00 CNY", False),
        ("How long?", "about 4 hours and 7 minutes", "4 hr 7 min", True),
        ("Is it open or not open?", "not open", "not open", True),
        ("Is it open or not open?", "open", "not open", False),
        ("Is it on?", "", "Yes", False),
        ("Is it on?", "Yes No", "Yes", False),
        ("Where?", "Teleferic Barcelona", "Teléferic Barcelona", True),
    ],
)
def test_answers_are_the_same_word_by_word(question, answer, standard, same):
    assert same_answer(question, answer, standard) is same


def test_the_phone_of_the_suite_has_the_benchmarks_apps(folder):
    env = make(folder)
    start(env, "toy_1")
    labels = {app.label for app in env.unwrapped._device.phone.apps.values()}
    assert {"Clock", "Calendar", "Contacts", "Settings", "Zoom"} <= labels and "Simple Calendar Pro" not in labels


def test_resets_return_to_the_same_phone(folder):
    env = make(folder)
    first, _ = start(env, "toy_1")
    env.step(second_switch(first))
    again, _ = start(env, "toy_1")
    assert again["ui"] == first["ui"] and np.array_equal(again["screenshot"], first["screenshot"])


def test_a_monkey_breaks_nothing_on_the_suites_phone():
    """Whatever is touched or typed; a fault would be the phone's, for there is no task here."""
    device = PhoneDevice(*SIZE, ANDROID_LAB)
    rng = random.Random(0)
    for step in range(STEPS):
        if step % 12 == 0:
            device.phone.launch(rng.choice(list(device.phone.apps)))
        action = pick(rng, {"ui": compress(device.ui())})
        if action.kind != "open_app":
            device.perform(action)
        if step % 50 == 0:
            device.phone.restore(device.phone.snapshot())
    assert device.screenshot().shape == (600, 270, 3)
