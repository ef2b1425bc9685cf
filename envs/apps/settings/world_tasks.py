"""AndroidWorld's families of Settings: Wi-Fi, Bluetooth, brightness, opening apps, and the clipboard."""

from __future__ import annotations

import random
from typing import Any, ClassVar

from coach_gym.envs.devices.device import Device
from coach_gym.envs.tasks.answers import plain
from coach_gym.envs.tasks.records import another
from coach_gym.envs.tasks.task import Task
from coach_gym.envs.tasks.words import SENTENCES, ParamRng

OTHERS = ("mobile_data", "nfc_on", "data_saver", "low_power", "zen_mode")
"""Global switches that no task of this module is about: they start anyhow and must stay as they are."""

PACKAGES = {
    "Broccoli": "com.flauschcode.broccoli",
    "Camera": "com.android.camera2",
    "Clock": "com.google.android.deskclock",
    "Contacts": "com.google.android.contacts",
    "Files": "com.google.android.documentsui",
    "Markor": "net.gsantner.markor",
    "Pro Expense": "com.arduia.expense",
    "Settings": "com.android.settings",
    "Simple SMS Messenger": "com.simplemobiletools.smsmessenger",
    "Tasks": "org.tasks",
}


class _Switches(Task):
    """Radios that shall be switched on or off: `radios` gives start and wanted state by settings key."""

    apps = ("Settings",)
    budget = 10
    radios: ClassVar[dict[str, tuple[str, str]]]

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws the states of the other switches."""
        others = {key: rng.choice("01") for key in OTHERS}
        for radio in ("wifi_on", "bluetooth_on"):
            others |= {} if radio in cls.radios else {radio: rng.choice("01")}
        return {"others": others}

    def setup(self, device: Device) -> None:
        """Sets all switches."""
        starts = {key: start for key, (start, _) in self.radios.items()}
        for key, value in {**self.params["others"], **starts}.items():
            device.put_setting("global", key, value)

    def evaluate(self, device: Device, answer: str | None) -> float:
        """Compares all switches."""
        wanted = {key: end for key, (_, end) in self.radios.items()} | self.params["others"]
        wanted["airplane_mode_on"] = "0"
        return float(all(device.get_setting("global", key) == value for key, value in wanted.items()))


class _OneSwitch(_Switches):
    """One radio; `on_or_off` says in the goal what `radios` says for the check."""

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        ((_, wanted),) = cls.radios.values()
        return {"on_or_off": "on" if wanted == "1" else "off", **super().sample(rng)}

    def near_miss(self, rng: random.Random) -> dict[str, Any] | None:
        if not self.holds_at_start:
            return None
        return {**self.params, "on_or_off": "off" if self.params["on_or_off"] == "on" else "on"}


class SystemWifiTurnOn(_OneSwitch):
    """Wi-Fi, off at the start."""

    template = "Switch Wi-Fi {on_or_off}."
    radios = {"wifi_on": ("0", "1")}


class SystemWifiTurnOff(_OneSwitch):
    """Wi-Fi, on at the start."""

    template = "Switch Wi-Fi {on_or_off}."
    radios = {"wifi_on": ("1", "0")}


class SystemWifiTurnOnVerify(_OneSwitch):
    """Wi-Fi, on already."""

    template = "Make sure that Wi-Fi is {on_or_off}."
    radios = {"wifi_on": ("1", "1")}
    holds_at_start = True


class SystemWifiTurnOffVerify(_OneSwitch):
    """Wi-Fi, off already."""

    template = "Make sure that Wi-Fi is {on_or_off}."
    radios = {"wifi_on": ("0", "0")}
    holds_at_start = True


class SystemBluetoothTurnOn(_OneSwitch):
    """Bluetooth, off at the start."""

    template = "Switch Bluetooth {on_or_off}."
    radios = {"bluetooth_on": ("0", "1")}
    budget = 8


class SystemBluetoothTurnOff(_OneSwitch):
    """Bluetooth, on at the start."""

    template = "Switch Bluetooth {on_or_off}."
    radios = {"bluetooth_on": ("1", "0")}
    budget = 8


class SystemBluetoothTurnOnVerify(_OneSwitch):
    """Bluetooth, on already."""

    template = "Make sure that Bluetooth is {on_or_off}."
    radios = {"bluetooth_on": ("1", "1")}
    holds_at_start = True
    budget = 8


class SystemBluetoothTurnOffVerify(_OneSwitch):
    """Bluetooth, off already."""

    template = "Make sure that Bluetooth is {on_or_off}."
    radios = {"bluetooth_on": ("0", "0")}
    holds_at_start = True
    budget = 8


class TurnOffWifiAndTurnOnBluetooth(_Switches):
    """Both radios, each in the wrong state at the start."""

    template = "Switch Wi-Fi off and Bluetooth on."
    radios = {"wifi_on": ("1", "0"), "bluetooth_on": ("0", "1")}
    difficulty = "medium"
    budget = 18


class TurnOnWifiAndOpenApp(_Switches):
    """Wi-Fi, and then an app."""

    template = "Switch Wi-Fi on, then open the {app_name} app."
    radios = {"wifi_on": ("0", "1")}
    difficulty = "medium"
    budget = 12

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws the app, too."""
        apps = [app for app in PACKAGES if app != "Settings"]
        return {"app_name": rng.choice(apps), **super().sample(rng)}

    def evaluate(self, device: Device, answer: str | None) -> float:
        """Requires the app in front, too."""
        opened = device.foreground == PACKAGES[self.params["app_name"]]
        return super().evaluate(device, answer) if opened else 0.0

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns another app."""
        return another(rng, self.params, "app_name", PACKAGES)


class OpenAppTaskEval(Task):
    """An app in front."""

    apps = tuple(PACKAGES)
    template = "Open the {app_name} app."
    budget = 6

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws an app."""
        return {"app_name": rng.choice(list(PACKAGES))}

    def evaluate(self, device: Device, answer: str | None) -> float:
        """Looks at what is in front."""
        return float(device.foreground == PACKAGES[self.params["app_name"]])

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns another app."""
        return another(rng, self.params, "app_name", PACKAGES)


class SystemCopyToClipboard(Task):
    """A text that has to be typed somewhere first, to be copied there."""

    apps = ("Pixel Launcher",)
    template = "Copy this text to the clipboard: {text}"
    budget = 12

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws a sentence."""
        text, before = SENTENCES.draw_many(rng, 2)
        return {"text": text, "before": before}

    def setup(self, device: Device) -> None:
        """Puts another text there."""
        device.put_clipboard(self.params["before"])

    def evaluate(self, device: Device, answer: str | None) -> float:
        """Reads the clipboard."""
        return float(plain(device.get_clipboard()) == plain(self.params["text"]))


