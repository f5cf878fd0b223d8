"""Rows to rows: several channels' scores of the same items made into one.

Everything here is arithmetic on rows, (b, n) float32, -inf where a channel did not retrieve the item. Each row is
treated by itself, so the result does not depend on how queries are grouped into blocks, and items with equal scores
in every channel stay equal. Fused rows are float64: rounding them to float32 would tie items that differ.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from glyphrank.records import BoolArray, FloatArray

Numbers = NDArray[np.float64]

_ORDINARY = 256
"""Weights between 2 to the power of minus this and of this are used as they are."""


class Fusion(Protocol):
    """Makes one block of rows out of several."""

    def fuse(self, rows: Mapping[str, FloatArray]) -> Numbers:
        """Fused scores, (b, n) float64: -inf only where every channel has -inf, all others finite.

        Raises:
            ValueError: a channel has no weight, or all channels have weight 0.
        """
        ...


class Normalisation(StrEnum):
    """How a channel's scores are made comparable, over the finite cells of each row."""

    minmax = "minmax"
    zscore = "zscore"
    none = "none"


@dataclass(frozen=True)
class ReciprocalRank:
    """Sum over channels of weight / (k + rank), Cormack, Clarke and Buettcher (SIGIR 2009).

    The rank is 1 + the number of items scored strictly higher, so equal scores contribute equally. An item that a
    channel did not retrieve gets nothing from it.

    Attributes:
        k: finite, above 0; 60 in the paper.
        weights: channel -> weight, finite, at least 0 and one above; a channel without an entry is an error.
    """

    VERSION: ClassVar[int] = 2
    k: float
    weights: dict[str, float]

    def __post_init__(self) -> None:
        if not 0 < self.k < math.inf:
            raise ValueError(f"k is {self.k}; wanted a finite number above 0")
        _check_weights(self.weights)

    def fuse(self, rows: Mapping[str, FloatArray]) -> Numbers:
        """Fused scores, (b, n) float64."""
        weights = _weights_of(self.weights, rows)
        total = sum(
            weights[name] * np.where(np.isfinite(block), 1 / (self.k + competition_ranks(block)), 0)
            for name, block in rows.items()
        )
        return _unless_missing_everywhere(np.asarray(total), rows)


@dataclass(frozen=True)
class WeightedSum:
    """Sum over channels of weight x normalised score; an item not retrieved counts as the row's minimum.

    Attributes:
        normalisation: `minmax` to [0, 1] (a row of one value becomes 1, what was not retrieved 0), `zscore` to mean 0
            and deviation 1 (a row of one value becomes 0), `none`.
        weights: channel -> weight, finite, at least 0 and one above; a channel without an entry is an error.
    """

    VERSION: ClassVar[int] = 2
    normalisation: Normalisation
    weights: dict[str, float]

    def __post_init__(self) -> None:
        _check_weights(self.weights)

    def fuse(self, rows: Mapping[str, FloatArray]) -> Numbers:
        """Fused scores, (b, n) float64."""
        weights = _weights_of(self.weights, rows)
        total = sum(weights[name] * normalise(block, self.normalisation) for name, block in rows.items())
        return _unless_missing_everywhere(np.asarray(total), rows)


def competition_ranks(rows: FloatArray) -> Numbers:
    """1 + the number of cells of the row that are strictly higher, (b, n) float64.

    >>> competition_ranks(np.array([[0.5, 0.9, 0.5, -np.inf]], dtype=np.float32))
    array([[2., 1., 2., 4.]])
    """
    order = np.argsort(-rows, axis=1, kind="stable")
    ordered = np.take_along_axis(rows, order, axis=1)
    starts = np.ones(rows.shape, dtype=bool)
    starts[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    first = np.maximum.accumulate(np.where(starts, np.arange(rows.shape[1]), 0), axis=1)
    ranks = np.empty(rows.shape, dtype=np.float64)
    np.put_along_axis(ranks, order, first + 1.0, axis=1)
    return ranks


def normalise(rows: FloatArray, how: Normalisation) -> Numbers:
    """Scores normalised over each row's finite cells, (b, n) float64; cells at -inf get the row's minimum."""
    rows = np.ascontiguousarray(rows)  # the order of a sum, and so its last bits, follows the layout in memory
    finite = np.isfinite(rows)
    low = np.min(np.where(finite, rows, np.inf), axis=1, keepdims=True).astype(np.float64)
    high = np.max(np.where(finite, rows, -np.inf), axis=1, keepdims=True).astype(np.float64)
    low, high = np.where(np.isfinite(low), low, 0), np.where(np.isfinite(high), high, 0)
    filled: Numbers = np.where(finite, rows, low)
    if how is Normalisation.minmax:
        span = np.where(high > low, high - low, 1)
        return np.where(high > low, (filled - low) / span, np.where(finite, 1.0, 0.0))
    if how is Normalisation.zscore:
        return _standardised(filled, finite)
    return filled


def _standardised(filled: Numbers, finite: BoolArray) -> Numbers:
    """Mean 0 and deviation 1 over the finite cells of each row; 0 where they are all equal."""
    count = np.maximum(finite.sum(axis=1, keepdims=True), 1)
    mean = np.where(finite, filled, 0).sum(axis=1, keepdims=True) / count
    deviation = np.sqrt(np.where(finite, (filled - mean) ** 2, 0).sum(axis=1, keepdims=True) / count)
    equal = filled.max(axis=1, keepdims=True) == filled.min(axis=1, keepdims=True)
    scaled: Numbers = (filled - mean) / np.where(equal | (deviation == 0), np.inf, deviation)
    return scaled


def _check_weights(weights: Mapping[str, float]) -> None:
    for name, weight in weights.items():
        if not (np.isfinite(weight) and weight >= 0):
            raise ValueError(f"the weight of {name!r} is {weight}; wanted a finite number of at least 0")
    if not any(weights.values()):
        raise ValueError(f"all weights are 0: {dict(weights)}; wanted one above 0 at least")


def _weights_of(weights: Mapping[str, float], rows: Mapping[str, FloatArray]) -> dict[str, float]:
    """Weights of the channels at hand, divided by a power of two where products would leave the range of float64."""
    for name in rows:
        if name not in weights:
            raise ValueError(f"channel {name!r} has no weight; found weights for {sorted(weights)}")
    here = {name: float(weights[name]) for name in rows}
    if not any(here.values()):
        raise ValueError(f"the channels {sorted(here)} all have weight 0; wanted one above 0 at least")
    exponent = math.frexp(max(here.values()))[1]
    return here if abs(exponent) <= _ORDINARY else {name: math.ldexp(here[name], -exponent) for name in here}


def _unless_missing_everywhere(total: Numbers, rows: Mapping[str, FloatArray]) -> Numbers:
    missing: BoolArray = np.logical_and.reduce([np.isneginf(block) for block in rows.values()])
    total[missing] = -np.inf
    return total
