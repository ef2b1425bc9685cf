"""What the checks of the families of Settings let pass, on the phone that each runs on."""

import random

import pytest

from coach_gym.envs.apps.settings import lab_tasks as lab
from coach_gym.envs.apps.settings import pages, world_tasks
from coach_gym.envs.devices.phone import PhoneDevice
from coach_gym.envs.phone.intents import Intent
from coach_gym.envs.profiles import ANDROID_LAB
from coach_gym.envs.tasks.words import ParamRng
from tests.envs.hands import Hands


@pytest.fixture(scope="module", params=["AndroidWorld", "AndroidLab"])
def made_device(request):
    return PhoneDevice(270, 600) if request.param == "AndroidWorld" else PhoneDevice(270, 600, ANDROID_LAB)


def test_the_clipboard_has_to_hold_the_text(device, begin):
    task = begin(world_tasks.SystemCopyToClipboard, 8)
    assert task.evaluate(device, task.params["text"]) == 0
    device.put_clipboard(f" {task.params['text']}\n")
    assert task.evaluate(device, None) == 1


@pytest.mark.parametrize("name", lab.SWITCHES)
def test_the_switch_asked_for_is_right_and_every_other_switch_is_wrong(device, begin, name):
    namespace, key, on, off = lab.SWITCHES[name]
    task = begin(lab.SettingsSwitch, what=name, on_or_off="on", states=dict.fromkeys(lab.SWITCHES, False))
    device.put_setting(namespace, key, on)
    assert task.evaluate(device, None) == 1
    for other, entry in lab.SWITCHES.items():
        if other != name:
            device.put_setting(*entry[:2], entry[2])
            assert task.evaluate(device, None) == 0, other
            device.put_setting(*entry[:2], entry[3])
    device.put_setting(namespace, key, off)
    assert task.evaluate(device, None) == 0


@pytest.mark.parametrize(("percent", "score"), [(50, 1), (45, 1), (55, 1), (44, 0), (56, 0), (0, 0)])
def test_the_brightness_may_be_five_points_off(device, begin, percent, score):
    task = begin(lab.SettingsBrightness, percent=50, start=80)
    device.put_setting("system", "screen_brightness", str(round(2.55 * percent)))
    assert task.evaluate(device, None) == score


@pytest.mark.parametrize(
    ("family", "options"),
    [
        (lab.SettingsScreenTimeout, pages.TIMEOUTS), (lab.SettingsFontSize, pages.FONT_SCALES),
        (lab.SettingsRingtone, {name: name for name in pages.RINGTONES}), (lab.SettingsLanguage, pages.LANGUAGES),
    ],
)  # fmt: skip
def test_a_choice_is_one_value_and_no_other(device, begin, family, options):
    task = begin(family)
    for shown, value in options.items():
        device.put_setting(*family.setting, value)
        assert task.evaluate(device, None) == float(shown == task.params["choice"])


@pytest.mark.parametrize(
    ("locales", "score"), [("de-DE", 1), ("de-DE,en-US", 1), ("en-US,de-DE", 0), ("en-US", 0), ("", 0)]
)
def test_the_phone_speaks_the_first_of_its_languages(device, begin, locales, score):
    task = begin(lab.SettingsLanguage, choice="Deutsch (Deutschland)", start="English (United States)")
    device.put_setting("system", "system_locales", locales)
    assert task.evaluate(device, None) == score


@pytest.mark.parametrize(
    ("music", "alarm", "score"), [("15", "3", 1), ("14", "3", 0), ("15", "7", 0), ("7", "7", 0)]
)
def test_one_volume_goes_up_and_the_other_stays(device, begin, music, alarm, score):
    task = begin(lab.SettingsVolume, sound="media", how="all the way up")
    device.put_setting("system", "volume_music", music)
    device.put_setting("system", "volume_alarm", alarm)
    assert task.evaluate(device, None) == score


@pytest.mark.parametrize("family", [lab.SettingsDeviceName, lab.SettingsJoinNetwork])
def test_names_are_exact(device, begin, family):
    task = begin(family)
    key, name = ("device_name", "name") if family is lab.SettingsDeviceName else ("wifi_network", "network")
    for text, score in ((task.params[name], 1), (f"{task.params[name]}s", 0), (task.params[name].lower(), 0), ("", 0)):
        device.put_setting("global", key, text)
        assert task.evaluate(device, None) == score


def test_a_network_must_be_joined_with_its_password_and_wifi_on(device, begin):
    task = begin(lab.SettingsJoinNetwork)
    network, password = task.params["network"], task.params["password"]
    hands = Hands(None, phone=device.phone)
    device.phone.start(Intent("android.settings.WIFI_SETTINGS"))
    for typed, score in ((f"{password}0", 0), (password.upper(), 0), (password, 1)):
        hands.tap(network, "Password")
        hands.type(typed)
        hands.tap("Connect")
        assert hands.shows("Check password and try again") != score and task.evaluate(device, None) == score
    device.put_setting("global", "wifi_on", "0")
    assert task.evaluate(device, None) == 0


def test_the_near_misses_are_another_network_and_another_password():
    params = lab.SettingsJoinNetwork.sample(ParamRng(0))
    missed = [lab.SettingsJoinNetwork(params).near_miss(random.Random(seed)) for seed in range(3)]
    assert {key for wrong in missed for key in params if wrong[key] != params[key]} == {"network", "password"}


def test_which_answers_tell_a_state(accepts):
    states = dict.fromkeys(lab.SWITCHES, False) | {"NFC": True}
    task = lab.SettingsSwitchState({"what": "NFC", "states": states})
    accepts(task, right=("on", "On.", " ON "), wrong=("off", "yes", "on or off", "it is on"))


def test_which_answers_tell_a_percentage(accepts):
    params = lab.SettingsPercentage.sample(ParamRng(0)) | {"what": "battery", "battery": 42, "screen brightness": 17}
    accepts(lab.SettingsPercentage(params), right=("42", "42%", "42 %"), wrong=("17", "17%", "0.42", "about 42"))


@pytest.mark.parametrize("what", ["name", "model", "Android version", "build number"])
def test_facts_are_where_settings_reads_them(device, begin, what):
    task = begin(lab.SettingsFact, what=what)
    facts = task.params["facts"]
    assert task.evaluate(device, facts[what]) == 1
    assert [task.evaluate(device, text) for fact, text in facts.items() if fact != what] == [0, 0, 0]
    build = (device.read(pages.BUILD) or b"").decode()
    assert all(facts[fact] in build for fact in ("model", "Android version", "build number"))


@pytest.mark.parametrize(
    "family",
    [world_tasks.SystemWifiTurnOn, world_tasks.SystemBluetoothTurnOff, world_tasks.TurnOffWifiAndTurnOnBluetooth],
)
@pytest.mark.parametrize("harm", [*world_tasks.OTHERS, "airplane_mode_on"])
def test_radios_are_switched_and_nothing_else_is(device, begin, family, harm):
    task = begin(family)
    for radio, (_, wanted) in family.radios.items():
        device.put_setting("global", radio, wanted)
    assert task.evaluate(device, None) == 1
    before = device.get_setting("global", harm)
    device.put_setting("global", harm, "0" if before == "1" else "1")
    assert task.evaluate(device, None) == 0
