"""95 % intervals of metrics over queries, from their per-query values.

Which interval: the mean of zeros and ones over ungrouped queries has Wilson's (1927), so that `recall_at_k` and
`ndcg_at_1` agree with `hit_rate_at_k` where one item is relevant. Everything else (nDCG, ranks, hit rates that are
fractions under the tie rule `average`, whatever is grouped) has the seeded percentile bootstrap over groups (Efron &
Tibshirani 1993; see `resampling`). Two limits of it:

* Where the values of all queries, or the means of all groups, are equal, every resample is alike, and a bootstrap would
  claim to be certain. There a share has Wilson's interval over the number of groups, of which the share (a fraction of
  a group, perhaps) succeeds. Ranks that are all alike have an interval without width.
* One group cannot be resampled: what would need it then has no interval, and its name is left out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

from glyphrank.metrics import medians_are_one
from glyphrank.records import BoolArray, IntArray
from glyphrank.resampling import Median, mean_intervals, median_intervals, medians
from glyphrank.significance import Interval as Interval
from glyphrank.significance import wilson
from glyphrank.ties import Numbers

_TRUNCATED = "_truncated"
_WORST = 0.05
_SAME = 1e-9
"""A width of an interval that rounding alone may give it."""


class _Summary(Enum):
    """How the values of queries become one number."""

    share = "mean of values in [0, 1]"
    mean = "mean"
    upper = "upper middle"
    middle = "mean of the two middles"


_OF_RANKS = {"median_rank": _Summary.upper, "median_rank_mean": _Summary.middle, "mean_rank": _Summary.mean}
_MEDIANS = {_Summary.upper: Median.upper_middle, _Summary.middle: Median.mean_of_middles}


@dataclass(frozen=True)
class _Sample:
    """What an interval is wanted of: (n,) values of queries, finite, and how they are summed up."""

    values: Numbers
    summary: _Summary


def intervals(
    values: Sequence[Mapping[str, Numbers]], groups: IntArray, truncated: bool = False
) -> list[dict[str, Interval]]:
    """The intervals of every metric, under the names of `metrics.evaluate`, each around the value that it gives.

    Args:
        values: for each run of the same queries, what `metrics.per_query` gives: name -> (q,), NaN for queries without
            a relevant item, which are left out. The runs share their resamples.
        groups: (q,) equal numbers belong together; all different means ungrouped.
        truncated: whether ranks come from truncated lists and are named so.

    Raises:
        ValueError: shapes disagree, or the runs leave out different queries.
    """
    kept = _evaluated([value for run in values for value in run.values()], groups)
    wanted = [_samples(run, kept, _TRUNCATED if truncated else "") for run in values]
    found = iter(_intervals([sample for run in wanted for sample in run.values()], groups[kept]))
    answers = [{name: next(found) for name in run} for run in wanted]
    return [{name: interval for name, interval in run.items() if interval is not None} for run in answers]


def slice_interval(metric: str, values: Mapping[str, Numbers], groups: IntArray) -> Interval | None:
    """The interval of one metric over the queries of a slice; None where it would need more than their one group.

    Args:
        metric: its name in `metrics.evaluate` without a direction, such as `ndcg_at_10` or `median_rank_truncated`.
        values: as for `intervals`, of one run and of the slice's (q,) queries; those without a relevant item are left
            out, and where none has one there is no interval.
        groups: (q,) as for `intervals`.

    Raises:
        ValueError: shapes disagree.
    """
    column, summary = _column(metric, values)
    kept = _evaluated([column], groups)
    return _intervals([_Sample(column[kept], summary)], groups[kept])[0] if kept.any() else None


def tail_share(best_ranks: Numbers) -> float:
    """The share of the sum of ranks, so of the mean rank, that the worst 5 % of queries (rounded up) cause.

    With all ranks alike it is 0.05 or little more; the nearer to 1, the more the mean rank speaks of a few queries.

    Args:
        best_ranks: (q,) `best_rank` of `metrics.per_query`; NaN is left out.

    Raises:
        ValueError: there is no rank.

    >>> tail_share(np.array([1.0] * 19 + [81.0]))
    0.81
    """
    ordered = np.sort(best_ranks[np.isfinite(best_ranks)])
    if not len(ordered):
        raise ValueError("no query has a rank; wanted at least one")
    return float(ordered[len(ordered) - math.ceil(len(ordered) * _WORST) :].sum() / ordered.sum())


def _samples(run: Mapping[str, Numbers], kept: BoolArray, ending: str) -> dict[str, _Sample]:
    """Everything that `metrics.evaluate` makes of a run's values, by name."""
    if not kept.any():
        return {}
    samples = {name: _Sample(value[kept], _Summary.share) for name, value in run.items() if name != "best_rank"}
    for name, summary in _OF_RANKS.items():
        samples[f"{name}{ending}"] = _Sample(run["best_rank"][kept], summary)
    ranks = run["best_rank"][kept][:, None]
    upper, middle = (float(medians(ranks, median)[0]) for median in (Median.upper_middle, Median.mean_of_middles))
    if medians_are_one(upper, middle):
        del samples[f"median_rank_mean{ending}"]
    return samples


def _column(metric: str, values: Mapping[str, Numbers]) -> tuple[Numbers, _Summary]:
    """The values of queries behind a metric, (q,), and how they are summed up."""
    summary = _OF_RANKS.get(metric.removesuffix(_TRUNCATED))
    return (values[metric], _Summary.share) if summary is None else (values["best_rank"], summary)


def _evaluated(columns: Sequence[Numbers], groups: IntArray) -> BoolArray:
    """(q,) the queries that have values; all columns must agree."""
    kept = np.isfinite(np.stack(columns)) if columns else np.zeros((1, len(groups)), dtype=np.bool_)
    if kept.shape[1:] != groups.shape or (kept != kept[0]).any():
        raise ValueError("the runs have values for different queries; wanted the same queries and groups for all")
    return np.asarray(kept[0])


def _intervals(samples: Sequence[_Sample], groups: IntArray) -> list[Interval | None]:
    """An interval of each sample, over queries with these groups; None where fewer than two groups do not allow it."""
    count = len(np.unique(groups))
    found = [_without_resampling(sample, count) for sample in samples]
    if count < 2:
        return found
    for kinds in ((_Summary.share, _Summary.mean), (_Summary.upper,), (_Summary.middle,)):
        open_ones = [
            number for number, sample in enumerate(samples) if found[number] is None and sample.summary in kinds
        ]
        if not open_ones:
            continue
        stacked = np.stack([samples[number].values for number in open_ones], axis=1)
        median = _MEDIANS.get(kinds[0])
        ends = mean_intervals(stacked, groups) if median is None else median_intervals(stacked, groups, median)
        for number, (low, high) in zip(open_ones, ends.tolist(), strict=True):
            alike = high - low <= _SAME and samples[number].summary is _Summary.share
            found[number] = wilson(min(low, 1) * count, count) if alike else (low, high)
    return found


def _without_resampling(sample: _Sample, groups: int) -> Interval | None:
    """Wilson's interval where it applies: zeros and ones, ungrouped or all alike."""
    if sample.summary is not _Summary.share:
        return None
    ones = int(np.sum(sample.values == 1))
    if ones + int(np.sum(sample.values == 0)) < len(sample.values):
        return None
    if groups == len(sample.values):
        return wilson(ones, groups)
    if ones in (0, len(sample.values)):
        return wilson(groups if ones else 0, groups)
    return None
