"""What Android's own commands print and do, read by the clients that read it from real phones."""

import io
import struct
from dataclasses import replace
from datetime import datetime, timedelta

import adbutils.shell
import numpy as np
import pytest
from android_env.components.adb_call_parser import AdbCallParser
from android_env.components.adb_controller import AdbController
from android_env.proto import adb_pb2
from PIL import Image

from coach_gym.envs.apps.clock.data import ALARMS, Alarm, alarms
from coach_gym.envs.phone.input.ime import ADB_IME
from coach_gym.envs.phone.phone import Phone
from coach_gym.envs.phone.providers import contacts, telephony
from coach_gym.envs.phone.settings import DEFAULT_IME
from coach_gym.envs.phone.shell import run
from coach_gym.envs.profiles import lab_phone
from coach_gym.ui import compress, node_from_xml
from tests.envs.hands import Hands

CLOCK = "com.google.android.deskclock"
MESSAGES = "com.simplemobiletools.smsmessenger"


class Device(adbutils.shell.ShellExtension):
    """adbutils' device, whose shell is the phone's."""

    sync = None

    def __init__(self, phone):
        self.phone = phone

    def shell(self, cmdargs, **options):
        command = cmdargs if isinstance(cmdargs, str) else " ".join(cmdargs)
        return run(self.phone, command, merged=True).stdout.decode().rstrip()


class Controller(AdbController):
    """android_env's way to adb, which ends in the phone's shell."""

    def __init__(self, phone):
        self.phone = phone

    def execute_command(self, args, timeout=None, device_specific=True):
        assert args[0] == "shell"
        return run(self.phone, " ".join(args[1:]), merged=True).stdout


@pytest.fixture
def device(phone):
    return Device(phone)


def out(phone, command):
    output = run(phone, command)
    assert output.code == 0, (command, output)
    return output.stdout.decode()


# adbutils


def test_adbutils_reads_the_screen_and_the_battery(device):
    assert tuple(device.window_size()) == (270, 600)
    assert device.rotation() == 0 and device.is_screen_on()
    device.phone.storage.write("/sys/class/power_supply/battery/capacity", b"37\n")
    assert device.battery().level == 37 and device.battery().present
    assert device.wlan_ip() == "10.0.2.16"


def test_adbutils_starts_and_stops_apps(device):
    device.app_start(CLOCK)
    assert (device.app_current().package, device.phone.foreground) == (CLOCK, CLOCK)
    assert device.app_current().activity == "com.android.deskclock.DeskClock"
    device.app_stop(CLOCK)
    assert device.phone.foreground == device.phone.launcher.package
    assert CLOCK in device.list_packages() and CLOCK not in device.phone.stacks
    device.app_start("org.tasks", "com.todoroo.astrid.activity.MainActivity")
    assert device.app_current().package == "org.tasks"


def test_adbutils_reads_package_information(device):
    info = device.app_info("org.tasks")
    assert (info.package_name, info.version_name, info.version_code) == ("org.tasks", "1.0", 1)
    assert device.app_info("com.not.there") is None


def test_adbutils_touches_and_types(device):
    hands = Hands(MESSAGES, phone=device.phone)
    element = hands.find("Search")
    device.click(*element.center)
    device.send_keys("hello%sworld")
    assert device.phone.focus.text == "hello world"
    device.keyevent("HOME")
    assert device.phone.foreground == device.phone.launcher.package


# android_env


def test_android_env_reads_the_activity_in_front(phone):
    parser = AdbCallParser(Controller(phone))
    request = adb_pb2.AdbRequest(get_current_activity=adb_pb2.AdbRequest.GetCurrentActivity())
    start = adb_pb2.AdbRequest.StartActivity(full_activity=f"{CLOCK}/com.android.deskclock.DeskClock")
    assert parser.parse(adb_pb2.AdbRequest(start_activity=start)).status == adb_pb2.AdbResponse.OK
    assert parser.parse(request).get_current_activity.full_activity == f"{CLOCK}/com.android.deskclock.DeskClock"
    missing = adb_pb2.AdbRequest.StartActivity(full_activity="com.not.there/.Main")
    assert parser.parse(adb_pb2.AdbRequest(start_activity=missing)).status != adb_pb2.AdbResponse.OK
    pin = adb_pb2.AdbRequest.StartScreenPinning(full_activity=f"{CLOCK}/com.android.deskclock.DeskClock")
    assert parser.parse(adb_pb2.AdbRequest(start_screen_pinning=pin)).status == adb_pb2.AdbResponse.OK


def test_android_env_reads_settings_packages_and_orientation(phone):
    parser, requests = AdbCallParser(Controller(phone)), adb_pb2.AdbRequest
    put = requests.SettingsRequest(name_space=requests.SettingsRequest.GLOBAL)
    put.put.key, put.put.value = "auto_time", "0"
    parser.parse(requests(settings=put))
    get = requests.SettingsRequest(name_space=requests.SettingsRequest.GLOBAL)
    get.get.key = "auto_time"
    assert parser.parse(requests(settings=get)).settings.output == b"0\n"
    packages = requests.PackageManagerRequest()
    packages.list.packages.SetInParent()
    assert CLOCK in parser.parse(requests(package_manager=packages)).package_manager.list.items
    orientation = requests(get_orientation=requests.GetOrientationRequest())
    assert parser.parse(orientation).get_orientation.orientation == 0
    assert parser.parse(orientation).status == adb_pb2.AdbResponse.OK


# the clock


