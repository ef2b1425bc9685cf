"""AndroidLab's families of Settings: switches, levels, choices, names, networks, and questions about them."""

from __future__ import annotations

import random
from abc import abstractmethod
from typing import Any, ClassVar

from coach_gym.envs.apps.settings import pages
from coach_gym.envs.devices.device import Device
from coach_gym.envs.phone.paths import BATTERY_LEVEL, BUILD
from coach_gym.envs.tasks import answers, words
from coach_gym.envs.tasks.records import another
from coach_gym.envs.tasks.task import Task
from coach_gym.envs.tasks.words import ParamRng

SWITCHES = {  # as users name it: namespace, key, on, off
    "adaptive brightness": ("system", "screen_brightness_mode", "1", "0"),
    "auto-rotate": ("system", "accelerometer_rotation", "1", "0"),
    "battery percentage": ("system", "status_bar_show_battery_percent", "1", "0"),
    "Battery Saver": ("global", "low_power", "1", "0"),
    "color inversion": ("secure", "accessibility_display_inversion_enabled", "1", "0"),
    "Data Saver": ("global", "data_saver", "1", "0"),
    "dial pad tones": ("system", "dtmf_tone", "1", "0"),
    "Do Not Disturb": ("global", "zen_mode", "1", "0"),
    "location": ("secure", "location_mode", "3", "0"),
    "mobile data": ("global", "mobile_data", "1", "0"),
    "NFC": ("global", "nfc_on", "1", "0"),
    "Night Light": ("secure", "night_display_activated", "1", "0"),
    "notification history": ("secure", "notification_history_enabled", "1", "0"),
    "touch sounds": ("system", "sound_effects_enabled", "1", "0"),
}


def _states(rng: ParamRng) -> dict[str, bool]:
    return {name: rng.random() < 0.5 for name in SWITCHES}


def _put(device: Device, states: dict[str, bool]) -> None:
    """Brings all switches into given states."""
    for name, (namespace, key, on, off) in SWITCHES.items():
        device.put_setting(namespace, key, on if states[name] else off)


def _get(device: Device) -> dict[str, bool]:
    """Returns the states of all switches."""
    return {name: device.get_setting(*entry[:2]) == entry[2] for name, entry in SWITCHES.items()}


