"""Text layer and picture of PDF pages, through PDFium.

PDFium is not thread-safe: calls from two threads crash, or succeed without any text. Every call of this module is
made under one lock, and whatever was opened is closed before the lock is released.
"""

from __future__ import annotations

import logging
import math
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from glyphrank.media.faults import MediaError, MediaFault
from glyphrank.media.files import check_file, shown_name
from glyphrank.records import TextState, UInt8Array

_LOCK = threading.Lock()
_HYPHENS = ("\x02", "\ufffe")
"""What PDFium puts in the place of a hyphen and a line break inside a word."""
_LOOK = 400
"""Pixels of the long side at which a page without text is looked at."""
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class PageText:
    """The text layer of a page, lines ended by line feeds, and what the page holds; white space alone is no text."""

    text: str
    state: TextState


def page_text(path: Path, page: int) -> PageText:
    """Reads the text layer of one page (numbered from 1), in the order of the file.

    A word that the page breaks at a hyphen is made whole. Nothing is normalised otherwise. A page without text is blank
    where it holds no picture, path or shading, and a small drawing of it, made as `render_page` does (with annotations
    and with what is filled into forms), has one colour.

    Raises:
        MediaError: the file or the page cannot be opened.
    """
    with _opened(path) as document:
        _check_page(document, page, path)
        return _read(document, page, path)


def render_page(path: Path, page: int, long_side: int, most_pixels: int) -> UInt8Array:
    """Draws one page (numbered from 1) upright on white, with the contents of its forms: (h, w, 3) uint8 RGB.

    The long side has `long_side` pixels, whatever the page's size in points; fewer, which is logged, where the page
    would have more than `most_pixels`.

    Raises:
        MediaError: the file or the page cannot be opened or drawn.
    """
    with _opened(path) as document:
        _check_page(document, page, path)
        return _draw(document, page, path, (long_side, most_pixels))


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
    check_file(path)
    with _LOCK:
        import pypdfium2

        try:
            document = pypdfium2.PdfDocument(path)
        except pypdfium2.PdfiumError as error:
            raise _refusal(path, pypdfium2.raw.FPDF_GetLastError()) from error
        except OSError as error:
            raise MediaError(MediaFault.missing, f"{shown_name(path)}: there is no such file any more") from error
        with closing(document):
            yield document


def _check_page(document: Any, page: int, path: Path) -> None:
    if not 1 <= page <= len(document):
        raise MediaError(
            MediaFault.no_page, f"{shown_name(path)}: there is no page {page}; the document has {len(document)}"
        )


def _refusal(path: Path, code: int) -> MediaError:
    """PDFium's reason for not opening a document (2 file, 3 format, 4 password, 5 security)."""
    if code == 2:
        return MediaError(MediaFault.unreadable, f"{shown_name(path)}: cannot be read; check its permissions")
    if code in (4, 5):
        return MediaError(
            MediaFault.encrypted, f"{shown_name(path)}: encrypted; wanted a PDF that opens without a password"
        )
    return MediaError(MediaFault.damaged, f"{shown_name(path)}: not a PDF, or damaged or cut off")


def _read(document: Any, page: int, path: Path) -> PageText:
    import pypdfium2

    try:
        with closing(document[page - 1]) as opened, closing(opened.get_textpage()) as layer:
            text = _plain(layer.get_text_bounded())
            if text.strip():
                return PageText(text, TextState.text)
            if _paints(opened):
                return PageText("", TextState.image_only)
        shown = _drawn(document, page, lambda size: (_LOOK - 0.01) / max(*size, 1e-3))
        return PageText("", TextState.image_only if (shown != shown[0, 0]).any() else TextState.blank)
    except pypdfium2.PdfiumError as error:
        raise MediaError(MediaFault.damaged, f"{shown_name(path)}: page {page} is damaged ({error})") from error


def _draw(document: Any, page: int, path: Path, limits: tuple[int, int]) -> UInt8Array:
    import pypdfium2

    try:
        return _drawn(document, page, lambda size: _scale(size, path, page, limits))
    except pypdfium2.PdfiumError as error:
        raise MediaError(MediaFault.damaged, f"{shown_name(path)}: page {page} cannot be drawn ({error})") from error


def _drawn(document: Any, page: int, scale: Callable[[tuple[float, float]], float]) -> UInt8Array:
    """A page with its annotations and what is filled into its forms, (h, w, 3) uint8; `scale` is in pixels a point."""
    document.init_forms()  # before the page is loaded, or what is filled in is not drawn
    with closing(document[page - 1]) as opened:
        bitmap = opened.render(scale=scale(opened.get_size()), rev_byteorder=True, fill_color=(255, 255, 255, 255))
        with closing(bitmap):
            return np.array(bitmap.to_numpy()[:, :, :3])  # a copy: the bitmap's memory is freed


def _scale(size: tuple[float, float], path: Path, page: int, limits: tuple[int, int]) -> float:
    """Pixels a point, a hair less than asked for, as PDFium rounds both sides up."""
    long_side, most_pixels = limits
    width, height = size
    if not (width > 0 and height > 0):
        raise MediaError(MediaFault.damaged, f"{shown_name(path)}: page {page} is {width} x {height} points")
    longer, shorter = max(size), min(size)
    fitting = long_side
    if long_side * max(1, math.ceil(long_side * shorter / longer)) > most_pixels:
        fitting = max(1, min(math.isqrt(int(most_pixels * longer / shorter)) - 1, most_pixels))
        _LOG.warning(
            "%s: page %d is drawn with a long side of %d pixels, not %d, to keep within %d pixels (frames.most_pixels)",
            *(shown_name(path), page, fitting, long_side, most_pixels),
        )
    return (fitting - 0.01) / longer


def _plain(text: str) -> str:
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    for hyphen in _HYPHENS:
        text = text.replace(f"{hyphen}\n", "").replace(hyphen, "")
    return text


def _paints(page: Any) -> bool:
    """Whether anything but text is painted on a page, inside of forms too; annotations are no part of this."""
    from pypdfium2 import raw

    kinds = [raw.FPDF_PAGEOBJ_PATH, raw.FPDF_PAGEOBJ_IMAGE, raw.FPDF_PAGEOBJ_SHADING]
    return next(page.get_objects(filter=kinds, max_depth=15), None) is not None
