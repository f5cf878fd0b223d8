"""Figures of a sweep: recall at k, a histogram of ranks, and the primary metric of every slice.

They are SVG files whose text stays text, so that it can be searched and a browser shows Hangul with a font of its own.
Where matplotlib has a font with Hangul, and there is some, letters are drawn, which every browser shows alike.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from glyphrank.metrics import per_query
from glyphrank.records import Direction
from glyphrank.report.compared import Compared, Comparison, asker
from glyphrank.report.drawing import drawing
from glyphrank.report.finished import Finished
from glyphrank.report.table import COLUMNS, MOST_VALUES, REVERSE
from glyphrank.ties import TieRule
from glyphrank.whole_files import replace_whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FIGURES = "figures"
"""The folder of the figures."""
MOST_CELLS = 12
"""Cells whose curves one figure shows, the best first."""
MOST_BARS = 3
"""Cells whose bars stand side by side."""
_MOST_FIELDS = 4
_MOST_LETTERS = 60
_EASTERN = re.compile(r"[\u1100-\u11ff\u2e80-\uffff]")
"""Letters of Hangul and what stands beside it, which matplotlib's own font lacks."""
_STEPS = (1, 2, 5)
_AT = re.compile(r"(hit_rate|recall)_at_(\d+)")


@dataclass(frozen=True)
class _Cell:
    """A run as it is drawn."""

    label: str
    compared: Compared
    finished: Finished


def write_figures(folder: Path, runs: Sequence[Finished], comparison: Comparison) -> tuple[Path, ...]:
    """Draws `recall_at_k.svg`, `rank_histogram.svg` and, where queries have slices, `slices.svg` into a folder.

    The best cells come first; a figure that leaves some out says so. Bars compare the best with the baseline, where
    somebody named one, else with those that come next.

    Returns:
        The files, in this order.

    Raises:
        OSError: a file cannot be written.
    """
    cells = _cells(runs, comparison)
    few = _few(cells, comparison)
    folder.mkdir(parents=True, exist_ok=True)
    with drawing(drawn_letters=_has_hangul(few, cells)):
        drawn = {
            "recall_at_k.svg": _recall(cells[:MOST_CELLS], len(cells), comparison),
            "rank_histogram.svg": _histogram(few, len(cells), comparison),
            "slices.svg": _slices(few, len(cells), comparison),
        }
        for name, figure in drawn.items():
            if figure is not None:
                replace_whole(folder / name, partial(_save, figure=figure), durable=False)
    return tuple(folder / name for name, figure in drawn.items() if figure is not None)


def _cells(runs: Sequence[Finished], comparison: Comparison) -> list[_Cell]:
    """The compared runs, best first, under labels that tell them apart."""
    found = {run.report.identity: run for run in runs} | {run.name: run for run in runs}
    labels = [_label(run) for run in comparison.runs]
    times = Counter(labels)
    return [
        _Cell(label if times[label] == 1 else f"{label} ({run.name})", run, found.get(run.name) or found[run.identity])
        for label, run in zip(labels, comparison.runs, strict=True)
    ]


def _label(run: Compared) -> str:
    text = ", ".join(f"{name}={value}" for name, value in run.fields.items()) or run.name
    text = " ".join(text.split())
    return text if len(text) <= _MOST_LETTERS else f"{text[: _MOST_LETTERS - 1]}…"


def _few(cells: Sequence[_Cell], comparison: Comparison) -> list[_Cell]:
    """The cells whose bars are drawn."""
    named = [cell for cell in cells if cell.compared.name == comparison.baseline != comparison.best]
    return [cells[0], *named] if named else list(cells[:MOST_BARS])


