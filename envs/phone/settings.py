"""Android's settings are text, which clients write: which values are refused, and what is read as a number."""

from __future__ import annotations

import math
from collections.abc import Mapping

Settings = Mapping[tuple[str, str], str]
LARGEST, SMALLEST = 5.0, 0.25
"""Bounds of the size of texts, `font_scale`."""

DEFAULT_IME = "com.google.android.inputmethod.latin/com.android.inputmethod.latin.LatinIME"
DEFAULTS = {
    ("global", "zen_duration"): "0", ("global", "heads_up_notifications_enabled"): "1",
    ("global", "development_settings_enabled"): "1", ("global", "adb_enabled"): "1",
    ("global", "window_animation_scale"): "1.0", ("global", "transition_animation_scale"): "1.0",
    ("global", "animator_duration_scale"): "1.0", ("global", "device_provisioned"): "1",
    ("secure", "default_input_method"): DEFAULT_IME, ("secure", "enabled_input_methods"): DEFAULT_IME,
    ("secure", "show_ime_with_hard_keyboard"): "1", ("secure", "user_setup_complete"): "1",
    ("secure", "android_id"): "2b5d8f1c64a93e70", ("system", "user_rotation"): "0",
    ("system", "pointer_location"): "0", ("system", "show_touches"): "0",
}  # fmt: skip
"""Settings of a new phone that no app of the phone reads."""

_SWITCHES = (
    "accelerometer_rotation", "dtmf_tone", "haptic_feedback_enabled", "lockscreen_sounds_enabled", "pointer_location",
    "screen_brightness_mode", "show_touches", "sound_effects_enabled", "vibrate_when_ringing",
)  # fmt: skip


def is_valid(namespace: str, name: str, value: str) -> bool:
    """Returns whether Android's provider takes a value: it checks some of the system's, and none of the others."""
    if namespace != "system":
        return True
    if name in _SWITCHES:
        return value in ("0", "1")
    match name:
        case "user_rotation":
            return value in ("0", "1", "2", "3")
        case "time_12_24":
            return value in ("12", "24")
        case "screen_off_timeout":
            return value.isascii() and value.isdecimal() and int(value) < 1 << 31
        case "font_scale":
            return SMALLEST <= _number(value, 0.0) <= LARGEST
    return True


def require_valid(namespace: str, name: str, value: str) -> None:
    """Refuses what Android's provider refuses.

    Raises:
        ValueError: The value is refused.
    """
    if not is_valid(namespace, name, value):
        raise ValueError(f"Invalid value: {value} for setting: {name}")


def whole(settings: Settings, namespace: str, name: str, default: int, highest: int) -> int:
    """Returns a setting as a number from 0 to `highest`; the default if it is none, as Android's `getInt` does."""
    return round(min(highest, max(0.0, _number(settings.get((namespace, name), ""), float(default)))))


def font_scale(settings: Settings) -> float:
    """Returns the size of texts relative to the default."""
    return min(LARGEST, max(SMALLEST, _number(settings.get(("system", "font_scale"), ""), 1.0)))


def _number(text: str, default: float) -> float:
    try:
        number = float(text)
    except ValueError:
        return default
    return number if math.isfinite(number) and "_" not in text else default
