"""The emulator's gRPC services, called with android_env's own protocol files."""

import io
import socket
import threading
import time

import grpc
import numpy as np
import pytest
from android_env.proto import emulator_controller_pb2 as pb
from android_env.proto import emulator_controller_pb2_grpc as services
from android_env.proto import snapshot_service_pb2 as snapshots_pb
from android_env.proto import snapshot_service_pb2_grpc as snapshot_services
from google.protobuf.empty_pb2 import Empty
from PIL import Image

from coach_gym.envs.phone.input import fingers
from coach_gym.envs.phone.servers.emulator_grpc import EmulatorGrpc
from coach_gym.envs.phone.servers.hardware import Hardware
from coach_gym.envs.profiles import world_phone
from tests.envs.hands import Hands

CONTACTS = "com.google.android.contacts"


@pytest.fixture
def served():
    hardware = Hardware(world_phone(270, 600), threading.RLock())
    server = EmulatorGrpc(hardware)
    server.start()
    with grpc.insecure_channel(f"127.0.0.1:{server.port}") as channel:
        hardware.port, hardware.channel = server.port, channel
        yield hardware
    server.stop()


@pytest.fixture
def stub(served):
    return services.EmulatorControllerStub(served.channel)


def hands_of(phone):
    return Hands(None, phone=phone)


def touch(stub, x, y, pressure=1, finger=0):
    stub.sendTouch(pb.TouchEvent(touches=[pb.Touch(x=x, y=y, pressure=pressure, identifier=finger)]))


def test_it_has_booted(stub):
    status = stub.getStatus(Empty())
    assert status.booted and status.uptime >= 0


def test_local_credentials_are_taken_too(served):
    channel = grpc.secure_channel(f"localhost:{served.port}", grpc.local_channel_credentials())
    with channel:
        assert services.EmulatorControllerStub(channel).getStatus(Empty(), timeout=10).booted


@pytest.mark.parametrize(("form", "channels"), [(pb.ImageFormat.RGBA8888, 4), (pb.ImageFormat.RGB888, 3)])
def test_pixels_are_those_of_the_screen(served, stub, form, channels):
    image = stub.getScreenshot(pb.ImageFormat(format=form))
    assert (image.format.width, image.format.height, image.format.format) == (270, 600, form)
    pixels = np.frombuffer(image.image, np.uint8).reshape(600, 270, channels)
    assert np.array_equal(pixels[..., :3], served.phone.screenshot())
    assert channels == 3 or (pixels[..., 3] == 255).all()


def test_png_is_the_default(served, stub):
    picture = Image.open(io.BytesIO(stub.getScreenshot(pb.ImageFormat()).image))
    assert picture.format == "PNG" and np.array_equal(np.asarray(picture), served.phone.screenshot())


@pytest.mark.parametrize(
    ("wanted", "given"),
    [((135, 0), (135, 300)), ((0, 300), (135, 300)), ((200, 200), (90, 200)), ((9999, 0), (270, 600))],
)
def test_a_smaller_picture_keeps_the_proportions(stub, wanted, given):
    image = stub.getScreenshot(pb.ImageFormat(format=pb.ImageFormat.RGB888, width=wanted[0], height=wanted[1]))
    assert (image.format.width, image.format.height) == given
    assert len(image.image) == given[0] * given[1] * 3


def test_the_stream_shows_every_change(served, stub):
    stream = stub.streamScreenshot(pb.ImageFormat(format=pb.ImageFormat.RGB888))
    first = next(stream)
    with served.lock:
        served.phone.launch(CONTACTS)
    second = next(stream)
    stream.cancel()
    assert (first.seq, second.seq) == (0, 1) and first.image != second.image


