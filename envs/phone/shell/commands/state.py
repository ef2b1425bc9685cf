"""What Android's services know beyond the apps: properties, packages, activities, processes."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import tzinfo

from coach_gym.envs.phone import alarms, zones
from coach_gym.envs.phone.app import App
from coach_gym.envs.phone.packages import is_googles, place
from coach_gym.envs.phone.paths import BUILD
from coach_gym.envs.phone.phone import Phone
from coach_gym.envs.phone.shell.commands.manifest import BadPackage, read_services
from coach_gym.envs.phone.shell.toybox.attributes import uid_of, user_name

SERIAL = "EMULATOR33X1X1X0"
MODEL = "sdk_gphone64_x86_64"
_ID, _NUMBER, _TAGS = "TE1A.220922.034", "10940250", "dev-keys"
FINGERPRINT = f"google/{MODEL}/emu64x:13/{_ID}/{_NUMBER}:userdebug/{_TAGS}"
_DESCRIPTION = f"{MODEL}-userdebug 13 {_ID} {_NUMBER} {_TAGS}"
PROPERTIES = {
    "dalvik.vm.heapsize": "512m", "dev.bootcomplete": "1", "gsm.operator.alpha": "T-Mobile", "gsm.sim.state": "LOADED",
    "init.svc.adbd": "running", "init.svc.bootanim": "stopped", "init.svc.surfaceflinger": "running",
    "persist.sys.locale": "en-US", "persist.sys.timezone": "UTC", "ro.adb.secure": "0", "ro.boot.qemu": "1",
    "ro.build.characteristics": "emulator", "ro.build.date.utc": "1696966411", "ro.build.fingerprint": FINGERPRINT,
    "ro.build.id": _ID, "ro.build.type": "userdebug", "ro.build.version.codename": "REL",
    "ro.coach_gym.embedded": "1",  # so that no measurement passes for one on real Android
    "ro.build.version.release": "13", "ro.build.version.sdk": "33", "ro.build.version.security_patch": "2022-09-05",
    "ro.debuggable": "1", "ro.hardware": "ranchu", "ro.kernel.qemu": "1", "ro.product.board": "goldfish_x86_64",
    "ro.product.brand": "google", "ro.product.cpu.abi": "x86_64", "ro.product.cpu.abilist": "x86_64,arm64-v8a",
    "ro.product.device": "emu64x", "ro.product.locale": "en-US", "ro.product.manufacturer": "Google",
    "ro.product.model": MODEL, "ro.product.name": MODEL, "ro.secure": "1", "ro.serialno": SERIAL,
    "sys.boot_completed": "1", "sys.usb.state": "adb",
    "dalvik.vm.heapgrowthlimit": "192m", "dalvik.vm.heapmaxfree": "8m", "dalvik.vm.heapminfree": "512k",
    "dalvik.vm.heapstartsize": "8m", "dalvik.vm.heaptargetutilization": "0.75", "gsm.current.phone-type": "1",
    "gsm.network.type": "LTE", "gsm.operator.iso-country": "us", "gsm.operator.isroaming": "false",
    "gsm.operator.numeric": "310260", "gsm.sim.operator.alpha": "T-Mobile", "gsm.sim.operator.iso-country": "us",
    "gsm.sim.operator.numeric": "310260", "gsm.version.baseband": "1.0.0.0", "init.svc.zygote": "running",
    "net.bt.name": "Android", "persist.sys.dalvik.vm.lib.2": "libart.so", "persist.sys.usb.config": "adb",
    "ro.boot.hardware": "ranchu", "ro.boot.serialno": SERIAL, "ro.boot.verifiedbootstate": "orange",
    "ro.bootimage.build.fingerprint": FINGERPRINT, "ro.bootloader": "unknown", "ro.bootmode": "unknown",
    "ro.build.date": "Tue Oct 10 19:33:31 UTC 2023", "ro.build.description": _DESCRIPTION,
    "ro.build.display.id": _ID, "ro.build.flavor": f"{MODEL}-userdebug", "ro.build.product": "emu64x",
    "ro.build.tags": _TAGS, "ro.build.user": "android-build", "ro.build.version.all_codenames": "REL",
    "ro.build.version.incremental": _NUMBER, "ro.build.version.preview_sdk": "0",
    "ro.build.version.release_or_codename": "13", "ro.carrier": "unknown", "ro.crypto.state": "encrypted",
    "ro.crypto.type": "file", "ro.opengles.version": "131072", "ro.product.build.fingerprint": FINGERPRINT,
    "ro.product.cpu.abilist64": "x86_64,arm64-v8a", "ro.product.first_api_level": "33",
    "ro.system.build.fingerprint": FINGERPRINT,
    "ro.treble.enabled": "true", "ro.vendor.build.fingerprint": FINGERPRINT, "ro.vndk.version": "33",
    "ro.zygote": "zygote64", "service.bootanim.exit": "1", "sys.usb.config": "adb", "wifi.interface": "wlan0",
}  # fmt: skip
"""Properties of Android 13's emulator image. Its file `build.prop` overrides them, and `setprop` overrides both."""

