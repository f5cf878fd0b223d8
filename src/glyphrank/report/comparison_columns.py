"""A comparison as columns of text, in words that people read: what its tables are made of."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from glyphrank.report.compared import LEVEL, Compared, Comparison, Interval, asker, counted
from glyphrank.ties import is_rank

STANDARD = ("hit_rate_at_1", "recall_at_10", "ndcg_at_10", "median_rank", "mean_rank")
"""Metrics that stand beside the chosen one."""
REVERSE = "v2t/"
MARK = "*"
_TITLES = {
    "hit_rate_at_": "hit@",
    "recall_at_": "R@",
    "ndcg_at_": "nDCG@",
    "reciprocal_rank_at_": "RR@",
    "median_rank_mean": "MdR of middles",
    "median_rank": "MdR",
    "mean_rank": "MnR",
    "_truncated": " truncated",
}


@dataclass(frozen=True)
class Column:
    """One column: a cell for each run, in the order of the comparison."""

    title: str
    cells: tuple[str, ...]
    right: bool = True


def title(metric: str) -> str:
    """How tables call a metric.

    >>> title("v2t/ndcg_at_10"), title("median_rank_truncated")
    ('v2t/nDCG@10', 'MdR truncated')
    """
    for name, short in _TITLES.items():
        metric = re.sub(rf"(?<![^/\d]){name}" if short[0] != " " else name, short, metric, count=1)
    return metric


def number(metric: str, value: float) -> str:
    """A value as tables show it: three decimals of a share, one of a rank."""
    return f"{value:.1f}" if is_rank(metric) else f"{value:.3f}"


def field_columns(comparison: Comparison) -> list[Column]:
    """A column for each field in which the runs differ."""
    names = dict.fromkeys(name for run in comparison.runs for name in run.fields)
    return [Column(name, tuple(run.fields.get(name, "") for run in comparison.runs), right=False) for name in names]


def mark_column(comparison: Comparison) -> Column:
    """Which runs are in the rank group."""
    return Column("", tuple(MARK if run.group else "" for run in comparison.runs), right=False)


def metric_column(comparison: Comparison, metric: str, spans: bool = True) -> Column:
    """A metric of every run, with its interval if wanted; empty for a run without it."""

    def cell(run: Compared) -> str:
        if metric not in run.values:
            return ""
        span = run.intervals.get(metric) if spans else None
        return number(metric, run.values[metric]) + ("" if span is None else f" {_span(metric, span)}")

    return Column(title(metric), tuple(cell(run) for run in comparison.runs))


def tested_columns(comparison: Comparison, spans: bool) -> list[Column]:
    """Difference from the baseline, with its interval if wanted, adjusted p-value, and queries gained and lost."""
    metric = comparison.metric

    def difference(run: Compared) -> str:
        if run.difference is None:
            return "baseline"
        span = run.difference_interval if spans else None
        return f"{_signed(metric, run.difference)}" + ("" if span is None else f" {_span(metric, span, signed=True)}")

    def count(run: Compared) -> str:
        return "" if run.improved is None else f"{run.improved}/{run.degraded}/{run.equal}"

    if len(comparison.runs) < 2:
        return []
    cells: dict[str, Callable[[Compared], str]] = {
        "difference": difference,
        "p adj": lambda run: "" if run.p_adjusted is None else _probability(run.p_adjusted),
        "+/-/=": count,
    }
    return [Column(name, tuple(tell(run) for run in comparison.runs)) for name, tell in cells.items()]


def rule_columns(comparison: Comparison) -> list[Column]:
    """The metric under every tie rule, where that was asked for."""
    names = dict.fromkeys(rule for run in comparison.runs for rule in run.rules)
    metric = comparison.metric
    return [
        Column(name, tuple(number(metric, run.rules[name]) if name in run.rules else "" for run in comparison.runs))
        for name in names
    ]


def other_metrics(comparison: Comparison, both_directions: bool) -> list[str]:
    """Names of the standard metrics beside the chosen one, those of its direction first."""
    own = REVERSE if comparison.metric.startswith(REVERSE) else ""
    ways = [own, *({"", REVERSE} - {own} if both_directions else ())]
    there = {name for run in comparison.runs for name in run.values}
    names = [way + name + ending for way in ways for name in STANDARD for ending in ("", "_truncated")]
    return [name for name in names if name in there and name != comparison.metric]


def heading(comparison: Comparison) -> str:
    """What is compared, in one line."""
    groups = "" if comparison.groups == comparison.queries else f" in {counted(comparison.groups, 'group')}"
    part = "" if comparison.part is None else f", {comparison.part[0]} {comparison.part[1]}"
    task = "" if comparison.task is None else f"{comparison.task}: "
    askers = counted(comparison.queries, asker(comparison.metric))
    shown = f"{task}{title(comparison.metric)} of {counted(len(comparison.runs), 'run')} on {askers}{groups}{part}"
    return f"{shown}; ties by the rule {comparison.rule}"


def caption(comparison: Comparison) -> str:
    """What the columns mean: intervals, test, correction, the mark."""
    sentences = ["Behind each value its 95 % interval."]
    count = len(comparison.runs) - 1
    if count:
        by = "query by query" if comparison.groups == comparison.queries else "group by group"
        what = "answers exchanged" if "median_rank" in comparison.metric else "signs flipped"
        family = counted(count, "test")
        told, level = "not" if comparison.tellable else "cannot be", f"{LEVEL:.2f}".removeprefix("0")
        within = "" if comparison.part is None else " of this part alone"
        sentences += [
            "Differences are from the run that is marked as the baseline.",
            f"p adj: two-sided paired randomisation test, {what} {by}, adjusted by Holm over {family}{within}.",
            "+/-/=: how many fare better than with the baseline, worse, and alike.",
            f"{MARK} rank group: {told} told from the best run, the first (p adj of all runs against it >= {level}).",
        ]
    return " ".join(sentences)


def _span(metric: str, span: Interval, signed: bool = False) -> str:
    if not is_rank(metric):
        low, high = (re.sub(r"^(-?)0\.", r"\1.", _plain(f"{end:.3f}")) for end in span)
    else:
        low, high = (_plain(f"{end:.1f}") for end in span)
    return f"{low} to {high}" if signed else f"{low}-{high}"


def _signed(metric: str, value: float) -> str:
    return _plain(f"{value:+.1f}" if is_rank(metric) else f"{value:+.3f}")


def _plain(text: str) -> str:
    """A number without the sign of a zero."""
    return text if float(text) else text.lstrip("+-")


def _probability(value: float) -> str:
    return "<.001" if value < 0.001 else f"{value:.3f}"


def texts(columns: Sequence[Column], escape: Callable[[str], str]) -> list[list[str]]:
    """The titles and then the rows, each cell escaped."""
    rows = zip(*(column.cells for column in columns), strict=True)
    return [[escape(column.title) for column in columns], *([escape(cell) for cell in row] for row in rows)]
