"""What the index of an MP4 file (its box `moov`) says of the video: coding, size, mirroring, and where one may seek.

decord counts frames from the key frame before the wanted one, in the order in which they are shown. That is right only
where a key frame parts the clip in two: all that is stored before it is shown before it, all that is stored after it is
shown after it, and it can be decoded without what stands before. Frames that are shown before their key frame (open
groups of pictures) and key frames that only begin a gradual refresh are common; both make decord give other frames.

Source: ISO/IEC 14496-12, 8; ISO/IEC 14496-15 for H.264 and HEVC.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from glyphrank.media.boxes import boxes, inside

_MOST_SAMPLES = 1 << 22
"""Frames of a track beyond which nothing is proven; 38 hours at 30 a second."""
_ENTRY = 86
"""Bytes of a video's entry in `stsd` before the boxes in it."""
_NALS = {b"avcC": (4, 0, 0x1F, (1, 5), (5,)), b"hvcC": (21, 1, 0x3F, (0, 31), tuple(range(16, 22)))}
"""For H.264 and HEVC: where their settings hold the bytes of a unit's length less 1; how far and by which mask the
unit's type stands in its first byte; the types that are pictures, from and to; those that begin anew."""

_UNORDERED = ("vp08", "vp09", "jpeg", "mjpa", "mjpb", "png ", "raw ", "apcn", "apch", "apcs", "apco", "ap4h", "ap4x")
"""Codings whose frames are shown in the order in which they are stored, whatever the tables say."""
_ALONE = {b"avcC": (5,), b"hvcC": (18, 20)}
"""The types of units after which nothing can come that is shown before: enough where the tables hold no such times."""

_Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Mp4Track:
    """A video track.

    Attributes:
        codec: the coding, as `avc1`.
        width, height: pixels of a frame as coded.
        frames: how many the index lists; 0 in fragmented files.
        rate: bytes a second, 0 when unknown.
        flip: axis of the frame (0 rows, 1 columns) along which it is yet to be mirrored after it has been turned by
            the quarter turns that its matrix declares; None when the matrix mirrors nothing.
        keys: place in the file and size of every key frame, as far as it is proven by the times of all frames that
            each parts the clip in two; None where it is not.
        units: which units the key frames must hold, of `_NALS`; None for codings whose key frames need no look.
        length_size: bytes of a unit's length.
        timed: whether the tables tell when frames are shown apart from when they are decoded. Where they do not, the
            order of showing is unknown unless the coding has one order only, or its key frames say so.
    """

    codec: str
    width: int
    height: int
    frames: int = 0
    rate: float = 0.0
    flip: int | None = None
    keys: tuple[tuple[int, int], ...] | None = field(default=None, repr=False)
    units: bytes | None = None
    length_size: int = 4
    timed: bool = False

    def is_seekable(self, stream: BinaryIO) -> bool:
        """Whether it is proven that one may seek to every key frame of the file that `stream` reads."""
        if self.keys is None:
            return False
        if self.units is None:
            return self.timed or self.codec in _UNORDERED
        return all(_begins_anew(stream, key, self) for key in self.keys)


def played_track(index: bytes) -> Mp4Track | None:
    """The video track that FFmpeg, and so decord, plays: with several frames, then with most bytes a second; or None.

    Args:
        index: the box `moov`, with its head.
    """
    best: Mp4Track | None = None
    fragmented = next(inside(index, 8, len(index), (b"mvex",)), None) is not None
    movie = next((_matrix(index, at, 36, 48) for at, _ in inside(index, 8, len(index), (b"mvhd",))), _UPRIGHT)
    for bounds in inside(index, 8, len(index), (b"trak",)):
        track = _track(index, bounds, movie, fragmented)
        if track is not None and (best is None or _rank(track) > _rank(best)):
            best = track
    return best


def _rank(track: Mp4Track) -> tuple[int, float]:
    return min(track.frames, 5), track.rate


def _track(index: bytes, bounds: tuple[int, int], movie: _Numbers, fragmented: bool) -> Mp4Track | None:
    handlers = [index[at + 8 : at + 12] for at, _ in inside(index, *bounds, (b"mdia", b"hdlr"))]
    table = next(inside(index, *bounds, (b"mdia", b"minf", b"stbl")), None)
    tables = _tables(index, table) if table else {}
    if b"vide" not in handlers or b"stsd" not in tables:
        return None
    entries = tables[b"stsd"]
    width, height = (int.from_bytes(entries[at : at + 2], "big") for at in (40, 42))
    own = next((_matrix(index, at, 40, 52) for at, _ in inside(index, *bounds, (b"tkhd",))), _UPRIGHT)
    units, length_size = _units(entries)
    track = Mp4Track(
        codec=entries[12:16].decode("latin-1"),
        width=width,
        height=height,
        flip=_flip(own @ movie),
        units=units,
        length_size=length_size,
    )
    try:
        return _with_frames(track, tables, _per_second(index, bounds), fragmented)
    except (ValueError, LookupError):  # tables that are cut off or contradict one another prove nothing
        return track


def _tables(index: bytes, bounds: tuple[int, int]) -> dict[bytes, bytes]:
    """Content of each table by its name; of groups by their name and kind."""
    found = {}
    for name, (at, end) in boxes(index, *bounds):
        found[name + index[at + 4 : at + 8] if name == b"sbgp" else name] = index[at:end]
    return found


