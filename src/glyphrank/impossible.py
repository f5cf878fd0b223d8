"""Which published numbers cannot all be true: recall and nDCG of queries with one relevant item each bound each other.

With one relevant item, recall at r is the share of queries that find it within r places, and nDCG at k the mean of
1 / log2(rank + 1) over those that find it within k. So with R the recall at every place, nDCG at k is the sum over
r <= k of (R[r] - R[r - 1]) / log2(r + 1): known where recall is known at every cut-off, else between limits.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence

_SLACK = 1e-9
"""Differences up to here are rounding of our own."""

Point = tuple[float, float]
Interval = tuple[float, float]


def contradictions(recalls: Mapping[int, float], ndcgs: Mapping[int, float], decimals: int) -> list[str]:
    """Why numbers of one table row cannot all be true, in sentences; none where they can.

    Every number may be off by half a unit of its last written place. The sentences give limits twice: for the numbers
    as they are printed, and with the rounding. The test is complete: where it finds nothing, some set of rankings has
    just these numbers (of however many queries).

    Args:
        recalls, ndcgs: cut-off -> value as a fraction; `hit_rate` where papers say recall.
        decimals: places after the point that were written; of `.7` beside `.68` it is 2.

    Raises:
        ValueError: a cut-off is below 1, or decimals below 0.
    """
    if decimals < 0 or min([*recalls, *ndcgs], default=1) < 1:
        raise ValueError(f"cut-offs are {[*recalls, *ndcgs]}, decimals {decimals}; wanted at least 1, and at least 0")
    row = _Row(dict(sorted(recalls.items())), dict(sorted(ndcgs.items())), decimals)
    found = row.outside() or row.falling()
    if not found:
        found = row.beyond_limits()
    if not found and not _are_possible(row.intervals(row.recalls), row.intervals(row.ndcgs)):
        found = [f"{row.named()} cannot all be true together, though each nDCG could beside the recalls"]
    return found


def ndcg_limits(recalls: Mapping[int, float], k: int, rounding: float = 0.0) -> tuple[float, float]:
    """The least and the largest nDCG at k that recalls at some cut-offs leave open, with one relevant item a query.

    Args:
        recalls: cut-off -> value, not falling with the cut-off.
        rounding: how far each recall may be off, such as 0.005 for two decimals.

    >>> low, high = ndcg_limits({1: 0.41, 3: 0.68}, 3)
    >>> round(low, 3), round(high, 3)
    (0.545, 0.58)
    """
    return _limits(recalls, 0, k, rounding)


class _Row:
    """One row of a table, as it was printed; cut-offs ascend."""

    def __init__(self, recalls: Mapping[int, float], ndcgs: Mapping[int, float], decimals: int) -> None:
        self.recalls = recalls
        self.ndcgs = ndcgs
        self._decimals = decimals
        self._unit = 10.0**-decimals
        first = {1: ndcgs[1]} if 1 in ndcgs else {}
        self._known = first | dict(recalls)  # nDCG at 1 is recall at 1

    def outside(self) -> list[str]:
        """Values that are no fractions."""
        return [
            f"{name}_at_{k} is {value:g}; wanted a fraction from 0 to 1"
            for name, values in (("recall", self.recalls), ("ndcg", self.ndcgs))
            for k, value in values.items()
            if not -_SLACK <= value <= 1 + _SLACK
        ]

    def falling(self) -> list[str]:
        """Values that fall as the cut-off grows, by a whole unit at least, and nDCG at 1 that is not recall at 1."""
        found = [
            f"{name}_at_{k} is {self._text(value)}, below {name}_at_{before} {self._text(values[before])}; "
            "it cannot fall as the cut-off grows"
            for name, values in (("recall", self.recalls), ("ndcg", self.ndcgs))
            for before, (k, value) in zip(values, list(values.items())[1:], strict=False)
            if self._differ(values[before], value)
        ]
        if 1 in self.recalls and 1 in self.ndcgs and self._differ(*sorted((self.ndcgs[1], self.recalls[1]))[::-1]):
            found.append(
                f"ndcg_at_1 is {self._text(self.ndcgs[1])} and recall_at_1 {self._text(self.recalls[1])}; with one "
                "relevant item a query they are the same"
            )
        return found

    def beyond_limits(self) -> list[str]:
        """Values of nDCG that the recalls rule out; where there are none, its growths between two cut-offs."""
        found = [sentence for k in self.ndcgs for sentence in self._refused(0, k)]
        pairs = () if found else itertools.combinations(self.ndcgs, 2)
        return found + [sentence for low, high in pairs for sentence in self._refused(low, high)]

    def intervals(self, values: Mapping[int, float]) -> dict[int, Interval]:
        """What each value may truly be."""
        return {k: (value - self._unit / 2, value + self._unit / 2) for k, value in values.items()}

    def named(self, names: Sequence[int] | None = None) -> str:
        """The recalls at some cut-offs; without these, every number of the row."""
        shown = [self._recall(k) for k in (self._known if names is None else names)]
        if names is None:
            shown += [f"ndcg_at_{k} {self._text(value)}" for k, value in self.ndcgs.items() if k > 1]
        return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"

    def _refused(self, start: int, end: int) -> list[str]:
        """A sentence where what nDCG gains from `start` (0: from nothing) to `end` is beyond its limits."""
        value = self.ndcgs[end] - (self.ndcgs[start] if start else 0.0)
        half = self._unit / 2 * (2 if start else 1)
        wide = _limits(self._known, start, end, self._unit / 2)
        if wide[0] - half - _SLACK <= value <= wide[1] + half + _SLACK:
            return []
        subject = f"ndcg_at_{end} is {self._text(self.ndcgs[end])}"
        if start:
            subject += f", {self._text(value)} above ndcg_at_{start} {self._text(self.ndcgs[start])}"
        deciding = self._deciding(start, end)
        verb = "forces" if len(deciding) <= 1 else "force"
        what = "this difference" if start else "it"
        printed = _limits(self._known, start, end, 0.0)
        rounded = f" (between {self._span(wide)} with the rounding of each recall)" if wide != printed else ""
        reason = self.named(deciding) if deciding else "the discount of the places"
        return [f"{subject}, but {reason} {verb} {what} to lie between {self._span(printed)}{rounded}"]

    def _deciding(self, start: int, end: int) -> list[int]:
        """The cut-offs of the recalls that limit nDCG between two places: those within, and the next on either side."""
        below = [k for k in self._known if k <= start][-1:]
        above = [k for k in self._known if k >= end][:1]
        return sorted({*below, *(k for k in self._known if start < k < end), *above})

    def _recall(self, k: int) -> str:
        return f"{'recall' if k in self.recalls else 'ndcg'}_at_{k} {self._text(self._known[k])}"

    def _span(self, limits: Interval) -> str:
        return " and ".join(f"{limit:.{self._decimals + 1}f}" for limit in limits)

    def _text(self, value: float) -> str:
        return f"{value:.{self._decimals}f}"

    def _differ(self, larger: float, smaller: float) -> bool:
        """Whether one number is above the other by a unit of the last place, so that no rounding explains it."""
        return larger - smaller > self._unit - _SLACK


def _discount(rank: int) -> float:
    return 1 / math.log2(rank + 1)


def _limits(recalls: Mapping[int, float], start: int, end: int, rounding: float) -> Interval:
    """What nDCG can gain from `start` (0: from nothing) to `end`, at least and at most.

    It gains least where recall grows as late as the known recalls let it, and most where it grows as early.
    """
    known = sorted(recalls.items())
    low = [max((v - rounding for k, v in known if k <= r), default=0.0) if r else 0.0 for r in range(start, end + 1)]
    high = [min((v + rounding for k, v in known if k >= r), default=1.0) if r else 0.0 for r in range(start, end + 1)]
    low, high = [max(value, 0.0) for value in low], [min(value, 1.0) for value in high]
    late = [high[0], *(max(value, high[0]) for value in low[1:])]
    early = [low[0], *high[1:]]
    discounts = [_discount(rank) for rank in range(start + 1, end + 1)]
    gained = [
        sum(d * (b - a) for d, (a, b) in zip(discounts, itertools.pairwise(r), strict=True)) for r in (late, early)
    ]
    return gained[0], gained[1]


def _are_possible(recalls: Mapping[int, Interval], ndcgs: Mapping[int, Interval]) -> bool:
    """Whether some distribution of ranks has all of these recalls and nDCGs.

    Goes through the cut-offs with the set of pairs (recall, nDCG) that can be reached there, a convex polygon. Between
    two cut-offs a and b a share m of the queries adds m to recall and between m / log2(b + 1) and m / log2(a + 2) to
    nDCG; at each cut-off what is not in the intervals is cut off.
    """
    reached: list[Point] = [(0.0, 0.0)]
    last = 0
    for cutoff in sorted({*recalls, *ndcgs}):
        steps = ((0.0, 0.0), (1.0, _discount(cutoff)), (1.0, _discount(last + 1)))
        reached = _hull([(x + dx, y + dy) for x, y in reached for dx, dy in steps])
        for axis, (low, high) in ((0, recalls.get(cutoff, (0.0, 1.0))), (1, ndcgs.get(cutoff, (0.0, 1.0)))):
            reached = _cut(reached, axis, 1.0, min(high, 1.0) + _SLACK)
            reached = _cut(reached, axis, -1.0, -low + _SLACK)
        reached = _cut(reached, 0, 1.0, 1.0)
        last = cutoff
    return bool(reached)


def _hull(points: Sequence[Point]) -> list[Point]:
    """Corners of the convex hull, counter-clockwise."""
    ordered = sorted(set(points))
    if len(ordered) < 3:
        return ordered
    chains: list[list[Point]] = []
    for run in (ordered, ordered[::-1]):
        chain: list[Point] = []
        for point in run:
            while len(chain) > 1 and _turn(chain[-2], chain[-1], point) <= 0:
                chain.pop()
            chain.append(point)
        chains.append(chain[:-1])
    return chains[0] + chains[1]


def _turn(first: Point, second: Point, third: Point) -> float:
    """Above 0 where the way through three points turns left."""
    return (second[0] - first[0]) * (third[1] - first[1]) - (second[1] - first[1]) * (third[0] - first[0])


def _cut(corners: Sequence[Point], axis: int, sign: float, limit: float) -> list[Point]:
    """The part of a convex polygon where `sign` times a coordinate is at most a limit."""
    kept: list[Point] = []
    for here, following in zip(corners, [*corners[1:], *corners[:1]], strict=True):
        over, next_over = (sign * point[axis] - limit for point in (here, following))
        if over <= 0:
            kept.append(here)
        if over * next_over < 0:
            share = over / (over - next_over)
            kept.append((here[0] + share * (following[0] - here[0]), here[1] + share * (following[1] - here[1])))
    return kept
