"""`ip` and `ifconfig`: the phone's only network interface, which has an address while Wi-Fi is on."""

from __future__ import annotations

from coach_gym.envs.phone.phone import Phone
from coach_gym.envs.phone.shell.language.options import BadOption, options
from coach_gym.envs.phone.shell.language.process import Command, Process

NAME = "wlan0"
_HARDWARE, _ADDRESS, _BROADCAST = "02:15:b2:00:00:00", "10.0.2.16", "10.0.2.255"
_OBJECTS = {"addr": ("a", "address"), "link": ("l",), "route": ("r", "ro")}


def is_connected(phone: Phone) -> bool:
    """Returns whether Wi-Fi is on."""
    return phone.storage.settings.get(("global", "wifi_on"), "1") != "0"


def ifconfig(p: Process) -> int:
    """Prints the interface; with `-a` or its name also while it is down. Nothing about it can be set."""
    words = options(p.args, "a").words
    if words[:1] not in ([], [NAME]):
        return p.fail(f"ioctl 8913: No such device {words[0]}")
    if words[1:]:
        return p.fail(f"{' '.join(words[1:])}: Operation not permitted")
    if not p.args and not is_connected(p.phone):
        return 0
    p.print(f"{NAME}     Link encap:Ethernet  HWaddr {_HARDWARE}")
    if is_connected(p.phone):
        p.print(f"          inet addr:{_ADDRESS}  Bcast:{_BROADCAST}  Mask:255.255.255.0")
    p.print(f"          {'UP ' * is_connected(p.phone)}BROADCAST ", "")
    p.print(f"{'RUNNING ' * is_connected(p.phone)}MULTICAST  MTU:1500  Metric:1\n")
    return 0


def ip(p: Process) -> int:
    """`ip [-4] addr|link|route [show] [[dev] wlan0]`: prints the address, the interface or the route to its network."""
    try:
        given = options(p.args, "4")
    except BadOption:
        bad = next(word for word in p.args if word.startswith("-") and word != "-4")
        return p.complain(f'Option "{bad}" is unknown, try "ip -help".', 255)
    word, *rest = given.words or ["help"]
    what = next((what for what, short in _OBJECTS.items() if word in (what, *short)), "")
    if not what:
        return p.complain(f'Object "{word}" is unknown, try "ip help".')
    rest = rest[rest[:1] in (["show"], ["list"], ["ls"], ["s"]) :]
    name = "".join(rest[-1:])
    if rest not in ([], ["dev", name]) and (what == "route" or len(rest) > 1):
        return p.complain(f'Command "{rest[0]}" is unknown, try "ip {what} help".', 255)
    if name not in ("", NAME):
        return p.complain(f'Cannot find device "{name}"' if what == "route" else f'Device "{name}" does not exist.')
    {"addr": _address, "link": _link, "route": _route}[what](p, "4" in given)
    return 0


def _address(p: Process, only_address: bool) -> None:
    if is_connected(p.phone) or not only_address:
        _link(p, only_address)
    if is_connected(p.phone):
        p.print(f"    inet {_ADDRESS}/24 brd {_BROADCAST} scope global {NAME}")
        p.print("       valid_lft forever preferred_lft forever")


def _link(p: Process, only_address: bool) -> None:
    up, state = (",UP,LOWER_UP", "UP") if is_connected(p.phone) else ("", "DOWN")
    p.print(f"2: {NAME}: <BROADCAST,MULTICAST{up}> mtu 1500 qdisc mq state {state} group default qlen 1000")
    if not only_address:
        p.print(f"    link/ether {_HARDWARE} brd ff:ff:ff:ff:ff:ff")


def _route(p: Process, only_address: bool) -> None:
    if is_connected(p.phone):
        p.print(f"10.0.2.0/24 dev {NAME} proto kernel scope link src {_ADDRESS} ")


COMMANDS: dict[str, Command] = {"ifconfig": ifconfig, "ip": ip}