class _Brightness(Task):
    """Brightness at one end of its range, 1 to 255."""

    apps = ("Settings",)
    budget = 10
    end: ClassVar[str]

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws the level at the start."""
        start = _LEVELS[cls.end] if cls.holds_at_start else rng.randrange(30, 226)
        return {"max_or_min": cls.end, "start": start}

    def setup(self, device: Device) -> None:
        """Sets the level."""
        device.put_setting("system", "screen_brightness", str(self.params["start"]))

    def evaluate(self, device: Device, answer: str | None) -> float:
        """Reads the level."""
        return float(device.get_setting("system", "screen_brightness") == str(_LEVELS[self.params["max_or_min"]]))

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        return {**self.params, "max_or_min": "min" if self.end == "max" else "max"}


_LEVELS = {"min": 1, "max": 255}


class SystemBrightnessMax(_Brightness):
    """The highest brightness."""

    template = "Set the screen brightness to its {max_or_min}imum."
    end = "max"


class SystemBrightnessMin(_Brightness):
    """The lowest brightness."""

    template = "Set the screen brightness to its {max_or_min}imum."
    end = "min"


class SystemBrightnessMaxVerify(_Brightness):
    """The highest brightness, set already."""

    template = "Make sure that the screen brightness is at its {max_or_min}imum."
    end = "max"
    holds_at_start = True


class SystemBrightnessMinVerify(_Brightness):
    """The lowest brightness, set already."""

    template = "Make sure that the screen brightness is at its {max_or_min}imum."
    end = "min"
    holds_at_start = True


TASKS: tuple[type[Task], ...] = (
    SystemWifiTurnOn,
    SystemWifiTurnOff,
    SystemWifiTurnOnVerify,
    SystemWifiTurnOffVerify,
    SystemBluetoothTurnOn,
    SystemBluetoothTurnOff,
    SystemBluetoothTurnOnVerify,
    SystemBluetoothTurnOffVerify,
    SystemBrightnessMax,
    SystemBrightnessMin,
    SystemBrightnessMaxVerify,
    SystemBrightnessMinVerify,
    TurnOffWifiAndTurnOnBluetooth,
    TurnOnWifiAndOpenApp,
    OpenAppTaskEval,
    SystemCopyToClipboard,
)
