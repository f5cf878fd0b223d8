"""The table at the end of a run: whose bounds it shows, and that nothing is cut."""

from __future__ import annotations

import io
from collections.abc import Mapping

from glyphrank.outcome import Report
from glyphrank.report.table import COLUMNS, show

METRICS = {
    **dict.fromkeys((name for name in COLUMNS if not name.endswith("rank")), 0.5),
    "median_rank": 12345.5,
    "mean_rank": 23456.5,
}
BOUNDS = {name: (value * 2, value / 2) if name.endswith("rank") else (0.25, 0.75) for name, value in METRICS.items()}


def _shown(
    channels: Mapping[str, Mapping[str, float]],
    metrics: Mapping[str, float],
    bounds: Mapping[str, tuple[float, float]],
    notes: tuple[str, ...] = (),
) -> list[str]:
    report = Report(
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
        tags={},
        lineage={},
        notes=notes,
        config={},
    )
    stream = io.StringIO()
    show(report, False, stream)
    return stream.getvalue().splitlines()


def _row(lines: list[str], name: str) -> list[str]:
    cells = [[cell.strip() for cell in line.split("\u2502")[1:-1]] for line in lines]
    return next(row[1:] for row in cells if row and row[0] == name)


def test_bounds_stand_in_the_row_of_the_fusion_even_where_a_channel_has_equal_numbers() -> None:
    lines = _shown({"text": METRICS, "lexical": METRICS}, METRICS, BOUNDS)
    plain = ["0.500"] * 6 + ["12345.5", "23456.5"]
    assert _row(lines, "text") == _row(lines, "lexical") == plain
    limited = ["0.500 (0.250 to 0.750)"] * 6
    assert _row(lines, "fused") == [*limited, "12345.5 (24691.0 to 6172.8)", "23456.5 (46913.0 to 11728.2)"]
    assert "in brackets: the worst and the best value that other orders of equal scores would give" in lines


def test_bounds_stand_in_the_row_of_an_only_channel_in_both_directions() -> None:
    both = {**METRICS, **{f"v2t/{name}": value for name, value in METRICS.items()}}
    lines = _shown({"lexical": both}, both, {"v2t/hit_rate_at_1": (0.25, 0.75)})
    assert _row(lines, "lexical")[0] == "0.500"
    assert _row(lines, "v2t/lexical")[0] == "0.500 (0.250 to 0.750)"


def test_bounds_that_look_the_same_are_not_shown() -> None:
    lines = _shown({"lexical": METRICS}, METRICS, {"hit_rate_at_1": (0.5, 0.50001)})
    assert _row(lines, "lexical")[0] == "0.500"


def test_without_bounds_no_brackets_are_explained() -> None:
    assert not any("in brackets" in line for line in _shown({"lexical": METRICS}, METRICS, {}))


def test_nothing_is_cut_or_broken_where_the_stream_is_no_terminal() -> None:
    note = "word " * 300 + "end [bold]"
    lines = _shown({"lexical": METRICS, "a_channel_of_a_long_name": METRICS}, METRICS, BOUNDS, (note,))
    assert "\u2026" not in "".join(lines)
    assert f"note: {note}" in lines
    titles = [cell.strip() for cell in lines[3].split("\u2503")[1:-1]]
    assert titles == ["channel", *COLUMNS.values()]


def test_what_is_incomplete_comes_first() -> None:
    lines = _shown({"lexical": METRICS}, METRICS, {})
    assert lines[0] == "incomplete: 1 of 3 items could not be read; channels that needed them do not retrieve them"
    assert lines[1] == "두 쪽 [x]: 2 queries, 3 items (1d1d1d1d1d1d)"


def test_bounds_that_read_alike_are_left_out_with_their_explanation() -> None:
    lines = _shown({"lexical": METRICS}, METRICS, {"hit_rate_at_1": (0.50001, 0.50002)})
    assert _row(lines, "lexical")[0] == "0.500"
    assert not any("in brackets" in line for line in lines)
