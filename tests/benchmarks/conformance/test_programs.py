"""Whole programs of others: the script that plays their models, its server, and what stands for an emulator's files."""

import json
import urllib.request

import pytest

from benchmarks.conformance.programs import __main__ as programs
from benchmarks.conformance.programs import model
from benchmarks.conformance.programs.scripts import Script
from coach_gym.envs.phone.packages import package_file
from coach_gym.envs.phone.shell.commands.manifest import read_manifest
from coach_gym.envs.phone.shell.commands.state import FORWARDER

WORLD = """The current user goal/request is: Run the stopwatch.
UI element 3: UIElement(text=Alarm, content_description=None, class_name=x)
UI element 4: UIElement(text='None', content_description='Stopwatch', class_name=x)
UI element 5: UIElement(text='Start', content_description=None, class_name=x)
Your Answer:
"""
LAB = """Task Instruction: You should use Settings to complete the following task: Turn my phone to Dark theme
** XML **
    [n37e3] TextView ;click ; ;;Display : Dark theme
        bounds: [0,78][1080,245]
"""


def test_the_script_follows_a_goal_step_by_step_in_the_words_of_androidworlds_agent():
    script = Script()
    actions = [json.loads(script.answer(WORLD).partition("Action: ")[2]) for _ in range(4)]
    assert actions == [
        {"action_type": "open_app", "app_name": "Clock"}, {"action_type": "click", "index": 4},
        {"action_type": "click", "index": 5}, {"action_type": "status", "goal_status": "complete"},
    ]  # fmt: skip


def test_the_script_writes_androidlabs_actions_and_misses_what_is_not_on_the_screen():
    script = Script()
    assert 'do(action="Tap", element=[0, 78, 1080, 245])' in script.answer(LAB)
    with pytest.raises(LookupError, match="'Dark theme' is not on the screen"):
        script.answer(LAB)
    with pytest.raises(LookupError, match="no script for the goal"):
        script.answer(WORLD.replace("Run the stopwatch", "Buy milk"))


def test_the_server_answers_as_openai_does_and_notes_what_the_script_could_not():
    with model.served() as (address, faults):
        answers = []
        for prompt in (WORLD, WORLD.replace("Run the stopwatch", "Buy milk")):
            message = {"role": "user", "content": [{"type": "text", "text": prompt}]}
            body = json.dumps({"model": "m", "messages": [message]}).encode()
            with urllib.request.urlopen(urllib.request.Request(f"{address}/chat/completions", body)) as reply:
                answers.append(json.load(reply)["choices"][0]["message"]["content"])
    assert "open_app" in answers[0] and len(faults) == 1 and "Buy milk" in faults[0]


def test_the_forwarders_package_can_be_installed():
    assert read_manifest(package_file(FORWARDER, model.FILLING)).package == FORWARDER


def test_a_home_has_an_sdk_and_names_missing_checkouts(tmp_path):
    (tmp_path / "home").mkdir()
    home = programs.Home(tmp_path / "home", tmp_path)
    assert home.adb.exists() and home.emulator.stat().st_mode & 0o100
    with pytest.raises(FileNotFoundError, match="pass --checkouts"):
        home.run("android_world/run.py")


def test_a_program_passes_by_its_own_verdict():
    assert programs._row("p", "t", "Successful").outcome == "passed"
    assert programs._row("p", "t", "Failed").outcome == "failed"
