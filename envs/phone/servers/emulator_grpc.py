"""The emulator's gRPC services, as android_env and other clients of the Android emulator call them.

Methods that the embedded phone has no use for (sensors, sound, folds) answer UNIMPLEMENTED.
"""

from __future__ import annotations

import io
import threading
import time
from collections.abc import Iterator
from concurrent import futures
from typing import Any

import grpc
import numpy as np
from android_env.proto import emulator_controller_pb2 as pb
from android_env.proto import emulator_controller_pb2_grpc as services
from android_env.proto import snapshot_service_pb2 as snapshots_pb
from android_env.proto import snapshot_service_pb2_grpc as snapshot_services
from google.protobuf.empty_pb2 import Empty
from PIL import Image

from coach_gym.envs.phone.input.keys import CODES, LINUX_CODES, MODIFIERS, press
from coach_gym.envs.phone.servers.hardware import Hardware
from coach_gym.loopback import HOST

VERSION = "33.1.24 (embedded phone)"
FRAME_SECONDS = 0.05  # seconds between looks at the screen
MOST_STREAMS = 4
_WORKERS = 8
_XKB = 8  # by which X's codes are larger than Linux's
_KEYS = {  # w3c's names
    "Enter": "ENTER", "Backspace": "DEL", "Delete": "FORWARD_DEL", "Escape": "ESCAPE", "Tab": "TAB",
    "Home": "MOVE_HOME", "End": "MOVE_END", "ArrowLeft": "DPAD_LEFT", "ArrowRight": "DPAD_RIGHT", "ArrowUp": "DPAD_UP",
    "ArrowDown": "DPAD_DOWN", "GoBack": "BACK", "GoHome": "HOME", "AppSwitch": "APP_SWITCH", "Power": "POWER",
}  # fmt: skip
_CALLS = pb.PhoneCall.Operation


class EmulatorGrpc:
    """Serves one emulator on a port of this machine.

    Args:
        hardware: The emulator.
        port: The port; 0 takes a free one.

    Raises:
        RuntimeError: The port is taken.
    """

    def __init__(self, hardware: Hardware, port: int = 0) -> None:
        options = [("grpc.max_send_message_length", -1), ("grpc.so_reuseport", 0)]
        pool = futures.ThreadPoolExecutor(_WORKERS)
        self._server = grpc.server(pool, interceptors=[_Implemented()], options=options)
        services.add_EmulatorControllerServicer_to_server(Controller(hardware), self._server)
        snapshot_services.add_SnapshotServiceServicer_to_server(Snapshots(hardware), self._server)
        # local credentials admit clients that use them, like android_env, and those that use none
        self.port: int = self._server.add_secure_port(f"{HOST}:{port}", grpc.local_server_credentials())

    def start(self) -> None:
        """Begins to answer calls."""
        self._server.start()

    def stop(self) -> None:
        """Ends the service and the calls in progress."""
        self._server.stop(grace=None).wait()