class SettingsTask(Task):
    """A task in Settings. Every switch starts in a random state, and those not asked about must keep theirs."""

    apps = ("Settings",)

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws the states of the switches."""
        return {"states": _states(rng)}

    def setup(self, device: Device) -> None:
        """Sets the switches."""
        _put(device, self.params["states"])

    def evaluate(self, device: Device, answer: str | None) -> float:
        """Compares the switches with `expected_switches`, and asks `done`."""
        return float(_get(device) == self.expected_switches() and self.done(device, answer))

    def expected_switches(self) -> dict[str, bool]:
        """Returns the states that all switches have to be in."""
        return self.params["states"]

    def done(self, device: Device, answer: str | None) -> bool:
        """Returns whether everything else is as the goal asks."""
        return True


# switches


class SettingsSwitch(SettingsTask):
    """One of the switches."""

    template = "Turn {what} {on_or_off}."
    budget = 12

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws the states and picks a switch."""
        states, what = _states(rng), rng.choice(list(SWITCHES))
        return {"what": what, "on_or_off": "off" if states[what] else "on", "states": states}

    def expected_switches(self) -> dict[str, bool]:
        """Returns the states with one switch changed."""
        return self.params["states"] | {self.params["what"]: self.params["on_or_off"] == "on"}

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns another switch."""
        other = rng.choice([name for name in SWITCHES if name != self.params["what"]])
        return {**self.params, "what": other, "on_or_off": "off" if self.params["states"][other] else "on"}


class _OneSetting(SettingsTask):
    """One setting, which has one value at the start and shall have another."""

    setting: ClassVar[tuple[str, str]]

    @abstractmethod
    def values(self) -> tuple[str, str]:
        """Returns the value at the start, and the one that the goal asks for."""

    def setup(self, device: Device) -> None:
        """Sets the first value."""
        super().setup(device)
        device.put_setting(*self.setting, self.values()[0])

    def done(self, device: Device, answer: str | None) -> bool:
        """Reads the setting."""
        return device.get_setting(*self.setting) == self.values()[1]


class _Toggle(_OneSetting):
    """A switch that starts in the state that is not asked for."""

    budget = 8
    states: ClassVar[dict[str, str]]
    """The setting's values for on and off."""

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws on or off."""
        return {"on_or_off": rng.choice(("on", "off")), **super().sample(rng)}

    def values(self) -> tuple[str, str]:
        return self.states["off" if self.params["on_or_off"] == "on" else "on"], self.states[self.params["on_or_off"]]


class SettingsAirplaneMode(_Toggle):
    """Airplane mode."""

    template = "Turn airplane mode {on_or_off}."
    setting = ("global", "airplane_mode_on")
    states = {"on": "1", "off": "0"}


class SettingsDarkTheme(_Toggle):
    """The dark theme."""

    template = "Turn the dark theme {on_or_off}."
    setting = ("secure", "ui_night_mode")
    states = {"on": "2", "off": "1"}


# levels and choices


class SettingsBrightness(SettingsTask):
    """The brightness, within five points."""

    template = "Set the brightness to about {percent}%."
    difficulty = "medium"
    budget = 10

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws the level asked for, and one to start from."""
        percent = rng.choice((20, 30, 50, 60, 70, 80))
        starts = [start for start in range(10, 100, 10) if abs(start - percent) > 10]
        return {"percent": percent, "start": rng.choice(starts), **super().sample(rng)}

    def setup(self, device: Device) -> None:
        """Sets the first level."""
        super().setup(device)
        device.put_setting("system", "screen_brightness", str(round(2.55 * self.params["start"])))

    def done(self, device: Device, answer: str | None) -> bool:
        """Compares the level in percent."""
        level = int(device.get_setting("system", "screen_brightness") or 0)
        return abs(level / 2.55 - self.params["percent"]) <= 5

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns a level that is 15 points off."""
        return {**self.params, "percent": self.params["percent"] + rng.choice((-15, 15))}


class _Choice(_OneSetting):
    """One of several values, another of which is set at the start."""

    options: ClassVar[dict[str, str]]  # what is shown: value

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws two values."""
        start, choice = rng.sample(list(cls.options), 2)
        return {"choice": choice, "start": start, **super().sample(rng)}

    def values(self) -> tuple[str, str]:
        return self.options[self.params["start"]], self.options[self.params["choice"]]

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns a third value."""
        others = [name for name in self.options if name not in (self.params["choice"], self.params["start"])]
        return {**self.params, "choice": rng.choice(others)}


class SettingsScreenTimeout(_Choice):
    """How long the screen stays on."""

    template = "Let the screen turn off after {choice}."
    budget = 10
    setting = ("system", "screen_off_timeout")
    options = pages.TIMEOUTS


class SettingsFontSize(_Choice):
    """How large texts are."""

    template = "Set the font size to {choice}."
    difficulty = "medium"
    budget = 14
    setting = ("system", "font_scale")
    options = pages.FONT_SCALES


class SettingsRingtone(_Choice):
    """The sound of calls."""

    template = "Choose {choice} as the phone's ringtone."
    budget = 12
    setting = ("system", "ringtone")
    options = {name: name for name in pages.RINGTONES if name != "None"}


class SettingsLanguage(_Choice):
    """The language that the phone speaks."""

    template = "Change the phone's language to {choice}."
    budget = 12
    setting = ("system", "system_locales")
    options = pages.LANGUAGES

    def done(self, device: Device, answer: str | None) -> bool:
        """Reads the first of the phone's languages, which is the one that it speaks."""
        first = (device.get_setting(*self.setting) or "").partition(",")[0]
        return first == self.options[self.params["choice"]]


class SettingsVolume(SettingsTask):
    """The volume of media or alarms, up or down."""

    template = "Turn the {sound} volume {how}."
    difficulty = "medium"
    budget = 10

    LEVELS = {"media": ("volume_music", 15), "alarm": ("volume_alarm", 7)}

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws which volume, and how."""
        how = {"all the way up": 1.0, "all the way down": 0.0}
        return {"sound": rng.choice(list(cls.LEVELS)), "how": rng.choice(list(how)), **super().sample(rng)}

    def setup(self, device: Device) -> None:
        """Sets both volumes to the middle."""
        super().setup(device)
        for key, highest in self.LEVELS.values():
            device.put_setting("system", key, str(highest // 2))

    def done(self, device: Device, answer: str | None) -> bool:
        """Requires one volume at its end and the other in the middle."""
        wanted = {key: highest // 2 for key, highest in self.LEVELS.values()}
        key, highest = self.LEVELS[self.params["sound"]]
        lowest = 0 if self.params["sound"] == "media" else 1
        wanted[key] = highest if self.params["how"].endswith("up") else lowest
        return all(device.get_setting("system", key) == str(level) for key, level in wanted.items())

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns the other volume."""
        return {**self.params, "sound": "alarm" if self.params["sound"] == "media" else "media"}


# names


class SettingsDeviceName(_OneSetting):
    """The phone's name."""

    template = "Change the name of the phone to {name}."
    difficulty = "medium"
    budget = 16
    setting = ("global", "device_name")

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws two names."""
        owner, name = words.FIRST_NAMES.draw_many(rng, 2)
        return {"name": f"Phone of {name}", "old_name": f"Phone of {owner}", **super().sample(rng)}

    def values(self) -> tuple[str, str]:
        return self.params["old_name"], self.params["name"]

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns a name with one more letter."""
        return {**self.params, "name": f"{self.params['name']}s"}


