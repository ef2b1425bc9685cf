"""The machine and who works it: `id`, `uname`, `free`, …"""

from __future__ import annotations

from coach_gym.envs.phone.shell.commands import kernel
from coach_gym.envs.phone.shell.language.options import options
from coach_gym.envs.phone.shell.language.process import Command, Process

GROUPS = "1004(input),1007(log),1011(adb),1015(sdcard_rw),1028(sdcard_r),1078(ext_data_rw),3003(inet),3009(readproc)"


def whoami(p: Process) -> int:
    """Prints root."""
    options(p.args, "")
    p.print("root")
    return 0


def id_(p: Process) -> int:
    """Prints the ids of root."""
    given = options(p.args, "ugGnrZ")
    if {"u", "g", "G"} & set(given.flags):
        p.print("root" if "n" in given else "0")
    else:
        p.print(f"uid=0(root) gid=0(root) groups=0(root),{GROUPS} context=u:r:su:s0")
    return 0


def uname(p: Process) -> int:
    """Prints name, version and machine of the system."""
    given = options(p.args, "asnrvmo")
    values = {
        "s": "Linux", "n": "localhost", "r": kernel.VERSION,
        "v": kernel.BUILT, "m": "x86_64", "o": "Toybox",
    }  # fmt: skip
    flags = list(values) if "a" in given else [flag for flag in values if flag in given] or ["s"]
    p.print(" ".join(values[flag] for flag in flags))
    return 0


def app_process(p: Process) -> int:
    """Runs a Java class: the uiautomator2 server, which lives as long as its caller listens."""
    if any(word.startswith("com.wetest.uia2") for word in p.args):
        p.print("[server] INFO: [UiAutomator2Server] Starting Server")
        p.shell.endless = True
        return 0
    return p.complain("Error: Could not find or load main class", 1)


def no_op(p: Process) -> int:
    """Changes rules of a network that the phone does not have: `iptables`, `ip6tables`."""
    return 0


def nproc(p: Process) -> int:
    """Prints the number of processors."""
    options(p.args, "", long={"all": ""})
    p.print(str(kernel.CPUS))
    return 0


def free(p: Process) -> int:
    """Prints the memory in use: in bytes, in KiB (`-k`) or in MiB (`-m`)."""
    given = options(p.args, "bkmh")
    unit = 1 if "k" in given else 1024 if {"m", "h"} & set(given.flags) else 1 / 1024
    mark = "M" if "h" in given else ""
    total, left = kernel.MEMORY, kernel.FREE
    rows = {"Mem:": (total, total - left, left, 0, 0), "Swap:": (0, 0, 0)}
    p.print(f"{'':<8}" + "".join(f"{name:>16}" for name in ("total", "used", "free", "shared", "buffers")))
    for name, numbers in rows.items():
        p.print(f"{name:<8}" + "".join(f"{f'{int(number / unit)}{mark}':>16}" for number in numbers))
    return 0


def getenforce(p: Process) -> int:
    """Prints whether SELinux enforces its rules."""
    options(p.args, "")
    p.print("Permissive")
    return 0


def hostname(p: Process) -> int:
    """Prints the name of the machine; it cannot be set."""
    words = options(p.args, "fs").words
    if words:
        return p.fail(f"sethostname '{words[0]}': Operation not permitted")
    p.print("localhost")
    return 0


def mount(p: Process) -> int:
    """Prints the file systems; none can be mounted or remounted."""
    if p.args:
        return p.fail(f"'{p.args[-1]}': Operation not permitted")
    for line in kernel.MOUNTS.splitlines():
        device, place, kind, flags, *_ = line.split()
        p.print(f"{device} on {place} type {kind} ({flags})")
    return 0


def tty(p: Process) -> int:
    """Says that standard input is no terminal; `-s` only by its exit code."""
    if "s" not in options(p.args, "s"):
        p.print("not a tty")
    return 1


COMMANDS: dict[str, Command] = {
    "nproc": nproc, "free": free, "getenforce": getenforce, "hostname": hostname, "mount": mount, "tty": tty,
    "whoami": whoami, "id": id_, "uname": uname,
    "app_process": app_process, "app_process64": app_process, "iptables": no_op, "ip6tables": no_op,
}  # fmt: skip
