"""The boxes that files of the MP4 family are made of. Source: ISO/IEC 14496-12, 4.2."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

_MOST_INDEX = 1 << 26
"""Bytes of an index that are read at most."""


def boxes(data: bytes, at: int, end: int) -> Iterator[tuple[bytes, tuple[int, int]]]:
    """Name and bounds of the content of each box from `at` to `end`; ends at the first that makes no sense."""
    while at + 8 <= end:
        size = int.from_bytes(data[at : at + 4], "big")
        if size < 8:
            return
        yield data[at + 4 : at + 8], (at + 8, min(at + size, end))
        at += size


def inside(data: bytes, at: int, end: int, names: tuple[bytes, ...]) -> Iterator[tuple[int, int]]:
    """Bounds of the contents of all boxes that lie inside of one another under the given names."""
    for name, (start, stop) in boxes(data, at, end):
        if name == names[0]:
            if len(names) == 1:
                yield start, stop
            else:
                yield from inside(data, start, stop, names[1:])


def movie_index(stream: BinaryIO, length: int) -> tuple[bytes | None, bool]:
    """The last of the outermost boxes named `moov`, with its head, and whether every outermost box is there whole.

    Source: ISO/IEC 14496-12, 4.2 and 8.
    """
    at, index, complete = 0, None, True
    while at + 8 <= length:
        stream.seek(at)
        head = stream.read(16)
        size = int.from_bytes(head[:4], "big")
        if size == 1:
            size = int.from_bytes(head[8:16], "big")
        elif size == 0:
            size = length - at
        if size < 8:
            break  # padding after the last box
        complete = complete and at + size <= length
        if head[4:8] == b"moov":
            stream.seek(at)
            index = stream.read(min(size, _MOST_INDEX))
        at += size
    return index, complete
