"""Thousands of wrong messages to the emulator's gRPC port: bytes, protobuf that is none, fields of any value."""

import random
from typing import Any

import grpc
from android_env.proto import emulator_controller_pb2 as pb
from android_env.proto import emulator_controller_pb2_grpc as services
from android_env.proto import snapshot_service_pb2 as snapshots_pb
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.empty_pb2 import Empty
from google.protobuf.message import Message

from coach_gym.envs.phone.servers.server import PhoneServer
from coach_gym.envs.profiles import world_phone
from tests.reliability.fuzz import NUMBER, SEED, attack, complaints, in_use, mutated, settled

SIZE = (90, 200)
MEGABYTES = 40.0  # of growth that the interpreter may keep for itself
WORKERS = 8  # threads of the server, which come when there is work for them and stay
CONTROLLER, SNAPSHOTS = "/android.emulation.control.EmulatorController/", "/android.emulation.control.SnapshotService/"
MESSAGES: dict[str, Message] = {
    f"{CONTROLLER}getStatus": Empty(), f"{CONTROLLER}getScreenshot": pb.ImageFormat(),
    f"{CONTROLLER}getDisplayConfigurations": Empty(), f"{CONTROLLER}sendTouch": pb.TouchEvent(),
    f"{CONTROLLER}sendMouse": pb.MouseEvent(), f"{CONTROLLER}sendKey": pb.KeyboardEvent(),
    f"{CONTROLLER}setClipboard": pb.ClipData(), f"{CONTROLLER}getClipboard": Empty(),
    f"{CONTROLLER}sendSms": pb.SmsMessage(), f"{CONTROLLER}sendPhone": pb.PhoneCall(),
    f"{CONTROLLER}getBattery": Empty(), f"{CONTROLLER}setBattery": pb.BatteryState(), f"{CONTROLLER}getGps": Empty(),
    f"{CONTROLLER}setGps": pb.GpsState(), f"{CONTROLLER}getVmState": Empty(), f"{CONTROLLER}noSuchMethod": Empty(),
    f"{CONTROLLER}setPhysicalModel": pb.PhysicalModelValue(), f"{SNAPSHOTS}ListSnapshots": Empty(),
    f"{SNAPSHOTS}SaveSnapshot": snapshots_pb.SnapshotPackage(),
    f"{SNAPSHOTS}LoadSnapshot": snapshots_pb.SnapshotPackage(),
    f"{SNAPSHOTS}DeleteSnapshot": snapshots_pb.SnapshotPackage(),
}  # fmt: skip
TEXTS = ["", "a", "5551234", "default_boot", "\0", "💥" * 300, "(a+)+b", "../../etc", "'; ls", "x" * 16_000, "\u202e\n"]
NUMBERS = [0, 1, -1, 7, 2**31 - 1, -(2**31), 4096]
REALS = [0.0, -0.0, 1e308, float("nan"), float("inf"), -float("inf"), 52.5]
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(3) + b"\x04" + bytes(5)


def value(field: FieldDescriptor, rng: random.Random) -> Any:
    """Returns a value of a field's type."""
    match field.cpp_type:
        case field.CPPTYPE_STRING:
            text = rng.choice(TEXTS)
            return text.encode() if field.type == field.TYPE_BYTES else text
        case field.CPPTYPE_BOOL:
            return rng.random() < 0.5
        case field.CPPTYPE_FLOAT | field.CPPTYPE_DOUBLE:
            return rng.choice(REALS)
        case field.CPPTYPE_UINT32 | field.CPPTYPE_UINT64:
            return abs(rng.choice(NUMBERS))
        case _:
            return rng.choice(NUMBERS)


def filled(message: Message, rng: random.Random) -> Message:
    """Sets some fields of a message to values that nobody expects."""
    made = type(message)()
    for field in made.DESCRIPTOR.fields:
        if rng.random() < 0.4:
            continue
        if field.cpp_type == field.CPPTYPE_MESSAGE:
            if field.is_repeated:
                getattr(made, field.name).extend(filled(field.message_type._concrete_class(), rng) for _ in range(3))
            elif rng.random() < 0.5:
                getattr(made, field.name).CopyFrom(filled(getattr(made, field.name), rng))
            continue
        if field.is_repeated:
            getattr(made, field.name).append(value(field, rng))
        else:
            setattr(made, field.name, value(field, rng))
    return made


def call(channel: grpc.Channel, rng: random.Random) -> grpc.StatusCode:
    """Makes one call, and returns how it ended."""
    method = rng.choice(list(MESSAGES))
    data = filled(MESSAGES[method], rng).SerializeToString()
    data = mutated(data, rng) if rng.random() < 0.3 else data
    try:
        channel.unary_unary(method)(data, timeout=rng.choice((0.001, 20.0, 20.0, 20.0)))
    except grpc.RpcError as error:
        return error.code()
    return grpc.StatusCode.OK


def test_calls_with_wrong_fields_harm_nobody():
    rng, ended = random.Random(7 + 1000 * SEED), {}
    with complaints() as found, PhoneServer(world_phone(*SIZE)) as server:
        with grpc.secure_channel(f"127.0.0.1:{server.grpc_port}", grpc.local_channel_credentials()) as channel:
            for number in range(NUMBER):
                code = call(channel, rng)
                ended[code] = ended.get(code, 0) + 1
                if number == NUMBER // 2:
                    threads, megabytes = settled(0, 20.0), in_use()
            assert services.EmulatorControllerStub(channel).getStatus(Empty(), timeout=60).booted
            assert in_use() - megabytes < MEGABYTES and settled(threads, 20.0) <= threads + WORKERS
    ours = [each for each in found if "Exception deserializing message" not in each]  # so grpc says what is no protobuf
    assert not ours, ours[0]
    allowed = {"OK", "UNIMPLEMENTED", "DEADLINE_EXCEEDED", "INTERNAL"}  # INTERNAL: it is no protobuf
    assert ended[grpc.StatusCode.OK] > NUMBER / 2 and {code.name for code in ended} <= allowed, ended


def test_wrong_bytes_harm_nobody(capfd):
    def talk(rng: random.Random) -> bytes:
        frames = [bytes(rng.randrange(256) for _ in range(rng.randrange(60))) for _ in range(3)]
        return mutated(PREFACE + b"".join(frames), rng) if rng.random() < 0.8 else b"".join(frames)

    with complaints() as found, PhoneServer(world_phone(*SIZE)) as server:
        threads, megabytes = attack(server.grpc_port, talk, NUMBER, 8)
        with grpc.secure_channel(f"127.0.0.1:{server.grpc_port}", grpc.local_channel_credentials()) as channel:
            assert services.EmulatorControllerStub(channel).getStatus(Empty(), timeout=60).booted
    assert not found, found[0]
    assert "Traceback" not in capfd.readouterr().err
    assert threads <= WORKERS and megabytes < MEGABYTES, (threads, megabytes)
