"""Exact search: every query against every entry."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from glyphrank.records import FloatArray, Vectors
from glyphrank.scoring import Searcher


@dataclass(frozen=True)
class Exact:
    """Inner products of unit vectors, that is cosines, in float32."""

    VERSION: ClassVar[int] = 1
    PACKAGES: ClassVar[tuple[str, ...]] = ("numpy",)

    def build(self, vectors: Vectors) -> Searcher[FloatArray]:
        """A searcher over n entries; its rows are (b, n) float32 in [-1, 1] up to rounding, never -inf.

        Its `rows` takes (b, d) unit rows and raises ValueError for a query of another width or length: with vectors
        of unequal length an inner product ranks otherwise than a cosine.
        """
        return _Searcher(np.ascontiguousarray(vectors.values, dtype=np.float32))


@dataclass(frozen=True)
class _Searcher:
    values: FloatArray

    def rows(self, queries: FloatArray) -> FloatArray:
        if queries.ndim != 2 or queries.shape[1] != self.values.shape[1]:
            raise ValueError(f"queries of shape {queries.shape}; wanted (b, {self.values.shape[1]})")
        lengths = np.einsum("ij,ij->i", queries, queries)
        bad = np.flatnonzero(~(np.abs(lengths - 1) < 1e-3))
        if len(bad):
            raise ValueError(f"query number {bad[0]} of the block has squared length {lengths[bad[0]]}; wanted 1")
        return np.ascontiguousarray(queries, dtype=np.float32) @ self.values.T