@pytest.mark.parametrize(
    ("command", "time"),
    [
        ("date 101515342023.00", datetime(2023, 10, 15, 15, 34)),
        ("date 1015153423.07", datetime(2023, 10, 15, 15, 34, 7)),
        ("date 2024-05-10 12:00:00", datetime(2024, 5, 10, 12)),
        ("date '2024-05-10 12:00:00'", datetime(2024, 5, 10, 12)),
        ("date @1700000000", datetime(2023, 11, 14, 22, 13, 20)),
        ("date 02292359", datetime(2024, 2, 29, 23, 59)),
    ],
)
def test_the_date_is_set(phone, command, time):
    phone.now = datetime(2024, 1, 1)
    run(phone, command)
    assert phone.now == time
    assert out(phone, "date +%s").strip() == str(int((time - datetime(1970, 1, 1)).total_seconds()))
    assert out(phone, "date") == time.strftime("%a %b %e %H:%M:%S UTC %Y\n")


def test_wrong_dates_change_nothing(phone):
    before = phone.now
    for text in ("99999999", "tomorrow", "2024-13-40", "@99999999999", "0230120020", "9" * 40):
        assert run(phone, f"date {text}").code == 1, text
    assert phone.now == before


def test_sleep_passes_at_once_on_the_phones_clock(phone):
    before = phone.now
    run(phone, "sleep 90; sleep 0.5; sleep 1m")
    assert (phone.now - before).total_seconds() == 150.5


# settings


def test_settings_are_the_ones_that_the_apps_read(phone):
    run(phone, "settings put system screen_brightness 255; svc wifi disable; svc bluetooth enable; svc data disable")
    kept = phone.storage.settings
    assert kept["system", "screen_brightness"] == "255" and kept["global", "wifi_on"] == "0"
    assert kept["global", "bluetooth_on"] == "1" and kept["global", "mobile_data"] == "0"
    assert out(phone, "settings get system screen_brightness; settings get global nothing") == "255\nnull\n"
    assert out(phone, "settings delete system screen_brightness; settings delete system nothing") == (
        "Deleted 1 rows\nDeleted 0 rows\n"
    )
    listed = dict(line.split("=", 1) for line in out(phone, "settings list global").splitlines())
    assert listed["wifi_on"] == "0" and "zen_duration" in listed
    assert run(phone, "settings get nowhere x").code == 255 and run(phone, "settings put global").code == 255


def test_the_shade_and_the_dark_theme(phone):
    run(phone, "cmd statusbar expand-settings")
    assert phone.shade == 2
    run(phone, "cmd uimode night yes; cmd statusbar collapse")
    assert phone.shade == 0 and phone.storage.settings["secure", "ui_night_mode"] == "2"
    assert phone.screenshot().mean() < 128


def test_a_service_does_what_it_is_called_for_or_says_that_it_cannot(phone):
    for call, shade in (("1", 1), ("2", 0), ("3", 1), ("3", 0)):
        assert out(phone, f"service call statusbar {call}") == "Result: Parcel(00000000    '....')\n"
        assert phone.shade == shade
    for call in ("clipboard 2 s16 x", "activity 79 s16 org.example", "statusbar 99", "alarm 3", "activity"):
        refused = run(phone, f"service call {call}")
        assert refused.code == 1 and f"service: call {call} is not on the embedded phone\n" == refused.stderr.decode()
        assert not refused.stdout


def test_properties(phone):
    assert out(phone, "getprop ro.build.version.release; getprop ro.build.version.sdk; getprop sys.boot_completed") == (
        "13\n33\n1\n"
    )
    run(phone, "setprop debug.mine 'a b'; service call alarm 3 s16 Europe/Rome")
    assert out(phone, "getprop debug.mine; getprop persist.sys.timezone; getprop none") == "a b\nEurope/Rome\n\n"
    assert run(phone, "setprop ro.build.id x").code == 1
    assert "[ro.build.version.sdk]: [33]\n" in out(phone, "getprop")


# apps and intents


def test_what_cannot_be_started_is_said_as_android_says_it(phone):
    output = run(phone, "am start -n com.not.there/.Main")
    assert output.code == 1
    message = "Error type 3\nError: Activity class {com.not.there/com.not.there.Main} does not exist.\n"
    assert output.stderr.decode() == message
    output = run(phone, "am start -a android.intent.action.VIEW -d nothing:like-this")
    assert b"Error: Activity not started, unable to resolve Intent {" in output.stderr
    assert run(phone, "monkey -p com.not.there 1").code == 252
    assert run(phone, "am frobnicate").code == 255 and run(phone, "am start -n wrong").code == 255


def test_a_contact_is_inserted_through_its_form(phone):
    kind = "-a android.intent.action.INSERT -t vnd.android.cursor.dir/contact"
    run(phone, f"am start {kind} -e name 'Ann Lee' -e phone 5551")
    assert "ContactEditorActivity" in out(phone, "dumpsys window | grep mCurrentFocus")
    Hands(None, phone=phone).tap("Save")
    rows = out(phone, "content query --uri content://contacts/phones/ --projection display_name:number")
    assert rows == "Row: 0 display_name=Ann Lee, number=5551\n"
    person = contacts.everybody(phone.storage.database(contacts.PATH))[0]
    assert (person.first, person.last) == ("Ann", "Lee")
    assert out(phone, "pm clear com.android.providers.contacts") == "Success\n"
    assert out(phone, "content query --uri content://contacts/phones/") == "No result found.\n"


