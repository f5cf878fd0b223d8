"""The plots of a page, as SVG whose colours come from the page's own style, so that they suit light and dark."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from glyphrank.outcome import Report
from glyphrank.report.figures import rank_bins

_AT = re.compile(r"(hit_rate|recall)_at_(\d+)")
WIDTH, HEIGHT = 360, 220
_LEFT, _RIGHT, _TOP, _BOTTOM = 34, 12, 18, 40


@dataclass(frozen=True)
class Mark:
    """A text of a plot, at a place in pixels."""

    x: float
    y: float
    text: str


@dataclass(frozen=True)
class Curve:
    """A line: the name of its ranking, and the points through which it goes, in pixels, with their values."""

    name: str
    points: tuple[Mark, ...]


@dataclass(frozen=True)
class Curves:
    """Recall or hit rate over the cut-offs.

    Attributes:
        across, up: marks of the two axes.
    """

    title: str
    curves: tuple[Curve, ...]
    across: tuple[Mark, ...]
    up: tuple[Mark, ...]


@dataclass(frozen=True)
class Bar:
    """A bar: left, top, width and height in pixels, its count, and the ranks that it stands for."""

    left: float
    top: float
    width: float
    height: float
    count: int
    ranks: str


def curves_of(report: Report) -> list[Curves]:
    """Recall at k of every ranking, the run's own last; hit rate too where it is not the same."""
    rankings = {**report.channels, **({"fused": report.metrics} if len(report.channels) > 1 else {})}
    found = {kind: {name: _values(metrics, kind) for name, metrics in rankings.items()} for kind in _TITLES}
    same = found["recall"] == found["hit_rate"]
    return [_curves(_TITLES[kind], found[kind]) for kind in (("recall",) if same else _TITLES)]


def bars_of(best_ranks: Sequence[float], gallery: int) -> list[Bar]:
    """How many queries find their first relevant item at which rank; bins grow with the rank.

    >>> [(bar.ranks, bar.count) for bar in bars_of([1, 1, 2, 7.5], 8)]
    [('1', 2), ('2', 1), ('3-5', 0), ('6-8', 1)]
    """
    edges = rank_bins(gallery)
    heights, _ = np.histogram(list(best_ranks), [edge - 0.25 for edge in edges])  # places of ties may be halves
    most, room = max(1, int(heights.max())), (WIDTH - _LEFT - _RIGHT) / len(heights)
    high = HEIGHT - _TOP - _BOTTOM
    names = [str(low) if end == low + 1 else f"{low}-{end - 1}" for low, end in pairwise(edges)]
    return [
        Bar(
            round(_LEFT + place * room + 0.1 * room, 1),
            round(_TOP + high * (1 - count / most), 1),
            round(0.8 * room, 1),
            round(high * count / most, 1),
            int(count),
            name,
        )
        for place, (count, name) in enumerate(zip(heights.tolist(), names, strict=True))
    ]


_TITLES = {"recall": "Recall at k", "hit_rate": "Hit rate at k"}


def _values(metrics: Mapping[str, float], kind: str) -> dict[int, float]:
    """Cut-off -> value, ascending."""
    matches = [(match, value) for name, value in metrics.items() if (match := _AT.fullmatch(name))]
    return dict(sorted((int(match[2]), value) for match, value in matches if match[1] == kind))


def _curves(title: str, values: Mapping[str, Mapping[int, float]]) -> Curves:
    """Cut-offs stand on a logarithmic axis, values between 0 and 1."""
    cutoffs = sorted({cutoff for own in values.values() for cutoff in own})
    widest = max(1.0, math.log(max(cutoffs, default=1)))
    width, high = WIDTH - _LEFT - _RIGHT - 10, HEIGHT - _TOP - _BOTTOM

    def x(cutoff: int) -> float:
        return round(_LEFT + 5 + width * math.log(cutoff) / widest, 1)

    def y(value: float) -> float:
        return round(_TOP + high * (1 - value), 1)

    drawn = [
        Curve(name, tuple(Mark(x(k), y(value), f"{name}: {value:.3f} at {k}") for k, value in own.items()))
        for name, own in values.items()
    ]
    across = tuple(Mark(x(k), HEIGHT - _BOTTOM, str(k)) for k in cutoffs)
    up = tuple(Mark(_LEFT, y(value), f"{value:g}") for value in (0, 0.25, 0.5, 0.75, 1))
    return Curves(title, tuple(drawn), across, up)
