"""``coach-gym doctor``: what this computer lacks to run on real Android or to train, and what mends it.

Nothing is installed and no device is changed. What could not be looked at is reported as not checked, never as fine.
"""

from __future__ import annotations

import os
import platform
import shutil
import socket
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib import metadata, util
from pathlib import Path
from typing import Literal

import adbutils
from packaging.requirements import Requirement

from coach_gym.envs.devices import sdk
from coach_gym.envs.devices.adb import DEFAULT_SERVER_PORT, Adb, Client, start_server
from coach_gym.envs.errors import DeviceError

PURPOSES = {
    "phone": ("packages",),
    "device": ("packages", "adb", "device", "screen"),
    "emulator": ("packages", "KVM", "SDK", "emulator", "system image", "AVD", "adb"),
    "android_world": (
        "packages", "adb", "device", "screen", "root", "AndroidWorld", "AndroidWorld's packages", "AndroidWorld's apps",
        "ffmpeg",
    ),
    "android_lab": ("packages", "adb", "device", "screen", "root", "AndroidLab", "AndroidLab's apps"),
    "training": ("packages", "GPU", "vLLM"),
}  # fmt: skip
"""What each purpose needs. The embedded phone needs nothing but our packages."""

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
IMAGE = "system-images;android-33;google_apis;x86_64"
NO_DEVICE = "no device is connected"
_COMMAND_TIME = 20.0  # seconds