def test_the_question_for_a_permission_is_an_activity_of_androids(phone):
    run(phone, "am start -n com.android.camera2/com.android.camera.CameraLauncher")
    Hands(None, phone=phone).tap("Video", "Start recording")
    owner, name = "com.android.permissioncontroller", ".permission.ui.GrantPermissionsActivity"
    nodes = [node for node in phone.ui().walk() if node.package == owner]
    parts = ("message", "allow_foreground_only_button", "allow_one_time_button", "deny_button")
    assert [node.id for node in nodes if node.id] == [f"{owner}:id/permission_{part}" for part in parts]
    assert nodes[-1].text == "Don’t allow" and phone.ui().package == owner
    assert f" u0 {owner}/{owner}{name}}}" in out(phone, "dumpsys window | grep mCurrentFocus")
    assert f" u0 {owner}/{name} t" in out(phone, "dumpsys window | grep mFocusedApp")
    assert f"ACTIVITY {owner}/{name} " in out(phone, "dumpsys activity top")
    stack = out(phone, "dumpsys activity activities | grep -A1 Hist | head -5").split()
    assert [word for word in stack if "/" in word or "=" in word] == [
        f"{owner}/{name}", f"packageName={owner}", f"processName={owner}",
        "com.android.camera2/com.android.camera.CameraLauncher", "packageName=com.android.camera2",
        "processName=com.android.camera2",
    ]  # fmt: skip
    phone.tap(5, 300)
    assert phone.ui().package == owner  # a touch beside it is no answer; Back is
    phone.key("BACK")
    assert "com.android.camera2/" in out(phone, "dumpsys window | grep mCurrentFocus")


def test_a_message_is_written_and_sent(phone):
    run(phone, "am start -a android.intent.action.SENDTO -d sms:+15551234 --es sms_body 'it\\'s; reboot 😀'")
    run(phone, 'am start -a android.intent.action.SENDTO -d sms:+15551234 --es sms_body "it\'s; reboot 😀"')
    Hands(None, phone=phone).tap("SMS")
    assert "body=it's; reboot 😀," in out(phone, "content query --uri content://sms/sent")
    (message,) = telephony.messages(phone.storage.database(telephony.PATH))
    assert (message.address, message.body, message.kind) == ("+15551234", "it's; reboot 😀", telephony.SENT)


def test_actions_open_the_app_and_the_page_that_they_name(phone):
    for action, package, shown in (
        ("android.settings.WIFI_SETTINGS", "com.android.settings", "AndroidWifi"),
        ("android.settings.SETTINGS", "com.android.settings", "Network & internet"),
        ("android.settings.DISPLAY_SETTINGS", "com.android.settings", "Dark theme"),
        ("android.media.action.IMAGE_CAPTURE", "com.android.camera2", "Shutter"),
        ("android.intent.action.VIEW -d content://contacts/people/", "com.google.android.contacts", "Contacts"),
    ):
        run(phone, f"am force-stop {package}")
        assert run(phone, f"am start -a {action}").code == 0, action
        assert phone.foreground == package and shown in str(phone.ui()), action
    run(phone, "am start -a android.intent.action.MAIN -c android.intent.category.HOME")
    assert phone.foreground == phone.launcher.package


def test_properties_are_what_the_settings_app_shows(phone):
    run(phone, "echo ro.build.version.release=14 > /system/build.prop")
    run(phone, "am start -a android.settings.DEVICE_INFO_SETTINGS")
    assert out(phone, "getprop ro.build.version.release") == "14\n" and "14" in str(phone.ui())
    assert "[ro.build.version.release]: [14]" in out(phone, "getprop")


def test_tasks_are_listed_and_removed(phone):
    run(phone, f"monkey -p {CLOCK} -c android.intent.category.LAUNCHER 1; monkey -p org.tasks 1")
    assert out(phone, "am stack list | grep -c taskId=") == "3\n"
    line = out(phone, f"am stack list | grep {CLOCK}")
    id = line.split("taskId=")[1].split(":")[0]
    assert f"#{id} " in out(phone, "dumpsys activity recents")
    run(phone, f"am stack remove {id}; am stack remove 424242")
    assert CLOCK not in phone.stacks and "org.tasks" in phone.stacks
    assert out(phone, "pidof org.tasks").strip() in out(phone, "ps -A | grep org.tasks")
    run(phone, "kill $(pidof org.tasks)")
    assert "org.tasks" not in phone.stacks


def test_clearing_an_app_clears_what_it_keeps_before_the_phone_is_unlocked(phone):
    alarms = "/data/user_de/0/com.google.android.deskclock/databases/alarms.db"
    count = f'sqlite3 {alarms} "SELECT count(*) FROM alarm_templates"'
    before = out(phone, count)
    out(phone, f"echo > {alarms}.note; pm clear {CLOCK}; pm clear {CLOCK}")
    assert out(phone, count) == before and not phone.storage.exists(f"{alarms}.note")


def test_clearing_an_app_starts_it_anew(phone):
    path = "/data/data/com.arduia.expense"
    before = {name: phone.storage.read(name) for name in phone.storage.files_below(path)}
    phone.storage.write(f"{path}/more", b"x")
    phone.permissions.add(("com.arduia.expense", "record audio"))
    assert out(phone, "pm clear com.arduia.expense") == "Success\n"
    assert set(phone.storage.files_below(path)) == set(before)
    assert ("com.arduia.expense", "record audio") not in phone.permissions
    assert run(phone, "pm clear com.not.there").stdout == b"Failed\n"


