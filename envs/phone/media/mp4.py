"""MP4 files (ISO/IEC 14496-12 and -14) with one track: silence, or a sequence of pictures.

The files that are written play in any player: the silence is AAC-LC, the pictures are JPEG (MPEG-4's visual object
type 0x6C), which Pillow decodes. From other files, length and titles are read, and pictures if they are JPEG.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

SILENT_FRAME = bytes((0, 0, 0, 7))
"""1024 samples of silence in AAC-LC, mono: one element without spectral data, and the end mark."""
RATE, FRAME = 8000, 1024  # of the silence: samples a second, samples a frame
AAC, JPEG = 0x40, 0x6C  # object types, ISO/IEC 14496-1
MILLIS = 1000  # the time unit of the movie header
MATRIX = struct.pack(">9I", 0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000)
TAGS = {"title": b"\xa9nam", "artist": b"\xa9ART"}
JPEG_START = b"\xff\xd8"


class _Track(NamedTuple):
    """What differs between sound and pictures."""

    handler: bytes
    header: bytes  # the media header box
    entry: bytes  # the sample description
    size: tuple[int, int]  # of the pictures
    scale: int  # time units a second
    times: list[tuple[int, int]]  # runs of samples: how many, and time units of each


# writing


def silence(seconds: float, **tags: str) -> bytes:
    """Returns a sound file (.m4a) of silence; `tags` are `title` and `artist`."""
    frames = max(1, round(seconds * RATE / FRAME))
    return _movie(_sound(frames), [SILENT_FRAME] * frames, seconds, b"M4A ", tags)


def slides(pictures: Sequence[bytes], seconds: float, size: tuple[int, int]) -> bytes:
    """Returns a film (.mp4) of JPEG pictures of a size (width, height), each shown for some seconds."""
    return film([(picture, seconds) for picture in pictures], size)


def film(pictures: Sequence[tuple[bytes, float]], size: tuple[int, int]) -> bytes:
    """Returns a film (.mp4) of JPEG pictures of a size (width, height), each with the seconds for which it is shown."""
    samples, seconds = zip(*pictures, strict=True)
    times = [(len(list(same)), millis) for millis, same in groupby(round(each * MILLIS) for each in seconds)]
    return _movie(_pictures(size, times), samples, sum(seconds), b"mp42", {})


def _sound(frames: int) -> _Track:
    config = bytes((0x15, 0x88))  # AAC-LC, 8000 Hz, one channel
    entry = bytes(6) + struct.pack(">H8xHHIHH", 1, 1, 16, 0, RATE, 0) + _esds(AAC, 0x15, config)
    return _Track(b"soun", _box(b"smhd", bytes(8)), _box(b"mp4a", entry), (0, 0), RATE, [(frames, FRAME)])


def _pictures(size: tuple[int, int], times: list[tuple[int, int]]) -> _Track:
    layout = struct.pack(">H16xHHII4xH32xHh", 1, *size, 0x480000, 0x480000, 1, 24, -1)
    entry = _box(b"mp4v", bytes(6) + layout + _esds(JPEG, 0x11))
    return _Track(b"vide", _box(b"vmhd", struct.pack(">I8x", 1)), entry, size, MILLIS, times)


def _movie(track: _Track, samples: Sequence[bytes], seconds: float, brand: bytes, tags: dict[str, str]) -> bytes:
    head = _box(b"ftyp", brand + bytes(4) + brand + b"isom")
    start = len(head) + 8
    length = round(seconds * MILLIS)
    movie = struct.pack(">12xIIIH10x", MILLIS, length, 0x10000, 0x100) + MATRIX + bytes(24) + struct.pack(">I", 2)
    place = struct.pack(">I8xI4xI8xHHH2x", 7, 1, length, 0, 0, 0 if track.size[0] else 0x100) + MATRIX
    place += struct.pack(">HHHH", track.size[0], 0, track.size[1], 0)
    parts = _box(b"mvhd", movie) + _box(b"trak", _box(b"tkhd", place) + _media(track, samples, start)) + _tags(tags)
    return head + _box(b"mdat", b"".join(samples)) + _box(b"moov", parts)


def _media(track: _Track, samples: Sequence[bytes], start: int) -> bytes:
    length = sum(count * delta for count, delta in track.times)
    header = struct.pack(">12xIIHH", track.scale, length, 0x55C4, 0)  # language: undetermined
    handler = struct.pack(">8x4s12x", track.handler) + b"\0"
    reference = _box(b"dinf", _box(b"dref", struct.pack(">II", 0, 1) + _box(b"url ", struct.pack(">I", 1))))
    table = _box(b"stbl", _table(track, samples, start))
    return _box(
        b"mdia", _box(b"mdhd", header) + _box(b"hdlr", handler) + _box(b"minf", track.header + reference + table)
    )


def _table(track: _Track, samples: Sequence[bytes], start: int) -> bytes:
    """Returns where the samples are and how long each lasts; all are in one chunk."""
    count, sizes = len(samples), [len(sample) for sample in samples]
    same = sizes[0] if len(set(sizes)) == 1 else 0
    return b"".join((
        _box(b"stsd", struct.pack(">II", 0, 1) + track.entry),
        _box(b"stts", struct.pack(">II", 0, len(track.times)) + b"".join(struct.pack(">II", *t) for t in track.times)),
        _box(b"stsc", struct.pack(">IIIII", 0, 1, 1, count, 1)),
        _box(b"stsz", struct.pack(">III", 0, same, count) + (b"" if same else struct.pack(f">{count}I", *sizes))),
        _box(b"stco", struct.pack(">III", 0, 1, start)),
    ))  # fmt: skip


def _esds(kind: int, stream: int, config: bytes = b"") -> bytes:
    """Returns how a sample is coded; `config` is for the decoder."""
    own = _descriptor(5, config) if config else b""
    decoder = _descriptor(4, struct.pack(">BB11x", kind, stream) + own)
    return _box(b"esds", bytes(4) + _descriptor(3, struct.pack(">HB", 1, 0) + decoder + _descriptor(6, b"\x02")))


def _descriptor(tag: int, content: bytes) -> bytes:
    return bytes((tag, len(content))) + content


def _tags(tags: dict[str, str]) -> bytes:
    if not tags:
        return b""
    items = b"".join(
        _box(TAGS[name], _box(b"data", struct.pack(">II", 1, 0) + text.encode())) for name, text in tags.items()
    )
    handler = _box(b"hdlr", struct.pack(">8x4s12x", b"mdir") + b"\0")
    return _box(b"udta", _box(b"meta", bytes(4) + handler + _box(b"ilst", items)))


def _box(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I4s", len(content) + 8, kind) + content


# reading: the bytes may be anything


def is_mp4(data: bytes) -> bool:
    """Returns whether a file begins like an MP4 file."""
    return data[4:8] == b"ftyp"


def duration(data: bytes) -> float | None:
    """Returns the length of a file in seconds, or None if it does not tell."""
    header = _find(data, b"moov", b"mvhd")
    if len(header) < 32:
        return None
    scale, length = struct.unpack_from(">IQ" if header[0] else ">II", header, 20 if header[0] else 12)
    return length / scale if scale else None


def tags(data: bytes) -> dict[str, str]:
    """Returns `title` and `artist`, as far as a file has them."""
    items = _find(data, b"moov", b"udta", b"meta")[4:]
    found = {name: _find(items, b"ilst", box, b"data")[8:] for name, box in TAGS.items()}
    return {name: text.decode("utf-8", "replace") for name, text in found.items() if text}


def slide_at(data: bytes, seconds: float) -> bytes | None:
    """Returns the JPEG picture that a film shows at a time, or None if its pictures are not JPEG."""
    try:
        return _slide(data, _find(data, b"moov", b"trak", b"mdia"), seconds)
    except struct.error:
        return None


def _slide(data: bytes, media: bytes, seconds: float) -> bytes | None:
    table = _find(media, b"minf", b"stbl")
    (scale,) = struct.unpack_from(">I", _find(media, b"mdhd"), 12)
    number = _sample_at(_find(table, b"stts"), seconds * scale)
    same, count = struct.unpack_from(">II", _find(table, b"stsz"), 4)
    number = min(number, count - 1)
    if number < 0:
        return None
    if same:
        before, size = same * number, same
    else:
        *sizes, size = struct.unpack_from(f">{number + 1}I", _find(table, b"stsz"), 12)
        before = sum(sizes)
    chunks, start = struct.unpack_from(">II", _find(table, b"stco"), 4)
    start += before
    return data[start : start + size] if chunks == 1 and data[start : start + 2] == JPEG_START else None


def _sample_at(times: bytes, time: float) -> int:
    """Returns the number of the sample shown at a time."""
    number = 0
    for offset in range(8, len(times) - 7, 8):
        count, delta = struct.unpack_from(">II", times, offset)
        if time < count * delta:
            return number + int(time // delta)
        number, time = number + count, time - count * delta
    return number - 1


def _find(data: bytes, *path: bytes) -> bytes:
    """Returns the content of the first box at a path of kinds; empty if there is none."""
    content = memoryview(data)  # without copying a film's samples
    for kind in path:
        content = next((inside for found, inside in _boxes(content) if found == kind), memoryview(b""))
    return bytes(content)


def _boxes(data: memoryview) -> Iterator[tuple[bytes, memoryview]]:
    offset = 0
    while offset + 8 <= len(data):
        size, kind = struct.unpack_from(">I4s", data, offset)
        head = 8
        if size == 1 and offset + 16 <= len(data):
            (size,), head = struct.unpack_from(">Q", data, offset + 8), 16
        size = size or len(data) - offset
        if size < head:
            return
        yield kind, data[offset + head : offset + size]
        offset += size
