"""What needs no device: names of devices and apps, gestures, clones of virtual devices."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coach_gym.actions import Action
from coach_gym.envs.android import AndroidEnv
from coach_gym.envs.devices import names
from coach_gym.envs.devices.app_names import label_of, package_named
from coach_gym.envs.devices.gestures import scroll_end
from coach_gym.envs.devices.sdk import avd_home, avd_names, clone_avd, emulator_binary, sdk_root
from coach_gym.envs.profiles import world_phone

ADB = ["emulator-5554", "127.0.0.1:5555", "phone-farm.local:5555", "[::1]:5555", "R58N123ABCD", "0A041FDD4003BC"]


@pytest.mark.parametrize("name", [*ADB, "android_env:5554", "android_env:5556:8600"])
def test_devices_are_named_by_serial_number_or_kind(name):
    names.check_name(name)
    AndroidEnv(device=name)  # nothing is connected before the first reset


@pytest.mark.parametrize("name", ["nokia", "", "android_env", "android_env:x", "emulator", "a b:1", "$(id)1", "x;1"])
def test_other_names_are_refused_before_anything_starts(name):
    with pytest.raises(ValueError, match="is unknown; pass 'phone'"):
        AndroidEnv(device=name)


@pytest.mark.parametrize("name", ["127.0.0.1:99999", "[::1]:65536", "android_env:99999", "android_env:5556:70000"])
def test_ports_that_are_none_are_refused_before_anything_starts(name):
    with pytest.raises(ValueError, match=f"device='{re.escape(name)}' has no port .*; ports have the numbers"):
        AndroidEnv(device=name)


def test_names_open_the_device_that_they_say(monkeypatch):
    from coach_gym.envs.devices import adb_device, android_env_device

    monkeypatch.setattr(adb_device, "AdbDevice", lambda *args: ("adb", *args))
    monkeypatch.setattr(android_env_device, "AndroidEnvDevice", lambda *args: ("android_env", *args))
    assert names.open_device("10.0.0.2:5555") == ("adb", "10.0.0.2:5555")
    assert names.open_device("android_env:5556") == ("android_env", 5556, None)
    assert names.open_device("android_env:5556:8600") == ("android_env", 5556, 8600)


@pytest.mark.parametrize(
    ("label", "package"),
    [
        ("Settings", "com.android.settings"),
        ("  settings ", "com.android.settings"),
        ("Clock", "com.android.deskclock"),  # the first known package that is installed
        ("Broccoli App", "com.flauschcode.broccoli"),
        ("Aegis", "com.beemdevelopment.aegis"),
        ("org.mozilla.fennec_fdroid", "org.mozilla.fennec_fdroid"),
        ("VLC", None),
        ("android", None),  # a word in many package names means nothing
        ("com", None),
        ("", None),
        ("'; reboot; '", None),
    ],
)
def test_a_label_means_the_installed_app_of_that_name(label, package):
    installed = {
        "com.android.settings", "com.android.deskclock", "com.flauschcode.broccoli", "com.beemdevelopment.aegis",
        "org.mozilla.fennec_fdroid",
    }  # fmt: skip
    assert package_named(label, installed) == package


def test_the_labels_of_the_embedded_phone_mean_the_same_apps_over_adb():
    apps = {app.label: app.package for app in world_phone().apps.values()}
    assert {label: package_named(label, apps.values()) for label in apps} == apps
    assert label_of("com.arduia.expense") == "Pro Expense"


@given(st.text(max_size=30), st.sets(st.text(max_size=30), max_size=5))
def test_any_label_finds_an_installed_package_or_none(label, installed):
    assert package_named(label, installed) in {*installed, None}


@pytest.mark.parametrize(
    ("direction", "end"), [("down", (100, 200)), ("up", (100, 599)), ("left", (235, 500)), ("right", (0, 500))]
)
def test_a_finger_moves_away_from_what_is_to_be_shown_and_stays_on_the_screen(direction, end):
    assert scroll_end(Action("scroll", start=(100, 500), direction=direction), (270, 600)) == end


def test_a_scroll_to_a_point_ends_there():
    assert scroll_end(Action("scroll", start=(100, 500), end=(7, 8)), (270, 600)) == (7, 8)


@pytest.fixture
def avds(tmp_path):
    """A folder with one virtual device, as avdmanager writes it."""
    folder = tmp_path / "World.avd"
    (folder / "snapshots/coach").mkdir(parents=True)
    (tmp_path / "World.ini").write_text(f"avd.ini.encoding=UTF-8\npath={folder}\npath.rel=avd/World.avd\n")
    (folder / "config.ini").write_text("AvdId=World\navd.ini.displayname = World\nhw.device.name=WorldPhone\n")
    hardware = f"disk.dataPartition.path = {folder}/userdata-qemu.img\navd.name = World\n"
    (folder / "hardware-qemu.ini").write_text(hardware)
    (folder / "snapshots/coach/hardware.ini").write_text(f"disk.cachePartition.path = {folder}/cache.img\n")
    (folder / "userdata-qemu.img").write_bytes(b"World" * 100)
    (folder / "multiinstance.lock").touch()
    return tmp_path


def test_a_clone_names_itself_everywhere_and_keeps_the_data(avds):
    clone_avd("World", "World_5554", avds)
    copy = avds / "World_5554.avd"
    assert avd_names({"ANDROID_AVD_HOME": str(avds)}) == ["World", "World_5554"]
    assert (avds / "World_5554.ini").read_text().splitlines()[1:3] == [f"path={copy}", "path.rel=avd/World_5554.avd"]
    assert (copy / "config.ini").read_text().splitlines() == [
        "AvdId=World_5554", "avd.ini.displayname=World_5554", "hw.device.name=WorldPhone"
    ]  # fmt: skip
    assert f"path={copy}/userdata-qemu.img\navd.name=World_5554\n" in (copy / "hardware-qemu.ini").read_text()
    assert (copy / "snapshots/coach/hardware.ini").read_text() == f"disk.cachePartition.path={copy}/cache.img\n"
    assert (copy / "userdata-qemu.img").read_bytes() == b"World" * 100
    assert not (copy / "multiinstance.lock").exists()
    assert "World_5554" not in (avds / "World.avd/config.ini").read_text()


def test_a_clone_is_made_once_and_an_interrupted_one_again(avds):
    clone_avd("World", "W2", avds)
    (avds / "W2.avd/userdata-qemu.img").write_bytes(b"used")
    clone_avd("World", "W2", avds)
    assert (avds / "W2.avd/userdata-qemu.img").read_bytes() == b"used"
    (avds / "W2.ini").unlink()  # as after an interrupted copy
    clone_avd("World", "W2", avds)
    assert (avds / "W2.avd/userdata-qemu.img").read_bytes() == b"World" * 100


def test_there_is_no_clone_of_nothing(tmp_path):
    with pytest.raises(FileNotFoundError):
        clone_avd("Nobody", "N2", tmp_path)
    assert not list(tmp_path.iterdir())


def test_the_kit_is_found_where_studio_puts_it_or_variables_point(tmp_path):
    home = {"HOME": str(tmp_path), "PATH": ""}
    assert sdk_root(home) is None and emulator_binary(home) is None
    assert avd_home(home) == tmp_path / ".android/avd"
    (tmp_path / "Android/Sdk/emulator").mkdir(parents=True)
    (tmp_path / "Android/Sdk/emulator/emulator").touch()
    assert emulator_binary(home) == tmp_path / "Android/Sdk/emulator/emulator"
    assert avd_home({**home, "ANDROID_USER_HOME": "/x"}).as_posix() == "/x/avd"
