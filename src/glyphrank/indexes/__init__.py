"""Indexes: from vectors to scores."""

from typing import Protocol

from glyphrank.records import FloatArray, Vectors
from glyphrank.scoring import Searcher


class Index(Protocol):
    """Builds a searcher over vectors."""

    @property
    def approximate(self) -> bool:
        """Whether it may miss entries: then only the forward direction is ranked, and the loss is measured."""
        ...

    def build(self, vectors: Vectors) -> Searcher[FloatArray]:
        """A searcher whose rows are (b, n) float32 inner products; -inf where an approximate index found nothing."""
        ...