class Controller(services.EmulatorControllerServicer):
    """The methods of `EmulatorController`, under the protocol's names.

    Args:
        hardware: The emulator.
    """

    def __init__(self, hardware: Hardware) -> None:
        self._hardware = hardware
        self._started = time.monotonic()
        self._meta = 0  # modifier keys that are held
        self._button = False  # of the mouse
        self._state = pb.VmRunState.RUNNING
        self._streams = threading.Semaphore(MOST_STREAMS)

    def getStatus(self, request: Empty, context: grpc.ServicerContext) -> pb.EmulatorStatus:
        """Returns the version of the emulator, and how long it has been running."""
        uptime = round(1000 * (time.monotonic() - self._started))
        return pb.EmulatorStatus(version=VERSION, uptime=uptime, booted=True)

    # screen

    def getScreenshot(self, request: pb.ImageFormat, context: grpc.ServicerContext) -> pb.Image:
        """Returns the screen as an image of the requested format and size."""
        return _image(self._pixels(), request, 0)

    def streamScreenshot(self, request: pb.ImageFormat, context: grpc.ServicerContext) -> Iterator[pb.Image]:
        """Yields the screen now, and whenever it has changed."""
        if not self._streams.acquire(blocking=False):
            context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, f"there are {MOST_STREAMS} streams already")
        try:
            shown, number = None, 0
            while context.is_active():
                pixels = self._pixels()
                if shown is None or not np.array_equal(pixels, shown):
                    yield _image(pixels, request, number)
                    shown, number = pixels, number + 1
                time.sleep(FRAME_SECONDS)
        finally:
            self._streams.release()

    def _pixels(self) -> np.ndarray:
        with self._hardware.lock:
            return self._hardware.phone.screenshot()

    def getDisplayConfigurations(self, request: Empty, context: grpc.ServicerContext) -> pb.DisplayConfigurations:
        """Returns the size and density of the only display."""
        phone = self._hardware.phone
        display = pb.DisplayConfiguration(width=phone.width, height=phone.height, dpi=round(160 * phone.density))
        return pb.DisplayConfigurations(displays=[display])

    # input

    def sendTouch(self, request: pb.TouchEvent, context: grpc.ServicerContext) -> Empty:
        """Moves fingers by the touch points of the request; pressure 0 lifts one."""
        at = time.monotonic()
        with self._hardware.lock:
            for touch in request.touches:
                if touch.pressure > 0:
                    self._hardware.fingers.down(touch.identifier, touch.x, touch.y, at)
                else:
                    self._hardware.fingers.up(touch.identifier, at)
        return Empty()

    def sendMouse(self, request: pb.MouseEvent, context: grpc.ServicerContext) -> Empty:
        """Moves a finger that touches while the first button is pressed."""
        with self._hardware.lock:
            if request.buttons & 1:
                self._hardware.fingers.down(0, request.x, request.y, time.monotonic())
            elif self._button:
                self._hardware.fingers.up(0, time.monotonic())
            self._button = bool(request.buttons & 1)
        return Empty()

    def sendKey(self, request: pb.KeyboardEvent, context: grpc.ServicerContext) -> Empty:
        """Types a text, or presses a key by its w3c name or by its code on Linux or X."""
        with self._hardware.lock:
            phone = self._hardware.phone
            if request.text:
                phone.type(request.text)
            elif request.eventType == pb.KeyboardEvent.keyup:
                self._meta &= ~MODIFIERS.get(_android(request), 0)
            elif len(request.key) == 1:
                phone.type(request.key)
            elif code := _android(request):
                self._press(code, held=request.eventType == pb.KeyboardEvent.keydown)
        return Empty()

    def _press(self, code: int, held: bool) -> None:
        if code in MODIFIERS:
            self._meta |= MODIFIERS[code] if held else 0
        else:
            press(self._hardware.phone, code, self._meta)

    def setClipboard(self, request: pb.ClipData, context: grpc.ServicerContext) -> Empty:
        """Replaces the clipboard."""
        with self._hardware.lock:
            self._hardware.phone.clipboard = request.text
        return Empty()

    def getClipboard(self, request: Empty, context: grpc.ServicerContext) -> pb.ClipData:
        """Returns the clipboard."""
        with self._hardware.lock:
            return pb.ClipData(text=self._hardware.phone.clipboard)

    # telephone, battery, place

    def sendSms(self, request: pb.SmsMessage, context: grpc.ServicerContext) -> pb.PhoneResponse:
        """Delivers a text message."""
        try:
            self._hardware.receive_message(request.srcAddress, request.text)
        except ValueError:
            return pb.PhoneResponse(response=pb.PhoneResponse.BadNumber)
        return pb.PhoneResponse()

    def sendPhone(self, request: pb.PhoneCall, context: grpc.ServicerContext) -> pb.PhoneResponse:
        """Makes, answers, holds or ends a call."""
        hardware = self._hardware
        acts = {
            _CALLS.InitCall: hardware.call, _CALLS.AcceptCall: hardware.answer, _CALLS.TakeCallOffHold: hardware.answer,
            _CALLS.PlaceCallOnHold: hardware.hold,
        }  # fmt: skip
        try:
            acts.get(request.operation, hardware.hang_up)(request.number)
        except ValueError:
            return pb.PhoneResponse(response=pb.PhoneResponse.BadNumber)
        except KeyError:
            return pb.PhoneResponse(response=pb.PhoneResponse.InvalidAction)
        return pb.PhoneResponse()

    def getBattery(self, request: Empty, context: grpc.ServicerContext) -> pb.BatteryState:
        """Returns the state of the battery."""
        charging = self._hardware.charging
        return pb.BatteryState(
            hasBattery=True, isPresent=True, chargeLevel=self._hardware.battery,
            charger=pb.BatteryState.AC if charging else pb.BatteryState.NONE,
            status=pb.BatteryState.CHARGING if charging else pb.BatteryState.DISCHARGING,
        )  # fmt: skip

    def setBattery(self, request: pb.BatteryState, context: grpc.ServicerContext) -> Empty:
        """Sets the charge of the battery, and whether it is charging."""
        self._hardware.battery = request.chargeLevel
        self._hardware.charging = request.charger != pb.BatteryState.NONE
        return Empty()

    def getGps(self, request: Empty, context: grpc.ServicerContext) -> pb.GpsState:
        """Returns the position."""
        longitude, latitude, altitude = self._hardware.position
        return pb.GpsState(longitude=longitude, latitude=latitude, altitude=altitude)

    def setGps(self, request: pb.GpsState, context: grpc.ServicerContext) -> Empty:
        """Sets the position."""
        self._hardware.position = request.longitude, request.latitude, request.altitude
        return Empty()

    # the machine

    def getVmState(self, request: Empty, context: grpc.ServicerContext) -> pb.VmRunState:
        """Returns whether the emulator is running or paused."""
        return pb.VmRunState(state=self._state)

    def setVmState(self, request: pb.VmRunState, context: grpc.ServicerContext) -> Empty:
        """Reboots, pauses or stops the emulator."""
        if request.state in (pb.VmRunState.SHUTDOWN, pb.VmRunState.TERMINATE):
            self._hardware.killed.set()
        elif request.state == pb.VmRunState.RESET:
            self._hardware.reboot()
        elif request.state in (pb.VmRunState.RUNNING, pb.VmRunState.PAUSED):
            self._state = request.state
        return Empty()


