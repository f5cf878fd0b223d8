"""Encoders and OCR engines that write down what they are asked, for the tests of stages and channels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from glyphrank.records import (
    Encoded,
    FloatArray,
    Frames,
    Item,
    Line,
    Media,
    Reading,
    Source,
    TextState,
    UInt8Array,
)
from glyphrank.runtime import Runtime


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
    needs_frames: ClassVar[bool] = False
    sources: ClassVar[tuple[Source, ...]] = (Source.embedded,)
    reads: ClassVar[list[str]] = []
    strict: bool

    def read(self, item: Item, frames: Callable[[], Frames], runtime: Runtime) -> Reading:
        self.reads.append(item.id)
        if item.text == "bad":
            return Reading(Source.embedded, failure="it is bad", state=TextState.garbled)
        return Reading(Source.embedded)


@dataclass(frozen=True)
class Following:
    """Reads the published OCR of a clip, a text or a file, as one track a word, and counts."""

    VERSION: ClassVar[int] = 1
    needs_frames: ClassVar[bool] = False
    sources: ClassVar[tuple[Source, ...]] = (Source.published,)
    reads: ClassVar[list[str]] = []

    def read(self, item: Item, frames: Callable[[], Frames], runtime: Runtime) -> Reading:
        self.reads.append(item.id)
        published = item.published_ocr
        text = published.path.read_text() if isinstance(published, Media) else published or ""
        lines = tuple(
            Line(word, 0.5, None, at, 0.1 * at, ((at, at + 2), (at + 5, at + 9)))
            for at, word in enumerate(text.split())
        )
        return Reading(Source.published, lines, None, TextState.thin, 40, False)


@dataclass(frozen=True)
class Halve:
    """Every second row and column of a frame."""

    def __call__(self, image: UInt8Array) -> UInt8Array:
        return image[::2, ::2]


@dataclass(frozen=True)
class Colours:
    """Mean colour of an item's frames; a black one has a zero vector. A query names its colour."""

    VERSION: ClassVar[int] = 1
    calls: ClassVar[list[tuple[int, ...]]] = []
    bias: float

    def preparation(self, runtime: Runtime) -> Halve:
        return Halve()

    def encode_queries(self, texts: Sequence[str], runtime: Runtime) -> Encoded:
        return named_colours(texts)

    def encode_frames(self, frames: Iterable[Frames], runtime: Runtime) -> FloatArray:
        values = np.empty((0, 3), dtype=np.float32)
        for item in frames:
            self.calls.append(item.images[0].shape)
            mean = np.mean([image.mean(axis=(0, 1)) for image in item.images], axis=0, keepdims=True)
            values = np.concatenate([values, mean.astype(np.float32) * self.bias])
        return values


@dataclass(frozen=True)
class Looking:
    """Says how large each frame is; fails for one pixel."""

    VERSION: ClassVar[int] = 1
    needs_frames: ClassVar[bool] = True
    sources: ClassVar[tuple[Source, ...]] = (Source.scene,)
    reads: ClassVar[list[str]] = []
    strict: bool

    def read(self, item: Item, frames: Callable[[], Frames], runtime: Runtime) -> Reading:
        self.reads.append(item.id)
        images = frames().images
        if images[0].shape == (1, 1, 3):
            return Reading(Source.scene, failure="it is too small")
        return Reading(Source.scene, tuple(Line(f"{image.shape[1]} wide") for image in images))


@dataclass(frozen=True)
class Twofold:
    """Published texts, or else what is seen."""

    VERSION: ClassVar[int] = 1
    needs_frames: ClassVar[bool] = True
    sources: ClassVar[tuple[Source, ...]] = (Source.embedded, Source.scene)
    first: Counting
    second: Looking

    def enough(self, reading: Reading) -> bool:
        return reading.failure is None

    def read(self, item: Item, frames: Callable[[], Frames], runtime: Runtime) -> Reading:
        raise NotImplementedError

    def choose(self, first: Reading, second: Reading) -> Reading:
        return second if second.failure is None else replace(first, failure=f"{first.failure}; {second.failure}")


def named_colours(texts: Sequence[str]) -> Encoded:
    """Red, green and blue, each 1 where a text names it."""
    values = np.array([[float(name in text) for name in ("red", "green", "blue")] for text in texts])
    return Encoded(values.astype(np.float32), np.zeros(len(texts), dtype=np.bool_))
