"""Ours against AndroidLab's own code: a checkout of it is needed, which COACH_ANDROID_LAB names."""

import importlib
import itertools
import json
import os
import random
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import adbutils
import gymnasium as gym
import numpy as np
import pytest
from PIL import Image

import coach_gym  # noqa: F401
from coach_gym.actions import Action, format_action, parse_action
from coach_gym.envs.phone.servers.server import PhoneServer
from coach_gym.envs.profiles import ANDROID_LAB, ANDROID_WORLD, lab_phone
from coach_gym.envs.suites import official_lab
from coach_gym.envs.suites.experts import app_expert
from coach_gym.envs.suites.official_lab import checkout, compressed
from coach_gym.envs.suites.official_lab.metrics import Run, reasonable_operations, reversed_redundancy, sub_goals
from coach_gym.envs.suites.official_lab.task import parsed_action
from coach_gym.envs.suites.play import play
from coach_gym.envs.tasks.screen import Screen
from coach_gym.ui import Node, compress, to_dump, to_xml
from tests.envs.ports import free_port
from tests.envs.served_phone import adb_server

pytestmark = pytest.mark.skipif(
    checkout.VARIABLE not in os.environ, reason=f"{checkout.VARIABLE} does not name a checkout of AndroidLab"
)
HOLD_AT_START = {"clock_25", "setting_21"}  # to open an app that upstream opens itself
NEVER_COMPLETE = {"cantook_8", "cantook_9", "setting_6"}  # by upstream's judge


@pytest.fixture(scope="module")
def folder():
    return checkout.find()


@pytest.fixture(scope="module")
def definitions(folder):
    return {definition.id: definition for definition in checkout.load(folder)}


def test_all_tasks_load(definitions):
    assert len(definitions) == 138
    assert sum(definition.answered for definition in definitions.values()) == 40
    assert sum(definition.human_steps for definition in definitions.values()) == 775
    assert sum(definition.query is not None for definition in definitions.values()) == 8
    assert all("." in definition.package for definition in definitions.values())
    assert definitions["clock_26"].goal == "You should use clock to complete the following task: Close my 7:30AM alarm"


# compressed XML


@pytest.fixture(scope="module")
def upstream_xml(folder):
    pytest.importorskip("lxml")
    pytest.importorskip("xmltodict")
    sys.path.insert(0, str(folder))
    no_bytecode, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        tool = importlib.import_module("utils_mobile.xml_tool")
    finally:
        sys.path.remove(str(folder))
        sys.dont_write_bytecode = no_bytecode
    numbers = itertools.count()  # upstream's random tags may collide, and then it loses an element
    tool.uuid = SimpleNamespace(uuid4=lambda: SimpleNamespace(hex=f"{next(numbers) % 65536:04x}"))
    return lambda xml, form: tool.UIXMLTree().process(xml, level=1, str_type=form).strip()


def _untagged(text):
    return re.sub(r"\[n[0-9a-f]{4}\]", "[n]", text)


def _assert_same(upstream_xml, xml):
    assert _untagged(compressed.as_json(xml)) == _untagged(upstream_xml(xml, "json"))
    assert _untagged(compressed.as_text(xml)) == _untagged(upstream_xml(xml, "plain_text"))


