"""Scores a ranking made elsewhere: a TREC run file against relevance judgements (`glyphrank score`)."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from glyphrank.errors import DataError
from glyphrank.metrics import ALWAYS, bounds, evaluate
from glyphrank.ranking import best, id_order, stand
from glyphrank.records import Direction, FloatArray, IntArray, Ranks, nfc
from glyphrank.ties import TieRule, tied_queries
from glyphrank.trec import Qrels, Run, read_qrels, read_run


def score(run: Path, qrels: Path, cutoffs: Sequence[int], ties: TieRule) -> dict[str, object]:
    """Metrics of a run file.

    Lists are ordered by score, not by the rank column; scores are compared as the float64 they are read as
    (trec_eval compares in float32 in some builds, and may see a tie where there is none here). An item that stands
    twice in a list keeps its best position. A query of the judgements that has no list counts 0; one without a
    relevant item is left out of the means; a list without judgements is not counted. What the lists do not hold is
    missing: the ranks are exact as long as every query finds one of its relevant items, else `median_rank_truncated`
    and `mean_rank_truncated` stand for a lower bound (see `metrics.evaluate`).

    Returns:
        `metrics` and `bounds` (as in a report), `counts`, and `notes`: what was odd, in sentences.

    Raises:
        DataError: a file is missing or damaged, or run and judgements speak of other queries or items.
    """
    judged = read_qrels(qrels)
    lists = _lists(read_run(run))
    _check_overlap(lists, judged, run, qrels)
    ranks = _ranks(lists, judged)
    counts = _counts(lists, judged, ranks)
    return {
        "metrics": evaluate(ranks, cutoffs, ties),
        "bounds": bounds(ranks, cutoffs),
        "counts": counts,
        "notes": _notes(counts, max(cutoffs), ranks.truncated),
    }


def run_score(argv: Sequence[str]) -> int:
    """The command: prints a table or JSON, and returns the exit code, 2 for what the caller can mend."""
    parser = argparse.ArgumentParser(prog="glyphrank score", description="Metrics of a ranking made elsewhere.")
    parser.add_argument("--run", type=Path, required=True, help="TREC run file: query Q0 item rank score tag")
    parser.add_argument("--qrels", type=Path, required=True, help="judgements: TREC's four columns or BEIR's .tsv")
    parser.add_argument("--ties", choices=list(TieRule), default=TieRule.pessimistic, help="order of equal scores")
    parser.add_argument("--cutoffs", type=_cutoff, nargs="+", default=ALWAYS, metavar="K", help="besides 1 3 5 10")
    parser.add_argument("--json", action="store_true", help="print JSON")
    try:
        options = parser.parse_args(argv)
        result = score(options.run, options.qrels, options.cutoffs, TieRule(options.ties))
    except SystemExit as leave:
        return int(leave.code or 0)
    except DataError as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    sys.stdout.write(f"{json.dumps(result, ensure_ascii=False, indent=2) if options.json else _table(result)}\n")
    return 0


@dataclass(frozen=True)
class _List:
    """One query's ranking: distinct items in NFC with their best scores, as float64, and how many lines repeated."""

    items: tuple[str, ...]
    scores: np.ndarray[tuple[int], np.dtype[np.float64]]
    repeats: int


def _lists(run: Run) -> dict[str, _List]:
    """Query id in NFC -> its list."""
    best_scores: dict[str, dict[str, float]] = {}
    lines: dict[str, int] = {}
    for query, items in run.items.items():
        kept = best_scores.setdefault(nfc(query), {})
        lines[nfc(query)] = lines.get(nfc(query), 0) + len(items)
        for item, value in zip(map(nfc, items), run.scores[query], strict=True):
            kept[item] = max(value, kept.get(item, value))
    return {
        query: _List(tuple(kept), np.array(list(kept.values()), dtype=np.float64), lines[query] - len(kept))
        for query, kept in best_scores.items()
    }


def _check_overlap(lists: Mapping[str, _List], judged: Qrels, run: Path, qrels: Path) -> None:
    """Refuses a run that speaks of other ids than the judgements do."""
    queries = {nfc(query) for query in judged.gains}
    if not queries & lists.keys():
        raise _foreign("queries", lists, queries, run, qrels)
    listed = {item for ranking in lists.values() for item in ranking.items}
    items = {nfc(item) for gains in judged.gains.values() for item in gains}
    items |= {nfc(item) for refused in judged.irrelevant.values() for item in refused}
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
    """An id without what number parsers, file names and letter case do to it."""
    stem = re.sub(r"\.(0+|\w{2,4})$", "", name.strip().casefold())
    return re.sub(r"0+(?=\d)", "", re.sub(r"(?<=\d)_(?=\d)", "_0", stem)) or name


def _ranks(lists: Mapping[str, _List], judged: Qrels) -> Ranks:
    """Ranks of all judged queries; the gallery is every item that run or judgements name."""
    gallery: dict[str, int] = {}
    query_ids = tuple(judged.gains)
    rows: list[tuple[int, int, float, int, int, int, bool]] = []
    top: list[tuple[IntArray, FloatArray]] = []
    empty = _List((), np.zeros(0), 0)
    for number, query in enumerate(query_ids):
        ranking = lists.get(nfc(query), empty)
        order = id_order(ranking.items)
        chosen, values = best(ranking.scores, len(ranking.items), order) if ranking.items else (order, np.float32([]))
        numbers = np.array([gallery.setdefault(item, len(gallery)) for item in ranking.items], dtype=np.int64)
        top.append((numbers[chosen], values))
        positions = {item: position for position, item in enumerate(ranking.items)}
        for item, gain in judged.gains[query].items():
            position = positions.get(nfc(item))
            found, counts = (False, (0, 0, 0)) if position is None else stand(ranking.scores, position, order)
            rows.append((number, gallery.setdefault(nfc(item), len(gallery)), gain, *counts, found))
    columns = list(zip(*rows, strict=True)) or [()] * 7
    query, item, gain, higher, tied, before, retrieved = columns
    query, retrieved = np.array(query, dtype=np.int64), np.array(retrieved, dtype=np.bool_)
    return Ranks(
        direction=Direction.t2v,
        query_ids=query_ids,
        item_ids=tuple(gallery),
        query=query,
        item=np.array(item, dtype=np.int64),
        gain=np.array(gain, dtype=np.float64),
        higher=np.array(higher, dtype=np.int64),
        tied=np.array(tied, dtype=np.int64),
        before=np.array(before, dtype=np.int64),
        retrieved=retrieved,
        top=top,
        truncated=len(np.unique(query[retrieved])) < len(np.unique(query)),
    )
