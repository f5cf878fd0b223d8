"""Encoders whose vectors depend on the batch size, as those of no model should."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from counting_parts import Halve, named_colours
from glyphrank.encoders.precision import Precision
from glyphrank.records import Encoded, FloatArray, Frames
from glyphrank.runtime import Runtime

STEADY = 32
"""The batch size at which nothing shakes."""


@dataclass(frozen=True)
class ShakyLetters:
    """Counts of a, b and c. At batch size `at` those of texts with an x are exchanged; half precision loses them.

    Every call is written down: batch size, precision, side, and how many texts.
    """

    VERSION: ClassVar[int] = 1
    calls: ClassVar[list[tuple[int, str, str, int]]] = []
    at: int
    precision: Precision = Precision.float32

    def encode_queries(self, texts: Sequence[str], runtime: Runtime) -> Encoded:
        return self._encode(texts, runtime, "query")

    def encode_texts(self, texts: Sequence[str], runtime: Runtime) -> Encoded:
        return self._encode(texts, runtime, "text")

    def _encode(self, texts: Sequence[str], runtime: Runtime, side: str) -> Encoded:
        self.calls.append((runtime.batch_size, self.precision.value, side, len(texts)))
        values = np.array([[text.count(letter) for letter in "abc"] for text in texts], dtype=np.float32)
        marked = np.array(["x" in text for text in texts], dtype=np.bool_)
        if runtime.batch_size == self.at:
            values[marked] = values[marked][:, [1, 0, 2]]
        if self.precision is Precision.float16:
            values[marked] = np.inf
        return Encoded(values, np.zeros(len(texts), dtype=np.bool_))


@dataclass(frozen=True)
class ShakyColours:
    """Mean colour of an item's frames, red and blue exchanged at batch size 1; a query names its colour."""

    VERSION: ClassVar[int] = 1
    salt: int

    def preparation(self, runtime: Runtime) -> Halve:
        return Halve()

    def encode_queries(self, texts: Sequence[str], runtime: Runtime) -> Encoded:
        return named_colours(texts)

    def encode_frames(self, frames: Iterable[Frames], runtime: Runtime) -> FloatArray:
        means = [np.mean([image.mean(axis=(0, 1)) for image in item.images], axis=0) for item in frames]
        values = np.array(means, dtype=np.float32).reshape(-1, 3)
        return np.ascontiguousarray(values[:, ::-1]) if runtime.batch_size == 1 else values
