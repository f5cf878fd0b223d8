"""A report in MLflow's terms: metrics under names it accepts, and tags."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from glyphrank.outcome import Report
from glyphrank.tracking.names import stored_name

_TAG_LIMIT = 5000


@dataclass(frozen=True)
class Numbers:
    """What a report holds for MLflow.

    Attributes:
        metrics: stored name -> finite value.
        renamed: stored name -> original name, for those that MLflow would not take as they are.
        not_finite: original names of the values that are NaN, infinite or missing; MLflow would store other numbers.
    """

    metrics: dict[str, float]
    renamed: dict[str, str]
    not_finite: tuple[str, ...]


def numbers(report: Report) -> Numbers:
    """The report's metrics, each channel's under `channel/<name>/`, and the primary one of each slice.

    A slice is named `slice/<field>/<value>/<primary>` (in both directions, where both are measured), the loss of an
    approximate index `loss/<metric>`. The ends of an interval are `<metric>_low` and `<metric>_high`, the share of a
    mean rank that the worst queries cause is `<metric>_worst_5_percent_share`; what channels did for each other stands
    under its own names, what a probe found as `probe/<channel>/<name>`. Where values are not finite,
    `not_finite_metrics` counts them.
    """
    named = [*_named_metrics(report), *_named_doubts(report)]
    stored: dict[str, float] = {}
    renamed: dict[str, str] = {}
    not_finite: list[str] = []
    for parts, number in named:
        name, original = stored_name(*parts), "/".join(parts)
        if number is None or not math.isfinite(number):
            not_finite.append(original)
            continue
        stored[name] = float(number)
        if name != original:
            renamed[name] = original
    if not_finite:
        stored["not_finite_metrics"] = float(len(not_finite))
    return Numbers(stored, renamed, tuple(not_finite))


def _named_metrics(report: Report) -> Iterator[tuple[tuple[str, ...], float]]:
    """The parts of each number's name, with the number: what was measured."""
    primary = (report.primary.removeprefix("v2t/"), f"v2t/{report.primary.removeprefix('v2t/')}")
    yield from (((name,), value) for name, value in report.metrics.items())
    for channel, metrics in report.channels.items():
        yield from ((("channel", channel, name), value) for name, value in metrics.items())
    for field, values in report.slices.items():
        for value, metrics in values.items():
            yield from ((("slice", field, value, name), metrics[name]) for name in primary if name in metrics)
    yield from ((("loss", name), value) for name, value in report.losses.items())
    yield from (((name,), value) for name, value in report.contributions.items())


def _named_doubts(report: Report) -> Iterator[tuple[tuple[str, ...], float]]:
    """The same for what says how far those can be trusted."""
    yield from _ends((), report.intervals)
    for field, values in report.slice_intervals.items():
        for value, intervals in values.items():
            yield from _ends(("slice", field, value), intervals)
    yield from (((f"{name}_worst_5_percent_share",), share) for name, share in report.tails.items())
    for channel, found in report.probe.items():
        yield from ((("probe", channel, name), value) for name, value in found.items())


def _ends(
    start: tuple[str, ...], intervals: Mapping[str, tuple[float, float]]
) -> Iterator[tuple[tuple[str, ...], float]]:
    for name, (low, high) in intervals.items():
        yield (*start, f"{name}_low"), low
        yield (*start, f"{name}_high"), high


def report_tags(report: Report, reused: bool) -> dict[str, str]:
    """Identity, lineage, and whether every item could be read; `complete` itself is set when all else is stored."""
    tags = {"identity": report.identity, "reused": str(reused).lower()}
    tags |= {stored_name(f"lineage.{stage}"): value for stage, value in report.lineage.items()}
    tags |= {stored_name(name): value for name, value in report.tags.items()}
    for channel, view in report.views.items():
        seen = (str(view[name]) for name in ("view", "source") if view.get(name))
        tags[stored_name(f"view.{channel}")] = ": ".join(seen)
    if lacking := incomplete(report):
        tags["incomplete"] = lacking
    not_finite = numbers(report).not_finite
    if not_finite:
        tags["not_finite_metrics"] = ", ".join(not_finite)
    return {name: value[:_TAG_LIMIT] for name, value in tags.items()}


def is_complete(report: Report) -> bool:
    """Whether no item failed."""
    return not report.counts.get("failed_items", 0)


def incomplete(report: Report) -> str:
    """How many items failed, in words; empty for none."""
    failed = report.counts.get("failed_items", 0)
    return f"{failed} of {report.counts.get('items', 'the')} items could not be read" if failed else ""
