"""`dumpsys`: the parts of Android's reports that clients read."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from coach_gym.envs.phone.phone import Phone
from coach_gym.envs.phone.providers import telephony
from coach_gym.envs.phone.settings import DEFAULT_IME
from coach_gym.envs.phone.shell.commands import state
from coach_gym.envs.phone.shell.commands.dumps import reports
from coach_gym.envs.phone.shell.commands.dumps.battery import battery
from coach_gym.envs.phone.shell.commands.dumps.reports import Report
from coach_gym.envs.phone.shell.commands.permissions import ASKED
from coach_gym.envs.phone.shell.language.process import Command, Process
from coach_gym.envs.phone.shell.toybox.attributes import uid_of


def dumpsys(p: Process) -> int:
    """`dumpsys SERVICE …`; `-l` lists the services."""
    words = p.args[2:] if p.args[:1] in (["-t"], ["-T"]) else p.args
    names = sorted(_REPORTS)
    if words[:1] == ["-l"] or not words:
        p.print("Currently running services:\n" + "\n".join(f"  {name}" for name in names))
    if not words:
        for name in names:
            p.print(f"{'-' * 79}\nDUMP OF SERVICE {name}:\n{_REPORTS[name](p.phone, [])}")
    if words[:1] in ([], ["-l"]):
        return 0
    report = _REPORTS.get(words[0])
    if report is None:
        p.complain(f"Can't find service: {words[0]}")
        return 0
    text = report(p.phone, words[1:]).rstrip("\n")
    p.print(text, "\n" * bool(text))
    return 0


def _asked(args: list[str], valued: tuple[str, ...] = ()) -> tuple[str, str]:
    """Returns the part of a report that is asked for, empty for all, and complaints about unknown options."""
    unknown, rest = "", list(args)
    while rest and rest[0].startswith("-"):
        option = rest.pop(0)
        if option in valued:
            del rest[:1]
        elif option not in ("-a", "-c", "-v", "-f"):
            unknown += f"Unknown argument: {option}; use -h for help\n"
    return "".join(rest[:1]), unknown


def _help(title: str, parts: Iterable[str]) -> str:
    return "\n".join([f"{title} manager dump options:", "  [-a] [-h] [WHAT] ...", *(f"    {part}" for part in parts)])


_WINDOW_PARTS = (
    "lastanr", "l", "policy", "p", "animator", "a", "sessions", "s", "displays", "d", "tokens", "t", "windows", "w",
    "all", "visible", "visible-apps", "containers", "surfaces", "accessibility", "a11y", "package-config", "constants",
)  # fmt: skip
"""What `dumpsys window` can be asked for; here it always tells everything."""


def window(phone: Phone, args: list[str]) -> str:
    """Reports the windows, also if only a part of that is asked for, or one window by its name."""
    if "-h" in args:
        return _help("Window", _WINDOW_PARTS)
    what, unknown = _asked(args)
    bars = ("StatusBar", "NavigationBar0", "NotificationShade")
    if what and what in "InputMethod":
        return unknown + _keyboard(phone)
    if what not in _WINDOW_PARTS and not any(what in name for name in (*bars, state.focus(phone))):
        return f"{unknown}Bad window command, or no windows match: {what}\nUse -h for help."
    return unknown + _windows(phone)


def _keyboard(phone: Phone) -> str:
    shown = str(phone.keyboard_shown).lower()
    return f"  Window #1 Window{{{_token('ime')} u0 InputMethod}}:\n    mHasSurface={shown} isOnScreen={shown}\n"


def _windows(phone: Phone) -> str:
    name = state.component(phone, phone.foreground)
    shown = state.focus(phone)
    upright, size = "x".join(map(str, phone.upright)), f"{phone.width}x{phone.height}"
    turned, longest = f"ROTATION_{90 * phone.rotation}", max(phone.upright)
    return f"""WINDOW MANAGER SESSIONS (dumpsys window sessions)
  Session Session{{{_token(name)} {state.pid(phone, phone.foreground)}:{phone.foreground}}}

