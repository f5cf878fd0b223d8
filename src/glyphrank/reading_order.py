"""In which order the lines of a frame are read: rows from top to bottom, or columns where there clearly are some.

Engines report boxes in orders of their own (EasyOCR: level ones first, slanted ones last). The order here follows from
the boxes alone, so that one reading gives one text. It is for scripts that run from left to right.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from glyphrank.records import BoolArray, Line

VERSION = 1
"""Raised when the same boxes would be ordered otherwise; the transcripts' versions contain it."""
LEAST_ROWS = 3
"""Rows that two columns must share: fewer are words that happen to stand below each other."""
GUTTER = 3.0
"""Width that stays free between two columns, in characters: spaces between words are narrower."""

Box = tuple[float, float, float, float]
Row = list[Line]
Span = tuple[float, float]


def reading_order(lines: Sequence[Line]) -> list[Line]:
    """The lines frame by frame; within a frame those without a box first, as they come, then the others as read.

    The order of lines with a box does not depend on the order in which they are given.
    """
    ordered = []
    for frame in sorted({line.frame for line in lines}):
        here = [line for line in lines if line.frame == frame]
        ordered += [line for line in here if line.box is None]
        ordered += _in_columns(_rows([line for line in here if line.box is not None]))
    return ordered


@dataclass(frozen=True)
class _Run:
    """Rows from `start` up to `stop` with a gutter that ends at `edge`; its columns have `shared` rows side by side."""

    start: int
    stop: int
    edge: float
    shared: int


def _in_columns(rows: Sequence[Row]) -> list[Line]:
    """Rows one after another, but a run of rows with a gutter column by column."""
    run = _best_run(rows)
    if run is None:
        return _joined(rows)
    inside = _joined(rows[run.start : run.stop])
    left = [line for line in inside if _box(line)[0] < run.edge]
    right = [line for line in inside if _box(line)[0] >= run.edge]
    parts = (rows[: run.start], _rows(left), _rows(right), rows[run.stop :])
    return list(itertools.chain.from_iterable(map(_in_columns, parts)))


def _best_run(rows: Sequence[Row]) -> _Run | None:
    """The run whose columns share most rows; of several the first, and in it the gutter furthest to the left."""
    if len(rows) < LEAST_ROWS:
        return None
    edges, left, right = _sides(rows)
    most = np.minimum(left.sum(axis=1), right.sum(axis=1))  # rows that a run at each edge can share
    best = None
    for at in np.argsort(-most, kind="stable"):
        if most[at] < (LEAST_ROWS if best is None else best.shared):
            break
        runs = [run for run in _runs(left[at], right[at], float(edges[at])) if run.shared >= LEAST_ROWS]
        best = min([*runs, *([best] if best else [])], key=lambda run: (-run.shared, run.start, run.edge), default=None)
    return best


def _sides(rows: Sequence[Row]) -> tuple[NDArray[np.float64], BoolArray, BoolArray]:
    """The e left edges of boxes, and which of r rows have boxes left and right of a gutter there, two (e, r).

    Both are False for a row that has a box in the gutter.
    """
    lines = _joined(rows)
    boxes = np.array([_box(line) for line in lines])
    widths = boxes[:, 2] - boxes[:, 0]
    gutter = GUTTER * np.median(widths / [max(1, len(line.text)) for line in lines])
    edges = np.unique(boxes[:, 0])
    right = boxes[:, 0] >= edges[:, None]  # (e, n)
    left = ~right & (boxes[:, 2] <= edges[:, None] - gutter)
    first = np.cumsum([0, *map(len, rows[:-1])])
    free = ~np.logical_or.reduceat(~(left | right), first, axis=1)
    return (
        edges,
        free & np.logical_or.reduceat(left, first, axis=1),
        free & np.logical_or.reduceat(right, first, axis=1),
    )


def _runs(left: BoolArray, right: BoolArray, edge: float) -> Iterator[_Run]:
    """The runs of rows between those that have a box in the gutter that ends at `edge`; both arrays are (r,) bool."""
    sides = list(zip(left.tolist(), right.tolist(), strict=True))
    for free, group in itertools.groupby(range(len(sides)), key=lambda at: any(sides[at])):
        if free:
            run = list(group)
            lefts, rights = ([at for at in run if sides[at][side]] for side in (0, 1))
            if lefts and rights:
                yield _run(run, lefts, rights, edge)


def _run(run: Sequence[int], left: Sequence[int], right: Sequence[int], edge: float) -> _Run:
    """A run without what goes on at one side alone for longer than the columns stand side by side."""
    first, last = max(left[0], right[0]), min(left[-1], right[-1])
    shared = min(sum(first <= at <= last for at in side) for side in (left, right))
    start = run[0] if first - run[0] <= shared else first
    stop = run[-1] if run[-1] - last <= shared else last
    return _Run(start, stop + 1, edge, shared)


def _rows(lines: Iterable[Line]) -> list[Row]:
    """Boxes that overlap vertically by half of the lower one, from left to right; rows from top to bottom.

    Low boxes found rows and high ones join the nearest, so that a slanted box, which is high, joins no rows together.
    """
    bands: list[Span] = []
    rows: list[Row] = []
    for line in sorted(lines, key=lambda line: (_box(line)[3] - _box(line)[1], _place(line))):
        own = (_box(line)[1], _box(line)[3])
        meet = [at for at, (top, bottom) in enumerate(bands) if top <= own[1] and own[0] <= bottom]
        near = [at for at in meet if _overlap(bands[at], own)]
        if near:
            rows[min(near, key=lambda at: (abs(sum(bands[at]) - sum(own)), bands[at]))].append(line)
        else:
            bands.append(own)
            rows.append([line])
    order = sorted(range(len(rows)), key=lambda at: (sum(bands[at]), bands[at], _place(rows[at][0])))
    return [sorted(rows[at], key=_place) for at in order]


def _overlap(band: Span, other: Span) -> bool:
    shared = min(band[1], other[1]) - max(band[0], other[0])
    return shared >= 0.5 * min(band[1] - band[0], other[1] - other[0])


def _joined(rows: Iterable[Row]) -> list[Line]:
    return list(itertools.chain.from_iterable(rows))


def _place(line: Line) -> tuple[Box, str, float]:
    """Sorts from left to right, then down; whatever may distinguish two lines of a frame is in it."""
    return _box(line), line.text, -1.0 if line.confidence is None else line.confidence


def _box(line: Line) -> Box:
    return line.box or (0.0, 0.0, 0.0, 0.0)
