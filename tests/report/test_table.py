"""The table at the end of a run: what stands where, whose bounds it shows, and that nothing is cut."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from glyphrank.report.table import COLUMNS, MOST_VALUES, SLICE_COLUMNS, show
from shown_reports import BOUNDS, EVERY, METRICS, report_of


def _shown(
    channels: Mapping[str, Mapping[str, float]],
    metrics: Mapping[str, float],
    bounds: Mapping[str, tuple[float, float]],
    notes: tuple[str, ...] = (),
    **changes: Any,
) -> list[str]:
    stream = io.StringIO()
    show(replace(report_of(channels, metrics, bounds), notes=notes, **changes), False, stream)
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
    titles = [cell.strip() for cell in lines[4].split("\u2503")[1:-1]]
    assert titles == ["channel", *COLUMNS.values()]


def test_what_is_incomplete_comes_first() -> None:
    lines = _shown({"lexical": METRICS}, METRICS, {})
    assert lines[0] == "incomplete: 1 of 3 items could not be read; channels that needed them do not retrieve them"
    assert lines[1] == "두 쪽 [x]: 2 queries, 3 items (1d1d1d1d1d1d)"


def test_bounds_that_read_alike_are_left_out_with_their_explanation() -> None:
    lines = _shown({"lexical": METRICS}, METRICS, {"hit_rate_at_1": (0.50001, 0.50002)})
    assert _row(lines, "lexical")[0] == "0.500"
    assert not any("in brackets" in line for line in lines)


def test_what_limits_the_gallery_comes_before_the_numbers() -> None:
    lines = _shown({"lexical": METRICS}, METRICS, {}, tags={"gallery": "2600 of 2727 [x]", "random_weights": "visual"})
    assert lines[1:3] == ["gallery: 2600 of 2727 [x]", "random weights: visual"]
    assert lines[3].startswith("두 쪽 [x]: 2 queries")


def test_what_each_channel_saw_stands_on_one_line() -> None:
    views = {
        "visual": {"view": "frames", "vector_size": 512, "projection": "none"},
        "text": {"view": "text", "source": "embedded, scene", "vector_size": 384, "projection": "none"},
        "lexical": {"view": "text", "source": "embedded, scene"},
    }
    lines = _shown({"lexical": METRICS}, METRICS, {}, views=views)
    assert lines[2] == (
        "seen: visual: frames, vectors of 512, not projected; "
        "text: text (embedded, scene), vectors of 384, not projected; lexical: text (embedded, scene)"
    )


def test_fields_of_the_queries_have_a_table_each_with_the_numbers_of_their_values() -> None:
    half = {"queries": 103.0, **EVERY, "hit_rate_at_3": 0.25, "ndcg_at_3": 0.125}
    slices = {"[kind]": {"글": half, "nothing relevant": {"queries": 0.0}}, "domain": {"a": half, "b": half}}
    lines = _shown({"lexical": METRICS}, METRICS, {}, slices=slices)
    heads = [[cell.strip() for cell in line.split("\u2503")[1:-1]] for line in lines if "\u2503" in line]
    assert heads[1:] == [[field, "queries", *SLICE_COLUMNS.values()] for field in ("[kind]", "domain")]
    shown = dict(zip(SLICE_COLUMNS.values(), _row(lines, "글")[1:], strict=True))
    assert (shown["hit@1"], shown["hit@3"], shown["nDCG@3"], shown["nDCG@10"]) == ("0.500", "0.250", "0.125", "0.500")
    assert (_row(lines, "글")[0], shown["MdR"], shown["MnR"]) == ("103", "12345.5", "23456.5")
    assert _row(lines, "nothing relevant") == ["0", *[""] * len(SLICE_COLUMNS)]


def test_slices_show_the_metrics_of_both_cards() -> None:
    """SDS KoPub: recall and nDCG at 1, 3, 5 and 10; TextVR: recall at 1, 5 and 10, median and mean rank."""
    kopub = {f"hit_rate_at_{k}" for k in (1, 3, 5, 10)} | {f"ndcg_at_{k}" for k in (3, 5, 10)}  # at 1 both are one
    assert set(SLICE_COLUMNS) == kopub | {"median_rank", "mean_rank"}


def test_a_value_that_items_have_too_has_a_row_for_the_reverse_direction() -> None:
    back = {"v2t/queries": 7.0, **{f"v2t/{name}": value for name, value in EVERY.items()}, "v2t/hit_rate_at_5": 0.75}
    slices = {"scene": {"street": {"queries": 3.0, **EVERY, **back}, "outdoors": {"queries": 0.0, **back}}}
    lines = _shown({"lexical": METRICS}, METRICS, {}, slices=slices)
    assert _row(lines, "street")[:4] == ["3", "0.500", "0.500", "0.500"]
    assert _row(lines, "v2t/street")[:4] == _row(lines, "v2t/outdoors")[:4] == ["7", "0.500", "0.500", "0.750"]
    assert _row(lines, "outdoors") == ["0", *[""] * len(SLICE_COLUMNS)]


def test_a_field_of_one_value_or_of_too_many_has_no_table() -> None:
    for count, tables in ((1, 1), (2, 2), (MOST_VALUES, 2), (MOST_VALUES + 1, 1)):
        values = {f"v{number}": {"queries": 1.0, **METRICS} for number in range(count)}
        lines = _shown({"lexical": METRICS}, METRICS, {}, slices={"field": values})
        assert sum("\u2503" in line for line in lines) == tables


INTERVALS = {
    **dict.fromkeys((name for name in COLUMNS if not name.endswith("rank")), (0.0513, 1.0)),
    "mean_rank": (9, 21.25),
}


def test_intervals_stand_below_the_runs_own_row_in_both_directions() -> None:
    both = {**METRICS, **{f"v2t/{name}": value for name, value in METRICS.items()}}
    back = {f"v2t/{name}": (0.5012, 0.5147) for name in ("hit_rate_at_1", "ndcg_at_10")}
    tails = {"mean_rank": 0.414, "v2t/mean_rank": 0.1}
    lines = _shown({"text": both, "lexical": both}, both, {}, intervals={**INTERVALS, **back}, tails=tails)
    assert _row(lines, "95 %") == [*[".05-1.00"] * 6, "", "9.0-21.2"]
    assert _row(lines, "v2t/95 %") == [".501-.515", "", "", "", ".501-.515", "", "", ""]
    assert _row(lines, "fused")[-1] == "23456.5, 41 %"
    assert _row(lines, "v2t/fused")[-1] == "23456.5, 10 %"
    assert _row(lines, "text")[-1] == "23456.5"
    assert "95 %: intervals over queries; behind MnR: what the worst 5 % cause" in lines
    assert sum("95 %" in line for line in lines) == 3


def test_without_intervals_nothing_is_said_of_them() -> None:
    assert not any("95 %" in line for line in _shown({"lexical": METRICS}, METRICS, {}))


def test_slices_show_the_interval_of_the_primary_metric() -> None:
    own = {"queries": 3.0, **EVERY, "v2t/queries": 2.0, **{f"v2t/{name}": value for name, value in EVERY.items()}}
    slices = {"scene": {"street": own, "indoor": {"queries": 1.0, **EVERY}}}
    intervals = {"scene": {"street": {"ndcg_at_10": (0.25, 0.75), "v2t/ndcg_at_10": (0.0, 0.5)}}}
    lines = _shown({"lexical": METRICS}, METRICS, {}, slices=slices, slice_intervals=intervals)
    assert [_row(lines, name)[-1] for name in ("street", "v2t/street", "indoor")] == [".25-.75", ".00-.50", ""]
    assert sum("nDCG@10 95 %" in line for line in lines) == 1
    lines = _shown(
        {"lexical": METRICS}, METRICS, {}, slices=slices, slice_intervals=intervals, primary="v2t/ndcg_at_20"
    )
    assert sum("ndcg_at_20 95 %" in line for line in lines) == 1


def test_the_empty_value_of_a_field_has_a_name() -> None:
    both = {"queries": 3.0, **EVERY, "v2t/queries": 2.0, **{f"v2t/{name}": value for name, value in EVERY.items()}}
    lines = _shown({"lexical": METRICS}, METRICS, {}, slices={"kind": {"": both, "글": both}})
    assert _row(lines, '""')[0] == "3"
    assert _row(lines, 'v2t/""')[0] == "2"


def _contributed(changes: Mapping[str, float], views: Mapping[str, Mapping[str, str]]) -> list[str]:
    bounds = {"best_channel/hit_rate_at_1": 0.712, "worst_channel/hit_rate_at_1": 0.25}
    found = {**changes, **bounds, **{f"v2t/{name}": value for name, value in {**changes, **bounds}.items()}}
    counts = {"queries": 610, "items": 3, "failed_items": 0, "queries_without_relevant": 10}
    lines = _shown(dict.fromkeys(views, METRICS), METRICS, {}, contributions=found, views=views, counts=counts)
    return [line for line in lines if "rescued" in line]


def test_what_text_beside_frames_did_stands_on_a_line_for_each_direction() -> None:
    changes = {"ocr/rescued_at_1": 31.0, "ocr/broken_at_1": 8.0, "channel/visual/rescued_at_1": 31.0}
    views = {"visual": {"view": "frames"}, "lexical": {"view": "text", "source": "scene"}}
    bounds = "best channel for each query: hit@1 0.712, worst 0.250"
    assert _contributed(changes, views) == [
        f"OCR rescued 31 and broke 8 of 600 queries at 1; {bounds}",
        f"v2t/OCR rescued 31 and broke 8 at 1; {bounds}",
    ]
    views["lexical"] = {"view": "text", "source": "embedded"}
    assert _contributed(changes, views)[0].startswith("the text layer rescued 31 and broke 8 of 600 queries")


def test_a_fusion_of_texts_is_told_against_each_of_them() -> None:
    changes = {
        **{"channel/text/rescued_at_1": 3.0, "channel/text/broken_at_1": 1.0},
        **{"channel/lexical/rescued_at_1": 5.0, "channel/lexical/broken_at_1": 2.0},
    }
    views = {name: {"view": "text", "source": "embedded"} for name in ("text", "lexical")}
    assert _contributed(changes, views)[0] == (
        "against text alone the fusion rescued 3 and broke 1; against lexical alone the fusion rescued 5 and broke 2 "
        "of 600 queries at 1; best channel for each query: hit@1 0.712, worst 0.250"
    )


def test_a_single_channel_contributes_nothing_to_tell_of() -> None:
    assert not any("rescued" in line for line in _shown({"lexical": METRICS}, METRICS, {}))
