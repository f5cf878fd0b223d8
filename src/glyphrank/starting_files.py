"""The documents of a folder that holds nothing else yet: PDFs, pictures and clips, and why the rest is none."""

from __future__ import annotations

import mimetypes
import os
import re
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from PIL import Image

from glyphrank.errors import DataError
from glyphrank.ids import nfc
from glyphrank.media.containers import clip_kind, declared
from glyphrank.media.faults import MediaError, MediaFault
from glyphrank.media.files import head_of, shown_name
from glyphrank.media.images import load_image
from glyphrank.media.kinds import HEAD, FileKind, is_pdf, kind_of
from glyphrank.media.modes import know_deep_tiffs
from glyphrank.media.pdf import page_count
from glyphrank.progress import track

_OFFICE = frozenset(
    (".doc", ".docx", ".hwp", ".hwpx", ".odp", ".ods", ".odt", ".ppt", ".pptx", ".rtf", ".xls", ".xlsx")
)
_LOOKED_INTO = ("mp4", "matroska", "avi")
"""Containers of which `declared` tells whether there is a video in them."""
_OTHER = "no PDF, picture or clip"
_MOST_PIXELS = 89_000_000
_REDUCED_OR_MASK = 1 | 4
"""Bits of a TIFF's tag NewSubfileType, on what is no page but belongs to one (TIFF 6.0, page 36)."""


@dataclass(frozen=True)
class Document:
    """A file that becomes items.

    Attributes:
        name: its path below the folder, in NFC, parts separated by `/`.
        pages: number of pages of a PDF; None for pictures and clips, which are one item.
    """

    name: str
    path: Path
    kind: FileKind
    pages: int | None


@dataclass(frozen=True)
class Skipped:
    """A file or folder that becomes no item; `name` is its path below the folder, folders end in `/`."""

    name: str
    cause: str


@dataclass(frozen=True)
class Found:
    """What a folder holds, each in natural order: `page2` before `page10`."""

    documents: tuple[Document, ...]
    skipped: tuple[Skipped, ...]


def find_documents(folder: Path, without: Sequence[Path]) -> Found:
    """Looks into every file below a folder, whatever its name says it is.

    Links are followed where they lead out of the folder, each folder once; what else cannot become an item (hidden
    files, other types, files without a byte, PDFs that cannot be opened, damaged pictures, TIFFs of several pages,
    names that no dataset can hold) is skipped.

    Args:
        folder: an absolute path without links.
        without: files and folders below it, absolute and without links, that are passed over without a word.

    Raises:
        DataError: the folder itself cannot be read.
    """
    walk = _Walk(folder, frozenset(without))
    files = sorted(walk.files(), key=lambda file: natural(file[0]))
    documents: list[Document] = []
    with track(len(files), "files looked into") as tracker:
        for name, path in files:
            try:
                documents.append(_document(name, path))
            except MediaError as error:
                cause = str(error).removeprefix(f"{shown_name(path)}: ")
                walk.skipped.append(Skipped(name, cause))
            tracker.advance()
    return Found(tuple(documents), tuple(sorted(walk.skipped, key=lambda skipped: natural(skipped.name))))


def natural(name: str) -> list[tuple[list[str | int], str]]:
    """A key that sorts paths as people number them, folder by folder.

    >>> sorted(["p10.pdf", "p2.pdf", "P1.pdf"], key=natural)
    ['P1.pdf', 'p2.pdf', 'p10.pdf']
    """
    return [
        ([int(piece) if at % 2 else piece for at, piece in enumerate(re.split("([0-9]+)", part.casefold()))], part)
        for part in name.split("/")
    ]


