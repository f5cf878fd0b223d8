"""From ranks to numbers: recall, hit rate, nDCG, reciprocal rank, median and mean rank, under a stated tie rule.

Conventions (BENCHMARKS section 4): `recall_at_k` is the share of relevant items found (TREC), `hit_rate_at_k` whether
any was found (what the SDS KoPub and TextVR papers call Recall@k); nDCG has linear gain and an ideal list truncated at
k; `median_rank` is the upper middle `sorted[n // 2]` of the best relevant item's rank (TextVR card), `median_rank_mean`
the mean of the two middles (numpy; TextVR's code). A relevant item that was not retrieved is never a hit and has the
gallery's size as rank under every tie rule. A query without a relevant item is left out of every mean. Gains count by
their ratios only, so any finite size will do; a cut-off beyond the gallery sees the whole gallery.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from glyphrank import expected
from glyphrank.benchmark import Benchmark, check_allowed
from glyphrank.errors import DataError
from glyphrank.records import BoolArray, Direction, IntArray, Ranks, Source, View
from glyphrank.ties import Numbers, TieRule, is_rank, places

ALWAYS = (1, 3, 5, 10)
"""Cut-offs that every evaluation reports, whatever its protocol."""

_RECIPROCAL = 10
_SAME = 1e-12
"""Differences up to here are rounding, no effect of an order."""


@dataclass(frozen=True)
class Protocol:
    """How an evaluation turns rows into numbers.

    Attributes:
        cutoffs: places that count, each at least 1; 1, 3, 5 and 10 are reported always.
        directions: who asks: queries (`t2v`), items (`v2t`) or both.
        ties: the order of equal scores.
        views: what channels may use.
        sources: where the text of text channels may come from; without effect where views lack `text`.
        benchmark: whose name the numbers bear; views and sources then stay within what it lets channels see.
        group: which queries are resampled and tested together: `item` (those that share a relevant item), the name of a
            field of the queries, or `none`.
        primary: the metric that stands for the run, e.g. `ndcg_at_10` or `v2t/hit_rate_at_1`.

    Raises:
        ValueError: a field is empty, repeats a value or is out of range; `primary` is not among the metrics.
    """

    VERSION: ClassVar[int] = 1
    PACKAGES: ClassVar[tuple[str, ...]] = ()
    cutoffs: tuple[int, ...]
    directions: tuple[Direction, ...]
    ties: TieRule
    views: tuple[View, ...]
    sources: tuple[Source, ...]
    benchmark: Benchmark | None
    primary: str
    group: str

    def __post_init__(self) -> None:
        for name in ("cutoffs", "directions", "views", "sources"):
            values = getattr(self, name)
            if not values or len(set(values)) < len(values):
                raise ValueError(f"{name} is {list(values)}; wanted at least one, each once")
        if min(self.cutoffs) < 1:
            raise ValueError(f"cutoffs is {list(self.cutoffs)}; wanted numbers of at least 1")
        if self.benchmark is not None:
            check_allowed(self.benchmark, self.views, self.sources)
        if not self.group.strip():
            raise ValueError(f"group is {self.group!r}; wanted item, none or a field of the queries")
        known = [prefix(way) + name for way in self.directions for name in names(self.cutoffs)]
        if self.primary not in known:
            raise ValueError(f"primary is {self.primary!r}; wanted one of {', '.join(known)}")


def prefix(direction: Direction) -> str:
    """What stands before a metric's name: nothing for `t2v`, `v2t/` for the reverse."""
    return "" if direction is Direction.t2v else f"{direction}/"


def names(cutoffs: Sequence[int]) -> tuple[str, ...]:
    """The metrics that `evaluate` always gives for these cut-offs on full rankings."""
    at = [f"{metric}_at_{k}" for metric in ("hit_rate", "recall", "ndcg") for k in _all(cutoffs)]
    return (*at, f"reciprocal_rank_at_{_RECIPROCAL}", "median_rank", "mean_rank")


def evaluate(ranks: Ranks, cutoffs: Sequence[int], rule: TieRule) -> dict[str, float]:
    """All metrics of one direction under flat names: fractions in [0, 1], and ranks from 1.

    The names are those of `names`, and `median_rank_mean` where it differs from `median_rank`. From truncated lists
    the ranks are called `median_rank_truncated`, `mean_rank_truncated` (and `median_rank_mean_truncated`). They are a
    convention and no bound: a query that finds nothing has the length of the longest list of all + 1 as rank (cards:
    its own list's length + 1). In a full ranking it would stand anywhere below the end of its own list, so higher or
    lower than that; and a tie that the end of a list cuts counts with its listed items only.

    Raises:
        DataError: no query has a relevant item.
    """
    values = per_query(ranks, cutoffs, rule)
    return summary(values, _evaluated(ranks), ranks.truncated)


