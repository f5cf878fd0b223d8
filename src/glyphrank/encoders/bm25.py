"""BM25 over tokens, scored by the package bm25s (Lù 2024, arXiv:2407.03618), which computes all weights at build."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar

import numpy as np

from glyphrank.encoders import Analyser
from glyphrank.packages import import_package
from glyphrank.records import FloatArray
from glyphrank.scoring import Searcher


class Method(StrEnum):
    """Forms of BM25 compared by Kamphuis et al. (ECIR 2020) in which a text without a query's tokens scores 0.

    BM25L and BM25+ are left out: they score such texts above 0, and here 0 means that a text is not retrieved.
    """

    robertson = "robertson"
    lucene = "lucene"
    atire = "atire"


@dataclass(frozen=True)
class Bm25:
    """Weighs the tokens that a query and a text share.

    A token that a query repeats counts as often as it stands there.

    Attributes:
        analyser: cuts queries and texts into tokens.
        method: how the frequency of a token in a text saturates.
        idf: how the rareness of a token weighs; usually the same as `method`.
        k1: how slowly repeats of a token saturate, at least 0.
        b: share of the normalisation by a text's length, 0 to 1.
    """

    VERSION: ClassVar[int] = 1
    PACKAGES: ClassVar[tuple[str, ...]] = ("bm25s", "numpy")

    analyser: Analyser
    method: Method
    idf: Method
    k1: float
    b: float

    def __post_init__(self) -> None:
        if not 0 <= self.k1 < float("inf"):
            raise ValueError(f"k1 is {self.k1}; wanted a number of at least 0")
        if not 0 <= self.b <= 1:
            raise ValueError(f"b is {self.b}; wanted 0 to 1")

    def build(self, tokens: Sequence[Sequence[str]]) -> Searcher[Sequence[Sequence[str]]]:
        """A searcher over n tokenised texts.

        Its rows are (b, n) float32: equal texts score bitwise equal, and a text is at -inf where its score is 0,
        that is where it has no token of the query (or none that weighs). A text without tokens is at -inf always.
        """
        return _Searcher(self._index(tokens) if any(tokens) else None, len(tokens))

    def _index(self, tokens: Sequence[Sequence[str]]) -> Any:
        bm25s = import_package("bm25s", "bm25s")

        # The package opens its logger at DEBUG, past the level that the application set.
        logging.getLogger("bm25s").setLevel(logging.WARNING)
        index = bm25s.BM25(k1=self.k1, b=self.b, method=self.method.value, idf_method=self.idf.value, backend="numpy")
        # A list, since bm25s takes a pair in a tuple for (ids, vocabulary); without its empty token, whose number
        # lies outside the index and fails when a query holds it.
        index.index(list(tokens), create_empty_token=False, show_progress=False)
        return index


@dataclass(frozen=True)
class _Searcher:
    """Scores queries one by one into the result, so that nothing but one row is held beside it."""

    index: Any
    size: int

    def rows(self, queries: Sequence[Sequence[str]]) -> FloatArray:
        rows = np.full((len(queries), self.size), -np.inf, dtype=np.float32)
        if self.index is None:
            return rows
        for row, query in zip(rows, queries, strict=True):
            known = self.index.get_tokens_ids(query)
            if known:
                scores = self.index.get_scores_from_ids(known)
                np.copyto(row, scores, where=scores > 0)
        return rows
