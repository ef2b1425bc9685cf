"""What other programs ask the Clock for: the intents of `android.provider.AlarmClock`."""

from __future__ import annotations

from coach_gym.envs.apps.clock import data
from coach_gym.envs.apps.clock.data import RUNNING, Alarm, Timer
from coach_gym.envs.phone.app import Host
from coach_gym.envs.phone.intents import ACTION, Intent

TABS = {
    f"{ACTION}{name}": tab
    for name, tab in (("SET_ALARM", 0), ("SHOW_ALARMS", 0), ("SET_TIMER", 2), ("SHOW_TIMERS", 2))
}
"""The tab that each request shows, by its action."""

_EXTRA = "android.intent.extra.alarm."


def fulfil(phone: Host, intent: Intent) -> None:
    """Sets the alarm or starts the timer that is asked for; without an hour or a length it changes nothing."""
    name = intent.action.removeprefix(ACTION)
    hour, length = _number(intent, "HOUR", 23), _number(intent, "LENGTH", 86_399)
    if name == "SET_ALARM" and hour is not None:
        alarm = Alarm(hour, _number(intent, "MINUTES", 59) or 0, label=intent.extra(f"{_EXTRA}MESSAGE"))
        data.save(data.opened(phone.storage), alarm, phone.local(phone.now))
    elif name == "SET_TIMER" and length:
        timer = Timer(1000 * length, 1000 * length, RUNNING, data.milliseconds(phone.now))
        data.save_timer(phone.storage, timer)


def _number(intent: Intent, name: str, most: int) -> int | None:
    text = intent.extra(_EXTRA + name)
    return min(int(text), most) if text.isdecimal() and len(text) < 9 else None