def bounds(ranks: Ranks, cutoffs: Sequence[int], rule: TieRule = TieRule.pessimistic) -> dict[str, tuple[float, float]]:
    """For every metric that the order of ties changes, its worst and best value, the reported rule's among them.

    The worst is the largest for ranks and the smallest for all others. Every order of the ties lies between
    `pessimistic` and `optimistic`; `textvr` is no order, and its hits and ranks may be worse than either, so the value
    under the rule is taken in. `median_rank_mean` stands here where any of the three has it; one that lacks it has
    `median_rank` in its place, to which it is equal there.

    Args:
        rule: under which the numbers are reported.
    """
    found = [evaluate(ranks, cutoffs, shown) for shown in (TieRule.pessimistic, TieRule.optimistic, rule)]
    limits: dict[str, tuple[float, float]] = {}
    for name in dict.fromkeys(name for values in found for name in values):
        reached = [values[name if name in values else name.replace("rank_mean", "rank")] for values in found]
        low, high = min(reached), max(reached)
        if high - low > _SAME:
            limits[name] = (high, low) if is_rank(name) else (low, high)
    return limits


def sliced(
    ranks: Ranks, cutoffs: Sequence[int], rule: TieRule, values: Mapping[str, str]
) -> dict[str, dict[str, float]]:
    """Metrics of the queries that share a value, with their number as `queries`.

    Args:
        ranks: of all queries.
        cutoffs: as for `evaluate`.
        rule: as for `evaluate`.
        values: query id -> value of one field; queries without an entry stand in no slice.

    Returns:
        value -> metrics. A value whose queries all lack a relevant item has only `queries`, which is 0.
    """
    numbers = per_query(ranks, cutoffs, rule)
    members: dict[str, list[int]] = {value: [] for value in sorted(set(values.values()))}
    for position in _evaluated(ranks).tolist():
        value = values.get(ranks.query_ids[position])
        if value is not None:
            members[value].append(position)
    table: dict[str, dict[str, float]] = {}
    for value, positions in members.items():
        chosen = np.array(positions, dtype=np.int64)
        table[value] = {"queries": float(len(chosen))}
        if len(chosen):
            table[value] |= summary(numbers, chosen, ranks.truncated)
    return table


def per_query(ranks: Ranks, cutoffs: Sequence[int], rule: TieRule) -> dict[str, Numbers]:
    """Every metric of every query, (q,) each, NaN for a query without a relevant item.

    The names are `hit_rate_at_k`, `recall_at_k`, `ndcg_at_k`, `reciprocal_rank_at_10` and `best_rank`, the rank of the
    best relevant item. Under `average` each is its expectation over the orders of ties; the median over queries is
    then the median of expected ranks.

    Raises:
        DataError: no query has a relevant item.
    """
    relevant = np.bincount(ranks.query, minlength=len(ranks.query_ids)).astype(np.float64)
    if not relevant.any():
        raise DataError(f"none of the {len(ranks.query_ids)} queries has a relevant item; wanted at least one")
    by_rule = _expected if rule is TieRule.average else _placed
    values = by_rule(replace(ranks, gain=_scaled(ranks)), _all(cutoffs), rule, relevant)
    missing = _missing_rank(ranks)
    values["best_rank"] = np.where(np.isfinite(values["best_rank"]), values["best_rank"], missing)
    return {name: np.where(relevant > 0, value, np.nan) for name, value in values.items()}


def _placed(ranks: Ranks, cutoffs: Sequence[int], rule: TieRule, relevant: Numbers) -> dict[str, Numbers]:
    """Metrics under a rule that gives every relevant item a place."""
    place, spread = places(ranks, rule)
    best, first = (_lowest(ranks, where) for where in (place, spread))
    values: dict[str, Numbers] = {"best_rank": best}
    for k in cutoffs:
        values[f"hit_rate_at_{k}"] = _within(best, k).astype(np.float64)
        values[f"recall_at_{k}"] = _total(ranks, _within(spread, k)) / np.maximum(relevant, 1)
        gains = ranks.gain * np.where(_within(spread, k), 1 / np.log2(spread + 1), 0.0)
        values[f"ndcg_at_{k}"] = _normalised(ranks, gains, spread, k)
    values[f"reciprocal_rank_at_{_RECIPROCAL}"] = np.where(_within(first, _RECIPROCAL), 1 / first, 0.0)
    return values


