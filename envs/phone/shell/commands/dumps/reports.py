"""More of `dumpsys`: reports of services whose state is in settings, or never changes on this phone."""

from __future__ import annotations

from collections.abc import Callable

from coach_gym.envs.phone import zones
from coach_gym.envs.phone.epoch import to_millis
from coach_gym.envs.phone.phone import Phone
from coach_gym.envs.phone.shell.commands import state
from coach_gym.envs.phone.shell.toybox.listing import DISK

Report = Callable[["Phone", list[str]], str]


def _on(phone: Phone, namespace: str, name: str, default: str = "0") -> bool:
    return phone.storage.settings.get((namespace, name), default) != "0"


def accessibility(phone: Phone, args: list[str]) -> str:
    """Reports the enabled accessibility services."""
    enabled = phone.storage.settings.get(("secure", "enabled_accessibility_services"), "")
    names = ", ".join(filter(None, enabled.split(":")))
    return f"ACCESSIBILITY MANAGER (dumpsys accessibility)\n\nUser state[\n     Enabled services:{{{names}}}\n]"


def alarm(phone: Phone, args: list[str]) -> str:
    """Reports the time, and when apps are to be woken, the next one first."""
    shown = lambda at: f"{zones.read(phone.services, at, state.zone(phone)):%Y-%m-%d %H:%M:%S}.000"  # noqa: E731
    wakeups = phone.wakeups()
    lines = ["Current Alarm Manager state:", f"  nowRTC={shown(phone.now)}", f"  {len(wakeups)} pending alarms:"]
    for number, (package, wakeup) in enumerate(wakeups, start=1):
        lines += [
            f"    RTC_WAKEUP #{number}: Alarm{{{number:x} type 0 origWhen {to_millis(wakeup.at)} {package}}}",
            f"      tag=*walarm*:{wakeup.action}", f"      type=RTC_WAKEUP origWhen={shown(wakeup.at)} window=0",
            *["      Alarm clock:", f"        triggerTime={shown(wakeup.at)}"] * wakeup.told,
        ]  # fmt: skip
    told = [wakeup.at for _, wakeup in wakeups if wakeup.told]
    lines += ["  Next alarm clock information:", *[f"    user:0 time:{to_millis(at)} = {shown(at)}" for at in told[:1]]]
    return "\n".join(lines)


def device_idle(phone: Phone, args: list[str]) -> str:
    """Reports that the phone is not idle, whatever is asked of it."""
    if args[:1] in (["force-idle"], ["enable"], ["disable"], ["step"]):
        return "Unable to go deep idle; the embedded phone does not doze"
    return "  mLightState=ACTIVE mState=ACTIVE" if args[:1] != ["get"] else "ACTIVE"


def disk_stats(phone: Phone, args: list[str]) -> str:
    """Reports the free space of the data partition."""
    used = sum(phone.storage.size(path) for path in phone.storage.files_below("/")) // 1024 + 1_480_000
    free = DISK - used
    return f"Latency: 0ms [512B Data Write]\nData-Free: {free}K / {DISK}K total = {100 * free // DISK}% free"


def graphics(phone: Phone, args: list[str]) -> str:
    """Reports the frames of an app: nobody counts them here."""
    names = [task for task in state.processes(phone) if task.name in (args[:1] or [task.name]) and task.uid >= 10000]
    if not names:
        return f"No process found for: {args[0]}"
    counts = "Total frames rendered: 0\nJanky frames: 0 (0.00%)\n50th percentile: 16ms\n90th percentile: 16ms"
    return "\n".join(f"** Graphics info for pid {task.pid} [{task.name}] **\n\n{counts}\n" for task in names)


def location(phone: Phone, args: list[str]) -> str:
    """Reports whether apps may ask for the position."""
    on = _on(phone, "secure", "location_mode", "3")
    return f"Location Manager State:\n  User Info:\n    current user: 0\n    location [u0]: {str(on).lower()}"


def media_session(phone: Phone, args: list[str]) -> str:
    """Reports the media sessions: the players of this phone open none."""
    return "MEDIA SESSION SERVICE (dumpsys media_session)\n\nGlobal priority session is null\n  Sessions Stack - have 0"


def status_bar(phone: Phone, args: list[str]) -> str:
    """Reports whether the shade is open."""
    return f"  mDisabled1=0x0\n  mDisabled2=0x0\n  mPanelExpanded={str(bool(phone.shade)).lower()}"


def surface_flinger(phone: Phone, args: list[str]) -> str:
    """Reports the only display; `--list` the windows on it, the front one last; `--latency` its period."""
    if args[:1] == ["--list"]:
        windows = ["StatusBar#0", "NavigationBar0#0", f"{state.component(phone, phone.foreground)}#0"]
        return "\n".join(
            [*windows, *["InputMethod#0"] * phone.keyboard_shown, *["NotificationShade#0"] * bool(phone.shade)]
        )
    if args[:1] == ["--latency"]:
        return "16666666"
    return 'Display 4619827259835644672 (HWC display 0): port=0 pnpId=GGL displayName="EMU_display_0"'


def trust(phone: Phone, args: list[str]) -> str:
    """Reports that the phone is not locked: it has no lock."""
    return (
        'Trust manager state:\n User "Owner" (id=0, flags=0xc13) (current): trusted=0, trustManaged=0, deviceLocked=0'
    )


def ui_mode(phone: Phone, args: list[str]) -> str:
    """Reports whether the theme is dark."""
    night = phone.storage.settings.get(("secure", "ui_night_mode"), "1")
    name = {"0": "auto", "1": "no", "2": "yes"}.get(night, "no")
    mode = "0x21" if night == "2" else "0x11"
    return f"Current UI Mode Service state:\n  mNightMode={night} ({name})\n  mCurUiMode={mode}"


def user(phone: Phone, args: list[str]) -> str:
    """Reports the only user."""
    return "Current user: 0\n\nUsers:\n  UserInfo{0:Owner:c13} serialNo=0 isPrimary=true\n    State: RUNNING_UNLOCKED"


def web_view(phone: Phone, args: list[str]) -> str:
    """Reports that no package of web views is installed."""
    return "Current WebView Update Service state\n  Current WebView package is null"


REPORTS: dict[str, Report] = {
    "accessibility": accessibility, "alarm": alarm, "deviceidle": device_idle, "diskstats": disk_stats,
    "gfxinfo": graphics, "location": location, "media_session": media_session, "statusbar": status_bar,
    "SurfaceFlinger": surface_flinger, "trust": trust, "uimode": ui_mode, "user": user, "webviewupdate": web_view,
}  # fmt: skip
