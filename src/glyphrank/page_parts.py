"""What the page of misses shows of a run: the queries worth a look, and where items stand for each of them, by channel.

Scores are computed once more, block by block as for the ranks, and bitwise alike; of every block only the rows of the
shown queries are looked at, and of these the few cells that the page shows.
"""

from __future__ import annotations

import logging
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from glyphrank.measure import slice_fields
from glyphrank.outcome import Report
from glyphrank.page_choice import Judged, choose, compared_channels, fields_of, judged, kinds_of
from glyphrank.pipeline import Executed, trace
from glyphrank.rankings import FUSED, Asked, main_name, rank_all
from glyphrank.records import Direction, Ranks, Scores, Task
from glyphrank.report.page import PAGE, is_page, write_page
from glyphrank.report.page_pictures import Limits, thumbnails
from glyphrank.report.page_records import Page, Pictures, Placed, ShownItem, ShownQuery, Spot
from glyphrank.reporting import Material, own_ranks
from glyphrank.run import Run
from glyphrank.scoring import TILE, Channel
from glyphrank.working import read_and_encode

logger = logging.getLogger(__name__)

TOP = 5
"""Items of a list that are shown."""
MOST_QUERIES = 200
MOST_RELEVANT = 5
"""Relevant items of a query that are shown beside its list."""
LONGEST_QUERY, LONGEST_TEXT = 1000, 800
"""Characters of a query, and of all texts of an item, that are shown."""
PICTURES = Limits(seconds=30, characters=8_000_000)
"""What the pictures of a page may take when it is made in passing."""

Rows = Mapping[str, Scores]
"""Ranking -> (n,) scores of one query."""


def measured_again(run: Run, task: Task) -> Material:
    """The same run's stages once more, out of the cache as far as it holds them; forward only.

    Raises:
        DataError: an input cannot be read; ConfigError: a component cannot work here.
    """
    worked = read_and_encode(run, task, trace(run, task))
    channels = [part.channel for part in worked.parts]
    scratch = run.runtime.outputs
    return Material(task, worked, rank_all(task, channels, run.fusion, (Direction.t2v,), scratch))


def page_of(
    run: Run, report: Report, material: Material, name: str, most: int = MOST_QUERIES, limits: Limits = PICTURES
) -> Page:
    """The page of a run, pictures included.

    Args:
        report: the run's; its numbers are shown as they are.
        name: what the run is called.
        most: queries that are shown.
        limits: of the pictures.
    """
    task, channels = material.task, [part.channel for part in material.worked.parts]
    found = judged(material.rankings, compared_channels(run, report), run.metrics)
    numbers = choose(found, most)
    queries = _queries(run, material, found, numbers)
    shown = _named(queries)
    items = {item.id: item for item in task.items if item.id in shown}
    pictures = thumbnails([items[item] for item in shown], run.frames, run.runtime, limits)
    forward = slice_fields(task, (Direction.t2v,))[Direction.t2v]
    best = found.best[main_name(channels)]
    return Page(
        name=name,
        report=report,
        rankings=tuple(found.best),
        best_ranks=tuple(best[np.isfinite(best)].tolist()),
        queries=queries,
        items={item.id: item for item in _items(run, material, shown, pictures)},
        kinds=kinds_of(found),
        fields=fields_of(forward, [query.id for query in queries]),
        notes=_notes(len(queries), len(task.queries)),
    )


def keep_page(run: Run, done: Executed, name: str, folder: Path) -> None:
    """Puts `report.html` into a run's folder, unless its result was stored: then a line says how to make it.

    A page made by the run that measured would show that run's name, settings and paths. The run has its numbers by now,
    so that whatever goes wrong here is told and costs the page alone.
    """
    try:
        if done.material is not None:
            write_page(folder / PAGE, page_of(run, done.report, done.material, name))
        else:
            if (folder / PAGE).is_file() and is_page(folder / PAGE):
                (folder / PAGE).unlink()  # of an earlier run, which would pass for this one's
            logger.info("the result was stored; `glyphrank report %s` makes its page", shlex.quote(str(folder)))
    except Exception as error:  # pictures and texts are anything, and the page is no part of the result
        logger.warning("%s was not made (%s: %s)", folder / PAGE, type(error).__name__, error)