def test_permissions_are_granted_and_revoked(phone):
    run(phone, "pm grant com.dimowner.audiorecorder android.permission.RECORD_AUDIO")
    assert ("com.dimowner.audiorecorder", "record audio") in phone.permissions
    assert "RECORD_AUDIO: granted=true" in out(phone, "dumpsys package com.dimowner.audiorecorder")
    run(phone, "pm revoke com.dimowner.audiorecorder android.permission.RECORD_AUDIO")
    assert ("com.dimowner.audiorecorder", "record audio") not in phone.permissions
    assert run(phone, "pm grant com.not.there android.permission.CAMERA").code == 255


def test_broadcasts_reach_whoever_listens_outside(phone):
    heard = []
    phone.receivers.append(lambda intent: heard.append((intent.action, dict(intent.extras))))
    out(phone, 'am broadcast -a "accessibility_forwarder.intent.action.SET_GRPC" --ei "port" 5001 --es host 10.0.2.2')
    assert heard == [("accessibility_forwarder.intent.action.SET_GRPC", {"port": 5001, "host": "10.0.2.2"})]
    assert run(phone, "am broadcast -a x --ei port many").code == 255


def test_the_phone_of_android_lab_types_with_adb_keyboard_from_the_start():
    phone = lab_phone(270, 600)
    Hands("com.google.android.contacts", phone=phone).tap("Create contact", "First name")
    assert "result=-1" in out(phone, "am broadcast -a ADB_INPUT_TEXT --es msg Ann") and phone.focus.text == "Ann"
    assert out(phone, "ime list -s") == f"{DEFAULT_IME}\n{ADB_IME}\n"


def test_text_is_typed_through_an_input_method(phone):
    hands = Hands(MESSAGES, phone=phone)
    hands.tap("Search")
    assert "com.android.adbkeyboard/.AdbIME" in out(phone, "ime list -s -a")
    typing = "am broadcast -a ADB_INPUT_B64 --es msg aMOpbGxvIPCfmIA="  # 'héllo 😀'
    assert "result=0\n" in out(phone, typing) and phone.focus.text == "", "the keyboard of the screen does not listen"
    out(phone, "ime enable com.android.adbkeyboard/.AdbIME; ime set com.android.adbkeyboard/.AdbIME")
    assert "result=-1" in out(phone, typing)
    assert phone.focus.text == "héllo 😀"
    assert run(phone, "input text 'é'").code == 255  # no key of a keyboard
    assert run(phone, "ime set com.not.there/.Ime").code == 255


# the screen


def test_the_screen_is_captured(phone):
    run(phone, f"monkey -p {CLOCK} 1")
    pixels = np.asarray(Image.open(io.BytesIO(run(phone, "screencap -p").stdout)).convert("RGB"))
    assert (pixels == phone.screenshot()).all()
    raw = run(phone, "screencap").stdout
    assert struct.unpack("<4I", raw[:16])[:3] == (270, 600, 1)
    assert (np.frombuffer(raw[16:], np.uint8).reshape(600, 270, 4)[..., :3] == phone.screenshot()).all()
    run(phone, "screencap -p /sdcard/s.png")
    assert phone.storage.read("/storage/emulated/0/s.png")[:4] == b"\x89PNG"


def test_the_screens_xml_is_dumped(phone):
    assert out(phone, "uiautomator dump") == "UI hierchary dumped to: /sdcard/window_dump.xml\n"
    shown = node_from_xml(out(phone, "cat /sdcard/window_dump.xml"))
    assert compress(shown) == compress(phone.ui())
    assert all(node.package != "com.android.systemui" for node in shown.walk())
    assert out(phone, "uiautomator dump /dev/tty").endswith("</hierarchy>UI hierchary dumped to: /dev/tty\n")
    assert run(phone, "uiautomator dump /none/x.xml").code == 1


def test_fingers(phone):
    hands = Hands(MESSAGES, phone=phone)
    x, y = hands.find("Search").center
    run(phone, f"input swipe {x} {y} {x} {y} 100; input text abc; input keyevent KEYCODE_DEL 67 --longpress 29")
    assert phone.focus.text == "aa"
    run(phone, "input keycombination 113 29 && input keyevent 67")
    assert phone.focus.text == ""
    for wrong in ("input tap 1", "input tap a b", "input swipe 1 2 3", "input fly 1 2", "input", "input tap 1e999 0"):
        assert run(phone, wrong).code == 255, wrong


def test_a_finger_goes_down_moves_and_goes_up(phone):
    hands = Hands(MESSAGES, phone=phone)
    x, y = hands.find("Search").center
    run(phone, f"input motionevent DOWN {x} {y}; input motionevent UP {x} {y}")
    assert phone.focus is not None
    run(phone, f"input keyevent HOME; input motionevent UP {x} {y}; input motionevent DOWN 100 500")
    run(phone, "input motionevent MOVE 100 300; input motionevent UP 100 100")
    assert len(phone.stack) == 2  # the drawer
    assert run(phone, "input motionevent FLY 1 2").code == 255


def test_a_hundred_keys_take_the_time_of_one_input(phone):
    before = phone.now
    run(phone, "input keyevent " + "67 " * 100)
    assert (phone.now - before).total_seconds() == 1


