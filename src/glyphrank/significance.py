"""Whether a difference between two runs could be chance, two-sided, and how sure a share is.

The tests are paired randomisation tests, which need no distribution (Fisher 1935; for retrieval: Smucker, Allan &
Carterette 2007, CIKM). If two runs were equally good, it would be chance which of them gave which of a query's two
values; so the values are exchanged at random, group by group, and p is the share of exchanges after which the runs
differ at least as much as they do. The observed order counts among them. Of few groups all exchanges are tried, else
10,000 random ones from one fixed seed (more for a large family of tests, so that a correction can still reject).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from glyphrank.records import IntArray
from glyphrank.resampling import CELLS, Median, group_sums, medians, order_statistics
from glyphrank.ties import Numbers

Interval = tuple[float, float]
"""Low and high."""

EXCHANGES = 10_000
SEED = 20_251_202

_SAME = 1e-10
"""Sums that differ by this share of what was summed are equal: their terms were added in different orders."""


def wilson(hits: float, trials: float, level: float = 0.95) -> Interval:
    """Score interval of a share (Wilson 1927, J. Am. Stat. Assoc. 22), within [0, 1].

    Unlike the share plus or minus its standard error it stays honest for shares near 0 and 1 and for few trials; there
    is no correction for continuity.

    Args:
        hits: number of successes, in [0, trials].
        trials: number of independent trials, above 0.
        level: share of such intervals that hold the truth.

    Raises:
        ValueError: a number is out of its range.

    >>> [round(end, 4) for end in wilson(0, 10)]
    [0.0, 0.2775]
    """
    if not trials > 0:
        raise ValueError(f"trials is {trials}; wanted more than 0")
    if not 0 <= hits <= trials:
        raise ValueError(f"hits is {hits}; wanted 0 to {trials}")
    if not 0 < level < 1:
        raise ValueError(f"level is {level}; wanted more than 0 and less than 1")
    score = NormalDist().inv_cdf(0.5 + level / 2)
    share, shrunk = hits / trials, 1 + score**2 / trials
    centre = (share + score**2 / (2 * trials)) / shrunk
    half = score * math.sqrt(share * (1 - share) / trials + score**2 / (4 * trials**2)) / shrunk
    return 0.0 if hits == 0 else max(centre - half, 0.0), 1.0 if hits == trials else min(centre + half, 1.0)


def sign_flip_test(differences: Numbers, groups: IntArray, family: int = 1) -> Numbers:
    """p-values of paired differences of means, (m,), each in (0, 1].

    The differences of a group change sign together. Where no more than 10,000 patterns of signs matter (13 groups
    whose sum is not 0) all are tried and p is exact, else p = (1 + extreme) / (1 + exchanges). Sums that differ by
    rounding only count as equal, so as extreme. Without any difference p is 1.

    Args:
        differences: (q, m), first run's value minus the second's; each column is a test of its own, all under the same
            exchanges.
        groups: (q,) equal numbers belong together; all different means ungrouped.
        family: how many tests will be corrected together; of more than 100 each gets 100 exchanges for each test.

    Raises:
        ValueError: shapes disagree, there is no query, or a difference is not finite.
    """
    _check(differences, groups)
    exchanges = _exchanges(family)
    sums = group_sums(differences, groups)
    slack = _SAME * np.abs(sums).sum(axis=0)
    least = np.abs(sums.sum(axis=0)) - slack
    matter = np.abs(sums) > slack
    few = matter.sum(axis=0) <= math.log2(exchanges)
    p_values = np.empty(len(least))
    for column in np.flatnonzero(few):
        total = _flipped(_every_pattern(int(matter[:, column].sum())), sums[matter[:, column], column])
        p_values[column] = np.mean(np.abs(total) >= least[column])
    if not few.all():
        extreme = np.zeros(int((~few).sum()), dtype=np.int64)
        for bits in _random_patterns(sums.shape, exchanges):
            extreme += (np.abs(_flipped(bits, sums[:, ~few])) >= least[~few]).sum(axis=0)
        p_values[~few] = (1 + extreme) / (1 + exchanges)
    return p_values


def swap_test(
    first: Numbers, second: Numbers, groups: IntArray, median: Median = Median.upper_middle, family: int = 1
) -> float:
    """p-value of the difference of two runs' medians over the same queries; conventions of `sign_flip_test`.

    Args:
        first, second: (q,) the values of the runs, finite; the values of a group are exchanged together.
        groups: (q,) equal numbers belong together; all different means ungrouped.
        median: which one.
        family: how many tests will be corrected together.

    Raises:
        ValueError: shapes disagree, there is no query, or a value is not finite.
    """
    both = np.stack([first, second], axis=1)
    _check(both, groups)
    exchanges = _exchanges(family)
    pooled = _pool(both, groups)
    differ = np.flatnonzero(group_sums(both[:, :1] != both[:, 1:], groups)[:, 0])
    observed = medians(both, median)
    least = abs(observed[0] - observed[1]) - _SAME * np.abs(both).max()
    shape, few = (len(pooled.below), len(pooled.values)), len(differ) <= math.log2(exchanges)
    blocks = _all_patterns(shape, differ) if few else _random_patterns(shape, exchanges)
    extreme = sum(int(np.sum(np.abs(pooled.apart(bits, median)) >= least)) for bits in blocks)
    return float(extreme / 2 ** len(differ)) if few else (1 + extreme) / (1 + exchanges)


def holm(p_values: Sequence[float] | Numbers) -> Numbers:
    """p-values adjusted for a family of tests (Holm 1979, Scand. J. Stat. 6), in the order given, at most 1.

    Rejecting where the adjusted value is at most a keeps the chance of any false rejection at a, however the tests
    depend on each other.

    Raises:
        ValueError: a p-value is not in [0, 1].

    >>> holm([0.01, 0.04, 0.03]).round(2).tolist()
    [0.03, 0.06, 0.06]
    """
    values = np.asarray(p_values, dtype=np.float64)
    if not ((values >= 0) & (values <= 1)).all():
        raise ValueError(f"p-values are {values.tolist()}; wanted numbers in [0, 1]")
    order = np.argsort(values, kind="stable")
    adjusted = np.empty_like(values)
    adjusted[order] = np.minimum(np.maximum.accumulate(values[order] * np.arange(len(values), 0, -1)), 1.0)
    return adjusted


def _exchanges(family: int) -> int:
    if family < 1:
        raise ValueError(f"family is {family}; wanted at least 1")
    return max(EXCHANGES, 100 * family)


def _flipped(bits: Numbers, sums: Numbers) -> Numbers:
    """Totals of the sums of groups, those of the groups whose bit is 1 with the other sign."""
    return np.asarray(sums.sum(axis=0) - 2 * (bits @ sums), dtype=np.float64)


def _every_pattern(count: int) -> Numbers:
    """(2^count, count) every pattern of 0 and 1."""
    return (np.arange(2**count)[:, None] >> np.arange(count) & 1).astype(np.float64)


def _all_patterns(shape: tuple[int, int], differ: IntArray) -> Iterator[Numbers]:
    """As `_random_patterns`, every pattern of some of the groups; the others have 0."""
    every, most = _every_pattern(len(differ)), max(1, CELLS // max(shape))
    for start in range(0, len(every), most):
        block = every[start : start + most]
        bits = np.zeros((len(block), shape[0]))
        bits[:, differ] = block
        yield bits


def _random_patterns(shape: tuple[int, ...], exchanges: int) -> Iterator[Numbers]:
    """Blocks of random patterns of 0 and 1, (c, g), `exchanges` in all, for a product with values of a shape (g, m)."""
    count, generator = shape[0], np.random.default_rng(SEED)
    most = max(1, CELLS // max(shape))
    for start in range(0, exchanges, most):
        block = (min(most, exchanges - start), -(-count // 64))
        words = generator.integers(0, 2**64 - 1, block, dtype=np.uint64, endpoint=True)
        yield np.unpackbits(words.view(np.uint8), axis=1, count=count).astype(np.float64)


@dataclass(frozen=True)
class _Pool:
    """Both runs' values near their common middle, in one ascending order, for counting from below.

    Attributes:
        values: (j,) ascending.
        group: (j,) whose each is, from 0 without gaps.
        sign: (j,) 1 for a value of the first run, -1 for one of the second.
        below: (g, 2) for each group, how many of its values of each run stand below all of these.
        size: how many values a run has.
    """

    values: Numbers
    group: IntArray
    sign: Numbers
    below: Numbers
    size: int

    def apart(self, bits: Numbers, median: Median) -> Numbers:
        """(c,) the median of the first run less that of the second, with the values exchanged where bits (c, g) are 1.

        A sample that takes a value has one more up to it; the other sample has the rest of the pool.
        """
        moved = bits @ (self.below[:, 1:] - self.below[:, :1])
        taken = np.where(self.sign > 0, 1 - bits[:, self.group], bits[:, self.group])
        one = self.below[:, 0].sum() + moved + np.cumsum(taken, axis=1)
        other = self.below.sum() + np.arange(1, len(self.values) + 1) - one
        return self._median(one, median) - self._median(other, median)

    def _median(self, counts: Numbers, median: Median) -> Numbers:
        upper: Numbers = order_statistics(self.values, counts, np.array([self.size // 2]))
        if median is Median.upper_middle:
            return upper
        return np.asarray((order_statistics(self.values, counts, np.array([(self.size - 1) // 2])) + upper) / 2)


def _pool(both: Numbers, groups: IntArray) -> _Pool:
    """The values of two runs, (q, 2), that a middle can have after an exchange.

    Exchanges that move a middle further from the middle of all values than six standard deviations (at most the root of
    the sum of squared group sizes, in places) are one in 10^8; such a middle is taken for the last value there.
    """
    count = len(both)
    _, inverse, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    spread = int(np.ceil(6 * np.linalg.norm(sizes))) + 1
    first = max(count - 1 - spread, 0)
    order = np.argsort(both, axis=None, kind="stable")
    near = order[first : count + 1 + spread]
    below = np.zeros(2 * count, dtype=np.bool_)
    below[order[:first]] = True
    sums = group_sums(below.reshape(count, 2), groups)
    sign = np.where(near % 2 == 0, 1.0, -1.0)
    return _Pool(both.ravel()[near], inverse[near // 2], sign, sums, count)


def _check(values: Numbers, groups: IntArray) -> None:
    if values.ndim != 2 or groups.shape != (len(values),) or not len(values):
        raise ValueError(f"values of shape {values.shape} with groups of shape {groups.shape}; wanted (q, m) and (q,)")
    if not np.isfinite(values).all():
        raise ValueError("a value is not finite; leave out queries without a relevant item")
