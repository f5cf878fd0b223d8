"""Approximate search in the cells nearest to a query, by faiss (inverted file; Sivic and Zisserman 2003)."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from glyphrank.indexes.faiss_search import FaissSearcher, import_faiss, installed_faiss, one_thread
from glyphrank.records import FloatArray, Vectors
from glyphrank.scoring import Searcher

LOG = logging.getLogger(__name__)

POINTS_A_LIST = 39
"""Entries to a list, below which faiss calls its k-means too poor to trust (`min_points_per_centroid`)."""
_SEED = 1234


@dataclass(frozen=True)
class FaissIvf:
    """Cuts the entries into cells by k-means and scores those in the cells nearest to the query.

    Attributes:
        lists: cells, at least 1; a small corpus gets fewer, so that each has at least `POINTS_A_LIST` entries.
        probes: cells that are visited for each query, at least 1. With one, faiss's default, much is missed.
        depth: entries that are scored for each query, at least 1; the others count as not retrieved.
    """

    VERSION: ClassVar[int] = 1
    PACKAGES: ClassVar[tuple[str, ...]] = (*installed_faiss(), "numpy")
    approximate: ClassVar[bool] = True

    lists: int
    probes: int
    depth: int

    def __post_init__(self) -> None:
        for name in ("lists", "probes", "depth"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}; wanted at least 1")
        if self.probes > self.lists:
            raise ValueError(f"probes is {self.probes} and lists {self.lists}; wanted at most as many probes as lists")

    def build(self, vectors: Vectors) -> Searcher[FloatArray]:
        """A searcher over n entries, the same for the same vectors; its rows are (b, n) float32, see `FaissSearcher`.

        Too few entries for `lists` are said in the log; with one list every entry is visited.

        Raises:
            ConfigError: faiss cannot be imported.
        """
        faiss = import_faiss()
        values = np.ascontiguousarray(vectors.values, dtype=np.float32)
        lists = max(1, min(self.lists, len(values) // POINTS_A_LIST))
        if lists < self.lists:
            LOG.warning(
                "faiss_ivf: %d entries are too few for %d lists of at least %d each; there are %d lists",
                *(len(values), self.lists, POINTS_A_LIST, lists),
            )
        quantiser = faiss.IndexFlatIP(values.shape[1])
        index = faiss.IndexIVFFlat(quantiser, values.shape[1], lists, faiss.METRIC_INNER_PRODUCT)
        index.cp.seed = _SEED
        index.cp.min_points_per_centroid = 1  # said above, in our log; faiss would print it
        index.nprobe = min(self.probes, lists)
        with one_thread():
            index.train(values)
            index.add(values)
        return FaissSearcher(index, values, self.depth)
