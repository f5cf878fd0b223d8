"""OCR that misses lines: how much of what it finds does retrieval need?"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import ClassVar

from glyphrank.digests import digest_json
from glyphrank.records import Line, Reading
from glyphrank.transcript import Pooling, Transcript

_DRAWS = 2**64


@dataclass(frozen=True)
class Misses:
    """A transcript of readings from which a share of the lines is missing.

    It stands behind the cache of readings, so that any number of shares costs one OCR. A line is dropped by a digest of
    the seed and of what it says, where and when: the same line is dropped in every run, and whatever a small share
    misses a larger one misses too.

    Attributes:
        share: of the lines that are missed, from 0 to below 1, where nothing would be left to find.
        seed: decides which.
        written: how the lines that are left are made into texts.
    """

    VERSION: ClassVar[int] = 1
    PACKAGES: ClassVar[tuple[str, ...]] = ()
    share: float
    seed: int
    written: Transcript

    def __post_init__(self) -> None:
        if not 0 <= self.share < 1:
            raise ValueError(f"share is {self.share}; wanted a number from 0 to below 1, where no line would be left")

    @property
    def pooling(self) -> Pooling:
        """That of what is left."""
        return self.written.pooling

    def write(self, reading: Reading) -> tuple[str, ...]:
        """The texts of the lines that were not missed."""
        kept = tuple(line for line in reading.lines if self._draw(line) >= self.share)
        return self.written.write(replace(reading, lines=kept))

    def query(self, text: str) -> str:
        """A query in the form of the texts; nothing of it is missed."""
        return self.written.query(text)

    def _draw(self, line: Line) -> float:
        """A number in [0, 1) for one line of a reading."""
        what = digest_json([self.seed, line.text, line.box, line.frame, line.spans])
        return int.from_bytes(hashlib.sha256(what.encode()).digest()[:8], "big") / _DRAWS
