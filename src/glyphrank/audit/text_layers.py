"""What stands in the text layer of items: what was published, else that of their PDF page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from glyphrank.media.faults import MediaError
from glyphrank.media.kinds import is_pdf
from glyphrank.media.pdf import page_text
from glyphrank.progress import track
from glyphrank.records import Item


@dataclass(frozen=True)
class TextLayers:
    """The text layers of n items.

    Attributes:
        texts: (n,) None where an item has none, as a picture without published text.
        failures: position of an item whose page cannot be read -> why.
    """

    texts: tuple[str | None, ...]
    failures: Mapping[int, str]


def text_layers(items: Sequence[Item]) -> TextLayers:
    """Reads the text layers of items."""
    texts: list[str | None] = []
    failures: dict[int, str] = {}
    with track(len(items), "reading text layers") as progress:
        for position, item in enumerate(items):
            try:
                texts.append(_text(item))
            except MediaError as error:
                failures[position] = str(error)
                texts.append(item.text)
            progress.advance()
    return TextLayers(tuple(texts), failures)


def _text(item: Item) -> str | None:
    """As `ocr=embedded` reads it: a published text without a character leaves the word to the page."""
    media = item.media
    if (item.text or "").strip() or media is None or media.cell is not None:
        return item.text
    if media.page is None and not is_pdf(media.path):
        return item.text
    return page_text(media.path, media.page or 1).text
