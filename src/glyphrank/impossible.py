"""Which published numbers cannot all be true: recall and nDCG of queries with one relevant item each bound each other.

With one relevant item, recall at r is the share of queries that find it within r places, and nDCG at k the mean of
1 / log2(rank + 1) over those that find it within k. So with R the recall at every place, nDCG at k is the sum over
r <= k of (R[r] - R[r - 1]) / log2(r + 1): known where recall is known at every cut-off, else between limits.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

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
        decimals: places after the point that each of them was written with; `contradictions_as_written` where these
            differ.

    Raises:
        ValueError: a cut-off is below 1, or decimals below 0.
    """
    return _Row(
        [_Number("recall", k, value, decimals) for k, value in sorted(recalls.items())],
        [_Number("ndcg", k, value, decimals) for k, value in sorted(ndcgs.items())],
    ).found()


def contradictions_as_written(recalls: Mapping[int, str], ndcgs: Mapping[int, str]) -> list[str]:
    """As `contradictions`, of numbers as they stand in print: each may be off by half a unit of its own last place.

    >>> contradictions_as_written({1: ".7", 3: ".683"}, {})
    []
    >>> contradictions_as_written({1: ".70", 3: ".683"}, {})
    ['recall_at_3 is 0.683, below recall_at_1 0.70; it cannot fall as the cut-off grows']

    Raises:
        ValueError: a cut-off is below 1, or a text is no decimal number.
    """
    return _Row(
        [_Number.written("recall", k, text) for k, text in sorted(recalls.items())],
        [_Number.written("ndcg", k, text) for k, text in sorted(ndcgs.items())],
    ).found()


def ndcg_limits(recalls: Mapping[int, float], k: int, rounding: float = 0.0) -> tuple[float, float]:
    """The least and the largest nDCG at k that recalls at some cut-offs leave open, with one relevant item a query.

    Args:
        recalls: cut-off -> value, not falling with the cut-off.
        rounding: how far each recall may be off, such as 0.005 for two decimals.

    >>> low, high = ndcg_limits({1: 0.41, 3: 0.68}, 3)
    >>> round(low, 3), round(high, 3)
    (0.545, 0.58)
    """
    return _limits({cutoff: (value - rounding, value + rounding) for cutoff, value in recalls.items()}, 0, k)


@dataclass(frozen=True)
class _Number:
    """One number of a table, and how many places after the point it was written with."""

    metric: str
    cutoff: int
    value: float
    decimals: int

    def __post_init__(self) -> None:
        if self.cutoff < 1 or self.decimals < 0:
            raise ValueError(f"cut-off {self.cutoff}, {self.decimals} decimals; wanted at least 1, and at least 0")

    @classmethod
    def written(cls, metric: str, cutoff: int, text: str) -> _Number:
        """Of a text such as `.683`."""
        return cls(metric, cutoff, float(text), len(text.strip().partition(".")[2]))

    @property
    def half(self) -> float:
        """Half a unit of the last place."""
        return 10.0**-self.decimals / 2

    @property
    def interval(self) -> Interval:
        """What it may truly be."""
        return self.value - self.half, self.value + self.half

    @property
    def name(self) -> str:
        return f"{self.metric}_at_{self.cutoff}"

    def __str__(self) -> str:
        return f"{self.value:.{self.decimals}f}"

    def is_above(self, other: _Number) -> bool:
        """Whether no rounding explains that it is the larger. Where intervals touch, both are written alike."""
        return self.interval[0] - other.interval[1] > -_SLACK


