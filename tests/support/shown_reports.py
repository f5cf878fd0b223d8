"""Reports for the table at the end of a run."""

from __future__ import annotations

from collections.abc import Mapping

from glyphrank.outcome import Report
from glyphrank.report.table import COLUMNS, SLICE_COLUMNS

METRICS = {
    **dict.fromkeys((name for name in COLUMNS if not name.endswith("rank")), 0.5),
    "median_rank": 12345.5,
    "mean_rank": 23456.5,
}
BOUNDS = {name: (value * 2, value / 2) if name.endswith("rank") else (0.25, 0.75) for name, value in METRICS.items()}
EVERY = {**dict.fromkeys((name for name in SLICE_COLUMNS if not name.endswith("rank")), 0.5), **METRICS}


def report_of(
    channels: Mapping[str, Mapping[str, float]],
    metrics: Mapping[str, float],
    bounds: Mapping[str, tuple[float, float]],
) -> Report:
    """A report of these channels, this ranking of the run's own, and its bounds."""
    return Report(
        identity="1d" * 16,
        task="두 쪽 [x]",
        primary="ndcg_at_10",
        metrics=metrics,
        bounds=bounds,
        channels=channels,
        slices={},
        counts={"queries": 2, "items": 3, "failed_items": 1},
        failures={},
        losses={},
        views={"lexical": {"view": "text", "source": "embedded"}},
        listed={},
        tags={},
        lineage={},
        notes=(),
        config={},
    )
