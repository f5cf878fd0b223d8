"""The tables of a page: metrics of every ranking with intervals, and those of the slices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from glyphrank.outcome import Report
from glyphrank.report.table import COLUMNS, MOST_VALUES, REVERSE
from glyphrank.ties import is_rank

_OF_SLICES = ("hit_rate_at_1", "hit_rate_at_10", "ndcg_at_10", "median_rank")


@dataclass(frozen=True)
class Cell:
    """A number as it is shown, and in small letters what belongs to it."""

    text: str
    small: str = ""


@dataclass(frozen=True)
class Table:
    """A caption, the titles of the columns, and rows: a name, then a cell a column.

    Attributes:
        marked: name of the row that the run is known by.
    """

    caption: str
    titles: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]
    marked: str = ""


def tables_of(report: Report) -> list[Table]:
    """One of the metrics for each direction: a row a metric, a column a ranking and the intervals of the last."""
    rankings = {**report.channels, **({"fused": report.metrics} if len(report.channels) > 1 else {})}
    tables = []
    for start, who in (("", "queries rank items"), (REVERSE, "items rank queries")):
        if f"{start}mean_rank" in report.metrics:
            intervals = any(start + metric in report.intervals for metric in COLUMNS)
            rows = [
                (title, _row(report, rankings, start + metric, intervals))
                for metric, title in COLUMNS.items()
                if start + metric in report.metrics
            ]
            own = report.primary.startswith(REVERSE) == bool(start)
            marked = COLUMNS.get(report.primary.removeprefix(start), "") if own else ""
            titles = (*rankings, "95 %") if intervals else tuple(rankings)
            tables.append(Table(who, titles, tuple(rows), marked))
    return tables


def slices_of(report: Report) -> list[Table]:
    """The run's own metrics for each value of a field of the queries, with the interval of the primary one."""
    primary = report.primary.removeprefix(REVERSE)
    metrics = dict.fromkeys([*_OF_SLICES, *([primary] if primary in COLUMNS else [])])
    tables = []
    for field, values in report.slices.items():
        if 1 < len(values) <= MOST_VALUES:
            limits = report.slice_intervals.get(field, {})
            rows = tuple(
                (
                    value or '""',
                    (
                        Cell(str(int(own.get("queries", 0)))),
                        *(
                            Cell(_number(name, own.get(name)), _interval(limits.get(value, {}), name))
                            for name in metrics
                        ),
                    ),
                )
                for value, own in values.items()
            )
            tables.append(Table(field, ("queries", *(COLUMNS[name] for name in metrics)), rows))
    return tables


def _row(report: Report, rankings: Mapping[str, Mapping[str, float]], metric: str, intervals: bool) -> tuple[Cell, ...]:
    """A metric in every ranking; below the run's own what other orders of equal scores would give."""
    *channels, own = (_number(metric, metrics.get(metric)) for metrics in rankings.values())
    ends = [_number(metric, value) for value in report.bounds.get(metric, ())]
    ties = "–".join(ends) if len(set(ends)) > 1 else ""
    last = (Cell(_interval(report.intervals, metric)),) if intervals else ()
    return (*map(Cell, channels), Cell(own, ties), *last)


def _interval(intervals: Mapping[str, tuple[float, float]], metric: str) -> str:
    if metric not in intervals:
        return ""
    return "–".join(_number(metric, end) for end in intervals[metric])


def _number(metric: str, value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.1f}" if is_rank(metric) else f"{value:.3f}"