def _queries(run: Run, material: Material, found: Judged, numbers: Sequence[int]) -> tuple[ShownQuery, ...]:
    """The queries of these numbers, in this order."""
    task, wanted = material.task, set(numbers)
    fields = slice_fields(task, (Direction.t2v,))[Direction.t2v]
    ranks = own_ranks(material.rankings)[Direction.t2v]
    made: dict[int, ShownQuery] = {}
    for number, rows in _rows(run, material, wanted):
        query = task.queries[number]
        top, relevant = _placed(ranks, number, rows)
        made[number] = ShownQuery(
            id=query.id,
            number=number,
            text=query.text[:LONGEST_QUERY],
            cut=max(0, len(query.text) - LONGEST_QUERY),
            slices={field: values[query.id] for field, values in fields.items() if query.id in values},
            best_ranks={name: float(own[number]) for name, own in found.best.items() if np.isfinite(own[number])},
            kinds=tuple(kind.key for kind, passes in found.kinds if passes[number]),
            top=top,
            relevant=relevant[:MOST_RELEVANT],
            relevant_left_out=max(0, len(relevant) - MOST_RELEVANT),
        )
    return tuple(made[number] for number in numbers)


def _rows(run: Run, material: Material, wanted: set[int]) -> Iterator[tuple[int, Rows]]:
    """Number of each wanted query with its scores in every ranking, the run's own last."""
    channels: list[Channel] = [part.channel for part in material.worked.parts]
    asked = Asked.of(material.task)
    asking: dict[int, list[int]] = {}
    for query in sorted(wanted):
        asking.setdefault(int(asked.number[query]), []).append(query)
    start = 0
    for blocks in zip(*(channel.blocks(TILE) for channel in channels), strict=True):
        here = [text for text in range(start, start + len(blocks[0])) if text in asking]
        if here:
            chosen = np.array(here, dtype=np.int64) - start
            alone = {channel.name: block[chosen] for channel, block in zip(channels, blocks, strict=True)}
            rows: Mapping[str, Scores] = {**alone, FUSED: run.fusion.fuse(alone)} if len(alone) > 1 else alone
            for place, text in enumerate(here):
                row = {name: block[place] for name, block in rows.items()}
                yield from ((query, row) for query in asking[text])
        start += len(blocks[0])


def _placed(ranks: Ranks, query: int, rows: Rows) -> tuple[tuple[Placed, ...], tuple[Placed, ...]]:
    """The first places of a query's list, and its relevant items that are not among them, best first."""
    pairs = slice(*np.searchsorted(ranks.query, [query, query + 1]))
    gains = dict(zip(ranks.item[pairs].tolist(), ranks.gain[pairs].tolist(), strict=True))
    top = ranks.top[query][0][:TOP].tolist()
    own = rows[next(reversed(list(rows)))]
    others = sorted((item for item in gains if item not in top), key=lambda item: -float(own[item]))

    def placed(items: Sequence[int]) -> tuple[Placed, ...]:
        spots = {name: _spots(row, items) for name, row in rows.items()}
        return tuple(
            Placed(ranks.item_ids[item], gains.get(item), {name: found[place] for name, found in spots.items()})
            for place, item in enumerate(items)
        )

    return placed(top), placed(others)


def _spots(row: Scores, items: Sequence[int]) -> list[Spot]:
    """Where items stand in a row of scores, by counting."""
    spots = []
    for score in row[np.array(items, dtype=np.int64)]:
        if np.isneginf(score):
            spots.append(Spot(None))
            continue
        higher, level = int((row > score).sum()), int((row == score).sum())
        spots.append(Spot(float(score), higher + 1, higher + level))
    return spots


def _named(queries: Sequence[ShownQuery]) -> list[str]:
    """Ids of all items of the queries, the most wanted first: those of the first queries, relevant ones before all."""
    return list(
        dict.fromkeys(
            placed.item_id
            for query in queries
            for placed in (*query.relevant, *sorted(query.top, key=lambda placed: placed.gain is None))
        )
    )


def _items(run: Run, material: Material, ids: Sequence[str], pictures: Mapping[str, Pictures]) -> Iterator[ShownItem]:
    """The items with what was read in them."""
    positions = {item.id: position for position, item in enumerate(material.task.items)}
    written, failures = material.worked.written.texts, material.worked.failures
    for item in ids:
        texts = written[positions[item]] if written else ()
        shown, cut = _shortened(texts)
        why = failures.get(item) or ("nothing was read" if run.reads and not texts else "")
        yield ShownItem(item, shown, cut, why if not texts else "", pictures.get(item, Pictures()))


def _shortened(texts: Sequence[str]) -> tuple[tuple[str, ...], int]:
    """The first characters of some texts, and how many more there are."""
    shown: list[str] = []
    left = LONGEST_TEXT
    for text in texts:
        if left > 0:
            shown.append(text[:left])
            left -= len(shown[-1])
    return tuple(shown), sum(map(len, texts)) - sum(map(len, shown))


def _notes(shown: int, count: int) -> tuple[str, ...]:
    if shown == count:
        return ()
    return (
        f"{shown} of {count} queries are shown: the worst first, with room for up to a quarter each of those that were "
        "rescued and of those that were broken",
    )
