"""What those who ask got from each of several runs, and how one run's answers stand against another's."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from glyphrank.comparable import cutoffs_of, listed, only, protocol_of
from glyphrank.grouping import BY_ITEM, FEW, connected, effective_number
from glyphrank.ids import nfc
from glyphrank.intervals import intervals as intervals_of_runs
from glyphrank.metrics import evaluate, per_query, prefix
from glyphrank.records import Direction, IntArray, Ranks
from glyphrank.report.compared import Interval, asker, can_tell, counted
from glyphrank.report.finished import Finished
from glyphrank.resampling import Median, mean_intervals, median_intervals
from glyphrank.significance import holm, sign_flip_test, swap_test
from glyphrank.ties import Numbers, TieRule, is_rank

T = TypeVar("T")
MEDIAN, MEAN_MEDIAN = "median_rank", "median_rank_mean"
_SAME = 1e-12
"""Differences of a query's values up to here are rounding."""


@dataclass(frozen=True)
class Answers:
    """What some askers got from one run.

    Attributes:
        ranks: direction -> those of the askers, in their order.
        each: direction -> metric -> (q,) values (`metrics.per_query`), without NaN.
        total: all metrics of all directions, with `v2t/` in front of the reverse.
    """

    ranks: Mapping[Direction, Ranks]
    each: Mapping[Direction, Mapping[str, Numbers]]
    total: Mapping[str, float]


def answers_of(run: Finished, ids: Mapping[Direction, Sequence[str]], rule: TieRule) -> Answers:
    """A run's answers to the askers with these ids (in NFC, each with something relevant), under a tie rule."""
    ranks = {way: only(run.ranks[way], names) for way, names in ids.items() if way in run.ranks}
    cutoffs = cutoffs_of(run)
    each = {way: per_query(own, cutoffs, rule) for way, own in ranks.items()}
    totals = {way: evaluate(own, cutoffs, rule) for way, own in ranks.items()}
    return Answers(ranks, each, {prefix(way) + name: value for way in totals for name, value in totals[way].items()})


def groups_of_askers(runs: Sequence[Finished], way: Direction, ids: Sequence[str]) -> IntArray:
    """(q,) numbers of groups from 0: askers (ids in NFC) that belong together in any of the runs do so here."""
    labels: set[tuple[int, ...]] = set()
    for run in runs:
        if way in run.queries:
            own = run.queries[way]
            group = dict(zip(map(nfc, own.query_ids), own.groups.tolist(), strict=True))
            labels.add(tuple(group[name] for name in ids))
    every = [[f"{number} {label}" for label in own] for number, own in enumerate(labels)]
    return connected(ids, dict(zip(ids, zip(*every, strict=True), strict=True)))


def intervals_of(answers: Sequence[Answers], groups: Mapping[Direction, IntArray]) -> list[dict[str, Interval]]:
    """For each run the 95 % intervals of its metrics, under the names of `total`; the runs share the resamples."""
    found: list[dict[str, Interval]] = [{} for _ in answers]
    for way, numbers in groups.items():
        for cut in (False, True):
            here = [run for run, own in enumerate(answers) if way in own.ranks and own.ranks[way].truncated is cut]
            spans = intervals_of_runs([answers[run].each[way] for run in here], numbers, cut)
            for run, own in zip(here, spans, strict=True):
                found[run] |= {prefix(way) + name: span for name, span in own.items()}
    return found


def with_medians(numbers: Mapping[str, T], wanted: Collection[str]) -> dict[str, T]:
    """The numbers by metric, and those wanted that a run has only where its two medians differ: else they are one."""
    found = {}
    for name, number in numbers.items():
        found[name] = number
        mean = name.replace(MEDIAN, MEAN_MEDIAN)
        if mean in wanted and mean not in numbers:
            found[mean] = number
    return found


def cautions(runs: Sequence[Finished], way: Direction, ids: Sequence[str], groups: IntArray) -> list[str]:
    """What a reader must know of the groups: too few to trust, too few to tell anything, judgements that chain.

    Args:
        ids: in NFC, of the askers.
        groups: (q,) theirs, from `groups_of_askers`.
    """
    count, effective, tests = len(np.unique(groups)), effective_number(groups), len(runs) - 1
    who, notes = counted(len(ids), asker(prefix(way))), []
    if effective < FEW:
        made = who if count == len(ids) else f"{counted(count, 'group')} of {who}"
        count_as = "" if np.isclose(effective, count) else f", which count as {effective:.1f}"
        notes.append(f"{made}{count_as}: too few for intervals and tests that can be trusted")
    if not can_tell(count, tests):
        notes.append(
            f"with {counted(count, 'group')} and {counted(tests, 'test')} no adjusted p-value can fall below .05: "
            "which run is better cannot be told"
        )
    linked = connected(ids, _relevant(runs, way))
    if len(np.unique(linked)) < count and any(protocol_of(run).get("group") == BY_ITEM for run in runs):
        notes.append(
            f"shared judgements chain {who} into {counted(len(np.unique(linked)), 'group')}, which count as "
            f"{effective_number(linked):.1f}; each is taken alone, so intervals may be too narrow and p-values too "
            "small"
        )
    return notes


