"""What the channels of a run did for each other: queries rescued and broken by the fusion, and the bounds of choosing.

A query is *rescued* at k where its hit rate at k is greater under the fusion than under one channel alone, and *broken*
where it is smaller. Under the tie rule `average` a hit is the share of the orders of equal scores in which a relevant
item stands within k: there a query counts as rescued as soon as that share grows, by however little.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from glyphrank.metrics import Protocol, per_query, prefix, summary
from glyphrank.records import Direction, Ranks
from glyphrank.ties import Numbers

_HIT, _RANK = "hit_rate_at_", "best_rank"
_SAME = 1e-12
"""Differences up to here are rounding."""

Values = Mapping[str, Numbers]
"""Metric -> (q,) values, as `metrics.per_query` gives them."""


def contributions(
    channels: Mapping[str, Mapping[Direction, Ranks]],
    fused: Mapping[Direction, Ranks],
    frames: str | None,
    protocol: Protocol,
) -> dict[str, float]:
    """What fusing changed, in every direction (`v2t/` in front), at every cut-off.

    Args:
        channels: each channel's own ranks, of the same queries and gallery as the fusion's.
        fused: ranks under the fusion, at least forward.
        frames: the channel that sees frames where the others see text, else None.
        protocol: whose cut-offs and tie rule count.

    Returns:
        `channel/<name>/rescued_at_k` and `broken_at_k`: numbers of queries, against that channel alone;
        `ocr/rescued_at_k` and `broken_at_k`: what text brought, which is the fusion against `frames` alone;
        `best_channel/<metric>` and `worst_channel/<metric>`: the metrics of `metrics.evaluate` if each query took,
        metric by metric, the best (worst) that any channel alone gives it: what choosing a channel could reach, and no
        bound of the fusion, which may beat all of them. Empty with a single channel.
    """
    found: dict[str, float] = {}
    if len(channels) < 2:
        return found
    for direction, ranks in fused.items():
        start = prefix(direction)
        whole = per_query(ranks, protocol.cutoffs, protocol.ties)
        alone = {name: per_query(own[direction], protocol.cutoffs, protocol.ties) for name, own in channels.items()}
        for name, values in alone.items():
            found |= {f"{start}channel/{name}/{what}": count for what, count in _changed(whole, values).items()}
        if frames is not None:
            found |= {f"{start}ocr/{what}": count for what, count in _changed(whole, alone[frames]).items()}
        found |= {f"{start}best_channel/{name}": value for name, value in _chosen(alone, better=True).items()}
        found |= {f"{start}worst_channel/{name}": value for name, value in _chosen(alone, better=False).items()}
    return found


def _changed(fused: Values, alone: Values) -> dict[str, float]:
    """Numbers of queries whose hits the fusion gained and lost; NaN of queries without a relevant item is neither."""
    counts: dict[str, float] = {}
    for name in fused:
        if name.startswith(_HIT):
            difference, cutoff = fused[name] - alone[name], name.removeprefix(_HIT)
            counts[f"rescued_at_{cutoff}"] = float(np.count_nonzero(difference > _SAME))
            counts[f"broken_at_{cutoff}"] = float(np.count_nonzero(difference < -_SAME))
    return counts


def _chosen(alone: Mapping[str, Values], better: bool) -> dict[str, float]:
    """The metrics of `metrics.evaluate` over the best, or the worst, of all channels for each query and metric."""
    taken: dict[str, Numbers] = {}
    for name in next(iter(alone.values())):
        every = np.array([values[name] for values in alone.values()])
        taken[name] = every.min(axis=0) if (name == _RANK) == better else every.max(axis=0)
    return summary(taken, np.flatnonzero(~np.isnan(taken[_RANK])))
