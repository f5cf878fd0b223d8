"""`ranks.csv`: where every relevant item stands, one line a (query, relevant item) pair; `ranked_10.json`: lists."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from glyphrank.errors import DataError
from glyphrank.records import Direction, Ranks
from glyphrank.report.long_cells import long_cells
from glyphrank.ties import TieRule, places

HEADER = (
    *("direction", "query_id", "item_id", "rank", "best_rank", "worst_rank", "retrieved"),
    *("gain", "rank_by_id"),
)


def write_ranks(path: Path, ranks: Mapping[Direction, Ranks], rule: TieRule) -> None:
    """Writes the ranks of all directions under a tie rule, and between which limits other orders would put them.

    Ids stand as published, gains in full. `best_rank` and `worst_rank` are the first and the last place of the item's
    tied group, `rank` lies between: under `average` and `textvr` it is the mean place of the group, which may be a
    half. `rank_by_id` is the place under `document_id`. An item that was not retrieved has the gallery's size in all
    four columns.
    """
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(HEADER)
        for direction, found in ranks.items():
            writer.writerows(_rows(direction, found, rule))


def read_ranks(
    path: Path, query_ids: Mapping[Direction, Sequence[str]], galleries: Mapping[Direction, int]
) -> dict[Direction, Ranks]:
    """Rebuilds what `write_ranks` wrote, so that every metric of every query is the same under every tie rule.

    Relevant items have their ids, as published, in the order in which the file names them first; the rest of the
    gallery follows, without a name (""), and `top` is empty.

    Args:
        query_ids: direction -> all its queries, those without a relevant item too; the file names only the others.
        galleries: direction -> number of items that were ranked.

    Raises:
        DataError: the file is missing, no such table, or names other queries, directions or places; the row is named.
    """
    try:
        with path.open(encoding="utf-8", newline="") as stream, long_cells():
            pairs = _read(csv.reader(stream))
        if pairs.keys() - query_ids.keys() or pairs.keys() - galleries.keys():
            raise ValueError(f"it holds the directions {', '.join(pairs)}; wanted {', '.join(query_ids)}")
        return {
            direction: _rebuilt(direction, pairs.get(direction, []), queries, galleries[direction])
            for direction, queries in query_ids.items()
        }
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror or error})") from error
    except (ValueError, csv.Error) as error:
        raise DataError(f"{path}: {error}; the file is damaged or of another version, run the experiment again") from (
            error
        )


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
    by_id = ranks.higher + ranks.before + 1
    shown_places = (places(ranks, own)[0], ranks.higher + 1, ranks.higher + ranks.tied, by_id)
    *columns, last = [np.where(ranks.retrieved, place, len(ranks.item_ids)) for place in shown_places]
    for entry, (query, item) in enumerate(zip(ranks.query, ranks.item, strict=True)):
        shown = (f"{column[entry]:.12g}" for column in columns)
        retrieved = "true" if ranks.retrieved[entry] else "false"
        ids = (ranks.query_ids[query], ranks.item_ids[item])
        yield (direction.value, *ids, *shown, retrieved, repr(float(ranks.gain[entry])), str(last[entry]))


class _Pair(NamedTuple):
    """One row: the first, last and own place (by id) of the tied group, None where the item was not retrieved."""

    query: str
    item: str
    gain: float
    places: tuple[int, int, int] | None


def _read(rows: Iterator[list[str]]) -> dict[Direction, list[_Pair]]:
    header = next(rows, [])
    if tuple(header) != HEADER:
        raise ValueError(f"the header is {header}; wanted {list(HEADER)}")
    pairs: dict[Direction, list[_Pair]] = {}
    seen: set[tuple[str, ...]] = set()
    for number, row in enumerate(rows, start=2):
        try:
            direction, query, item, _, best, worst, retrieved, gain, by_id = row
            spots = {"true": (int(best), int(worst), int(by_id)), "false": None}[retrieved]
            pair = _Pair(query, item, float(gain), spots)
            if not 0 < pair.gain < math.inf or (spots and not 1 <= spots[0] <= spots[2] <= spots[1]):
                raise ValueError("gain or places are impossible")
            if (direction, query, item) in seen:
                raise ValueError("query and item stand in an earlier row as well; wanted each pair once")
            seen.add((direction, query, item))
            pairs.setdefault(Direction(direction), []).append(pair)
        except (ValueError, KeyError) as error:
            raise ValueError(f"row {number}, {row}: {error}") from error
    return pairs


def _rebuilt(direction: Direction, pairs: Sequence[_Pair], query_ids: Sequence[str], gallery: int) -> Ranks:
    queries = {query: number for number, query in enumerate(query_ids)}
    items = {item: number for number, item in enumerate(dict.fromkeys(pair.item for pair in pairs))}
    for pair in pairs:
        if pair.query not in queries:
            raise ValueError(f"it names the query {pair.query!r}, which is not among the {len(queries)} queries")
        if pair.places and pair.places[1] > gallery:
            raise ValueError(f"query {pair.query!r} has the place {pair.places[1]} among {gallery} items")
    if len(items) > gallery:
        raise ValueError(f"it names {len(items)} relevant items; wanted at most {gallery}, as many as were ranked")
    spots = np.array([pair.places or (1, 0, 1) for pair in pairs], dtype=np.int64).reshape(-1, 3)
    query = np.array([queries[pair.query] for pair in pairs], dtype=np.int64)
    if (np.diff(query) < 0).any():
        raise ValueError("its queries stand in another order than those they were made with")
    return Ranks(
        direction=direction,
        query_ids=tuple(query_ids),
        item_ids=(*items, *[""] * (gallery - len(items))),
        query=query,
        item=np.array([items[pair.item] for pair in pairs], dtype=np.int64),
        gain=np.array([pair.gain for pair in pairs], dtype=np.float64),
        higher=spots[:, 0] - 1,
        tied=spots[:, 1] - spots[:, 0] + 1,
        before=spots[:, 2] - spots[:, 0],
        retrieved=np.array([pair.places is not None for pair in pairs], dtype=np.bool_),
    )
