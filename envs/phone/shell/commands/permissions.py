"""Android's permissions, and `pm grant` and `pm revoke`, which give them and take them back."""

from __future__ import annotations

from itertools import takewhile

from coach_gym.envs.phone.shell.commands import state
from coach_gym.envs.phone.shell.language.process import Process

ASKED = {
    "android.permission.RECORD_AUDIO": "record audio",
    "android.permission.CAMERA": "take pictures and record video",
    "android.permission.ACCESS_FINE_LOCATION": "access this device's location",
    "android.permission.READ_CONTACTS": "access your contacts",
    "android.permission.POST_NOTIFICATIONS": "send you notifications",
}
"""What the phone's apps ask for, by the names of Android's permissions."""

_RUNTIME = """
ACCEPT_HANDOVER ACCESS_BACKGROUND_LOCATION ACCESS_COARSE_LOCATION ACCESS_FINE_LOCATION ACCESS_MEDIA_LOCATION
ACTIVITY_RECOGNITION ANSWER_PHONE_CALLS BLUETOOTH_ADVERTISE BLUETOOTH_CONNECT BLUETOOTH_SCAN BODY_SENSORS
BODY_SENSORS_BACKGROUND CALL_PHONE CAMERA GET_ACCOUNTS NEARBY_WIFI_DEVICES POST_NOTIFICATIONS PROCESS_OUTGOING_CALLS
READ_CALENDAR READ_CALL_LOG READ_CELL_BROADCASTS READ_CONTACTS READ_EXTERNAL_STORAGE READ_MEDIA_AUDIO READ_MEDIA_IMAGES
READ_MEDIA_VIDEO READ_PHONE_NUMBERS READ_PHONE_STATE READ_SMS RECEIVE_MMS RECEIVE_SMS RECEIVE_WAP_PUSH RECORD_AUDIO
SEND_SMS USE_SIP UWB_RANGING WRITE_CALENDAR WRITE_CALL_LOG WRITE_CONTACTS WRITE_EXTERNAL_STORAGE
"""
_DEVELOPMENT = """
BATTERY_STATS CHANGE_CONFIGURATION DUMP GET_APP_OPS_STATS GET_PROCESS_STATE_AND_OOM_SCORE INTERACT_ACROSS_USERS
PACKAGE_USAGE_STATS READ_LOGS SET_ALWAYS_FINISH SET_ANIMATION_SCALE SET_DEBUG_APP SET_PROCESS_LIMIT
SIGNAL_PERSISTENT_PROCESSES SYSTEM_ALERT_WINDOW WRITE_SECURE_SETTINGS
"""
_FIXED = """
ACCESS_NETWORK_STATE ACCESS_NOTIFICATION_POLICY ACCESS_WIFI_STATE BLUETOOTH BLUETOOTH_ADMIN BROADCAST_STICKY
CHANGE_NETWORK_STATE CHANGE_WIFI_MULTICAST_STATE CHANGE_WIFI_STATE DISABLE_KEYGUARD EXPAND_STATUS_BAR
FOREGROUND_SERVICE GET_PACKAGE_SIZE HIDE_OVERLAY_WINDOWS HIGH_SAMPLING_RATE_SENSORS INSTALL_PACKAGES
INSTALL_SHORTCUT INTERNET KILL_BACKGROUND_PROCESSES MANAGE_EXTERNAL_STORAGE MODIFY_AUDIO_SETTINGS NFC
QUERY_ALL_PACKAGES READ_SYNC_SETTINGS READ_SYNC_STATS REBOOT RECEIVE_BOOT_COMPLETED REORDER_TASKS
REQUEST_IGNORE_BATTERY_OPTIMIZATIONS REQUEST_INSTALL_PACKAGES SCHEDULE_EXACT_ALARM SET_ALARM SET_TIME SET_TIME_ZONE
SET_WALLPAPER TRANSMIT_IR USE_BIOMETRIC USE_EXACT_ALARM USE_FINGERPRINT USE_FULL_SCREEN_INTENT VIBRATE WAKE_LOCK
WRITE_SETTINGS WRITE_SYNC_SETTINGS
"""


def _named(names: str) -> frozenset[str]:
    return frozenset(f"android.permission.{name}" for name in names.split())


DANGEROUS = _named(_RUNTIME)
"""Those that users decide about."""

CHANGEABLE = _named(_RUNTIME + _DEVELOPMENT)
"""Android 13's permissions that can be granted."""

FIXED = _named(_FIXED)
"""Those that apps have from their installation or not at all: the ones that most apps name."""

_UNDEFINED = "android.permission-group.UNDEFINED"
_GROUPS = """
ACTIVITY_RECOGNITION CALENDAR CALL_LOG CAMERA CONTACTS LOCATION MICROPHONE NEARBY_DEVICES NOTIFICATIONS PHONE
READ_MEDIA_AURAL READ_MEDIA_VISUAL SENSORS SMS STORAGE
"""
GROUPS = (*(f"android.permission-group.{name}" for name in _GROUPS.split()), _UNDEFINED)
"""Groups of permissions. Android 13 itself puts no permission into the others: what asks for them does."""


def list_permissions(p: Process, args: list[str]) -> int:
    """`pm list permissions [-g] [-d] [GROUP]`: all, those of a group, or the dangerous ones; `-g` by group."""
    given = [*takewhile(lambda word: word.startswith("-"), args)]
    if bad := next((word for word in given if word not in ("-g", "-d")), ""):
        known = bad in ("-f", "-s", "-u")
        return p.complain(f"Error: {bad} is not on the embedded phone" if known else f"Error: Unknown option: {bad}")
    group = "".join(args[len(given) :][:1])
    names = sorted(DANGEROUS if "-d" in given else CHANGEABLE | FIXED)
    p.print(f"{'Dangerous' if '-d' in given else 'All'} Permissions:\n")
    if "-g" in given:
        p.print("".join(f"group:{name}\n\n" for name in GROUPS[:-1]) + f"group:{_UNDEFINED}")
        p.print("".join(f"  permission:{name}\n" for name in names) + "\nungrouped:")
    elif group in ("", _UNDEFINED):
        p.print("".join(f"permission:{name}\n" for name in names), "")
    return 0


def _change(p: Process, package: str, name: str, granted: bool) -> int:
    verb = "grant" if granted else "revoke"
    if not (package and name):
        return p.complain(f"Error: no {'permission' if package else 'package'} specified")
    if package not in state.packages(p.phone):
        fault = f"IllegalArgumentException: Unknown package: {package}"
    elif name in FIXED:
        fault = f"SecurityException: Permission {name} requested by {package} is not a changeable permission type"
    elif name not in CHANGEABLE:
        fault = f"IllegalArgumentException: Unknown permission: {name}"
    else:
        change = p.phone.permissions.add if granted else p.phone.permissions.discard
        change((package, ASKED.get(name, name)))
        return 0
    return p.complain(f"\nException occurred while executing '{verb}':\njava.lang.{fault}", 255)


def grant(p: Process, args: list[str]) -> int:
    """Grants a permission."""
    return _change(p, *_package_and_name(args), True)


def revoke(p: Process, args: list[str]) -> int:
    """Takes a permission back."""
    return _change(p, *_package_and_name(args), False)


def _package_and_name(args: list[str]) -> tuple[str, str]:
    package, name = [*(word for word in args if not word.startswith("-")), "", ""][:2]
    return package, name
