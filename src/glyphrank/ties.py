"""Where relevant items stand inside a group of equal scores, by each rule (DESIGN section 6).

A tied group of one query has m items, h strictly higher ones above it, and r of its items are relevant: it fills the
places h + 1 to h + m, and every rule but `textvr` is an order of the group, or the mean over all its orders.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from glyphrank.records import IntArray, Ranks

Numbers = NDArray[np.float64]

_HALF_POINT, _HALF_RANK = 0.005 + 1e-12, 0.5 + 1e-12
"""Larger effects of an order matter to who reads the numbers; the rest is for rounding."""


class TieRule(StrEnum):
    """How items of equal score are ordered.

    * `pessimistic`: irrelevant ones first, then relevant ones by ascending gain; never flatters.
    * `optimistic`: relevant ones first, by descending gain (frozen-in-time, text to video).
    * `document_id`: ids descending, as trec_eval sorts.
    * `average`: the expectation of every metric over all orders of the group.
    * `textvr`: all items of the group have the group's mean place (released code of TextVR, arXiv:2305.03347).
    """

    pessimistic = "pessimistic"
    optimistic = "optimistic"
    document_id = "document_id"
    average = "average"
    textvr = "textvr"


@dataclass(frozen=True)
class Groups:
    """For each of the m (query, relevant item) pairs, what else of its tied group is relevant.

    Attributes:
        members: (m,) relevant items in the group, itself included; 0 where it was not retrieved.
        ascending: (m,) its place, from 0, among them by ascending gain.
    """

    members: IntArray
    ascending: IntArray


def groups(ranks: Ranks) -> Groups:
    """The relevant members of every tied group: pairs of one query with equally many items above them."""
    members = np.zeros(len(ranks.query), dtype=np.int64)
    ascending = np.zeros(len(ranks.query), dtype=np.int64)
    found = np.flatnonzero(ranks.retrieved)
    order = found[np.lexsort((ranks.gain[found], ranks.higher[found], ranks.query[found]))]
    if len(order):
        query, higher = ranks.query[order], ranks.higher[order]
        opens = np.concatenate([[True], (query[1:] != query[:-1]) | (higher[1:] != higher[:-1])])
        starts = np.flatnonzero(opens)
        sizes = np.diff(np.append(starts, len(order)))
        members[order] = np.repeat(sizes, sizes)
        ascending[order] = np.arange(len(order)) - np.repeat(starts, sizes)
    return Groups(members, ascending)


def places(ranks: Ranks, rule: TieRule) -> tuple[Numbers, Numbers]:
    """1-based places of all m pairs under a rule that gives places (any but `average`); inf where not retrieved.

    Returns:
        (m,) the place that decides hits and the best rank, and (m,) the place that recall, nDCG and the reciprocal
        rank see. They differ for `textvr` alone, whose code has hits and ranks only: these see the group's mean place
        h + (m + 1) / 2, while for the others the r relevant items take r consecutive places round it by ascending
        gain, so that no two share a place and every metric stays within 1. Both may be halves. So under `textvr` a
        query may have a recall above 0 where its hit rate is 0.
    """
    group = groups(ranks)
    match rule:
        case TieRule.pessimistic:
            place = ranks.higher + ranks.tied - group.members + group.ascending + 1.0
        case TieRule.optimistic:
            place = ranks.higher + group.members - group.ascending + 0.0
        case TieRule.document_id:
            place = ranks.higher + ranks.before + 1.0
        case TieRule.textvr:
            place = ranks.higher + (ranks.tied + 1) / 2
        case TieRule.average:
            raise ValueError("the rule 'average' gives expectations, not places; see expected.py")
    spread = place + group.ascending - (group.members - 1) / 2 if rule is TieRule.textvr else place
    return np.where(ranks.retrieved, place, np.inf), np.where(ranks.retrieved, spread, np.inf)


def tied_queries(ranks: Ranks) -> int:
    """Queries whose numbers the order of a tie can change.

    Those with a retrieved relevant item whose tied group holds anything else than relevant items of this query with
    the same gain; a group of equally relevant items reads the same in every order and does not count.
    """
    found = np.flatnonzero(ranks.retrieved & (ranks.tied > 1))
    keys = np.stack([ranks.query[found], ranks.higher[found], ranks.tied[found]])
    _, number, equals = np.unique(np.vstack([keys, ranks.gain[found]]), axis=1, return_inverse=True, return_counts=True)
    return len(np.unique(ranks.query[found][ranks.tied[found] > equals[number.reshape(-1)]]))


def swayed(bounds: Mapping[str, tuple[float, float]]) -> tuple[str, ...]:
    """The metrics, of any direction, that the order of ties moves by more than half a point, or half a rank.

    Args:
        bounds: metric -> worst and best value, as `metrics.bounds` gives them.
    """
    return tuple(
        name
        for name, (worst, best) in bounds.items()
        if abs(worst - best) > (_HALF_RANK if is_rank(name) else _HALF_POINT)
    )


def is_rank(name: str) -> bool:
    """Whether a metric, of any direction, is a rank from 1, of which less is better, and no fraction."""
    return name.rpartition("/")[2].startswith(("median_rank", "mean_rank"))
