"""A fleet lends devices to environments, checks them, and restarts or replaces those that fail."""

from __future__ import annotations

import logging
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, cast

from coach_gym.actions import ActionError
from coach_gym.checks import require_not_negative, require_seconds, require_whole
from coach_gym.envs.devices.adb import Adb
from coach_gym.envs.devices.adb_device import AdbDevice
from coach_gym.envs.devices.device import Device
from coach_gym.envs.devices.locks import hold
from coach_gym.envs.errors import DeviceError

_LACKS = object()
_log = logging.getLogger(__name__)


class Member(Protocol):
    """A device that a fleet can start and stop."""

    name: str

    def start(self) -> None:
        """Makes the device ready, or raises."""

    def check(self) -> None:
        """Raises if the device is not in order."""

    def device(self) -> Device:
        """Connects to the started device."""

    def stop(self) -> None:
        """Stops the device, whatever its state. Stopping twice is allowed."""


class Attached:
    """A running phone or emulator, local or remote: the fleet connects to it but neither starts nor stops it.

    Args:
        serial: Serial number as `adb devices` shows it, or `host:port`.
        server_port: Port of an adb server for this device alone; by default adb's own server.
    """

    def __init__(self, serial: str, server_port: int | None = None) -> None:
        self.name = serial
        self.adb = Adb(serial, server_port)
        self._release: Callable[[], None] | None = None

    def start(self) -> None:
        """Takes the device's lock, which `stop` gives back, and waits for the device."""
        self._release = hold(self.name)
        self.adb.connect()

    def check(self) -> None:
        """Raises DeviceError unless adb can use the device."""
        if (state := self.adb.state()) != "device":
            raise DeviceError(f"{self.name} is {state}")

    def device(self) -> Device:
        """Connects to the device."""
        return AdbDevice(self.name, server_port=self.adb.server_port)

    def stop(self) -> None:
        """Gives the lock back; the device is not ours to stop."""
        if self._release is not None:
            self._release()


@dataclass(frozen=True)
class Fault:
    """A failure of a member.

    Attributes:
        seconds: When it happened, in seconds since the fleet was made.
        member: Name of the member.
        reason: The exception.
    """

    seconds: float
    member: str
    reason: str


