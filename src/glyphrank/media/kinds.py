"""What a file is by what it holds: the one place that decides it, for datasets, text layers and frames."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

from glyphrank.media.containers import clip_kind
from glyphrank.media.faults import MediaError
from glyphrank.media.files import head_of

HEAD = 1024 + len(b"%PDF-")
"""Bytes that tell kinds apart: PDFium takes a document whose header begins within the first 1,024 and not later."""
_PICTURES = (
    b"\x89PNG",
    b"\xff\xd8\xff",
    b"GIF8",
    b"II*\0",
    b"MM\0*",
    b"II+\0",
    b"MM\0+",
    b"BM",
    b"qoif",
    b"\0\0\0\x0cjP  ",
    b"\xff\x4f\xff\x51",
    b"\0\0\1\0",
    b"\x01\xda",
    *(b"P%c%c" % (kind, space) for kind in b"123456f" for space in b" \t\r\n"),
    *(b"\x0a%c\1" % version for version in (0, 2, 3, 5)),
)
"""How pictures of the kinds that are decoded begin; those in RIFF and in boxes are told from clips by their brands."""

_SURE = tuple(start for start in _PICTURES if len(start) > 2)
"""Those that no clip begins with: a palette may look like the sync bytes of a transport stream."""


class FileKind(StrEnum):
    """What a file is: a PDF, a clip (or a sound), a picture, or nothing of these."""

    pdf = "pdf"
    clip = "clip"
    picture = "picture"
    unknown = "unknown"


def kind_of(head: bytes) -> FileKind:
    """What a file is by its first `HEAD` bytes.

    A picture or clip may mention `%PDF-`, in a comment or as what it was made from; a document may have other bytes
    before its header, as mailers and web servers leave them there. So those whose beginning is known go first.
    """
    if head.startswith(b"%PDF-"):
        return FileKind.pdf
    if head.startswith(_SURE):
        return FileKind.picture
    if clip_kind(head[:400]):
        return FileKind.clip
    if head.startswith(_PICTURES) or head[4:8] == b"ftyp" or (head[:4] == b"RIFF" and head[8:12] == b"WEBP"):
        return FileKind.picture
    return FileKind.pdf if b"%PDF-" in head[:HEAD] else FileKind.unknown


def is_pdf(path: Path) -> bool:
    """Whether a file is a PDF by what it holds; by its name only where that cannot be read, or is nothing known.

    So a document that is missing or damaged is still spoken of as one.
    """
    try:
        kind = kind_of(head_of(path, HEAD))
    except MediaError:
        kind = FileKind.unknown
    return path.suffix.lower() == ".pdf" if kind is FileKind.unknown else kind is FileKind.pdf
