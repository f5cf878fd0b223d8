"""`ranks.csv`: where every relevant item stands, one line a (query, relevant item) pair; `ranked_10.json`: lists."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from glyphrank.records import Direction, Ranks
from glyphrank.ties import TieRule, places

HEADER = ("direction", "query_id", "item_id", "rank", "best_rank", "worst_rank", "retrieved")


def write_ranks(path: Path, ranks: Mapping[Direction, Ranks], rule: TieRule) -> None:
    """Writes the ranks of all directions under a tie rule, and between which limits other orders would put them.

    Ids stand as published. `best_rank` and `worst_rank` are the first and the last place of the item's tied group,
    `rank` lies between: under `average` and `textvr` it is the mean place of the group, which may be a half. An item
    that was not retrieved has the gallery's size in all three columns.
    """
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(HEADER)
        for direction, found in ranks.items():
            writer.writerows(_rows(direction, found, rule))


def write_ranked(path: Path, ranks: Ranks, depth: int = 10) -> None:
    """Writes the first places of every query's list as JSON: query id -> item ids, best first, ids as published.

    The ranked list that the SDS KoPub card (arXiv:2511.04910) judges; an item that was not retrieved is not in it.
    """
    lists = {
        query: [ranks.item_ids[item] for item in items[:depth].tolist()]
        for query, (items, _) in zip(ranks.query_ids, ranks.top, strict=True)
    }
    path.write_text(json.dumps(lists, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def _rows(direction: Direction, ranks: Ranks, rule: TieRule) -> Iterator[tuple[str, ...]]:
    # The mean over all orders of a group is the place that the TextVR rule gives.
    own = TieRule.textvr if rule is TieRule.average else rule
    shown_places = (places(ranks, own)[0], ranks.higher + 1, ranks.higher + ranks.tied)
    columns = [np.where(ranks.retrieved, place, len(ranks.item_ids)) for place in shown_places]
    for entry, (query, item) in enumerate(zip(ranks.query, ranks.item, strict=True)):
        shown = (f"{column[entry]:.12g}" for column in columns)
        retrieved = "true" if ranks.retrieved[entry] else "false"
        yield (direction.value, ranks.query_ids[query], ranks.item_ids[item], *shown, retrieved)
