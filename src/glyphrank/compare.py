"""Compares finished runs: values with intervals, paired tests against a baseline, and who is not told from the best."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from glyphrank.answers import (
    MEAN_MEDIAN,
    MEDIAN,
    Answers,
    Paired,
    against,
    answers_of,
    cautions,
    groups_of_askers,
    intervals_of,
    repeats,
    with_medians,
)
from glyphrank.comparable import SHOWN, Common, common, cutoffs_of, listed, parts_of, result_of, rule_of, spread
from glyphrank.differing import differing, distinct, marked, unexplained
from glyphrank.errors import DataError
from glyphrank.ids import nfc
from glyphrank.metrics import bounds, evaluate, prefix
from glyphrank.records import Direction
from glyphrank.report.compared import LEVEL, Compared, Comparison, asker, counted
from glyphrank.report.finished import Finished
from glyphrank.ties import TieRule, is_rank, swayed

_ROUNDING = 1e-9


@dataclass(frozen=True)
class How:
    """How runs are compared.

    Attributes:
        baseline: the run that all are tested against, or its name or identity (or its beginning); None: the best.
        ties: order of equal scores for all runs; None: their protocols', which must agree.
        every_rule: whether the metric is shown under every tie rule as well.
        allow: whether runs that were not evaluated alike are compared on their common queries.
    """

    baseline: str | Finished | None = None
    ties: TieRule | None = None
    every_rule: bool = False
    allow: bool = False


PLAIN = How()


def compare(runs: Sequence[Finished], metric: str | None = None, how: How = PLAIN) -> Comparison:
    """Compares runs by one metric, on the queries that all of them answered.

    Every number is counted anew from the runs' ranks. Differences from the baseline have a paired bootstrap interval
    and the p-value of a paired randomisation test (signs of differences are flipped by group; for medians the runs'
    answers are exchanged by group), adjusted by Holm over all runs against the baseline. The rank group holds the runs
    whose p-value against the best run, adjusted over all runs against the best, is at least 0.05.

    Args:
        runs: oldest first; of several with one identity and the same numbers the last is taken.
        metric: e.g. `ndcg_at_10` or `v2t/median_rank`; None: the primary one of the baseline, else of the first run.

    Raises:
        DataError: the runs cannot be compared (`comparable.common`), no run has the metric, nothing is called as the
            baseline is, or a report disagrees with the ranks beside it.
    """
    asked = _asked(runs, metric, how)
    return _compared(asked, asked.common.ids, _unjudged(asked))


def compare_by(runs: Sequence[Finished], field: str, metric: str | None = None, how: How = PLAIN) -> list[Comparison]:
    """The same for the askers with each value of a field: a comparison each, its tests corrected for by themselves.

    Raises:
        DataError: as for `compare`; no query has the field, or runs have other values of it and none is allowed.
    """
    asked = _asked(runs, metric, how)
    ids, unjudged, way = asked.common.ids[asked.way], _unjudged(asked), asked.way
    leading = asked.runs[asked.baseline or 0]
    values, notes = parts_of(asked.runs, leading, field, (way, (*ids, *unjudged)), how.allow)
    without = sum(name not in values for name in ids)
    if without:
        notes.append(f"without a value of {field!r}, so in no part: {counted(without, asker(asked.metric))}")
    asked = replace(asked, notes=(*asked.notes, *notes))
    found = []
    for value in sorted({values[name] for name in ids if name in values}):
        own, lost = (tuple(name for name in names if values.get(name) == value) for names in (ids, unjudged))
        found.append(_compared(asked, {way: own}, lost, (field, value)))
    if not found:
        raise DataError(f"nobody who asks and has something relevant has a value of {field!r}; choose another field")
    return found


@dataclass(frozen=True)
class _Asked:
    """Runs that can be compared, and by what.

    Attributes:
        way: the metric's direction.
        baseline: its number among the runs, None for the best.
    """

    runs: tuple[Finished, ...]
    metric: str
    way: Direction
    baseline: int | None
    common: Common
    notes: tuple[str, ...]
    every_rule: bool


def _asked(given: Sequence[Finished], metric: str | None, how: How) -> _Asked:
    runs, notes = distinct(given)
    if not runs:
        raise DataError("there is no run to compare; wanted at least one that has finished")
    baseline = None if how.baseline is None else _find(runs, how.baseline)
    if metric is None:
        metric, primaries = runs[baseline or 0].report.primary, spread(runs, lambda run: run.report.primary)
        notes += [f"compared by {metric}; the runs' primary metrics differ: {primaries}"] if primaries else []
    reported = [counted_anew(run) for run in runs]
    having = [number for number, values in enumerate(reported) if value_of(values, metric) is not None]
    if not having:
        known = ", ".join(dict.fromkeys(name for values in reported for name in values))
        raise DataError(f"no run has the metric {metric!r}; the metrics that there are: {known}")
    if baseline is not None and baseline not in having:
        raise DataError(f"the baseline {runs[baseline].name!r} has no {metric}; choose another baseline or metric")
    left = [runs[number] for number in having]
    shared = common(left, runs[having[0] if baseline is None else baseline], how.ties, how.allow)
    way = Direction.v2t if metric.startswith(prefix(Direction.v2t)) else Direction.t2v
    if way not in shared.ids:
        raise DataError(f"the runs have nobody in common who asks for {metric}; compare runs of one dataset")
    notes = [*shared.notes, *marked(left), *notes]
    if len(left) < len(runs):
        lacking = [run.name for number, run in enumerate(runs) if number not in having]
        notes.append(f"left out, for they have no {metric}: {listed(lacking)}")
    for direction in Direction:
        lacking = [run.name for run in left if direction not in run.ranks]
        if 0 < len(lacking) < len(left):
            notes.append(f"without numbers of the direction {direction}: {listed(lacking)}")
    notes += unexplained(left, differing(left))
    place = None if baseline is None else having.index(baseline)
    return _Asked(tuple(left), metric, way, place, shared, tuple(notes), how.every_rule)


def _compared(
    asked: _Asked,
    ids: Mapping[Direction, tuple[str, ...]],
    unjudged: Collection[str],
    part: tuple[str, str] | None = None,
) -> Comparison:
    """The comparison on some of the common askers; the unjudged ones are only counted."""
    groups = {way: groups_of_askers(asked.runs, way, names) for way, names in ids.items()}
    answers = [answers_of(run, ids, asked.common.rule) for run in asked.runs]
    spans = intervals_of(answers, groups)
    reached = np.array([value_of(own.total, asked.metric) for own in answers], dtype=np.float64)
    order = np.argsort(reached if is_rank(asked.metric) else -reached, kind="stable").tolist()
    best = order[0]
    base = best if asked.baseline is None else asked.baseline
    questions = list(dict.fromkeys([(asked.metric, base), (asked.metric, best)]))
    tested, *others = against(answers, questions, asked.way, groups[asked.way])
    level = others[0] if others else tested
    fields, medians = differing(asked.runs), {name for own in answers for name in (*own.total, asked.metric)}
    rows = []
    for run in order:
        row = Compared(
            name=asked.runs[run].name,
            identity=asked.runs[run].report.identity,
            fields=fields[run],
            values=with_medians(answers[run].total, medians),
            intervals=with_medians(spans[run], medians),
            group=run == best or bool(level.p_adjusted[run] >= LEVEL),
            rules=_under_rules(asked, run, answers[run]),
            tied=_limits(asked, run, answers[run]),
        )
        rows.append(row if run == base else _tested(row, tested, run, float(reached[run] - reached[base])))
    return Comparison(
        metric=asked.metric,
        baseline=asked.runs[base].name,
        best=asked.runs[best].name,
        rule=asked.common.rule.value,
        queries=len(ids[asked.way]),
        groups=len(np.unique(groups[asked.way])),
        notes=(
            *asked.notes,
            *_left_out(asked.metric, unjudged),
            *cautions(asked.runs, asked.way, ids[asked.way], groups[asked.way]),
            *repeats([run.name for run in asked.runs], answers),
            *_moved_by_ties(rows, asked.metric),
        ),
        runs=tuple(rows),
        part=part,
    )


def _find(runs: Sequence[Finished], wanted: str | Finished) -> int:
    """Number of the run itself, or with that name, or whose identity begins so."""
    if isinstance(wanted, Finished):
        name, found = wanted.name, [number for number, run in enumerate(runs) if result_of(run) == result_of(wanted)]
    else:
        name, found = wanted, [number for number, run in enumerate(runs) if run.name == wanted]
        begins = [number for number, run in enumerate(runs) if wanted and run.report.identity.startswith(wanted)]
        found = found or begins
    if len(found) != 1:
        there = listed([run.name for run in runs])
        raise DataError(f"the baseline {name!r} is {'several' if found else 'none'} of the runs; wanted one of {there}")
    return found[0]


def counted_anew(run: Finished) -> dict[str, float]:
    """All metrics of a run under its own protocol, counted anew; a DataError where its report says otherwise."""
    found = {
        prefix(way) + name: value
        for way, ranks in run.ranks.items()
        for name, value in evaluate(ranks, cutoffs_of(run), rule_of(run)).items()
    }
    for name, told in run.report.metrics.items():
        if name not in found or not np.isclose(told, found[name], rtol=_ROUNDING, atol=_ROUNDING):
            raise DataError(
                f"the run {run.name!r} is damaged: its report says that {name} is {told}, its ranks say "
                f"{found.get(name, 'nothing of it')}; run the experiment again with rerun=true"
            )
    return found


def value_of(values: Mapping[str, float], metric: str) -> float | None:
    """The metric's value; `median_rank_mean` has an entry only where it differs from `median_rank`."""
    return values.get(metric, values.get(metric.replace(MEAN_MEDIAN, MEDIAN)))


