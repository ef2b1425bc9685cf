"""`dumpsys battery`: reports the battery, and pretends another state of it."""

from __future__ import annotations

from coach_gym.envs.phone.phone import Phone
from coach_gym.envs.phone.system.bars import battery_level

_PLUGS = {"ac": "AC powered", "usb": "USB powered", "wireless": "Wireless powered"}
_NUMBERS = ("status", "level", "temp", "invalid")
_USAGE = "Battery service (battery) commands:\n  set ac|usb|wireless|status|level|temp|invalid VALUE\n  unplug\n  reset"


def battery(phone: Phone, args: list[str]) -> str:
    """Reports the battery, or does what `set NAME VALUE`, `unplug` and `reset` ask for."""
    verb, *rest = [word for word in args if word != "-f"] or [""]
    if verb == "set" and len(rest) == 2 and rest[0] in (*_PLUGS, *_NUMBERS) and rest[1].lstrip("-").isdecimal():
        phone.services.battery[rest[0]] = str(int(rest[1][:9]))
    elif verb == "unplug":
        phone.services.battery |= dict.fromkeys(_PLUGS, "0")
    elif verb == "reset":
        phone.services.battery.clear()
    elif verb and verb != "-a":
        return _USAGE
    else:
        return _report(phone)
    phone.changed()
    return ""


def _report(phone: Phone) -> str:
    given = phone.services.battery
    plugs = "".join(f"  {text}: {str(given.get(plug, '0') != '0').lower()}\n" for plug, text in _PLUGS.items())
    paused = "  (UPDATES STOPPED -- use 'reset' to restart)\n" if given else ""
    return f"""Current Battery Service state:
{paused}{plugs}  Max charging current: 0
  Max charging voltage: 0
  Charge counter: 10000
  status: {given.get("status", "3")}
  health: 2
  present: true
  level: {battery_level(phone)}
  scale: 100
  voltage: 5000
  temperature: {given.get("temp", "250")}
  technology: Li-ion
"""