WINDOW MANAGER DISPLAY CONTENTS (dumpsys window displays)
  Display: mDisplayId=0 rootTasks={len(phone.stacks)}
    init={upright} {state.dpi(phone)}dpi cur={size} app={size} rng={upright}-{longest}x{longest}
  mCurrentFocus=Window{{{_token(shown)} u0 {shown}}}
  mFocusedApp={_record(phone, phone.foreground, name)}
  mDisplayRotation
    mCurrentRotation={turned} mRotation={turned}
  mInputMethodWindow=Window{{{_token("ime")} u0 InputMethod}}
  KeyguardServiceDelegate
    showing=false
    inputRestricted=false
  mShowingLockscreen=false mDreamingLockscreen=false mAwake={_awake(phone)} mScreenOnFully={_awake(phone)}
  mHasPermanentDpad=false mHasSoftInput={str(phone.keyboard_shown).lower()}
"""


def _awake(phone: Phone) -> str:
    return str(phone.services.screen_on).lower()


def _token(name: str) -> str:
    """Returns the hexadecimal number of an object in Android's reports: always the same for a name."""
    number = 0
    for character in name:
        number = (number * 31 + ord(character)) & 0xFFFFFFF
    return f"{number:07x}"


def _record(phone: Phone, package: str, name: str) -> str:
    return f"ActivityRecord{{{_token(name)} u0 {state.short(name)} t{state.task_id(phone, package)}}}"


def activity(phone: Phone, args: list[str]) -> str:
    """Reports a part of the state of activities, such as `recents`, all of it, or the activities that match a name."""
    if "-h" in args:
        return _help("Activity", [*_ACTIVITY_PARTS, *_NO_ACTIVITY])
    what, unknown = _asked(args, ("-p", "-d", "--user"))
    if not what:
        return unknown + "\n".join(part(phone) for part in dict.fromkeys(_ACTIVITY_PARTS.values()))
    if what in _ACTIVITY_PARTS:
        return unknown + _ACTIVITY_PARTS[what](phone)
    if what in _NO_ACTIVITY:
        return f"{unknown}ACTIVITY MANAGER {what.upper()} (dumpsys activity {what})\n  (nothing)"
    found = ""
    for package in state.running(phone):
        task = state.task(phone, package)
        names = [each for each in task if what in ("all", _token(each)) or what in each or what in state.short(each)]
        found += _task(phone, package, names) if names else ""
    if found:
        return unknown + found
    return f"{unknown}Unknown command: {what}\nBad activity command, or no activities match: {what}\nUse -h for help."


def _task(phone: Phone, package: str, names: list[str]) -> str:
    """Reports the given activities of an app's task."""
    uid, pid, front = uid_of(phone, package), state.pid(phone, package), state.component(phone, phone.foreground)
    lines = [f"TASK {uid}:{package} id={state.task_id(phone, package)} userId=0"]
    for name in names:
        resumed, stopped = str(name == front).lower(), str(name != front).lower()
        lines.append(f"  ACTIVITY {state.short(name)} {_token(name)} pid={pid}")
        lines.append(f"    mResumed={resumed} mStopped={stopped} mFinished=false")
    return "\n".join(lines) + "\n"


def _recents(phone: Phone) -> str:
    lines = ["ACTIVITY MANAGER RECENT TASKS (dumpsys activity recents)", "mRecentsUid=10125", "  Recent tasks:"]
    for index, package in enumerate(state.running(phone)):
        records = [_record(phone, package, name) for name in state.task(phone, package)]
        id, uid = state.task_id(phone, package), uid_of(phone, package)
        kind = "home" if package == phone.launcher.package else "standard"
        visible = str(package == phone.foreground).lower()
        lines += [
            f"  * Recent #{index}: Task{{{_token(package)} #{id} type={kind} A={uid}:{package}}}",
            f"    userId=0 effectiveUid=u0a{uid - 10000} mCallingUid=u0a125 mUserSetupComplete=true "
            "mCallingPackage=com.google.android.apps.nexuslauncher",
            f"    affinity={uid}:{package}",
            f"    realActivity={{{state.short(state.task(phone, package)[-1])}}}",
            f"    Activities=[{', '.join(reversed(records))}]",
            f"    taskId={id} rootTaskId={id}",
            f"    hasChildPipActivity=false mHasBeenVisible=true visible={visible} lastActiveTime=0 (inactive for 0s)",
        ]
    return "\n".join(lines) + "\n"