class SettingsJoinNetwork(_OneSetting):
    """A Wi-Fi network with a password."""

    template = "Connect to the Wi-Fi network {network} with the password {password}."
    difficulty = "medium"
    budget = 16
    setting = ("global", "wifi_network")

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws a network and a password."""
        network = rng.choice([name for name, secured in pages.NETWORKS if secured])
        return {"network": network, "password": f"{words.slug(rng)}{rng.randrange(100)}", **super().sample(rng)}

    def values(self) -> tuple[str, str]:
        return pages.NETWORKS[0][0], self.params["network"]

    def setup(self, device: Device) -> None:
        """Joins another network, and has this one ask for its password."""
        super().setup(device)
        device.put_setting("global", pages.password_key(self.params["network"]), self.params["password"])

    def done(self, device: Device, answer: str | None) -> bool:
        """Requires the network, and Wi-Fi that is on."""
        return super().done(device, answer) and device.get_setting("global", "wifi_on") == "1"

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns another network or another password."""
        network = another(rng, self.params, "network", [name for name, secured in pages.NETWORKS if secured])
        return rng.choice((network, {**self.params, "password": f"{self.params['password']}0"}))


# questions


class SettingsSwitchState(SettingsTask):
    """A question about a switch."""

    template = "Is {what} on or off? Answer on or off."
    budget = 8
    kind = "query"

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws the states, both on and off among them."""
        states, what = _states(rng), rng.choice(list(SWITCHES))
        other = rng.choice([name for name in SWITCHES if name != what])
        return {"what": what, "states": states | {other: not states[what]}}

    def done(self, device: Device, answer: str | None) -> bool:
        """Compares the answer with the state."""
        return answers.plain(answer or "") == ("on" if self.params["states"][self.params["what"]] else "off")

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns a switch in the other state."""
        states = self.params["states"]
        others = [name for name in SWITCHES if states[name] != states[self.params["what"]]]
        return {**self.params, "what": rng.choice(others)}


class SettingsPercentage(SettingsTask):
    """A question about the battery or the brightness."""

    template = "At what percentage is the {what}?"
    budget = 6
    kind = "query"

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws two different percentages."""
        battery, brightness = rng.sample(range(5, 100), 2)
        what = rng.choice(("battery", "screen brightness"))
        return {"what": what, "battery": battery, "screen brightness": brightness, **super().sample(rng)}

    def setup(self, device: Device) -> None:
        """Sets the battery and the brightness."""
        super().setup(device)
        device.write(BATTERY_LEVEL, f"{self.params['battery']}\n".encode())
        device.put_setting("system", "screen_brightness", str(round(2.55 * self.params["screen brightness"])))

    def done(self, device: Device, answer: str | None) -> bool:
        """Compares the answer with the percentage."""
        return answers.same_number((answer or "").replace("%", ""), self.params[self.params["what"]])

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns the other one."""
        return {**self.params, "what": "battery" if self.params["what"] != "battery" else "screen brightness"}


class SettingsFact(SettingsTask):
    """A question about the phone."""

    template = "What is the {what} of this phone?"
    budget = 10
    kind = "query"

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws a name, a model, an Android version and a build number."""
        facts = {
            "name": f"Phone of {words.FIRST_NAMES.draw(rng)}",
            "model": rng.choice(("Pixel 5", "Pixel 6", "Pixel 6a", "Pixel 7", "Pixel 7 Pro")),
            "Android version": str(rng.randint(11, 14)),
            "build number": f"T{rng.choice('BDPQ')}1A.{rng.randint(220101, 231231)}.{rng.randint(1, 40):03d}",
        }
        return {"what": rng.choice(list(facts)), "facts": facts, **super().sample(rng)}

    def setup(self, device: Device) -> None:
        """Writes the facts where Settings reads them."""
        super().setup(device)
        facts = self.params["facts"]
        device.put_setting("global", "device_name", facts["name"])
        build = pages.build_properties(facts["model"], facts["Android version"], facts["build number"])
        device.write(BUILD, build)

    def done(self, device: Device, answer: str | None) -> bool:
        """Compares the answer with the fact."""
        return answers.plain(answer or "") == answers.plain(self.params["facts"][self.params["what"]])

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns another fact."""
        return another(rng, self.params, "what", self.params["facts"])


TASKS = (
    SettingsSwitch,
    SettingsAirplaneMode,
    SettingsDarkTheme,
    SettingsBrightness,
    SettingsScreenTimeout,
    SettingsFontSize,
    SettingsRingtone,
    SettingsLanguage,
    SettingsVolume,
    SettingsDeviceName,
    SettingsJoinNetwork,
    SettingsSwitchState,
    SettingsPercentage,
    SettingsFact,
)