class Snapshots(snapshot_services.SnapshotServiceServicer):
    """The methods of `SnapshotService`, on the emulator's snapshots.

    Args:
        hardware: The emulator.
    """

    def __init__(self, hardware: Hardware) -> None:
        self._hardware = hardware

    def ListSnapshots(self, request: Any, context: grpc.ServicerContext) -> snapshots_pb.SnapshotList:
        """Returns the names of all snapshots."""
        names = list(self._hardware.snapshots)
        return snapshots_pb.SnapshotList(snapshots=[snapshots_pb.SnapshotDetails(snapshot_id=name) for name in names])

    def SaveSnapshot(self, request: Any, context: grpc.ServicerContext) -> snapshots_pb.SnapshotPackage:
        """Saves the phone under a name."""
        return self._try(self._hardware.save, request)

    def LoadSnapshot(self, request: Any, context: grpc.ServicerContext) -> snapshots_pb.SnapshotPackage:
        """Brings the phone back to a snapshot."""
        return self._try(self._hardware.load, request)

    def DeleteSnapshot(self, request: Any, context: grpc.ServicerContext) -> snapshots_pb.SnapshotPackage:
        """Deletes a snapshot."""
        return self._try(self._hardware.delete, request)

    def _try(self, act: Any, request: Any) -> snapshots_pb.SnapshotPackage:
        name, error = request.snapshot_id, b""
        try:
            act(name)
        except KeyError:
            error = f"there is no snapshot {name!r}".encode()
        except ValueError as wrong:
            error = str(wrong).encode()
        return snapshots_pb.SnapshotPackage(snapshot_id=name, success=not error, err=error)


class _Implemented(grpc.ServerInterceptor):
    """Lets only methods through that the classes above have: grpc logs a traceback for each call of any other."""

    def intercept_service(self, continuation: Any, handler_call_details: Any) -> Any:
        name = handler_call_details.method.rpartition("/")[2]
        known = name in vars(Controller) or name in vars(Snapshots)
        return continuation(handler_call_details) if known else None


def _android(event: pb.KeyboardEvent) -> int:
    """Returns Android's code of the key of an event; 0 if there is none."""
    if event.key:
        return CODES.get(_KEYS.get(event.key, ""), 0)
    linux = {pb.KeyboardEvent.Evdev: event.keyCode, pb.KeyboardEvent.XKB: event.keyCode - _XKB}
    return LINUX_CODES.get(linux.get(event.codeType, 0), 0)


def _image(pixels: np.ndarray, wanted: pb.ImageFormat, number: int) -> pb.Image:
    """Returns a frame in the requested format, no larger than the requested size, in the screen's proportions."""
    height, width = pixels.shape[:2]
    scale = min((wanted.width or width) / width, (wanted.height or height) / height)
    picture = Image.fromarray(pixels)
    if scale < 1:
        picture = picture.resize((max(1, int(width * scale)), max(1, int(height * scale))))
    form = pb.ImageFormat(format=wanted.format, width=picture.width, height=picture.height)
    now = time.time_ns() // 1000
    return pb.Image(format=form, image=_encoded(picture, wanted.format), seq=number, timestampUs=now)


def _encoded(picture: Image.Image, form: int) -> bytes:
    if form == pb.ImageFormat.RGBA8888:
        return picture.convert("RGBA").tobytes()
    if form == pb.ImageFormat.RGB888:
        return picture.tobytes()
    data = io.BytesIO()
    picture.save(data, "PNG", compress_level=1)
    return data.getvalue()
