"""From vectors of texts to vectors of items, where an item has several texts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from glyphrank.digests import digest_text
from glyphrank.records import FloatArray, IntArray, Vectors
from glyphrank.scoring import place, unit_rows
from glyphrank.transcript import Pooling

_ROUNDING = 1e-6
"""A mean of unit rows that is no longer than this has no direction but that of rounding."""


def pool(vectors: Vectors, groups: Sequence[Sequence[str]], pooling: Pooling) -> tuple[Vectors, IntArray]:
    """The vectors to search in, and which of them are each item's.

    Args:
        vectors: of distinct texts, under their digests.
        groups: (n,) digests of each item's texts, all among `vectors`; a text may stand in it more than once.
        pooling: `mean` gives an item the mean of its unit vectors, made a unit row again; `best` leaves it all of them.

    Returns:
        The vectors, and (n,) or for `best` (n, w) row numbers, -1 where there is none. Items of equal texts share rows.
        A mean without length (of opposite vectors) is no vector, and its item has none.
    """
    longest = max(map(len, groups), default=0)
    if longest <= 1:
        return vectors, place(vectors.ids, [group[0] if group else "" for group in groups])
    known = {name: row for row, name in enumerate(vectors.ids)}
    if pooling is Pooling.best:
        rows = np.full((len(groups), longest), -1, dtype=np.int64)
        for number, group in enumerate(groups):
            rows[number, : len(group)] = [known[digest] for digest in group]
        return vectors, rows
    names = {tuple(group): digest_text(*group) for group in groups if group}
    means = np.stack([_mean(vectors.values[[known[digest] for digest in group]]) for group in names])
    values, usable = unit_rows(means)
    kept = [name for name, good in zip(names.values(), usable, strict=True) if good]
    return Vectors(tuple(kept), values[usable]), place(kept, [names.get(tuple(group), "") for group in groups])


def _mean(values: FloatArray) -> FloatArray:
    """Mean of (w, d) unit rows, whose last bits do not depend on the order of the texts; one row stays as it is."""
    mean: NDArray[np.floating] = values[0]
    if len(values) > 1:
        mean = np.sort(values, axis=0).mean(axis=0, dtype=np.float64)
    return np.asarray(mean if np.linalg.norm(mean) > _ROUNDING else np.zeros_like(mean), dtype=np.float32)
