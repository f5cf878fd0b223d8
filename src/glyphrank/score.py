"""Scores a ranking made elsewhere: a TREC run file against relevance judgements."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glyphrank.errors import DataError
from glyphrank.ids import nfc
from glyphrank.metrics import ALWAYS, bounds, evaluate
from glyphrank.ranking import best, id_order, stand
from glyphrank.records import Direction, IntArray, Ranks
from glyphrank.ties import TieRule, tied_queries
from glyphrank.trec import Qrels, Run, read_qrels, read_run


def score(run: Path, qrels: Path, cutoffs: Sequence[int], ties: TieRule) -> dict[str, Any]:
    """Metrics of a run file.

    Lists are ordered by score, not by the rank column; scores are compared as the float64 they are read as
    (trec_eval compares in float32 in some builds, and may see a tie where there is none here). An item that stands
    twice in a list keeps its best position. A query of the judgements that has no list counts 0; one without a
    relevant item is left out of the means; a list without judgements is not counted.

    What the lists do not hold is missing, for they may have been cut. Median and mean rank keep their names only where
    every query finds a relevant item and no relevant item is level with the end of its list; else they are called
    `median_rank_truncated` and `mean_rank_truncated` (see `metrics.evaluate`). An item is level with the end where its
    score is that of the list's last item and is shared by others of the list, or by none in a list that lacks items
    which other lists or the judgements name. The tie may go on beyond the end, so that under `pessimistic`, `average`
    and `textvr` every number may be too good, and the worst of the bounds with it.

    Returns:
        `metrics` and `bounds` (as in a report), `counts`, and `notes`: what was odd, in sentences.

    Raises:
        DataError: a file is missing or damaged, or run and judgements speak of other queries or items.
    """
    judged = read_qrels(qrels)
    if not any(judged.gains.values()):
        raise DataError(f"{qrels}: none of its {len(judged.gains)} queries has an item of a gain above 0")
    judged_items = _judged_items(judged)
    lists = _lists(read_run(run, judged.gains, judged_items))
    _check_overlap(lists, judged, run, qrels)
    gallery = _gallery(lists, judged_items)
    ranks = _ranks(lists, judged, gallery)
    at_the_end = _tied_at_the_end(ranks)
    found = len(np.unique(ranks.query[ranks.retrieved]))
    ranks = replace(ranks, truncated=bool(at_the_end) or found < len(np.unique(ranks.query)))
    counts = {**_counts(lists, judged, ranks), "queries_tied_at_the_end": at_the_end}
    return {
        "metrics": evaluate(ranks, cutoffs, ties),
        "bounds": bounds(ranks, cutoffs, ties),
        "counts": counts,
        "notes": _notes(counts, ranks, [*cutoffs, *ALWAYS]),
    }


@dataclass(frozen=True)
class _List:
    """One query's ranking.

    Attributes:
        items: distinct, in NFC.
        scores: the best of each item.
        order: each item's place, from 0, by descending id as the file holds it.
        repeats: how many lines repeated an item.
    """

    items: tuple[str, ...]
    scores: NDArray[np.float64]
    order: IntArray
    repeats: int


_NO_LIST = _List((), np.empty(0), np.empty(0, dtype=np.int64), 0)


def _lists(run: Run) -> dict[str, _List]:
    """Query id in NFC -> its list."""
    best_scores: dict[str, dict[str, tuple[float, str]]] = {}
    lines: dict[str, int] = {}
    for query, items in run.items.items():
        kept = best_scores.setdefault(nfc(query), {})
        lines[nfc(query)] = lines.get(nfc(query), 0) + len(items)
        for item, value, written in zip(map(nfc, items), run.scores[query], run.written[query], strict=True):
            kept[item] = max((value, written), kept.get(item, (value, written)))
    lists = {}
    for query, kept in best_scores.items():
        scores = np.array([value for value, _ in kept.values()], dtype=np.float64)
        order = id_order([written for _, written in kept.values()])
        lists[query] = _List(tuple(kept), scores, order, lines[query] - len(kept))
    return lists


def _check_overlap(lists: Mapping[str, _List], judged: Qrels, run: Path, qrels: Path) -> None:
    """Refuses a run that speaks of other ids than the judgements do."""
    queries = {nfc(query) for query in judged.gains}
    if not queries & lists.keys():
        raise _foreign("queries", lists, queries, run, qrels)
    listed = {item for ranking in lists.values() for item in ranking.items}
    items = {nfc(item) for item in _judged_items(judged)}
    if listed & items:
        return
    # A short run may truly have found nothing. It is taken at its word only where its ids are made like the judged
    # ones (digits aside) and not merely written otherwise (0001 for 1, 12.0 for 12).
    alike = {_shape(item) for item in listed} & {_shape(item) for item in items}
    rewritten = {_bare(item) for item in listed} & {_bare(item) for item in items}
    if rewritten or not alike:
        raise _foreign("items", listed, items, run, qrels)


def _foreign(kind: str, found: Iterable[str], wanted: Iterable[str], run: Path, qrels: Path) -> DataError:
    return DataError(
        f"{run} and {qrels} have no {kind} in common: the run names {sorted(found)[:3]}, the judgements "
        f"{sorted(wanted)[:3]}; ids are text and must be written alike in both"
    )


def _shape(name: str) -> str:
    return re.sub(r"\d+", "0", name)


def _bare(name: str) -> str:
    """An id without what number parsers, letter case and file endings do to it."""
    stem = re.sub(r"\.(0+|[a-z]\w{1,3})$", "", name.casefold())
    return re.sub(r"(?<!\d)0+(?=\d)", "", stem)


def _ranks(lists: Mapping[str, _List], judged: Qrels, gallery: Mapping[str, int]) -> Ranks:
    """Ranks of all judged queries; the gallery is every item that run or judgements name."""
    pairs: list[tuple[int, ...]] = []
    top: list[tuple[IntArray, NDArray[Any]]] = []
    for number, (query, gains) in enumerate(judged.gains.items()):
        ranking = lists.get(nfc(query), _NO_LIST)
        position = {item: place for place, item in enumerate(ranking.items)}
        for item in map(nfc, gains):
            at = position.get(item)
            found, counts = (False, (0, 0, 0)) if at is None else stand(ranking.scores, at, ranking.order)
            pairs.append((number, gallery[item], *counts, found))
        chosen, values = best(ranking.scores, len(ranking.items), ranking.order)
        top.append((np.array([gallery[item] for item in ranking.items], dtype=np.int64)[chosen], values))
    query_of, item_of, higher, tied, before, retrieved = np.array(pairs, dtype=np.int64).reshape(-1, 6).T
    return Ranks(
        direction=Direction.t2v,
        query_ids=tuple(judged.gains),
        item_ids=tuple(gallery),
        query=query_of,
        item=item_of,
        gain=np.array([gain for gains in judged.gains.values() for gain in gains.values()], dtype=np.float64),
        higher=higher,
        tied=tied,
        before=before,
        retrieved=retrieved.astype(np.bool_),
        top=top,
    )


def _tied_at_the_end(ranks: Ranks) -> int:
    """Queries with a relevant item that is level with the end of its list, so that its tie may go on beyond it."""
    lengths = np.array([len(items) for items, _ in ranks.top], dtype=np.int64)[ranks.query]
    level = ranks.retrieved & (ranks.higher + ranks.tied == lengths)
    return len(np.unique(ranks.query[level & ((ranks.tied > 1) | (lengths < len(ranks.item_ids)))]))


def _judged_items(judged: Qrels) -> list[str]:
    """Every item of the judgements, relevant or not, as published."""
    relevant = (item for gains in judged.gains.values() for item in gains)
    refused = (item for items in judged.irrelevant.values() for item in sorted(items))
    return list(dict.fromkeys(itertools.chain(relevant, refused)))


def _gallery(lists: Mapping[str, _List], judged_items: Iterable[str]) -> dict[str, int]:
    """Every item that run or judgements name, in NFC, with its number."""
    listed = (item for ranking in lists.values() for item in ranking.items)
    every = itertools.chain(listed, map(nfc, judged_items))
    return {item: number for number, item in enumerate(dict.fromkeys(every))}


def _counts(lists: Mapping[str, _List], judged: Qrels, ranks: Ranks) -> dict[str, int]:
    evaluated = {nfc(query) for query, gains in judged.gains.items() if gains}
    return {
        "queries": len(judged.gains),
        "queries_without_relevant": len(judged.gains) - len(evaluated),
        "queries_without_list": len(evaluated - lists.keys()),
        "lists_without_judgements": len(lists.keys() - {nfc(query) for query in judged.gains}),
        "items": len(ranks.item_ids),
        "longest_list": max(len(items) for items, _ in ranks.top),
        "relevant_not_retrieved": int(np.sum(~ranks.retrieved)),
        "repeated_items": sum(ranking.repeats for ranking in lists.values()),
        "repeated_judgements": judged.repeats,
        "tied_queries": tied_queries(ranks),
    }


def _notes(counts: Mapping[str, int], ranks: Ranks, cutoffs: Sequence[int]) -> list[str]:
    """What a reader of the numbers must know, for counts that are not 0."""
    sentences = {
        "queries_without_relevant": "queries without a relevant item, left out of the means",
        "queries_without_list": "queries of the judgements that are missing from the run and count 0",
        "lists_without_judgements": "lists of the run whose query has no judgements, not counted",
        "relevant_not_retrieved": "relevant items that stand in no list of their query",
        "repeated_items": "lines of the run that repeat an item of their list, whose best position counts",
        "repeated_judgements": "lines of the judgements that repeat an earlier one and were dropped",
        "tied_queries": "queries with ties that change their numbers, between the worst and best value of the bounds",
        "queries_tied_at_the_end": "queries with a relevant item level with the end of their list; its tie may go on "
        "beyond it, so ranks, expectations and bounds see a part of it only",
    }
    notes = [f"{sentence}: {counts[name]}" for name, sentence in sentences.items() if counts[name]]
    longest = counts["longest_list"]
    if max(cutoffs) > longest:
        notes.append(f"cut-offs above {longest}, the length of the longest list, see no more than {longest} items")
    if len(np.unique(ranks.query[ranks.retrieved])) < len(np.unique(ranks.query)):
        notes.append(
            f"queries that find nothing count with rank {longest + 1}, one more than the longest list; their true "
            "ranks lie anywhere beyond the end of their own list and may be far larger"
        )
    return notes
