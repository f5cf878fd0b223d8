"""Populations of queries whose truth is known, and how often intervals over samples of them hold it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glyphrank.records import IntArray
from glyphrank.resampling import mean_intervals, median_intervals
from glyphrank.significance import wilson
from glyphrank.ties import Numbers

GALLERY = 40_781
FAILED = 0.35
SHARED = 0.8
"""How often a query of a group has the group's value instead of one of its own."""


@dataclass(frozen=True)
class Population:
    """What samples are drawn from.

    Attributes:
        truth: the mean or median of the population.
        draw: (generator, n, trials) -> (n, trials) values, a column a sample, and (n,) groups.
        intervals: values and groups -> (trials, 2).
    """

    name: str
    truth: float
    draw: Callable[[np.random.Generator, int, int], tuple[Numbers, IntArray]]
    intervals: Callable[[Numbers, IntArray], Numbers]


def coverage(population: Population, size: int, trials: int, seed: int = 11) -> tuple[float, float]:
    """The share of 95 % intervals of samples that hold the truth, and their mean width."""
    values, groups = population.draw(np.random.default_rng(seed), size, trials)
    low, high = population.intervals(values, groups).T
    return float(np.mean((low <= population.truth) & (population.truth <= high))), float(np.mean(high - low))


def wilson_coverage(share: float, size: int) -> float:
    """The chance that Wilson's interval of a sample holds the share, summed over all numbers of hits."""
    logs = [math.lgamma(size + 1) - math.lgamma(hits + 1) - math.lgamma(size - hits + 1) for hits in range(size + 1)]
    found = (
        math.exp(log + hits * math.log(share) + (size - hits) * math.log1p(-share))
        for hits, log in enumerate(logs)
        if wilson(hits, size)[0] <= share <= wilson(hits, size)[1]
    )
    return math.fsum(found)


def _alone(size: int) -> IntArray:
    return np.arange(size)


def _groups(size: int) -> IntArray:
    """Groups of 1, 2, 3, 4 and 5 queries by turns; the last may be smaller."""
    sizes = np.resize([1, 2, 3, 4, 5], size)
    return np.repeat(np.arange(size), sizes)[:size]


def ndcg_like(generator: np.random.Generator, shape: tuple[int, int]) -> Numbers:
    """0 with a chance of 0.35, else 1 / log2(rank + 1) of a rank that is geometric, at most 10."""
    rank = np.minimum(generator.geometric(0.5, shape), 10)
    return np.asarray(np.where(generator.random(shape) < FAILED, 0.0, 1 / np.log2(rank + 1)))


def grouped_ndcg(generator: np.random.Generator, size: int, trials: int) -> tuple[Numbers, IntArray]:
    """The same distribution, where the queries of a group mostly have one value."""
    groups = _groups(size)
    shared = ndcg_like(generator, (int(groups.max()) + 1, trials))[groups]
    own = ndcg_like(generator, (size, trials))
    return np.where(generator.random((size, trials)) < SHARED, shared, own), groups


def long_tailed_ranks(generator: np.random.Generator, shape: tuple[int, int], centre: float, spread: float) -> Numbers:
    """Ranks of which most are small and a few in the thousands: 1 + floor(lognormal), at most the gallery."""
    ranks: Numbers = np.minimum(np.floor(generator.lognormal(centre, spread, shape)) + 1, GALLERY)
    return ranks


def _true_ndcg() -> float:
    chances = [0.5**rank for rank in range(1, 10)]
    chances.append(1 - sum(chances))
    return (1 - FAILED) * sum(chance / math.log2(rank + 1) for rank, chance in enumerate(chances, start=1))


def _true_mean_rank() -> float:
    normal = NormalDist(1.0, 2.0)
    return 1 + math.fsum(1 - normal.cdf(math.log(rank)) for rank in range(1, GALLERY))


def _ungrouped(values: Numbers, groups: IntArray) -> Numbers:
    return mean_intervals(values, _alone(len(groups)))


NDCG = Population("nDCG", _true_ndcg(), lambda g, n, t: (ndcg_like(g, (n, t)), _alone(n)), mean_intervals)
GROUPED = Population("nDCG, grouped", _true_ndcg(), grouped_ndcg, mean_intervals)
IGNORED = Population("nDCG, grouped, groups ignored", _true_ndcg(), grouped_ndcg, _ungrouped)
MEAN_RANK = Population(
    "mean rank, long tail",
    _true_mean_rank(),
    lambda g, n, t: (long_tailed_ranks(g, (n, t), 1.0, 2.0), _alone(n)),
    mean_intervals,
)
MEDIAN_RANK = Population(
    "median rank", 21.0, lambda g, n, t: (long_tailed_ranks(g, (n, t), 3.0, 1.5), _alone(n)), median_intervals
)
POPULATIONS = (NDCG, GROUPED, IGNORED, MEAN_RANK, MEDIAN_RANK)


def null_differences(kind: str, size: int, trials: int, seed: int = 12) -> tuple[NDArray[Any], IntArray]:
    """(n, trials) differences of two equally good runs, and their groups.

    Args:
        kind: `hits` (both runs hit at random: -1, 0, 1), `continuous`, or `grouped` (most of it is the group's).
    """
    generator = np.random.default_rng(seed)
    if kind == "hits":
        hits = generator.random((2, size, trials)) < 0.5
        return hits[0].astype(np.float64) - hits[1], _alone(size)
    noise = generator.standard_normal((size, trials)) * generator.exponential(1.0, (size, 1))
    if kind == "continuous":
        return noise, _alone(size)
    groups = _groups(size)
    return 0.3 * noise + generator.standard_normal((int(groups.max()) + 1, trials))[groups], groups
