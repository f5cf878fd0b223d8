"""Exact search: every query against every entry."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from glyphrank.indexes.queries import check_queries
from glyphrank.records import FloatArray, Vectors
from glyphrank.scoring import Searcher


@dataclass(frozen=True)
class Exact:
    """Inner products of unit vectors, that is cosines, in float32."""

    VERSION: ClassVar[int] = 1
    PACKAGES: ClassVar[tuple[str, ...]] = ("numpy",)
    approximate: ClassVar[bool] = False

    def build(self, vectors: Vectors) -> Searcher[FloatArray]:
        """A searcher over n entries; its rows are (b, n) float32 in [-1, 1] up to rounding, never -inf.

        Its `rows` takes (b, d) unit rows and raises ValueError for a query of another width or length.
        """
        return _Searcher(np.ascontiguousarray(vectors.values, dtype=np.float32))


@dataclass(frozen=True)
class _Searcher:
    values: FloatArray

    def rows(self, queries: FloatArray) -> FloatArray:
        check_queries(queries, self.values.shape[1])
        return np.ascontiguousarray(queries, dtype=np.float32) @ self.values.T