def _activities(phone: Phone) -> str:
    lines = ["ACTIVITY MANAGER ACTIVITIES (dumpsys activity activities)", "Display #0 (activities from top to bottom):"]
    for package in state.running(phone):
        id, task = state.task_id(phone, package), state.task(phone, package)
        lines.append(f"  * Task{{{_token(package)} #{id} type=standard A={uid_of(phone, package)}:{package}}}")
        for index, name in enumerate(task):
            owner = name.partition("/")[0]
            lines += [
                f"    * Hist  #{len(task) - 1 - index}: {_record(phone, package, name)}",
                f"      packageName={owner} processName={owner}",
                f"      app=ProcessRecord{{{_token(owner)} {state.pid(phone, owner)}:{owner}/{uid_of(phone, owner)}}}",
            ]
    front = _record(phone, phone.foreground, state.component(phone, phone.foreground))
    lines += [f"  topResumedActivity={front}", f"  ResumedActivity: {front}", f"  mResumedActivity: {front}"]
    return "\n".join(lines) + "\n"


def _processes(phone: Phone) -> str:
    lines = ["ACTIVITY MANAGER RUNNING PROCESSES (dumpsys activity processes)", "  All known processes:"]
    for task in state.processes(phone):
        if task.uid >= 10000:
            lines.append(
                f"  *APP* UID {task.uid} ProcessRecord{{{_token(task.name)} {task.pid}:{task.name}/{task.user}}}"
            )
    return "\n".join(lines) + "\n"


def _top(phone: Phone) -> str:
    return _task(phone, phone.foreground, [state.component(phone, phone.foreground)])


_ACTIVITY_PARTS: dict[str, Callable[[Phone], str]] = {
    "recents": _recents, "r": _recents, "activities": _activities, "a": _activities, "top": _top,
    "processes": _processes, "p": _processes,
}  # fmt: skip
_NO_ACTIVITY = (
    "broadcasts", "b", "broadcast-stats", "intents", "i", "oom", "o", "permissions", "perm", "providers", "prov",
    "provider", "services", "s", "service", "package", "starter", "containers", "lastanr", "lastanr-traces",
    "allowed-associations", "associations", "as", "exit-info", "lmk", "lru", "binder-proxies", "settings", "users",
)  # fmt: skip
"""Parts of Android's state that this phone has nothing of."""


def input_(phone: Phone, args: list[str]) -> str:
    """Reports the touch screen and its orientation."""
    frame, (width, height) = f"[0, 0, {phone.width}, {phone.height}]", phone.upright
    return f"""INPUT MANAGER (dumpsys input)
Input Reader State (Nums of device: 1):
  Device 4: virtio_input_multi_touch_1
    Sources: KEYBOARD | TOUCHSCREEN
    Touch Input Mapper (mode - DIRECT):
      Viewport INTERNAL: displayId=0, uniqueId=local:4619827259835644672, port=0, orientation={phone.rotation}, \
logicalFrame={frame}, physicalFrame={frame}, deviceSize=[{width}, {height}], isActive=[1]
      SurfaceWidth: {width}px
      SurfaceHeight: {height}px
      PhysicalWidth: {width}px
      PhysicalHeight: {height}px
      SurfaceOrientation: {phone.rotation}
      InputDeviceOrientation: Rotation0
"""