State = Literal["ok", "missing", "not checked"]


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at.

    Attributes:
        name: As in :data:`PURPOSES`.
        state: ``"missing"`` also means that it is there but of no use.
        found: What was seen.
        mend: The command or the step that mends it.
    """

    name: str
    state: State
    found: str
    mend: str = ""


@dataclass(frozen=True)
class Host:
    """The computer that is looked at.

    Args:
        environ: Environment variables; programs are searched on its ``PATH``.
        serial: The device to look at; None for the first that adb shows.
        server_port: Of the adb server.
        kvm: The device file of the kernel's virtual machines.
    """

    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    serial: str | None = None
    server_port: int = DEFAULT_SERVER_PORT
    kvm: Path = Path("/dev/kvm")

    def program(self, name: str) -> str | None:
        """Where a program lies."""
        return shutil.which(name, path=self.environ.get("PATH", ""))


def examine(host: Host) -> list[Finding]:
    """Looks at everything, in the order in which it is set up."""
    findings = [packages("packages", ""), kvm(host), android_sdk(host), emulator(host), system_image(host), avd(host)]
    findings += [adb(), *devices(host)]
    findings += [android_world(host), packages("AndroidWorld's packages", "official"), ffmpeg(host), android_lab(host)]
    return [*findings, gpu(host), vllm()]


def report(findings: Iterable[Finding], purpose: str) -> tuple[str, int]:
    """The findings as text, and the exit code: 1 if the purpose needs something that is not there or not checked."""
    needed = PURPOSES[purpose]
    lines, lacking = [], []
    for finding in findings:
        star = "*" if finding.name in needed else " "
        lines.append(f"{star} {finding.state:12} {finding.name:24} {finding.found}")
        if finding.state != "ok":
            lines += [f"{'':16}-> {line}" for line in finding.mend.splitlines()]
            lacking += [finding.name] if finding.name in needed else []
    lines += ["", f"* needed for {purpose}"]
    lines += [f"Not in order: {', '.join(lacking)}." if lacking else f"All that {purpose} needs is in order."]
    return "\n".join(lines), int(bool(lacking))


# Python


def packages(name: str, extra: str) -> Finding:
    """Whether the requirements of coach-gym, or of one of its extras, are installed in versions that it can use."""
    wanted = [Requirement(text) for text in metadata.requires("coach-gym") or []]
    mine = [r for r in wanted if _applies(r, extra) and (not extra or not _applies(r, ""))]
    wrong = [str(requirement).partition(";")[0].strip() for requirement in mine if not _installed(requirement)]
    product = f"coach-gym[{extra}]" if extra else "coach-gym"
    mend = f"pip install '{product}'"
    if not mine:
        return Finding(name, "not checked", f"the installed coach-gym does not say what {product} requires", mend)
    if wrong:
        return Finding(name, "missing", ", ".join(wrong), mend)
    return Finding(name, "ok", f"all {len(mine)} that {product} requires")


def _applies(requirement: Requirement, extra: str) -> bool:
    return requirement.marker is None or requirement.marker.evaluate({"extra": extra})


def _installed(requirement: Requirement) -> bool:
    try:
        return requirement.specifier.contains(metadata.version(requirement.name), prereleases=True)
    except metadata.PackageNotFoundError:
        return False


def gpu(host: Host) -> Finding:
    """NVIDIA cards by name, and whether the installed PyTorch can use them."""
    program = host.program("nvidia-smi")
    if program is None:
        return Finding("GPU", "missing", "there is no nvidia-smi", "train on a computer with an NVIDIA card and driver")
    code, text = _run(program, "--query-gpu=name,memory.total", "--format=csv,noheader")
    if code != 0:
        return Finding("GPU", "missing", f"nvidia-smi fails: {text[:100]}", "install the driver of the card")
    cards, torch = "; ".join(text.splitlines()), metadata.version("torch")
    if "+cpu" in torch:
        mend = "pip install --force-reinstall torch"
        return Finding("GPU", "missing", f"{cards}, but PyTorch {torch} has no CUDA", mend)
    return Finding("GPU", "ok", f"{cards}, PyTorch {torch}")


def vllm() -> Finding:
    """Whether the package that samples fast is installed."""
    if util.find_spec("vllm") is None:
        return Finding("vLLM", "missing", "the package is not installed", "pip install 'coach-gym[vllm]'")
    return Finding("vLLM", "ok", "the package is installed; whether it runs on this card was not tried")


# the emulator


def kvm(host: Host) -> Finding:
    """Whether this user may run virtual machines; without them an emulator is too slow to use."""
    if (system := platform.system()) != "Linux":
        return Finding("KVM", "not checked", f"{system} has its own way", "ask the emulator: emulator -accel-check")
    if not host.kvm.exists():
        return Finding(
            "KVM", "missing", f"there is no {host.kvm}",
            "switch virtualisation on in the firmware, or nested virtualisation where this computer is a virtual one,\n"
            "then: sudo modprobe kvm_intel || sudo modprobe kvm_amd",
        )  # fmt: skip
    if not os.access(host.kvm, os.R_OK | os.W_OK):
        mend = "sudo usermod -aG kvm $USER, then log in again"
        return Finding("KVM", "missing", f"{host.kvm} may not be opened by this user", mend)
    return Finding("KVM", "ok", f"{host.kvm} may be opened")


def android_sdk(host: Host) -> Finding:
    """The folder of Android's development kit."""
    root = sdk.sdk_root(host.environ)
    if root is None:
        return Finding(
            "SDK", "missing", "neither ANDROID_HOME nor ~/Android/Sdk is a folder",
            "download the command-line tools, https://developer.android.com/studio#command-line-tools-only, unpack them"
            " as\n~/Android/Sdk/cmdline-tools/latest, and: export ANDROID_HOME=~/Android/Sdk",
        )  # fmt: skip
    return Finding("SDK", "ok", str(root))


def emulator(host: Host) -> Finding:
    """The emulator's program, by asking it for its version."""
    binary = sdk.emulator_binary(host.environ)
    if binary is None:
        return Finding("emulator", "missing", "the SDK has none", _sdkmanager(host, "emulator", "platform-tools"))
    code, text = _run(str(binary), "-version")
    if code != 0:
        return Finding("emulator", "missing", f"{binary} fails: {text[:100]}", _sdkmanager(host, "emulator"))
    return Finding("emulator", "ok", f"{text.splitlines()[0][:60] if text else 'no version'}, {binary}")


def system_image(host: Host) -> Finding:
    """Android itself, for emulators. Images with Google Play refuse root, which both benchmarks need."""
    root = sdk.sdk_root(host.environ)
    images = sorted(path.parent for path in root.glob("system-images/*/*/*/system.img")) if root else []
    rooted = [";".join(path.parts[-3:]) for path in images if "playstore" not in path.parts[-2]]
    mend = _sdkmanager(host, IMAGE)
    if not rooted:
        return Finding("system image", "missing", f"{len(images)} images, none without Google Play", mend)
    if not any(name.startswith("android-33;") for name in rooted):
        return Finding("system image", "missing", f"{', '.join(rooted)}; the benchmarks are made for android-33", mend)
    return Finding("system image", "ok", ", ".join(rooted))


