"""Encoders: what makes texts comparable, as vectors or as tokens."""

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from glyphrank.records import Encoded, FloatArray, Frames, UInt8Array
from glyphrank.runtime import Runtime
from glyphrank.scoring import Searcher


class Analyser(Protocol):
    """Cuts texts into tokens; its work is cached by text."""

    def tokens(self, texts: Sequence[str]) -> list[list[str]]:
        """For each text its tokens, in order and with repeats."""
        ...


class Lexical(Protocol):
    """Scores tokens of queries against tokens of texts (channel `lexical`)."""

    @property
    def analyser(self) -> Analyser:
        """What cuts queries and texts alike."""
        ...

    def build(self, tokens: Sequence[Sequence[str]]) -> Searcher[Sequence[Sequence[str]]]:
        """A searcher over n texts; its rows are (b, n) float32, -inf where no query token occurs."""
        ...


class TextEncoder(Protocol):
    """Turns queries and texts into vectors whose inner product, at unit length, is their similarity."""

    def encode_queries(self, texts: Sequence[str], runtime: Runtime) -> Encoded:
        """Vectors of n queries, (n, d) float32 of any length, and which were truncated."""
        ...

    def encode_texts(self, texts: Sequence[str], runtime: Runtime) -> Encoded:
        """Vectors of n texts, (n, d) float32 of any length, and which were truncated."""
        ...


class VisualEncoder(Protocol):
    """Turns queries and frames into vectors whose inner product, at unit length, is their similarity."""

    def preparation(self, runtime: Runtime) -> Callable[[UInt8Array], UInt8Array]:
        """What is done to each frame where it is decoded, in another process: (h, w, 3) uint8 to (h', w', 3) uint8.

        It must pickle, and be cheap to import: it is what keeps large frames from travelling to the model.
        """
        ...

    def encode_queries(self, texts: Sequence[str], runtime: Runtime) -> Encoded:
        """Vectors of n queries, (n, d) float32 of any length, and which were truncated."""
        ...

    def encode_frames(self, frames: Iterable[Frames], runtime: Runtime) -> FloatArray:
        """One vector an item, (n, d) float32 of any length, its frames pooled.

        Args:
            frames: the prepared frames of n items, n >= 0. They are decoded while they are taken, so take them as the
                model needs them, not all at once.
            runtime: device and batch size, in frames.
        """
        ...