def display(phone: Phone, args: list[str]) -> str:
    """Reports the size and density of the screen."""
    size, frame = f"{phone.width} x {phone.height}", f"Rect(0, 0 - {phone.width}, {phone.height})"
    power = "ON" if phone.services.screen_on else "OFF"
    return f"""DISPLAY MANAGER (dumpsys display)
  mViewports=[DisplayViewport{{type=INTERNAL, valid=true, isActive=true, displayId=0, \
uniqueId='local:4619827259835644672', physicalPort=0, orientation={phone.rotation}, logicalFrame={frame}, \
physicalFrame={frame}, deviceWidth={phone.width}, deviceHeight={phone.height}}}]
  mScreenState={power}
  mBaseDisplayInfo=DisplayInfo{{"Built-in Screen", displayId 0, real {size}, largest app {size}, \
rotation {phone.rotation}, density {state.dpi(phone)}, state {power}}}
"""


def power(phone: Phone, args: list[str]) -> str:
    """Reports whether the screen is lit."""
    on = phone.services.screen_on
    return f"""POWER MANAGER (dumpsys power)
  mWakefulness={"Awake" if on else "Asleep"}
  mHoldingWakeLockSuspendBlocker=false
  mHoldingDisplaySuspendBlocker={str(on).lower()}
Display Power: state={"ON" if on else "OFF"}
"""


def package(phone: Phone, args: list[str]) -> str:
    """Reports what the package manager knows about a package."""
    name = next((word for word in args if not word.startswith("-")), "")
    if name == "packages":
        return "\n".join(["Packages:", *(f"  Package [{each}] ({_token(each)}):" for each in state.packages(phone))])
    if name not in state.packages(phone):
        return f"Unable to find package: {name}" if name else "Database versions:"
    code, _, version = phone.services.packages.get(name, "1 1.0").partition(" ")
    system = not state.is_third_party(phone, name)
    rows = "\n".join(
        f"        {permission}: granted={str((name, what) in phone.permissions).lower()}, flags=[ USER_SET ]"
        for permission, what in ASKED.items()
    )
    start = phone.launcher if name == phone.launcher.package else phone.apps.get(name)
    main = f"        {_token(name)} {state.short(_main(name, start.activity))} filter {_token(name)}" if start else ""
    return f"""Activity Resolver Table:
  Non-Data Actions:
      android.intent.action.MAIN:
{main}

Packages:
  Package [{name}] ({_token(name)}):
    userId={uid_of(phone, name)}
    pkg=Package{{{_token(name)} {name}}}
    codePath={state.apk(phone, name).rpartition("/")[0]}
    versionCode={code} minSdk=23 targetSdk=33
    versionName={version}
    signatures=PackageSignatures{{{_token(name)} version:2, signatures:[{_token(name)}], past signatures:[]}}
    pkgFlags=[ {"SYSTEM " if system else ""}HAS_CODE ALLOW_CLEAR_USER_DATA ]
    firstInstallTime=2023-10-15 15:00:00
    lastUpdateTime=2023-10-15 15:00:00
    User 0: ceDataInode=0 installed=true hidden=false suspended=false stopped=false enabled=0
      runtime permissions:
{rows}
"""


def _main(package: str, activity: str) -> str:
    return f"{package}/{package if activity.startswith('.') else ''}{activity}"


def telephony_registry(phone: Phone, args: list[str]) -> str:
    """Reports the state of the telephone line."""
    line = telephony.line_state(phone.services)
    ringing = [number for number, state in phone.services.calls.items() if state == "incoming"]
    return f"""last known state:
  Phone Id=0
    mCallState={line}
    mRingingCallState={5 if ringing else 0}
    mCallIncomingNumber={"".join(ringing[:1])}
    mServiceState={{mVoiceRegState=0(IN_SERVICE), mDataRegState=0(IN_SERVICE)}}
"""


def input_method(phone: Phone, args: list[str]) -> str:
    """Reports the input method, and whether the keyboard is shown."""
    chosen = phone.storage.settings.get(("secure", "default_input_method"), DEFAULT_IME)
    shown = str(phone.keyboard_shown).lower()
    return f"""Current Input Method Manager state:
  mCurMethodId={chosen}
  mShowRequested={shown} mShowExplicitlyRequested=false mShowForced=false mInputShown={shown}
  mSystemReady=true mInteractive={_awake(phone)}
"""