def test_a_call_is_ended_by_its_key(phone):
    assert "mCallState=0" in out(phone, "dumpsys telephony.registry")
    phone.services.calls["5551234"] = "incoming"
    assert "mCallState=1" in out(phone, "dumpsys telephony.registry")
    phone.services.calls["5551234"] = "active"
    assert "mCallState=2" in out(phone, "dumpsys telephony.registry")
    run(phone, "input keyevent KEYCODE_ENDCALL")
    assert "mCallState=0" in out(phone, "dumpsys telephony.registry")


def test_rebooting_is_refused_and_changes_nothing(phone):
    before = phone.snapshot()[0]
    assert run(phone, "reboot").code != 0
    assert phone.snapshot()[0] == before
    assert out(phone, "su 0 whoami; su root id -u; su -c 'echo hi'; toybox echo there") == "root\n0\nhi\nthere\n"


def test_the_log_is_waited_for_but_not_when_it_is_dumped(phone):
    assert run(phone, "logcat -v epoch").endless and not run(phone, "logcat -b all -c").endless
    assert run(phone, "export ANDROID_LOG_TAGS=''; exec logcat -v epoch").endless
    assert not run(phone, "logcat -d").endless


def test_clearing_settings_keeps_the_settings():
    phone = lab_phone(90, 200)
    phone.storage.settings["system", "time_12_24"] = "24"
    phone.launch("com.android.settings")
    assert out(phone, "pm clear com.android.settings") == "Success\n"
    assert phone.storage.settings["system", "time_12_24"] == "24"
    assert "com.android.settings" not in phone.stacks


# intents

ALARM = "android.intent.extra.alarm"


def test_other_programs_set_alarms_and_timers(phone):
    set_alarm = f"am start -a android.intent.action.SET_ALARM --ei {ALARM}.HOUR 6 --ei {ALARM}.MINUTES 45"
    out(phone, f"{set_alarm} --es {ALARM}.MESSAGE Swim")
    hands = Hands(None, phone=phone)
    assert hands.shows("06:45") and Alarm(6, 45, label="Swim") in [
        replace(each, id=0) for each in alarms(phone.storage.database(ALARMS))
    ]
    out(phone, f"am start -a android.intent.action.SET_TIMER --ei {ALARM}.LENGTH 90")
    assert hands.shows("1m 30s Timer")
    out(phone, "am start -a android.intent.action.SHOW_ALARMS")
    assert hands.shows("06:45")


def test_other_programs_fill_in_an_event(phone):
    new = "am start -a android.intent.action.INSERT -t vnd.android.cursor.dir/event --es title Yoga"
    out(phone, f"{new} --el beginTime 1697961600000 --el endTime 1697965200000 --es eventLocation Gym")
    assert phone.foreground == "com.simplemobiletools.calendar.pro"
    form = phone.top
    assert (form.title.text, form.location.text) == ("Yoga", "Gym")
    assert (form.start, form.end) == (datetime(2023, 10, 22, 8), datetime(2023, 10, 22, 9))


@pytest.mark.parametrize(
    ("request_", "package"),
    [
        ("-a android.intent.action.VIEW -d geo:47.14,9.52?q=Vaduz", "net.osmand"),
        ("-a android.intent.action.VIEW -d geo:0,0?q=Vaduz", "net.osmand"),
        ("-a android.intent.action.WEB_SEARCH --es query cats", "com.android.chrome"),
        ("-a android.intent.action.GET_CONTENT -t '*/*'", "com.google.android.documentsui"),
        ("-a android.settings.APPLICATION_DETAILS_SETTINGS -d package:org.tasks", "com.android.settings"),
        ("-a android.settings.INPUT_METHOD_SETTINGS", "com.android.settings"),
        ("-a android.intent.action.INSERT_OR_EDIT -t vnd.android.cursor.item/contact", "com.google.android.contacts"),
        ("-a android.intent.action.SEND -t text/plain --es android.intent.extra.TEXT hi", MESSAGES),
        ("-a android.intent.action.MAIN -c android.intent.category.APP_BROWSER", "com.android.chrome"),
        ("-a android.intent.action.MAIN -c android.intent.category.APP_MESSAGING", MESSAGES),
        ("-a android.intent.action.MAIN -c android.intent.category.APP_CALENDAR", "com.simplemobiletools.calendar.pro"),
    ],
)
def test_the_usual_intents_open_an_app(phone, request_, package):
    brief = out(phone, f"cmd package resolve-activity --brief {request_}")
    assert brief.splitlines()[1].startswith(f"{package}/") and phone.foreground == phone.launcher.package
    out(phone, f"am start {request_}")
    assert phone.foreground == package


@pytest.mark.parametrize(
    "request_",
    ["-a android.intent.action.SENDTO -d mailto:a@b.c", "-a android.intent.action.VIEW -d geo:x -p net.osmand"],
)
def test_what_no_app_opens_is_not_resolved(phone, request_):
    assert out(phone, f"pm resolve-activity {request_}") == "No activity found\n"
    assert b"unable to resolve" in run(phone, f"am start {request_}").stderr
    assert phone.foreground == phone.launcher.package


def test_an_activity_that_does_not_exist_is_refused(phone):
    refused = run(phone, f"am start -n {CLOCK}/.NoSuchActivity")
    assert refused.code == 1 and f"{{{CLOCK}/{CLOCK}.NoSuchActivity}} does not exist" in refused.stderr.decode()
    assert phone.foreground == phone.launcher.package
    assert out(phone, f"pm resolve-activity --brief {CLOCK}").endswith(f"{CLOCK}/com.android.deskclock.DeskClock\n")
    assert "27 activities found" in out(
        phone, "pm query-activities -a android.intent.action.MAIN -c android.intent.category.LAUNCHER"
    )


