"""`ranks.csv`: where every relevant item stands, one line for each (query, relevant item) pair."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from glyphrank.records import Direction, Ranks
from glyphrank.ties import Numbers, TieRule, places

HEADER = ("direction", "query_id", "item_id", "rank", "best_rank", "worst_rank", "retrieved")


def write_ranks(path: Path, ranks: Mapping[Direction, Ranks], rule: TieRule) -> None:
    """Writes the ranks of all directions under a tie rule, with the best and worst that other rules give.

    Ids stand as published. An item that was not retrieved has the gallery's size in all three columns. Under
    `average` and `textvr` the rank is the mean place of its tied group, which may be a half.
    """
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(HEADER)
        for direction, found in ranks.items():
            writer.writerows(_rows(direction, found, rule))


def _rows(direction: Direction, ranks: Ranks, rule: TieRule) -> Iterator[tuple[str, ...]]:
    # The mean over all orders of a group is the place that the TextVR rule gives.
    own = TieRule.textvr if rule is TieRule.average else rule
    columns = [_filled(places(ranks, shown)[0], ranks) for shown in (own, TieRule.optimistic, TieRule.pessimistic)]
    for entry, (query, item) in enumerate(zip(ranks.query, ranks.item, strict=True)):
        shown = (f"{column[entry]:.12g}" for column in columns)
        retrieved = "true" if ranks.retrieved[entry] else "false"
        yield (direction.value, ranks.query_ids[query], ranks.item_ids[item], *shown, retrieved)


def _filled(place: Numbers, ranks: Ranks) -> Numbers:
    return np.where(np.isfinite(place), place, len(ranks.item_ids))