@pytest.mark.parametrize("profile", [ANDROID_LAB, ANDROID_WORLD], ids=lambda profile: profile.name)
def test_screens_compress_as_upstream_compresses_them(upstream_xml, profile):
    phone = profile.phone(270, 600)
    rng = random.Random(0)
    seen = set()
    for step in range(300):
        if step % 15 == 0:
            phone.launch(rng.choice(list(phone.apps)))
        targets = [node for node in phone.ui().walk() if node.clickable]
        left, top, right, bottom = rng.choice(targets).bounds
        phone.tap((left + right) // 2, (top + bottom) // 2)
        if rng.random() < 0.2:
            phone.type("it's <\"5: {}, 6\"> é\u200a")
        xml = to_dump(phone.ui())
        if xml not in seen:
            seen.add(xml)
            _assert_same(upstream_xml, xml)
    assert len(seen) > 100


def _random_node(rng, depth):
    left, top = rng.randrange(-5, 90), rng.randrange(-5, 90)
    flags = ("clickable", "long_clickable", "checkable", "checked", "focusable", "scrollable", "selected", "password")
    return Node(
        cls=rng.choice(["android.widget.TextView", "android.view.View", "a.RecyclerView", "Plain", ""]),
        bounds=(left, top, left + rng.randrange(0, 60), top + rng.randrange(0, 60)),
        text=rng.choice(["", "", "word", "a; b", "two\nlines", ": {},"]), desc=rng.choice(["", "", "said"]),
        id=rng.choice(["", "org.app:id/x", "org.app:id/material_clock_face"]), package="org.app",
        children=[_random_node(rng, depth - 1) for _ in range(rng.randrange(4))] if depth else [],
        **{flag: rng.random() < 0.1 for flag in flags},
    )  # fmt: skip


def test_any_tree_compresses_as_upstream_compresses_it(upstream_xml):
    rng = random.Random(1)
    compared = 0
    for _ in range(300):
        root = _random_node(rng, 4)
        root.bounds, root.selected = (0, 0, 100, 100), True
        xml = to_xml(root)
        if ": {}" not in xml or compressed.as_json(xml):
            _assert_same(upstream_xml, xml)
            compared += 1
    assert compared > 200


# metrics


@pytest.fixture(scope="module")
def upstream_metrics(folder):
    with checkout.importable(folder):
        return importlib.import_module("evaluation.task")


def test_metrics_are_upstreams(upstream_metrics, tmp_path):
    rng = np.random.default_rng(0)
    judge = SimpleNamespace(length_gt={"x_1": 7}, additional_metrics={"RRR": {}, "reasonable_operation_ratio": {}})
    for run in range(40):
        steps = int(rng.integers(1, 8))
        pool = [rng.choice([0, 9, 255], (6, 5, 3)).astype(np.uint8) for _ in range(3)]
        pool.append(np.full((6, 5, 3), 255, np.uint8))
        screens = [pool[rng.integers(4)] for _ in range(steps)]
        paths = [str(tmp_path / f"{run}_{i}.png") for i in range(steps)]
        for path, screen in zip(paths, screens, strict=True):
            Image.fromarray(screen).save(path)
        goals = {str(n): bool(rng.integers(2)) for n in range(rng.integers(4))}
        result = {"judge_page": True, **goals, "complete": bool(rng.integers(2))}
        upstream_metrics.Evaluation_Task.add_metrics(judge, {"task_id": "x_1"}, [None] * steps, paths, result)
        ours = Run(result, steps, 7, reasonable_operations(screens))
        assert reversed_redundancy(ours) == judge.additional_metrics["RRR"]["x_1"]
        assert ours.operations == pytest.approx(judge.additional_metrics["reasonable_operation_ratio"]["x_1"])
        expected = 1 if result["complete"] else upstream_metrics.calculate_partial_acc(result)
        assert sub_goals(result) == expected


# solving


@pytest.fixture(scope="module", params=["upstream", "fixed"])
def judged_env(request, folder):
    suite = official_lab.suite(folder, judges=request.param)
    env = gym.make("AndroidLab-v0", suite=suite, screen_size=(540, 1200), disable_env_checker=True)
    env.unwrapped.judges = request.param
    yield env
    env.close()


@pytest.mark.parametrize(
    "app", ["bluecoins", "calendar", "cantook", "clock", "contacts", "map", "pimusic", "setting", "zoom"]
)
def test_experts_solve_the_tasks_that_doing_nothing_does_not(judged_env, definitions, app):
    solved = {}
    ids = [id for id in definitions if id.startswith(f"{app}_")]
    for id in ids:
        judged_env.reset(options={"task": id})
        idle = judged_env.step(format_action(Action("finished")))[1]
        assert (idle == 1.0) == (id in HOLD_AT_START), id
        solved[id] = play(judged_env, *judged_env.reset(options={"task": id})).reward
    missed = {id for id, reward in solved.items() if reward != 1.0}
    assert missed == (NEVER_COMPLETE & set(ids) if judged_env.unwrapped.judges == "upstream" else set())


WRONG = {
    "clock_10": "9:00 AM", "clock_13": "3", "contacts_12": "123", "setting_17": "12", "contacts_14": "October 23, 1996",
    "bluecoins_1": "11,000.00 CNY", "bluecoins_4": "Four transactions", "cantook_1": "Yes", "cantook_5": "37%",
    "map_2": "7.0 km, 9 min", "map_5": "riding", "map_9": "Nobu Hotel Palo Alto", "pimusic_1": "11 songs",
    "pimusic_5": "The second song is 'Future sounds' and the fourth song is 'Dark Side Of The Moon'",
}  # fmt: skip


@pytest.mark.parametrize("id", sorted(WRONG))
def test_wrong_answers_fail(judged_env, id):
    judged_env.reset(options={"task": id})
    assert judged_env.step(format_action(Action("finished", content=WRONG[id])))[1] == 0.0


NEARLY = {  # a task, and another whose expert does almost the same
    "clock_1": "clock_27", "clock_2": "clock_5", "clock_3": "clock_5", "clock_6": "clock_5", "clock_7": "clock_26",
    "clock_9": "clock_26", "clock_26": "clock_9", "clock_22": "clock_24", "clock_23": "clock_24",
    "clock_24": "clock_22", "clock_20": "clock_21", "clock_21": "clock_20", "clock_18": "clock_25",
    "clock_19": "clock_21",
    "calendar_1": "calendar_13", "calendar_2": "calendar_13", "calendar_3": "calendar_2", "calendar_4": "calendar_3",
    "calendar_5": "calendar_8", "calendar_9": "calendar_8", "contacts_2": "contacts_1", "contacts_3": "contacts_1",
    "contacts_4": "contacts_1", "contacts_6": "contacts_8", "contacts_8": "contacts_6", "contacts_9": "contacts_10",
    "contacts_10": "contacts_9", "contacts_11": "contacts_12", "setting_0": "setting_3", "setting_1": "setting_3",
    "setting_9": "setting_10", "setting_10": "setting_9", "setting_13": "setting_7", "setting_18": "setting_13",
    "setting_20": "setting_19", "setting_15": "setting_16", "setting_8": "setting_7", "setting_5": "setting_7",
}  # fmt: skip


@pytest.mark.parametrize("id", sorted(NEARLY))
def test_doing_another_task_fails(judged_env, id):
    other = judged_env.unwrapped.suite.expert(NEARLY[id])
    shown = play(judged_env, *judged_env.reset(options={"task": id}), expert=other)
    assert shown.reward == 0.0 and "fault" not in shown.info


# upstream's own controller, over the real adb


@pytest.fixture
def controller(folder, monkeypatch):
    """Makes upstream's controller of a served phone; where it asks for zsh, it gets bash."""
    run = subprocess.run

    def with_bash(*args, **options):
        return run(*args, **(options | {"executable": "/bin/bash"} if "executable" in options else options))

    monkeypatch.setattr(subprocess, "run", with_bash)
    monkeypatch.setenv("PATH", f"{Path(adbutils.adb_path()).parent}:{os.environ['PATH']}")
    monkeypatch.setitem(sys.modules, "Levenshtein", SimpleNamespace(distance=None))
    with checkout.importable(folder):
        for name in ("print_with_color", "time_within_ten_secs", "cp_docker"):
            setattr(sys.modules["utils_mobile.utils"], name, None)
            setattr(sys.modules["evaluation.docker_utils"], name, None)
        sys.modules["utils_mobile"].__path__ = [str(folder / "utils_mobile")]
        return importlib.import_module("utils_mobile.and_controller").AndroidController


@pytest.mark.parametrize("id", ["setting_0", "clock_1", "contacts_1", "calendar_1"])
def test_upstreams_controller_finds_the_same_phone(controller, upstream_xml, definitions, tmp_path, monkeypatch, id):
    phone, port, task = lab_phone(540, 1200), free_port(), definitions[id]
    with adb_server() as adb, PhoneServer(phone, port + 1, port, token="") as server:
        monkeypatch.setenv("ANDROID_ADB_SERVER_PORT", str(adb))
        subprocess.run([adbutils.adb_path(), "connect", server.address], capture_output=True, check=True)
        hands = controller(server.address)
        hands.run_command('adb shell date "2024-05-10 12:00:00"')
        hands.launch_app(task.package)
        judge, screen, verdict = task.judge(checkout.Judging(official_lab.same_answer)), Screen(), {}
        screen.update({"ui": compress(phone.ui())})
        for text in app_expert(ANDROID_LAB, id)(screen, {}):
            action = parse_action(text)[1]
            line = {"parsed_action": parsed_action(action), "target": task.goal}
            if task.query:
                line["command"] = {task.query: hands.run_command(task.query)}
            xml = Path(hands.get_xml("screen", str(tmp_path))).read_text()
            verdict = judge.judge(json.loads(upstream_xml(xml, "json")), line)
            _perform(hands, phone, action)
            screen.update({"ui": compress(phone.ui())})
    assert (hands.width, hands.height) == (540, 1200) and verdict["complete"] is True


def _perform(hands, phone, action):
    match action.kind:
        case "click":
            hands.tap(*action.start)
        case "type":
            hands.text(action.content)
        case "press_back":
            hands.back()
        case "open_app":
            hands.launch_app(phone.app_named(action.content).package)