def notification(phone: Phone, args: list[str]) -> str:
    """Reports the notifications in the shade."""
    lines = ["Current Notification Manager state:", "  Notification List:"]
    for each in phone.notifications:
        lines += [
            f"    NotificationRecord(0x{_token(each.title)}: pkg={each.package} user=UserHandle{{0}} "
            f"id={1 if each.tag is None else 2020} tag={each.tag or 'null'})",
            f"        android.title=String ({each.title})",
            f"        android.text=String ({each.text})",
        ]
    return "\n".join(lines)


def clipboard(phone: Phone, args: list[str]) -> str:
    """Reports whether the clipboard holds text."""
    return f"Primary clip: {'text/plain' if phone.clipboard else 'null'}"


def wifi(phone: Phone, args: list[str]) -> str:
    """Reports whether Wi-Fi is on."""
    on = phone.storage.settings.get(("global", "wifi_on"), "1") != "0"
    return f"Wi-Fi is {'enabled' if on else 'disabled'}"


def meminfo(phone: Phone, args: list[str]) -> str:
    """Reports the memory that processes take: always the same."""
    names = [task for task in state.processes(phone) if not args or args[-1] in (task.name, str(task.pid))]
    if not names:
        return f"No process found for: {args[-1]}"
    lines = [f"    {124548:,}K: {task.name} (pid {task.pid})" for task in names]
    return "\n".join(["Applications Memory Usage (in Kilobytes):", "", "Total PSS by process:", *lines, "", _TOTAL])


_TOTAL = "Total RAM: 2,035,548K (status normal)\n Free RAM: 1,024,000K"


def cpuinfo(phone: Phone, args: list[str]) -> str:
    """Reports the load of processes: none, because they do nothing between inputs."""
    lines = [f"  0% {task.pid}/{task.name}: 0% user + 0% kernel" for task in state.processes(phone)]
    return "\n".join(["Load: 0.1 / 0.08 / 0.05", "CPU usage from 60000ms to 0ms ago:", *lines, "1% TOTAL: 1% user"])


_STREAMS = {"MUSIC": "music", "RING": "ring", "ALARM": "alarm", "VOICE_CALL": "voice"}


def audio(phone: Phone, args: list[str]) -> str:
    """Reports the volumes."""
    settings = phone.storage.settings
    lines = []
    for stream, name in _STREAMS.items():
        level = settings.get(("system", f"volume_{name}"), "5")
        lines.append(f"- STREAM_{stream}:\n   Muted: {str(level == '0').lower()}\n   Current: 2 (speaker): {level}")
    return "\n".join(["Stream volumes (device: index)", *lines])


def connectivity(phone: Phone, args: list[str]) -> str:
    """Reports the network in use."""
    settings = phone.storage.settings
    on = {name: settings.get(("global", name), "0") != "0" for name in ("wifi_on", "mobile_data", "airplane_mode_on")}
    kind = "WIFI" if on["wifi_on"] else "CELLULAR" if on["mobile_data"] and not on["airplane_mode_on"] else ""
    if not kind:
        return "Active default network: none\n\nCurrent Networks:"
    agent = f"NetworkAgentInfo{{network{{100}} [{kind} CONNECTED] Transports: {kind}}}"
    return f"Active default network: 100\n\nCurrent Networks:\n  {agent}"


_REPORTS: dict[str, Report] = {
    "window": window, "activity": activity, "input": input_, "display": display, "battery": battery, "power": power,
    "package": package, "telephony.registry": telephony_registry, "input_method": input_method,
    "notification": notification, "clipboard": clipboard, "wifi": wifi,
    "meminfo": meminfo, "cpuinfo": cpuinfo, "audio": audio, "connectivity": connectivity,
} | reports.REPORTS  # fmt: skip
SERVICES = tuple(sorted(_REPORTS))
"""The services that can be asked for a report."""


COMMANDS: dict[str, Command] = {"dumpsys": dumpsys}
