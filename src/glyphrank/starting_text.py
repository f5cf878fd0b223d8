"""Whether the pages of documents have a text layer that can be read, or must be recognised."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from glyphrank.garble import judge
from glyphrank.media.faults import MediaError
from glyphrank.media.kinds import FileKind
from glyphrank.media.pdf import page_text
from glyphrank.progress import track
from glyphrank.records import TextState
from glyphrank.starting_files import Document

MOST_PAGES = 1000
"""Pages that are looked at; of more, so many are taken evenly."""
THIN, GARBLED = 20, 0.1
"""Below so many characters, and above such a share of unreadable ones, `ocr=embedded_else_easyocr` reads a page."""


@dataclass(frozen=True)
class TextLayers:
    """How many of the pages looked at are of each kind.

    Attributes:
        pages: pages of all PDFs.
        text: pages with a readable text layer.
        thin: pages with a readable text layer of a few characters only.
        scanned: pages that show something and have no text.
        garbled: pages whose text layer is not readable.
        blank: pages that show nothing, or that cannot be opened.
    """

    pages: int
    text: int
    thin: int
    scanned: int
    garbled: int
    blank: int

    @property
    def looked_at(self) -> int:
        """Pages that were looked at."""
        return self.text + self.thin + self.scanned + self.garbled + self.blank


def text_layers(documents: Sequence[Document]) -> TextLayers:
    """Reads the text layers of at most `MOST_PAGES` pages, taken evenly from all PDFs."""
    pages = [(document, page) for document in documents for page in range(1, (document.pages or 0) + 1)]
    step = max(1.0, len(pages) / MOST_PAGES)
    taken = [pages[int(place * step)] for place in range(min(len(pages), MOST_PAGES))]
    states = []
    with track(len(taken), "pages looked at") as tracker:
        for document, page in taken:
            states.append(_state(document, page))
            tracker.advance()
    return TextLayers(
        pages=len(pages),
        text=states.count(TextState.text),
        thin=states.count(TextState.thin),
        scanned=states.count(TextState.image_only),
        garbled=states.count(TextState.garbled),
        blank=states.count(TextState.blank),
    )


def suggested_ocr(documents: Sequence[Document], layers: TextLayers) -> str:
    """The choice of `ocr` that reads all of it: the text layer alone where it is everywhere, else EasyOCR too."""
    others = any(document.kind is not FileKind.pdf for document in documents)
    unread = layers.scanned + layers.garbled
    if not others and not unread:
        return "embedded"
    return "embedded_else_easyocr" if layers.text or layers.thin else "easyocr_ko_en"


def _state(document: Document, page: int) -> TextState:
    try:
        found = page_text(document.path, page)
    except MediaError:
        return TextState.blank
    judged = judge(found.text, THIN, GARBLED)
    return found.state if judged is TextState.blank else judged
