"""What Android's services keep in memory, besides files, databases and settings."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

FIRST_PID = 1407
"""The process id of the first app that starts; each later start has the next one but six."""

_SHELL_PID = 1999  # of whoever calls `log`
LONGEST_LOG = 1000  # messages
LONGEST_MESSAGE = 4068  # characters of its text and tag
PRIORITIES = "VDIWEFS"
"""Of messages in the log, from verbose to fatal, and silent."""

CallState = Literal["incoming", "active", "held"]


@dataclass(frozen=True)
class Line:
    """A message in Android's log.

    Attributes:
        at: When it was written.
        priority: `V` to `F`.
        tag: Its tag.
        text: Its text, of one line or more.
        buffer: The buffer that it is in.
        package: The app that has written it; empty for the shell.
        pid: The process that has.
    """

    at: datetime
    priority: str
    tag: str
    text: str
    buffer: str
    package: str
    pid: int


@dataclass
class Services:
    """The state of Android's services.

    Attributes:
        packages: The packages installed since the phone was made, with their versions as "CODE NAME".
        roles: The labels of the apps that fill roles, by role, such as "browser".
        properties: The system properties that were set, by name.
        flags: The flags of Android's parts that were set, by "namespace/name", as `device_config` has them.
        operations: The modes that `appops` has set, by package and operation.
        calls: What the calls of the moment do, by number.
        battery: What `dumpsys battery set` reports in place of the battery's own values, by name.
        log: What was written to Android's log, the oldest message first.
        pids: The process ids of the apps that were started, by package. One that has ended keeps its last.
        zone: The time zone of the phone's clock, whatever the property `persist.sys.timezone` is set to.
        drawn: How many times random bytes were read.
        held: How the phone is held: the quarter turns, 0 to 3, that keep its picture upright.
        screen_on: Whether the screen is lit. A screen that is off is black, and feels neither touches nor most keys.
    """

    packages: dict[str, str] = field(default_factory=dict)
    roles: dict[str, str] = field(default_factory=dict)
    properties: dict[str, str] = field(default_factory=dict)
    flags: dict[str, str] = field(default_factory=dict)
    operations: dict[tuple[str, str], str] = field(default_factory=dict)
    calls: dict[str, CallState] = field(default_factory=dict)
    battery: dict[str, str] = field(default_factory=dict)
    log: list[Line] = field(default_factory=list)
    pids: dict[str, int] = field(default_factory=dict)
    zone: str = "UTC"
    drawn: int = 0
    held: int = 0
    screen_on: bool = True

    def write_log(
        self, at: datetime, priority: str, tag: str, text: str, buffer: str = "main", package: str = ""
    ) -> None:
        """Adds a message to a buffer of the log, which forgets the oldest."""
        pid = self.pids.get(package, 0) if package else _SHELL_PID
        self.log.append(Line(at, priority, tag, text[: max(0, LONGEST_MESSAGE - len(tag))], buffer, package, pid))
        del self.log[:-LONGEST_LOG]

    def new_pid(self) -> int:
        """Returns the id of a process that starts."""
        return max(self.pids.values(), default=FIRST_PID - 7) + 7