class _Row:
    """One row of a table, as it was printed; cut-offs ascend."""

    def __init__(self, recalls: Sequence[_Number], ndcgs: Sequence[_Number]) -> None:
        self._recalls = recalls
        self._ndcgs = ndcgs
        known = {number.cutoff: number for number in recalls}
        for number in ndcgs:  # nDCG at 1 is recall at 1
            if number.cutoff == 1 and (1 not in known or number.decimals > known[1].decimals):
                known[1] = number
        self._known = dict(sorted(known.items()))

    def found(self) -> list[str]:
        """Every contradiction; that of all numbers together where no smaller one is found."""
        found = self._outside() or self._falling() or self._beyond_limits()
        if not found and not _are_possible([{n.cutoff: n.interval for n in row} for row in self._rows()]):
            others = [number for number in self._ndcgs if number.cutoff > 1]
            every = _listed([*self._known.values(), *others])
            found = [f"{every} cannot all be true together, though each nDCG could beside the recalls"]
        return found

    def _rows(self) -> tuple[Sequence[_Number], Sequence[_Number]]:
        return self._recalls, self._ndcgs

    def _outside(self) -> list[str]:
        """Values that are no fractions."""
        return [
            f"{number.name} is {number.value:g}; wanted a fraction from 0 to 1"
            for number in itertools.chain(*self._rows())
            if not -_SLACK <= number.value <= 1 + _SLACK
        ]

    def _falling(self) -> list[str]:
        """Values that fall as the cut-off grows, and nDCG at 1 that is not recall at 1."""
        found = []
        for row in self._rows():
            for place, number in enumerate(row[1:], 1):
                before = max(row[:place], key=lambda earlier: earlier.interval[0])
                if before.is_above(number):
                    found.append(
                        f"{number.name} is {number}, below {before.name} {before}; it cannot fall as the cut-off grows"
                    )
        first = [number for row in self._rows() for number in row[:1] if number.cutoff == 1]
        if len(first) == 2 and (first[0].is_above(first[1]) or first[1].is_above(first[0])):
            found.append(
                f"ndcg_at_1 is {first[1]} and recall_at_1 {first[0]}; with one relevant item a query they are the same"
            )
        return found

    def _beyond_limits(self) -> list[str]:
        """Values of nDCG that the recalls rule out; where there are none, its growths between two cut-offs."""
        found = [sentence for number in self._ndcgs for sentence in self._refused(None, number)]
        pairs = () if found else itertools.combinations(self._ndcgs, 2)
        return found + [sentence for low, high in pairs for sentence in self._refused(low, high)]

    def _refused(self, start: _Number | None, end: _Number) -> list[str]:
        """A sentence where what nDCG gains from `start` (None: from nothing) to `end` is beyond its limits."""
        first = start.cutoff if start else 0
        value = end.value - (start.value if start else 0.0)
        half = end.half + (start.half if start else 0.0)
        wide = _limits({k: number.interval for k, number in self._known.items()}, first, end.cutoff)
        if wide[0] - half - _SLACK <= value <= wide[1] + half + _SLACK:
            return []
        deciding = self._deciding(first, end.cutoff)
        subject, what = f"{end.name} is {end}", "it"
        if start:
            difference = f"{value:.{max(start.decimals, end.decimals)}f}"
            subject, what = f"{subject}, {difference} above {start.name} {start}", "this difference"
        verb = "forces" if len(deciding) <= 1 else "force"
        reason = _listed(deciding) if deciding else "the discount of the places"
        places = max(number.decimals for number in (*deciding, end)) + 1
        return [f"{subject}, but {reason} {verb} {what} to lie {self._between(first, end.cutoff, wide, places)}"]

    def _between(self, start: int, end: int, wide: Interval, places: int) -> str:
        """The limits in words: of the numbers as printed, unless these fall by their rounding, and the wide ones."""

        def span(limits: Interval) -> str:
            return "between " + " and ".join(f"{limit:.{places}f}" for limit in limits)

        values = [number.value for number in self._known.values()]
        printed = _limits({k: (number.value, number.value) for k, number in self._known.items()}, start, end)
        if values != sorted(values):
            return f"{span(wide)} with the rounding of each recall"
        return span(printed) + (f" ({span(wide)} with the rounding of each recall)" if wide != printed else "")

    def _deciding(self, start: int, end: int) -> list[_Number]:
        """The recalls that limit nDCG between two places: those within, and the next on either side."""
        below = [k for k in self._known if k <= start][-1:]
        above = [k for k in self._known if k >= end][:1]
        within = [k for k in self._known if start < k < end]
        return [self._known[k] for k in sorted({*below, *within, *above})]


def _listed(numbers: Sequence[_Number]) -> str:
    shown = [f"{number.name} {number}" for number in numbers]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def _discount(rank: int) -> float:
    return 1 / math.log2(rank + 1)


def _limits(recalls: Mapping[int, Interval], start: int, end: int) -> Interval:
    """What nDCG can gain from `start` (0: from nothing) to `end`, at least and at most.

    It gains least where recall grows as late as the known recalls let it, and most where it grows as early.
    """
    known = sorted(recalls.items())
    low = [max((least for k, (least, _) in known if k <= r), default=0.0) if r else 0.0 for r in range(start, end + 1)]
    high = [min((most for k, (_, most) in known if k >= r), default=1.0) if r else 0.0 for r in range(start, end + 1)]
    low, high = [max(value, 0.0) for value in low], [min(value, 1.0) for value in high]
    late = [high[0], *(max(value, high[0]) for value in low[1:])]
    early = [low[0], *high[1:]]
    discounts = [_discount(rank) for rank in range(start + 1, end + 1)]
    gained = [
        sum(d * (b - a) for d, (a, b) in zip(discounts, itertools.pairwise(r), strict=True)) for r in (late, early)
    ]
    return gained[0], gained[1]


def _are_possible(rows: Sequence[Mapping[int, Interval]]) -> bool:
    """Whether some distribution of ranks has all of these recalls and nDCGs (two rows).

    Goes through the cut-offs with the set of pairs (recall, nDCG) that can be reached there, a convex polygon. Between
    two cut-offs a and b a share m of the queries adds m to recall and between m / log2(b + 1) and m / log2(a + 2) to
    nDCG; at each cut-off what is not in the intervals is cut off.
    """
    reached: list[Point] = [(0.0, 0.0)]
    last = 0
    for cutoff in sorted({cutoff for row in rows for cutoff in row}):
        steps = ((0.0, 0.0), (1.0, _discount(cutoff)), (1.0, _discount(last + 1)))
        reached = _hull([(x + dx, y + dy) for x, y in reached for dx, dy in steps])
        for axis, row in enumerate(rows):
            low, high = row.get(cutoff, (0.0, 1.0))
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