def test_there_are_not_too_many_streams(stub):
    streams = [stub.streamScreenshot(pb.ImageFormat(width=9)) for _ in range(4)]
    for stream in streams:
        next(stream)
    with pytest.raises(grpc.RpcError) as error:
        next(stub.streamScreenshot(pb.ImageFormat(width=9)))
    assert error.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
    for stream in streams:
        stream.cancel()
    assert stub.getStatus(Empty(), timeout=10).booted
    time.sleep(0.5)
    next(stub.streamScreenshot(pb.ImageFormat(width=9), timeout=10))


@pytest.fixture
def patient(monkeypatch):
    """No machine is so busy that a tap becomes a long press."""
    monkeypatch.setattr(fingers, "LONG_PRESS", 30.0)


def test_a_touch_is_a_tap(served, stub, patient):
    x, y = hands_of(served.phone).find("Contacts").center
    touch(stub, x, y)
    touch(stub, 0, 0, pressure=0)
    assert served.phone.foreground == CONTACTS


def test_a_touch_that_moves_is_a_swipe(served, stub):
    for y in (550, 450, 350, 250):
        touch(stub, 135, y)
    touch(stub, 135, 250, pressure=0)
    assert hands_of(served.phone).shows("Search apps") and len(served.phone.stack) == 2


def test_a_touch_that_stays_is_a_long_press(served, stub):
    hands = hands_of(served.phone)
    hands.tap("Contacts", "Create contact", "First name")
    served.phone.type("Ada")
    x, y = hands.find("First name").center
    touch(stub, x, y)
    time.sleep(0.6)
    touch(stub, x, y, pressure=0)
    assert hands.shows("Paste")


def test_the_mouse_touches_while_its_button_is_pressed(served, stub, patient):
    x, y = hands_of(served.phone).find("Contacts").center
    for buttons in (0, 1, 0):
        stub.sendMouse(pb.MouseEvent(x=x, y=y, buttons=buttons))
    assert served.phone.foreground == CONTACTS


def test_keys_by_code_by_name_and_as_text(served, stub):
    hands = hands_of(served.phone)
    hands.tap("Contacts", "Create contact", "First name")

    def code(number, kind=pb.KeyboardEvent.keypress, of=pb.KeyboardEvent.Evdev):
        stub.sendKey(pb.KeyboardEvent(codeType=of, eventType=kind, keyCode=number))

    code(42, pb.KeyboardEvent.keydown)  # shift
    code(30)
    code(42, pb.KeyboardEvent.keyup)
    code(30)
    code(30 + 8, of=pb.KeyboardEvent.XKB)
    stub.sendKey(pb.KeyboardEvent(key="é"))
    stub.sendKey(pb.KeyboardEvent(text="中 😀!"))
    stub.sendKey(pb.KeyboardEvent(key="Backspace"))
    assert served.phone.focus.text == "Aaaé中 😀"
    stub.sendKey(pb.KeyboardEvent(key="GoHome"))
    assert served.phone.foreground == served.phone.launcher.package
    code(10**9)
    code(-5)
    stub.sendKey(pb.KeyboardEvent(key="Hyper"))


def test_the_clipboard_goes_both_ways(served, stub):
    stub.setClipboard(pb.ClipData(text="naïve 😀"))
    assert served.phone.clipboard == "naïve 😀" == stub.getClipboard(Empty()).text


def test_messages_calls_battery_and_place(served, stub):
    assert stub.sendSms(pb.SmsMessage(srcAddress="123", text="hi")).response == pb.PhoneResponse.OK
    assert served.phone.notifications[0].text == "hi"
    assert stub.sendSms(pb.SmsMessage(srcAddress="x y", text="hi")).response == pb.PhoneResponse.BadNumber
    call = pb.PhoneCall(operation=pb.PhoneCall.InitCall, number="5551234")
    assert stub.sendPhone(call).response == pb.PhoneResponse.OK and served.calls == {"5551234": "incoming"}
    hang_up = pb.PhoneCall(operation=pb.PhoneCall.DisconnectCall, number="5551234")
    assert stub.sendPhone(hang_up).response == pb.PhoneResponse.OK
    assert stub.sendPhone(hang_up).response == pb.PhoneResponse.InvalidAction
    stub.setBattery(pb.BatteryState(chargeLevel=9))
    assert stub.getBattery(Empty()).chargeLevel == 9
    stub.setGps(pb.GpsState(latitude=47.5, longitude=8.5))
    assert stub.getGps(Empty()).latitude == 47.5