def _unjudged(asked: _Asked) -> tuple[str, ...]:
    """Ids in NFC of the askers that all runs have, and that are not compared, for nothing is relevant to them."""
    own = [list(map(nfc, run.ranks[asked.way].query_ids)) for run in asked.runs]
    shared = set(own[0]).intersection(*own[1:]).difference(asked.common.ids[asked.way])
    return tuple(name for name in own[0] if name in shared)


def _left_out(metric: str, unjudged: Collection[str]) -> list[str]:
    who = "items without a relevant query" if asker(metric) == "item" else "queries without a relevant item"
    return [f"{who}, left out of every number: {len(unjudged)}"] if unjudged else []


def _under_rules(asked: _Asked, run: int, answers: Answers) -> dict[str, float]:
    """Tie rule -> the metric's value under it, where every rule is asked for."""
    if not asked.every_rule:
        return {}
    found = {}
    for rule in TieRule:
        numbers = evaluate(answers.ranks[asked.way], cutoffs_of(asked.runs[run]), rule)
        value = value_of({prefix(asked.way) + name: number for name, number in numbers.items()}, asked.metric)
        if value is not None:
            found[rule.value] = value
    return found


def _limits(asked: _Asked, run: int, answers: Answers) -> tuple[float, float] | None:
    """Worst and best value of the metric over the orders of equal scores."""
    limits = bounds(answers.ranks[asked.way], cutoffs_of(asked.runs[run]), asked.common.rule)
    name = asked.metric.removeprefix(prefix(asked.way))
    return limits.get(name, limits.get(name.replace(MEAN_MEDIAN, MEDIAN)))


def _tested(row: Compared, tested: Paired, run: int, difference: float) -> Compared:
    """The row with what tells it from the baseline."""
    return replace(
        row,
        difference=difference,
        difference_interval=tested.intervals[run],
        p_value=float(tested.p_values[run]),
        p_adjusted=float(tested.p_adjusted[run]),
        improved=int(tested.better[run]),
        degraded=int(tested.worse[run]),
        equal=int(tested.equal[run]),
    )


def _moved_by_ties(rows: Sequence[Compared], metric: str) -> list[str]:
    """Says where the order of equal scores moves the metric by more than half a point, or half a rank."""
    moved = [row for row in rows if row.tied is not None and swayed({metric: row.tied})]
    if not moved:
        return []
    unit = "half a rank" if is_rank(metric) else "0.5 points"
    shown = [f"{row.name!r} from {row.tied[0]:.4g} to {row.tied[1]:.4g}" for row in moved[:SHOWN] if row.tied]
    more = f" and {len(moved) - SHOWN} more runs" if len(moved) > SHOWN else ""
    return [f"the order of equal scores moves {metric} by more than {unit}: {', '.join(shown)}{more} (worst to best)"]
