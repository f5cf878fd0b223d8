"""Damage that FFmpeg repairs without an error, found by what its decoders say of it.

FFmpeg fills what it cannot decode of a frame with grey or with pieces of other frames, and gives the frame as if it
were good. Only its messages tell. They go to the process's standard error, so that is what is read here.
"""

from __future__ import annotations

import os
import re
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import BinaryIO

_LIBRARY = re.compile(rb"\[[\w, -]+ @ 0x[0-9a-f]+\] |\[\d\d:\d\d:\d\d\] /|    Last message repeated ")
"""How a line of FFmpeg or decord begins."""
_DAMAGE = re.compile(
    r"\[\w+ @ 0x[0-9a-f]+\] (?P<cause>.*?(?:"
    r"error while decoding|concealing|corrupted macroblock|unavailable for requested intra"  # H.264
    r"|invalid nal unit size|error splitting the input|cabac_max_bin|outside the valid range"  # HEVC too
    r"|damaged|error at mb|invalid cbp|skipped mb in i-frame|invalid mb type"  # MPEG-1, -2 and -4, H.263, ProRes
    r"|error dc|error count|error y="  # MJPEG
    r"|invalid plane data|coefficient index overflow|unpack_block|inflate returned|eob marker is absent"
    r").*)",
    re.IGNORECASE,
)
"""Lines that no undamaged clip brings about. Others are left out on purpose: `Missing reference picture`, `mmco: unref
short failure`, `number of reference frames ... exceeds max (probably corrupt input)` come where a clip was cut between
key frames; `overread`, `ignoring overflow`, `slice end not reached` where an encoder did not keep to the rules."""
_PIECE = 1 << 20
"""Bytes of messages that are read at a time."""
_ONE = threading.RLock()


@contextmanager
def heard(set_level: Callable[[int], None], loud: int, quiet: int) -> Iterator[Callable[[], str | None]]:
    """Has the decoders' messages collected in place of standard error, and gives a function that says what is damaged.

    The function gives the first message that means damage, without the decoder's name; None when there is none. It may
    be called as soon as the frames are there. What others write to standard error in the meantime is written there
    afterwards. One at a time: standard error is the whole process's.

    Args:
        set_level: sets how much is said: `loud` within, `quiet` afterwards.

    Not all damage is found: codings that spend no bit on checks (VP8, VP9, lossless ones) decode nearly anything, and
    so does H.264, now and then, when few bytes are changed. What stands just behind the last frame taken may be found
    or not, as decord's thread runs ahead: only damage of the frames taken, and of those they need, is found always.
    """
    with _ONE, _collected() as kept:
        set_level(loud)
        try:
            yield lambda: _damage(kept)
        finally:
            set_level(quiet)


@contextmanager
def _collected() -> Iterator[BinaryIO]:
    """Standard error turned into a file, then back, with the lines that are not the libraries'."""
    with _nameless() as kept:
        try:
            before = os.dup(2)
        except OSError:  # it is closed
            before = None
        os.dup2(kept.fileno(), 2)
        try:
            yield kept
        finally:
            if before is None:
                os.close(2)
            else:
                os.dup2(before, 2)
                os.close(before)
                _pass_on(kept)


def _nameless() -> BinaryIO:
    """A file in memory where the system has them: the folder for temporary ones may be full, or not be there."""
    if hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create("messages"), "w+b", buffering=0)
    return tempfile.TemporaryFile(buffering=0)


def _lines(kept: BinaryIO) -> Iterator[bytes]:
    """What was written, line by line; the place of writing, which standard error shares, is not moved."""
    at, rest = 0, b""
    while piece := _piece(kept, at):
        at += len(piece)
        *whole, rest = (rest + piece).split(b"\n")
        yield from whole
    if rest:
        yield rest


def _piece(kept: BinaryIO, at: int) -> bytes:
    if hasattr(os, "pread"):
        return os.pread(kept.fileno(), _PIECE, at)
    kept.seek(at)
    piece = kept.read(_PIECE)
    kept.seek(0, os.SEEK_END)
    return piece


def _damage(kept: BinaryIO) -> str | None:
    found = (_DAMAGE.search(line.decode("utf-8", "replace")) for line in _lines(kept))
    return next((match["cause"] for match in found if match), None)


def _pass_on(kept: BinaryIO) -> None:
    others = [line for line in _lines(kept) if not _LIBRARY.match(line)]
    if others:
        os.write(2, b"\n".join(others) + b"\n")
