"""A fork is another phone in the same state: the same touches lead to the same, and neither sees the other's."""

from copy import deepcopy
from itertools import chain
from random import Random

import numpy as np
import pytest

from coach_gym.envs.phone.app import App, Confirm, Menu, Prompt, Screen
from coach_gym.envs.phone.phone import Phone
from coach_gym.envs.phone.toolkit.widgets import Column, Text
from coach_gym.envs.profiles import lab_phone, world_phone

SIZE = (270, 600)
KEYS = ("BACK", "ENTER", "DEL")


@pytest.fixture(scope="module")
def phones():
    """A phone of either profile, and how it was when new."""
    made = {"world": world_phone(*SIZE), "lab": lab_phone(*SIZE)}
    return {name: (phone, phone.snapshot()) for name, phone in made.items()}


def packages():
    makers = {"world": world_phone, "lab": lab_phone}
    return chain.from_iterable(((name, package) for package in make(*SIZE).apps) for name, make in makers.items())


def play(phone, seed, steps):
    """Random touches, most of them on something; returns the screens on the way."""
    rng, seen = Random(seed), []
    for _ in range(steps):
        targets = [node for node in phone.ui().walk() if node.clickable and not node.decor]
        left, top, right, bottom = rng.choice(targets).bounds if targets else (0, 0, *SIZE)
        at = ((left + right) // 2, (top + bottom) // 2)
        match rng.randrange(8):
            case 0:
                phone.long_press(*at)
            case 1:
                phone.swipe((135, 400), (135, 200))
            case 2:
                phone.type(rng.choice(("a", "Bob", "12")))
            case 3:
                phone.key(rng.choice(KEYS))
            case _:
                phone.tap(*at)
        seen.append(phone.ui())
    return seen


def state(phone):
    return phone.ui(), phone.storage.snapshot(), deepcopy(phone.services), phone.clipboard, phone.now


@pytest.mark.parametrize(("profile", "package"), packages())
def test_forks_go_the_same_way_and_leave_each_other_alone(phones, profile, package):
    phone, fresh = phones[profile]
    phone.restore(fresh)
    phone.launch(package)
    play(phone, package, 12)
    before, frame = state(phone), phone.screenshot()
    first, second = phone.fork(), phone.fork()
    assert state(first) == before and np.array_equal(first.screenshot(), frame)
    way = play(first, "on", 12)
    assert state(phone) == before and np.array_equal(phone.screenshot(), frame)
    assert play(second, "other", 12) and state(phone) == before
    saved = phone.snapshot()
    assert play(phone, "on", 12) == way and state(phone) == state(first)
    phone.restore(saved)
    assert state(phone) == before and play(phone, "on", 12) == way


class Keeper(App):
    package, label = "org.example.keeper", "Keeper"

    def main(self):
        return Kept()


class Kept(Screen):
    """Counts, by callbacks of every kind that its dialogs keep."""

    def __init__(self):
        super().__init__()
        self.count, self.name = 0, ""

    def build(self):
        return Column([Text(f"{self.count} {self.name}")])

    def ask(self):
        def more():
            self.count += 1

        self.push(Menu([("Count", lambda: self.push(Confirm("Count?", "", "Yes", more)))]))

    def ask_name(self):
        self.push(Prompt("Name", lambda text: setattr(self, "name", text)))
        self.focus(self.phone.top.input)


def tap(phone, label):
    node = next(node for node in phone.ui().walk() if label in (node.text, node.desc))
    phone.tap((node.bounds[0] + node.bounds[2]) // 2, (node.bounds[1] + node.bounds[3]) // 2)


@pytest.fixture
def keeper():
    phone = Phone(*SIZE, apps=[Keeper])
    phone.launch(Keeper.package)
    return phone


def shown(phone):
    return phone.stacks[Keeper.package][0].build().children[0].text


def test_lambdas_in_dialogs_act_on_the_phone_that_shows_them(keeper):
    keeper.top.ask()
    saved, fork = keeper.snapshot(), keeper.fork()
    tap(fork, "Count")
    twin = fork.fork()
    tap(fork, "Yes")
    assert [shown(phone) for phone in (keeper, fork, twin)] == ["0 ", "1 ", "0 "]
    for _ in range(2):
        keeper.restore(saved)
        tap(keeper, "Count")
        tap(keeper, "Yes")
        assert shown(keeper) == "1 " and len(keeper.stack) == 1
    tap(twin, "Yes")
    assert shown(twin) == "1 "


def test_the_cursor_of_a_fork_is_in_the_forks_own_field(keeper):
    keeper.top.ask_name()
    keeper.type("Ad")
    fork = keeper.fork()
    fork.type("a")
    keeper.type("min")
    for phone, name in ((fork, "Ada"), (keeper, "Admin")):
        tap(phone, "OK")
        assert shown(phone) == f"0 {name}"


def test_a_snapshot_names_what_cannot_be_kept(keeper):
    db = keeper.storage.database("/data/x.db")
    keeper.push(keeper.apps[Keeper.package], Menu([("Go", lambda: db.execute("SELECT 1"))]))
    with pytest.raises(TypeError, match="Connection"):
        keeper.snapshot()


def test_forks_have_their_own_databases_settings_and_listeners(keeper):
    db = keeper.storage.create_database("/data/x.db", "CREATE TABLE t (n)")
    db.execute("INSERT INTO t VALUES (1)")
    keeper.receivers.append(print)
    fork = keeper.fork()
    fork.storage.database("/data/x.db").execute("INSERT INTO t VALUES (2)")
    fork.storage.settings["system", "volume"] = "3"
    fork.permissions.add((Keeper.package, "fly"))
    assert db.execute("SELECT n FROM t").fetchall() == [(1,)]
    assert ("system", "volume") not in keeper.storage.settings and not keeper.permissions and not fork.receivers
    assert fork.apps[Keeper.package].phone is fork and keeper.apps[Keeper.package].phone is keeper


CHANGES = {
    "packages": ("org.example.new", "2 1.1"),
    "roles": ("browser", "Keeper"),
    "properties": ("debug.keeper", "1"),
    "calls": ("5551234", "held"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_snapshots_keep_what_services_hold_apart_from_settings(keeper, name):
    key, value = CHANGES[name]
    fresh, settings = keeper.snapshot(), dict(keeper.storage.settings)
    getattr(keeper.services, name)[key] = value
    changed, fork = keeper.snapshot(), keeper.fork()
    assert keeper.storage.settings == settings
    getattr(fork.services, name).clear()
    fork.services.screen_on = False
    keeper.restore(fresh)
    assert not getattr(keeper.services, name)
    keeper.restore(changed)
    assert getattr(keeper.services, name) == {key: value} and keeper.services.screen_on


@pytest.mark.parametrize("table", ["settings", "packages", "clipboard of the phone"])
def test_what_a_callback_has_captured_of_the_phone_is_the_phones_own(keeper, table):
    phone = keeper.top.phone
    settings, packages = phone.storage.settings, phone.services.packages

    def write():
        if table == "settings":
            settings["system", "x"] = "1"
        elif table == "packages":
            packages["x"] = "1"
        else:
            phone.clipboard = "1"

    keeper.push(keeper.apps[Keeper.package], Menu([("Write", write)]))
    saved, fork = keeper.snapshot(), keeper.fork()
    keeper.restore(saved)
    for one, other in ((keeper, fork), (fork, keeper)):
        before = state(other)
        tap(one, "Write")
        assert state(other) == before
        assert "1" in (one.storage.settings.get(("system", "x")), one.services.packages.get("x"), one.clipboard)
