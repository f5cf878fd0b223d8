"""An encoder and an OCR engine that write down what they are asked, for the tests of stages and channels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from glyphrank.records import Encoded, Item, Reading, Runtime, Source, TextState


@dataclass(frozen=True)
class Letters:
    """Counts of a and b; a text of more than four characters is truncated, one without a and b has a zero vector."""

    VERSION: ClassVar[int] = 1
    calls: ClassVar[list[str]] = []
    bias: float

    def encode_queries(self, texts: Sequence[str], runtime: Runtime) -> Encoded:
        return self.encode_texts(texts, runtime)

    def encode_texts(self, texts: Sequence[str], runtime: Runtime) -> Encoded:
        self.calls.extend(texts)
        values = np.array([[text.count("a"), text.count("b") * self.bias] for text in texts], dtype=np.float32)
        return Encoded(values, np.array([len(text) > 4 for text in texts]))


@dataclass(frozen=True)
class Counting:
    """Reads published texts; fails for those that say so, and counts."""

    VERSION: ClassVar[int] = 1
    reads: ClassVar[list[str]] = []
    strict: bool

    def read(self, item: Item, runtime: Runtime) -> Reading:
        self.reads.append(item.id)
        if item.text == "bad":
            return Reading(Source.embedded, failure="it is bad", state=TextState.garbled)
        return Reading(Source.embedded)
