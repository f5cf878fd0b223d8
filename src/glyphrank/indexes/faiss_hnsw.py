"""Approximate search over a graph of neighbours, by faiss (Malkov and Yashunin 2018, arXiv:1603.09320)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from glyphrank.indexes.faiss_search import FaissSearcher, import_faiss, installed_faiss, one_thread
from glyphrank.records import FloatArray, Vectors
from glyphrank.scoring import Searcher


@dataclass(frozen=True)
class FaissHnsw:
    """Walks a graph of near entries towards the query.

    Attributes:
        m: neighbours of an entry on each level, at least 2; twice as many on the lowest.
        ef_construction: candidates that are weighed when an entry is inserted, at least 1.
        ef_search: candidates that are kept while searching, at least 1; faiss keeps at least `depth`.
        depth: entries that are scored for each query, at least 1; the others count as not retrieved.
    """

    VERSION: ClassVar[int] = 1
    PACKAGES: ClassVar[tuple[str, ...]] = (*installed_faiss(), "numpy")
    approximate: ClassVar[bool] = True

    m: int
    ef_construction: int
    ef_search: int
    depth: int

    def __post_init__(self) -> None:
        for name, least in (("m", 2), ("ef_construction", 1), ("ef_search", 1), ("depth", 1)):
            if getattr(self, name) < least:
                raise ValueError(f"{name} is {getattr(self, name)}; wanted at least {least}")

    def build(self, vectors: Vectors) -> Searcher[FloatArray]:
        """A searcher over n entries, the same for the same vectors; its rows are (b, n) float32, see `FaissSearcher`.

        With more `depth` than entries all that can be reached are scored.

        Raises:
            ConfigError: faiss cannot be imported.
        """
        faiss = import_faiss()
        values = np.ascontiguousarray(vectors.values, dtype=np.float32)
        index = faiss.IndexHNSWFlat(values.shape[1], self.m, faiss.METRIC_INNER_PRODUCT)
        index.hnsw.efConstruction = self.ef_construction
        index.hnsw.efSearch = self.ef_search
        with one_thread():
            index.add(values)
        return FaissSearcher(index, values, self.depth)
