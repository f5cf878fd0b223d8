"""Lines to text: what of a reading the text channels get to see."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, Protocol

from glyphrank import reading_order
from glyphrank.records import Line, Reading


class Pooling(StrEnum):
    """How an item of several texts is scored by vectors: by the mean of their unit vectors, or by its best text."""

    mean = "mean"
    best = "best"


@dataclass(frozen=True)
class Written:
    """The transcripts of n items.

    Attributes:
        texts: (n,) the texts of each item, none empty; none where nothing was read.
        pooling: how several texts of an item become one score.
    """

    texts: Sequence[Sequence[str]]
    pooling: Pooling


class Transcript(Protocol):
    """Makes texts out of the lines of a reading: one, or one for each window of a clip."""

    @property
    def pooling(self) -> Pooling:
        """How several texts of an item become one score; without effect where it writes one."""
        ...

    def write(self, reading: Reading) -> tuple[str, ...]:
        """The texts that are not empty, in order; none when nothing was read."""
        ...

    def query(self, text: str) -> str:
        """A query in the form in which texts are written, so that both sides compare."""
        ...


class Order(StrEnum):
    """In which order lines are joined."""

    source = "source"
    top_down = "top_down"
    reading = "reading"


class NormalForm(StrEnum):
    """Unicode form of texts and queries. Encoders and analysers bring both to NFC at least."""

    none = "none"
    nfc = "nfc"
    nfkc = "nfkc"


class Unique(StrEnum):
    """What of a transcript is kept once."""

    none = "none"
    lines = "lines"
    words = "words"


@dataclass(frozen=True)
class AllLines:
    """Every line, joined.

    Attributes:
        order: `source` keeps the order of the engine or publisher; `top_down` sorts by frame, then top edge, then left
            edge, lines without a box before those with one; `reading` is that of `reading_order`.
        separator: what stands between two lines.
        normal_form: Unicode form of texts and queries alike.
    """

    VERSION: ClassVar[int] = 1000 * reading_order.VERSION + 1
    pooling: ClassVar[Pooling] = Pooling.mean
    order: Order
    separator: str
    normal_form: NormalForm

    def write(self, reading: Reading) -> tuple[str, ...]:
        """The text of all lines; none where it is white space alone."""
        text = self.query(self.separator.join(line.text for line in _ordered(reading.lines, self.order)).strip())
        return (text,) if text else ()

    def query(self, text: str) -> str:
        """A query in the Unicode form of the texts."""
        return _formed(text, self.normal_form)


@dataclass(frozen=True)
class Confident:
    """Lines that the engine is sure of, each said once: for scene text, which frame after frame shows again.

    Attributes:
        min_confidence: in [0, 1]; lines with less are left out, those without a confidence are kept.
        order: of the lines; see `AllLines`.
        unique: what is kept only where it first occurs, over the whole item and whatever its case.
        lower_case: whether texts and queries are put into lower case.
        most_characters: length of the text at most; it is cut at the end of a word, and within a word only where a
            single one is longer.
        separator: what stands between two lines. Words within a line are parted by one space.
        normal_form: Unicode form of texts and queries alike.
    """

    VERSION: ClassVar[int] = 1000 * reading_order.VERSION + 1
    pooling: ClassVar[Pooling] = Pooling.mean
    min_confidence: float
    order: Order
    unique: Unique
    lower_case: bool
    most_characters: int
    separator: str
    normal_form: NormalForm

    def __post_init__(self) -> None:
        if not 0 <= self.min_confidence <= 1:
            raise ValueError(f"min_confidence is {self.min_confidence}; wanted a number from 0 to 1")
        if self.most_characters < 1:
            raise ValueError(f"most_characters is {self.most_characters}; wanted at least 1")

    def write(self, reading: Reading) -> tuple[str, ...]:
        """The text; none when no line is left."""
        sure = [line for line in reading.lines if line.confidence is None or line.confidence >= self.min_confidence]
        texts = [" ".join(self.query(line.text).split()) for line in _ordered(sure, self.order)]
        kept = _once(texts, self.unique)
        text = _cut(self.separator.join(text for text in kept if text).strip(), self.most_characters)
        return (text,) if text else ()

    def query(self, text: str) -> str:
        """A query in the Unicode form and case of the texts."""
        formed = _formed(text, self.normal_form)
        return _formed(formed.lower(), self.normal_form) if self.lower_case else formed


def _ordered(lines: Sequence[Line], order: Order) -> Sequence[Line]:
    match order:
        case Order.source:
            return lines
        case Order.top_down:
            return sorted(lines, key=lambda line: (line.frame, *(line.box[1::-1] if line.box else (-1.0, -1.0))))
        case Order.reading:
            return reading_order.reading_order(lines)


def _formed(text: str, form: NormalForm) -> str:
    if form is NormalForm.none:
        return text
    return unicodedata.normalize("NFC" if form is NormalForm.nfc else "NFKC", text)


def _once(texts: Sequence[str], unique: Unique) -> list[str]:
    """The texts without lines, or words, that stood before."""
    if unique is Unique.none:
        return list(texts)
    seen: set[str] = set()
    kept = []
    for text in texts:
        parts = [text] if unique is Unique.lines else text.split()
        new = []
        for part in parts:
            folded = unicodedata.normalize("NFC", part.casefold())
            if folded not in seen:
                seen.add(folded)
                new.append(part)
        kept.append(" ".join(new))
    return kept


def _cut(text: str, most: int) -> str:
    """The first words of a text, in at most so many characters."""
    if len(text) <= most:
        return text
    ends = [at for at in range(1, most + 1) if text[at].isspace() and not text[at - 1].isspace()]
    return text[: ends[-1]] if ends else text[:most]
