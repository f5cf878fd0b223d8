"""The text that came with an item: what its publisher shipped, else the text layer of its PDF page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from glyphrank.garble import check_thresholds, garble_share, judge
from glyphrank.media.faults import MediaError
from glyphrank.media.kinds import is_pdf
from glyphrank.media.pdf import page_text
from glyphrank.records import Frames, Item, Line, Reading, Source, TextState
from glyphrank.runtime import Runtime


@dataclass(frozen=True)
class Embedded:
    """Reads published text and PDF text layers; recognises nothing in pixels.

    A page that is blank, or that holds images and no text, gives a reading without lines. A text layer that is mostly
    garbled gives a failure instead of lines, so that it is never indexed as if it were good; a benchmark that counts
    it as it was published says `refuse_garbled: false`, and then it is counted and listed.

    A published text without a character says nothing about what the item shows, as scans are published like that: for
    a PDF its page decides, and another item with media is `image_only`. Without media the item is `blank`.

    Attributes:
        thin_below: characters, white space aside, below which a text is counted as thin.
        garbled_above: share of garbled characters (`garble.garble_share`), in [0, 1], above which it is garbled.
        refuse_garbled: whether a garbled text is a failure, or used as it is and counted.
    """

    VERSION: ClassVar[int] = 3
    PACKAGES: ClassVar[tuple[str, ...]] = ("pypdfium2",)
    needs_frames: ClassVar[bool] = False
    sources: ClassVar[tuple[Source, ...]] = (Source.embedded,)
    thin_below: int
    garbled_above: float
    refuse_garbled: bool

    def __post_init__(self) -> None:
        check_thresholds(self.thin_below, self.garbled_above)

    def read(self, item: Item, frames: Callable[[], Frames], runtime: Runtime) -> Reading:
        """The lines of an item, without confidence and box; a `failure` where there is no readable text layer."""
        if item.text is not None and item.text.strip():
            return self._lines(item.text, TextState.text)
        if item.media is None:
            if item.text is None:
                return _failed("the item has neither published text nor media")
            return Reading(Source.embedded, state=TextState.blank)
        if item.media.page is None and not is_pdf(item.media.path):
            if item.text is None:
                return _failed(f"{item.media.path.name}: ocr=embedded reads published texts and PDF files only")
            return Reading(Source.embedded, state=TextState.image_only)
        try:
            page = page_text(item.media.path, item.media.page or 1)
        except MediaError as error:
            return _failed(str(error))
        return self._lines(page.text, page.state)

    def _lines(self, text: str, state: TextState) -> Reading:
        judged = judge(text, self.thin_below, self.garbled_above)
        if judged is TextState.garbled and self.refuse_garbled:
            return _failed(
                f"garbled: {garble_share(text):.0%} of the text layer is no readable text (more than "
                f"{self.garbled_above:.0%}); read the page with an OCR engine",
                TextState.garbled,
            )
        lines = (line.strip() for line in text.splitlines())
        worth = state if judged is TextState.blank else judged
        return Reading(Source.embedded, tuple(Line(line) for line in lines if line), state=worth)


def _failed(why: str, state: TextState = TextState.text) -> Reading:
    return Reading(Source.embedded, failure=why, state=state)
