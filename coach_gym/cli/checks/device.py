"""Checks of adb, and of the device behind it."""

import socket
from collections.abc import Iterable

import adbutils

from coach_gym.cli.checks.emulator import IMAGE
from coach_gym.cli.checks.finding import Finding, Host, State, run
from coach_gym.envs.devices.adb import Adb, Client, start_server
from coach_gym.envs.errors import DeviceError

ANDROID_WORLD_APPS = (
    "com.android.camera2", "com.android.chrome", "com.google.android.deskclock", "com.google.android.contacts",
    "com.google.android.dialer", "com.google.android.documentsui", "com.android.settings", "net.gsantner.markor",
    "ca.zgrs.clipper", "com.simplemobiletools.calendar.pro", "org.tasks", "com.simplemobiletools.draw.pro",
    "com.simplemobiletools.gallery.pro", "com.simplemobiletools.smsmessenger", "com.dimowner.audiorecorder",
    "com.arduia.expense", "com.flauschcode.broccoli", "net.osmand", "de.dennisguse.opentracks", "org.videolan.vlc",
    "net.cozic.joplin", "code.name.monkey.retromusic",
)  # fmt: skip
ANDROID_LAB_APPS = (
    "com.rammigsoftware.bluecoins", "com.skuld.calendario", "com.aldiko.android", "com.google.android.deskclock",
    "com.google.android.contacts", "com.mapswithme.maps.pro", "com.Project100Pi.themusicplayer",
    "com.android.settings", "us.zoom.videomeetings",
)  # fmt: skip
FORWARDER = "com.google.androidenv.accessibilityforwarder"
NO_DEVICE = "no device is connected"


def adb() -> Finding:
    """Checks that adb runs; adbutils includes one."""
    program = adbutils.adb_path()
    code, text = run(program, "version")
    if code != 0:
        return Finding("adb", "missing", f"{program} fails: {text[:100]}", "sudo apt-get install adb")
    return Finding("adb", "ok", f"{text.splitlines()[0]}, {program}")


def devices(host: Host) -> list[Finding]:
    """Checks what adb reaches, and the screen, root, gRPC and apps of one device."""
    names = ("screen", "root", "gRPC", "AndroidWorld's apps", "AndroidLab's apps", "accessibility forwarder")
    try:
        serial, found = _connected(host)
        return [Finding("device", "ok", found), *_look_into(Adb(serial, host.server_port))]
    except DeviceError as error:
        mend = "start an emulator, plug a phone in with USB debugging on, or: adb connect HOST:PORT"
        return [
            Finding("device", "missing", str(error), mend),
            *(Finding(name, "not checked", NO_DEVICE) for name in names),
        ]


def _connected(host: Host) -> tuple[str, str]:
    """Returns the serial number to check, and a description of all devices.

    Raises:
        DeviceError: No device can be reached.
    """
    if host.serial is not None:
        Adb(host.serial, host.server_port).connect(timeout=5.0)
        return host.serial, host.serial
    start_server(host.server_port)
    try:
        known = Client(host.server_port).list()
    except (adbutils.AdbError, OSError) as error:
        raise DeviceError(f"the adb server on port {host.server_port} does not answer: {error}") from error
    states = ", ".join(f"{info.serial} {info.state}" for info in known) or NO_DEVICE
    for info in known:
        if info.state == "device":
            return info.serial, states
    raise DeviceError(states)


def _look_into(device: Adb) -> list[Finding]:
    apps = {line.removeprefix("package:") for line in device.run("pm", "list", "packages").split()}
    kind, _, console = device.serial.partition("-")
    port = console if kind == "emulator" else "the console port of an emulator"
    setup = f"in the checkout of AndroidWorld: python run.py --perform_emulator_setup --console_port={port}"
    return [
        _screen(device),
        _root(device),
        _grpc(device),
        _apps("AndroidWorld's apps", ANDROID_WORLD_APPS, apps, setup),
        _apps("AndroidLab's apps", ANDROID_LAB_APPS, apps, "use the virtual device that AndroidLab's README links"),
        _forwarder(apps, setup),
    ]


def _forwarder(apps: set[str], mend: str) -> Finding:
    state: State = "ok" if FORWARDER in apps else "missing"
    found = "needed by AndroidWorld's own runner, not by coach-gym"
    return Finding("accessibility forwarder", state, found, mend)


def _screen(device: Adb) -> Finding:
    text, code = device.shell("wm", "size")
    if code != 0 or "x" not in text:
        return Finding("screen", "missing", f"wm size says {text.strip()[:60]!r}", "use a device with a display")
    width, height = text.split()[-1].split("x")
    return Finding("screen", "ok", f"gym.make(..., screen_size=({width}, {height}))")


def _root(device: Adb) -> Finding:
    if device.shell("id", "-u").text.strip() == "0":
        return Finding("root", "ok", "adb is root")
    if device.shell("getprop", "ro.debuggable").text.strip() == "1":
        return Finding("root", "ok", "adb can become root; coach-gym does that when it connects")
    return Finding("root", "missing", "adb cannot be root on this device", f"use an emulator with the image {IMAGE}")


def _grpc(device: Adb) -> Finding:
    """Checks the port where an emulator has its gRPC service by default."""
    kind, _, console = device.serial.partition("-")
    if kind != "emulator":
        return Finding(
            "gRPC", "not checked", f"{device.serial} is not an emulator on this computer", "use device=SERIAL"
        )
    port = int(console) + 3000
    with socket.socket() as probe:
        probe.settimeout(2.0)
        if probe.connect_ex(("127.0.0.1", port)) == 0:
            return Finding("gRPC", "ok", f'port {port} is open: device="android_env:{console}"')
    return Finding("gRPC", "missing", f"port {port} is closed", f"start the emulator with -grpc {port}")


def _apps(name: str, wanted: Iterable[str], installed: set[str], mend: str) -> Finding:
    absent = [package for package in wanted if package not in installed]
    if absent:
        return Finding(name, "missing", ", ".join(absent), mend)
    return Finding(name, "ok", "all are installed; whether they are set up was not checked")