ADB_KEYBOARD = "com.android.adbkeyboard"
FORWARDER = "com.google.androidenv.accessibilityforwarder"
SYSTEM_PACKAGES = (
    "android", "com.android.bluetooth", "com.android.calllogbackup", "com.android.externalstorage",
    "com.android.inputdevices", "com.android.keychain", "com.android.packageinstaller",
    "com.android.permissioncontroller", "com.android.phone", "com.android.providers.calendar",
    "com.android.providers.contacts",
    "com.android.providers.downloads", "com.android.providers.media", "com.android.providers.settings",
    "com.android.providers.telephony", "com.android.server.telecom", "com.android.shell", "com.android.systemui",
    "com.google.android.apps.nexuslauncher", "com.google.android.gms", "com.google.android.inputmethod.latin",
)  # fmt: skip
HELPERS = (ADB_KEYBOARD, FORWARDER)
"""Packages installed on the devices that the benchmarks describe."""

IMES = {
    "com.google.android.inputmethod.latin": "com.android.inputmethod.latin.LatinIME", ADB_KEYBOARD: ".AdbIME",
    "com.github.uiautomator": ".AdbKeyboard",
}  # fmt: skip
"""Input methods by their packages."""
SERVICES = {**IMES, FORWARDER: ".AccessibilityForwarder"}
"""Services of the packages whose files do not tell them."""

ZYGOTE, ADBD, HOME_PID = 320, 402, 1400
"""Process ids of the parent of all apps, of adb's end of the phone, and of the home screen."""


def get_property(phone: Phone, name: str) -> str:
    """Returns a system property; empty if it is not set."""
    return phone.services.properties.get(name) or _built(phone).get(name, "")


def _built(phone: Phone) -> dict[str, str]:
    """Returns the properties that nobody has set: those in the system image's own file, which the Settings app shows,
    too, go before."""
    lines = (phone.storage.read(BUILD) or b"").decode("utf-8", "surrogateescape").splitlines()
    screen = {"ro.sf.lcd_density": str(dpi(phone))}
    return PROPERTIES | screen | dict(line.split("=", 1) for line in lines if "=" in line)


def dpi(phone: Phone) -> int:
    """Returns how many pixels of the screen make an inch, by Android's account."""
    return round(160 * phone.density)


def settings(phone: Phone) -> dict[tuple[str, str], str]:
    """Returns all settings, with those that follow from others or from what apps do.

    Android keeps a volume once more for every output; here there is one.
    """
    stored = phone.storage.settings
    derived = {
        ("system", f"volume_{stream}_speaker"): stored["system", f"volume_{stream}"]
        for stream in ("music", "voice", "ring", "alarm")
        if ("system", f"volume_{stream}") in stored
    }
    if told := [wakeup.at for _, wakeup in phone.wakeups() if wakeup.told]:
        half_days = stored.get(("system", "time_12_24")) == "12"
        derived["system", "next_alarm_formatted"] = alarms.formatted(phone.local(told[0]), half_days)
    return derived | stored


def set_zone(phone: Phone, name: str) -> None:
    """Sets the time zone as Android's alarm service does: what is none is GMT."""
    phone.services.properties[zones.PROPERTY] = name if zones.named(name) is not zones.UNKNOWN else "GMT"
    phone.changed()


def zone(phone: Phone) -> tzinfo:
    """Returns the time zone that is set."""
    return zones.named(zones.current(phone.services))


def properties(phone: Phone) -> dict[str, str]:
    """Returns all system properties by name."""
    return dict(sorted((_built(phone) | phone.services.properties).items()))


# packages


def packages(phone: Phone) -> list[str]:
    """Returns all installed packages, sorted: Android's own, the phone's apps, and those installed since."""
    return sorted({*SYSTEM_PACKAGES, *HELPERS, *phone.apps, *phone.services.packages})


