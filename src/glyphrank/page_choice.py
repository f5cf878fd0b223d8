"""Which queries a page of misses shows, and the filters by which a person chooses among them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from glyphrank.metrics import Protocol, per_query
from glyphrank.outcome import Report
from glyphrank.rankings import Rankings
from glyphrank.records import BoolArray, Direction, View
from glyphrank.report.page_records import Kind
from glyphrank.run import CHANNELS, Run
from glyphrank.ties import Numbers

CUTOFFS = (1, 10)
"""Where a query counts as missed, rescued or broken."""
MOST_VALUES = 50
"""Values of a field that a list of choices shows; a field with more is found by the text search."""
_SAME = 1e-12
"""Differences of hit rates up to here are rounding, as in `contributions`."""


@dataclass(frozen=True)
class Judged:
    """How the q queries of a run fared.

    Attributes:
        best: ranking -> (q,) rank of the best relevant item, NaN where nothing is; the run's own ranking is the last.
        kinds: filters with the queries that pass them, (q,) bool.
        rescued, broken: (q,) against a channel alone, at any of the cut-offs; nowhere with a single channel.
    """

    best: Mapping[str, Numbers]
    kinds: Sequence[tuple[Kind, BoolArray]]
    rescued: BoolArray
    broken: BoolArray


def compared_channels(run: Run, report: Report) -> dict[str, str]:
    """Channel against which the fusion is held -> words for who rescued or broke.

    Where text stands beside frames that is the channel of frames, and what the text brought; else every channel.
    """
    if len(run.channels) < 2:
        return {}
    seeing = [name for name in run.channels if CHANNELS[name] is View.frames]
    if seeing and len(seeing) < len(run.channels):
        sources = {str(view["source"]) for view in report.views.values() if view.get("source")}
        return {seeing[0]: "by the text layer" if sources == {"embedded"} else "by OCR"}
    return {name: f"by the fusion against {name}" for name in run.channels}


def judged(rankings: Rankings, compared: Mapping[str, str], protocol: Protocol) -> Judged:
    """What the filters need to know; rescued and broken are those of `contributions`.

    Args:
        compared: from `compared_channels`.
    """
    forward = {name: own[Direction.t2v] for name, own in rankings.items()}
    values = {name: per_query(ranks, protocol.cutoffs, protocol.ties) for name, ranks in forward.items()}
    own = next(reversed(values.values()))
    known = ~np.isnan(own["best_rank"])
    found: list[tuple[str, str, BoolArray]] = [
        (f"missed_{k}", f"Missed: not in the first {k}" if k > 1 else "Missed: not at 1", known & (own[_hit(k)] < 1))
        for k in CUTOFFS
    ]
    rescued, broken = np.zeros_like(known), np.zeros_like(known)
    for channel, who in compared.items():
        for k in CUTOFFS:
            difference = own[_hit(k)] - values[channel][_hit(k)]
            better, worse = difference > _SAME, difference < -_SAME
            found.append((f"rescued_{channel}_{k}", f"Rescued {who} at {k}", better))
            found.append((f"broken_{channel}_{k}", f"Broken {who} at {k}", worse))
            rescued, broken = rescued | better, broken | worse
    empty = np.array([not len(items) for items, _ in next(reversed(forward.values())).top], dtype=np.bool_)
    found += [("unanswered", "Nothing was retrieved", empty), ("unjudged", "Without a relevant item", ~known)]
    kinds = [(Kind(key, label, int(passes.sum())), passes) for key, label, passes in found]
    best = {name: own["best_rank"] for name, own in values.items()}
    return Judged(best, kinds, rescued, broken)


def choose(found: Judged, most: int) -> list[int]:
    """Numbers of the queries that are shown, the worst first, those without a relevant item last.

    Where not all are, up to a quarter each is for queries that were broken and that were rescued, the worst of them,
    as the worst of all are seldom among the rescued.
    """
    own = next(reversed(list(found.best.values())))
    order = np.argsort(-np.where(np.isnan(own), -1.0, own), kind="stable")
    if len(order) <= most:
        return [int(number) for number in order]
    quarter = most // 4
    reserved = [order[passes[order]][:quarter] for passes in (found.broken, found.rescued)]
    chosen = set(np.concatenate(reserved).tolist())
    for number in order.tolist():
        if len(chosen) >= most:
            break
        chosen.add(number)
    return [int(number) for number in order if int(number) in chosen]


def kinds_of(found: Judged) -> tuple[Kind, ...]:
    """The filters that some query passes."""
    return tuple(kind for kind, _ in found.kinds if kind.total)


def fields_of(fields: Mapping[str, Mapping[str, str]], shown: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Field -> its values among the shown queries, where there are several and not too many to choose from.

    Args:
        fields: field -> query id -> value.
        shown: ids of queries.
    """
    found = {field: sorted({values[query] for query in shown if query in values}) for field, values in fields.items()}
    return {field: tuple(values) for field, values in found.items() if 1 < len(values) <= MOST_VALUES}


def _hit(cutoff: int) -> str:
    return f"hit_rate_at_{cutoff}"
