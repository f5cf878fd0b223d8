"""What the header of a clip declares, read without decoding: kind, coding, size, and whether all of it is there."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from glyphrank.media.boxes import movie_index
from glyphrank.media.matroska import read_matroska
from glyphrank.media.mp4_index import played_track

_MOST_TRACKS = 1 << 20
"""Bytes of the beginning of a Matroska file that are read at most."""
_PICTURES = (b"avif", b"avis", b"heic", b"heix", b"heim", b"heis", b"hevc", b"mif1", b"msf1")
"""Brands of the MP4 family that hold pictures."""
_MP4_BOXES = (b"ftyp", b"moov", b"mdat", b"free", b"skip", b"wide", b"pnot", b"styp")
_UNORDERED = ("V_VP8", "V_VP9", "V_MJPEG")
"""Codings of Matroska whose frames are shown in the order in which they are stored, and whose key frames begin anew."""
_STARTS = (
    (b"FLV", "flv"),
    (b"\x00\x00\x01\xba", "mpeg"),
    (b"\x00\x00\x01\xb3", "mpeg"),
    (b"OggS", "ogg"),
    (b"\x30\x26\xb2\x75\x8e\x66\xcf\x11", "asf"),
    (b"DKIF", "ivf"),
    (b"YUV4MPEG2", "y4m"),
    (b"\x06\x0e\x2b\x34", "mxf"),
    (b"ID3", "audio"),
    (b"fLaC", "audio"),
    (b"\xff\xf1", "audio"),
    (b"\xff\xfb", "audio"),
)


@dataclass(frozen=True)
class Container:
    """What a clip declares.

    Attributes:
        kind: `mp4`, `matroska`, `avi` (these are looked into), `audio` or another.
        codec: the coding of its video by the container's own name (`avc1`, `av01`, `V_VP9`); None when there is no
            video, or when the kind is not looked into.
        width, height: pixels of a frame as coded, 0 when unknown.
        complete: False when the file ends before the container says.
        seekable: whether it is proven that decord finds any frame from the key frame before it.
        flip: axis of a frame (0 rows, 1 columns) along which it is yet to be mirrored after its quarter turns; None
            when nothing declares a mirroring.
    """

    kind: str
    codec: str | None = None
    width: int = 0
    height: int = 0
    complete: bool = True
    seekable: bool = False
    flip: int | None = None


def clip_kind(head: bytes) -> str | None:
    """The kind of a clip or sound by its first 400 bytes; None for anything else."""
    if head[4:8] in _MP4_BOXES:
        return None if head[4:8] == b"ftyp" and head[8:12] in _PICTURES else "mp4"
    if head[:4] == b"\x1a\x45\xdf\xa3":
        return "matroska"
    if head[:4] == b"RIFF":
        return {b"AVI ": "avi", b"WAVE": "audio"}.get(head[8:12])
    for step, start in ((188, 0), (192, 4)):
        if len(head) > start + step and all(byte == 0x47 for byte in head[start::step]):
            return "ts"
    return next((kind for start, kind in _STARTS if head.startswith(start)), None)


def declared(path: Path, kind: str) -> Container:
    """What a clip of a kind declares. A header that makes no sense declares nothing."""
    length = path.stat().st_size
    with path.open("rb") as stream:
        match kind:
            case "mp4":
                return _mp4(stream, length)
            case "matroska":
                found = read_matroska(stream.read(_MOST_TRACKS), length)
                seekable = found.complete and found.codec in _UNORDERED
                return Container(kind, found.codec, found.width, found.height, found.complete, seekable)
            case "avi":
                return _avi(stream.read(4096), length)
    return Container(kind)


def _mp4(stream: BinaryIO, length: int) -> Container:
    index, complete = movie_index(stream, length)
    if index is None:
        return Container("mp4", complete=False)
    track = played_track(index)
    if track is None:
        return Container("mp4", complete=complete)
    seekable = complete and track.is_seekable(stream)
    return Container("mp4", track.codec, track.width, track.height, complete, seekable, track.flip)


def _avi(head: bytes, length: int) -> Container:
    """Source: Microsoft's AVI RIFF file reference: `avih` gives the size, the first video `strh` the coding."""
    complete = 8 + int.from_bytes(head[4:8], "little") <= length
    width = height = 0
    if head[24:28] == b"avih":
        width, height = (int.from_bytes(head[at : at + 4], "little") for at in (64, 68))
    at = head.find(b"vids")
    codec = head[at + 4 : at + 8].decode("latin-1") if at > 0 else None
    return Container("avi", codec, width, height, complete)