def is_third_party(phone: Phone, package: str) -> bool:
    """Returns whether a package is installed but not part of the system image."""
    return package in packages(phone) and package not in SYSTEM_PACKAGES and not is_googles(package)


def imes(phone: Phone) -> list[str]:
    """Returns the ids of the installed input methods."""
    installed = packages(phone)
    return [f"{package}/{name}" for package, name in IMES.items() if package in installed]


def apk(phone: Phone, package: str) -> str:
    """Returns where the package file of an installed app is."""
    return place(package, not is_third_party(phone, package))


# activities, tasks and processes


def app_of(phone: Phone, package: str) -> App | None:
    """Returns the app of a package, perhaps the launcher, or None."""
    return phone.launcher if package == phone.launcher.package else phone.apps.get(package)


def activities(phone: Phone, package: str) -> set[str]:
    """Returns the full class names of a package's activities that can be started by name."""
    app = app_of(phone, package)
    names = (app.activity, *app.activities) if app else ()
    return {f"{package if name.startswith('.') else ''}{name}" for name in names}


def services(phone: Phone, package: str) -> set[str]:
    """Returns the full class names of an installed package's services."""
    if package not in packages(phone):
        return set()
    names = {SERVICES[package]} if package in SERVICES else set()
    with suppress(BadPackage):  # somebody has written to the file
        names |= {*read_services(phone.storage.read(apk(phone, package)) or b"")}
    return {f"{package}{name}" if name.startswith(".") else name for name in names}


def component(phone: Phone, package: str) -> str:
    """Returns the activity that a package's task shows, or would start with: `package/full.class.name`."""
    return task(phone, package)[0]


def task(phone: Phone, package: str) -> list[str]:
    """Returns the activities of a package's task, the front one first: each as `package/full.class.name`."""
    app = app_of(phone, package)
    names = [(package, app.activity if app else ".MainActivity")]
    for index, screen in enumerate(phone.stacks.get(package, ())):
        if screen.activity:
            names[0 if index == 0 else len(names) :] = [(screen.window_package or package, screen.activity)]
    return list(dict.fromkeys(full(owner, name) for owner, name in reversed(names)))


def full(package: str, name: str) -> str:
    """Returns an activity as `package/full.class.name`; with a dot in front, the class is in the package."""
    return f"{package}/{package if name.startswith('.') else ''}{name}"


def focus(phone: Phone) -> str:
    """Returns what adb calls the window in focus."""
    return "NotificationShade" if phone.shade else phone.top.window or component(phone, phone.foreground)


def short(component: str) -> str:
    """Returns a component, with the package left out of the class name where Android does so."""
    package, _, name = component.partition("/")
    return f"{package}/{name.removeprefix(package) if name.startswith(package + '.') else name}"


def task_id(phone: Phone, package: str) -> int:
    """Returns the number of an app's task."""
    return 1 if package == phone.launcher.package else 8 + list(phone.apps).index(package)


def running(phone: Phone) -> list[str]:
    """Returns the packages with screens, the one in front first."""
    order = [phone.foreground, *reversed(phone.stacks)]
    return [package for package in dict.fromkeys(order) if package in phone.stacks]


@dataclass(frozen=True)
class Task:
    """A running process."""

    user: str
    uid: int
    pid: int
    parent: int
    name: str


_SYSTEM = (
    Task("root", 0, 1, 0, "init"), Task("root", 0, ZYGOTE, 1, "zygote64"), Task("shell", 2000, ADBD, 1, "adbd"),
    Task("system", 1000, 560, ZYGOTE, "system_server"), Task("u0_a125", 10125, 780, ZYGOTE, "com.android.systemui"),
)  # fmt: skip


def processes(phone: Phone) -> list[Task]:
    """Returns the running processes, by id."""
    uids = {package: uid_of(phone, package) for package in phone.stacks}
    apps = [Task(user_name(uid), uid, pid(phone, package), ZYGOTE, package) for package, uid in uids.items()]
    programs = [Task("shell", 2000, id, ADBD, name) for id, name in phone.programs.items()]
    return [*_SYSTEM, *sorted(apps + programs, key=lambda task: task.pid)]


def pid(phone: Phone, package: str) -> int:
    """Returns the process id of a running app."""
    return phone.services.pids.get(package, HOME_PID)


def end(phone: Phone, task: Task) -> None:
    """Kills a process. Android's own go on, or start again."""
    phone.programs.pop(task.pid, None)
    if task.name in phone.apps and task.name in phone.stacks:
        phone.stop(task.name)
