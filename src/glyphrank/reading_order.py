"""In which order the lines of a frame are read: rows from top to bottom, or columns where there clearly are some.

Engines report boxes in orders of their own (EasyOCR: level ones first, slanted ones last). The order here follows from
the boxes alone, so that one reading gives one text. It is for scripts that run from left to right. The words of a line
that rises or falls are taken together first (`slanted_lines`); it is then read at its mean height.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from glyphrank.records import BoolArray, IntArray, Line
from glyphrank.slanted_lines import levelled, slanted_lines

VERSION = 1
"""Raised when the same boxes would be ordered otherwise; the transcripts' versions contain it."""
LEAST_ROWS = 3
"""Rows that two columns must share: fewer are words that happen to stand below each other."""
GUTTER = 3.0
"""Width that stays free between two columns, in characters: spaces between words are narrower."""

Box = tuple[float, float, float, float]
Row = list["_Unit"]


@dataclass(frozen=True)
class _Unit:
    """What is read in one go: a line, or the words of a slanted one, with the box that places them among the others."""

    lines: tuple[Line, ...]
    box: Box

    @property
    def characters(self) -> int:
        """At least 1, with a space between two words."""
        return max(1, sum(len(line.text) + 1 for line in self.lines) - 1)

    @property
    def place(self) -> tuple[Box, list[tuple[Box, str, float]]]:
        """Sorts from left to right, then down; whatever may distinguish two units of a frame is in it."""
        return self.box, [_place(line) for line in self.lines]


def reading_order(lines: Sequence[Line]) -> list[Line]:
    """The lines frame by frame; within a frame those without a box first, as they come, then the others as read.

    The order of lines with a box does not depend on the order in which they are given.
    """
    ordered: list[Line] = []
    by_frame = operator.attrgetter("frame")
    for _, frame in itertools.groupby(sorted(lines, key=by_frame), key=by_frame):
        here = list(frame)
        ordered += [line for line in here if line.box is None]
        units = _in_columns(_rows(_units([line for line in here if line.box is not None])))
        ordered += [line for unit in units for line in unit.lines]
    return ordered


def _units(lines: Iterable[Line]) -> list[_Unit]:
    """Slanted lines, and each other line by itself; the same whatever the order of `lines`."""
    single = sorted((_Unit((line,), _box(line)) for line in lines), key=lambda unit: unit.place)
    boxes = np.array([unit.box for unit in single]).reshape(-1, 4)
    chains = slanted_lines(boxes, np.array([unit.characters for unit in single], dtype=np.float64))
    taken = set(itertools.chain.from_iterable(chains))
    slanted = [_Unit(tuple(single[at].lines[0] for at in chain), levelled(boxes[chain])) for chain in chains]
    return [unit for at, unit in enumerate(single) if at not in taken] + slanted


@dataclass(frozen=True)
class _Run:
    """Rows from `start` up to `stop` with a gutter that ends at `edge`; its columns have `shared` rows side by side."""

    start: int
    stop: int
    edge: float
    shared: int


def _in_columns(rows: Sequence[Row]) -> list[_Unit]:
    """Rows one after another, but a run of rows with a gutter column by column."""
    run = _best_run(rows)
    if run is None:
        return _joined(rows)
    inside = _joined(rows[run.start : run.stop])
    left = [unit for unit in inside if unit.box[0] < run.edge]
    right = [unit for unit in inside if unit.box[0] >= run.edge]
    parts = (rows[: run.start], _rows(left), _rows(right), rows[run.stop :])
    return list(itertools.chain.from_iterable(map(_in_columns, parts)))


def _best_run(rows: Sequence[Row]) -> _Run | None:
    """The run whose columns share most rows; of several the first, and in it the gutter furthest to the left."""
    if len(rows) < LEAST_ROWS:
        return None
    edges, left, right = _sides(rows)
    most = _most_shared(left, right)
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
    units = _joined(rows)
    boxes = np.array([unit.box for unit in units])
    widths = boxes[:, 2] - boxes[:, 0]
    gutter = GUTTER * np.median(widths / [unit.characters for unit in units])
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


def _most_shared(left: BoolArray, right: BoolArray) -> IntArray:
    """For each of e edges the rows that columns within one of its runs share at most; both arrays are (e, r)."""
    last = ~(left | right)
    last[:, -1] = True  # a run ends with its edge
    ends = np.flatnonzero(last)
    starts = np.concatenate([[0], ends[:-1] + 1])
    sums = [np.concatenate([[0], np.cumsum(side, dtype=np.int64)]) for side in (left, right)]
    shared = np.minimum(*(counted[ends + 1] - counted[starts] for counted in sums))
    edges = np.searchsorted(ends, np.arange(len(left)) * left.shape[1])  # the first run of each edge
    return np.asarray(np.maximum.reduceat(shared, edges), dtype=np.int64)


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


def _rows(units: Iterable[_Unit]) -> list[Row]:
    """Boxes that overlap vertically by half of the lower one, from left to right; rows from top to bottom.

    Low boxes found rows and high ones join the nearest, so that a slanted box, which is high, joins no rows together.
    """
    ordered = sorted(units, key=lambda unit: (unit.box[3] - unit.box[1], unit.place))
    bands = np.empty((len(ordered), 2))  # top and bottom, of which the first len(rows) are there
    rows: list[Row] = []
    for unit in ordered:
        own = (unit.box[1], unit.box[3])
        at = _nearest(bands[: len(rows)], own)
        if at is None:
            bands[len(rows)] = own
            rows.append([unit])
        else:
            rows[at].append(unit)
    keys = [(top + bottom, top, bottom) for top, bottom in bands[: len(rows)].tolist()]
    order = sorted(range(len(rows)), key=lambda at: (keys[at], rows[at][0].place))
    return [sorted(rows[at], key=lambda unit: unit.place) for at in order]


def _nearest(bands: NDArray[np.float64], own: tuple[float, float]) -> int | None:
    """Which of (r, 2) bands shares half of the lower one's height, by nearest middle; None where none does."""
    tops, bottoms = bands.T
    shared = np.minimum(bottoms, own[1]) - np.maximum(tops, own[0])
    near = np.flatnonzero((shared >= 0) & (shared >= 0.5 * np.minimum(bottoms - tops, own[1] - own[0])))
    if not len(near):
        return None
    off = np.abs(tops[near] + bottoms[near] - (own[0] + own[1]))
    return int(near[np.lexsort((bottoms[near], tops[near], off))[0]])


def _joined(rows: Iterable[Row]) -> list[_Unit]:
    return list(itertools.chain.from_iterable(rows))


def _place(line: Line) -> tuple[Box, str, float]:
    return _box(line), line.text, -1.0 if line.confidence is None else line.confidence


def _box(line: Line) -> Box:
    return line.box or (0.0, 0.0, 0.0, 0.0)
