"""The kernel's files: the parts of `/proc` and `/sys` that clients read, and devices without an end."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from datetime import datetime, timedelta

from coach_gym.envs.phone.epoch import to_seconds
from coach_gym.envs.phone.phone import Phone
from coach_gym.envs.phone.shell.commands import state
from coach_gym.envs.phone.shell.commands.state import Task

CPUS = 2
MEMORY, FREE = 2_035_548, 1_024_000  # KiB
VERSION = "5.15.41-android13-8-00055-g4f5025129fe8-ab8949913"
BUILT = "#1 SMP PREEMPT Mon Aug 15 18:33:14 UTC 2022"
"""The kernel's version, and when it was built."""

MOUNTS = """\
/dev/block/dm-1 / ext4 ro,seclabel,relatime 0 0
tmpfs /dev tmpfs rw,seclabel,nosuid,relatime,mode=755 0 0
proc /proc proc rw,relatime,gid=3009,hidepid=invisible 0 0
sysfs /sys sysfs rw,seclabel,relatime 0 0
/dev/block/dm-5 /data ext4 rw,seclabel,nosuid,nodev,noatime 0 0
/dev/fuse /storage/emulated fuse rw,lazytime,nosuid,nodev,noexec,noatime,user_id=0,group_id=0,allow_other 0 0
"""
ENDLESS = ("/dev/zero", "/dev/urandom", "/dev/random")
DEVICES = (*ENDLESS, "/dev/null", "/dev/tty")
PIECE = 1 << 20
"""How many bytes a command gets of what has no end, unless it asks for a number."""

_BOOT = datetime(2023, 10, 15, 14, 34)
_HERTZ = 100  # ticks of the processes' clocks a second


def uptime(phone: Phone) -> float:
    """Returns the seconds since the phone was started: an hour before a new phone's clock begins, or just now."""
    return max(3600.0, (phone.now - _BOOT) / timedelta(seconds=1))


def device(phone: Phone, path: str, size: int = PIECE) -> bytes | None:
    """Returns as many bytes of a device without an end, or None if it is none. Random ones are others each time."""
    if path == "/dev/zero":
        return bytes(size)
    if path not in ENDLESS:
        return None
    phone.services.drawn += 1
    return random.Random(phone.services.drawn).randbytes(size)


def read(phone: Phone, path: str) -> bytes | None:
    """Returns what a file of the kernel contains, or None if there is no such file."""
    if path in ENDLESS:
        return device(phone, path)
    if not path.startswith("/proc/"):
        text = _CPU_FILES.get(path)
        return None if text is None else text.encode()
    name = path.removeprefix("/proc/")
    number, _, what = name.partition("/")
    if number.isdecimal() or number == "self":
        text = _of_process(phone, number, what)
    else:
        text = _FILES[name](phone) if name in _FILES else None
    return None if text is None else text.encode()


def _stat(phone: Phone) -> str:
    """The ticks of all processors together and of each: idle but for a twenty-fifth."""
    ticks = round(uptime(phone) * _HERTZ)
    busy = ticks // 50  # grows in every second

    def counts(processors: int) -> str:
        user, idle = busy * processors, (ticks - 2 * busy) * processors
        return f" {user} 0 {user} {idle} 0 0 0 0 0 0\n"

    lines = "".join(f"cpu{number}{counts(1)}" for number in range(CPUS))
    started = to_seconds(phone.now) - round(uptime(phone))
    return f"cpu {counts(CPUS)}{lines}btime {started}\nprocesses 20000\nprocs_running 1\n"


def _cpuinfo(phone: Phone) -> str:
    return "".join(
        f"processor\t: {number}\nmodel name\t: Android virtual processor\ncpu cores\t: {CPUS}\n\n"
        for number in range(CPUS)
    )


def _of_process(phone: Phone, number: str, what: str) -> str | None:
    tasks = state.processes(phone)
    shell = Task("root", 0, 2000, state.ADBD, "sh")
    task = shell if number == "self" else next((each for each in tasks if str(each.pid) == number), None)
    if task is None:
        return None
    name = task.name[-15:]  # the kernel keeps 15 characters
    return {
        "cmdline": f"{task.name}\0", "comm": f"{name}\n",
        "stat": f"{task.pid} ({name}) S {task.parent}{' 0' * 9} 10 5 0 0 20 0 20 0 1000 0 31137{' 0' * 28}\n",
        "status": f"Name:\t{name}\nState:\tS (sleeping)\nPid:\t{task.pid}\nPPid:\t{task.parent}\n"
        f"Uid:\t{task.uid}\t{task.uid}\t{task.uid}\t{task.uid}\nVmRSS:\t  124548 kB\nThreads:\t20\n",
        "oom_score_adj": "0\n",
    }.get(what)  # fmt: skip


_FILES: dict[str, Callable[[Phone], str]] = {
    "cpuinfo": _cpuinfo,
    "mounts": lambda phone: MOUNTS,
    "loadavg": lambda phone: "0.10 0.08 0.05 1/400 20000\n",
    "meminfo": lambda phone: f"MemTotal:       {MEMORY} kB\nMemFree:        {FREE} kB\nMemAvailable:   {FREE} kB\n"
    "Buffers:               0 kB\nCached:           400000 kB\n"
    "SwapTotal:             0 kB\nSwapFree:              0 kB\n",
    "stat": _stat,
    "uptime": lambda phone: f"{uptime(phone):.2f} {uptime(phone) * CPUS * 0.99:.2f}\n",
    "version": lambda phone: f"Linux version {VERSION} (build-user@build-host) {BUILT}\n",
}  # fmt: skip
_PROCESS = re.compile(r"/proc/([0-9]+|self)")
_OF_PROCESS = ("cmdline", "comm", "oom_score_adj", "stat", "status")
_CPU_FOLDERS = [f"/sys/devices/system/cpu/cpu{number}" for number in range(CPUS)]
_CPU_FILES = {f"/sys/devices/system/cpu/{name}": f"0-{CPUS - 1}\n" for name in ("online", "possible", "present")}


def exists(phone: Phone, path: str) -> bool:
    """Returns whether a file belongs to the kernel."""
    folder, _, name = path.rpartition("/")
    return path in DEVICES or name in (names(phone, folder) or ()) or read(phone, path) is not None


def names(phone: Phone, folder: str) -> list[str] | None:
    """Returns the names in a folder of the kernel, or None if there is no such folder."""
    process = _PROCESS.fullmatch(folder)
    if process:
        known = process[1] == "self" or any(str(task.pid) == process[1] for task in state.processes(phone))
        return sorted(_OF_PROCESS) if known else None
    if folder in _CPU_FOLDERS:
        return []
    if folder == "/dev":
        return sorted(path.removeprefix("/dev/") for path in DEVICES)
    if folder == "/proc":
        return sorted([*(str(task.pid) for task in state.processes(phone)), *_FILES, "self"])
    if folder == "/sys/devices/system/cpu":
        return sorted(path.rpartition("/")[2] for path in (*_CPU_FOLDERS, *_CPU_FILES))
    return None