def _recall(cells: Sequence[_Cell], count: int, comparison: Comparison) -> Figure:
    """Curves over the cut-offs; hit rate has a panel of its own where it is not the same as recall."""
    prefix = REVERSE if comparison.metric.startswith(REVERSE) else ""
    curves = {kind: [_curve(cell, kind, prefix) for cell in cells] for kind in ("recall", "hit_rate")}
    kinds = ["recall"] if curves["recall"] == curves["hit_rate"] else ["recall", "hit_rate"]
    figure = _figure(4.5 + 3.5 * len(kinds), 4.5)
    for place, kind in enumerate(kinds, start=1):
        axes = figure.add_subplot(1, len(kinds), place)
        for number, (cell, curve) in enumerate(zip(cells, curves[kind], strict=True)):
            style = "-" if number < 10 else "--"  # after ten cells the colours come again
            axes.plot(list(curve), list(curve.values()), style, marker="o", markersize=4, label=cell.label)
        ticks = sorted({k for curve in curves[kind] for k in curve})
        axes.set_xscale("log")
        axes.minorticks_off()
        axes.set_xticks(ticks, [str(k) for k in ticks])
        axes.set_ylim(0, 1.02)
        axes.set_xlabel("k")
        axes.set_ylabel(f"{prefix}{kind.replace('_', ' ')} at k")
        axes.grid(alpha=0.3)
    both = "recall (hit rate is the same)" if len(kinds) == 1 else "recall and hit rate"
    _finish(figure, f"{prefix}{both} at k{_left_out(len(cells), count)}")
    return figure


def _curve(cell: _Cell, kind: str, prefix: str) -> dict[int, float]:
    """Cut-off -> value, ascending."""
    values = cell.compared.values
    found = {name.removeprefix(prefix): value for name, value in values.items() if name.startswith(prefix)}
    matches = [(match, value) for name, value in found.items() if (match := _AT.fullmatch(name))]
    return dict(sorted((int(match[2]), value) for match, value in matches if match[1] == kind))


def _histogram(cells: Sequence[_Cell], count: int, comparison: Comparison) -> Figure:
    """How many of those that ask find their first relevant item at which rank; bins grow with the rank."""
    way = Direction.v2t if comparison.metric.startswith(REVERSE) else Direction.t2v
    ranks = [_best_ranks(cell, way, comparison.rule) for cell in cells]
    gallery = max(len(cell.finished.ranks[way].item_ids) for cell in cells)
    edges = rank_bins(gallery)
    figure = _figure(9, 4.5)
    axes = figure.add_subplot()
    width = 0.8 / len(cells)
    for number, (cell, found) in enumerate(zip(cells, ranks, strict=True)):
        heights, _ = np.histogram(found, [edge - 0.25 for edge in edges])  # mean places of ties may be halves
        places = np.arange(len(heights)) + (number - (len(cells) - 1) / 2) * width
        axes.bar(places, heights, width, label=cell.label)
    names = [str(low) if high == low + 1 else f"{low}-{high - 1}" for low, high in pairwise(edges)]
    axes.set_xticks(range(len(names)), names)
    axes.set_xlabel(f"rank of the best relevant item, of {gallery}")
    plural = {"query": "queries", "item": "items"}[asker(comparison.metric)]
    axes.set_ylabel(plural)
    axes.grid(axis="y", alpha=0.3)
    _finish(figure, f"ranks of {plural}{_left_out(len(cells), count)}")
    return figure


def _best_ranks(cell: _Cell, way: Direction, rule: str) -> list[float]:
    values = per_query(cell.finished.ranks[way], (1,), TieRule(rule))["best_rank"]
    return [float(value) for value in np.asarray(values) if not np.isnan(value)]


def rank_bins(most: int) -> list[int]:
    """Lower ends of bins for ranks 1 to `most`, and the end of the last: 1, 2, 3-5, 6-10, 11-20, 21-50, ...

    >>> rank_bins(30)
    [1, 2, 3, 6, 11, 21, 31]
    """
    edges, size = [1], 1
    while True:
        for step in _STEPS:
            end = step * size
            if end >= most:
                return [*edges, most + 1]
            edges.append(end + 1)
        size *= 10