def repeats(names: Sequence[str], answers: Sequence[Answers]) -> list[str]:
    """Says which runs have the same numbers throughout, since each of them is a test of its own in the correction."""
    found: dict[tuple[tuple[str, float], ...], list[str]] = {}
    for name, own in zip(names, answers, strict=True):
        found.setdefault(tuple(sorted(own.total.items())), []).append(name)
    alike = [listed(group) for group in found.values() if len(group) > 1]
    return [f"with the same numbers, each counted as a test: {'; '.join(alike)}"] if alike else []


def _relevant(runs: Sequence[Finished], way: Direction) -> dict[str, set[str]]:
    """Asker -> what is relevant to it in any of the runs, in NFC."""
    found: dict[str, set[str]] = {}
    for run in {str(run.report.evaluation.get("relevance")): run for run in runs}.values():
        ranks = run.ranks[way]
        asking, items = [nfc(name) for name in ranks.query_ids], ranks.item_ids
        for query, item in zip(ranks.query.tolist(), ranks.item.tolist(), strict=True):
            found.setdefault(asking[query], set()).add(items[item])
    return found


@dataclass(frozen=True)
class Paired:
    """What tells r runs from one of them, the reference, by one metric on the same q askers.

    Attributes:
        intervals: for each run the 95 % interval of its metric minus the reference's; None with fewer than 2 groups.
        p_values, p_adjusted: (r,) two-sided, of paired randomisation tests, and adjusted by Holm over the r - 1 runs
            beside the reference, whose own are NaN.
        better, worse, equal: (r,) askers that the run answers better than the reference, worse, and alike.
    """

    intervals: Sequence[Interval | None]
    p_values: Numbers
    p_adjusted: Numbers
    better: IntArray
    worse: IntArray
    equal: IntArray


def against(
    answers: Sequence[Answers], asked: Sequence[tuple[str, int]], way: Direction, groups: IntArray
) -> list[Paired]:
    """Tests every run against a reference, once for each metric and reference that is asked for.

    Args:
        answers: of the runs, all of which have the metrics.
        asked: metric, with its direction in front, and number of the reference among the runs. Each has a Holm family
            of its own; all share resamples and exchanges.
        way: the metrics' direction.
        groups: (q,) askers with equal numbers are drawn, flipped and exchanged together.
    """
    columns = [_values(answers, metric.removeprefix(prefix(way)), way) for metric, _ in asked]
    pairs = [(values, values[:, [reference]]) for values, (_, reference) in zip(columns, asked, strict=True)]
    differences = [np.where(np.abs(values - own) <= _SAME, 0.0, values - own) for values, own in pairs]
    medians = [_median_of(metric.removeprefix(prefix(way))) for metric, _ in asked]
    means = [number for number, median in enumerate(medians) if median is None]
    p_values, spans = np.empty((len(asked), len(answers))), np.empty((len(asked), len(answers), 2))
    apart = groups.min() < groups.max()  # a single group cannot be resampled
    if means:
        stacked = np.concatenate([differences[number] for number in means], axis=1)
        p_values[means] = sign_flip_test(stacked, groups, max(len(answers) - 1, 1)).reshape(len(means), -1)
        if apart:
            spans[means] = mean_intervals(stacked, groups).reshape(len(means), -1, 2)
    for number, median in enumerate(medians):
        if median is not None:
            values, own = pairs[number]
            p_values[number] = _swapped(values, own[:, 0], groups, median)
            if apart:
                spans[number] = median_intervals(values, groups, median, own[:, 0])
    return [
        _paired(differences[number], p_values[number], spans[number].tolist() if apart else None, metric, reference)
        for number, (metric, reference) in enumerate(asked)
    ]


def _values(answers: Sequence[Answers], name: str, way: Direction) -> Numbers:
    """(q, r) what each asker got from each run, by which the metric is computed."""
    return np.stack([own.each[way]["best_rank" if is_rank(name) else name] for own in answers], axis=1)


def _swapped(values: Numbers, reference: Numbers, groups: IntArray, median: Median) -> list[float]:
    family = max(values.shape[1] - 1, 1)
    return [swap_test(column, reference, groups, median, family) for column in values.T]


def _paired(
    differences: Numbers, p_values: Numbers, spans: Sequence[Sequence[float]] | None, metric: str, reference: int
) -> Paired:
    p_values[reference] = np.nan
    p_adjusted = np.full(len(p_values), np.nan)
    others = np.arange(len(p_values)) != reference
    p_adjusted[others] = holm(p_values[others])
    higher, lower = (differences > 0).sum(axis=0), (differences < 0).sum(axis=0)
    better, worse = (lower, higher) if is_rank(metric) else (higher, lower)
    intervals = [None] * len(p_values) if spans is None else [(low, high) for low, high in spans]
    return Paired(intervals, p_values, p_adjusted, better, worse, len(differences) - better - worse)


def _median_of(name: str) -> Median | None:
    """Which median a metric is, None for a mean."""
    if name.startswith("median_rank_mean"):
        return Median.mean_of_middles
    return Median.upper_middle if name.startswith("median_rank") else None
