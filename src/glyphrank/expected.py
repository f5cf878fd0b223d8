"""Expectations of the metrics over all orders of tied groups (rule `average`), in closed form.

Notation as in ties.py: h items above the group, m in it, r of them relevant. Of the group c = min(max(k - h, 0), m)
places lie within the cut-off k.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from glyphrank.records import Ranks
from glyphrank.ties import Numbers, groups


@dataclass(frozen=True)
class FirstGroup:
    """For each of the q queries the highest group with a relevant item; it alone decides hits and the best rank.

    Attributes:
        higher, tied, members: (q,) float64 h, m and r; h is inf where nothing relevant was retrieved (m = r = 1).
    """

    higher: Numbers
    tied: Numbers
    members: Numbers

    def hit(self, cutoff: int) -> Numbers:
        """(q,) probability that a relevant item stands within the cut-off.

        A miss is hypergeometric: C(m - r, c) / C(m, c) = prod over i < r of (m - c - i) / (m - i).
        """
        inside = np.clip(cutoff - self.higher, 0, self.tied)
        missed = np.ones(len(self.higher))
        for turn in range(int(self.members.max(initial=0))):
            left = np.maximum(self.tied - turn, 1)
            missed *= np.where(turn < self.members, np.maximum(left - inside, 0) / left, 1.0)
        return 1 - missed

    def best_rank(self) -> Numbers:
        """(q,) expected place of the best relevant item, h + (m + 1) / (r + 1)."""
        return self.higher + (self.tied + 1) / (self.members + 1)

    def reciprocal_rank(self, cutoff: int) -> Numbers:
        """(q,) expected 1 / place of the best relevant item, 0 beyond the cut-off."""
        total, missed = np.zeros(len(self.higher)), np.ones(len(self.higher))
        for place in range(1, int(min(cutoff, self.tied.max(initial=0))) + 1):
            still = missed * self._survive(place)
            rank = self.higher + place
            total += np.where(rank <= cutoff, (missed - still) / rank, 0.0)
            missed = still
        return total

    def _survive(self, place: int) -> Numbers:
        """(q,) probability that the group's place (from 1) holds nothing relevant, given that none above it does."""
        left = self.tied - place + 1
        return np.maximum(left - self.members, 0) / np.maximum(left, 1)


def first_group(ranks: Ranks) -> FirstGroup:
    """The highest group with a relevant item, of every query."""
    count = len(ranks.query_ids)
    higher, tied, members = np.full(count, np.inf), np.ones(count), np.ones(count)
    found = np.flatnonzero(ranks.retrieved)
    order = found[np.lexsort((ranks.higher[found], ranks.query[found]))]
    queries, first = np.unique(ranks.query[order], return_index=True)
    pairs = order[first]
    higher[queries], tied[queries], members[queries] = (
        ranks.higher[pairs],
        ranks.tied[pairs],
        groups(ranks).members[pairs],
    )
    return FirstGroup(higher, tied, members)


def share_within(ranks: Ranks, cutoff: int) -> Numbers:
    """(m,) probability that a relevant item stands within the cut-off: c / m of its group."""
    inside = np.clip(min(cutoff, len(ranks.item_ids)) - ranks.higher, 0, ranks.tied)
    return np.where(ranks.retrieved, inside / np.maximum(ranks.tied, 1), 0.0)


def discount_within(ranks: Ranks, cutoff: int) -> Numbers:
    """(m,) expected 1 / log2(place + 1) of a relevant item, 0 beyond the cut-off: the mean over its group's places."""
    cutoff = min(cutoff, len(ranks.item_ids))  # no more places than that are ever filled
    discounts = 1 / np.log2(np.arange(2, cutoff + 2))
    summed = np.concatenate([[0.0], np.cumsum(discounts)])
    first, last = np.minimum(ranks.higher, cutoff), np.minimum(ranks.higher + ranks.tied, cutoff)
    # A group of one takes its discount as it is: a difference of sums would cost the last bits of an exact 1.
    alone = np.where(first < cutoff, discounts[np.minimum(first, cutoff - 1)], 0.0)
    mean = (summed[last] - summed[first]) / np.maximum(ranks.tied, 1)
    return np.where(ranks.retrieved, np.where(ranks.tied == 1, alone, mean), 0.0)
