"""Lines to text: what of a reading the text channels get to see."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, Protocol

from glyphrank.records import Line, Reading


class Transcript(Protocol):
    """Makes one text out of the lines of a reading."""

    def write(self, reading: Reading) -> str:
        """The text; "" when nothing was read."""
        ...

    def query(self, text: str) -> str:
        """A query in the form in which texts are written, so that both sides compare."""
        ...


class Order(StrEnum):
    """In which order lines are joined."""

    source = "source"
    top_down = "top_down"


class NormalForm(StrEnum):
    """Unicode form of texts and queries. Encoders and analysers bring both to NFC at least."""

    none = "none"
    nfc = "nfc"
    nfkc = "nfkc"


@dataclass(frozen=True)
class AllLines:
    """Every line, joined.

    Attributes:
        order: `source` keeps the order of the engine or publisher; `top_down` sorts by frame, then top edge, then left
            edge, lines without a box before those with one.
        separator: what stands between two lines.
        normal_form: Unicode form of texts and queries alike.
    """

    VERSION: ClassVar[int] = 1
    order: Order
    separator: str
    normal_form: NormalForm

    def write(self, reading: Reading) -> str:
        """The text of all lines; a text of white space alone becomes ""."""
        lines = reading.lines if self.order is Order.source else _top_down(reading.lines)
        return self.query(self.separator.join(line.text for line in lines).strip())

    def query(self, text: str) -> str:
        """A query in the Unicode form of the texts."""
        if self.normal_form is NormalForm.none:
            return text
        return unicodedata.normalize("NFC" if self.normal_form is NormalForm.nfc else "NFKC", text)


def _top_down(lines: Sequence[Line]) -> list[Line]:
    return sorted(lines, key=lambda line: (line.frame, *((line.box[1], line.box[0]) if line.box else (-1.0, -1.0))))