def test_flags_of_androids_parts_are_kept(phone):
    out(phone, "cmd device_config put systemui clipboard_overlay_enabled false; device_config put a b c")
    out(phone, "content query --uri content://settings/global >/dev/null")
    assert out(phone, "device_config get systemui clipboard_overlay_enabled; device_config get a x") == "false\nnull\n"
    assert out(phone, "device_config list a") == "b=c\n"
    assert out(phone, "device_config delete a b; device_config list") == (
        "Successfully deleted b from a\nsystemui/clipboard_overlay_enabled=false\n"
    )
    assert run(phone, "cmd device_config put a").code == 255


def test_packages_are_there_for_everybody_and_always_enabled(phone):
    assert out(phone, f"pm install-existing {CLOCK}; pm enable {CLOCK}") == (
        f"Package {CLOCK} installed for user: 0\nPackage {CLOCK} new state: enabled\n"
    )
    assert run(phone, f"pm disable-user {CLOCK}").code and run(phone, "pm install-existing org.no").code
    assert f"Package [{CLOCK}]" in out(phone, f"pm dump {CLOCK}") and "resolve-activity" in out(phone, "pm help")


# processes, the log, the battery


def test_a_restarted_app_has_another_process_id(phone):
    launch = f"am start -n {CLOCK}/com.android.deskclock.DeskClock >/dev/null; pidof {CLOCK}"
    first, second = out(phone, launch).strip(), out(phone, launch).strip()
    assert first == second
    twin = phone.fork()
    assert out(phone, f"am force-stop {CLOCK}; {launch}").strip() != first
    assert out(twin, f"kill {first}; {launch}").strip() != first and run(twin, f"kill {first}").code == 1


def test_processes_are_listed_by_columns_users_and_ids(phone):
    phone.launch(CLOCK)
    assert out(phone, f"ps -A -o PID,NAME | grep {CLOCK}").split() == [out(phone, f"pidof {CLOCK}").strip(), CLOCK]
    assert out(phone, "ps -p 1 -o NAME=") == "init\n" and out(phone, "ps -u shell -o name").split() == ["NAME", "adbd"]
    assert out(phone, "ps -ef").split("\n")[0].split() == ["UID", "PID", "PPID", "C", "STIME", "TTY", "TIME", "CMD"]
    assert b"bad -o nonsense" in run(phone, "ps -o nonsense").stderr and run(phone, "ps -p 99999").code == 1
    assert out(phone, "pgrep deskclock") == out(phone, f"pidof {CLOCK}") and run(phone, "pgrep -x deskclock").code == 1
    out(phone, "pkill deskclock")
    assert CLOCK not in phone.stacks
    for signal in ("-9", "-INT", "-SIGTERM"):
        phone.launch(CLOCK)
        assert run(phone, f"pkill {signal} deskclock").code == 0 and CLOCK not in phone.stacks
    assert run(phone, "pkill -NONSENSE deskclock").code == 1


def test_the_log_returns_what_was_written(phone):
    out(phone, "log -p w -t net 'it is slow'; log plain; echo piped | log -t pipe")
    assert out(phone, "logcat -d -v brief").splitlines()[1:] == [
        "W/net     ( 1999): it is slow", "I/log     ( 1999): plain", "I/pipe    ( 1999): piped",
    ]  # fmt: skip
    assert out(phone, "logcat -d -v raw -s net:I") == "--------- beginning of main\nit is slow\n"
    assert out(phone, "logcat -d -v raw -e 'p.*d'").endswith("piped\n") and "slow" not in out(phone, "logcat -t 1")
    assert "10-15 15:34" in out(phone, "logcat -d") and run(phone, "logcat -d -v nonsense").code == 1
    follow = run(phone, "logcat -v tag").follow
    assert follow() == b"" and out(phone, "log -t late now") == ""
    assert follow() == b"I/late    : now\n" and follow() == b""
    assert out(phone, "logcat -c; logcat -d") == ""


def test_the_battery_can_be_pretended(phone):
    real = out(phone, "dumpsys battery")
    assert out(phone, "dumpsys battery set level 17; dumpsys battery set ac 1; dumpsys battery set status 2") == ""
    shown = out(phone, "dumpsys battery")
    assert "level: 17" in shown and "AC powered: true" in shown and "status: 2" in shown
    assert any(node.desc == "Battery 17 percent." for node in phone.ui().walk())
    out(phone, "dumpsys battery unplug")
    assert "AC powered: false" in out(phone, "dumpsys battery")
    out(phone, "dumpsys battery reset")
    assert out(phone, "dumpsys battery") == real and "commands:" in out(phone, "dumpsys battery frobnicate")


def test_reports_say_what_the_phone_does(phone):
    phone.launch(CLOCK)
    assert CLOCK in out(phone, "dumpsys meminfo") and CLOCK in out(phone, "dumpsys cpuinfo")
    assert "No process found" in out(phone, "dumpsys meminfo org.no")
    out(phone, "svc wifi disable; svc data disable; settings put system volume_music 0")
    assert "network: none" in out(phone, "dumpsys connectivity") and "Muted: true" in out(phone, "dumpsys audio")
    assert "DUMP OF SERVICE battery" in out(phone, "dumpsys") and "dumpsys window sessions" in out(phone, "dumpsys")