def avd(host: Host) -> Finding:
    """Virtual devices."""
    names = sdk.avd_names(host.environ)
    if not names:
        return Finding("AVD", "missing", f"none in {sdk.avd_home(host.environ)}",
                       f'avdmanager create avd -n AndroidWorldAvd -d pixel_6 -k "{IMAGE}"')  # fmt: skip
    return Finding("AVD", "ok", ", ".join(names))


def _sdkmanager(host: Host, *names: str) -> str:
    program = host.program("sdkmanager") or "$ANDROID_HOME/cmdline-tools/latest/bin/sdkmanager"
    return f"{program} {' '.join(f'{chr(34)}{name}{chr(34)}' for name in names)}"


# the device


def adb() -> Finding:
    """The adb program; adbutils brings one."""
    program = adbutils.adb_path()
    code, text = _run(program, "version")
    if code != 0:
        return Finding("adb", "missing", f"{program} fails: {text[:100]}", "sudo apt-get install adb")
    return Finding("adb", "ok", f"{text.splitlines()[0]}, {program}")


def devices(host: Host) -> list[Finding]:
    """What adb reaches, and of one device its screen, root, gRPC and apps."""
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
    """The device to look at, and what there is."""
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
    found = "AndroidWorld's own runner reads screens by it; coach-gym does without"
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
        return Finding("root", "ok", "adb can become root (adb root), which coach-gym does when it connects")
    return Finding("root", "missing", "this device never lets adb be root", f"use an emulator with the image {IMAGE}")


def _grpc(device: Adb) -> Finding:
    """Whether something listens on the port that an emulator has its gRPC service on by default."""
    kind, _, console = device.serial.partition("-")
    if kind != "emulator":
        return Finding("gRPC", "not checked", f"{device.serial} is no emulator of this computer", "use device=SERIAL")
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
    return Finding(name, "ok", "all are installed; whether they were set up once was not checked")


# the benchmarks


def android_world(host: Host) -> Finding:
    """A checkout or an installation of AndroidWorld."""
    from coach_gym.envs.suites.official_world.upstream import NAME, VARIABLE

    folder = host.environ.get(VARIABLE)
    clone = f"git clone https://github.com/google-research/android_world, then: export {VARIABLE}=its folder"
    if folder:
        if Path(folder, NAME, "registry.py").is_file():
            return Finding("AndroidWorld", "ok", f"{VARIABLE}={folder}")
        return Finding("AndroidWorld", "missing", f"{VARIABLE}={folder} is no checkout of it", clone)
    if util.find_spec(NAME) is not None:
        return Finding("AndroidWorld", "ok", "the package is installed")
    return Finding("AndroidWorld", "missing", "neither a checkout nor the package", clone)


def android_lab(host: Host) -> Finding:
    """A checkout of AndroidLab."""
    from coach_gym.envs.suites.official_lab.checkout import VARIABLE

    folder = host.environ.get(VARIABLE)
    clone = f"git clone https://github.com/THUDM/Android-Lab, then: export {VARIABLE}=its folder"
    if not folder:
        return Finding("AndroidLab", "missing", f"{VARIABLE} is not set", clone)
    if not Path(folder, "evaluation/config").is_dir():
        return Finding("AndroidLab", "missing", f"{VARIABLE}={folder} is no checkout of it", clone)
    return Finding("AndroidLab", "ok", f"{VARIABLE}={folder}")


def ffmpeg(host: Host) -> Finding:
    """What four tasks of AndroidWorld make music with."""
    if program := host.program("ffmpeg"):
        return Finding("ffmpeg", "ok", program)
    if util.find_spec("imageio_ffmpeg") is not None:
        return Finding("ffmpeg", "ok", "the one of the package imageio-ffmpeg")
    return Finding("ffmpeg", "missing", "neither the program nor imageio-ffmpeg", "sudo apt-get install ffmpeg")


def _run(*words: str) -> tuple[int, str]:
    """Exit code and output of a program; -1 if it cannot be run or does not end."""
    try:
        done = subprocess.run(
            words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=_COMMAND_TIME,
            text=True, errors="replace",
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError) as error:
        return -1, str(error)
    return done.returncode, done.stdout.strip()
