"""The phone's engine stands on its own: it imports no app, and none of its modules import each other."""

import ast
from datetime import timedelta
from graphlib import TopologicalSorter
from pathlib import Path

import coach_gym.envs.phone
from coach_gym.envs.phone.app import App, Screen
from coach_gym.envs.phone.intents import MAIN, VIEW, Intent
from coach_gym.envs.phone.phone import Phone
from coach_gym.envs.phone.toolkit.widgets import Column, Text

ROOT = Path(coach_gym.envs.phone.__file__).parent
ENGINE = "coach_gym.envs.phone"


def modules():
    """Source files of the engine by module name."""
    files = {path: path.relative_to(ROOT).with_suffix("").parts for path in ROOT.rglob("*.py")}
    return {".".join([ENGINE, *parts]).removesuffix(".__init__"): path for path, parts in files.items()}


def imports(path):
    """All modules that a file names in imports, wherever they stand."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_the_engine_imports_nothing_that_is_built_on_it():
    ours = {name for path in modules().values() for name in imports(path) if name.startswith("coach_gym.envs")}
    assert all(name.startswith(ENGINE) for name in ours - {"coach_gym.envs"})


def test_no_modules_import_each_other():
    known = modules()
    graph = {name: {i for i in imports(path) if i in known and i != name} for name, path in known.items()}
    TopologicalSorter(graph).prepare()  # raises CycleError


def test_a_phone_without_apps_shows_an_empty_home():
    phone = Phone(90, 200)
    assert phone.screenshot().shape == (200, 90, 3) and phone.foreground == phone.launcher.package


class Lamp(App):
    package, label = "org.example.lamp", "Lamp"

    def install(self):
        self.heard, self.seconds = [], 0.0

    def main(self):
        return LampScreen()

    def open(self, intent):
        if intent.action != VIEW:
            return False
        self.phone.open_screen(self.package, LampScreen(intent.data))
        return True

    def received(self, intent):
        self.heard.append(intent.action)
        return (7, "on") if intent.action == "lamp.ask" else None

    def elapsed(self, since):
        self.seconds += (self.phone.now - since).total_seconds()


class LampScreen(Screen):
    def __init__(self, text="dark"):
        super().__init__()
        self.text = text

    def build(self):
        return Column([Text(self.text)])


def texts(phone):
    return [node.text for node in phone.ui().walk()]


def test_an_app_of_anybody_can_be_given():
    phone = Phone(270, 600, apps=[Lamp])
    assert list(phone.apps) == [Lamp.package] and phone.app_named(" lamp ").package == Lamp.package
    phone.launch(Lamp.package)
    assert "dark" in texts(phone)


def test_intents_go_to_the_app_that_takes_them():
    phone = Phone(270, 600, apps=[Lamp])
    assert phone.start(Intent(VIEW, "lamp:bright")) == Lamp.package
    assert "lamp:bright" in texts(phone)
    assert phone.start(Intent("android.intent.action.DIAL", "tel:1")) is None
    assert phone.start(Intent(MAIN, package="org.example.other")) is None
    assert phone.start(Intent(MAIN, package=phone.launcher.package)) == phone.launcher.package
    assert phone.foreground == phone.launcher.package


def test_broadcasts_reach_apps_and_listeners():
    phone, outside = Phone(270, 600, apps=[Lamp]), []
    phone.receivers.append(outside.append)
    assert phone.broadcast(Intent("lamp.ask")) == (7, "on")
    assert phone.broadcast(Intent("other")) is None
    assert phone.apps[Lamp.package].heard == ["lamp.ask", "other"] == [intent.action for intent in outside]


def test_apps_hear_how_long_the_clock_ran():
    phone = Phone(270, 600, apps=[Lamp])
    phone.tap(5, 300)
    phone.elapse(timedelta(minutes=2))
    assert phone.apps[Lamp.package].seconds == 121
