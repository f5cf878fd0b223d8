"""The table at the end of a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TextIO

from glyphrank.outcome import Report

if TYPE_CHECKING:
    from rich.table import Table

COLUMNS = {
    "hit_rate_at_1": "hit@1",
    "hit_rate_at_5": "hit@5",
    "hit_rate_at_10": "hit@10",
    "recall_at_10": "R@10",
    "ndcg_at_10": "nDCG@10",
    "reciprocal_rank_at_10": "RR@10",
    "median_rank": "MdR",
    "mean_rank": "MnR",
}
SLICE_COLUMNS = {
    **{f"hit_rate_at_{k}": f"hit@{k}" for k in (1, 3, 5, 10)},
    **{f"ndcg_at_{k}": f"nDCG@{k}" for k in (3, 5, 10)},
    "median_rank": "MdR",
    "mean_rank": "MnR",
}
REVERSE = "v2t/"
MOST_VALUES = 12
"""A field of the queries with more values has no table here; its numbers are in the report."""
NO_LIMIT = 10_000
"""Columns of a file or pipe: nothing is cut or broken there."""


def show(report: Report, reused: bool, stream: TextIO) -> None:
    """Prints what a run found: what is incomplete first, then a row for each channel, the fusion and each direction."""
    from rich.console import Console
    from rich.markup import escape

    console = Console(file=stream, width=None if stream.isatty() else NO_LIMIT, highlight=False)
    failed = report.counts["failed_items"]
    if failed:
        console.print(
            f"incomplete: {failed} of {report.counts['items']} items could not be read; channels that needed them "
            "do not retrieve them"
        )
    for name, value in report.tags.items():
        console.print(escape(f"{name.replace('_', ' ')}: {value}"))
    title = f"{report.task}: {report.counts['queries']} queries, {report.counts['items']} items"
    console.print(escape(f"{title} ({'stored result ' if reused else ''}{report.identity[:12]})"))
    console.print(escape(f"seen: {_seen(report.views)}"))
    console.print(_table(report))
    for field, values in report.slices.items():
        if 1 < len(values) <= MOST_VALUES:
            console.print(_slices(field, values))
    if any(_bracket(bounds, name) for name, bounds in report.bounds.items() if name.removeprefix(REVERSE) in COLUMNS):
        console.print("in brackets: the worst and the best value that other orders of equal scores would give")
    if report.losses:
        console.print(escape(_lost(report)))
    for note in report.notes:
        console.print(escape(f"note: {note}"))


def _seen(views: Mapping[str, Mapping[str, str | int]]) -> str:
    """What each channel saw, and the size of its vectors, on one line."""
    parts = []
    for name, view in views.items():
        source = f" ({view['source']})" if view.get("source") else ""
        size = f", vectors of {view['vector_size']}, not projected" if "vector_size" in view else ""
        parts.append(f"{name}: {view['view']}{source}{size}")
    return "; ".join(parts)


def _slices(field: str, values: Mapping[str, Mapping[str, float]]) -> Table:
    """The run's own metrics for each value of a field of the queries."""
    from rich.markup import escape
    from rich.table import Table

    table = Table()
    table.add_column(escape(field))
    for title in ("queries", *SLICE_COLUMNS.values()):
        table.add_column(title, justify="right")
    for value, metrics in values.items():
        for start in ("", REVERSE):
            if f"{start}queries" in metrics:
                cells = (_cell(metrics, {}, start + name) for name in SLICE_COLUMNS)
                table.add_row(escape(start + value), str(int(metrics[f"{start}queries"])), *cells)
    return table


def _lost(report: Report) -> str:
    """What an approximate index costs, in the metrics of the table that it changes."""
    lost = {name: _number(name, report.losses[name]) for name in COLUMNS if report.losses.get(name)}
    shown = ", ".join(f"{COLUMNS[name]} {value}" for name, value in lost.items()) or "nothing"
    missed = ", ".join(f"{name} {report.counts[f'channel/{name}/relevant_not_retrieved']}" for name in report.channels)
    return f"lost against exact search: {shown}; relevant items not retrieved: {missed}"


def _table(report: Report) -> Table:
    from rich.markup import escape
    from rich.table import Table

    table = Table()
    table.add_column("channel")
    for title in COLUMNS.values():
        table.add_column(title, justify="right")
    rows = dict(report.channels)
    if len(rows) > 1:
        rows["fused"] = report.metrics
    own = next(reversed(rows), "")  # the fusion, or the only channel
    for name, metrics in rows.items():
        bounds = report.bounds if name == own else {}
        for prefix in ("", REVERSE):
            if any(metric.startswith(REVERSE) for metric in metrics) or not prefix:
                table.add_row(escape(prefix + name), *(_cell(metrics, bounds, prefix + metric) for metric in COLUMNS))
    return table


def _cell(metrics: Mapping[str, float], bounds: Mapping[str, tuple[float, float]], name: str) -> str:
    """The value; behind it the worst and best that another order of ties would give, where that differs."""
    if name not in metrics:
        return ""
    return _number(name, metrics[name]) + (_bracket(bounds[name], name) if name in bounds else "")


def _bracket(bounds: tuple[float, float], name: str) -> str:
    """Worst and best, "" where they read alike."""
    worst, best = (_number(name, bound) for bound in bounds)
    return "" if worst == best else f" ({worst} to {best})"


def _number(name: str, value: float) -> str:
    return f"{value:.1f}" if name.endswith("rank") else f"{value:.3f}"
