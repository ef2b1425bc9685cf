"""Users, services and reports that there are not on the phone: what Android's commands say of them."""

from pathlib import Path

import pytest
import uiautomator2

from coach_gym.envs.phone.shell import run

CLOCK = "com.google.android.deskclock"


def out(phone, command):
    return run(phone, command).stdout.decode()


FOR_NOBODY = {  # what is asked for a user that there is not: exit code, and what is said
    f"am start --user 10 {CLOCK}/com.android.deskclock.DeskClock": (1, "does not exist"),
    "am start --user 10 -a android.settings.SETTINGS": (1, "unable to resolve"),
    f"am start --user all {CLOCK}/com.android.deskclock.DeskClock": (1, "Can't start service with user 'all'"),
    "am start --user x -a android.settings.SETTINGS": (255, "IllegalArgumentException: Bad user number: x"),
    f"am force-stop --user 10 {CLOCK}": (0, ""),
    "am broadcast --user 10 -a ADB_INPUT_TEXT --es msg a": (0, "Broadcast completed: result=0"),
    f"pm clear -x {CLOCK}": (1, "Error: Unknown option: -x"), f"pm uninstall -k -q {CLOCK}": (1, "Unknown option: -q"),
    f"pm install-existing --no {CLOCK}": (1, "Error: Unknown option: --no"),
    f"pm clear --user 10 {CLOCK}": (1, "Failed"), f"cmd package clear --user 10 {CLOCK}": (1, "Failed"),
    f"pm clear --user all {CLOCK}": (255, "Call does not support special user #-1"),
    f"pm clear --user ten {CLOCK}": (255, "Bad user number: ten"),
    f"pm clear {CLOCK} --user": (255, 'Argument expected after "--user"'),
    "pm list packages --user 10": (0, ""), f"pm path --user 10 {CLOCK}": (1, ""),
    f"pm grant --user 10 {CLOCK} android.permission.CAMERA": (0, ""),
    f"pm uninstall --user 10 {CLOCK}": (1, "Failure [not installed for 10]"),
    f"pm enable --user 10 {CLOCK}": (0, "new state: disabled"),
    "pm resolve-activity --user 10 -a android.settings.SETTINGS": (0, "No activity found"),
    "pm install --user 10 /system/build.prop": (1, "user 10 doesn't exist"),
    "settings put --user 10 system font_scale 2": (255, "Invalid user: 10"),
    "settings --user 10 get system font_scale": (255, "Invalid user: 10"),
    "cmd settings delete --user all system font_scale": (255, "Invalid user: -1"),
    "settings get system font_scale --user": (255, 'Argument expected after "--user"'),
    "content query --uri content://sms --user 10": (1, "IllegalStateException: Could not find provider: sms"),
    "content query --uri content://sms --user x": (1, "Bad user number: x"),
    f"appops set --user 10 {CLOCK} CAMERA deny": (255, f"No UID for {CLOCK} in user 10"),
    f"run-as {CLOCK} --user 10 id": (1, f"couldn't stat /data/user/10/{CLOCK}: No such file or directory"),
    "ime set --user 10 com.android.adbkeyboard/.AdbIME": (0, "User #10 does not exist."),
    "cmd location is-location-enabled --user 10": (0, "false"),
    "cmd location set-location-enabled --user 10 false": (0, ""),
}  # fmt: skip


@pytest.mark.parametrize(("command", "expected"), FOR_NOBODY.items())
def test_there_is_only_one_user(phone, command, expected):
    run(phone, f"am start {CLOCK}/com.android.deskclock.DeskClock; am start -a android.settings.SETTINGS")
    phone.storage.settings["secure", "default_input_method"] = "com.android.adbkeyboard/.AdbIME"
    before = phone.screenshot(), dict(phone.storage.settings), {*phone.stacks}, set(phone.permissions), phone.foreground
    output = run(phone, command, merged=True)
    assert output.code == expected[0] and expected[1] in output.stdout.decode()
    assert expected[1] or not output.stdout
    after = phone.screenshot(), dict(phone.storage.settings), {*phone.stacks}, set(phone.permissions), phone.foreground
    assert (before[0] == after[0]).all() and before[1:] == after[1:]
    for user in ("0", "current") if "--user 10" in command and "run-as" not in command else ():
        assert (
            expected[1] not in run(phone, command.replace("10", user, 1), merged=True).stdout.decode()
            or not expected[1]
        )


def test_a_report_that_there_is_not_is_no_empty_report(phone):
    run(phone, f"am start {CLOCK}/com.android.deskclock.DeskClock")
    assert out(phone, "dumpsys activity bogus").splitlines() == [
        "Unknown command: bogus", "Bad activity command, or no activities match: bogus", "Use -h for help.",
    ]  # fmt: skip
    assert out(phone, "dumpsys window bogus") == "Bad window command, or no windows match: bogus\nUse -h for help.\n"
    for service in ("activity", "window"):
        assert out(phone, f"dumpsys {service} -q top").startswith("Unknown argument: -q; use -h for help\n")
        assert "manager dump options:" in out(phone, f"dumpsys {service} -h")
    assert "(nothing)" in out(phone, "dumpsys activity broadcasts")


def test_activities_and_windows_are_reported_by_name(phone):
    run(phone, f"am start {CLOCK}/com.android.deskclock.DeskClock")
    task = out(phone, f"dumpsys activity {CLOCK}")
    assert f"  ACTIVITY {CLOCK}/" in task and "mResumed=true" in task and phone.launcher.package not in task
    assert "mResumed=false" in out(phone, f"dumpsys activity {phone.launcher.package}")
    assert out(phone, "dumpsys activity all").count("TASK ") == 2
    record = out(phone, "dumpsys activity activities | grep topResumedActivity").split("{")[1].split()[0]
    assert out(phone, f"dumpsys activity {record}") == out(phone, "dumpsys activity top") == task
    assert "mCurrentFocus" in out(phone, f"dumpsys window {CLOCK}") and "mCurrentFocus" in out(
        phone, "dumpsys window w"
    )


def install_automator(phone) -> str:
    apk = Path(uiautomator2.__file__).parent / "assets/app-uiautomator.apk"
    phone.storage.write("/data/local/tmp/u.apk", apk.read_bytes())
    return out(phone, "pm install /data/local/tmp/u.apk")


@pytest.mark.parametrize(("option", "kept"), [("", ""), ("-k", "note\n")])
def test_a_package_leaves_its_data_behind_if_that_is_asked_for(phone, option, kept):
    install_automator(phone)
    data = "/data/data/com.github.uiautomator"
    assert out(phone, f"touch {data}/note; pm uninstall {option} com.github.uiautomator") == "Success\n"
    assert out(phone, f"ls {data} 2>/dev/null; pm path com.github.uiautomator") == kept


def test_the_services_of_a_package_are_those_of_its_manifest(phone):
    service = "am startservice -n com.github.uiautomator/.Service"
    assert run(phone, service).code == 255
    assert install_automator(phone) == "Success\n" and run(phone, service).code == 0
    missing = run(phone, "am startservice -n com.github.uiautomator/.MainActivity")
    assert missing.code == 255 and missing.stderr == b"Error: Not found; no service started.\n"
