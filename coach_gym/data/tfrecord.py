"""Reads and writes TFRecord files of `tf.train.Example` messages without TensorFlow.

A record is its length (8 bytes, little endian), a checksum of these, the message, and a checksum of the message.
Checksums are masked CRC-32C.
"""

import gzip
import struct
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import google_crc32c
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import DecodeError

from coach_gym.files import becoming

Values = list[Any]
"""The values of a feature: `bytes`, `int` or `float`."""

_GZIP = b"\x1f\x8b"
_MOST = 1 << 31
"""No record is longer: it would not be a valid message."""


class CorruptFile(ValueError):
    """A file ends early or has other bytes than were written."""


def read_examples(path: Path) -> Iterator[Mapping[str, Values]]:
    """Yields the features of every example in a file, by name.

    Args:
        path: A TFRecord file, as it is or compressed by gzip.

    Raises:
        CorruptFile: A checksum is wrong, or the file ends within a record.
    """
    for number, record in enumerate(read_records(path)):
        try:
            example = _EXAMPLE.FromString(record)
        except DecodeError as error:
            raise CorruptFile(f"record {number} of {path} is no tf.train.Example: {error}") from error
        yield {feature.key: _values(feature.value) for feature in example.features.feature}


def read_records(path: Path) -> Iterator[bytes]:
    """Yields the records of a file. See `read_examples`."""
    with path.open("rb") as raw:
        packed = raw.read(2) == _GZIP
        raw.seek(0)
        file: BinaryIO = gzip.open(raw) if packed else raw  # type: ignore[assignment]
        number = 0
        try:
            while head := file.read(12):
                yield _record(file, head)
                number += 1
        except (CorruptFile, EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise CorruptFile(f"{path} is damaged in record {number}: {error}; download it again") from error


def _record(file: BinaryIO, head: bytes) -> bytes:
    if len(head) < 12:
        raise CorruptFile("it ends in a record's length")
    (length,) = struct.unpack("<Q", head[:8])
    _check(head[:8], head[8:], "length")
    if length > _MOST:
        raise CorruptFile(f"a record of {length} bytes is too long")
    body = file.read(length + 4)
    if len(body) < length + 4:
        raise CorruptFile(f"it ends after {len(body)} of {length + 4} bytes")
    _check(body[:-4], body[-4:], "content")
    return body[:-4]


def _check(data: bytes, stored: bytes, what: str) -> None:
    if masked_crc(data) != struct.unpack("<I", stored)[0]:
        raise CorruptFile(f"the checksum of its {what} is wrong")


def write_examples(path: Path, examples: Iterable[Mapping[str, Values]]) -> int:
    """Writes examples to a file, and returns their number.

    Args:
        path: The file.
        examples: Features by name; the values of one are all `bytes`, all `int` or all `float`.
    """
    written = 0
    with becoming(path) as partial, partial.open("wb") as file:
        for features in examples:
            message = _EXAMPLE()
            for name, values in features.items():
                kind = {bytes: "bytes_list", int: "int64_list", float: "float_list"}[type(values[0])] if values else ""
                entry = message.features.feature.add(key=name)
                if kind:
                    getattr(entry.value, kind).value.extend(values)
            body = message.SerializeToString()
            length = struct.pack("<Q", len(body))
            for data in (length, body):
                file.write(data + struct.pack("<I", masked_crc(data)))
            written += 1
    return written


def masked_crc(data: bytes) -> int:
    """Returns the checksum that TFRecord files hold."""
    crc = google_crc32c.value(data)
    return (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF


def _values(feature: Any) -> Values:
    kind = feature.WhichOneof("kind")
    return [] if kind is None else list(getattr(feature, kind).value)


def example_class() -> Any:
    """Returns the class of `tf.train.Example` messages.

    The schema is declared here, in a pool of its own, because TensorFlow's would clash with an installed TensorFlow. On
    the wire a map is a list of entries, so it is declared as one.
    """
    field = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name="example.proto", package="tf.train", syntax="proto3")

    def message(name: str, *fields: tuple[str, int, str], one_of: str = "", repeated: bool = False) -> None:
        declared = file.message_type.add(name=name)
        if one_of:
            declared.oneof_decl.add(name=one_of)
        for label, kind, type_name in fields:
            added = declared.field.add(
                name=label, number=len(declared.field) + 1, type=kind, type_name=type_name or None,
                label=field.LABEL_REPEATED if repeated else field.LABEL_OPTIONAL,
            )  # fmt: skip
            if one_of:
                added.oneof_index = 0

    message("BytesList", ("value", field.TYPE_BYTES, ""), repeated=True)
    message("FloatList", ("value", field.TYPE_FLOAT, ""), repeated=True)
    message("Int64List", ("value", field.TYPE_INT64, ""), repeated=True)
    message(
        "Feature", ("bytes_list", field.TYPE_MESSAGE, ".tf.train.BytesList"),
        ("float_list", field.TYPE_MESSAGE, ".tf.train.FloatList"),
        ("int64_list", field.TYPE_MESSAGE, ".tf.train.Int64List"), one_of="kind",
    )  # fmt: skip
    message("Entry", ("key", field.TYPE_STRING, ""), ("value", field.TYPE_MESSAGE, ".tf.train.Feature"))
    message("Features", ("feature", field.TYPE_MESSAGE, ".tf.train.Entry"), repeated=True)
    message("Example", ("features", field.TYPE_MESSAGE, ".tf.train.Features"))
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("tf.train.Example"))


_EXAMPLE = example_class()
