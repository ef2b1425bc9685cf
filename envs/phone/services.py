"""What Android's services keep in memory, besides files, databases and settings."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

CallState = Literal["incoming", "active", "held"]


@dataclass
class Services:
    """The state of Android's services.

    Attributes:
        packages: The packages installed since the phone was made, with their versions as "CODE NAME".
        roles: The labels of the apps that fill roles, by role, such as "browser".
        properties: The system properties that were set, by name.
        flags: The flags of Android's parts that were set, by "namespace/name", as `device_config` has them.
        calls: What the calls of the moment do, by number.
        screen_on: Whether the screen is lit. Clients of the phone's servers can put it out.
    """

    packages: dict[str, str] = field(default_factory=dict)
    roles: dict[str, str] = field(default_factory=dict)
    properties: dict[str, str] = field(default_factory=dict)
    flags: dict[str, str] = field(default_factory=dict)
    calls: dict[str, CallState] = field(default_factory=dict)
    screen_on: bool = True
