"""Checks of what emulators need: virtual machines, Android's SDK, system images, virtual devices."""

import os
import platform

from coach_gym.cli.checks.finding import Finding, Host, run
from coach_gym.envs.devices import sdk

IMAGE = "system-images;android-33;google_apis;x86_64"
"""The system image that both benchmarks are made for."""


def kvm(host: Host) -> Finding:
    """Checks that this user may run virtual machines, without which an emulator is too slow."""
    if (system := platform.system()) != "Linux":
        return Finding("KVM", "not checked", f"{system} has no KVM", "ask the emulator: emulator -accel-check")
    if not host.kvm.exists():
        return Finding(
            "KVM", "missing", f"there is no {host.kvm}",
            "enable virtualisation in the firmware, or nested virtualisation if this computer is itself virtual,\n"
            "then: sudo modprobe kvm_intel || sudo modprobe kvm_amd",
        )  # fmt: skip
    if not os.access(host.kvm, os.R_OK | os.W_OK):
        mend = "sudo usermod -aG kvm $USER, then log in again"
        return Finding("KVM", "missing", f"this user may not open {host.kvm}", mend)
    return Finding("KVM", "ok", f"this user may open {host.kvm}")


def android_sdk(host: Host) -> Finding:
    """Checks that Android's SDK is installed."""
    root = sdk.sdk_root(host.environ)
    if root is None:
        return Finding(
            "SDK", "missing", "neither ANDROID_HOME nor ~/Android/Sdk is a folder",
            "download the command-line tools, https://developer.android.com/studio#command-line-tools-only, unpack them"
            " as\n~/Android/Sdk/cmdline-tools/latest, and: export ANDROID_HOME=~/Android/Sdk",
        )  # fmt: skip
    return Finding("SDK", "ok", str(root))


def emulator(host: Host) -> Finding:
    """Checks that the emulator runs, by asking for its version."""
    binary = sdk.emulator_binary(host.environ)
    if binary is None:
        return Finding(
            "emulator", "missing", "the SDK has no emulator", _sdkmanager(host, "emulator", "platform-tools")
        )
    code, text = run(str(binary), "-version")
    if code != 0:
        return Finding("emulator", "missing", f"{binary} fails: {text[:100]}", _sdkmanager(host, "emulator"))
    return Finding("emulator", "ok", f"{text.splitlines()[0][:60] if text else 'no version'}, {binary}")


def system_image(host: Host) -> Finding:
    """Checks for a system image without Google Play, because both benchmarks need root."""
    root = sdk.sdk_root(host.environ)
    images = sorted(path.parent for path in root.glob("system-images/*/*/*/system.img")) if root else []
    rooted = [";".join(path.parts[-3:]) for path in images if "playstore" not in path.parts[-2]]
    mend = _sdkmanager(host, IMAGE)
    if not rooted:
        return Finding("system image", "missing", f"{len(images)} images, none without Google Play", mend)
    if not any(name.startswith("android-33;") for name in rooted):
        return Finding("system image", "missing", f"{', '.join(rooted)}; the benchmarks need android-33", mend)
    return Finding("system image", "ok", ", ".join(rooted))


def avd(host: Host) -> Finding:
    """Checks for virtual devices."""
    names = sdk.avd_names(host.environ)
    if not names:
        return Finding("AVD", "missing", f"none in {sdk.avd_home(host.environ)}",
                       f'avdmanager create avd -n AndroidWorldAvd -d pixel_6 -k "{IMAGE}"')  # fmt: skip
    return Finding("AVD", "ok", ", ".join(names))


def _sdkmanager(host: Host, *names: str) -> str:
    program = host.program("sdkmanager") or "$ANDROID_HOME/cmdline-tools/latest/bin/sdkmanager"
    return f"{program} {' '.join(f'{chr(34)}{name}{chr(34)}' for name in names)}"
