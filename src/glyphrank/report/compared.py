"""What a comparison of runs gives: frozen records, which the files and tables of `report/comparison.py` show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

COMPARISON = ("comparison.md", "comparison.csv", "comparison.json")
"""The files of a comparison."""

Interval = tuple[float, float]
"""Low and high end of a 95 % interval."""
LEVEL = 0.05
"""A run whose adjusted p-value is below this is told from the one that it is tested against."""


def counted(number: object, noun: str) -> str:
    """A number with what is counted.

    >>> counted(1, "query"), counted(2, "query"), counted(0, "item")
    ('1 query', '2 queries', '0 items')
    """
    plural = f"{noun.removesuffix('y')}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number} {noun if number == 1 else plural}"


def asker(metric: str) -> str:
    """Who asks for a metric: a query, or for `v2t/` an item."""
    return "item" if metric.startswith("v2t/") else "query"


@dataclass(frozen=True)
class Compared:
    """One run of a comparison: its numbers, and what of them is told from the baseline's and the best run's.

    Attributes:
        fields: names of the fields in which the runs differ, as on the dashboard -> this run's values; a field that
            the run lacks has no entry. All runs of a comparison name theirs in the same order.
        values, intervals: all metrics of all directions, on the queries of the comparison. `median_rank_mean`, which a
            run has only where it differs from `median_rank`, stands in all runs where one has it, or is compared by it.
        group: whether the run is in the rank group: not told from the best run, or itself the best.
        difference: the run's value of the comparison's metric minus the baseline's; None for the baseline.
        difference_interval: of the paired difference; None for the baseline, and with fewer than 2 groups. It has no
            width where the values are equal query by query: then no sample of queries could show a difference.
        p_value, p_adjusted: of the paired test against the baseline, alone and by Holm; None for the baseline.
        improved, degraded, equal: queries that the run answers better than the baseline, worse, and alike; None for the
            baseline.
        rules: tie rule -> the comparison's metric under it; empty where nobody asked.
        tied: worst and best value of the metric over the orders of ties, None where the order changes nothing.
    """

    name: str
    identity: str
    fields: Mapping[str, str]
    values: Mapping[str, float]
    intervals: Mapping[str, Interval]
    group: bool
    difference: float | None = None
    difference_interval: Interval | None = None
    p_value: float | None = None
    p_adjusted: float | None = None
    improved: int | None = None
    degraded: int | None = None
    equal: int | None = None
    rules: Mapping[str, float] = field(default_factory=dict)
    tied: tuple[float, float] | None = None


@dataclass(frozen=True)
class Comparison:
    """Runs compared by one metric, on queries that all of them answered.

    Attributes:
        metric: that of differences, tests and order, e.g. `ndcg_at_10` or `v2t/median_rank`.
        baseline, best: names of runs; the best is the baseline where nobody named another.
        rule: order of equal scores under which everything is counted.
        queries, groups: how many askers of the metric's direction are compared, and in how many groups they are tested.
        notes: what a reader must know, in sentences; what was compared only because it was allowed stands first.
        runs: the best first.
        part: field and value of the queries that the comparison is limited to, None where it is not.
        task: name of the evaluation, where others are compared beside it.
    """

    metric: str
    baseline: str
    best: str
    rule: str
    queries: int
    groups: int
    notes: tuple[str, ...]
    runs: tuple[Compared, ...]
    part: tuple[str, str] | None = None
    task: str | None = None

    @property
    def tellable(self) -> bool:
        """Whether any run can be told from another; the least p-value of g groups is 2 / 2^g, times the tests."""
        return can_tell(self.groups, len(self.runs) - 1)


def can_tell(groups: int, tests: int) -> bool:
    """Whether some outcome has an adjusted p-value below the level: of all 2^groups exchanges at least 2 are extreme.

    >>> can_tell(5, 1), can_tell(6, 1), can_tell(6, 2)
    (False, True, False)
    """
    return tests * 2.0 ** (1 - groups) < LEVEL