class Fleet:
    """Lends its members to environments, one to each.

    Pass a fleet as `device=` to an environment. When the first environment asks, all members start, one after the
    other. A member that fails is stopped and restarted after a pause that doubles with every failure in a row;
    meanwhile its environment gets another member, if one is ready. Members beyond the number of environments are
    spares. All failures are logged.

    Args:
        members: Emulators or attached devices.
        boots: Number of members that may start at the same time.
        stagger: Seconds between two starts.
        patience: Seconds an environment waits for a device before its episode becomes a fault.
        first_delay: Seconds before the first retry of a start.
        longest_delay: Upper limit of the doubling delay, in seconds.
        check_every: Seconds between two checks of the devices that are not lent.

    Attributes:
        faults: All failures so far.
        starts: Number of starts so far.

    Raises:
        ValueError: There are no members, or a number is out of its range.
        TypeError: A number is none.

    Example:
        >>> fleet = Fleet(emulators("AndroidWorldAvd", 9, snapshot="coach_gym"))
        >>> envs = gym.make_vec("AndroidWorld-v0", 8, vectorization_mode="vector_entry_point", device=fleet)
        >>> ...
        >>> envs.close(), fleet.close()
    """

    def __init__(
        self,
        members: Sequence[Member],
        *,
        boots: int = 2,
        stagger: float = 5.0,
        patience: float = 540.0,
        first_delay: float = 2.0,
        longest_delay: float = 300.0,
        check_every: float = 30.0,
    ) -> None:
        if not members:
            raise ValueError("a fleet needs at least one member")
        require_whole(1, boots=boots)
        require_seconds(
            patience=patience, first_delay=first_delay, longest_delay=longest_delay, check_every=check_every
        )
        require_not_negative(stagger=stagger)
        self.stagger, self.patience, self.check_every = stagger, patience, check_every
        self.first_delay, self.longest_delay = first_delay, longest_delay
        self.faults: list[Fault] = []
        self.starts = 0
        self._members = list(members)
        self._states = {member.name: "not started" for member in members}
        self._failed_in_a_row = {member.name: 0 for member in members}
        self._ready: deque[Member] = deque()
        self._changed = threading.Condition()
        self._boots = threading.Semaphore(boots)
        self._next_start = 0.0
        self._made = time.monotonic()
        self._closing = threading.Event()
        self._threads: list[threading.Thread] = []

    def __deepcopy__(self, memo: dict[int, Any]) -> Fleet:
        """Returns the fleet itself, because Gymnasium copies arguments, and copies would share emulators."""
        return self

    def __call__(self) -> Device:
        """Lends a device, whose `close` returns it to the fleet.

        Raises:
            DeviceError: No device is ready within `patience` seconds, or the fleet is closed.
        """
        deadline = time.monotonic() + self.patience
        self._start_all()
        while True:
            member = self._take(deadline)
            since = time.monotonic()
            try:
                member.check()
                device = member.device()
            except Exception as error:
                self._recover(member, error)
                continue
            return cast(Device, Loan(device, partial(self._give_back, member, since)))

    def close(self) -> None:
        """Stops all members, even lent ones. Closing twice is allowed."""
        self._closing.set()
        with self._changed:
            self._changed.notify_all()
            self._ready.clear()
            threads = list(self._threads)
        for member in self._members:
            member.stop()
        for thread in threads:
            thread.join()

    @property
    def states(self) -> dict[str, str]:
        """What each member is doing, by name."""
        with self._changed:
            return dict(self._states)

    def _start_all(self) -> None:
        with self._changed:
            if self._closing.is_set():
                raise DeviceError("the fleet is closed")
            if self._threads:
                return
            self._spawn(self._watch)
            for member in self._members:
                self._spawn(self._bring_up, member, 0.0)

    def _take(self, deadline: float) -> Member:
        with self._changed:
            ready = self._changed.wait_for(
                lambda: self._ready or self._closing.is_set(), max(0.0, deadline - time.monotonic())
            )
            if self._closing.is_set():
                raise DeviceError("the fleet is closed")
            if not ready:
                doing = ", ".join(f"{name} {state}" for name, state in self._states.items())
                raise DeviceError(f"no device became ready within {self.patience:g} s: {doing}")
            member = self._ready.popleft()
            self._states[member.name] = "lent"
            return member

    def _give_back(self, member: Member, since: float, fault: Exception | None) -> None:
        if fault is None or time.monotonic() - since > self.longest_delay:  # it has worked: a new row begins
            self._failed_in_a_row[member.name] = 0
        if fault is not None:
            self._recover(member, fault)
        else:
            self._make_ready(member)

    def _make_ready(self, member: Member) -> None:
        with self._changed:
            self._states[member.name] = "ready"
            self._ready.append(member)
            self._changed.notify()

    def _recover(self, member: Member, error: Exception) -> None:
        """Records a failure and restarts the member in a thread of its own."""
        delay = self._count(member, error)
        with self._changed:
            if not self._closing.is_set():
                self._spawn(self._bring_up, member, delay)

    def _count(self, member: Member, error: Exception) -> float:
        """Records a failure and returns the seconds to wait before the next start."""
        reason = f"{type(error).__name__}: {str(error).partition(chr(10))[0][:300]}"
        with self._changed:
            self.faults.append(Fault(time.monotonic() - self._made, member.name, reason))
            in_a_row = self._failed_in_a_row[member.name] = self._failed_in_a_row[member.name] + 1
            delay = min(self.first_delay * 2 ** min(in_a_row - 1, 30), self.longest_delay)
            self._states[member.name] = f"failed ({reason[:80]})"
        if not self._closing.is_set():
            _log.warning("%s failed (%d in a row), restarting in %g s: %s", member.name, in_a_row, delay, reason)
        return delay

    def _bring_up(self, member: Member, delay: float) -> None:
        """Starts a member, repeatedly until it is ready."""
        while not self._closing.wait(delay):
            try:
                with self._boots:
                    self._await_turn()
                    self._start(member)
            except Exception as error:
                delay = self._count(member, error)
                continue
            if not self._closing.is_set():
                self._make_ready(member)
                return
        member.stop()  # once more: it may have started while the fleet was closing

    def _start(self, member: Member) -> None:
        with self._changed:
            self._states[member.name] = "starting"
            self.starts += 1
        member.stop()
        if not self._closing.is_set():
            member.start()

    def _await_turn(self) -> None:
        with self._changed:
            turn = max(self._next_start, time.monotonic())
            self._next_start = turn + self.stagger
        self._closing.wait(max(0.0, turn - time.monotonic()))

    def _watch(self) -> None:
        """Checks devices that are not lent, so that no spare is found dead when it is needed."""
        while not self._closing.wait(self.check_every):
            for _ in range(len(self._ready)):
                with suppress(DeviceError):
                    self._look_at(self._take(time.monotonic()))

    def _look_at(self, member: Member) -> None:
        try:
            member.check()
        except Exception as error:
            self._recover(member, error)
        else:
            self._make_ready(member)

    def _spawn(self, target: Callable[..., None], *args: Any) -> None:
        self._threads = [thread for thread in self._threads if thread.is_alive()]
        self._threads.append(threading.Thread(target=target, args=args, daemon=True))
        self._threads[-1].start()


class Loan:
    """A lent device: everything a `Device` has, passed through. It records a failure, and `close` returns it.

    Args:
        device: The device.
        give_back: Returns it to the fleet, with the first failure if there was one.
    """

    def __init__(self, device: Device, give_back: Callable[[Exception | None], None]) -> None:
        self.lent = device
        self._give_back = give_back
        self._fault: Exception | None = None
        self._closed = False

    def __getattr__(self, name: str) -> Any:
        with self._noting():
            value = getattr(self.lent, name, _LACKS)
        if value is _LACKS:
            raise AttributeError(f"{type(self.lent).__name__} has no attribute {name!r}")
        return self._watched(value) if callable(value) else value

    @contextmanager
    def database(self, path: str) -> Iterator[sqlite3.Connection]:
        """Opens an SQLite file. See `Device.database`."""
        with self._noting(), self.lent.database(path) as connection:
            yield connection

    def blame(self, error: Exception) -> None:
        """Records a failure that the device did not raise itself. See `LentDevice`."""
        self._fault = self._fault or error

    def close(self) -> None:
        """Returns the device to the fleet. Closing twice is allowed."""
        if self._closed:
            return
        self._closed = True
        try:
            with self._noting():
                self.lent.close()
        finally:
            self._give_back(self._fault)

    def _watched(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            with self._noting():
                return method(*args, **kwargs)

        return call

    @contextmanager
    def _noting(self) -> Iterator[None]:
        try:
            yield
        except ActionError:
            raise
        except Exception as error:
            self.blame(error)
            raise
