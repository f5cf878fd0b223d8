"""What approximate indexes of faiss share: a searcher whose rows hold what was found, and nothing else."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from glyphrank.indexes.queries import check_queries
from glyphrank.packages import import_package
from glyphrank.records import FloatArray
from glyphrank.versions import installed_version

_DISTRIBUTIONS = ("faiss-cpu", "faiss-gpu", "faiss-gpu-cu11", "faiss-gpu-cu12", "faiss")


def installed_faiss() -> tuple[str, ...]:
    """The distribution that carries faiss here; there are several, with one module. `faiss-cpu` where there is none."""
    return (next((name for name in _DISTRIBUTIONS if installed_version(name)), _DISTRIBUTIONS[0]),)


def import_faiss() -> Any:
    """The module.

    Raises:
        ConfigError: it cannot be imported.
    """
    return import_package("faiss", installed_faiss()[0])


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Builds an index the same way every time: with several threads the order of insertion is theirs."""
    faiss = import_faiss()
    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)


@dataclass(frozen=True)
class FaissSearcher:
    """Scores what an index of faiss finds.

    Attributes:
        index: of faiss, over the rows of `values` in their order.
        values: (n, d) float32, unit rows.
        depth: entries that are asked for, at least 1; what the index does not find has no score.
    """

    index: Any
    values: FloatArray
    depth: int

    def rows(self, queries: FloatArray) -> FloatArray:
        """Inner products of (b, d) unit rows with what was found for each, (b, n) float32, -inf elsewhere.

        Queries are searched one at a time: faiss multiplies blocks otherwise, whose last bits differ, and at a tie
        other cells would be visited. Products are computed here, so that equal entries score bitwise equal.

        Raises:
            ValueError: a query has another width, or is not a finite unit row.
        """
        check_queries(queries, self.values.shape[1])
        rows = np.full((len(queries), len(self.values)), -np.inf, dtype=np.float32)
        for row, query in zip(rows, np.ascontiguousarray(queries, dtype=np.float32), strict=True):
            _, found = self.index.search(query[None], min(self.depth, len(self.values)))
            real = found[0][found[0] >= 0]  # faiss pads with -1, which as a place would be the last entry
            row[real] = (self.values[real] * query).sum(axis=1)
        return rows
