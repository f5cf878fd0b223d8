"""Text layer of PDF pages, through PDFium.

PDFium is not thread-safe: calls from two threads crash, or succeed without any text. Every call of this module is
made under one lock, and whatever was opened is closed before the lock is released.
"""

from __future__ import annotations

import stat
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from glyphrank.identity import kind_of_file
from glyphrank.records import TextState

_LOCK = threading.Lock()
_HYPHENS = ("\x02", "\ufffe")
"""What PDFium puts in the place of a hyphen and a line break inside a word."""
_LONGEST_NAME = 80
"""Characters of a file's name that a message shows."""


class MediaFault(StrEnum):
    """Why a file or a page of it cannot be opened."""

    missing = "missing"
    unreadable = "unreadable"
    empty = "empty"
    encrypted = "encrypted"
    damaged = "damaged"
    no_page = "no_page"


class MediaError(Exception):
    """A file or a page cannot be opened; `fault` tells the causes apart, the message names the file."""

    def __init__(self, fault: MediaFault, message: str) -> None:
        super().__init__(message)
        self.fault = fault


@dataclass(frozen=True)
class PageText:
    """The text layer of a page, lines ended by line feeds, and what the page holds; white space alone is no text."""

    text: str
    state: TextState


def is_pdf(path: Path) -> bool:
    """Whether the name says that the file is a PDF."""
    return path.suffix.lower() == ".pdf"


def page_text(path: Path, page: int) -> PageText:
    """Reads the text layer of one page (numbered from 1), in the order of the file.

    A word that the page breaks at a hyphen is made whole. Nothing is normalised otherwise.

    Raises:
        MediaError: the file or the page cannot be opened.
    """
    with _opened(path) as document:
        if not 1 <= page <= len(document):
            raise MediaError(
                MediaFault.no_page, f"{_name(path)}: there is no page {page}; the document has {len(document)}"
            )
        return _read(document, page, path)


def page_count(path: Path) -> int:
    """Number of pages, at least 1.

    Raises:
        MediaError: the file cannot be opened.
    """
    with _opened(path) as document:
        return len(document)


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """A PDFium document that nobody else can touch; closed at the end, before the lock is released."""
    _check_file(path)
    with _LOCK:
        import pypdfium2

        try:
            document = pypdfium2.PdfDocument(path)
        except pypdfium2.PdfiumError as error:
            raise _refusal(path, pypdfium2.raw.FPDF_GetLastError()) from error
        except OSError as error:
            raise MediaError(MediaFault.missing, f"{_name(path)}: there is no such file any more") from error
        with closing(document):
            yield document


def _check_file(path: Path) -> None:
    """Faults that PDFium reports in one breath with damage, and pipes and devices, at which it would wait for ever."""
    try:
        state = path.stat()
    except (FileNotFoundError, NotADirectoryError) as error:
        raise MediaError(MediaFault.missing, f"{_name(path)}: there is no such file") from error
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        reason = error.strerror if isinstance(error, OSError) else None
        raise MediaError(MediaFault.unreadable, f"{_name(path)}: cannot be read ({reason or error})") from error
    if not stat.S_ISREG(state.st_mode):
        kind = kind_of_file(state.st_mode)
        raise MediaError(MediaFault.unreadable, f"{_name(path)}: cannot be read ({kind}, not a file)")
    if state.st_size == 0:
        raise MediaError(MediaFault.empty, f"{_name(path)}: the file is empty (0 bytes)")


def _name(path: Path) -> str:
    name = path.name.replace("\x00", "\\x00")
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 10]}...{name[-7:]}"


def _refusal(path: Path, code: int) -> MediaError:
    """PDFium's reason for not opening a document (2 file, 3 format, 4 password, 5 security)."""
    if code == 2:
        return MediaError(MediaFault.unreadable, f"{_name(path)}: cannot be read; check its permissions")
    if code in (4, 5):
        return MediaError(MediaFault.encrypted, f"{_name(path)}: encrypted; wanted a PDF that opens without a password")
    return MediaError(MediaFault.damaged, f"{_name(path)}: not a PDF, or damaged or cut off")


def _read(document: Any, page: int, path: Path) -> PageText:
    import pypdfium2

    try:
        with closing(document[page - 1]) as opened, closing(opened.get_textpage()) as layer:
            text = _plain(layer.get_text_bounded())
            if text.strip():
                return PageText(text, TextState.text)
            return PageText("", TextState.image_only if _is_drawn(opened) else TextState.blank)
    except pypdfium2.PdfiumError as error:
        raise MediaError(MediaFault.damaged, f"{_name(path)}: page {page} is damaged ({error})") from error


def _plain(text: str) -> str:
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    for hyphen in _HYPHENS:
        text = text.replace(f"{hyphen}\n", "").replace(hyphen, "")
    return text


def _is_drawn(page: Any) -> bool:
    """Whether anything but text is painted on a page, inside of forms too."""
    from pypdfium2 import raw

    kinds = [raw.FPDF_PAGEOBJ_PATH, raw.FPDF_PAGEOBJ_IMAGE, raw.FPDF_PAGEOBJ_SHADING]
    return next(page.get_objects(filter=kinds, max_depth=15), None) is not None
