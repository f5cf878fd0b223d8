"""Indexes: from vectors to scores."""

from typing import Protocol

from glyphrank.records import FloatArray, Vectors
from glyphrank.scoring import Searcher


class Index(Protocol):
    """Builds a searcher over vectors."""

    def build(self, vectors: Vectors) -> Searcher[FloatArray]:
        """A searcher whose rows are (b, n) float32 inner products; -inf where an approximate index found nothing."""
        ...