class _Walk:
    """Walks through folders; `skipped` grows while `files` is used up."""

    def __init__(self, folder: Path, without: frozenset[Path]) -> None:
        self._folder = folder
        self._without = without
        self._entered = {folder}
        self.skipped: list[Skipped] = []

    def files(self) -> Iterator[tuple[str, Path]]:
        """Name and path of every file that may be a document."""
        waiting = [("", self._folder)]
        while waiting:
            start, folder = waiting.pop()
            for name, path in self._entries(start, folder):
                is_folder = self._is_folder(name, path)
                if is_folder:
                    waiting.append((f"{name}/", path))
                elif is_folder is not None:
                    yield name, path

    def _entries(self, start: str, folder: Path) -> list[tuple[str, Path]]:
        """What of a folder's names a dataset can hold, as (name below the first folder in NFC, path)."""
        try:
            names = sorted(os.listdir(folder))  # noqa: PTH208 -- names as the disk spells them, not paths
        except OSError as error:
            if not start:
                raise DataError(f"{folder}: the folder cannot be read ({error.strerror or error})") from error
            self._skip(start, f"the folder cannot be read ({error.strerror or error})")
            return []
        forms = [nfc(name) for name in names]
        times = Counter(forms)
        entries: list[tuple[str, Path]] = []
        for name, form in zip(names, forms, strict=True):
            cause = _unfit(name, times[form] > 1)
            if cause is None:
                entries.append((start + form, folder / name))
            elif (folder / name) not in self._without:
                shown = start + form.encode("utf-8", "backslashreplace").decode()
                self._skip(shown + "/" * (folder / name).is_dir(), cause)
        return entries

    def _is_folder(self, name: str, path: Path) -> bool | None:
        """True for a folder to go into, False for a file to look into, None for neither."""
        try:
            real = path.resolve(strict=True)
            is_folder = real.is_dir()
        except (OSError, RuntimeError) as error:  # RuntimeError: a loop of links
            loop = isinstance(error, RuntimeError)
            reason = "nothing" if isinstance(error, FileNotFoundError) else "what cannot be read"
            self._skip(name, "a link that leads back to itself" if loop else f"a link to {reason}")
            return None
        if real in self._without:
            return None
        if path.is_symlink() and (
            self._folder in (real, *real.parents) or (is_folder and real in self._folder.parents)
        ):
            self._skip(name, "a link to what is read anyway, or to a folder around it")
            return None
        if is_folder and real in self._entered:
            self._skip(f"{name}/", "a folder that was read already, under another name")
            return None
        if is_folder:
            self._entered.add(real)
        return is_folder

    def _skip(self, name: str, cause: str) -> None:
        self.skipped.append(Skipped(name, cause))


def _unfit(name: str, stands_twice: bool) -> str | None:
    """Why a name cannot stand in a dataset, None where it can."""
    if name.startswith("."):
        return "hidden"
    try:
        name.encode()
    except UnicodeEncodeError:
        return "its name is not UTF-8; rename it"
    return "two names of the folder are equal in NFC; rename one" if stands_twice else None


def _document(name: str, path: Path) -> Document:
    """What a file is; a MediaError says why it is none of the kinds, or cannot be opened."""
    head = head_of(path, HEAD)
    if is_pdf(path):
        return Document(name, path, FileKind.pdf, page_count(path))
    kind = kind_of(head)
    if kind is FileKind.clip:
        _check_clip(path, clip_kind(head[:400]) or "")
    elif kind is FileKind.picture:
        _check_picture(path, head)
    else:
        hint = "; save it as PDF" if path.suffix.lower() in _OFFICE else ""
        raise MediaError(MediaFault.not_media, _OTHER + hint)
    return Document(name, path, kind, None)


def _check_clip(path: Path, kind: str) -> None:
    """Refuses sounds, and containers in whose header stands no video."""
    if kind == "audio":
        raise MediaError(MediaFault.no_video, "a sound, without pictures")
    if kind in _LOOKED_INTO and declared(path, kind).codec is None:
        raise MediaError(MediaFault.no_video, "a clip without video, or cut off")


def _check_picture(path: Path, head: bytes) -> None:
    """Refuses pictures that are damaged, that are not decoded, and of which only the first page would be seen.

    Files whose names are no picture's count as other types then: some kinds begin with two bytes, as texts may too
    ("BM").
    """
    if _is_whole(path):
        return
    pages = _tiff_pages(path) if head.startswith((b"II", b"MM")) else 1
    if pages > 1:
        raise MediaError(MediaFault.unsupported, f"a TIFF of {pages:,} pages; save it as PDF")
    try:
        load_image(path, 64, _MOST_PIXELS)
    except MediaError as error:
        if error.fault is MediaFault.too_large:
            return
        if (mimetypes.guess_type(path.name)[0] or "").startswith("image/"):
            raise
        raise MediaError(MediaFault.not_media, _OTHER) from error


def _is_whole(path: Path) -> bool:
    """Whether a file is surely a JPEG or PNG without damage that shows; False says nothing.

    Decoding a page of 4 million pixels takes 60 to 70 ms. The checksums of a PNG take less than 1 ms, and the
    coefficients of a JPEG, without the pixels that they stand for, 4 ms.
    """
    with suppress(Exception), warnings.catch_warnings():  # whatever it is, decoding tells it in our words
        warnings.simplefilter("error")
        with Image.open(path, formats=("PNG", "JPEG")) as image:
            if image.format == "PNG":
                image.verify()
            else:
                image.draft("RGB", (1, 1))
                image.load()
            return True
    return False


def _tiff_pages(path: Path) -> int:
    """Number of a TIFF's pages as far as they can be counted; previews and masks are none."""
    know_deep_tiffs()
    pages = 0
    with suppress(Exception), warnings.catch_warnings():  # EOFError behind the last one
        warnings.simplefilter("ignore")
        with Image.open(path, formats=("TIFF",)) as image:
            for frame in count():
                image.seek(frame)
                pages += not image.getexif().get(254, 0) & _REDUCED_OR_MASK
    return pages
