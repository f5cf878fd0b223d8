"""The boxes that files of the MP4 family are made of. Source: ISO/IEC 14496-12, 4.2."""

from __future__ import annotations

from collections.abc import Iterator


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