def test_what_would_change_the_size_of_the_screen_fails(phone):
    for command in ("wm size 2400x1080", "wm density 160"):
        failed = run(phone, command)
        assert failed.code == 1 and failed.stderr, command


def test_timeouts_follow_the_phones_clock(phone):
    start = phone.now
    assert run(phone, "timeout 3 sleep 60").code == 124
    assert (phone.now - start).total_seconds() == 3
    assert out(phone, "timeout 1m sh -c 'sleep 2; echo in time'") == "in time\n"
    nested = "timeout 9 sh -c 'timeout 1 sleep 5; echo inner $?; sleep 60; echo never'; echo outer $?"
    assert out(phone, nested) == "inner 124\nouter 124\n"
    assert run(phone, "timeout 5 logcat").code == 124 and not run(phone, "timeout 5 logcat").endless
    assert run(phone, "timeout x true").code == 125


def test_an_inserted_message_has_its_own_date(phone):
    day = 86_400_000
    sent = 1697384040000 - 3 * day
    insert = "content insert --uri content://sms/inbox --bind address:s:5551234 --bind body:s:old"
    out(phone, f"{insert} --bind date:l:{sent}")
    (found,) = telephony.conversations(phone.storage.database(telephony.PATH))
    assert found.date == datetime(2023, 10, 12, 15, 34)
    hands = Hands(MESSAGES, phone=phone)
    assert "Oct 12" in hands.ui


def test_the_kernel_shows_its_state_in_files(phone):
    phone.launch(CLOCK)
    pid = out(phone, f"pidof {CLOCK}").strip()
    assert out(phone, f"cat /proc/{pid}/cmdline") == f"{CLOCK}\0"
    assert out(phone, f"cut -d' ' -f1 /proc/{pid}/stat") == f"{pid}\n"
    assert out(phone, "grep -c ^processor /proc/cpuinfo") == "2\n"
    assert out(phone, "head -1 < /proc/meminfo").split() == ["MemTotal:", "2035548", "kB"]
    before = out(phone, "cat /proc/uptime")
    assert out(phone, "sleep 10; cat /proc/uptime") != before
    assert pid in out(phone, "ls /proc").split() and "cpu1" in out(phone, "ls /sys/devices/system/cpu")
    assert run(phone, "[ -e /proc/stat ] && [ ! -e /proc/nothing ]").code == 0
    assert run(phone, "cat /proc/99999/stat").code == 1


def test_the_processors_work_in_every_second(phone):
    now = out(phone, "cat /proc/stat; sleep 1; cat /proc/stat").splitlines()
    totals = [list(map(int, line.split()[1:])) for line in now if line.startswith("cpu ")]
    assert totals[1][0] > totals[0][0] and sum(totals[1]) - sum(totals[0]) == 2 * 100  # ticks of two processors


def test_commands_run_in_the_folder_of_an_app(phone):
    assert out(phone, f"run-as {CLOCK} pwd; pwd") == f"/data/data/{CLOCK}\n/\n" and run(phone, "run-as org.no ls").code


@pytest.mark.parametrize("command", ["awk", "perl", "setenforce", "vi", "/system/bin/top"])
def test_what_the_phone_lacks_is_not_found_and_never_ignored(phone, command):
    missing = run(phone, f"{command} 1")
    assert missing.code == 127 and missing.stderr == f"/system/bin/sh: {command}: inaccessible or not found\n".encode()


def test_a_reader_of_the_log_gets_a_line_every_minute(phone):
    follow = run(phone, "logcat").follow
    assert follow() == b""
    phone.elapse(timedelta(minutes=1))
    assert b"I healthd : battery l=84" in follow() and follow() == b""


@pytest.mark.parametrize(("size", "density"), [((1080, 2400), None), ((270, 600), None), ((1080, 2400), 2.625)])
def test_all_say_the_same_of_the_density(size, density):
    phone = Phone(*size, density)
    dpi = round(160 * phone.density)
    assert out(phone, "getprop ro.sf.lcd_density; wm density") == f"{dpi}\nPhysical density: {dpi}\n"
    assert f"density {dpi}," in out(phone, "dumpsys display") and f" {dpi}dpi " in out(phone, "dumpsys window displays")


def test_properties_that_scripts_read_are_there(phone):
    names = "ro.build.tags ro.build.description gsm.sim.operator.numeric dalvik.vm.heapgrowthlimit"
    values = out(phone, f"for name in {names}; do getprop $name; done").splitlines()
    build = "sdk_gphone64_x86_64-userdebug 13 TE1A.220922.034 10940250 dev-keys"
    assert values == ["dev-keys", build, "310260", "192m"]
    assert out(phone, "date -u -d @$(getprop ro.build.date.utc)") == out(phone, "getprop ro.build.date")


def test_each_buffer_of_the_log_is_its_own(phone):
    phone.services.write_log(phone.now, "E", "AndroidRuntime", "FATAL EXCEPTION: main", "crash")
    run(phone, "log -t net slow")
    for buffers in ("events", "radio", "kernel -b security"):
        assert out(phone, f"logcat -d -v tag -b {buffers}") == ""
    crash = "--------- beginning of crash\nE/AndroidRuntime: FATAL EXCEPTION: main\n"
    main = "--------- beginning of main\nI/net     : slow\n"
    assert out(phone, "logcat -d -v tag -b crash") == crash and out(phone, "logcat -d -v tag -b main,events") == main
    assert out(phone, "logcat -d -v tag") == out(phone, "logcat -d -v tag -b all") == crash + main
    assert [line.split(":")[0] for line in out(phone, "logcat -g -b main,crash").splitlines()] == ["main", "crash"]
    assert out(phone, "logcat -b crash -c; logcat -d -v tag -b all") == main
    follow = run(phone, "logcat -v tag -b crash").follow
    run(phone, "log -t net slower")
    assert follow() == b""


