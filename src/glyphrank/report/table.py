"""The table at the end of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TextIO

from glyphrank.outcome import Report
from glyphrank.report.fitting import fitted

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
"""Columns of a file or pipe: nothing is broken or left out there."""
SPARE = ("hit@3", "nDCG@3", "RR@10", "R@10", "nDCG@5", "hit@5", "MdR", "hit@10")
"""What a narrow terminal has no room for, first one first; hit@1, nDCG@10, MnR and intervals always stand."""


@dataclass(frozen=True)
class _Cells:
    """A table of plain text."""

    titles: list[str]
    rows: list[list[str]]


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
    tables = [_table(report)]
    tables += [_slices(*field, report) for field in report.slices.items() if 1 < len(field[1]) <= MOST_VALUES]
    own = {**SLICE_COLUMNS, **COLUMNS}.get(report.primary.removeprefix(REVERSE))
    for cells in tables:
        spare = [title for title in SPARE if title in cells.titles and title != own]
        table, left_out = fitted(cells.titles, cells.rows, console.width, spare)
        console.print(table)
        if left_out:
            console.print(f"no room here for {', '.join(left_out)}; report.json has all")
    if any(_bracket(bounds, name) for name, bounds in report.bounds.items() if name.removeprefix(REVERSE) in COLUMNS):
        console.print("in brackets: the worst and the best value that other orders of equal scores would give")
    if report.intervals:
        console.print(
            "95 %: intervals over queries" + ("; behind MnR: what the worst 5 % cause" if report.tails else "")
        )
    for line in _contributed(report):
        console.print(escape(line))
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


def _slices(field: str, values: Mapping[str, Mapping[str, float]], report: Report) -> _Cells:
    """The run's own metrics for each value of a field of the queries, with the interval of the primary one."""
    primary = report.primary.removeprefix(REVERSE)
    intervals = report.slice_intervals.get(field, {})
    title = SLICE_COLUMNS.get(primary) or COLUMNS.get(primary, primary)
    rows = []
    for value, metrics in values.items():
        for start in ("", REVERSE):
            if f"{start}queries" in metrics:
                cells = [_cell(metrics, {}, start + name) for name in SLICE_COLUMNS]
                last = [_interval(intervals.get(value, {}), start + primary)] if intervals else []
                rows.append([start + (value or '""'), str(int(metrics[f"{start}queries"])), *cells, *last])
    return _Cells([field, "queries", *SLICE_COLUMNS.values(), *([f"{title} 95 %"] if intervals else [])], rows)


def _contributed(report: Report) -> list[str]:
    """A line for each direction: what text beside frames (or a fusion of texts) rescued and broke, and the bounds."""
    judged = report.counts["queries"] - report.counts.get("queries_without_relevant", 0)
    found = report.contributions
    lines = []
    for start, asking in (("", f" of {judged} queries"), (REVERSE, "")):
        changed = "; ".join(
            f"{who} rescued {int(found[name])} and broke {int(found[name.replace('rescued', 'broken')])}"
            for name, who in _changes(report, start)
        )
        if changed:
            best, worst = (found[f"{start}{end}_channel/hit_rate_at_1"] for end in ("best", "worst"))
            bounds = f"best channel for each query: hit@1 {best:.3f}, worst {worst:.3f}"
            lines.append(f"{start}{changed}{asking} at 1; {bounds}")
    return lines


def _changes(report: Report, start: str) -> list[tuple[str, str]]:
    """Names of the contributions that are shown, with the words for who changed what; none where nothing was fused."""
    if f"{start}ocr/rescued_at_1" in report.contributions:
        sources = {str(view["source"]) for view in report.views.values() if view.get("source")}
        return [(f"{start}ocr/rescued_at_1", "the text layer" if sources == {"embedded"} else "OCR")]
    names = ((f"{start}channel/{name}/rescued_at_1", f"against {name} alone the fusion") for name in report.channels)
    return [(name, words) for name, words in names if name in report.contributions]


def _lost(report: Report) -> str:
    """What an approximate index costs, in the metrics of the table that it changes."""
    lost = {name: _number(name, report.losses[name]) for name in COLUMNS if report.losses.get(name)}
    shown = ", ".join(f"{COLUMNS[name]} {value}" for name, value in lost.items()) or "nothing"
    missed = ", ".join(f"{name} {report.counts[f'channel/{name}/relevant_not_retrieved']}" for name in report.channels)
    return f"lost against exact search: {shown}; relevant items not retrieved: {missed}"


def _table(report: Report) -> _Cells:
    channels = dict(report.channels)
    if len(channels) > 1:
        channels["fused"] = report.metrics
    own = next(reversed(channels), "")  # the fusion, or the only channel
    rows = []
    for name, metrics in channels.items():
        bounds = report.bounds if name == own else {}
        for prefix in ("", REVERSE):
            if any(metric.startswith(REVERSE) for metric in metrics) or not prefix:
                cells = [_cell(metrics, bounds, prefix + metric) for metric in COLUMNS]
                if name == own and f"{prefix}mean_rank" in report.tails:
                    cells[-1] += f", {report.tails[f'{prefix}mean_rank']:.0%}".replace("%", " %")
                rows.append([prefix + name, *cells])
                if name == own and report.intervals:
                    rows.append(
                        [f"{prefix}95 %", *(_interval(report.intervals, prefix + metric) for metric in COLUMNS)]
                    )
    return _Cells(["channel", *COLUMNS.values()], rows)


def _cell(metrics: Mapping[str, float], bounds: Mapping[str, tuple[float, float]], name: str) -> str:
    """The value; behind it the worst and best that another order of ties would give, where that differs."""
    if name not in metrics:
        return ""
    return _number(name, metrics[name]) + (_bracket(bounds[name], name) if name in bounds else "")


def _interval(intervals: Mapping[str, tuple[float, float]], name: str) -> str:
    """The ends of a metric's interval, as short as they can be told apart; "" where there is none."""
    if name not in intervals:
        return ""
    low, high = intervals[name]
    digits = 1 if name.endswith("rank") else (2 if high - low >= 0.02 else 3)
    return "-".join(f"{end:.{digits}f}".removeprefix("0" if digits > 1 else "") for end in (low, high))


def _bracket(bounds: tuple[float, float], name: str) -> str:
    """Worst and best, "" where they read alike."""
    worst, best = (_number(name, bound) for bound in bounds)
    return "" if worst == best else f" ({worst} to {best})"


def _number(name: str, value: float) -> str:
    return f"{value:.1f}" if name.endswith("rank") else f"{value:.3f}"