def _slices(cells: Sequence[_Cell], count: int, comparison: Comparison) -> Figure | None:
    """The comparison's metric of the queries with each value of a field; None where no field has a few values."""
    metric = comparison.metric
    tables = [cell.finished.report.slices for cell in cells]
    fields: dict[str, list[str]] = {}
    for table in tables:
        for field, values in table.items():
            known = fields.setdefault(field, [])
            known += [value for value, numbers in values.items() if metric in numbers and value not in known]
    fields = {field: values for field, values in fields.items() if 1 < len(values) <= MOST_VALUES}
    shown = list(fields.items())[:_MOST_FIELDS]
    if not shown:
        return None
    figure = _figure(9, 1.5 + 0.3 * (1 + len(cells)) * sum(len(values) for _, values in shown))
    grid = figure.add_gridspec(len(shown), 1, height_ratios=[len(values) for _, values in shown])
    for place, (field, names) in enumerate(shown):
        _bars(figure.add_subplot(grid[place]), cells, field, names, metric)
    more = f"; {len(shown)} of {len(fields)} fields" if len(fields) > len(shown) else ""
    _finish(figure, f"{COLUMNS.get(metric, metric)} with 95 % intervals{_left_out(len(cells), count)}{more}")
    return figure


def _bars(axes: Axes, cells: Sequence[_Cell], field: str, values: Sequence[str], metric: str) -> None:
    """One field: a group of bars for each value, the first on top, with intervals where the reports have them."""
    height = 0.8 / len(cells)
    for number, cell in enumerate(cells):
        found = cell.finished.report.slices.get(field, {})
        limits = cell.finished.report.slice_intervals.get(field, {})
        lengths = [found.get(value, {}).get(metric, 0.0) for value in values]
        ends = [
            limits.get(value, {}).get(metric) or (length, length) for value, length in zip(values, lengths, strict=True)
        ]
        errors = np.array(
            [(max(0.0, x - low), max(0.0, high - x)) for x, (low, high) in zip(lengths, ends, strict=True)]
        )
        places = np.arange(len(values)) + (number - (len(cells) - 1) / 2) * height
        axes.barh(places, lengths, height, xerr=errors.T, label=cell.label, error_kw={"linewidth": 1, "capsize": 2})
    counts = [int(max(_queries(cell, field, value) for cell in cells)) for value in values]
    names = [f"{_shown(value)} ({count})" for value, count in zip(values, counts, strict=True)]
    axes.set_yticks(range(len(values)), names)
    axes.invert_yaxis()
    axes.set_ylabel(_shown(field))
    axes.set_xlabel(COLUMNS.get(metric, metric))
    if not metric.endswith("rank"):
        axes.set_xlim(0, 1.02)
    axes.grid(axis="x", alpha=0.3)


def _queries(cell: _Cell, field: str, value: str) -> float:
    return cell.finished.report.slices.get(field, {}).get(value, {}).get("queries", 0)


def _shown(text: str) -> str:
    return f"{text[:29]}…" if len(text) > 30 else text or '""'


def _left_out(shown: int, count: int) -> str:
    """Says which cells are drawn where it is not all."""
    return "" if shown == count else f" ({shown} of {count} cells, the best first)"


def _figure(width: float, height: float) -> Figure:
    """An empty figure of so many inches."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, min(height, 40)), layout="constrained")


def _finish(figure: Figure, title: str) -> None:
    """A title above all panels, and one legend below them."""
    figure.suptitle(title, fontsize="large")
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2 if len(labels) > 4 else 1, fontsize="small")


def _save(path: Path, figure: Figure) -> None:
    figure.savefig(path, format="svg", metadata={"Date": None})


def _has_hangul(few: Sequence[_Cell], cells: Sequence[_Cell]) -> bool:
    """Whether any text of the figures needs a font of its own."""
    slices = [
        text for cell in few for field, values in cell.finished.report.slices.items() for text in (field, *values)
    ]
    return any(_EASTERN.search(text) for text in (*slices, *(cell.label for cell in cells)))
