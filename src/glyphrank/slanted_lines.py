"""Which boxes are the words of one line that rises or falls, from the boxes alone.

Boxes are (n, 4): left, top, right, bottom, in any unit, that of the two directions need not be the same. Around a
slanted word a box is higher than its letters, so neighbours in a line still overlap, though not by half. Rising and
falling lines are treated alike: what holds for boxes holds for their mirror image.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
Chain = list[int]
Link = tuple[int, int]

GAP = 2.0
"""Widest space between two words of a slanted line, in characters of the wider-set one; on one level it is twice as
wide, so that a word keeps to its row where it has one."""
LEAST_OVERLAP = 0.2
"""Share of the lower box's height by which neighbours overlap at least: rows of level text, one below the other, hardly
do; words of eight letters do up to a slope of 20 degrees, shorter ones beyond 25."""
LEVEL = 0.5
"""Overlap from which two boxes stand in one row."""
_STRAIGHT = 0.5
"""How far a box may lie off the line through its neighbours, in heights of the lower box."""
_SIZES = 2.0
"""Letters of one line differ at most by this factor in height."""
_PAIRS = 1 << 18
"""Pairs of boxes that are compared at once, which bounds the memory."""


def slanted_lines(boxes: Floats, characters: Floats) -> list[Chain]:
    """Chains of the rows of `boxes`, each from left to right, that rise or fall by more than a row allows.

    Two boxes are linked where each is the other's neighbour nearest to its level, within `GAP`; a chain is straight.
    What rows of level boxes hold anyway is left out, so that level text is never touched. No box is in two chains.

    Args:
        boxes: (n, 4) float64.
        characters: (n,) float64, at least 1, how many stand in each box.

    >>> rising = np.array([[1, 7, 3, 9], [3.2, 5.5, 5.2, 7.5], [5.4, 4, 7.4, 6]])
    >>> slanted_lines(rising, np.array([4.0, 4.0, 4.0]))
    [[0, 1, 2]]
    """
    if len(boxes) < 2:
        return []
    links = _straight(_links(boxes, characters), boxes)
    return [chain for chain in _chained(links) if _is_slanted(boxes[chain])]


def levelled(boxes: Floats) -> tuple[float, float, float, float]:
    """The box that a slanted line of (n, 4) boxes, from left to right, would have in the middle of its height.

    Its height is that of the letters: what is left of the boxes' when the slope is taken off, the median of all.
    """
    slope = abs(_slope(boxes[0], boxes[-1]))
    heights = np.maximum(_height(boxes) - slope * (boxes[:, 2] - boxes[:, 0]), 0.25 * _height(boxes).min())
    middle, half = float(_middle(boxes).mean()), float(np.median(heights)) / 2
    return float(boxes[:, 0].min()), middle - half, float(boxes[:, 2].max()), middle + half


def _links(boxes: Floats, characters: Floats) -> list[Link]:
    """Pairs (left, right) of boxes each of which is the other's best neighbour on that side, by overlap."""
    found = [_neighbours(boxes, characters, left, right) for left, right in _pairs(boxes, characters)]
    left, right, overlap = (np.concatenate(parts) for parts in zip(*found, strict=True))
    best_first = np.lexsort((left, right, boxes[right, 0] - boxes[left, 2], -overlap))
    left, right = left[best_first], right[best_first]
    best = [np.zeros(len(left), dtype=np.bool_) for _ in range(2)]
    for side, first in zip((left, right), best, strict=True):
        first[np.unique(side, return_index=True)[1]] = True
    mutual = best[0] & best[1]
    return sorted(zip(left[mutual].tolist(), right[mutual].tolist(), strict=True))


def _pairs(boxes: Floats, characters: Floats) -> Iterator[tuple[Indices, Indices]]:
    """All pairs (left, right) that may be neighbours by their left edges, at most about `_PAIRS` at a time."""
    order = np.argsort(boxes[:, 0], kind="stable")
    lefts = boxes[order, 0]
    reach = 2 * GAP * float(((boxes[:, 2] - boxes[:, 0]) / characters).max())
    starts = np.searchsorted(lefts, _across(boxes), side="right")
    counts = np.searchsorted(lefts, boxes[:, 2] + reach, side="right") - starts
    first = 0
    while first < len(boxes):
        last = max(first + 1, int(np.searchsorted(np.cumsum(counts[first:]), _PAIRS)) + first)
        here = counts[first:last]
        left = np.repeat(np.arange(first, last), here)
        right = np.arange(here.sum()) - np.repeat(np.cumsum(here) - here, here) + np.repeat(starts[first:last], here)
        yield left, order[right]
        first = last


