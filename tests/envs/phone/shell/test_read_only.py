"""What belongs to the system's image or to the kernel cannot be written; commands say so and go on."""

import pytest

from coach_gym.envs.phone.phone import Phone
from coach_gym.envs.phone.shell import Output, run

APK = "/system/app/com.android.camera2/com.android.camera2.apk"
REFUSED = (
    "touch /x", "mkdir /system/y", "mkdir -p /a/b/c", "cp /system/build.prop /x", "mv /sdcard/Music /Music",
    "rm -rf /data", "rm -rf /system", f"rm {APK}", "rm /system/bin/ls", "mv /system/bin/ls /sdcard/x",
    f"mv {APK} /sdcard", f"find {APK} -delete", f"chmod 600 {APK}",
    "echo a | tee /x", "truncate -s 1 /x", "dd if=/dev/zero of=/x count=1", "mktemp -p /", "tar cf /x /sdcard",
    "sort -o /x /system/build.prop",
    "screencap -p /x.png", "screenrecord /x.mp4", "uiautomator dump /x.xml", "sqlite3 /x.db 'create table t(x)'",
)  # fmt: skip


def files(phone):
    return phone.storage.snapshot()[:2]


@pytest.mark.parametrize("command", REFUSED)
def test_commands_change_nothing_in_the_image(phone, command):
    before, output = files(phone), run(phone, f"{command} || echo failed")
    assert output.stdout.endswith(b"failed\n") and output.stderr.endswith(b": Read-only file system\n")
    assert files(phone) == before


@pytest.mark.parametrize("script", ["echo a > /x; echo $?", "echo a > /system/x; echo $?", f"echo a >> {APK}; echo $?"])
def test_the_shell_creates_no_file_there(phone, script):
    before, output = files(phone), run(phone, script)
    assert output.stdout == b"1\n" and b"can't create /" in output.stderr and b"Read-only file system" in output.stderr
    assert files(phone) == before


@pytest.mark.parametrize(("script", "expected"), {
    "touch /x /sdcard/x; cat /sdcard/x": b"", "mkdir /x /sdcard/x; ls -d /sdcard/x": b"/sdcard/x\n",
    "touch /sdcard/x; rm /system/build.prop/.. /sdcard/x; ls /sdcard/x": b"", "echo a | tee /x /sdcard/x": b"a\n",
    "touch /sdcard/x /sdcard/y; mv /sdcard/x /x; mv /sdcard/y /sdcard/Music; ls /sdcard/Music/y": b"/sdcard/Music/y\n",
    "mkdir -p /system/app /data /sdcard; echo $?; rm -f /nope; echo $?": b"0\n0\n",
    "for f in / /system /proc /sdcard /data /data/local/tmp; do [ -w $f ] && echo $f; done":
        b"/sdcard\n/data\n/data/local/tmp\n",
}.items())  # fmt: skip
def test_what_is_writable_stays_so(phone, script, expected):
    assert run(phone, script).stdout == expected


def test_forks_and_restored_phones_refuse_too():
    phone = Phone(90, 200)
    fresh = phone.snapshot()
    phone.restore(fresh)
    for each in (phone, phone.fork()):
        assert run(each, "touch /x") == Output(b"", b"touch: /x: Read-only file system\n", 1)