def test_the_machine_restarts_and_ends(served, stub):
    served.phone.launch(CONTACTS)
    stub.setVmState(pb.VmRunState(state=pb.VmRunState.RESET))
    assert served.phone.foreground == served.phone.launcher.package
    assert list(served.phone.stacks) == [served.phone.launcher.package]
    stub.setVmState(pb.VmRunState(state=pb.VmRunState.SHUTDOWN))
    assert served.killed.is_set() and stub.getVmState(Empty()).state == pb.VmRunState.RUNNING


def test_snapshots_are_saved_and_loaded(served):
    stub = snapshot_services.SnapshotServiceStub(served.channel)
    everything = snapshots_pb.SnapshotFilter(statusFilter=snapshots_pb.SnapshotFilter.All)

    def named(name):
        return snapshots_pb.SnapshotPackage(snapshot_id=name)

    assert stub.SaveSnapshot(named("clean")).success
    served.phone.launch(CONTACTS)
    assert [s.snapshot_id for s in stub.ListSnapshots(everything).snapshots] == ["clean"]
    assert stub.LoadSnapshot(named("clean")).success
    assert served.phone.foreground == served.phone.launcher.package
    assert stub.DeleteSnapshot(named("clean")).success
    missing = stub.LoadSnapshot(named("clean"))
    assert not missing.success and b"clean" in missing.err
    assert not stub.SaveSnapshot(named("a/b")).success


def test_what_the_phone_lacks_is_unimplemented(stub):
    with pytest.raises(grpc.RpcError) as error:
        stub.getSensor(pb.SensorValue())
    assert error.value.code() == grpc.StatusCode.UNIMPLEMENTED


def test_two_emulators_never_share_a_port(served):
    with pytest.raises(RuntimeError):
        EmulatorGrpc(served, served.port)


@pytest.mark.parametrize(
    "sent", [b"", b"GET / HTTP/1.1\r\n\r\n", b"\x00" * 5000, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\xff\xff"]
)
def test_bytes_that_are_no_grpc_do_no_harm(served, stub, sent):
    with socket.create_connection(("127.0.0.1", served.port)) as connection:
        connection.sendall(sent)
    call = served.channel.unary_unary("/android.emulation.control.EmulatorController/sendTouch")
    with pytest.raises(grpc.RpcError):
        call(b"\xff\xff\xff\xff", timeout=10)
    assert stub.getStatus(Empty(), timeout=10).booted


def test_only_this_machine_is_served(served):
    addresses = [a for a in socket.gethostbyname_ex(socket.gethostname())[2] if not a.startswith("127.")]
    for address in addresses:
        with pytest.raises(OSError):
            socket.create_connection((address, served.port), timeout=2)


def test_the_display_is_described(served, stub):
    (display,) = stub.getDisplayConfigurations(Empty()).displays
    assert (display.width, display.height, display.dpi) == (270, 600, 120)


def test_wrong_numbers_are_bad_numbers(stub):
    assert stub.sendSms(pb.SmsMessage(srcAddress="x!", text="hi")).response == pb.PhoneResponse.BadNumber
    call = pb.PhoneCall(operation=pb.PhoneCall.InitCall, number="x!")
    assert stub.sendPhone(call).response == pb.PhoneResponse.BadNumber


def test_a_paused_machine_says_so(stub):
    for state in (pb.VmRunState.PAUSED, pb.VmRunState.RUNNING):
        stub.setVmState(pb.VmRunState(state=state))
        assert stub.getVmState(Empty()).state == state