def _with_frames(track: Mp4Track, tables: dict[bytes, bytes], scale: int, fragmented: bool) -> Mp4Track:
    sizes = _sizes(tables[b"stsz"])
    decoded = _runs(tables[b"stts"], len(sizes))
    rate = float(sizes.sum()) * scale / max(1, int(decoded.sum()))
    shown, timed = np.cumsum(decoded) - decoded, False
    if b"ctts" in tables:
        delays = _runs(tables[b"ctts"], len(sizes))
        shown, timed = shown + delays, bool(delays.any())
    keys = np.arange(len(sizes))
    if b"stss" in tables:
        keys = _integers(tables[b"stss"], 8, int.from_bytes(tables[b"stss"][4:8], "big")) - 1
    # Other lists of key frames (`stps`, groups named `rap `) hold those that do not begin anew.
    proven = not fragmented and not {b"stps", b"sbgprap "} & set(tables) and tables[b"stsd"][4:8] == b"\0\0\0\1"
    places = None
    if proven and len(keys) and keys.min() >= 0 and _parts(shown, keys):
        offsets = _offsets(tables, sizes)
        places = tuple((int(offsets[key]), int(sizes[key])) for key in keys)
    return replace(track, frames=len(sizes), rate=rate, keys=places, timed=timed)


def _parts(shown: _Numbers, keys: _Numbers) -> bool:
    """Whether each key frame is shown after all that is stored before it, and before all that is stored after it.

    >>> _parts(np.array([0, 3, 1, 2, 6, 4, 5]), np.array([0, 4]))
    False
    >>> _parts(np.array([0, 3, 1, 2, 4, 6, 5]), np.array([0, 4]))
    True
    """
    latest = np.maximum.accumulate(shown)
    earliest = np.minimum.accumulate(shown[::-1])[::-1]
    inner = keys[(keys > 0) & (keys < len(shown))]
    behind = keys[keys + 1 < len(shown)]
    return bool((latest[inner - 1] < shown[inner]).all() and (earliest[behind + 1] > shown[behind]).all())


def _begins_anew(stream: BinaryIO, key: tuple[int, int], track: Mp4Track) -> bool:
    """Whether the first picture unit of a key frame is of a type that can be decoded without what stands before."""
    _, shift, mask, (first, last), anew = _NALS[track.units or b""]
    anew = anew if track.timed else _ALONE[track.units or b""]
    at, end = key[0], key[0] + key[1]
    while at < end:
        stream.seek(at)
        head = stream.read(track.length_size + 1)
        if len(head) <= track.length_size:
            return False
        kind = head[-1] >> shift & mask
        if first <= kind <= last:
            return kind in anew
        at += track.length_size + int.from_bytes(head[:-1], "big")
    return False


def _units(entries: bytes) -> tuple[bytes | None, int]:
    for name, (at, _) in boxes(entries, 8 + _ENTRY, len(entries)):
        if name in _NALS:
            place = at + _NALS[name][0]
            return name, (int.from_bytes(entries[place : place + 1], "big") & 3) + 1
    return None, 4


def _sizes(table: bytes) -> _Numbers:
    size, count = int.from_bytes(table[4:8], "big"), int.from_bytes(table[8:12], "big")
    if not 0 < count <= _MOST_SAMPLES:
        raise ValueError("no frames, or too many")
    return np.full(count, size, dtype=np.int64) if size else _integers(table, 12, count)


def _runs(table: bytes, count: int) -> _Numbers:
    """The values of a table of pairs, how often and what, each as often as it says: `count` values."""
    pairs = _integers(table, 8, 2 * int.from_bytes(table[4:8], "big")).reshape(-1, 2)
    often = pairs[:, 0]
    if (often < 0).any() or often.sum() != count:
        raise ValueError("the table is not for that many frames")
    return np.repeat(pairs[:, 1], often)


def _offsets(tables: dict[bytes, bytes], sizes: _Numbers) -> _Numbers:
    """Where in the file each frame begins: chunks hold several, one behind the other."""
    name = b"stco" if b"stco" in tables else b"co64"
    kind = ">u4" if name == b"stco" else ">i8"
    chunks = np.frombuffer(tables[name], kind, int.from_bytes(tables[name][4:8], "big"), 8).astype(np.int64)
    runs = _integers(tables[b"stsc"], 8, 3 * int.from_bytes(tables[b"stsc"][4:8], "big")).reshape(-1, 3)
    often = np.diff(np.append(runs[:, 0], len(chunks) + 1))
    if (often < 0).any() or (often * runs[:, 1]).sum() != len(sizes):
        raise ValueError("the chunks do not hold all frames")
    held = np.repeat(runs[:, 1], often)
    starts = np.cumsum(sizes) - sizes
    first = np.cumsum(held) - held
    found: _Numbers = np.repeat(chunks - starts[np.minimum(first, len(sizes) - 1)], held) + starts
    return found


def _integers(table: bytes, at: int, count: int) -> _Numbers:
    return np.frombuffer(table, ">i4", count, at).astype(np.int64)


def _per_second(index: bytes, bounds: tuple[int, int]) -> int:
    for at, _ in inside(index, *bounds, (b"mdia", b"mdhd")):
        start = at + (20 if index[at : at + 1] == b"\1" else 12)
        return int.from_bytes(index[start : start + 4], "big")
    return 0


_UPRIGHT = np.eye(2, dtype=np.int64)


def _matrix(index: bytes, at: int, short: int, long: int) -> _Numbers:
    """The part of a header's matrix that turns and mirrors, of 16.16 numbers; upright when it is cut off."""
    start = at + (long if index[at : at + 1] == b"\1" else short)
    if len(index) < start + 36:
        return _UPRIGHT
    numbers: _Numbers = _integers(index, start, 9).reshape(3, 3)[:2, :2]
    return numbers


def _flip(matrix: _Numbers) -> int | None:
    (a, b), (c, d) = matrix.astype(float)
    if a * d - b * c >= 0:
        return None
    return 1 if round(math.degrees(math.atan2(b, a))) % 180 == 90 else 0