def test_the_log_is_read_from_a_time_on(phone):
    run(phone, "date 101515342023; log -t a early; date 101516002023; log -t b late")
    for time in ("10-15 15:50:00.000", "2023-10-15 16:00:00.0"):
        assert out(phone, f"logcat -t '{time}' -v raw") == "--------- beginning of main\nlate\n"
    assert out(phone, "logcat -d -T '2023-10-15 16:00:01.5'") == ""
    for option in ("-t '99-99 15:50:00.000'", "-f /sdcard/log", "-L", "-S", "-G 1M", "-p", "-P x", "-B", "-i 1"):
        assert run(phone, f"logcat -d {option}").code == 1


SAID = {
    "am stack lock 1": (1, "unknown command 'lock'"),
    "am force-stop": (255, 'Argument expected after "force-stop"'),
    "pm clear": (1, "no package specified"),
    "pm path": (1, "no package specified"),
    "pm list": (255, "didn't specify type"),
    "pm list packages -z": (255, "Unknown option: -z"),
    f"pm grant {CLOCK} NOPE": (255, "Unknown permission: NOPE"),
    f"pm grant {CLOCK} android.permission.FLY": (255, "ArgumentException: Unknown permission: android.permission.FLY"),
    f"pm grant {CLOCK} android.permission.INTERNET": (255, f"requested by {CLOCK} is not a changeable permission type"),
    f"pm grant {CLOCK}": (1, "no permission specified"),
    "cmd": (20, "No service specified"),
    "cmd nonsense": (20, "Can't find service: nonsense"),
    "cmd notification post tag": (255, "Usage: post"),
    "cmd location nonsense": (255, "Unknown command: nonsense"),
    "cmd user remove": (255, "Unknown command: remove"),
    "svc power forcesuspend": (1, "Available commands"),
    "ime set org.no/.Ime": (255, "cannot be selected"),
}


@pytest.mark.parametrize("command", SAID)
def test_what_cannot_be_done_is_said(phone, command):
    output = run(phone, command)
    code, why = SAID[command]
    assert output.code == code and why in output.stderr.decode()


VIEW = "am start -a android.intent.action.VIEW -d"


def test_private_parts_of_addresses_are_not_printed(phone):
    assert "dat=https://a.example/... " in out(phone, f"{VIEW} 'https://u:p@a.example/x?q=1'")
    assert "dat=tel:xxx-xxx " in out(phone, "am start -a android.intent.action.DIAL -d tel:555-123")
    assert b"dat=content://x/y }" in run(phone, f"{VIEW} 'content://x/y?secret#part'").stdout


def test_monkey_touches_at_random_and_stays_in_the_app(phone):
    clones = [phone.fork() for _ in range(3)]
    for clone, seed in zip(clones, (1, 1, 2), strict=True):
        assert "Events injected: 30" in out(clone, f"monkey -p {CLOCK} -s {seed} 30")
        assert clone.foreground == CLOCK
    digests = [clone.digest() for clone in clones]
    assert digests[0] == digests[1] != digests[2]


def test_services_do_what_their_commands_ask(phone):
    run(phone, "cmd notification post -t Title tag 'some text'")
    assert out(phone, "cmd notification list") == "0|com.android.shell|2020|tag|2000\n"
    assert "id=2020 tag=tag)" in out(phone, "dumpsys notification")
    assert [(each.title, each.text) for each in phone.notifications] == [("Title", "some text")]
    run(phone, "cmd notification post other news; cmd notification post -t Title tag 'later text'")
    assert [(each.tag, each.text) for each in phone.notifications] == [("tag", "later text"), ("other", "news")]
    assert out(phone, "cmd location set-location-enabled false; cmd location is-location-enabled") == "false\n"
    assert "[u0]: false" in out(phone, "dumpsys location")
    assert out(phone, "cmd battery set level 7; cmd battery get level") == "7\n"
    assert out(phone, "svc power stayon usb; settings get global stay_on_while_plugged_in") == "2\n"
    assert out(phone, "media volume --stream 3 --set 4 | tail -n 1") == "[V] volume is 4 in range [0..15]\n"


def test_reports_say_what_is_on_the_screen(phone):
    run(phone, f"am start -n {CLOCK}/com.android.deskclock.DeskClock; cmd uimode night yes")
    assert f"{CLOCK}/com.android.deskclock.DeskClock#0" in out(phone, "dumpsys SurfaceFlinger --list")
    assert f":{CLOCK}/" in out(phone, "dumpsys activity processes") and "(yes)" in out(phone, "dumpsys uimode")
    assert f"[{CLOCK}]" in out(phone, f"dumpsys gfxinfo {CLOCK}")
    assert "mHasSurface=false" in out(phone, "dumpsys window InputMethod")
    assert "deviceLocked=0" in out(phone, "dumpsys trust") and "showing=false" in out(phone, "dumpsys window policy")
    services = [line.strip() for line in out(phone, "dumpsys -l").splitlines()[1:]]
    for service in services:
        assert out(phone, f"dumpsys {service}").strip(), service
        assert out(phone, f"service check {service}") == f"Service {service}: found\n"