def _neighbours(boxes: Floats, characters: Floats, left: Indices, right: Indices) -> tuple[Indices, Indices, Floats]:
    """Those of the pairs that can follow each other in a line, and by which share of the lower one they overlap."""
    wide = boxes[:, 2] - boxes[:, 0]
    pitch = wide / characters

    def kept(mask: NDArray[np.bool_]) -> tuple[Indices, Indices]:
        return left[mask], right[mask]

    shared = np.minimum(boxes[left, 3], boxes[right, 3]) - np.maximum(boxes[left, 1], boxes[right, 1])
    left, right = kept(shared > 0)
    gap, step = boxes[right, 0] - boxes[left, 2], np.maximum(pitch[left], pitch[right])
    # Boxes of slanted words reach over each other a little; what reaches over half of the other does not follow it.
    left, right = kept((gap <= 2 * GAP * step) & (gap > -step) & (gap > -0.5 * np.minimum(wide[left], wide[right])))
    one, other = boxes[left], boxes[right]
    gap, step = other[:, 0] - one[:, 2], np.maximum(pitch[left], pitch[right])
    overlap = _overlap(one, other)
    mask = (overlap >= np.where(gap <= GAP * step, LEAST_OVERLAP, LEVEL)) & _one_size(one, other)
    return *kept(mask), overlap[mask]


def _one_size(one: Floats, other: Floats) -> NDArray[np.bool_]:
    """Whether boxes hold letters equally high as their neighbours', (m,), where both stand on one line."""
    slope = np.abs(_slope(one, other))
    letters = [np.maximum(_height(box) - slope * (box[:, 2] - box[:, 0]), 0.1 * _height(box)) for box in (one, other)]
    return np.asarray(np.maximum(*letters) <= _SIZES * np.minimum(*letters))


def _straight(links: Sequence[Link], boxes: Floats) -> set[Link]:
    """The links without those at a bend: of two there the one that is further from level, both where neither is."""
    before = {right: left for left, right in links}
    kept = set(links)
    for middle, right in links:
        if middle not in before:
            continue
        left = before[middle]
        off = _middle(boxes[right]) - _middle(boxes[middle])
        off = abs(off - _slope(boxes[left], boxes[middle]) * (_across(boxes[right]) - _across(boxes[middle])))
        if off > _STRAIGHT * min(map(_height, boxes[[left, middle, right]])):
            pair = [(left, middle), (middle, right)]
            kept -= {link for link in pair if _overlap(*boxes[list(link)]) < LEVEL}
            kept.discard(min(pair, key=lambda link: float(_overlap(*boxes[list(link)]))))
    return kept


def _chained(links: set[Link]) -> Iterator[Chain]:
    after, rights = dict(links), {right for _, right in links}
    for left in sorted(set(after) - rights):
        chain = [left]
        while chain[-1] in after:
            chain.append(after[chain[-1]])
        yield chain


def _is_slanted(boxes: Floats) -> bool:
    """Whether bands of level boxes would tear a chain, (n, 4) from left to right."""
    middles = _middle(boxes)
    if np.ptp(middles) > 0.5 * _height(boxes).min():
        return True
    return bool((_overlap(boxes[:-1], boxes[1:]) < LEVEL).any())


def _overlap(one: Floats, other: Floats) -> Floats:
    """What boxes share of their heights, in heights of the lower one."""
    shared = np.minimum(one[..., 3], other[..., 3]) - np.maximum(one[..., 1], other[..., 1])
    return np.asarray(shared / np.minimum(_height(one), _height(other)))


def _slope(one: Floats, others: Floats) -> Floats:
    """From the middle of a box to those of others on its right, downwards."""
    return np.asarray((_middle(others) - _middle(one)) / (_across(others) - _across(one)))


def _height(boxes: Floats) -> Floats:
    return np.asarray(boxes[..., 3] - boxes[..., 1])


def _middle(boxes: Floats) -> Floats:
    return np.asarray(boxes[..., 1] + boxes[..., 3]) / 2


def _across(boxes: Floats) -> Floats:
    return np.asarray(boxes[..., 0] + boxes[..., 2]) / 2