def _expected(ranks: Ranks, cutoffs: Sequence[int], _: TieRule, relevant: Numbers) -> dict[str, Numbers]:
    """Expectations of the metrics over all orders of tied groups."""
    first = expected.first_group(ranks)
    values: dict[str, Numbers] = {"best_rank": first.best_rank()}
    for k in cutoffs:
        values[f"hit_rate_at_{k}"] = first.hit(k)
        values[f"recall_at_{k}"] = _total(ranks, expected.share_within(ranks, k)) / np.maximum(relevant, 1)
        gains = ranks.gain * expected.discount_within(ranks, k)
        values[f"ndcg_at_{k}"] = _normalised(ranks, gains, ranks.higher, k)
    values[f"reciprocal_rank_at_{_RECIPROCAL}"] = first.reciprocal_rank(_RECIPROCAL)
    return values


def _scaled(ranks: Ranks) -> Numbers:
    """(m,) gains divided by a power of two, so that the largest of each query lies in [0.5, 1) and no sum overflows.

    Such a division changes no bit of a gain's mantissa, so the metrics of ordinary gains stay as they are.
    """
    largest = np.zeros(len(ranks.query_ids))
    np.maximum.at(largest, ranks.query, ranks.gain)
    return np.asarray(np.ldexp(ranks.gain, -np.frexp(largest)[1][ranks.query]), dtype=np.float64)


def _within(place: Numbers, k: int) -> BoolArray:
    """Whether a place counts for the cut-off k.

    For whole places this is `place <= k`. Half places occur under `textvr`, whose code counts a 0-based rank that is
    0 for k = 1 and below k otherwise.
    """
    return place == 1 if k == 1 else place < k + 1


def _normalised(ranks: Ranks, gains: Numbers, place: Numbers | IntArray, k: int) -> Numbers:
    """(q,) sum of the discounted gains of each query over that of its ideal list, both truncated at k.

    Both sums run from the first place down, so a perfect list gives exactly 1; rounding above 1 is cut off.
    """
    down = np.lexsort((-ranks.gain, place, ranks.query))
    reached = np.bincount(ranks.query[down], gains[down], minlength=len(ranks.query_ids))
    ideal = np.lexsort((-ranks.gain, ranks.query))
    query = ranks.query[ideal]
    turn = np.arange(len(query)) - np.searchsorted(query, query)
    terms = ranks.gain[ideal] * np.where(turn < k, 1 / np.log2(turn + 2), 0.0)
    best = np.bincount(query, terms, minlength=len(ranks.query_ids))
    return np.minimum(np.divide(reached, best, out=np.zeros_like(reached), where=best > 0), 1.0)


def _total(ranks: Ranks, values: Numbers | BoolArray) -> Numbers:
    """(q,) sum of a value over the relevant items of each query."""
    weights = values.astype(np.float64)
    return np.asarray(np.bincount(ranks.query, weights, minlength=len(ranks.query_ids)), dtype=np.float64)


def _lowest(ranks: Ranks, place: Numbers) -> Numbers:
    best = np.full(len(ranks.query_ids), np.inf)
    np.minimum.at(best, ranks.query, place)
    return best


def _missing_rank(ranks: Ranks) -> float:
    """Rank of a query none of whose relevant items was retrieved.

    From truncated lists it is the longest list's length + 1, not the query's own: a query that got an empty list would
    otherwise have rank 1.
    """
    if not ranks.truncated:
        return float(len(ranks.item_ids))
    if not ranks.top:
        raise ValueError("ranks from truncated lists came without the lists; wanted them in `top`, for their length")
    return max(len(items) for items, _ in ranks.top) + 1.0


def summary(values: Mapping[str, Numbers], chosen: IntArray, truncated: bool = False) -> dict[str, float]:
    """What `evaluate` makes of per-query values: means over queries, and the median and mean of their best ranks.

    Args:
        values: as `per_query` gives them.
        chosen: numbers of the queries that count, at least one, each with a relevant item.
        truncated: whether the ranks come from truncated lists and are named so.
    """
    found = {name: float(np.mean(value[chosen])) for name, value in values.items() if name != "best_rank"}
    best = np.sort(values["best_rank"][chosen])
    ending = "_truncated" if truncated else ""
    upper, middle = float(best[len(best) // 2]), float(np.median(best))
    found[f"median_rank{ending}"] = upper
    if not medians_are_one(upper, middle):
        found[f"median_rank_mean{ending}"] = middle
    found[f"mean_rank{ending}"] = float(np.mean(best))
    return found


def medians_are_one(upper: float, middle: float) -> bool:
    """Whether the upper middle and the mean of the two middles differ by rounding only; then the first stands alone."""
    return math.isclose(middle, upper, rel_tol=_SAME)


def _evaluated(ranks: Ranks) -> IntArray:
    """Numbers of the queries that have a relevant item."""
    return np.unique(ranks.query)


def _all(cutoffs: Sequence[int]) -> list[int]:
    return sorted({*cutoffs, *ALWAYS})
