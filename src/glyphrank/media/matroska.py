"""What the header of a Matroska or WebM file declares."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

_SEGMENT, _TRACKS, _CLUSTER = 0x18538067, 0x1654AE6B, 0x1F43B675
_ENTRY, _TYPE, _CODEC, _VIDEO, _WIDTH, _HEIGHT = 0xAE, 0x83, 0x86, 0xE0, 0xB0, 0xBA
_IS_VIDEO = 1


@dataclass(frozen=True)
class Declared:
    """As `containers.Container`, for the first video track."""

    codec: str | None
    width: int
    height: int
    complete: bool


@dataclass(frozen=True)
class _Element:
    """An element's number and the bounds of its content; `open` when its length is not given, as in a live stream."""

    number: int
    start: int
    end: int
    open: bool = False


def read_matroska(data: bytes, length: int) -> Declared:
    """Reads the beginning of a file of `length` bytes. Source: RFC 9559, RFC 8794.

    The tracks are looked for before the first cluster, where players need them.
    """
    segment = next((element for element in _elements(data, 0, length) if element.number == _SEGMENT), None)
    if segment is None:
        return Declared(None, 0, 0, False)
    complete = segment.open or segment.end <= length
    for element in _elements(data, segment.start, min(segment.end, len(data))):
        if element.number == _CLUSTER:
            break
        if element.number == _TRACKS:
            found = _video(data, element)
            return Declared(*found, complete) if found else Declared(None, 0, 0, complete)
    return Declared(None, 0, 0, complete)


def _video(data: bytes, tracks: _Element) -> tuple[str, int, int] | None:
    for entry in _elements(data, tracks.start, tracks.end):
        if entry.number != _ENTRY:
            continue
        fields = {field.number: field for field in _elements(data, entry.start, entry.end)}
        if _TYPE not in fields or _CODEC not in fields or _number(data, fields[_TYPE]) != _IS_VIDEO:
            continue
        codec = data[fields[_CODEC].start : fields[_CODEC].end].decode("latin-1").rstrip("\0")
        video = fields.get(_VIDEO)
        sizes = {size.number: _number(data, size) for size in _elements(data, video.start, video.end)} if video else {}
        return codec, sizes.get(_WIDTH, 0), sizes.get(_HEIGHT, 0)
    return None


def _number(data: bytes, element: _Element) -> int:
    return int.from_bytes(data[element.start : element.end], "big")


def _elements(data: bytes, at: int, end: int) -> Iterator[_Element]:
    while at < min(end, len(data)):
        number, at, _ = _variable(data, at, keep_marker=True)
        size, at, unknown = _variable(data, at, keep_marker=False)
        if number == 0:
            return
        yield _Element(number, at, end if unknown else at + size, unknown)
        at = end if unknown else at + size


def _variable(data: bytes, at: int, keep_marker: bool) -> tuple[int, int, bool]:
    """A number of variable length, where it ends, and whether all its bits are set; 0 where there is none."""
    if at >= len(data) or data[at] == 0:
        return 0, len(data), False
    width = 9 - data[at].bit_length()
    value = int.from_bytes(data[at : at + width], "big")
    mask = (1 << 7 * width) - 1
    return (value if keep_marker else value & mask), at + width, value & mask == mask
